# SPDX-License-Identifier: BSD-3-Clause
"""Compiles our code, and the packages beside it, for programs inside a pocket, which read them at /opt/linklab.

The package is read-only there, so each start would compile it again. Compiled code names its source by the path inside,
so that a traceback is the same wherever the clone is. So is a program's memory: with the clone's path in it, two
programs of Lab 24 began 1.5 µs later in one clone. An installation therefore compiles the packages it brings alike.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import py_compile
import stat
import sys
import sysconfig
import warnings
from collections.abc import Iterator
from pathlib import Path

INSIDE = "/opt/linklab"
PACKAGE = Path(__file__).resolve().parent.parent


def compile_package(package: Path, inside: str = "") -> list[Path]:
    """Compile each module of `package` that is not compiled so already; the files that were written.

    Args:
        package: a folder of modules, and of folders of modules.
        inside: where it is in a pocket; "" for below `INSIDE`.

    A compiled file is as readable as its source, whatever the umask; a grading process has 077.
    What cannot be compiled is left to whoever imports it; what cannot be written (a package that belongs to somebody
    else) is named by `unwritable`.
    """
    written = []
    for source, compiled, named in _outdated(package, inside or f"{INSIDE}/{package.name}"):
        with contextlib.suppress(OSError, py_compile.PyCompileError):
            # plain Python inside looks for no other kind, whatever -O and SOURCE_DATE_EPOCH say of this one
            kind = py_compile.PycInvalidationMode.TIMESTAMP
            py_compile.compile(
                str(source), cfile=str(compiled), dfile=named, doraise=True, optimize=0, invalidation_mode=kind
            )
            written.append(compiled)
            _show(source, compiled)
            _show(source.parent, compiled.parent)
    return written


@functools.cache
def compile_once(package: Path) -> None:
    """`compile_package`, the first time that this process, or the one that it is a copy of, starts a pocket.

    A module that is edited after that is compiled by each program inside until another process starts a pocket.
    """
    compile_package(package)


def unwritable(package: Path) -> list[Path]:
    """Modules that are not compiled for a pocket, or less readable so, and whose folder this user cannot mend.

    Each of our commands compiles them when it starts inside, which takes wall time and no network time.
    """
    return [
        source
        for source, compiled, _ in _outdated(package, f"{INSIDE}/{package.name}")
        if not _takes_files(compiled.parent)
    ]


def main() -> int:
    """Compile this package and its virtual environment's packages, once for all users of an installation.

    Returns:
        1 if a module of this package is not compiled, such as on a full disk.
    """
    compile_package(PACKAGE)
    beside = Path(sysconfig.get_path("purelib"))
    if sys.prefix != sys.base_prefix:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of code that is not ours
            compile_package(beside, f"{INSIDE}/venv/{beside.relative_to(sys.prefix).as_posix()}")
    return int(any(_outdated(PACKAGE, f"{INSIDE}/{PACKAGE.name}")))


def _outdated(package: Path, inside: str) -> Iterator[tuple[Path, Path, str]]:
    """Source, compiled file and path inside of each module that is not compiled for a pocket."""
    for source in sorted(package.rglob("*.py")):
        # not cache_from_source, which obeys PYTHONPYCACHEPREFIX and -O of this Python; the one inside has neither
        compiled = source.parent / "__pycache__" / f"{source.stem}.{sys.implementation.cache_tag}.pyc"
        named = f"{inside}/{source.relative_to(package).as_posix()}"
        if not _is_current(source, compiled, named):
            yield source, compiled, named


def _show(source: Path, compiled: Path) -> None:
    """Give a compiled file, or the folder of such files, the read bits of its source."""
    mode = compiled.stat().st_mode
    if wanted := _for_readers(source) & ~mode:
        compiled.chmod(stat.S_IMODE(mode) | wanted)


def _for_readers(source: Path) -> int:
    """The bits by which a file is read, or a folder entered."""
    readers = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    if source.is_dir():
        readers |= stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH
    return source.stat().st_mode & readers


def _takes_files(folder: Path) -> bool:
    there = folder if folder.exists() else folder.parent
    hidden = _for_readers(folder.parent) & ~there.stat().st_mode and os.geteuid() not in (0, there.stat().st_uid)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK) and not hidden


def _is_current(source: Path, compiled: Path, inside: str) -> bool:
    """Whether `compiled` is of this `source`, as readable, and bears the path inside (layout: importlib, PEP 552)."""
    try:
        content, of_source = compiled.read_bytes(), source.stat()
        for theirs, ours in ((source, compiled), (source.parent, compiled.parent)):
            if _for_readers(theirs) & ~ours.stat().st_mode:
                return False
    except OSError:
        return False
    fields = (0, int(of_source.st_mtime) & 0xFFFFFFFF, of_source.st_size & 0xFFFFFFFF)
    header = importlib.util.MAGIC_NUMBER + b"".join(field.to_bytes(4, "little") for field in fields)
    return content.startswith(header) and os.fsencode(inside) in content


if __name__ == "__main__":
    sys.exit(main())
