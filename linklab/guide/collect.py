# SPDX-License-Identifier: BSD-3-Clause
"""A running network → evidence: terminals opened, lines typed there and what they showed, the state read back.

Listens to what the terminals show anyway (`linklab.guide.marks`), so it neither types nor waits where somebody works.
The kernel is asked by a program that costs no network time; while time stands still, its answer waits. What cannot be
read is told, and tried again until it can.
"""

from __future__ import annotations

import base64
import queue
import re
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from linklab.base.text import visible
from linklab.engine.api import Network
from linklab.errors import DataError, DeadlineError, EngineError, LinklabError
from linklab.guide.claims import LineFiles
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.guide.marks import MarkedTerminal
from linklab.guide.shell import commands_in
from linklab.state.model import State
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.attached import STATE_PROGRAM

MOST_FILE_BYTES = 1 << 16
READ_S = 60.0
"""For a program that reads something, wall seconds at 1x; it takes a tenth of one."""
AGAIN_S = 2.0
"""Wall seconds until what could not be read is tried again."""
_STATE = "The state of the network"
_UNREAD = (
    "; a step that is done may be shown as open meanwhile. The guide tries again by itself, and your work goes on as "
    "before; if this stays, end the lab with Ctrl+C and continue it"
)
_LOOKS = frozenset(
    word
    for line in (
        "ping iperf3 ls cat cd mkdir pwd echo jq grep egrep head tail wc awk sort less more man which uname date sleep",
        "ss nstat tcpdump traceroute xdg-open evince plot_iperf.sh plot_q.sh fairness.sh flent",
        "clear history exit help nodes net",
    )
    for word in line.split()
)
"""Programs that set nothing, so that the kernel need not be asked after them."""
_CHANGES = frozenset(("set", "s", "add", "del", "delete", "d", "flush", "f", "replace", "change"))
"""Words of ip that change something."""


_Work: TypeAlias = TypedEvidence | EditorEvidence | MarkedTerminal | threading.Event


