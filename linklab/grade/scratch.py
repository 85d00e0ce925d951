# SPDX-License-Identifier: BSD-3-Clause
"""Where the working folders of networks lie while a submission is graded: in a folder that its process does not own.

Whoever started the process removes it, so nothing of a submission is left, also where the process is killed.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from linklab.base.files import remove_folder

_folder: Path | None = None


@contextlib.contextmanager
def within(folder: Path) -> Iterator[None]:
    """Within the block, this process makes working folders there."""
    global _folder  # noqa: PLW0603 - networks are started by several threads, and all belong to one submission
    before, _folder = _folder, folder
    try:
        yield
    finally:
        _folder = before


@contextlib.contextmanager
def working_folder(prefix: str) -> Iterator[Path]:
    """A new folder that goes with the block; without `within` it lies where temporary files do.

    Raises:
        OSError: it cannot be made.
    """
    made = Path(tempfile.mkdtemp(prefix=prefix, dir=_folder))
    try:
        yield made
    finally:
        remove_folder(made)
