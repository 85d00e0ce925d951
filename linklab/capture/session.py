# SPDX-License-Identifier: BSD-3-Clause
"""A capture of a running network: started over its terminals' socket, read from parts of files in its working folder.

What captures is `linklab.agent.capture` inside. It leaves the stream there in parts, because the working folder is the
one place that both sides share and never removes one: a slow reader loses packets, which are counted, and stops nobody.
The stream stays whole wherever it ends, also with paused time or with the network.
"""

from __future__ import annotations

import base64
import codecs
import contextlib
import fcntl
import json
import os
import shutil
import struct
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from linklab.capture.filters import programs
from linklab.errors import AgentError, DeadlineError, EngineError, InputError
from linklab.linux import pcapng
from linklab.terminal import attach

PROGRAM = ("env", "PYTHONSAFEPATH=1", "python3", "-m", "linklab.agent.capture")
"""What lies in the working folder is not ours (as `linklab.terminal.attached.STATE_PROGRAM` has it)."""
INSIDE = PurePosixPath("/lab")
FOLDER = ".linklab-capture-"
LOCK = "lock"
LOOK_S = 0.03
"""Wall seconds between two looks for packets."""
END_S = 2.0
"""Wall seconds that the program inside has to end when it is asked to; where time stands, it cannot."""
LIST_DEADLINE_S = 20.0
COLUMNS = 1000
PACKET_HEAD = struct.Struct("<IIIII")
"""Type, length, interface and time of a packet's block, section 4.3 of draft-ietf-opsawg-pcapng."""
CTRL_C = b"\x03"
SNAPLEN = 262_144
PAUSED = (
    "its time is paused, so nothing in it can answer: let it go on (`clock resume`, the Pause button) and try again"
)


@dataclass(frozen=True)
class CaptureOrder:
    """What to capture.

    places: such as "h1:h1-eth0", "h1:eth0", or "h1" if it has one interface only.
    filter: in tcpdump's words; "" for all packets.
    snaplen: bytes to keep of each packet.
    count, seconds: packets, and network time, after which it ends; 0 for neither.
    """

    places: Sequence[str]
    filter: str = ""
    snaplen: int = SNAPLEN
    count: int = 0
    seconds: float = 0.0
    user: str = "Linklab"

    def as_json(self, out: PurePosixPath) -> str:
        """Return it as the program inside takes it; InputError or MissingError if the filter cannot be used."""
        order: dict[str, Any] = {"places": list(self.places), "out": str(out), "snaplen": self.snaplen}
        order |= {"count": self.count, "seconds": self.seconds, "user": self.user}
        if self.filter:
            order |= {"filter": self.filter, "programs": programs(self.filter)}
        return json.dumps(order)


@dataclass
class InterfaceCount:
    """What is known of one interface of a capture."""

    name: str
    captured: int = 0
    dropped: int = 0
    last_ns: int = 0
    counted: int = -1
    """Packets received as the file's last counters have it; -1 before there are any."""

    @property
    def received(self) -> int:
        """Packets that passed the filter."""
        return self.captured + self.dropped


@dataclass
class _Lines:
    """What a program prints in a terminal, as lines of JSON."""

    decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))
    rest: str = ""

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """Return the lines that `data` completes; what is no JSON was said by somebody else and is an error."""
        *lines, self.rest = (self.rest + self.decoder.decode(data)).replace("\r", "").split("\n")
        found: list[dict[str, Any]] = []
        for line in filter(None, lines):
            try:
                found.append(dict(json.loads(line)))
            except (ValueError, TypeError):
                found.append({"error": line})
        return found


def interfaces(connection: attach.Connection, *, deadline_s: float = LIST_DEADLINE_S) -> dict[str, list[str]]:
    """Return the interfaces of each node of a running network, through a connection of its own, which is closed.

    Raises:
        InputError: its time is paused.
        AgentError, EngineError, DeadlineError: it does not tell.
    """
    lines, until_s = _Lines(), time.monotonic() + deadline_s
    try:
        _open(connection, [*PROGRAM, "--list"])
        while (left_s := until_s - time.monotonic()) > 0:
            messages = connection.receive(left_s)
            if messages is None:
                raise EngineError("the network has ended")
            for message in messages:
                if message["event"] == "clock" and message["paused"]:
                    raise InputError(f"the network: {PAUSED}")
                if message["event"] == "error":
                    raise AgentError(message["text"])
                for line in lines.feed(attach.data_of(message)) if message["event"] == "data" else ():
                    if "error" in line:
                        raise AgentError(f"the interfaces of the network: {line['error']}")
                    return {str(node): list(map(str, names)) for node, names in line.items()}
                if message["event"] == "closed":
                    raise AgentError("the interfaces of the network: nothing was said of them")
        raise DeadlineError(f"the network did not list its interfaces within {deadline_s:g} s")
    finally:
        connection.close()


def _open(connection: attach.Connection, argv: Sequence[str]) -> None:
    connection.send(
        {"op": "open", "node": "client", "rows": 24, "columns": COLUMNS, "term": "dumb", "argv": list(argv)}
    )


