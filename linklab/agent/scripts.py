# SPDX-License-Identifier: BSD-3-Clause
"""Changes Mininet for every Python program inside that imports it, whichever copy of Mininet that is.

`iperf` measures with iperf3 (`linklab.agent.iperf`), networks get names (`linklab.agent.names`), and `cleanup` refuses
to remove what Linklab has built.  `lay` writes a .pth file (module site of the standard library) beside the machine's
Mininet, in the pocket's throw-away layer.  Every program in that Python reads this file in network time when it starts,
so another FINDER moves the bytes of recordings; a program that imports Mininet also reads this module.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

PTH = "linklab-mininet.pth"
NETWORK = Path("/run/linklab/network")
"""Names the nodes of the network that Linklab has built in here; there is no such file without a network."""
NAMED = 6
"""How many nodes a refusal names."""
FINDER = """
class LinklabFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("mininet.net", "mininet.clean"):
            sys.path.append("/opt/linklab")
            try:
                from linklab.agent.scripts import mended
            finally:
                sys.path.remove("/opt/linklab")
            return mended(name, path)
sys.meta_path.insert(0, LinklabFinder)
"""


def lay() -> None:
    """Have every program that this Python starts from now on find Mininet changed, if Mininet is installed."""
    found = importlib.util.find_spec("mininet")
    if found is not None and found.origin is not None:
        line = f"import sys; exec({FINDER!r})\n"  # site runs lines that begin with import
        (Path(found.origin).parent.parent / PTH).write_text(line, encoding="ascii")


def built(nodes: list[str]) -> None:
    """Note that a network with these nodes runs in here from now on."""
    NETWORK.write_text(" ".join(nodes), encoding="utf-8")


def mended(name: str, path: list[str] | None) -> importlib.machinery.ModuleSpec | None:
    """The import specification of a module of Mininet, which makes our changes after its own code has run."""
    spec = importlib.machinery.PathFinder.find_spec(name, path)
    if spec is None or spec.loader is None:
        return spec
    execute = spec.loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        _mend(module)

    spec.loader.exec_module = exec_module  # type: ignore[method-assign] # of this one loader
    return spec


def refuse_beside_network(what: str) -> None:
    """End this program with a message if a network that Linklab built runs here, which it would take apart."""
    if NETWORK.exists():
        nodes = NETWORK.read_text(encoding="utf-8").split()
        names = ", ".join(nodes[:NAMED]) + (" and others" if len(nodes) > NAMED else "")
        sys.exit(
            f"{what}: a network that Linklab built is running here ({names}), and {what} would take it apart. "
            "Use that network's own prompt (linklab attach mininet), or end it and start one without a topology "
            f"(linklab shell), where {what} has everything to itself."
        )


def _mend(module: ModuleType) -> None:
    if module.__name__ == "mininet.net":
        from linklab.agent import iperf, names  # noqa: PLC0415 - iperf imports Mininet; cleanup needs neither

        iperf.mend(module)
        names.mend(module.Mininet)
        return
    everything = module.Cleanup.cleanup

    def cleanup() -> None:
        refuse_beside_network("Mininet's cleanup")
        everything()

    module.cleanup = module.Cleanup.cleanup = cleanup  # type: ignore[attr-defined]
