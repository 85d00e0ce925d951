# SPDX-License-Identifier: BSD-3-Clause
"""A `Topo` of Mininet's Python interface, as `mn --custom FILE --topo NAME` builds it → a drawing.

The file is a program: a Python of its own runs it with Mininet and prints what it builds
(`linklab/agent/read_topo.py`). Open only a file that you would run.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import linklab
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.exchange.carried import MOST_NODES, Carried, short_list
from linklab.topology.addressing import DEFAULT
from linklab.topology.builder import Builder, natural
from linklab.topology.mending import mend

DEADLINE_S = 30
LINK_OPTIONS = ("bw", "delay", "jitter", "loss", "max_queue_size", "speedup")
PASSED = {"params1", "params2", "cls", "intfName1", "intfName2", "fast"}
"""Options of a link that are read at their ends, or that change nothing here."""


def load(path: Path, topo: str = "") -> Carried:
    """Run the file and draw what it builds.

    topo: as for `mn --topo`, such as "mytopo,3"; "" if the file has only one.

    Raises:
        InputError: the file fails, or does not have this Topo.
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
        raise InputError(f"{path}: {excerpt(said[-1] if said else 'failed without a message', 200)}")
    try:
        data = json.loads(done.stdout)
    except ValueError:
        raise InputError(f"{path}: ended by itself before its networks could be read") from None
    return from_data(data, path.stem)


def from_data(data: Mapping[str, Any], name: str) -> Carried:
    """The drawing of what `read_topo` prints."""
    if len(data["nodes"]) > MOST_NODES:
        raise InputError(f"{name}: {len(data['nodes'])} nodes are more than {MOST_NODES}")
    to = Builder(name)
    notes: list[str] = []
    given = {node["name"]: node for node in data["nodes"]}
    addresses = _addresses(data)
    for node in sorted(given, key=natural):
        info = given[node]
        if info["is_switch"]:
            opts: dict[str, Any] = {"dpid": str(info["dpid"])} if info.get("dpid") else {}
            to.switch(node, **opts)
        elif info["class"] not in ("", "Host", "CPULimitedHost"):
            gateway = _gateway(info)
            to.switch(node, "legacyRouter", routes=[{"to": DEFAULT, "via": gateway}] if gateway else [])
            notes.append(f"{node}: {info['class']} is not run; a plain router takes its place")
        else:
            to.host(node, **_host(info, addresses))
        if info["other"]:
            notes.append(f"{node}: not carried over: {short_list(info['other'])}")
    if any(node["is_switch"] for node in given.values()):
        notes.append("switches are legacy switches here, which need no controller")
    for link in data["links"]:
        settings = {key: value for key, value in link["opts"].items() if key in LINK_OPTIONS and value is not None}
        lost = [key for key in link["opts"] if key not in LINK_OPTIONS and key not in PASSED]
        for key in ("params1", "params2"):
            params = link["opts"].get(key)
            lost += [f"{key} {name}" for name in params if name != "ip"] if isinstance(params, Mapping) else []
        if lost:
            notes.append(f"link {link['src']}-{link['dest']}: not carried over: {short_list(lost)}")
        ends = ((link["src"], link["port1"]), (link["dest"], link["port2"]))
        of_ends = [[addresses[end]] if end in addresses else [] for end in ends]
        to.link(link["src"], link["dest"], settings, addresses=of_ends)
    to.number_ports(_ports(data, notes))
    mended, said = mend(to.done())
    return Carried(mended, (*notes, *said))


def _ports(data: Mapping[str, Any], notes: list[str]) -> list[tuple[int, int]]:
    """The port numbers of each link: from the interface's name if the file gives it one, else as Mininet counts."""
    names = {
        (node, link[f"port{end}"]): name
        for link in data["links"]
        for end, node in ((1, link["src"]), (2, link["dest"]))
        if (name := link["opts"].get(f"intfName{end}"))
    }
    numbers = {}
    for (node, port), name in names.items():
        found = re.fullmatch(rf"{re.escape(node)}-eth(\d{{1,4}})", str(name))
        if found:
            numbers[node, port] = int(found[1])
        else:
            notes.append(f"{node}: the interface {name} is called {node}-eth{port} here")
    counted = [((link["src"], link["port1"]), (link["dest"], link["port2"])) for link in data["links"]]
    return [(numbers.get(src, src[1]), numbers.get(dest, dest[1])) for src, dest in counted]


def _host(info: Mapping[str, Any], addresses: dict[tuple[str, int], str]) -> dict[str, Any]:
    """MiniEdit's fields of a host; the address of its first port leaves `addresses`."""
    opts: dict[str, Any] = {}
    if address := addresses.pop((info["name"], 0), info.get("ip")):
        opts["ip"] = str(address)
    if gateway := _gateway(info):
        opts["defaultRoute"] = gateway
    return opts


def _gateway(info: Mapping[str, Any]) -> str:
    return str(info.get("defaultRoute") or "").removeprefix("via ").strip()


def _addresses(data: Mapping[str, Any]) -> dict[tuple[str, int], str]:
    """The addresses by (node, port number): those of the links, and for a first port without one that of the node."""
    found: dict[tuple[str, int], str] = {}
    for link in data["links"]:
        for node, port, params in (
            (link["src"], link["port1"], link["opts"].get("params1")),
            (link["dest"], link["port2"], link["opts"].get("params2")),
        ):
            if isinstance(params, Mapping) and params.get("ip"):
                found[node, port] = str(params["ip"])
    for node in data["nodes"]:
        if node.get("ip") and not node["is_switch"]:
            found.setdefault((node["name"], 0), str(node["ip"]))
    return found