class Collector:
    """Collects from one network, until the end of the `with` block.

    Args:
        network: the running one.
        attach: the server of its terminals.
        folder: the working folder, on this machine.
        on_evidence: takes each piece, in a thread of the collector's.
        wanted: names of files whose text is evidence.
        busy: told whether something that has happened is not evidence yet.
        on_trouble: takes a sentence, without its full stop, on what could not be followed.
        on_unread: takes what cannot be read now, a sentence without its full stop; "" once all can be read.
    """

    def __init__(
        self,
        network: Network,
        attach: AttachServer,
        folder: Path,
        on_evidence: Callable[[GuideEvidence], None],
        *,
        wanted: Collection[str] = (),
        busy: Callable[[bool], None] = lambda _: None,
        on_trouble: Callable[[str], None] = lambda _: None,
        on_unread: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.network, self.attach, self.folder, self.on_evidence = network, attach, folder, on_evidence
        self.on_trouble, self.on_unread = on_trouble, on_unread
        self.wanted = {path.rpartition("/")[2]: path for path in wanted}
        self.busy = busy
        self._terminals: dict[str, MarkedTerminal] = {}
        self._work: queue.Queue[_Work | None] = queue.Queue()
        """A terminal in it is one that was closed; an event is set once all before it has been seen to."""
        self._files = LineFiles(folder)
        self._unread: dict[str, tuple[str, Callable[[], None]]] = {}
        """What could not be read → the sentence on it, and what reads it."""
        self._told_unread = ""
        self._thread = threading.Thread(target=self._serve, name="guide", daemon=True)
        self._ended = threading.Event()

    def __enter__(self) -> Collector:
        self.network.link.on("data", self._shown)
        self.network.link.on("closed", self._closed)
        self.network.link.on("end", lambda _: self._ended.set())
        self.attach.on_open, self.attach.on_close = self._opened, self._shut
        for node in self.attach.open_shells():
            self._opened(node)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.attach.on_open = self.attach.on_close = lambda _: None
        self._work.put(None)
        self._thread.join(1.0)

    def _shown(self, message: Mapping[str, Any]) -> None:
        """From the agent, in the thread that reads its link, which must not wait."""
        if self._ended.is_set():
            return
        terminal = self._terminals.setdefault(message["terminal"], MarkedTerminal())
        for line in terminal.read(base64.b64decode(message["data"])):
            self._work.put(line)

    def running(self, terminal: str) -> str:
        """The line that runs in a terminal, by the agent's name for it; "" while its shell waits for one."""
        marked = self._terminals.get(terminal)
        return marked.running if marked is not None else ""

    def typed(self, line: TypedEvidence) -> None:
        """A line that no terminal shows begins or has ended; waits until it has been seen to, or the network ends."""
        seen = threading.Event()
        self._work.put(line)
        self._work.put(seen)
        while not (seen.wait(0.05) or self._ended.is_set()) and self._thread.is_alive():
            pass

    def _opened(self, node: str) -> None:
        """Somebody has a terminal there."""
        if not self._ended.is_set():
            self._work.put(EditorEvidence(("opened", node)))

    def _shut(self, node: str) -> None:
        """Nobody has a terminal there any more, unless it went with the network."""
        if not self._ended.is_set() and self.network.link.ended is None:
            self._work.put(EditorEvidence(("closed", node)))

    def _closed(self, message: Mapping[str, Any]) -> None:
        """From the agent: nothing more comes from this terminal.

        What ran there ended with it. What ended with the network did not: it is offered when the lab is continued.
        """
        terminal = self._terminals.pop(message["terminal"], None)
        if terminal and terminal.has_line and not self._ended.is_set() and self.network.link.ended is None:
            self._work.put(terminal)

    # --- in the collector's own thread

    def _serve(self) -> None:
        self._files.begin()
        self._read(_STATE, lambda: self._look(0.0))
        while (found := self._next()) is not None:
            if isinstance(found, threading.Event):
                if self._work.empty():
                    self.busy(False)
                found.set()
                continue
            if isinstance(found, EditorEvidence):
                if found.words[0] == "closed":
                    self._files.closed(found.words[1])
                self._outlive(" ".join(found.words), partial(self.on_evidence, found))
                continue
            if isinstance(found, MarkedTerminal):
                self._outlive("a terminal that was closed", partial(self._hung_up, found))
                continue
            self.busy(True)
            self._outlive(visible(found.text), partial(self._line, found))
            if self._work.empty():
                self.busy(False)

    def _outlive(self, what: str, do: Callable[[], None]) -> None:
        """Do something; a fault of ours in it is told, and must not end the guide."""
        try:
            do()
        except Exception as error:
            self.on_trouble(f"{what}: Linklab's guide could not follow this ({error!r})")

    def _hung_up(self, terminal: MarkedTerminal) -> None:
        with suppress(EngineError):  # the network has ended since
            for line in terminal.hung_up(self.network.now_s()):
                self._line(line)

    def _next(self) -> _Work | None:
        """What comes next; meanwhile what could not be read is tried again."""
        while True:
            try:
                return self._work.get(timeout=AGAIN_S if self._unread else None)
            except queue.Empty:
                for what, (_, read) in list(self._unread.items()):
                    self._read(what, read)

    def _read(self, what: str, read: Callable[[], None]) -> None:
        """Read something; where that fails it is told until it has worked, unless the network is ending."""
        self._outlive(what, partial(self._try_to_read, what, read))

    def _try_to_read(self, what: str, read: Callable[[], None]) -> None:
        try:
            read()
        except (LinklabError, OSError) as error:
            if self._ended.is_set():
                return
            reason = error.strerror if isinstance(error, OSError) else error
            self._unread[what] = (f"{what} could not be read ({visible(str(reason))})", read)
        else:
            if self._unread.pop(what, None) is None:
                return
        told = "; ".join(sentence for sentence, _ in self._unread.values())
        if told != self._told_unread:
            self._told_unread = told
            self.on_unread(f"{told}{_UNREAD}" if told else "")

    def _line(self, line: TypedEvidence) -> None:
        if not line.ended:
            self._files.begins(line)
            self.on_evidence(line)
            return
        line = self._files.ended(line)
        self._tell_files(line, line.files)
        self.on_evidence(line)
        if not self._ended.is_set() and not looks_only(line, self.network.nodes):
            at_s = line.end_s or 0.0
            self._read(_STATE, lambda: self._look(at_s))

    def _tell_files(self, line: TypedEvidence, names: Iterable[str]) -> None:
        """The text of files that a manual wants."""
        for name in names:
            if name.rpartition("/")[2] in self.wanted:
                self._read(str(self.folder / name), partial(self._tell_file, name))
        for name, wanted in self.wanted.items():
            if wanted.startswith("/") and name in line.text:  # a file of the network's own
                self._read(wanted, partial(self._tell_inner_file, wanted))

    def _tell_file(self, name: str) -> None:
        """One in the working folder; one that is gone again, or too long for the manual's, is none."""
        path = self.folder / name
        with suppress(FileNotFoundError):
            if path.stat().st_size <= MOST_FILE_BYTES:
                self.on_evidence(FileEvidence(name, path.read_text(encoding="utf-8", errors="replace")))

    def _tell_inner_file(self, path: str) -> None:
        text, status = self._output(["cat", path])
        if status == 0:
            self.on_evidence(FileEvidence(path, text))

    def _look(self, at_s: float) -> None:
        """Ask the kernel."""
        text, _ = self._output(STATE_PROGRAM)
        self.on_evidence(StateEvidence(State.loads(text), at_s))

    def _output(self, argv: Iterable[str]) -> tuple[str, int]:
        """What a program in the root namespace prints, and its exit status.

        Raises:
            DataError: the network has ended meanwhile.
            DeadlineError: the program has not ended within READ_S, of which time that stands still does not count.
        """
        terminals = self.attach.terminals
        taker = _Whole()
        name = terminals.open(self.attach.pace, node="client", rows=24, columns=1000, term="dumb", argv=list(argv))
        terminals.own(name, taker)
        spent_s, looked_s = 0.0, time.monotonic()
        try:
            while not taker.closed.wait(0.1):
                if self._ended.is_set():
                    raise DataError("the network has ended")
                now_s = time.monotonic()
                spent_s, looked_s = spent_s + (now_s - looked_s) * self.attach.pace(), now_s
                if spent_s > READ_S:
                    raise DeadlineError(f"no answer within {READ_S:g} s")
        finally:
            terminals.hang_up(name)  # the taker goes with it, and a program that has not ended
        return taker.text(), taker.status


class _Whole:
    """Takes all that a program prints."""

    def __init__(self) -> None:
        self._data = b""
        self.status = 0
        self.closed = threading.Event()

    def tell(self, message: Mapping[str, Any]) -> None:
        """An event of its terminal."""
        if message["event"] == "data":
            self._data += base64.b64decode(message["data"])
        elif message["event"] == "closed":
            self.status = message.get("status") or 0
            self.closed.set()

    def text(self) -> str:
        return self._data.decode("utf-8", "replace").replace("\r\n", "\n")


def looks_only(line: TypedEvidence, nodes: Collection[str]) -> bool:
    """Whether a line is known to set nothing; of tc, ip, sysctl and others their own verbs say so."""
    commands = commands_in(line.terminal, line.text, nodes)
    return all(
        command.program in _LOOKS
        or (command.program == "tc" and bool({"show", "list", "ls"} & set(command.words)))
        or (command.program == "ip" and not _CHANGES & set(command.words))
        or (command.program == "ifconfig" and len(command.words) <= 2)
        or (command.program == "sysctl" and not re.search(r"=|-p\b|--load", " ".join(command.words)))
        or (command.program == "linklab" and command.words[1:2] != ("link",))
        for command in commands
    )
