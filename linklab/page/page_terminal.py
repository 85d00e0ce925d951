# SPDX-License-Identifier: BSD-3-Clause
"""One terminal of a lab's page: a connection to the network's terminals, and the browsers that show it.

It lives as long as its shell, also while no page is open: what it has shown last is kept and replayed to a page that is
opened or reloaded. Programs that print faster than every browser can show wait, as at any terminal that has stopped; a
browser that is slower than another one gets the kept text afterwards instead. So does a page in a hidden tab, for which
no program waits: browsers let its timers run once a second or once a minute, and xterm.js draws by timers.
"""

from __future__ import annotations

import base64
import re
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from linklab.errors import EngineError
from linklab.terminal.attach import Connection, data_of

KEPT_BYTES = 256 * 2**10
"""What is replayed to a page that opens later, about 3,000 full lines."""
MOST_UNSHOWN_BYTES = 128 * 2**10
"""What a browser may have to show yet; xterm.js draws this much in some 30 ms."""
LAGGING_BYTES = 4 * MOST_UNSHOWN_BYTES
MOST_PAGES = 256
"""Pages whose last input is remembered; a page that is loaded again is another one."""
LOOK_S = 0.5
LONGEST_PROMPT = 4096
LONGEST_SILENCE_S = 3600.0
"""For a command that shows nothing yet, such as a test; a server that nobody asks any more is silent for longer."""
PROMPT = re.compile(r"(root@[^\s:]+:[^#$]*[#$]|mininet>) ")
"""What live shells (`linklab.agent.live`) and the Mininet CLI show when they wait for a command."""
_PROMPT_AT_END = re.compile(f"(?:{PROMPT.pattern})\\Z")
SEQUENCE = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07|[()][A-Z0-9])")
"""Sequences that set colours, modes, or the title (ECMA-48)."""


class TerminalViewer(Protocol):
    """A browser that shows a terminal; called in any thread, must not wait."""

    def show(self, data: bytes) -> None:
        """Bytes for the terminal, as they came."""
        ...

    def say(self, **fields: Any) -> None:
        """Anything else: closed, notice, or reset, with the number of bytes that come next and were shown before."""
        ...


