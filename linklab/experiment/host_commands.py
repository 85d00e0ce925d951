# SPDX-License-Identifier: BSD-3-Clause
"""A trial's own commands on this machine: before it, beside it, and after it, however the trial ends.

Each wait has a deadline. After Ctrl+C they are short, because a process that goes on is killed
(`linklab.base.supervise.GRACE_S`), and no command after the trial would run.
"""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from linklab.errors import EngineError
from linklab.experiment.model import TrialCommand, When

COMMAND_S = 600.0
"""Wall seconds that a command may take, and one beside the trial after its end."""
ENDING_S = 5.0
"""Wall seconds to end after SIGTERM, and for all commands after a trial that was interrupted."""
LEAST_S = 0.5
"""Wall seconds that each command has, however long those before it took."""


class CommandError(EngineError):
    """A command before a trial failed, without which there is to be no test."""


class HostCommands:
    """The commands of one trial; the `with` block is the trial.

    failed: which of them failed, in words.
    whole: set by the block where the trial came to its end; otherwise commands beside it are not waited for.
    hurried: set by the block where Ctrl+C ended the trial without a KeyboardInterrupt.
    """

    def __init__(self, commands: Sequence[TrialCommand]) -> None:
        self.commands = commands
        self.failed: list[str] = []
        self.whole = self.hurried = False
        self._beside: list[tuple[TrialCommand, subprocess.Popen[bytes]]] = []

    def __enter__(self) -> HostCommands:
        """Run what comes before, and start what runs beside.

        Raises:
            CommandError: an essential command failed; those after the trial have run.
        """
        try:
            for command in self._of(When.PRE):
                self._run_before(command)
            for command in self._of(When.MONITOR):
                _start(command, partial(self._keep_beside, command))
        except BaseException as error:
            self.__exit__(type(error))
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End what runs beside, or wait for it, then run what comes after."""
        self.hurried = self.hurried or kind is KeyboardInterrupt
        try:
            try:
                if self.whole:
                    self._wait_beside()
            finally:
                _end([process for _, process in self._beside])
        except KeyboardInterrupt:
            self.hurried = True
            raise
        finally:
            self._run_after()

    def _of(self, when: When) -> list[TrialCommand]:
        return [command for command in self.commands if command.when is when]

    def _keep_beside(self, command: TrialCommand, process: subprocess.Popen[bytes]) -> None:
        self._beside.append((command, process))

    def _run_before(self, command: TrialCommand) -> None:
        begun: list[subprocess.Popen[bytes]] = []
        try:
            _start(command, begun.append)
            well = self._waited(command, begun[0], COMMAND_S)
        finally:
            _end(begun)
        if not well and command.essential:
            raise CommandError(self.failed[-1])

    def _wait_beside(self) -> None:
        """For the commands beside the trial that are to end by themselves."""
        until = time.monotonic() + COMMAND_S
        for command, process in self._beside:
            if not command.kill or process.poll() is not None:
                self._waited(command, process, until - time.monotonic())

    def _run_after(self) -> None:
        """Run what comes after; Ctrl+C meanwhile shortens it, and counts when all of it has run."""
        interrupted: KeyboardInterrupt | None = None
        until = time.monotonic() + (ENDING_S if self.hurried else COMMAND_S)
        for command in self._of(When.POST):
            begun: list[subprocess.Popen[bytes]] = []
            try:
                _start(command, begun.append)
                self._waited(command, begun[0], until - time.monotonic())
            except KeyboardInterrupt as error:
                interrupted = error
                until = time.monotonic() + ENDING_S
                for process in begun:
                    self._waited(command, process, ENDING_S)
            finally:
                _end(begun)
        if interrupted is not None:
            raise interrupted

    def _waited(self, command: TrialCommand, process: subprocess.Popen[bytes], deadline_s: float) -> bool:
        """Wait for a command; whether it did what it should."""
        try:
            status = process.wait(max(LEAST_S, deadline_s))
        except subprocess.TimeoutExpired:
            self.failed.append(f"the command {command.name} on this machine did not end in time")
            return False
        if status:
            self.failed.append(f"the command {command.name} on this machine ended with status {status}")
        return not status


def _start(command: TrialCommand, keep: Callable[[subprocess.Popen[bytes]], None]) -> None:
    """Start a command of a batch file on this machine; what it prints goes where this process prints.

    `keep` gets the process first; only then Ctrl+C that came meanwhile is raised, so nothing runs that nobody knows of.
    """
    with _ctrl_c_later():
        keep(subprocess.Popen(["/bin/sh", "-c", command.line], stdin=subprocess.DEVNULL))


@contextmanager
def _ctrl_c_later() -> Iterator[None]:
    """Raise Ctrl+C that comes during the block at its end.

    Threads other than the main one get none, and where nobody listens for it (`nohup`), its commands should not either.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or not callable(signal.getsignal(signal.SIGINT)):
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if heard:
            signal.raise_signal(signal.SIGINT)


def _end(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """SIGTERM to those that run, and SIGKILL to those that stay."""
    for process in processes:
        process.terminate()  # nothing where it has ended
    until = time.monotonic() + ENDING_S
    for process in processes:
        try:
            process.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
