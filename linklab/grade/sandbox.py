# SPDX-License-Identifier: BSD-3-Clause
"""Pockets for what strangers wrote: the keeper, and with it the kernel and all inside, runs under bubblewrap.

`SandboxEngine` stands wherever a `PocketEngine` does.  Inside are programs (/usr), some of /etc, the package without
the clone around it, and one file system in memory for all that is written; no network, process or environment of ours.
What the kernel and the keeper say is not believed.  Why each part is there: docs/architecture.md, The sandbox.
Format of the command: bwrap(1).
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linklab import kernel
from linklab.engine.api import Completed, Typed
from linklab.engine.pocket import PACKAGE, Places, PocketEngine, PocketNetwork
from linklab.errors import BootError, EngineError, MissingError
from linklab.grade.exchange import Exchange, Room
from linklab.topology import Topology

PYTHON = "/usr/bin/python3"
POCKET, MEMORY = Path("/pocket"), Path("/memory")
"""Inside: what can be written, and what the kernel has for memory; file systems of a fixed size in ours."""
CODE = Path("/code")
KERNEL = Path("/kernel/linux")
CONFIGURATION = (
    *("alternatives", "bash.bashrc", "debian_version", "ethertypes", "group", "host.conf", "inputrc", "iproute2"),
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "localtime", "lsb-release", "networks", "nsswitch.conf"),
    *("os-release", "passwd", "profile", "protocols", "python3", "rpc", "services", "shells", "sysctl.conf"),
    *("locale.alias", "sysctl.d", "terminfo", "timezone", "xattr.conf"),
)
"""What of /etc programs read that students use; nothing there is anybody's secret.

One that is missing takes other network time than one that is read: without these a run is not that of the plain pocket.
"""
FOLDERS = ("boot", "code", "etc", "home", "kernel", "media", "mnt", "opt", "root", "run", "srv", "sys")
TEMPORARY = ("/tmp", "/var/tmp")  # noqa: S108 - those inside
_LONGEST = 2**16
_FOLDERS = 2
_SPARE_MIB = 16
_LOOK_S = 0.25
_TRIAL_S = 20


@dataclass(frozen=True)
class Limits:
    """What a network in the sandbox may take.

    memory_mib: of its kernel; work_mib: of what is written beside that, by whatever is inside.
    files: written, of any kind; processes: of the guest, each is one of ours; open_files: of its kernel.
    wall_s: from start to end, also the processor seconds of each process.
    room: what comes out of the working folder.
    """

    memory_mib: int = 2048
    work_mib: int = 128
    files: int = 20_000
    processes: int = 4096
    open_files: int = 8192
    wall_s: float = 900.0
    room: Room = field(default_factory=Room)


class SandboxEngine(PocketEngine):
    """Starts networks in pocket kernels that reach nothing else of this machine."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        super().__init__(self.limits.memory_mib)

    def check(self) -> None:
        """MissingError, with the cure, where there is no kernel, no bubblewrap, or no right to use it."""
        kernel.require()
        if why := why_not():
            raise MissingError(why)

    def _network(self, **options: Any) -> PocketNetwork:
        return SandboxNetwork(self.limits, **options)


