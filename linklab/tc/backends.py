# SPDX-License-Identifier: BSD-3-Clause
"""An `Impairment` → what the backend that it names makes of it: disciplines, lines that set it or change it."""

from __future__ import annotations

from linklab.tc import edt_backend, netem_backend
from linklab.tc.impairment import EDT, Impairment
from linklab.tc.netem_backend import Object


def objects(impairment: Impairment) -> list[Object]:
    """What stands at the interface, from the root inwards; [] where nothing is asked for."""
    return edt_backend.objects(impairment) if impairment.backend == EDT else netem_backend.objects(impairment)


def lines(interface: str, impairment: Impairment, verb: str = "add") -> list[str]:
    """The lines that set an interface without any discipline; [] where nothing is asked for.

    verb: "add", or "change" to alter values while packets wait (only where the same kinds stand there).
    """
    if impairment.backend == EDT:
        return edt_backend.lines(interface, impairment, verb)
    return netem_backend.lines(interface, impairment, verb)


def change_lines(interface: str, before: Impairment | None, after: Impairment) -> list[str]:
    """The lines that lead from one to the other on a running interface.

    before: None where it is not known what is there.
    """
    was_edt = before is not None and before.backend == EDT
    if not was_edt and after.backend != EDT:
        return netem_backend.change_lines(interface, before, after)
    wanted = lines(interface, after)
    if before is not None and not lines(interface, before):
        return wanted
    if was_edt and after.backend == EDT and wanted:
        return wanted
    remove = edt_backend.clear_line(interface) if was_edt else f"tc qdisc del dev {interface} root"
    return [remove, *wanted]
