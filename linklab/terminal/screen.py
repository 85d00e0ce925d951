# SPDX-License-Identifier: BSD-3-Clause
"""The person's terminal as the screen and keyboard of a terminal inside a network: bytes both ways, size, exit status.

Two things are done here, since a network whose time stands still cannot do them: the clock prompt (Ctrl+]), and the
line that is typed while paused (`linklab.terminal.paused_line`). The terminal's settings are given back on every way
out. Specified by termios(3), tty_ioctl(4).
"""

from __future__ import annotations

import base64
import contextlib
import os
import selectors
import shutil
import signal
import socket
import sys
import termios
import time
import tty
from collections.abc import Iterator
from typing import Any

from linklab.errors import EngineError, InputError
from linklab.terminal.attach import Connection, data_of
from linklab.terminal.paused_line import ALONE_S, PausedLine

ESCAPE = b"\x1d"  # Ctrl+]
CTRL_C, CTRL_D, CTRL_U, BACKSPACES = b"\x03", b"\x04", b"\x15", (b"\x7f", b"\x08")
READ_BYTES = 4096
MOST_UNTAKEN = 2**20
"""Characters of input, in base64, that are on their way at once where a file or a pipe is typed."""
END_AGAIN_S = 0.5
"""Wall seconds after which Ctrl+D is typed again at the end of a file or a pipe: one that comes before the shell's
prompt, or while a command runs that does not read, is lost when the shell takes the terminal over (termios(3))."""
HELP = """pause            stop time for every node
resume           let time go on
speed 8          network seconds a wall second; 0.1 is slow motion, max is as fast as it goes
step 10ms        let this much time pass, then be paused
until 90s        go to this network time as fast as it goes
status           where the clock is
quit             leave this terminal
Ctrl+] again     send Ctrl+] to the network"""


