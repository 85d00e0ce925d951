# SPDX-License-Identifier: BSD-3-Clause
"""The terminals of a lab's page: which there are, and the WebSocket of each.

`POST terminals {name, rows, columns}` opens one and answers its facts, `GET terminals/ID` says whether a command runs
there and whether one can be typed, `DELETE terminals/ID` hangs it up, `POST terminals/ID/forward` is fast-forward; the
event `terminals` lists them.
Socket `terminal/ID`: to the browser bytes as they come, else JSON {"closed" | "notice" | "taken"}, or {"reset": the
number of bytes that come next and were shown before}; from it JSON {"input", "by", "number"}, {"shown": bytes},
{"rows", "columns"}, or {"hidden": the page is in a hidden tab}.
A page ("by", a word that it draws) numbers its input from 1, and hears {"taken": number} of each. After its connection
was lost it sends again what was not taken; an input that was taken before is typed no second time.
"""

from __future__ import annotations

import json
import math
import threading
from typing import Any

from tornado.web import RequestHandler
from tornado.websocket import WebSocketClosedError

from linklab.errors import InputError
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, PageSocket, RequestError
from linklab.page.page_terminal import PageTerminal
from linklab.terminal.attach_server import AttachServer

MOST_TERMINALS = 64
FORWARD_S = 300
BEGIN_S = 1.0
"""For a shell to begin what was typed a moment ago, of wall time."""
_FORWARDING = threading.Lock()
"""Held while a command is fast-forwarded: a second one would take full speed for the speed to go back to."""
LONGEST_WORD = 64
"""Letters of the word by which a page identifies itself."""
LARGEST_SIDE = 1000
"""Rows or columns of a terminal."""


