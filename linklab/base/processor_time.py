# SPDX-License-Identifier: BSD-3-Clause
"""Processor time that a process and all below it have used: what a budget counts that must not depend on load.

The wall clock also counts what other programs of the machine do. Source: proc_pid_stat(5), fields 14 to 17.
"""

from __future__ import annotations

import os

_TICKS = os.sysconf("SC_CLK_TCK")
_MOST = 4096
"""Bytes; more than 52 numbers and a name of at most 64 bytes take."""
_PARENT, _USER, _WAITED_SYSTEM = 1, 11, 14
"""Places of fields 4, 14, and 17 behind the name, which is field 2 and may hold anything."""


def processor_s(pid: int) -> float:
    """Seconds of processor time of a process and its descendants, those included that have been waited for.

    A descendant that nobody waits for counts as long as it lives, and one whose parent has gone belongs to whoever has
    adopted it.

    Args:
        pid: of the process; 0.0 if it has gone.
    """
    found: dict[int, tuple[int, int]] = {}
    for name in os.listdir("/proc"):  # noqa: PTH208 - of thousands of processes, a few times a second
        if name.isdecimal() and (read := _parent_and_ticks(name)) is not None:
            found[int(name)] = read
    below: dict[int, list[int]] = {}
    for one, (parent, _) in found.items():
        below.setdefault(parent, []).append(one)
    total, waiting = 0, [pid] if pid in found else []
    while waiting:
        one = waiting.pop()
        total += found[one][1]
        waiting += below.get(one, [])
    return total / _TICKS


def _parent_and_ticks(name: str) -> tuple[int, int] | None:
    """The parent, and the ticks of the process and of those it has waited for; None if it has gone."""
    try:
        number = os.open(f"/proc/{name}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = os.read(number, _MOST)
        finally:
            os.close(number)
    except OSError:
        return None
    fields = text.rpartition(b")")[2].split(None, _WAITED_SYSTEM + 1)
    return int(fields[_PARENT]), sum(map(int, fields[_USER : _WAITED_SYSTEM + 1]))
