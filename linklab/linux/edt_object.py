# SPDX-License-Identifier: BSD-3-Clause
"""Where the compiled program of `linklab/bpf/` is, by the digest of what it is compiled from.

The set-up compiles it into `linklab/bpf/built/` (`linklab.bpf.build`), which every engine shows inside its networks,
because it lies in the package. An object of other sources has another name, so a stale one is never loaded.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "bpf"
SOURCES = ("edt.bpf.c", "edt.h")
STAMPS_HAVE_A_CLOCK = (5, 18)
"""From this Linux on a packet says of which clock its time is (bpf_skb_set_tstamp)."""
VARIANTS = ("", "-before-5.18")


def digest(folder: Path = FOLDER) -> str:
    """12 hexadecimal digits of the sources."""
    return hashlib.sha256(b"\0".join((folder / name).read_bytes() for name in SOURCES)).hexdigest()[:12]


def name_of(variant: str, folder: Path = FOLDER) -> str:
    """The object's file name."""
    return f"edt-{digest(folder)}{variant}.o"


def find(release: str | None = None) -> Path:
    """The object for a kernel, which may not be there; release: as uname -r, of the running kernel if None."""
    words = (release or os.uname().release).split("-")[0].split(".")
    version = tuple(int(word) for word in words[:2] if word.isdecimal())
    return FOLDER / "built" / name_of(VARIANTS[version < STAMPS_HAVE_A_CLOCK])
