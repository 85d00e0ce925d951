# SPDX-License-Identifier: BSD-3-Clause
"""The way into the network from one of its own terminals: programs start in its root namespace, beside Mininet.

Only where `LINKLAB_INSIDE` is set; whoever sits at such a terminal is root of that network.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from linklab.base import owned
from linklab.errors import EngineError, InputError, LinklabError
from linklab.experiment.model import Trial
from linklab.experiment.running import ASK_S, HERE, WAY, WORK, RunningChoice, clock_of, run_on
from linklab.experiment.trial_inside import Tell
from linklab.linux.kernelcalls import CLONE_NEWNET, CLONE_NEWNS, die_with_parent, setns

FREE = Path("/sys/module/pocket/parameters/free")
"""In a pocket: whether a process, and what it becomes, costs network time (`linklab.agent.own_kernel`)."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)
"""What ends a test early; the runner keeps what was measured."""
_SHELL = "mininet:"
_AGENT = re.compile(r"/proc/(\d+)/root/")


class Inside:
    """A door for as long as the `with` block.

    node: whose terminal this is; "" in the root namespace.
    interrupted: a signal came that ends the test early.
    """

    name = HERE

    def __init__(self) -> None:
        if not os.environ.get("LINKLAB_INSIDE"):
            raise InputError("this is no terminal of a network; on your machine the command is linklab test run")
        agent = _AGENT.match(os.environ.get("LINKLAB_SOCKET", ""))
        self.root = int(agent[1]) if agent else 1
        self.facts: Mapping[str, Any] = _facts()
        self.node = _own_node(self.root)
        self.folder = Path()
        self.inside = ""
        self.interrupted = False

    def __enter__(self) -> Inside:
        """Make the test's folder, where programs of every node see it: a node may have a /tmp of its own."""
        seen = Path(f"/proc/{self.root}/root")
        self.folder = owned.make("linklab-test-", seen / "tmp")
        self.inside = f"/{self.folder.relative_to(seen)}"
        return self

    def __exit__(self, *_: object) -> None:
        """Remove it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def ask(self, argv: Sequence[str], what: str, node: str = "") -> tuple[int, str]:
        """As `Door.ask`."""
        try:
            done = subprocess.run(
                [*_on(node), *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=ASK_S,
                preexec_fn=partial(self._to_the_root, is_ours=tuple(argv[: len(WAY)]) == WAY),
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise EngineError(f"{what} did not end within {ASK_S:g} s") from error
        except (OSError, subprocess.SubprocessError) as error:
            raise EngineError(f"{what}: {error}; this terminal has to be root's") from error
        return done.returncode, done.stdout

    def run(self, argv: Sequence[str], said: Callable[[str], None]) -> None:
        """As `Door.run`; the runner gets a session of its own, so that a signal reaches it once, through us."""
        runner = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
            preexec_fn=partial(self._to_the_root, is_ours=True),  # noqa: PLW1509 - there are no threads
        )
        with runner, self._passed_on_to(runner):
            assert runner.stdout is not None
            for line in runner.stdout:
                said(line)

    @contextlib.contextmanager
    def _passed_on_to(self, runner: subprocess.Popen[str]) -> Iterator[None]:
        """Signals that end a test go to its runner meanwhile; a third one ends it without its data."""
        came = 0

        def end(number: int, frame: FrameType | None) -> None:
            nonlocal came
            came += 1
            self.interrupted = True
            with contextlib.suppress(ProcessLookupError):
                runner.send_signal(signal.SIGINT if came < 3 else signal.SIGKILL)

        before = {number: signal.signal(number, end) for number in ENDINGS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def address_of(self, word: str) -> str:
        """The address that this terminal's resolver has for a name, unless it is a node; any other word unchanged."""
        if word in dict(_shells()) or word.replace(".", "").isdecimal() or ":" in word:
            return word
        with contextlib.suppress(OSError, UnicodeError):
            return str(socket.getaddrinfo(word, None, type=socket.SOCK_STREAM)[0][4][0])
        return word

    def _to_the_root(self, *, is_ours: bool) -> None:  # pragma: no cover - in the child
        """Go to the root namespace; Linklab's own programs cost no network time, from the first instruction on."""
        die_with_parent()
        if is_ours and FREE.exists():
            FREE.write_text("1")
        for name, kind in (("net", CLONE_NEWNET), ("mnt", CLONE_NEWNS)):
            file = os.open(f"/proc/{self.root}/ns/{name}", os.O_RDONLY | os.O_CLOEXEC)
            setns(file, kind)
            os.close(file)
        # where terminals begin, which every node sees; the test's folder may be hidden from one
        os.chdir(WORK if Path(WORK).is_dir() else "/")


def run_whole(trial: Trial, out: Path, door: Inside, tell: Tell, choice: RunningChoice | None = None) -> Path:
    """Run a trial of a list as `run_on`; a part of it does not count, and who ends it ends the list.

    Raises:
        KeyboardInterrupt: a signal ended the trial.
        LinklabError: as `run_on`.
    """
    try:
        made = run_on(trial, out, door, tell, choice=choice)
    except LinklabError:
        if door.interrupted:  # the third signal leaves no data
            raise KeyboardInterrupt from None
        raise
    if door.interrupted:
        raise KeyboardInterrupt
    return made


def _shells() -> Iterator[tuple[str, int]]:
    """The nodes, by the shells that Mininet keeps on them, and their processes."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_text("latin-1").split("\0")
                for word in words:
                    if word.startswith(_SHELL):
                        yield word.removeprefix(_SHELL), int(folder.name)


def _own_node(root: int) -> str:
    """The node whose network this terminal is in; "" if it is in that of the switches."""
    ours = Path("/proc/self/ns/net").readlink()
    with contextlib.suppress(OSError):
        if Path(f"/proc/{root}/ns/net").readlink() == ours:
            return ""
    for name, pid in _shells():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/ns/net").readlink() == ours:
                return name
    raise InputError("this terminal belongs to no node of a network that Mininet built")


def _on(node: str) -> list[str]:
    """What comes before a program so that it runs on a node."""
    if node in ("", "client"):
        return []
    for name, pid in _shells():
        if name == node:
            return ["mnexec", "-a", str(pid)]
    raise InputError(f"there is no node {node} in this network")


def _facts() -> dict[str, Any]:
    """Engine, clock and kernel; of a pocket, its kernel's command line names the clock."""
    engine = "host" if os.environ.get("LINKLAB_ENGINE") == "host" else "pocket"
    line = ""
    with contextlib.suppress(OSError):
        line = Path("/proc/cmdline").read_text(encoding="ascii", errors="replace")
    return {"engine": engine, "clock": clock_of(engine, line), "kernel": os.uname().release}
