# SPDX-License-Identifier: BSD-3-Clause
"""A drawing with routers runs as it says: addresses at every port, static routes, the exported script the same."""

import json
import re
import sys
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.editor import export
from linklab.engine.api import Shows, Typed
from linklab.engine.pocket import PocketEngine

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

pytestmark = needs_pocket
PROMPT = Shows("mininet> ")


def drawing():
    """Three hosts behind two routers, with IPv6 behind one of them."""
    return addressed(h3_eth0=["2001:db8:3::3/64"], r2_eth1=["10.0.2.1/24", "10.0.22.1/24"])


def test_three_hosts_behind_two_routers_ping_one_another(tmp_path):
    """Over static routes, with what Mininet's own commands know of the addresses."""
    with PocketEngine().start(drawing(), workdir=tmp_path) as network:
        assert "0% dropped" in type_(network, "pingall", "mininet").output
        path = type_(network, "ping -c 1 -R 10.0.3.1", "h1").output
        assert re.findall(r"10\.0\.\d+\.\d+$", path, re.MULTILINE)[:4] == [
            "10.0.1.1", "10.0.2.1", "10.0.3.254", "10.0.3.1",
        ]  # fmt: skip
        assert type_(network, "ping -c 1 h1", "h3").exit_status == 0
        assert type_(network, "ping -c 1 2001:db8:3::1", "h3").exit_status == 0
        assert type_(network, "sysctl -n net.ipv6.conf.all.forwarding", "r3").output.strip() == "1"
        routes = json.loads(type_(network, "ip -j route", "r2").output)
        assert [route["gateway"] for route in routes if route["dst"] == "10.0.3.0/24"] == ["10.0.2.2"]
        assert "10.0.22.1/24" in type_(network, "ip addr show dev r2-eth1", "r2").output


def test_its_script_builds_the_same(tmp_path):
    """The same addresses and routes, typed by stock Mininet."""
    asked = ("ip -br addr", "ip route", "ip -6 route")
    words = [f"{node} {each}" for node in ("h1", "h3", "r2", "r3") for each in asked]
    plain = re.compile(r"fe80::\S+|@if\d+|mininet>")

    def seen(text):
        return sorted(filter(None, (" ".join(plain.sub("", line).split()) for line in text.split("\n"))))

    with PocketEngine().start(drawing(), workdir=tmp_path) as network:
        ours = [seen(type_(network, word, "mininet").output) for word in words]
    (tmp_path / "net.py").write_text(export.script(drawing(), "routed"))
    with PocketEngine().start(None, workdir=tmp_path) as network:
        network.run([Typed("client", "python3 net.py", PROMPT)])
        theirs = [seen(network.run([Typed("client", word, PROMPT)])[0].output.replace(word, "", 1)) for word in words]
    assert theirs == ours


@pytest.mark.parametrize("many", [False, True])
def test_a_large_drawing_with_routes_is_built(tmp_path, many):
    """From fifty nodes on hosts are built another way; those with addresses of ours are not."""
    from linklab.editor import edits  # noqa: PLC0415 - beside its one use

    topology = drawing()
    for _ in range(50 if many else 0):
        topology, name = edits.add_node(topology, "host", 0, 0)
        topology = edits.add_link(topology, name, "s1")
        number = edits.named(topology)[name].node_num
        opts = {"ip": f"10.0.1.{number}/24", "defaultRoute": "10.0.1.254"}
        topology = edits.set_opts(topology, name, opts)
    with PocketEngine().start(topology, workdir=tmp_path) as network:
        last = topology.hosts[-1].name if many else "h2"
        assert type_(network, "ping -c 2 10.0.3.1", last).exit_status == 0
        assert type_(network, "ping -c 1 2001:db8:3::1", "h3").exit_status == 0
