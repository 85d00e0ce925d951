# SPDX-License-Identifier: BSD-3-Clause
"""The host engine's part of `linklab doctor`: whether it may be used here, and which labs it and the pocket can run.

Whether a lab fits a kernel is found by `linklab.doctor.fit`.
Nothing is changed, but trying loads modules of the kernel.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from linklab import pocket_kernel
from linklab.doctor.fit import Fit, all_needs, fits, grouped
from linklab.doctor.machine import PIPE_COLUMNS, MachineCheck, labs_can_run
from linklab.engine import sudo
from linklab.errors import LinklabError, MissingError


def examine(checks: Iterable[MachineCheck]) -> tuple[MachineCheck, list[Fit]]:
    """The check of the host engine, and how each lab fits; none where this is no clone."""
    broken = [check.name for check in checks if check.status == "missing"]
    pocket = "" if labs_can_run(checks) else f"missing: {', '.join(broken)}"
    if not pocket_kernel.runs_here():
        pocket = "x86-64 only"
    try:
        sudo.ask({"do": "check"})
        host = ""
    except LinklabError as error:
        host = error.what  # the check is called after the place
    try:
        found = fits(all_needs(), pocket=pocket, host="not usable, see above" if host else "")
    except MissingError:
        return check_host(host, []), []
    return check_host(host, found), found


def check_host(why_not: str, found: Sequence[Fit]) -> MachineCheck:
    """The host engine: whether its one command as root may be called, and how many labs this kernel can run."""
    if why_not:
        if not pocket_kernel.runs_here():
            return MachineCheck("host engine", "missing", "not usable, and there is no pocket here", why_not)
        return MachineCheck("host engine", "warn", "not usable; the pocket needs no rights", why_not)
    able = sum(not fit.host for fit in found)
    linux = f"Linux {os.uname().release}"
    if found and able < len(found):
        cure = "use the pocket for the others; " if pocket_kernel.runs_here() else ""
        cure += "a distribution's own kernel has the modules"
        return MachineCheck("host engine", "warn", f"{linux} can run {able} of {len(found)} labs and exercises", cure)
    return MachineCheck("host engine", "ok", f"{linux} can run all labs and exercises" if found else linux)


def render(found: Sequence[Fit]) -> None:
    """Print which engine runs what; those of which the same is said stand in one line."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    if not found:
        return
    table = Table(
        Column("labs, exercises, problems", overflow="fold"),
        "pocket",
        Column("host engine", overflow="fold"),
        box=None,
        title="Which engine runs what",
        title_justify="left",
    )
    for (pocket, host), names in grouped(found).items():
        cells = [f"[yellow]{escape(why)}[/]" if why else "[green]yes[/]" for why in (pocket, host)]
        table.add_row(escape(shortened(names)), *cells)
    console = Console()
    if not console.is_terminal:
        console = Console(width=PIPE_COLUMNS)
    console.print()
    console.print(table)


def shortened(names: Sequence[str]) -> str:
    """Such as "Labs 3 to 5, 8; Problem 1" for their names."""
    kinds: dict[str, list[int]] = {}
    for name in names:
        kind, _, number = name.rpartition(" ")
        kinds.setdefault(kind, []).append(int(number))
    parts = []
    for kind, numbers in kinds.items():
        runs: list[list[int]] = []
        for one in sorted(numbers):
            if runs and one == runs[-1][-1] + 1:
                runs[-1].append(one)
            else:
                runs.append([one])
        words = [str(run[0]) if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
        parts.append(f"{kind}{'s' if len(numbers) > 1 else ''} {', '.join(words)}")
    return "; ".join(parts)
