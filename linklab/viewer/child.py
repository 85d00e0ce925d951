# SPDX-License-Identifier: BSD-3-Clause
"""A `linklab` command as a child process of the window, which takes its lines as they come and can end it.

What it prints as JSON is how far it is (`linklab test run --progress lines`), anything else a message.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from linklab.base import installation

SAID = 200
"""How many lines are kept to explain a failure."""


@dataclass(frozen=True)
class ChildLine:
    """A line that it printed. told: the object of a line of JSON, {} for a text."""

    text: str
    told: dict[str, Any]


class RunningCommand:
    """One command."""

    def __init__(self, words: Sequence[str], folder: Path) -> None:
        """Start `linklab` with these words in that folder."""
        self.said: list[str] = []
        self._lines: queue.SimpleQueue[ChildLine] = queue.SimpleQueue()
        self._signals = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "NO_COLOR": "1", "COLUMNS": "200"}
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        self._process = subprocess.Popen(
            installation.command(*words),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,  # Ctrl+C in the terminal of the window is the window's
        )
        self._readers = [
            threading.Thread(target=self._read, args=(stream,), daemon=True)
            for stream in (self._process.stdout, self._process.stderr)
        ]
        for reader in self._readers:
            reader.start()

    def _read(self, stream: IO[str]) -> None:
        with stream:
            for line in stream:
                text = line.rstrip("\n")
                try:
                    told = json.loads(text) if text.startswith("{") else {}
                except ValueError:
                    told = {}
                self._lines.put(ChildLine(text, told if isinstance(told, dict) else {}))

    def lines(self) -> list[ChildLine]:
        """What it printed since the last call."""
        found = []
        while True:
            try:
                found.append(self._lines.get_nowait())
            except queue.Empty:
                break
        self.said = [*self.said, *(line.text for line in found if line.text and not line.told)][-SAID:]
        return found

    @property
    def status(self) -> int | None:
        """Its exit status, once it has ended and all that it printed has been taken; None before."""
        if any(reader.is_alive() for reader in self._readers) or not self._lines.empty():
            return None
        return self._process.poll()

    def stop(self) -> bool:
        """Send the next signal: SIGINT, after which it keeps its data, then SIGTERM, then SIGKILL.

        Returns:
            Whether it was still running.
        """
        if self._process.poll() is not None:
            return False
        self._process.send_signal(self._signals.pop(0) if len(self._signals) > 1 else self._signals[0])
        return True

    def end(self, waits_s: Sequence[float]) -> None:
        """Send one signal after the other, each followed by its wait, until it has ended."""
        for wait_s in waits_s:
            if not self.stop():
                return
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(wait_s)


ROOT = Path(__file__).resolve().parents[2]
"""Where `linklab` is; a module path that the child needs if it starts elsewhere."""