class PageTerminal:
    """A shell on a node.

    Args:
        connection: to the network's terminals, without a terminal so far.
        number: of the terminal on this page.
        name: as manuals name terminals: "h1", "h1#2", "client", "mininet".
        changed: called when it has opened or closed.
        running: the line that runs in a terminal, by the agent's name for it; "" while its shell waits for one, None if
            that is not known.
    """

    def __init__(
        self,
        connection: Connection,
        number: int,
        name: str,
        changed: Callable[[], None],
        running: Callable[[str], str | None] = lambda _: None,
    ) -> None:
        self.connection, self.number, self.name = connection, number, name
        self.agents_name = ""
        self._running = running
        self.state = "opening"
        self._changed = changed
        self._shown_s = time.monotonic()
        self._kept = bytearray()
        self._early: list[dict[str, Any]] = []
        self._unshown: dict[TerminalViewer, int] = {}
        self._behind: set[TerminalViewer] = set()
        self._hidden: set[TerminalViewer] = set()
        self._taken: dict[str, int] = {}
        """Each page that has typed here → the number of its last input; the page that was heard last is last."""
        self._room = threading.Condition()

    @property
    def node(self) -> str:
        """The node it is on."""
        return self.name.partition("#")[0]

    def facts(self) -> dict[str, Any]:
        """What a page needs to know of it."""
        return {"id": self.number, "name": self.name, "node": self.node, "state": self.state}

    def begin(self, rows: int, columns: int) -> None:
        """Open it; the answer comes by itself."""
        self.connection.send(
            {"op": "open", "node": self.node, "rows": rows, "columns": columns, "term": "xterm-256color"}
        )
        threading.Thread(target=self._serve, name=f"terminal {self.name}", daemon=True).start()

    def at_prompt(self) -> bool:
        """Whether the terminal shows a prompt of its shell, or of the Mininet CLI, behind which nothing stands."""
        return PROMPT.fullmatch(self._last_line()) is not None

    def is_unfinished(self) -> bool:
        """Whether a line stands behind the prompt that nobody has ended with Enter."""
        found = PROMPT.match(self._last_line())
        return found is not None and found.end() < len(self._last_line()) and not self._running(self.agents_name)

    def is_free(self) -> bool:
        """Whether a command can be typed: nothing runs, and nothing stands behind the prompt.

        The prompt stands in the midst of a row where a program has not ended its last line.
        """
        behind_output = _PROMPT_AT_END.search(self._last_line()) is not None and self._running(self.agents_name) == ""
        return self.at_prompt() or behind_output

    def _last_line(self) -> str:
        with self._room:
            end = bytes(self._kept[-LONGEST_PROMPT:])
        last = SEQUENCE.sub(b"", end).rpartition(b"\n")[2].rpartition(b"\r")[2]
        return last.decode(errors="replace")

    def command_runs(self) -> bool:
        """Whether a command runs here, as the marks of its shell say; without marks, whether there is no prompt.

        A prompt counts as well, because it may be that of a shell within the shell, which makes no marks.
        """
        return not self.at_prompt() and not self.is_unfinished() and self._running(self.agents_name) != ""

    def at_work(self) -> bool:
        """Whether a command runs here that shows something, or may still do."""
        silent_s = time.monotonic() - self._shown_s
        return self.state == "open" and silent_s < LONGEST_SILENCE_S and self.command_runs()

    def wait_for_end(self, seconds: float) -> bool:
        """Wait for the command that runs to end; False if it does not within so many seconds of wall time."""
        return self._wait(lambda: not self.command_runs(), seconds)

    def wait_for_begin(self, seconds: float) -> bool:
        """Wait for a command that was just typed to begin; False if none does, or a line is not ended."""
        self._wait(lambda: self.command_runs() or self.at_prompt() or self.is_unfinished(), seconds)
        return self.command_runs()

    def _wait(self, so: Callable[[], bool], seconds: float) -> bool:
        until_s = time.monotonic() + seconds
        while self.state == "open" and not so():
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return False
            with self._room:
                self._room.wait(min(left_s, LOOK_S))
        return True

    # --- from the browsers

    def watch(self, viewer: TerminalViewer) -> None:
        """Begin to show it there, with what it has shown last."""
        with self._room:
            self._replay(viewer)

    def leave(self, viewer: TerminalViewer) -> None:
        """The browser does not show it any more."""
        with self._room:
            self._unshown.pop(viewer, None)
            self._behind.discard(viewer)
            self._hidden.discard(viewer)
            self._room.notify_all()

    def hide(self, viewer: TerminalViewer, hidden: bool) -> None:
        """Note whether a browser's page is hidden; programs wait for no page that is."""
        with self._room:
            if hidden and viewer in self._unshown:
                self._hidden.add(viewer)
            else:
                self._hidden.discard(viewer)
            self._room.notify_all()

    def shown(self, viewer: TerminalViewer, count: int) -> None:
        """A browser has drawn so many bytes."""
        with self._room:
            if viewer not in self._unshown:
                return
            self._unshown[viewer] = max(0, self._unshown[viewer] - count)
            if viewer in self._behind and not self._unshown[viewer]:
                self._behind.discard(viewer)
                self._replay(viewer)
            self._room.notify_all()

    def type(self, text: str, by: str = "", number: int = 0) -> None:
        """Keys of a browser.

        by, number: which page sends it, and the number of this input among the page's own, from 1; an input that was
        typed before is not typed again. 0 for an input that is sent only once.
        """
        with self._room:
            if number and not self._is_new(by, number):
                return
        self._tell_in_turn({"op": "input", "data": base64.b64encode(text.encode()).decode()})

    def _is_new(self, by: str, number: int) -> bool:
        """Whether an input has not been typed; it counts as typed from now on."""
        last = self._taken.pop(by, 0)
        self._taken[by] = max(last, number)  # at the end: the page that was heard last
        if len(self._taken) > MOST_PAGES:
            del self._taken[next(iter(self._taken))]
        return number > last

    def resize(self, rows: int, columns: int) -> None:
        """The size of the browser's terminal; of several browsers the last one that changed counts."""
        self._tell_in_turn({"op": "resize", "rows": rows, "columns": columns})

    def close(self) -> None:
        """Hang it up, as closing a terminal's window does."""
        self.connection.end()

    def _tell_in_turn(self, message: dict[str, Any]) -> None:
        """Say something now, or once the terminal has opened, because nobody would take it before."""
        with self._room:
            if self.state == "opening":
                self._early.append(message)
            else:
                self._tell(message)

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            if self.state != "closed":
                self.connection.send(message)
        except OSError:
            return  # it has just closed, which its reader learns

    # --- from the network

    def _serve(self) -> None:
        try:
            while self.state != "closed" and (messages := self.connection.receive()) is not None:
                for message in messages:
                    self._take(message)
                self._wait_for_room()
        except (OSError, EngineError, ValueError) as error:
            self._say(notice=str(error))
        finally:
            self.connection.close()
            self._is("closed")
            self._say(closed=True)

    def _take(self, message: dict[str, Any]) -> None:
        match message.get("event"):
            case "opened":
                with self._room:
                    for early in self._early:
                        self._tell(early)
                    self._early.clear()
                    self.state, self.agents_name = "open", str(message.get("name", ""))
                self._changed()
            case "data":
                self._show(data_of(message))
            case "closed":
                self.state = "closed"
            case "error" | "answer":
                self._say(notice=str(message.get("text", "")))

    def _is(self, state: str) -> None:
        self.state = state
        self._changed()

    def _say(self, **fields: Any) -> None:
        with self._room:
            viewers = list(self._unshown)
        for viewer in viewers:
            viewer.say(**fields)

    def _show(self, data: bytes) -> None:
        with self._room:
            self._kept += data
            self._shown_s = time.monotonic()
            self._room.notify_all()
            if len(self._kept) > 2 * KEPT_BYTES:
                del self._kept[: len(self._kept) - KEPT_BYTES]
            for viewer in self._unshown:
                if viewer in self._behind:
                    continue
                if self._unshown[viewer] > LAGGING_BYTES:
                    self._behind.add(viewer)
                    continue
                self._unshown[viewer] += len(data)
                viewer.show(data)

    def _replay(self, viewer: TerminalViewer) -> None:
        """Show a browser all that is kept; with the lock held, so that nothing comes between."""
        kept = bytes(self._kept[-KEPT_BYTES:])
        viewer.say(reset=len(kept))
        self._unshown[viewer] = len(kept)
        if kept:
            viewer.show(kept)
        if self.state == "closed":
            viewer.say(closed=True)

    def _wait_for_room(self) -> None:
        """Until some browser that is seen can show more, or none is; what the network has to say waits meanwhile."""
        with self._room:
            while self._is_full() and not self._hung_up():
                self._room.wait(LOOK_S)

    def _is_full(self) -> bool:
        seen = [count for viewer, count in self._unshown.items() if viewer not in self._hidden]
        return bool(seen) and min(seen) > MOST_UNSHOWN_BYTES

    def _hung_up(self) -> bool:
        return self.state == "closed" or self.connection.fileno() < 0
