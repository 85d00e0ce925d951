# SPDX-License-Identifier: BSD-3-Clause
"""What programs inside a network ask of the desktop outside: a terminal, a file opened, an editor, a live plot.

Questions come as `ask` events of the agent (`linklab.agent.asks`); each is answered by a sentence and an exit status.
Windows end with the network.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Any

from linklab.base import installation
from linklab.engine.api import Channel
from linklab.errors import EngineError
from linklab.terminal import openable
from linklab.terminal.attach_server import AttachServer

INSIDE = PurePosixPath("/lab")
X_PORT = 6000
PROBE_S = 2.0
FAILS_WITHIN_S = 1.0
END_S = 1.0
TERMINALS = ("x-terminal-emulator", "xterm")
OPENERS = ("xdg-open", "gio", "exo-open")
VIEWERS = {".pdf": ("evince", "okular", "atril", "xpdf", "mupdf", "qpdfview", "zathura")}
EDITORS = ("featherpad", "gnome-text-editor", "gedit", "kate", "mousepad", "leafpad", "pluma", "xed")
TEXT_EDITORS = ("nano", "vim", "vi")
PLOT_OPTIONS = frozenset({"--qdisc", "--limit"})
USAGE = "terminal NODE, open FILE, edit FILE, queue FILE or clock"


def display_usable() -> bool:
    """Whether a window can be opened here: a display is named and somebody listens there."""
    wayland = os.environ.get("WAYLAND_DISPLAY")
    if wayland and _listens(Path(os.environ.get("XDG_RUNTIME_DIR", "/run/user/0"), wayland)):
        return True
    host, colon, number = os.environ.get("DISPLAY", "").rpartition(":")
    number = number.partition(".")[0]
    if not colon or not number.isdecimal():
        return False
    if host in ("", "unix"):
        return _listens(Path(f"/tmp/.X11-unix/X{number}")) or _listens(f"\0/tmp/.X11-unix/X{number}")  # noqa: S108 - X's place
    try:
        socket.create_connection((host, X_PORT + int(number)), PROBE_S).close()
    except OSError:
        return False
    return True


def _listens(address: Path | str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_S)
        try:
            probe.connect(str(address))
        except OSError:
            return False
    return True


class Windows:
    """Answers the questions of one network; ends the windows at the end of the `with` block."""

    def __init__(self, link: Channel, server: AttachServer, workdir: Path, *, display: bool) -> None:
        self.link, self.server, self.workdir, self.display = link, server, workdir.resolve(), display
        self._open: list[subprocess.Popen[bytes]] = []
        self._lock = threading.Lock()
        self._ended = False
        link.on("ask", self._asked)

    def __enter__(self) -> Windows:
        self.link.send("answers")  # from now on the agent passes the questions on
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with self._lock:
            self._ended = True
            windows = list(self._open)
        for window in windows:
            _signal(window, terminate=True)
        for window in windows:
            try:
                window.wait(END_S)
            except subprocess.TimeoutExpired:
                _signal(window, terminate=False)
                window.wait()

    def _asked(self, message: dict[str, Any]) -> None:
        # not in this thread: it reads the link, and an answer may take as long as a window is open
        threading.Thread(target=self._answer, args=(message,), name="window", daemon=True).start()

    def _answer(self, message: dict[str, Any]) -> None:
        try:
            text, status = self.answer([str(word) for word in message["argv"]])
        except OSError as error:
            text, status = f"no window could be opened: {error}", 1
        with contextlib.suppress(EngineError):
            self.link.send("answer", ask=message["ask"], text=text, status=status)

    def answer(self, argv: Sequence[str]) -> tuple[str, int]:
        """Do what was asked; a sentence (may be empty) and an exit status."""
        match list(argv):
            case ["clock", *words]:
                return self.server.obey_clock(words, wait=words[:1] == ["until"])
            case ["terminal", node]:
                return self._terminal(node)
            case ["open", name]:
                return self._file(name, self._show)
            case ["edit", name]:
                return self._file(name, self._edit)
            case ["queue", name, *options]:
                return self._queue(name, options)
        return f"{' '.join(argv) or 'nothing'}: the host does not know how to do that; it knows {USAGE}", 2

    # --- each kind

    def _terminal(self, node: str) -> tuple[str, int]:
        there = ("client", "mininet", *self.server.nodes)
        if node not in there:  # it becomes an argument of a command of the host
            return f"{node}: no such node here; there are {', '.join(there)}", 2
        by_hand = f"use `linklab attach {node} --network {self.server.id}` in another terminal"
        if not self.display:
            return f"no display: {by_hand}", 1
        program = next(filter(shutil.which, TERMINALS), None)
        if program is None:
            return f"no terminal program found ({', '.join(TERMINALS)}): {by_hand}", 1
        command = installation.command("attach", node, "--network", self.server.id)
        return self._start([program, "-T", f"{node}: {self.server.name}", "-e", *command], by_hand)

    def _file(self, name: str, how: Callable[[Path], tuple[str, int]]) -> tuple[str, int]:
        outside, refusal = self._outside(name)
        if refusal:
            return refusal, 1
        if not self.display:
            is_there = outside.exists() or how == self._edit
            return (f"no display: the file is {outside}", 0) if is_there else (f"{outside} does not exist", 1)
        return how(outside)

    def _outside(self, name: str) -> tuple[Path, str]:
        """Where a file of the network lies on the host; or why it is none that may be opened."""
        path = PurePosixPath(name)
        if INSIDE not in (path, *path.parents):
            where = f"write it under /lab, which is {self.workdir}, to open it"
            return self.workdir, f"{name} exists only inside the network; {where}"
        outside = self.workdir / path.relative_to(INSIDE)
        # a link in the folder may lead anywhere, but what is meant is the network's file
        if self.workdir not in (outside.resolve(), *outside.resolve().parents):
            return outside, f"{name} leads out of {self.workdir}, so it is not opened"
        return outside, ""

    def _show(self, path: Path) -> tuple[str, int]:
        if not path.exists():
            return f"{path} does not exist", 1
        if why_not := openable.refusal(path):
            return why_not, 1
        viewer = next(filter(shutil.which, VIEWERS.get(path.suffix.lower(), ())), None)
        opener = next(filter(shutil.which, OPENERS), None)
        if opener is not None:
            command = [opener, *(["open"] if opener == "gio" else []), str(path.resolve())]
            text, status = self._start(command, f"the file is {path}")
            if status == 0 or viewer is None:
                return text or f"the file is {path}", status
        if viewer is None:
            return f"no program to open files found ({', '.join(OPENERS)}): the file is {path}", 1
        return self._start([viewer, str(path.resolve())], f"the file is {path}")

    def _edit(self, path: Path) -> tuple[str, int]:
        by_hand = f"the file is {path}"
        editor = next(filter(shutil.which, EDITORS), None)
        if editor is not None:
            return self._start([editor, str(path)], by_hand)
        if path.exists() and not openable.refusal(path) and shutil.which("xdg-open"):
            text, status = self._start(["xdg-open", str(path.resolve())], by_hand)
            if status == 0:
                return text, status
        terminal = next(filter(shutil.which, TERMINALS), None)
        own = os.environ.get("EDITOR", "")
        editor = next(filter(shutil.which, (own, *TEXT_EDITORS)), None)
        if terminal is None or editor is None:
            return f"no editor found ({', '.join(EDITORS)}): {by_hand}", 1
        return self._start([terminal, "-T", path.name, "-e", editor, str(path)], by_hand)

    def _queue(self, name: str, options: Sequence[str]) -> tuple[str, int]:
        """A live plot of a file of samples; answered when the person has stopped it."""
        taken = _plot_options(options)
        if taken is None:
            return f"{' '.join(options)}: a live plot takes --qdisc HANDLE and --limit SIZE, once each", 2
        if not self.display:
            return f"no display: the samples are {name}", 1
        _, refusal = self._outside(str(PurePosixPath(name).with_suffix(".pdf")) if PurePosixPath(name).name else name)
        if refusal:  # where s saves the figure
            return refusal, 1

        def follow(path: Path) -> tuple[str, int]:
            command = installation.command("plot", "queue", str(path), "--follow", *taken)
            window = self._spawn(command, stdout=subprocess.PIPE)
            if window is None or window.stdout is None:
                return "the network has ended", 1
            line = window.stdout.readline().decode().strip()  # when s is pressed, or the window is closed
            if line:
                return "", 0
            complaint = window.stderr.read().decode().strip() if window.stderr else ""
            return (f"the live plot has ended: {complaint}", 1) if window.wait() else ("", 0)

        return self._file(name, follow)

    # --- processes

    def _spawn(self, command: Sequence[str], stdout: int = subprocess.DEVNULL) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._ended:
                return None
            self._open = [window for window in self._open if window.poll() is None]
            window = subprocess.Popen(
                list(command),
                cwd=self.workdir,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=subprocess.PIPE if stdout == subprocess.PIPE else subprocess.DEVNULL,
                start_new_session=True,
            )
            self._open.append(window)
        return window

    def _start(self, command: Sequence[str], by_hand: str) -> tuple[str, int]:
        """Start a program that opens a window; one that fails at once is told of."""
        window = self._spawn(command)
        if window is None:
            return "the network has ended", 1
        try:
            status = window.wait(FAILS_WITHIN_S)
        except subprocess.TimeoutExpired:
            return "", 0
        return ("", 0) if status == 0 else (f"{command[0]} ended with status {status}: {by_hand}", 1)


def _plot_options(words: Sequence[str]) -> list[str] | None:
    """The options of a live plot that a program inside may give, a word each; None if there is another.

    No more than these: `--out`, for one, would have the host write where a program inside says.
    """
    names, values = list(words[::2]), list(words[1::2])
    known = len(names) == len(values) and len(set(names)) == len(names) and PLOT_OPTIONS.issuperset(names)
    if not known or any(value.startswith("-") for value in values):
        return None
    return [f"{name}={value}" for name, value in zip(names, values, strict=True)]


def _signal(window: subprocess.Popen[bytes], *, terminate: bool) -> None:
    """End a window and what it started: it is the leader of a process group of its own."""
    if window.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(window.pid, signal.SIGTERM if terminate else signal.SIGKILL)