class Screen:
    """One terminal of a network in this one."""

    def __init__(self, connection: Connection, node: str) -> None:
        self.connection = connection
        self.node = node
        self.keys = sys.stdin.fileno()
        self.picture = sys.stdout.fileno()
        self.interactive = os.isatty(self.keys)
        self.opened = False
        self.told = os.terminal_size((0, 0))
        self.paused = False
        self.prompt: bytes | None = None
        self.line = PausedLine()
        self.line_shown = False
        self.typed_at_s = 0.0
        self.held: list[bytes] = []
        self.typed_early: list[str] = []
        self.typed_all = False
        self.last_typed = b"\n"
        self.end_again_at_s = 0.0
        self.untaken = 0  # characters of input that the network has not taken
        self.status: int | None = None
        self.asked = False
        self.stepping = False
        self.used = True  # since it was last told that time stands still

    def show(self) -> int:
        """Open the terminal and serve it until it closes; its exit status.

        Raises:
            InputError: no such node.
            EngineError: the network has ended.
        """
        with self._signals() as resized, _raw(self.keys, self.interactive):
            self.told = size = shutil.get_terminal_size()
            term = os.environ.get("TERM") or "dumb"
            self._send({"op": "open", "node": self.node, "rows": size.lines, "columns": size.columns, "term": term})
            with selectors.PollSelector() as selector:  # epoll refuses a plain file
                selector.register(self.connection, selectors.EVENT_READ, self._from_network)
                selector.register(resized, selectors.EVENT_READ, lambda: self._resized(resized))
                while self.status is None:
                    self._listen(selector)
                    ready = selector.select(self._wait_s())
                    for key, _ in ready:
                        key.data()
                        if self.status is not None:
                            break
                    if not ready:
                        self._alone()
                    self._end_again()
        return self.status if self.status >= 0 else 128 - self.status

    def _listen(self, selector: selectors.BaseSelector) -> None:
        """Wait for room where something is unsent, and for keys unless more of a file is on its way than is taken."""
        writing = selectors.EVENT_WRITE if self.connection.unsent else 0
        selector.modify(self.connection, selectors.EVENT_READ | writing, self._from_network)
        wanted = not self.typed_all and (self.interactive or self.untaken < MOST_UNTAKEN)
        if wanted and self.keys not in selector.get_map():
            selector.register(self.keys, selectors.EVENT_READ, self._from_keyboard)
        elif not wanted and self.keys in selector.get_map():
            selector.unregister(self.keys)

    # --- out

    def _from_network(self) -> None:
        messages = self.connection.receive(0)
        if messages is None:
            raise EngineError("the network has ended")
        for message in messages:
            self._message(message)

    def _message(self, message: dict[str, Any]) -> None:
        event = message["event"]
        if event == "data":
            self._show(data_of(message))
        elif event == "opened":
            self.opened = True
            self._tell_size()  # it may have changed while the terminal opened
            for text in self.typed_early:
                self._send({"op": "input", "data": text})
            self.typed_early = []
        elif event == "typed":
            self.untaken -= int(message["bytes"])
        elif event == "closed":
            self._flush()
            self.status = int(message["status"])
        elif event == "clock":
            self._clock(message)
        elif event == "answer":
            if message["status"]:
                self._note(message["text"])
        elif event == "error":
            self._flush()
            raise (InputError if message["kind"] == "input" else EngineError)(message["text"])

    def _show(self, data: bytes) -> None:
        if self.prompt is not None or self.line.text:
            self.held.append(data)
            return
        while data:
            data = data[os.write(self.picture, data) :]

    def _flush(self) -> None:
        self.prompt = None
        self.line.take()
        held, self.held = self.held, []
        for data in held:
            self._show(data)

    def _note(self, text: str) -> None:
        """A line of ours between the network's."""
        lines = text.replace("\n", "\r\n")
        os.write(self.picture, f"\r\x1b[K\x1b[7m{lines}\x1b[0m\r\n".encode())
        if self.line.text:
            self._show_line()

    # --- in

    def _from_keyboard(self) -> None:
        data = os.read(self.keys, READ_BYTES)
        if not data:
            if self.interactive:
                raise EngineError("this terminal has been closed")
            self.typed_all = True
            if self.last_typed != b"\n":  # in a line that has begun, Ctrl+D is no end
                self._type(b"\n")
            self._end()
        elif not self.interactive:
            self.last_typed = data[-1:]
            self._type(data)
        else:
            self._keys(data)

    def _end(self) -> None:
        self._type(CTRL_D)
        self.end_again_at_s = time.monotonic() + END_AGAIN_S

    def _end_again(self) -> None:
        """At the end of a file or a pipe: again, if the last Ctrl+D was taken and the terminal is still there."""
        due = self.typed_all and self.status is None and time.monotonic() >= self.end_again_at_s
        if due and self.opened and not self.untaken and not self.paused:
            self._end()

    def _keys(self, data: bytes) -> None:
        """Keys for the clock's prompt, for the paused clock, or for the network."""
        self.used = True
        while data and self.status is None:
            if self.prompt is not None:
                data = self._edit(data)
            else:
                before, escape, data = data.partition(ESCAPE)
                if before:
                    (self._collect if self.paused else self._type)(before)
                if escape:
                    self.line.take()
                    self._show_line()
                    self.prompt = b""
                    os.write(self.picture, b"\r\n\x1b[7mclock>\x1b[0m ")

    def _collect(self, data: bytes) -> None:
        """Keys while time stands still."""
        for meant in self.line.feed(data):
            if isinstance(meant, bytes):
                self._type(meant)
            else:
                self._order_clock(meant)
        self.typed_at_s = time.monotonic()
        self._show_line()

    def _wait_s(self) -> float | None:
        """How long to wait for what may follow r and s, or to end the terminal again; None if nothing hangs on it."""
        if self.typed_all:
            return END_AGAIN_S
        return max(0.0, self.typed_at_s + ALONE_S - time.monotonic()) if self.line.may_be_keys else None

    def _alone(self) -> None:
        """Nothing has followed."""
        orders = self.line.alone()
        self._show_line()
        for words in orders:
            self._order_clock(words)

    def _show_line(self) -> None:
        if self.line.text:
            os.write(self.picture, b"\r\x1b[K\x1b[7mpaused>\x1b[0m " + self.line.text)
        elif self.line_shown:
            os.write(self.picture, b"\r\x1b[K")
        self.line_shown = bool(self.line.text)
        if not self.line.text:
            self._flush()

    def _type(self, data: bytes) -> None:
        text = base64.b64encode(data).decode()
        self.untaken += len(text)
        if self.opened:
            self._send({"op": "input", "data": text})
        else:
            self.typed_early.append(text)

    def _resized(self, resized: socket.socket) -> None:
        signals = resized.recv(READ_BYTES)
        if signal.SIGWINCH in signals and self.opened:
            self._tell_size()

    def _tell_size(self) -> None:
        if (size := shutil.get_terminal_size()) != self.told:
            self.told = size
            self._send({"op": "resize", "rows": size.lines, "columns": size.columns})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self.connection.send(message)
        except OSError as error:
            raise EngineError("the network has ended") from error

    # --- the clock prompt

    def _edit(self, data: bytes) -> bytes:
        """Take keys into the prompt until it closes; those left over."""
        for at in range(len(data)):
            key, rest = data[at : at + 1], data[at + 1 :]
            assert self.prompt is not None
            if key in (b"\r", b"\n"):
                os.write(self.picture, b"\r\n")
                self._order(self.prompt.decode(errors="replace").split())
                return rest
            if key in (ESCAPE, CTRL_C, CTRL_D):
                empty = not self.prompt
                self._close_prompt()
                if key == ESCAPE and empty:
                    self._type(ESCAPE)
                return rest
            if key in BACKSPACES or key == CTRL_U:
                self.prompt = b"" if key == CTRL_U else self.prompt[:-1]
            elif key >= b" ":
                self.prompt += key
            os.write(self.picture, b"\r\x1b[K\x1b[7mclock>\x1b[0m " + self.prompt)
        return b""

    def _order(self, words: list[str]) -> None:
        if words[:1] == ["clock"]:
            words = words[1:] or ["status"]
        if words == ["quit"]:
            self.status = 0
        elif words in (["help"], ["?"]):
            self._note(HELP)
            os.write(self.picture, b"\x1b[7mclock>\x1b[0m ")
            self.prompt = b""
        elif words:
            self._close_prompt()
            self._order_clock(words)
        else:
            self._close_prompt()

    def _order_clock(self, words: list[str]) -> None:
        self.asked, self.stepping = True, words[:1] == ["step"]
        self._send({"op": "clock", "words": words})

    def _close_prompt(self) -> None:
        os.write(self.picture, b"\r\x1b[K")
        self._flush()

    def _clock(self, message: dict[str, Any]) -> None:
        """Say where the clock is if that was asked for here; that time stands still once, until somebody types here.

        Whoever pauses and steps elsewhere, as in the editor's window, would else fill every terminal with it.
        """
        if message["on_way"] and self.stepping:
            return  # in a moment it is paused again
        before, self.paused = self.paused, bool(message["paused"])
        if before and not self.paused and (begun := self.line.take()):  # the network shows it from here on
            self._show_line()
            self._type(begun)
        if not self.interactive or self.prompt is not None:
            return
        if self.paused and not before and not self.stepping and (self.asked or self.used):
            self._note(f"{message['text']}: r resumes, s steps 10 ms, clock … and Ctrl+] do more")
            self.used = False
        elif self.asked:
            self._note(message["text"])
        if not message["on_way"]:  # else the answer to what was asked last is still to come
            self.asked = self.stepping = False

    @contextlib.contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """A socket that hears of signals, so that a new size wakes the loop."""
        ours, theirs = socket.socketpair()
        for end in (ours, theirs):
            end.setblocking(False)
        before = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
        winch = signal.signal(signal.SIGWINCH, lambda *_: None)
        try:
            yield ours
        finally:
            signal.signal(signal.SIGWINCH, winch)
            signal.set_wakeup_fd(before)
            ours.close()
            theirs.close()


@contextlib.contextmanager
def _raw(keys: int, interactive: bool) -> Iterator[None]:
    """The terminal hands over every key as it is; its settings are given back."""
    if not interactive:
        yield
        return
    settings = termios.tcgetattr(keys)
    try:
        tty.setraw(keys)
        yield
    finally:
        with contextlib.suppress(termios.error):  # the window has gone
            termios.tcsetattr(keys, termios.TCSADRAIN, settings)


@contextlib.contextmanager
def ends_orderly() -> Iterator[None]:
    """SIGTERM and SIGHUP unwind the program as Ctrl+C does, so that what it started ends with it."""

    def leave(number: int, _: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, leave) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
