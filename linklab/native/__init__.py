# SPDX-License-Identifier: BSD-3-Clause
"""Our shared objects: C beside this file, compiled by the distribution's compiler into `built/`.

They are preloaded into programs that run inside, which find them in the package. Standard library only, since the
agent inside has no more. Compiled by the set-up, and before a network starts where that has not been done.
"""

from __future__ import annotations

import contextlib
import hashlib
import platform
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE / "built"
COMPILE = ("cc", "-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC")


def shared_object(name: str) -> Path:
    """Where the shared object of NAME.c is once it is compiled; another processor or other C has another file."""
    digest = hashlib.sha256((HERE / f"{name}.c").read_bytes()).hexdigest()[:12]
    return BUILT / f"{name}-{platform.machine()}-{digest}.so"


def find(name: str) -> Path | None:
    """The shared object of NAME.c, None where it has not been compiled."""
    path = shared_object(name)
    return path if path.is_file() else None


def lacking() -> list[Path]:
    """The sources that have not been compiled."""
    return [source for source in sorted(HERE.glob("*.c")) if find(source.stem) is None]


def build() -> list[str]:
    """Compile what is not compiled, whole or not at all; why something could not be, a sentence each."""
    lacks = []
    for source in lacking():
        try:
            _compile(source, shared_object(source.stem))
        except OSError as error:
            lacks.append(f"{source.name} could not be compiled: {error.strerror or error}")
    return lacks


def _compile(source: Path, target: Path) -> None:
    """Compile one; OSError says why not."""
    BUILT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILT) as scratch:
        made = Path(scratch) / target.name
        done = subprocess.run(
            [*COMPILE, "-o", str(made), str(source), "-ldl"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise OSError(f"{COMPILE[0]}: {' '.join(done.stderr.split())[-200:]}")
        made.chmod(0o644)
        made.replace(target)
    for old in BUILT.glob(f"{source.stem}-{platform.machine()}-*.so"):
        if old != target:
            with contextlib.suppress(OSError):
                old.unlink()


def main() -> None:
    """Compile all."""
    raise SystemExit("; ".join(build()) or 0)
