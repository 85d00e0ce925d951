# SPDX-License-Identifier: BSD-3-Clause
"""The first process of a network's own space: its root folder and devices, then the agent, whose end ends all.

Forked by `linklab.warden.orders` into a new process space; leaves the machine's network, mounts and name for new ones.
As in the pocket (engine/init.sh), the machine's files are the lower side of an overlay, so that only what is written in
the working folder, /lab, stays. When this process ends, for whatever reason, the kernel ends every other of its space,
and the namespaces go with them (pid_namespaces(7)).
"""

from __future__ import annotations

import contextlib
import gzip
import os
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from linklab.linux import children
from linklab.linux import kernelcalls as kernel
from linklab.linux.baseline import BASELINE
from linklab.linux.mounts import mounts
from linklab.warden.paths import INTERPRETER
from linklab.warden.records import FOLDER

CHANNEL = 3
OVER = ("/proc", "/sys", "/dev", "/run", "/lab")
"""Mounts of the machine below these are not taken over: each is made anew."""
REMOVABLE = ("/media", "/mnt")
"""Nor these, unless the package lies there: a stick could not be let go of as long as the network runs."""
PLAIN, HAND_OVER = b"p", b"h"
"""How the working folder is shown; HAND_OVER: what root writes there is root's until the warden hands it over."""
DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "net/tun")
SETTINGS = {
    **BASELINE,
    "net/bridge/bridge-nf-call-iptables": "0",
    "net/bridge/bridge-nf-call-ip6tables": "0",
    "net/bridge/bridge-nf-call-arptables": "0",
}
"""Of the network's own root namespace: what Mininet sets for the whole machine; and bridges without filters."""


@dataclass(frozen=True)
class Space:
    """What a network's space is made of.

    channel: the socket to the engine.
    report: a pipe to the warden, which is told in a letter how the working folder is shown.
    work: the working folder, taken (`kernelcalls.take_mount`); writable: whether it may be written.
    package: the folder of our package.
    name: the network's id.
    foreign: whether who called is not root, so that what root writes has to become theirs.
    owners: a user namespace, open, in which root and whoever called have changed places; None where there is none.
    """

    channel: int
    report: int
    work: int
    writable: bool
    package: Path
    name: str
    foreign: bool
    owners: int | None


def live(space: Space) -> None:
    """Never returns."""
    status = 1
    try:
        kernel.unshare(kernel.CLONE_NEWNS | kernel.CLONE_NEWNET | kernel.CLONE_NEWUTS | kernel.CLONE_NEWIPC)
        socket.sethostname(f"linklab-{space.name}")
        os.write(space.report, _files(space))
        os.close(space.report)
        _network()
        _kernel_configuration()
        status = _agent(space.channel)
    except Exception as error:  # whatever it is, the process ends below, and the person is to know why
        what = str(error) if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        os.write(2, f"linklab: the network's space could not be made: {what}\n".encode())
    finally:
        os._exit(status)


