# SPDX-License-Identifier: BSD-3-Clause
"""The command that confines a program with bubblewrap, and why it cannot be had on a machine that denies it.

Why each part is there: docs/architecture.md, The sandbox. Format of the command: bwrap(1).
"""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from linklab import pocket_kernel
from linklab.base import installation
from linklab.engine.pocket import PACKAGE
from linklab.errors import MissingError
from linklab.grade.syscalls import program

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
_SPARE_MIB = 16
_TRIAL_S = 20


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
    if Path("/usr") in installation.ROOT.parents:  # installed there, with solutions and hidden checks
        command += ["--tmpfs", str(installation.ROOT), "--remount-ro", str(installation.ROOT)]
    for folder in FOLDERS:
        command += ["--perms", "0755", "--dir", f"/{folder}"]
    for folder in TEMPORARY:
        command += ["--perms", "1777", "--dir", folder]
    command += system_words()
    command += ["--symlink", "/run", "/var/run", "--symlink", "/run/lock", "/var/lock"]
    command += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    command += ["--ro-bind", str(PACKAGE), str(CODE / PACKAGE.name)]
    command += ["--ro-bind-try", str(PACKAGE.parent / "scripts"), str(CODE / "scripts")]
    command += ["--ro-bind", str(kernel_path), str(KERNEL)]
    command += ["--ro-bind-try", str(kernel_path.parent / "modules"), str(KERNEL.parent / "modules")]
    with contextlib.ExitStack() as open_files:
        taken = [program()]
        open_files.callback(os.close, taken[0])
        command += ["--seccomp", str(taken[0])]
        for plain in set_id_programs():
            number = open_files.enter_context(plain.open("rb")).fileno()
            command += ["--perms", "0755", "--ro-bind-data", str(number), str(plain)]
            taken.append(number)
        command += ["--size", str((memory_mib + _SPARE_MIB) * 2**20), "--tmpfs", str(MEMORY)]
        command += ["--size", str(work_mib * 2**20), "--tmpfs", str(POCKET)]
        yield [*command, "--remount-ro", "/", "--chdir", "/", "--"], taken


def system_words() -> list[str]:
    """Arguments that show the system's programs and its plain configuration, but for /usr."""
    command: list[str] = []
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        top = Path("/", name)
        if top.is_symlink():
            command += ["--symlink", str(top.readlink()), str(top)]
        elif top.is_dir():
            command += ["--ro-bind", str(top), str(top)]
    for name in (*CONFIGURATION, *sorted(path.name for path in Path("/etc").glob("python3.*"))):
        command += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    return command


def set_id_programs() -> list[Path]:
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
    built = pocket_kernel.find()
    if shutil.which("bwrap") is None:
        return explain("", {}, installed=False)
    if built is None:
        return None  # said elsewhere
    if not _filters_calls():
        return "submissions are graded in a sandbox, and this machine's kernel has no filters of system calls (seccomp)"
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
    except MissingError as error:
        return str(error)
    except subprocess.TimeoutExpired:
        return f"bubblewrap does not start a program within {_TRIAL_S} s"
    return explain(done.stderr.strip(), settings()) if done.returncode else None


def explain(said: str, found: Mapping[str, str], *, installed: bool = True) -> str:
    """What keeps the sandbox from starting, as a sentence with its cure.

    Args:
        said: by bubblewrap.
        found: as `settings` finds them.
        installed: whether there is a bubblewrap.
    """
    begin = "submissions are graded in a sandbox, which cannot be had here: "
    if not installed:
        return f"{begin}bubblewrap is not installed: sudo apt-get install bubblewrap"
    if "nknown option" in said:
        return f"{begin}this bubblewrap is too old ({said.splitlines()[0]}): install version 0.7 or a later one"
    for name, denies, cure in _SETTINGS:
        if found.get(name) == denies:
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


def settings() -> dict[str, str]:
    """Those of `_SETTINGS` that this machine has."""
    found = {}
    for name, _, _ in _SETTINGS:
        with contextlib.suppress(OSError):
            found[name] = Path("/proc/sys", name.replace(".", "/")).read_text(encoding="utf-8").strip()
    return found


def _filters_calls() -> bool:
    """Whether this machine's kernel offers what `linklab.grade.syscalls` asks for (seccomp(2), /proc interfaces)."""
    with contextlib.suppress(OSError):
        return "trace" in Path("/proc/sys/kernel/seccomp/actions_avail").read_text(encoding="utf-8").split()
    return False


@functools.cache
def _knows(option: str) -> bool:
    """Whether this bubblewrap has an option."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        shown = subprocess.run(["bwrap", "--help"], capture_output=True, text=True, check=False, timeout=_TRIAL_S)
        return option in shown.stdout + shown.stderr
    return False
