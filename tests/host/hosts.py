# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the host engine share: the skip with its reason, small networks, network namespaces."""

import json
import os
from pathlib import Path

import pytest

from linklab.engine import host_kernel, sudo
from linklab.engine.api import Completed, Typed
from linklab.errors import LinklabError
from linklab.tc.needs import Needs
from linklab.topology import Topology

BASIC = Needs(links=frozenset({"veth", "bridge"}))


def why_not() -> str:
    """Why no network can be made on this machine's kernel, "" if one can."""
    if os.getuid() != 0:
        return "needs root: only it sees all that could be left"
    try:
        sudo.ask({"do": "check"})
    except LinklabError as error:
        return str(error)
    lacking = host_kernel.lacks(BASIC)
    return "this kernel makes no network namespaces" if lacking is None else f"lacks {lacking}" if lacking else ""


_WHY_NOT = why_not()
needs_host = [pytest.mark.host, pytest.mark.skipif(bool(_WHY_NOT), reason=f"host engine: {_WHY_NOT}")]


def needs_kernel(needs: Needs) -> pytest.MarkDecorator:
    """The skip of a test that needs more of the kernel."""
    lacking = None if _WHY_NOT else host_kernel.lacks(needs)
    return pytest.mark.skipif(bool(_WHY_NOT) or bool(lacking), reason=f"host engine: {_WHY_NOT or f'lacks {lacking}'}")


def star(hosts: int, switches: int = 1, **link: object) -> Topology:
    """h1 … hN at switches in a row, Linux bridges; the hosts in turn."""
    named = [{"number": str(n), "opts": {"hostname": f"h{n}", "nodeNum": n}, "x": "1", "y": "1"} for n in _upto(hosts)]
    bridges = [
        {
            "number": str(n),
            "opts": {"hostname": f"s{n}", "nodeNum": n, "switchType": "legacySwitch"},
            "x": "1",
            "y": "1",
        }
        for n in _upto(switches)
    ]
    links = [{"src": f"h{n}", "dest": f"s{(n - 1) % switches + 1}", "opts": link} for n in _upto(hosts)]
    links += [{"src": f"s{n}", "dest": f"s{n + 1}", "opts": {}} for n in range(1, switches)]
    drawn = {"hosts": named, "switches": bridges, "links": links, "controllers": [], "version": "2"}
    return Topology.loads(json.dumps(drawn), "star")


def _upto(count: int) -> range:
    return range(1, count + 1)


def type_(network, text: str, terminal: str = "client", deadline_s: float = 60) -> Completed:
    """Type one command and wait for its end."""
    return network.run([Typed(terminal, text)], deadline_s=deadline_s)[0]


def namespaces() -> set[str]:
    """The network namespaces that programs of the host engine are in."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                command = (entry / "cmdline").read_bytes()
                if b"mininet:" in command or b"linklab.agent" in command:
                    found.add(str((entry / "ns/net").readlink()))
            except OSError:
                continue
    return found
