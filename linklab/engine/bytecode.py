# SPDX-License-Identifier: BSD-3-Clause
"""Compiles our own code for the programs inside a pocket, which read it at /opt/linklab.

Called by `linklab.engine.pocket` before a boot. Reading a file takes network time for each byte, so a run must find it
compiled in the first run as in every later one, and in the same length wherever the clone is: the path that Python
writes into compiled code is the one inside.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import py_compile
from pathlib import Path

INSIDE = "/opt/linklab"


def compile_package(package: Path) -> list[Path]:
    """Compile each module of `package` that is not compiled so already; the files that were written.

    What cannot be written (a package that belongs to somebody else) or compiled is left as it is.
    """
    written = []
    for source in sorted(package.rglob("*.py")):
        compiled = Path(importlib.util.cache_from_source(source))
        inside = f"{INSIDE}/{source.relative_to(package.parent).as_posix()}"
        if not _is_current(source, compiled, inside):
            with contextlib.suppress(OSError, py_compile.PyCompileError):
                py_compile.compile(str(source), cfile=str(compiled), dfile=inside, doraise=True)
                written.append(compiled)
    return written


def _is_current(source: Path, compiled: Path, inside: str) -> bool:
    """Whether `compiled` is of this `source` and bears the path inside (layout: importlib, PEP 552)."""
    try:
        content, stat = compiled.read_bytes(), source.stat()
    except OSError:
        return False
    fields = (0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)
    header = importlib.util.MAGIC_NUMBER + b"".join(field.to_bytes(4, "little") for field in fields)
    return content.startswith(header) and os.fsencode(inside) in content
