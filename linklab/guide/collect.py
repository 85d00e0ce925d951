# SPDX-License-Identifier: BSD-3-Clause
"""A running network → evidence: terminals opened, lines typed there and what they showed, the state read back.

Listens to what the terminals show anyway (`linklab.guide.marks`), so it neither types nor waits where somebody works.
The kernel is asked by a program that costs no network time; while time stands still, its answer waits.
"""

from __future__ import annotations

import base64
import queue
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from linklab.base.text import visible
from linklab.engine.api import Network
from linklab.errors import DataError, LinklabError
from linklab.guide.claims import LineFiles
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.guide.marks import MarkedTerminal
from linklab.guide.shell import commands_in
from linklab.state.model import State
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.attached import STATE_PROGRAM

MOST_FILE_BYTES = 1 << 16
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


class Collector:
    """Collects from one network, until the end of the `with` block.

    Args:
        network: the running one.
        attach: the server of its terminals.
        folder: the working folder, on this machine.
        on_evidence: takes each piece, in a thread of the collector's.
        wanted: names of files whose text is evidence.
        busy: told whether something that has happened is not evidence yet.
        on_trouble: takes a sentence for a line that could not be followed.
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
    ) -> None:
        self.network, self.attach, self.folder, self.on_evidence = network, attach, folder, on_evidence
        self.on_trouble = on_trouble
        self.wanted = {path.rpartition("/")[2]: path for path in wanted}
        self.busy = busy
        self._terminals: dict[str, MarkedTerminal] = {}
        self._work: queue.Queue[TypedEvidence | EditorEvidence | None] = queue.Queue()
        self._files = LineFiles(folder)
        self._thread = threading.Thread(target=self._serve, name="guide", daemon=True)
        self._ended = threading.Event()

    def __enter__(self) -> Collector:
        self.network.link.on("data", self._shown)
        self.network.link.on("closed", self._closed)
        self.network.link.on("end", lambda _: self._ended.set())
        self.attach.on_open = self._opened
        for node in self.attach.open_shells():
            self._opened(node)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.attach.on_open = lambda _: None
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

    def _opened(self, node: str) -> None:
        """Somebody has a terminal there."""
        if not self._ended.is_set():
            self._work.put(EditorEvidence(("opened", node)))

    def _closed(self, message: Mapping[str, Any]) -> None:
        """From the agent: nothing more comes from this terminal."""
        self._terminals.pop(message["terminal"], None)

    # --- in the collector's own thread

    def _serve(self) -> None:
        self._files.begin()
        with suppress(LinklabError):  # the network has ended, or its time stands still for long
            self._look(0.0)
        while (line := self._work.get()) is not None:
            if isinstance(line, EditorEvidence):
                self.on_evidence(line)
                continue
            self.busy(True)
            try:
                self._line(line)
            except LinklabError:
                pass  # of a network that is ending; what was typed in it still counts
            except Exception as error:  # a fault of ours must not end the guide
                self.on_trouble(f"{visible(line.text)}: Linklab's guide could not follow this line ({error!r})")
            if self._work.empty():
                self.busy(False)

    def _line(self, line: TypedEvidence) -> None:
        if not line.ended:
            self._files.begins(line)
            self.on_evidence(line)
            return
        line = self._files.ended(line)
        self._tell_files(line, line.files)
        self.on_evidence(line)
        if not self._ended.is_set() and not looks_only(line, self.network.nodes):
            self._look(line.end_s or 0.0)

    def _tell_files(self, line: TypedEvidence, names: Iterable[str]) -> None:
        """The text of files that a manual wants."""
        for name in names:
            path = self.folder / name
            with suppress(OSError):
                if path.name in self.wanted and path.stat().st_size <= MOST_FILE_BYTES:
                    self.on_evidence(FileEvidence(name, path.read_text(encoding="utf-8", errors="replace")))
        for name, wanted in self.wanted.items():
            if wanted.startswith("/") and name in line.text:  # a file of the network's own
                with suppress(LinklabError):
                    self.on_evidence(FileEvidence(wanted, self._output(["cat", wanted])))

    def _look(self, at_s: float) -> None:
        """Ask the kernel."""
        text = self._output(STATE_PROGRAM)
        self.on_evidence(StateEvidence(State.loads(text), at_s))

    def _output(self, argv: Iterable[str]) -> str:
        """What a program in the root namespace prints; DataError if the network ends meanwhile."""
        terminals = self.attach.terminals
        taker = _Whole()
        name = terminals.open(self.attach.pace, node="client", rows=24, columns=1000, term="dumb", argv=list(argv))
        terminals.own(name, taker)
        try:
            while not taker.closed.wait(0.1):
                if self._ended.is_set():
                    raise DataError("the network has ended")
        finally:
            terminals.hang_up(name)  # the taker goes with it, and a program that has not ended
        return taker.text()


class _Whole:
    """Takes all that a program prints."""

    def __init__(self) -> None:
        self._data = b""
        self.closed = threading.Event()

    def tell(self, message: Mapping[str, Any]) -> None:
        """An event of its terminal."""
        if message["event"] == "data":
            self._data += base64.b64decode(message["data"])
        elif message["event"] == "closed":
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
