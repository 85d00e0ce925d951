# SPDX-License-Identifier: BSD-3-Clause
"""Runs a file for `mn --custom` and prints as JSON what a Topo of it builds; a process of its own.

    python -m linklab.agent.read_topo FILE "mytopo,3"

    {"nodes": [{"name": "h1", "is_switch": false, "class": "", "ip": "10.0.0.1/24", "defaultRoute": null,
                "dpid": null, "other": ["mac"]}],
     "links": [{"src": "h1", "dest": "s1", "port1": 0, "port2": 1, "opts": {"bw": 10}}]}

Starts no network. What the file and its own programs print goes to standard error. Source: bin/mn, mininet/topo.py.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from typing import Any

KNOWN = {"ip", "defaultRoute", "dpid", "isSwitch", "cls"}


def main(path: str, wanted: str) -> None:
    """Print what the Topo of that name builds; the last line of standard error says why it cannot."""
    from mininet.topo import Topo  # noqa: PLC0415 - Mininet may be missing
    from mininet.util import buildTopo, splitArgs  # noqa: PLC0415 - as above

    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        found = runpy.run_path(path)
        topos = found.get("topos")
        if not isinstance(topos, dict):
            # a file written as a script: its own classes, by their names
            topos = {
                name: each
                for name, each in found.items()
                if isinstance(each, type) and issubclass(each, Topo) and each.__module__ == "<run_path>"
            }
        if not topos:
            sys.exit("there is no Topo in this file: it has neither a dict named topos nor a class of its own")
        name = splitArgs(wanted)[0] if wanted else ""
        if not wanted and len(topos) == 1:
            wanted = next(iter(topos))
        elif name not in topos:
            said = f"there is no {name} in this file" if name else "this file has several topologies; name one"
            sys.exit(f"{said}: {', '.join(map(str, topos))}")
        built = buildTopo(topos, wanted)
        data = {"nodes": [_node(built, each) for each in built.nodes()], "links": _links(built)}
        out.write(json.dumps(data, default=str))


def _node(topo: Any, name: str) -> dict[str, Any]:
    info = topo.nodeInfo(name)
    cls = info.get("cls")
    return {
        "name": name,
        "is_switch": bool(topo.isSwitch(name)),
        "class": getattr(cls, "__name__", str(cls)) if cls else "",
        **{key: info.get(key) for key in ("ip", "defaultRoute", "dpid")},
        "other": [key for key in info if key not in KNOWN],
    }


def _links(topo: Any) -> list[dict[str, Any]]:
    found = []
    for _, _, info in topo.links(withInfo=True):
        opts = {key: value for key, value in info.items() if key not in ("node1", "node2", "port1", "port2")}
        found.append(
            {"src": info["node1"], "dest": info["node2"], "port1": info["port1"], "port2": info["port2"], "opts": opts}
        )
    return found


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {error}")