class TerminalTabs:
    """The terminals that are open on the page, in the order in which they were opened."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self._open: dict[int, PageTerminal] = {}
        self._count = 0
        self._lock = threading.Lock()
        self._telling = threading.Lock()
        context.on_close(self.close)
        context.works_if(self.at_work)

    def open(self, name: str, rows: int, columns: int) -> PageTerminal:
        """Open a terminal; a second one of that name gets the next free number, as in "h1#2".

        One that has ended, as by `exit`, leaves its name to the next.

        Raises:
            InputError: there is no such node, or too many terminals are open.
            NotReadyError: the network is not running.
        """
        attach = self.context.attach
        node, _, number = name.partition("#")
        if node not in (known := self.context.nodes):
            raise InputError(f"{node}: the network of this page has no such node; it has {', '.join(known)}")
        with self._lock:
            taken = {terminal.name for terminal in self._open.values() if terminal.state != "closed"}
            if node == "mininet" and "mininet" in taken:
                raise InputError("the Mininet CLI is open on this page already; there is one of it")
            if len(self._open) >= MOST_TERMINALS:
                raise InputError(f"{MOST_TERMINALS} terminals are open; close one that you do not need")
            if number and not number.isdecimal():
                raise InputError(f"{name}: a second terminal of {node} is called {node}#2")
            if name in taken:
                name = next(f"{node}#{n}" for n in range(2, MOST_TERMINALS + 2) if f"{node}#{n}" not in taken)
            self._count += 1
            terminal = PageTerminal(attach.connect(), self._count, name, self.tell, self.context.guide.running)
            self._open[terminal.number] = terminal
        terminal.begin(rows, columns)
        self.tell()
        return terminal

    def find(self, number: int) -> PageTerminal | None:
        """The terminal of that number; None if there is none any more."""
        with self._lock:
            return self._open.get(number)

    def at_work(self) -> bool:
        """Whether a command runs in one of them."""
        with self._lock:
            terminals = list(self._open.values())
        return any(terminal.at_work() for terminal in terminals)

    def hang_up(self, number: int) -> None:
        """Close a terminal and forget it."""
        with self._lock:
            terminal = self._open.pop(number, None)
        if terminal is not None:
            terminal.close()
        self.tell()

    def tell(self) -> None:
        """Tell every page which terminals there are; the newest list last, whoever tells it."""
        with self._telling:
            with self._lock:
                facts = [terminal.facts() for terminal in self._open.values()]
            self.context.events.publish("terminals", terminals=facts)

    def close(self) -> None:
        """Hang all of them up."""
        with self._lock:
            terminals = list(self._open.values())
        for terminal in terminals:
            terminal.close()


class TerminalsHandler(PageHandler):
    """Opens terminals."""

    def initialize(self, context: PageContext, tabs: TerminalTabs) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.tabs = tabs

    async def post(self) -> None:
        """Open one."""
        given = self.fields(name=str, rows=int, columns=int)
        if not all(2 <= given[side] <= LARGEST_SIDE for side in ("rows", "columns")):
            raise RequestError(400, f"A terminal has 2 to {LARGEST_SIDE} rows and columns.")
        terminal = await self.context.in_thread(self.tabs.open, given["name"], given["rows"], given["columns"])
        self.answer(**terminal.facts())

    def get(self, number: str) -> None:
        """Answer whether a command runs in one, and whether one can be typed."""
        terminal = self.tabs.find(int(number))
        if terminal is None:
            raise RequestError(404, "There is no such terminal any more.")
        self.answer(runs=terminal.command_runs(), free=terminal.is_free())

    def delete(self, number: str) -> None:
        """Hang one up."""
        self.tabs.hang_up(int(number))
        self.answer()


class ForwardHandler(PageHandler):
    """Fast-forward: as fast as it goes until the command that runs in a terminal ends."""

    def initialize(self, context: PageContext, tabs: TerminalTabs) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.tabs = tabs

    async def post(self, number: str) -> None:
        """Answer when the command has ended."""
        terminal = self.tabs.find(int(number))
        if terminal is None or terminal.state != "open":
            raise RequestError(400, "There is no such terminal any more.")
        await self.context.in_thread(fast_forward, self.context.attach, terminal)
        self.answer(text=f"The command in {terminal.name} has ended.")


def fast_forward(attach: AttachServer, terminal: PageTerminal) -> None:
    """Go as fast as it goes until the command in the terminal ends, then on as before.

    Raises:
        InputError: nothing runs there, the clock cannot be set, another command is being fast-forwarded, or this one
            did not end within FORWARD_S.
        EngineError: the network has ended.
    """
    if not _FORWARDING.acquire(blocking=False):
        raise InputError("a command is being fast-forwarded already")
    try:
        _forward(attach, terminal)
    finally:
        _FORWARDING.release()


def _forward(attach: AttachServer, terminal: PageTerminal) -> None:
    if attach.clock is None:
        raise InputError("the clock of this network cannot be set")
    if terminal.is_unfinished():
        raise InputError(f"nothing runs in {terminal.name}: the line there is not ended; press Enter there first")
    if not terminal.wait_for_begin(BEGIN_S):
        raise InputError(f"nothing runs in {terminal.name}; start a command there first")
    before = attach.clock.state()
    attach.obey_clock(["speed", "max"])
    if before["paused"]:
        attach.obey_clock(["resume"])
    try:
        if not terminal.wait_for_end(FORWARD_S):
            raise InputError(
                f"{terminal.name}: the command has not ended in {FORWARD_S} s; press Ctrl+C there to stop it"
            )
    finally:
        speed = before["speed"]
        attach.obey_clock(["speed", "max" if math.isinf(speed) else f"{speed:g}"])


class TerminalSocket(PageSocket):
    """One browser's view of one terminal."""

    def initialize(self, context: PageContext, tabs: TerminalTabs) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.tabs = tabs
        self.terminal: PageTerminal | None = None

    def open(self, *args: str, **_: str) -> None:
        """Show what the terminal has shown, then what it shows."""
        self.set_nodelay(True)
        self.terminal = self.tabs.find(int(args[0]))
        if self.terminal is None:
            self.close(4404, "there is no such terminal any more")
            return
        self.terminal.watch(self)

    def on_message(self, message: str | bytes) -> None:
        """Keys, a size, what was drawn, whether the page is hidden; what is none of these is refused by closing."""
        if self.terminal is None:
            return
        try:
            given = json.loads(message)
            match given:
                case {"input": str(text), "by": str(by), "number": int(number)} if len(by) <= LONGEST_WORD:
                    self.context.touch()
                    self.terminal.type(text, by, number)
                    self._send(json.dumps({"taken": number}))
                case {"shown": int(count)} if count >= 0:
                    self.terminal.shown(self, count)
                case {"hidden": bool(hidden)}:
                    self.terminal.hide(self, hidden)
                case {"rows": int(rows), "columns": int(columns)} if (
                    2 <= rows <= LARGEST_SIDE and 2 <= columns <= LARGEST_SIDE
                ):
                    self.terminal.resize(rows, columns)
                case _:
                    raise ValueError
        except ValueError:
            self.close(4400, "not a message of a terminal")

    def on_close(self) -> None:
        """The page was closed or reloaded; the terminal stays."""
        if self.terminal is not None:
            self.terminal.leave(self)

    def show(self, data: bytes) -> None:
        """Called by the terminal's thread."""
        self.context.soon(self._send, data)

    def say(self, **fields: Any) -> None:
        """Called by the terminal's thread."""
        self.context.soon(self._send, json.dumps(fields))

    def _send(self, message: str | bytes) -> None:
        try:
            self.write_message(message, binary=isinstance(message, bytes))
        except WebSocketClosedError:
            return


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    given = {"context": context, "tabs": TerminalTabs(context)}
    return [
        (f"{context.prefix}terminals", TerminalsHandler, given),
        (f"{context.prefix}terminals/([0-9]+)", TerminalsHandler, given),
        (f"{context.prefix}terminals/([0-9]+)/forward", ForwardHandler, given),
        (f"{context.prefix}terminal/([0-9]+)", TerminalSocket, given),
    ]
