# SPDX-License-Identifier: BSD-3-Clause
"""Starts the warden, the one program of Linklab that runs as root: by sudo, or directly where the person is root.

The command is the same in every case, so that one line of sudoers(5) can name it; what it is to do goes to its
standard input (`linklab.warden.orders`).
"""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import IO, Any

from linklab import pocket_kernel
from linklab.errors import TO_COPY, EngineError, MissingError

WARDEN = Path(__file__).resolve().parent.parent / "warden"
COMMAND = ("/usr/bin/python3", "-I", "-S", "-B", str(WARDEN))
ANSWER_DEADLINE_S = 60
LAST_WORDS = 600
_POCKET = "use the pocket, which needs no rights: --engine pocket"


class Warden:
    """One order to the warden, under way."""

    def __init__(self, order: dict[str, Any]) -> None:
        """Start it and give it the order; MissingError if there is no sudo, or no interpreter where it is named."""
        command = [*_prefix(), *COMMAND]
        self._out: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as above
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=self._out,
                stderr=self._complaints,
                env=_environment(),
                cwd="/",
            )
        except OSError as error:
            self.close()
            cure = "; install the distribution's python3" if command[0] == COMMAND[0] else ""
            why = f"{command[0]} cannot be started: {error.strerror}{cure}"
            raise MissingError(why, where="host engine") from error
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.close()
        except BrokenPipeError:  # it has ended; why, is said when its answer is asked for
            pass

    def answer(self, deadline_s: float = ANSWER_DEADLINE_S) -> dict[str, Any]:
        """Wait for its end; what it answered.

        Raises:
            MissingError: it may not be started here, or refuses; its words and the cure.
            EngineError: it does not end.
        """
        try:
            self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise EngineError(f"the host engine's warden did not answer within {deadline_s:g} s") from None
        words = _text(self._out).strip()
        try:
            found: dict[str, Any] = json.loads(words.splitlines()[-1])
        except (ValueError, IndexError):
            raise MissingError(refusal(self.complaints, self.process.returncode)) from None
        if "error" in found:
            raise MissingError(found["error"], where="host engine")
        answer: dict[str, Any] = found["ok"]
        return answer

    @property
    def complaints(self) -> str:
        """What it, or sudo, printed for people."""
        return _text(self._complaints).strip()[-LAST_WORDS:]

    def close(self) -> None:
        """Let go of what it printed."""
        self._out.close()
        self._complaints.close()


def ask(order: dict[str, Any]) -> dict[str, Any]:
    """Give an order that is done at once; raises as `Warden.answer`."""
    warden = Warden(order)
    try:
        return warden.answer()
    finally:
        warden.close()


def sudoers_line() -> str:
    """What lets this person start the warden without a password, in sudoers(5)."""
    try:
        user = pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        user = f"#{os.getuid()}"
    return f"{user} ALL=(root) NOPASSWD: {' '.join(_escaped(word) for word in COMMAND)}"


def refusal(words: str, status: int) -> str:
    """Why the warden could not be started, and the cure."""
    said = " ".join(words.split()) or f"it ended with status {status}"
    if os.getuid() == 0:
        return f"host engine: its warden could not be started: {said}"
    return (
        f"the host engine needs root for one command: {said}. Type `sudo -v` first"
        f"{f', or {_POCKET}' if pocket_kernel.runs_here() else ''}. An editor started from the menu can ask by the "
        "program that SUDO_ASKPASS names. To be asked no more, put this line into a file with "
        f"`sudo visudo -f /etc/sudoers.d/linklab` (whoever has it can become root):{TO_COPY}{sudoers_line()}"
    )


def _prefix() -> list[str]:
    """What comes before the command.

    Raises:
        MissingError: this is not root, and there is no sudo.
    """
    if os.getuid() == 0:
        return []
    if shutil.which("sudo") is None:
        raise MissingError(
            "the host engine needs root for one command, and there is no sudo here: install sudo, or run Linklab as "
            f"root{f', or {_POCKET}' if pocket_kernel.runs_here() else ''}"
        )
    return ["sudo", "-A", "--"] if os.environ.get("SUDO_ASKPASS") else ["sudo", "-n", "--"]


def _environment() -> dict[str, str]:
    """Without what a sudo outside of Linklab said of its caller, where we are root ourselves."""
    kept = dict(os.environ)
    if os.getuid() == 0:
        kept = {name: value for name, value in kept.items() if not name.startswith("SUDO_")}
    return {**kept, "LC_ALL": "C"}


def _escaped(word: str) -> str:
    return "".join(f"\\{sign}" if sign in " ,:=\\*?[]!#" else sign for sign in word)


def _text(file: IO[bytes]) -> str:
    file.flush()
    return os.pread(file.fileno(), 1 << 20, 0).decode(errors="replace")
