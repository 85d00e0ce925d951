# SPDX-License-Identifier: BSD-3-Clause
"""What a student's server sees of the machine: the command with which bubblewrap starts it, and the student's folder.

Format of the command: bwrap(1). Why it has these parts: docs/class-server.md, "Between students".
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from linklab import pocket_kernel
from linklab.base import installation
from linklab.errors import InputError
from linklab.grade.bubblewrap import TEMPORARY, set_id_programs, system_words

HOME = Path("/home/student")
PLAIN_NAME = re.compile(r"[a-z0-9_][a-z0-9_.@-]{0,63}")
EMPTY = ("/boot", "/etc", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/sys", "/var/lib")
TEMPORARY_BYTES = 256 * 2**20
MEMORY = "/dev/shm"  # noqa: S108 - a file system of the server's own


def folder_name(user: str) -> str:
    """Name of a student's folder: the user's own where that is a plain name, else one with a digest of it."""
    if PLAIN_NAME.fullmatch(user) and not user.endswith("."):
        return user
    kept = re.sub(r"[^a-z0-9_-]", "-", user.lower())[:40]
    return f"+{kept}-{hashlib.sha256(user.encode()).hexdigest()[:16]}"  # no plain name begins so


def plain_copies(folder: Path) -> Mapping[Path, Path]:
    """Copies of the programs that run as their owner, made once: program → copy.

    In a user namespace root is nobody, and the network's kernel would run them as that (`linklab.grade.bubblewrap`).
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = {}
    for program in set_id_programs():
        copy = folder / "-".join(program.parts[1:])
        if not copy.exists() or copy.stat().st_mtime < program.stat().st_mtime:
            part = copy.with_name(f"{copy.name}.part")
            shutil.copyfile(program, part)
            part.chmod(0o755)
            part.rename(copy)
        found[program] = copy
    return found


def confinement(folder: Path, shown: Sequence[Path], plain: Mapping[Path, Path], memory_mib: int) -> list[str]:
    """The command that runs another one with a student's folder as its home.

    Args:
        folder: of the student, the only one that can be written.
        shown: what else can be read.
        plain: what takes the place of programs, as `plain_copies` gives it.
        memory_mib: of /dev/shm, in which the network's kernel has its memory.
    """
    bubblewrap = shutil.which("bwrap") or "bwrap"
    command = [bubblewrap, "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    command += ["--die-with-parent", "--cap-drop", "ALL", "--hostname", "linklab"]
    for name in EMPTY:  # the network's kernel mounts its own there
        command += ["--perms", "0755", "--dir", name]
    command += ["--ro-bind", "/usr", "/usr", *system_words(), "--ro-bind-try", "/etc/hosts", "/etc/hosts"]
    command += ["--ro-bind-try", "/etc/ssl/certs", "/etc/ssl/certs"]
    command += ["--proc", "/proc", "--dev", "/dev", "--size", str(memory_mib * 2**20), "--tmpfs", MEMORY]
    for writable in TEMPORARY:
        command += ["--perms", "1777", "--size", str(TEMPORARY_BYTES), "--tmpfs", writable]
    command += ["--symlink", "/run", "/var/run", "--symlink", "/run/lock", "/var/lock"]
    for path in shown:
        command += ["--ro-bind", str(path), str(path)]
    for program, copy in plain.items():
        command += ["--ro-bind", str(copy), str(program)]
    command += ["--bind", str(folder), str(HOME)]
    kernels = pocket_kernel.cache_dir()
    if kernels.is_dir():
        command += ["--ro-bind", str(kernels), str(HOME / ".cache/linklab/kernel")]
    return [*command, "--remount-ro", "/", "--chdir", str(HOME), "--"]


def own_paths() -> list[Path]:
    """What Linklab and this Python are made of, where it does not lie below /usr; a folder inside another only once.

    Not all of `sys.path`: the folder in which the Hub was started may be in it, and holds everybody's files.
    """
    named = [installation.ROOT, Path(sys.prefix), Path(sys.base_prefix)]
    named += [Path(path) for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    found: list[Path] = []
    for path in sorted({path.resolve() for path in named if path.is_dir()}):
        if path == Path("/usr") or Path("/usr") in path.parents or any(other in path.parents for other in found):
            continue
        found.append(path)
    return found


def refuse_shown(private: Path, shown: Sequence[Path]) -> None:
    """InputError where a folder that is private lies in one that every server can read."""
    for path in shown:
        if path.resolve() in (private, *private.parents):
            raise InputError(
                f"{private} lies in {path}, which every student's server can read; start the Hub in another folder, "
                "and leave such a folder out of c.BubblewrapSpawner.shown_paths"
            )
