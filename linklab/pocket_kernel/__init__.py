# SPDX-License-Identifier: BSD-3-Clause
"""Where the pocket kernel is, and what it was made from; built by `linklab.pocket_kernel.build`.

A built kernel lies in `~/.cache/linklab/kernel/VERSION-DIGEST/`, DIGEST over the configuration and the patches in
kernel/, so that a change of either asks for a new one and an older checkout finds its own.  An installation has one in
its own kernel/, which serves every user and is never written to.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.base import installation, place
from linklab.errors import MissingError

KERNEL_DIR = installation.ROOT / "kernel"
ONLY = "the pocket kernel runs on Linux on x86-64 only"


@dataclass(frozen=True)
class Kernel:
    """A built kernel: the program, and what it was made from."""

    path: Path
    version: str
    digest: str
    info: dict[str, Any]


def cache_dir() -> Path:
    """Where kernels are built and kept: `$XDG_CACHE_HOME/linklab/kernel` or `~/.cache/linklab/kernel`."""
    return place.of_home("XDG_CACHE_HOME", ".cache") / "kernel"


def digest() -> str:
    """Digest of all in kernel/ that decides what is built: configuration and patches, 12 hexadecimal digits.

    Raises:
        MissingError: this is not a clone.
    """
    installation.need(KERNEL_DIR)
    text = hashlib.sha256()
    for file in [KERNEL_DIR / "fragment.config", *sorted(KERNEL_DIR.glob("patches/**/*.patch"))]:
        text.update(file.relative_to(KERNEL_DIR).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return text.hexdigest()[:12]


def find() -> Kernel | None:
    """The built kernel for this kernel/, the newest version first; None if none is built, MissingError as `digest`."""
    wanted = digest()
    found = []
    for folder in (*KERNEL_DIR.glob(f"*-{wanted}"), *cache_dir().glob(f"*-{wanted}")):
        with contextlib.suppress(OSError, ValueError, KeyError):
            info = json.loads((folder / "info.json").read_text())
            if os.access(folder / "linux", os.X_OK):
                found.append(Kernel(folder / "linux", info["version"], wanted, info))
    return max(found, key=lambda kernel: numbers(kernel.version), default=None)


def runs_on(system: str, machine: str) -> bool:
    """Whether such a machine, as `uname` names it, can run a pocket kernel at all."""
    return system == "Linux" and machine in ("x86_64", "AMD64")


def runs_here() -> bool:
    """Whether this machine can."""
    return runs_on(platform.system(), platform.machine())


def instead(system: str) -> str:
    """What to do on a machine that cannot."""
    if system == "Linux":
        return "take the host engine, on this machine's own kernel (--engine host; in the editor Preferences, Running)"
    return "use Linux on x86-64, or the virtual machine image"


def need_processor() -> None:
    """MissingError, with what to do, where no pocket kernel can run, whatever is built."""
    if not runs_here():
        system = platform.system()
        raise MissingError(f"{ONLY}, and this is {system} {platform.machine()}: {instead(system)}")


def how_to_build() -> str:
    """The command that builds it, in a clone or in an installation without one."""
    return "linklab kernel build" if installation.installed() else "make kernel"


def require() -> Kernel:
    """The built kernel; MissingError, with the cure, if there is none or it cannot run here."""
    need_processor()
    kernel = find()
    if kernel is None:
        raise MissingError(f"the pocket kernel is not built: run `{how_to_build()}` (about ten minutes, once)")
    return kernel


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that compare: "7.3.4" is (7, 3, 4)."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0]))
