# SPDX-License-Identifier: BSD-3-Clause
"""A `Topo` of Mininet's Python interface, as `mn --custom FILE --topo NAME` builds it → a drawing.

The file is a program: it is run by an interpreter of its own, which has Mininet, and says what was built
(`linklab/agent/read_topo.py`). Only open a file that you would run.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import linklab
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exchange.carried import MOST_NODES, Carried, short_list
from linklab.topology.builder import Builder, natural
from linklab.topology.mending import mend

DEADLINE_S = 30
LINK_OPTIONS = ("bw", "delay", "jitter", "loss", "max_queue_size", "speedup")
PASSED = {"params1", "params2", "cls", "intfName1", "intfName2", "addr1", "addr2", "fast"}


def load(path: Path, topo: str = "") -> Carried:
    """Run the file and take over what it builds.

    topo: as `mn` takes it, "mytopo,3"; "" where the file offers one alone.

    Raises:
        InputError: the file fails, or has no such Topo.
    """
    command = [sys.executable, "-m", "linklab.agent.read_topo", str(path.resolve()), topo]
    ours = str(Path(linklab.__file__).resolve().parents[1])
    found_by = os.pathsep.join(filter(None, (ours, os.environ.get("PYTHONPATH", ""))))
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
            cwd=path.resolve().parent,  # whose other files it may import
            env={**os.environ, "PYTHONPATH": found_by},
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{path}: did not end within {DEADLINE_S} s") from error
    if done.returncode:
        said = done.stderr.strip().splitlines()
        raise InputError(f"{path}: {excerpt(said[-1] if said else 'failed without a word', 200)}")
    return from_data(json.loads(done.stdout), path.stem)


def from_data(data: Mapping[str, Any], name: str) -> Carried:
    """The drawing of what `read_topo` says."""
    if len(data["nodes"]) > MOST_NODES:
        raise InputError(f"{name}: {len(data['nodes'])} nodes are more than {MOST_NODES}")
    to = Builder(name)
    notes: list[str] = []
    given = {node["name"]: node for node in data["nodes"]}
    commands = _router_addresses(data)
    for node in sorted(given, key=natural):
        info = given[node]
        if info["is_switch"]:
            opts = {"dpid": str(info["dpid"])} if info.get("dpid") else {}
            to.switch(node, **opts)
        elif info["class"] not in ("", "Host", "CPULimitedHost"):
            to.switch(node, "legacyRouter", **({"startCommand": commands[node]} if node in commands else {}))
            notes.append(f"{node}: {info['class']} is not run; a router that forwards stands for it")
        else:
            to.host(node, **_host(info))
        if info["other"]:
            notes.append(f"{node}: not carried over: {short_list(info['other'])}")
    if any(node["is_switch"] for node in given.values()):
        notes.append("switches are legacy switches here, which need no controller")
    for link in data["links"]:
        opts = {key: value for key, value in link["opts"].items() if key in LINK_OPTIONS and value is not None}
        lost = [key for key in link["opts"] if key not in LINK_OPTIONS and key not in PASSED]
        if lost:
            notes.append(f"link {link['src']}-{link['dest']}: not carried over: {short_list(lost)}")
        to.link(link["src"], link["dest"], opts)
    mended, said = mend(_with_ports(to, data["links"]))
    return Carried(mended, (*notes, *said))


def _host(info: Mapping[str, Any]) -> dict[str, Any]:
    opts: dict[str, Any] = {}
    if info.get("ip"):
        opts["ip"] = str(info["ip"])
    if info.get("defaultRoute"):
        opts["defaultRoute"] = str(info["defaultRoute"]).removeprefix("via ").strip()
    return opts


def _router_addresses(data: Mapping[str, Any]) -> dict[str, str]:
    """What sets the addresses of a router's interfaces, which its links or the node itself say."""
    lines: dict[str, list[str]] = {}
    for link in data["links"]:
        for node, port, params in (
            (link["src"], link["port1"], link["opts"].get("params1")),
            (link["dest"], link["port2"], link["opts"].get("params2")),
        ):
            if isinstance(params, Mapping) and params.get("ip"):
                lines.setdefault(node, []).append(f"ip addr add {params['ip']} dev {node}-eth{port}")
    for node in data["nodes"]:
        if node.get("ip") and node["name"] not in lines:
            lines[node["name"]] = [f"ip addr add {node['ip']} dev {node['name']}-eth0"]
    return {node: "; ".join(each) for node, each in lines.items()}


def _with_ports(to: Builder, links: list[Mapping[str, Any]]) -> Any:
    """The drawing with the port numbers that Mininet gave, where counting would give others."""
    drawn = to.done()
    wanted = [(link["port1"], link["port2"]) for link in links]
    if drawn.ports() == wanted:
        return drawn
    for place, ports in enumerate(wanted):
        link = to.links[place]
        to.links[place] = type(link)(link.src, link.dest, link.opts, own={"ports": list(ports)})
    return to.done()
