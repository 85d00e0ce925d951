# SPDX-License-Identifier: BSD-3-Clause
"""A shell on a pty whose prompts are recognised: text is typed, its output captured, its end noticed.

The shell is bash with a prompt that is an escape sequence carrying `$?`, so that what a command prints is never taken
for a prompt. Echo is off: what is captured is output alone. See pty(7), termios(3) and bash(1), PROMPT_COMMAND.
"""

from __future__ import annotations

import codecs
import contextlib
import fcntl
import os
import pty
import re
import signal
import struct
import termios
from dataclasses import dataclass, field

from linklab.linux import children

PROMPT = re.compile(r"\x1b\]777;prompt;(\d*)\x07")
MORE = "\x1b]777;more\x07"
COLOURS = re.compile(r"\x1b\[[0-9;]*[mK]")
"""What jq, grep and ls print to colour their output on a terminal (ECMA-48, SGR and EL); nobody sees it here."""
RC = r"""PROMPT_COMMAND='printf "\033]777;prompt;%s\007" "$?"'; PS1=''; PS2=$'\033]777;more\007'; unset HISTFILE
"""
SHELL = ["/bin/bash", "--noprofile", "--noediting", "-i"]
CTRL_C, CTRL_Z = b"\x03", b"\x1a"
READ_BYTES = 65536
LONGEST_LINE = 4095
"""Bytes of a typed line with its Enter; the kernel drops what goes beyond (termios(3), canonical mode)."""


class TerminalError(Exception):
    """Something cannot be typed there; the sentence says why."""


class FolderError(OSError):
    """The working folder cannot be entered."""


@dataclass
class TypedText:
    """One text being typed into a terminal, from its first line to its end."""

    text: str
    finish: dict[str, object]
    start_s: float
    lines: list[str]
    output: str = ""
    exit_status: int | None = None
    end_s: float | None = None
    interrupt_at_s: float | None = None
    interrupted: bool = False
    kill_s: float | None = None
    """How long after Ctrl+C what still runs is killed; None for never."""
    kill_at_s: float | None = None
    failed: str | None = None
    """What kept it from its end, as a sentence."""

    @property
    def kind(self) -> str:
        """How it finishes: prompt, background, after or shows."""
        return str(self.finish["kind"])


