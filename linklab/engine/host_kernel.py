# SPDX-License-Identifier: BSD-3-Clause
"""What of a lab's needs this machine's kernel has, found by trying in a network namespace that is thrown away.

Tried by whoever may: root directly, an ordinary user in a user namespace (`unshare -Urn`), else by sudo where that asks
for no password. Only root's trying loads every module; what a user namespace does not find counts as there when the
kernel has a module of that name.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from linklab import pocket_kernel
from linklab.engine import sudo
from linklab.errors import LinklabError, MissingError
from linklab.tc.needs import FIELDS, Needs, module
from linklab.warden import probe

PROBE = Path(probe.__file__).resolve()
DEADLINE_S = 30


def lacks(needs: Needs) -> Needs | None:
    """What of it this kernel lacks; None if that cannot be found out."""
    asked = {name: sorted(getattr(needs, name)) for name in FIELDS}
    found = _as_root(asked) if os.getuid() == 0 else _as_user(asked) or _as_root(asked)
    if found is None:
        return None
    return needs - Needs(**{name: frozenset(found.get(name, ())) for name in FIELDS})


def require(needs: Needs, what: str) -> None:
    """MissingError, naming them, if this kernel lacks some of it; what cannot be found out is tried."""
    missing = lacks(needs)
    if missing:
        cure = "the pocket brings a kernel that does: --engine pocket"
        if not pocket_kernel.runs_here():
            cure = "a distribution's own kernel has the modules"
        raise MissingError(
            f"{what} needs {missing}, which this machine's kernel (Linux {os.uname().release}) does not have; {cure}"
        )


def _as_root(asked: dict[str, list[str]]) -> dict[str, list[str]] | None:
    try:
        return sudo.ask({"do": "probe", **asked})
    except LinklabError:
        return None


def _as_user(asked: dict[str, list[str]]) -> dict[str, list[str]] | None:
    """In a user namespace; None where those are not allowed."""
    command = ["unshare", "--user", "--map-root-user", "--net", sudo.COMMAND[0], "-I", "-S", "-B", str(PROBE)]
    try:
        done = subprocess.run(
            command, input=json.dumps(asked) + "\n", capture_output=True, text=True, timeout=DEADLINE_S, check=True
        )
        found: dict[str, list[str]] = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    modules = probe.modules()
    for kind, names in asked.items():
        more = [name for name in names if name not in found[kind]]
        found[kind] += [name for name in more if module(kind, name) in modules]
    return found