def _files(space: Space) -> bytes:
    package = space.package
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    others = _mounts(package)
    kernel.mount("layer", FOLDER, "tmpfs", options="mode=755")
    root = FOLDER / "root"
    root.mkdir()
    _overlay(Path("/"), root, 0)
    for number, place in enumerate(others, 1):
        target = root / place.relative_to("/")
        try:
            _overlay(place, target, number)
        except OSError:
            with contextlib.suppress(OSError):  # what cannot be shown is not there inside
                kernel.bind(place, target, read_only=True)
    for folder in ("proc", "sys", "dev", "run", "lab", "opt/linklab/linklab", "opt/linklab/scripts"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    kernel.mount("proc", root / "proc", "proc")
    kernel.mount("sys", root / "sys", "sysfs")
    _devices(root / "dev")
    kernel.mount("run", root / "run", "tmpfs", options="mode=755")
    for folder in ("netns", "lock", "linklab"):
        (root / "run" / folder).mkdir()
    kernel.bind(package, root / "opt/linklab/linklab", read_only=True)
    if (package.parent / "scripts").is_dir():
        kernel.bind(package.parent / "scripts", root / "opt/linklab/scripts", read_only=True)
    shown = _work(space, root / "lab")
    # a lab may set what belongs to its network; of /proc/sys nothing that belongs to the machine
    kernel.bind(root / "proc/sys", root / "proc/sys")
    kernel.bind(root / "proc/sys/net", root / "proc/sys/net")
    kernel.mount("none", root / "proc/sys", flags=kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY)
    kernel.make_root(root)
    return shown


def _overlay(lower: Path, target: Path, number: int) -> None:
    upper, scratch = FOLDER / f"upper{number}", FOLDER / f"scratch{number}"
    upper.mkdir()
    scratch.mkdir()
    lower_text = str(lower).replace("\\", "\\\\").replace(":", "\\:").replace(",", "\\,")
    kernel.mount("overlay", target, "overlay", options=f"lowerdir={lower_text},upperdir={upper},workdir={scratch}")


def _mounts(package: Path) -> list[Path]:
    """Mount points of the machine's files other than the root, each before those below it."""
    found = set()
    for place in (each.point for each in mounts()):
        own = place in package.parents
        if place != Path("/") and not _below(place, OVER) and (own or not _below(place, REMOVABLE)):
            found.add(place)
    return sorted(found)


def _below(place: Path, folders: tuple[str, ...]) -> bool:
    return any(place.is_relative_to(folder) for folder in folders)


def _devices(folder: Path) -> None:
    kernel.mount("dev", folder, "tmpfs", options="mode=755")
    for name in DEVICES:
        if Path("/dev", name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).touch()
            kernel.bind(Path("/dev", name), folder / name)
    for name, mode in (("pts", 0o755), ("shm", 0o1777)):
        (folder / name).mkdir(mode=mode)
    kernel.mount("pts", folder / "pts", "devpts", options="newinstance,ptmxmode=666,mode=620,gid=5")
    kernel.mount("shm", folder / "shm", "tmpfs", options="mode=1777")
    links = {"ptmx": "pts/ptmx", "fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
    for name, target in links.items():
        (folder / name).symlink_to(target)


def _work(space: Space, target: Path) -> bytes:
    shown = HAND_OVER if space.foreign and space.writable else PLAIN
    if shown == HAND_OVER and space.owners is not None:
        with contextlib.suppress(OSError):  # its file system cannot
            kernel.map_owners(space.work, space.owners)
            shown = PLAIN
    kernel.place_mount(space.work, target)
    if not space.writable:
        kernel.mount("none", target, flags=kernel.MS_BIND | kernel.MS_REMOUNT | kernel.MS_RDONLY)
    return shown


def _network() -> None:
    for name, value in SETTINGS.items():
        with contextlib.suppress(OSError):
            Path("/proc/sys", name).write_text(value + "\n")


def _kernel_configuration() -> None:
    """Where labs look it up, also on a kernel that only tells it itself."""
    known = Path(f"/boot/config-{os.uname().release}")
    with contextlib.suppress(OSError):
        if not known.exists():
            known.parent.mkdir(exist_ok=True)
            known.write_bytes(gzip.decompress(Path("/proc/config.gz").read_bytes()))


def _agent(channel: int) -> int:
    """Start the agent and wait for its end, taking up what others leave behind."""
    agent = os.fork()
    if agent == 0:  # pragma: no cover - the child
        children.live(lambda: _become_agent(channel))
    os.close(channel)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    while True:
        pid, waited = os.wait()
        if pid == agent:
            return os.waitstatus_to_exitcode(waited) & 0xFF


def _become_agent(channel: int) -> None:  # pragma: no cover - the child
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    os.dup2(channel, CHANNEL)  # also makes it survive the exec
    os.set_inheritable(CHANNEL, True)
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
        "LANG": "C.UTF-8",
        "HOME": "/lab",
        "PYTHONPATH": "/opt/linklab",
        "PYTHONNOUSERSITE": "1",  # the working folder may be somebody else's
        "CLOCK": "wall",
        "LINKLAB_CHANNEL": f"fd:{CHANNEL}",
        "LINKLAB_ENGINE": "host",
    }
    os.execve(INTERPRETER, [str(INTERPRETER), "-B", "-m", "linklab.agent"], environment)
