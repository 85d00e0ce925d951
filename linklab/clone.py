# SPDX-License-Identifier: BSD-3-Clause
"""What lies beside the package in a clone of the repository, and in no wheel: kernel/, labs/, topologies/, scripts/."""

from __future__ import annotations

from pathlib import Path

from linklab.errors import MissingError


def need(folder: Path) -> Path:
    """The folder itself; MissingError where it is not there, since this Linklab was installed without it."""
    if not folder.is_dir():
        raise MissingError(
            f"this is not a clone: {folder} is missing, and no package holds labs, topologies, scripts and the "
            "kernel's patches; clone the repository and use its .venv/bin/linklab (`make lab`)"
        )
    return folder
