# SPDX-License-Identifier: BSD-3-Clause
"""What is found too much when somebody looks at the processes of a network.  Standard library and `base` only.

Threads of the grading process look, and its guard does where they cannot run (`linklab.grade.guard`).
"""

from __future__ import annotations

from dataclasses import dataclass

from linklab.base.processor_time import Taken

CROWDED = 2
"""Looks in a row that must find too many that compute: programs that are killed together do so for a moment."""
_OURS = 3
"""Processes that are no guest's: bubblewrap's two, and the keeper."""


@dataclass(frozen=True)
class Bounds:
    """What may be found; the fields of `linklab.grade.limits.Limits`, and held: open files of all processes."""

    processor_s: float
    own_mib: int
    processes: int
    busy: int
    tables_mib: int
    sockets: int
    held: int

    def excess(self, found: Taken, used_s: float) -> str:
        """Why a network must be stopped for what its processes take; "" if it may go on."""
        limited = (
            (used_s > self.processor_s, f"took more than {self.processor_s:.0f} s of processor time"),
            (found.own_bytes > self.own_mib * 2**20, f"took more than {self.own_mib} MiB beside its kernel's memory"),
            (found.processes > self.processes + _OURS, f"had more than {self.processes} processes"),
        )
        return next((f"the network {why} and was stopped" for over, why in limited if over), "")

    def crowd(self) -> str:
        """Why it must be stopped where too many compute."""
        return f"the network had more than {self.busy} programs of the machine compute at once and was stopped"

    def excess_in_kernel(self, tables: int, sockets: int) -> str:
        """The same for what the machine's kernel keeps for them: bytes of tables, and how many sockets."""
        why = ""
        if tables > self.tables_mib * 2**20:
            why = f"tables of pages and open files of more than {self.tables_mib} MiB were made inside"
        elif sockets > self.sockets:
            why = f"more than {self.sockets:,} sockets were made inside"
        return f"{why}, and the network was stopped" if why else ""

    def excess_of_files(self, held: int) -> str:
        """The same for open files, of which a process may hide how many it has."""
        over = f"more than {self.held:,} files were held open inside, or hidden, and the network was stopped"
        return over if held > self.held else ""