class SandboxNetwork(PocketNetwork):
    """A network in the sandbox; its working folder is copied in before what is typed and out after it."""

    def __init__(self, limits: Limits, **options: Any) -> None:
        super().__init__(**options)
        self.limits = limits
        self._began = time.monotonic()
        self._shared: list[int] = []  # open folders: of work and memory
        self._exchange: Exchange | None = None
        self._exchanges = threading.Lock()

    # --- start and end

    def boot(self) -> None:
        """Start the kernel in the sandbox."""
        try:
            super().boot()
        except BootError as error:
            said = self._complaint()
            raise MissingError(explain(said, _settings())) if said.startswith("bwrap:") else error from None
        if len(self._shared) != _FOLDERS:
            raise BootError("the sandbox did not hand its folders over")
        self._exchange = Exchange(self.workdir, self._shared[0], self.limits.room)
        threading.Thread(target=self._watch, name="sandbox", daemon=True).start()

    def build(self, topology: Topology | None, *, display: bool = False) -> None:
        """Have the agent build the network; no windows."""
        with self._carrying(), _believing_nothing():
            super().build(topology, display=False)

    def close(self) -> None:
        """End it, and all that is inside with it."""
        super().close()
        if hasattr(self, "_keeper") and self._keeper.stderr is not None:
            self._keeper.stderr.close()
        with self._exchanges:
            self._exchange = None
            while self._shared:
                os.close(self._shared.pop())

    def _places(self) -> Places:
        limits = self.limits
        return Places(
            python=PYTHON,
            code=CODE,
            kernel=KERNEL,
            work=POCKET / "lab",
            memory=MEMORY,
            run_base=POCKET,
            share=True,
            limits={
                "CORE": 0,
                "CPU": int(limits.wall_s) + 1,
                "NOFILE": limits.open_files,
                "NPROC": limits.processes,
            },
        )

    def _start_keeper(self, argv: list[str], fds: list[int]) -> subprocess.Popen[bytes]:
        with sandbox(self.kernel.path, self.memory_mib, self.limits.work_mib) as (command, more):
            return subprocess.Popen(
                [*command, *argv],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a file of ours could be opened inside, by /proc/N/fd; a pipe holds little
                stderr=subprocess.PIPE,
                pass_fds=[*fds, *more],
                start_new_session=True,
                env={},
            )

    def _files(self) -> dict[str, str]:
        most = {"/proc/sys/kernel/pid_max": str(self.limits.processes)}
        return {**super()._files(), "/run/linklab/python": f"{PYTHON}\n", **most}

    def _complaint(self) -> str:
        """What bubblewrap said, once it has ended."""
        pipe = self._keeper.stderr
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._keeper.wait(1)
        if pipe is None or self._keeper.poll() is None:
            return ""
        os.set_blocking(pipe.fileno(), False)
        with contextlib.suppress(OSError):
            return os.read(pipe.fileno(), _LONGEST).decode(errors="replace").strip()
        return ""

    def _keeper_says(self) -> Iterator[dict[str, Any]]:
        """Messages from inside, where somebody else may speak by now: no path of theirs is ours to remove."""
        buffer = b""
        expected = _FOLDERS
        while True:
            data, fds, _, _ = socket.recv_fds(self._control, _LONGEST, _FOLDERS)
            for number in fds:
                if expected:
                    self._shared.append(number)
                    expected -= 1
                else:
                    os.close(number)
            if not data or len(buffer) > _LONGEST:
                return
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                yield from _cleaned(line)

    # --- limits

    def _watch(self) -> None:
        """End the network when it has had its time or its files; its memory and processes the machine counts."""
        while not self._gone.wait(_LOOK_S):
            why = ""
            if time.monotonic() - self._began > self.limits.wall_s:
                why = f"the network ran longer than {self.limits.wall_s:g} s and was stopped"
            with self._exchanges:
                found = list(map(os.fstatvfs, self._shared))
            if sum(about.f_files - about.f_ffree for about in found) > self.limits.files:
                why = f"more than {self.limits.files} files were made inside, and the network was stopped"
            if why:
                self.link.end(why)
                with contextlib.suppress(OSError):
                    self._control.shutdown(socket.SHUT_WR)
                self._gone.wait(_TRIAL_S)
                return

    # --- typing

    def run(self, actions: Sequence[Typed], **options: Any) -> list[Completed]:
        """Type all actions; see `Network.run`."""
        with self._carrying(), _believing_nothing():
            return super().run(actions, **options)

    def _one(self, op: str, terminal: str, deadline_s: float, what: str) -> Completed:
        with self._carrying(), _believing_nothing():
            return super()._one(op, terminal, deadline_s, what)

    @contextlib.contextmanager
    def _carrying(self) -> Iterator[None]:
        """Files come in before and out after, also where the network does not answer."""
        with self._exchanges:
            if self._exchange is not None:
                try:
                    self._exchange.push()
                except OSError as error:
                    raise EngineError(f"no file can be brought into the network: {error.strerror}") from error
        try:
            yield
        finally:
            with self._exchanges:
                if self._exchange is not None:
                    self._exchange.pull()


@contextlib.contextmanager
def _believing_nothing() -> Iterator[None]:
    """An answer that has not the shape of one is an error of the network's, not of ours."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise EngineError(f"what came from the network is no answer: {type(error).__name__}") from error


def _cleaned(line: bytes) -> Iterator[dict[str, Any]]:
    """A keeper's message, if it is one that may come from a sandbox."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    if said.get("event") == "started":
        yield {"event": "started", "pid": None}  # a number of another process space
    elif said.get("event") == "ended":
        yield {"event": "ended", "console": str(said.get("console", ""))[:_LONGEST]}


