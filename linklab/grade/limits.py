# SPDX-License-Identifier: BSD-3-Clause
"""What a submission may take of this machine: data, which the sandbox holds its networks to.

What computes is counted in processor time, so that a mark does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import resource
from dataclasses import dataclass, field

from linklab.grade.exchange import Room

_UNSEEN_S = 30
"""Processor seconds beyond the limit after which Linux kills a process; the sandbox stops it before, and says why."""
HANG_S = 1800.0
"""Wall-clock seconds after which something is ended whatever it does, as the last resort."""
LAB_S = 1500.0
"""Processor seconds of the networks of a lab; Labs 11 and 24 took 320 and 420 s where `linklab run` was measured."""
IDLE_S = 300.0
"""Wall-clock seconds after which a network that does nothing is taken to wait for ever; to sleep takes it none."""
MOST_HELD = 80_000
"""Open files of a network, which has a few thousand; its kernel alone may have 65,536.

The machine has some million for all (/proc/sys/fs/file-max).  A full pipe keeps 8 KiB that nothing counts (pipe(7),
pipe-user-pages-soft): 194,000 pipes kept 1.7 GB.
"""


@dataclass(frozen=True)
class Limits:
    """What a network in the sandbox may take.

    memory_mib: of its kernel; work_mib: of what is written beside that, by whatever is inside.
    own_mib: of what its processes have of their own, all together; the two above are files in memory.
    stack_mib: of each process's stack, which counts towards own_mib.
    mapped_mib: that each process has mapped, of whatever kind.  The more, the longer the machine's kernel takes to
        change it.  A pocket's kernel maps its memory once, a process of the guest's as often as that asks for it.
    tables_mib: of tables of pages and of open files, of all processes together.
    sockets: of all processes together, each of which may have 0.2 MiB in flight; a process of the guest's has two.
    busy: processes and threads that compute or wait for the machine, in two looks one after the other; a pocket's
        kernel was seen to have five.  Thousands of them would keep what they share, such as the lock of a folder, from
        everybody else on the machine.
    files: written, of any kind; processes: of the guest, each is one of ours; open_files: of its kernel.
    signals: queued, and timers, of which each holds one (timer_create(2)), of all processes together; a pocket's kernel
        has a few.
    processor_s: that all its processes use together, from start to end, so that a busy machine changes no mark.
    total_s: the same of all networks of one engine, hence of one submission.
    heard_s: processor time of ours to read what it says, of which answers take a fraction of a second; what fills the
        pipe to us without end uses hardly any of its own.
    carried_s: processor time of ours to look through its files, and to carry them in and out, of which a lab's hundreds
        of lines take a second.
    wall_s: from start to end; a network that waits for ever uses no processor.
    room: what comes out of the working folder.
    """

    memory_mib: int = 2048
    own_mib: int = 256
    stack_mib: int = 8
    mapped_mib: int = 4096
    tables_mib: int = 256
    sockets: int = 4608
    work_mib: int = 256
    files: int = 20_000
    processes: int = 2048
    busy: int = 16
    open_files: int = 65_536
    signals: int = 256
    processor_s: float = 300.0
    total_s: float = 900.0
    heard_s: float = 5.0
    carried_s: float = 30.0
    wall_s: float = HANG_S
    room: Room = field(default_factory=Room)

    def of_a_process(self) -> dict[str, int]:
        """Return the limits that the machine's kernel enforces, named as in `resource` without RLIMIT_.

        NPROC and SIGPENDING are of a user, the others are of a process; none is above our own hard limit.  Processes
        have little memory of their own (DATA), because a pocket's kernel keeps its memory in a file, which they map.
        """
        wanted = {
            "CORE": 1,  # under 0 the machine's handler of core dumps would start all the same (core(5))
            "CPU": int(self.processor_s) + _UNSEEN_S,
            "NOFILE": self.open_files,
            "NPROC": self.processes,
            "SIGPENDING": self.signals,
            "FSIZE": (self.memory_mib + self.work_mib) * 2**20,
            "DATA": self.own_mib * 2**20,
            "STACK": self.stack_mib * 2**20,
            "AS": self.mapped_mib * 2**20,
            "MEMLOCK": 0,
        }
        ours = {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[1] for name in wanted}
        return {
            name: most if ours[name] == resource.RLIM_INFINITY else min(most, ours[name])
            for name, most in wanted.items()
        }


def most_at_once() -> int | None:
    """How many networks the user's own hard limits have room for, at least 1; None where none bounds them.

    Processes and waiting signals are counted for each user, over all of their networks (getrlimit(2)); root's networks
    have users of their own.
    """
    if os.geteuid() == 0:
        return None
    each = {resource.RLIMIT_NPROC: Limits.processes, resource.RLIMIT_SIGPENDING: Limits.signals}
    hard = {kind: resource.getrlimit(kind)[1] for kind in each}
    found = [most // each[kind] for kind, most in hard.items() if most != resource.RLIM_INFINITY]
    return max(1, min(found)) if found else None