class CaptureSession:
    """One capture, from the start of the `with` block to its end.

    Args:
        connection: to the network's terminals, for this capture alone; it is closed at the end.
        workdir: the network's working folder on this machine.
        order: what to capture.

    Raises:
        InputError, MissingError: the order's filter is none, or libpcap is missing.
        EngineError: the folder cannot be written.
    """

    def __init__(self, connection: attach.Connection, workdir: Path, order: CaptureOrder) -> None:
        self.order, self.workdir = order, workdir
        self.listens: list[str] = []
        self.gone: list[str] = []
        self.counts: list[InterfaceCount] = []
        self.paused = False
        self.ended = ""
        self._connection = connection
        self._lines = _Lines()
        self._blocks = pcapng.BlockReader()
        self._part = 1
        self._at = 0
        self._stop_by_s = 0.0
        try:
            self._folder, self._lock = _own_folder(workdir)
        except OSError as error:
            raise EngineError(f"{workdir}: a capture cannot be kept there: {error.strerror}") from error
        try:
            _open(connection, [*PROGRAM, order.as_json(INSIDE / self._folder.name)])
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> CaptureSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End it, whatever it is doing, and remove what is left of it."""
        self._connection.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.close(self._lock)
        self._lock = -1

    def stop(self) -> None:
        """Ask it to end, from any thread; what was captured until now still comes out of `stream`."""
        if self._stop_by_s == 0.0:
            self._stop_by_s = time.monotonic() + END_S
            with contextlib.suppress(OSError):
                self._connection.send({"op": "input", "data": base64.b64encode(CTRL_C).decode()})

    @property
    def captured(self) -> int:
        """Packets that came out."""
        return sum(each.captured for each in self.counts)

    @property
    def dropped(self) -> int:
        """Packets that were dropped because they were not taken in time, as far as is known."""
        return sum(each.dropped for each in self.counts)

    def stream(self) -> Iterator[list[tuple[int, bytes]]]:
        """Give blocks of pcapng as they come, [] now and then where none come, until the end; `ended` then says why.

        Raises:
            InputError: there is no such node or interface; names what there is.
            AgentError: the program inside could not go on; its words.
        EngineError: something else has written into its files.
        """
        going = True
        while going:
            going = self._listen(LOOK_S)
            yield self._new_blocks()
            going = going and not self._is_over_time()
        yield self._new_blocks()
        if any(each.counted != each.received for each in self.counts):
            yield self._own_counts()
        self.ended = self.ended or "network"

    def _is_over_time(self) -> bool:
        """Whether it was asked to end and cannot, since its time stands, or does not."""
        if not self._stop_by_s:
            return False
        return self.paused or time.monotonic() > self._stop_by_s

    def _listen(self, timeout_s: float) -> bool:
        """Take what the program inside says; whether it goes on."""
        try:
            messages = self._connection.receive(timeout_s)
        except (ValueError, OSError):
            messages = None
        if messages is None:
            return False
        going = True
        for message in messages:
            event = message["event"]
            if event == "clock":
                self.paused = bool(message["paused"])
                if self.paused and not self.listens:
                    raise InputError(f"the network: {PAUSED}")
            elif event == "data":
                for line in self._lines.feed(attach.data_of(message)):
                    self._said(line)
            elif event in ("error", "closed"):
                if event == "error" and not self.listens and message.get("kind") != "end":
                    raise AgentError(str(message["text"]))
                going = False
        return going

    def _said(self, line: Mapping[str, Any]) -> None:
        if "error" in line:
            raise (AgentError if self.listens else InputError)(str(line["error"]))
        if "listens" in line:
            self.listens = list(map(str, line["listens"]))
        if "gone" in line:
            self.gone.append(str(line["gone"]))
        if "ended" in line:
            self.ended = str(line["ended"])

    # --- the parts

    def _new_blocks(self) -> list[tuple[int, bytes]]:
        """Return what the program has written since the last call; parts that are done with are removed."""
        found: list[tuple[int, bytes]] = []
        while True:
            part, following = (self._folder / f"{number:06}" for number in (self._part, self._part + 1))
            is_last = not following.exists()  # asked first: what is written before the next part begins is then seen
            try:
                with part.open("rb") as file:
                    file.seek(self._at)
                    data = file.read()
            except FileNotFoundError:
                break
            self._at += len(data)
            try:
                for kind, block in self._blocks.feed(data):
                    self._count(kind, block)
                    found.append((kind, block))
            except (ValueError, IndexError, struct.error) as error:
                raise EngineError(
                    f"{part}: what was captured cannot be read ({error}); does another program write there?"
                ) from error
            if is_last:
                break
            part.unlink(missing_ok=True)
            self._part, self._at = self._part + 1, 0
        return found

    def _count(self, kind: int, block: bytes) -> None:
        if kind == pcapng.PACKET:
            _, _, number, high, low = PACKET_HEAD.unpack_from(block)
            count = self.counts[number]
            count.captured += 1
            count.last_ns = high << 32 | low
        elif kind == pcapng.INTERFACE:
            self.counts.append(InterfaceCount(pcapng.read_interface(block)[0]))
        elif kind == pcapng.STATISTICS:
            number, received, dropped = pcapng.read_statistics(block)
            self.counts[number].dropped, self.counts[number].counted = dropped, received

    def _own_counts(self) -> list[tuple[int, bytes]]:
        """The counters, where the program inside could not write the last."""
        last_ns = max(each.last_ns for each in self.counts)
        return [
            (
                pcapng.STATISTICS,
                pcapng.statistics(number, last_ns, started_ns=0, received=each.received, dropped=each.dropped),
            )
            for number, each in enumerate(self.counts)
        ]


def _own_folder(workdir: Path) -> tuple[Path, int]:
    """A new folder for parts and the lock that says that somebody uses it; those that nobody uses are removed."""
    for other in workdir.glob(f"{FOLDER}*"):
        with contextlib.suppress(OSError):
            lock = os.open(other / LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(other, ignore_errors=True)
            finally:
                os.close(lock)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=workdir))
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return folder, lock
