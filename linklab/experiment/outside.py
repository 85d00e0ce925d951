# SPDX-License-Identifier: BSD-3-Clause
"""The way into a network that another program of this machine holds: `linklab shell`, the editor.

Programs start in terminals of it, as `linklab attach` opens them; files pass through its working folder.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from linklab.base import owned
from linklab.errors import InputError
from linklab.experiment.running import ASK_S, WORK, clock_of
from linklab.terminal import attach, attached


class Outside:
    """A door for as long as the `with` block."""

    def __init__(self, network: str = "") -> None:
        """The network of that id, or the only one.

        Raises:
            InputError: there is none, or there are several and none was named.
        """
        attached.need_outside("linklab test run … --attach")
        there = attach.networks()
        ids = [str(entry["id"]) for entry in there]
        if not there:
            raise InputError("no network is running; start one with linklab shell FILE.mn or in linklab edit")
        if network and network not in ids:
            raise InputError(f"network {network} is not running; there is {', '.join(ids)} (see linklab attach --list)")
        if not network and len(there) > 1:
            raise InputError(f"several networks are running; choose one by --attach {'|'.join(ids)}")
        self.entry: dict[str, Any] = there[ids.index(network)] if network else there[0]
        self.name = f"network {self.entry['id']} ({self.entry['name']})"
        self.facts: Mapping[str, Any] = {"engine": None, "clock": None}
        self.folder = Path()
        self.inside = ""

    def __enter__(self) -> Outside:
        """Make the test's folder in the network's working folder, and ask what runs there."""
        work = Path(self.entry["workdir"])
        try:
            self.folder = owned.make(owned.HIDDEN, work)
        except OSError as error:
            raise InputError(f"{work}, the working folder of {self.name}: {error.strerror}") from error
        self.inside = f"{WORK}/{self.folder.name}"
        try:
            self.facts = self._facts()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, argv: Sequence[str], what: str, node: str = "") -> tuple[int, str]:
        """As `Door.ask`."""
        return attached.ended_in(self.entry, argv, what=what, node=node or "client", deadline_s=ASK_S)

    def run(self, argv: Sequence[str], said: Callable[[str], None]) -> None:
        """As `Door.run`; a second Ctrl+C gives up, and the test ends without its data."""
        with _told_to_end() as stopped:
            attached.listen_to(self.entry, argv, said, what="the test", stopped=stopped)

    def _facts(self) -> dict[str, Any]:
        """Engine, clock and kernel, as a program inside sees them."""
        _, text = self.ask(["sh", "-c", 'uname -r; echo "${LINKLAB_ENGINE:-pocket}"; cat /proc/cmdline'], "asking")
        kernel, engine, *line = [*text.splitlines(), "", ""]
        return {"engine": engine, "clock": clock_of(engine, " ".join(line)), "kernel": kernel}


@contextlib.contextmanager
def _told_to_end() -> Iterator[Callable[[], bool]]:
    """Ctrl+C and SIGUSR1 ask for an early end; only the main thread can take signals."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return

    def end(number: int, frame: FrameType | None) -> None:
        came.append(number)
        if len(came) > 1 and number == signal.SIGINT:
            raise KeyboardInterrupt

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGUSR1)}
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
