# SPDX-License-Identifier: BSD-3-Clause
"""Compiles `edt.bpf.c` with a compiler of the distribution into `linklab/bpf/built/`, from where networks load it.

`make setup` and the package's build call `main`; an engine calls `compile_program` before it starts a network, which
costs nothing where the objects are there. clang comes first, as the compiler that the kernel's own programs are tested
with; bpf-gcc (package gcc-bpf) is a fifth of its size and does as well where it is all there is.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from linklab.errors import LinklabError, MissingError
from linklab.linux.edt_object import FOLDER, SOURCES, VARIANTS, name_of

COMPILERS = (
    ("clang", "--target=bpf", "-O2", "-mcpu=v2"),
    # not v2, for which GCC 12 takes `&= 0xffffffff` to clear the upper half of a register: the operand is -1 there
    ("bpf-gcc", "-O2", "-mcpu=v3"),
)
WARNINGS = ("-Wall", "-Wextra", "-Werror")
DEFINED = dict(zip(VARIANTS, (("-DEDT_TYPED",), ()), strict=True))
"""What each variant is compiled with."""
CURE = "install clang (or gcc-bpf), then run make setup"
COMPILE_DEADLINE_S = 60


def objects(folder: Path = FOLDER) -> list[Path]:
    """The objects of the sources as they are, whether or not they are there."""
    return [folder / "built" / name_of(variant, folder) for variant in VARIANTS]


def compile_program(folder: Path = FOLDER) -> list[Path]:
    """Compile what is not compiled yet, and remove the objects of other sources.

    Raises:
        MissingError: there is no compiler, or each that is there fails; the last one's words.
        LinklabError: the folder cannot be written.
    """
    wanted = objects(folder)
    if all(path.is_file() for path in wanted):
        return wanted
    command = _compiler()
    try:
        (folder / "built").mkdir(exist_ok=True)
        for variant, path in zip(VARIANTS, wanted, strict=True):
            _compile([*command, *WARNINGS, *DEFINED[variant], *_headers()], folder, path)
        for path in set((folder / "built").glob("edt-*.o")) - set(wanted):
            path.unlink(missing_ok=True)
    except OSError as error:
        raise LinklabError(f"{folder / 'built'}: the program cannot be written there: {error.strerror}") from error
    return wanted


def compile_if_possible() -> None:
    """The same before a network starts; where it fails, `linklab link` says what is missing."""
    with contextlib.suppress(LinklabError):
        compile_program()


def _compiler() -> Sequence[str]:
    """The first compiler that turns an empty file into an object."""
    said = "neither clang nor bpf-gcc is there"
    for command in COMPILERS:
        if shutil.which(command[0]) is None:
            continue
        done = _run([*command, "-x", "c", "-c", os.devnull, "-o", os.devnull])
        if done.returncode == 0:
            return command
        said = f"{command[0]} does not work: {' '.join(done.stderr.split()[:30])}"
    raise MissingError(f"the program for links by departure time cannot be compiled: {said}; {CURE}")


def _headers() -> Iterator[str]:
    """Where the kernel's headers for programs are: a compiler for another machine does not look there by itself."""
    yield "-isystem"
    yield "/usr/include"
    if multiarch := sysconfig.get_config_var("MULTIARCH"):
        yield "-isystem"
        yield f"/usr/include/{multiarch}"


def _compile(command: Sequence[str], folder: Path, path: Path) -> None:
    """Compile to a file beside it and rename that: another process may do the same."""
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        made = Path(scratch, path.name)
        done = _run([*command, "-c", str(folder / SOURCES[0]), "-o", str(made)])
        if done.returncode != 0:
            raise MissingError(f"{SOURCES[0]}: {command[0]} cannot compile it: {done.stderr.strip()}")
        made.chmod(0o644)
        made.replace(path)


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a compiler; MissingError if it cannot be started or does not end."""
    try:
        return subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILE_DEADLINE_S,
            env={**os.environ, "LC_ALL": "C"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MissingError(f"{command[0]} cannot be run: {error}; {CURE}") from error


def main() -> int:
    """Compile for this clone or package; 0, or the exit code of what went wrong, which is printed."""
    try:
        compile_program()
    except LinklabError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