@contextlib.contextmanager
def sandbox(kernel_path: Path, memory_mib: int, work_mib: int) -> Iterator[tuple[list[str], list[int]]]:
    """The command that starts another one in the sandbox, and the open files that it takes along.

    Args:
        kernel_path: the pocket kernel.
        memory_mib: of the kernel.
        work_mib: of all else that can be written inside.
    """
    command = [shutil.which("bwrap") or "bwrap", "--unshare-all", "--unshare-user", "--cap-drop", "ALL"]
    command += ["--die-with-parent", "--new-session"]
    if _knows("--disable-userns"):
        command.append("--disable-userns")
    command += ["--hostname", "linklab", "--ro-bind", "/usr", "/usr"]
    for folder in FOLDERS:
        command += ["--perms", "0755", "--dir", f"/{folder}"]
    for folder in TEMPORARY:
        command += ["--perms", "1777", "--dir", folder]
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        top = Path("/", name)
        if top.is_symlink():
            command += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            command += ["--ro-bind", str(top), str(top)]
    for name in (*CONFIGURATION, *sorted(path.name for path in Path("/etc").glob("python3.*"))):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    command += ["--symlink", "/run", "/var/run", "--symlink", "/run/lock", "/var/lock"]
    command += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--ro-bind", str(PACKAGE), str(CODE / PACKAGE.name)]
    command += ["--ro-bind-try", str(PACKAGE.parent / "scripts"), str(CODE / "scripts")]
    command += ["--ro-bind", str(kernel_path), str(KERNEL)]
    with contextlib.ExitStack() as open_files:
        taken = []
        for program in _set_id_programs():
            number = open_files.enter_context(program.open("rb")).fileno()
            command += ["--perms", "0755", "--ro-bind-data", str(number), str(program)]
            taken.append(number)
        command += ["--size", str((memory_mib + _SPARE_MIB) * 2**20), "--tmpfs", str(MEMORY)]
        command += ["--size", str(work_mib * 2**20), "--tmpfs", str(POCKET)]
        yield [*command, "--remount-ro", "/", "--chdir", "/", "--"], taken


def _set_id_programs() -> list[Path]:
    """Programs that run as their owner, such as mount.

    Outside of its user namespace root is nobody, also for the pocket's kernel, which would run them as that: so they
    are replaced by copies that run as whoever starts them.
    """
    found = []
    for folder in ("/usr/bin", "/usr/sbin", "/bin", "/sbin"):
        if Path(folder).is_symlink() or not Path(folder).is_dir():
            continue
        for entry in os.scandir(folder):
            about = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(about.st_mode) and about.st_mode & (stat.S_ISUID | stat.S_ISGID):
                found.append(Path(entry.path))
    return sorted(path for path in found if os.access(path, os.R_OK))


def why_not() -> str | None:
    """Why nothing can be run in the sandbox here, with the cure; None if it can."""
    built = kernel.find()
    if shutil.which("bwrap") is None:
        return explain("", {}, installed=False)
    if built is None:
        return None  # said elsewhere
    try:
        with sandbox(built.path, 1, 1) as (command, taken):
            done = subprocess.run(
                [*command, "/usr/bin/true"],
                capture_output=True,
                text=True,
                check=False,
                timeout=_TRIAL_S,
                pass_fds=taken,
                env={},
            )
    except subprocess.TimeoutExpired:
        return f"bubblewrap does not start a program within {_TRIAL_S} s"
    return explain(done.stderr.strip(), _settings()) if done.returncode else None


def explain(said: str, settings: Mapping[str, str], *, installed: bool = True) -> str:
    """What keeps the sandbox from starting, as a sentence with its cure.

    Args:
        said: by bubblewrap.
        settings: sysctls as in `_SETTINGS`, where the machine has them.
        installed: whether there is a bubblewrap.
    """
    begin = "submissions are graded in a sandbox, which cannot be had here: "
    if not installed:
        return f"{begin}bubblewrap is not installed: sudo apt-get install bubblewrap"
    for name, denies, cure in _SETTINGS:
        if settings.get(name) == denies:
            return f"{begin}this machine denies user namespaces ({name} = {denies}): {cure}"
    return (
        f"{begin}{said.splitlines()[0] if said else 'bubblewrap fails without a word'}. User namespaces seem to be "
        "denied: in a container start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined, "
        "or grade on the machine itself"
    )


_SETTINGS = (
    ("kernel.unprivileged_userns_clone", "0", "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
    ("user.max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
    (
        "kernel.apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or allow bwrap `userns,` in AppArmor",
    ),
)


def _settings() -> dict[str, str]:
    found = {}
    for name, _, _ in _SETTINGS:
        with contextlib.suppress(OSError):
            found[name] = Path("/proc/sys", name.replace(".", "/")).read_text(encoding="utf-8").strip()
    return found


@functools.cache
def _knows(option: str) -> bool:
    """Whether this bubblewrap has an option."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        shown = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False, timeout=_TRIAL_S)
        return option in shown.stdout + shown.stderr
    return False