@dataclass
class Terminal:
    """A terminal for captured typing."""

    name: str
    pid: int
    master: int
    decoder: codecs.IncrementalDecoder = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))
    tail: str = ""
    ready: bool = False
    job: TypedText | None = None
    asks: bool = False
    """Whether a program waits there for what is typed next (its last text was finished by what it showed)."""
    log: dict[str, str] = field(default_factory=dict)
    """Where what is typed here is recorded, as `linklab.agent.recording.begin` gives it; {} if it is not."""

    def check(self, job: TypedText) -> None:
        """TerminalError if the job cannot be typed here now; one whose answer has been given is not in the way."""
        if self.job is not None and self.job.end_s is None:
            raise TerminalError(f'terminal {self.name}: "{self.job.text}" is still running there; stop it first')
        longest = max(len(line.encode()) + 1 for line in job.lines)
        if longest > LONGEST_LINE:
            raise TerminalError(
                f"terminal {self.name}: a line of {longest} bytes cannot be typed, only {LONGEST_LINE}; "
                "break it with a backslash, or write a script and run that"
            )

    def type(self, job: TypedText) -> None:
        """Start a job; its first line is typed now. TerminalError as `check`."""
        self.check(job)
        self.job = job
        if not self.asks:
            no_echo(self.master)  # a program that had the terminal may have left it on, as Mininet's CLI does
        self._next_line()

    def interrupt(self, key: bytes = CTRL_C) -> None:
        """Ctrl+C, or Ctrl+Z."""
        os.write(self.master, key)

    def kill(self) -> None:
        """End what runs in the foreground, which has not ended by Ctrl+C."""
        with contextlib.suppress(OSError):  # it has gone
            os.killpg(os.tcgetpgrp(self.master), signal.SIGKILL)

    def _next_line(self) -> None:
        assert self.job is not None
        os.write(self.master, self.job.lines.pop(0).encode() + b"\n")

    def read(self, now_s: float) -> str | None:
        """Take what the terminal shows; the text that a job gained. None when the terminal has closed."""
        try:
            data = os.read(self.master, READ_BYTES)
        except OSError:
            data = b""
        if not data:
            return None
        self.tail += self.decoder.decode(data)
        gained = ""
        while True:
            prompt = PROMPT.search(self.tail)
            more = self.tail.find(MORE)
            if prompt is not None and (more < 0 or prompt.start() < more):
                gained += self._gain(self.tail[: prompt.start()])
                self.tail = self.tail[prompt.end() :]
                self._at_prompt(int(prompt.group(1) or 0), now_s)
            elif more >= 0:
                gained += self._gain(self.tail[:more])
                self.tail = self.tail[more + len(MORE) :]
                if self.job is not None and self.job.lines:
                    self._next_line()
            else:
                break
        keep = self.tail.rfind("\x1b")  # a marker may be half here
        if keep < 0 or len(self.tail) - keep > 40:
            keep = len(self.tail)
        gained += self._gain(self.tail[:keep])
        self.tail = self.tail[keep:]
        self._look_for_pattern(now_s)
        return gained

    def _gain(self, text: str) -> str:
        text = COLOURS.sub("", text).replace("\r\n", "\n")
        if self.job is not None:
            self.job.output += text
        return text

    def _at_prompt(self, status: int, now_s: float) -> None:
        self.ready = True
        self.asks = False
        if self.job is None or self.job.end_s is not None:
            return
        if self.job.lines:
            self._next_line()
            return
        self.job.exit_status = status
        self.job.end_s = now_s

    def _look_for_pattern(self, now_s: float) -> None:
        job = self.job
        if job is None or job.end_s is not None or job.lines or (job.kind == "after" and not job.interrupted):
            return
        if job.finish.get("pattern") and re.search(str(job.finish["pattern"]), job.output):
            job.end_s = now_s
            self.asks = True


def fork_on_pty() -> tuple[int, int]:
    """Fork as pty.fork() does: (0, -1) in the child, else its process id and the master of its pty.

    Programs that are started later do not inherit the master, because a terminal hangs up what runs in it only when the
    last process that holds the master closes it.
    """
    pid, master = pty.fork()
    if pid:
        os.set_inheritable(master, False)
    return pid, master


def start_shell(name: str, argv: list[str], env: dict[str, str], cwd: str) -> Terminal:
    """A terminal with a shell in it; argv is what comes before the shell (mnexec …), [] for the root namespace."""

    def become_shell() -> None:  # pragma: no cover - the child
        no_echo(0)
        as_at_login()
        enter(cwd)
        children.become([*argv, SHELL[0], "--rcfile", env["LINKLAB_RC"], *SHELL[1:]], env)

    pid, master = fork_on_pty()
    if pid == 0:  # pragma: no cover - the child
        children.live(become_shell)
    resize(master, 24, 120)
    os.set_blocking(master, True)
    return Terminal(name, pid, master)


def enter(folder: str) -> None:
    """Go to the working folder.

    Raises:
        FolderError: it is no longer there, as a person may have removed, renamed or replaced it meanwhile.
    """
    try:
        os.chdir(folder)
    except OSError as error:
        raise FolderError(
            error.errno,
            f"{error.strerror}; the working folder was removed, renamed or replaced after the network was started: "
            "put it back, or end the network and start it in a folder that is there",
            folder,
        ) from error


def as_at_login() -> None:
    """What the agent, or who started it (nohup(1)), ignores or handles, a program in a terminal does not inherit."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def no_echo(fd: int) -> None:
    """What is typed into this pty is not shown; either end may be given."""
    settings = termios.tcgetattr(fd)
    settings[3] &= ~(termios.ECHO | termios.ECHONL)
    termios.tcsetattr(fd, termios.TCSANOW, settings)


def resize(master: int, rows: int, columns: int) -> None:
    """Set the size of a pty, as a window does."""
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
