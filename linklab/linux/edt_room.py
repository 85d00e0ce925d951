# SPDX-License-Identifier: BSD-3-Clause
"""More room for links at an interface that is in use: larger maps with the old contents, and the program that has them.

A map cannot grow, and a program cannot be given another map. So a second program takes the first one's place in the
classifier, which the kernel does in one step for the packets that pass; fq and what it holds stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from linklab.linux import bpf
from linklab.linux.edt_maps import COUNTERS, STATE

WITH_LOCK = 4
"""BPF_F_LOCK: the program does not write the same element meanwhile."""


def copy(old: int, new: int) -> dict[bytes, bytes]:
    """Set all elements of one open map in another; what was copied."""
    found = dict(bpf.elements(old))
    if found:
        bpf.update_all(new, b"".join(found), b"".join(found.values()), len(found))
    return found


def settle(old: int, new: int, copied: Mapping[bytes, bytes]) -> None:
    """Add what the old program has counted after its states were copied; now it sees no packet any more."""
    for key, last in bpf.elements(old):
        if last == copied.get(key):
            continue
        now = bpf.lookup(new, key, STATE.size)
        if now is None:
            bpf.update(new, key, last)
        else:
            bpf.update(new, key, added(now, last, copied.get(key, bytes(STATE.size))), WITH_LOCK)


def added(now: bytes, last: bytes, copied: bytes) -> bytes:
    """A state with what was counted between two others; its line is free when both say so."""
    state, end, begin = (STATE.unpack(each) for each in (now, last, copied))
    for name in COUNTERS:
        state[name] += end[name] - begin[name]
    state["longest_ns"] = max(state["longest_ns"], end["longest_ns"])
    if end["free_ns"] > state["free_ns"]:
        state["free_ns"], state["left"] = end["free_ns"], end["left"]
    if state["is_bad"] == begin["is_bad"]:
        state["is_bad"] = end["is_bad"]
    return STATE.pack(state)


def close(files: Mapping[str, int], kept: Mapping[str, int]) -> None:
    """Close the maps of the first that are not in the second."""
    for name, file in files.items():
        if kept.get(name) != file:
            os.close(file)
