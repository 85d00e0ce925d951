# SPDX-License-Identifier: BSD-3-Clause
"""A topology → the plain dict that the agent builds the network from: every default filled in, every name resolved.

The agent has the standard library only, so this holds nothing but dict, list, str, int, float, bool and None.
"?" means None where the file says nothing; keys are always there. Further keys may be added, none change.

    {"format": 1, "name": "Lab 8", "ip_base": "10.0.0.0/8",
     "order": ["controllers", "nodes", …],             the stages of building, ORDER below
     "controllers": [{"name": "c0", "type": "ref|ovsc|remote|inband", "protocol": "tcp|ssl",
                      "ip": "127.0.0.1", "port": 6633}],
     "nodes": [                                        hosts, then switches, in the order of the file
       {"name": "h1", "kind": "host", "address": "10.0.0.1/8", "default_route"?: "via 10.0.0.254",
        "cpu"?: 0.5 (share of one processor), "sched": "host|cfs|rt", "cores"?: "0,1",
        "start_command"?: "...", "stop_command"?: "...", "external_interfaces": ["eth1"],
        "vlan_interfaces": [{"name": "h1-eth0.100", "parent": "h1-eth0", "id": 100, "address": "10.0.0.9/8"}],
        "private_dirs": ["/var/run", ["/etc/x", "/tmp/x"]]},        a pair is [mount, persistent folder]
       {"name": "s1", "kind": "ovs|ivs|user|userns|legacySwitch", "dpid": "0000000000000001",
        "fail_mode": "standalone" (legacySwitch) | "secure", "protocols": "OpenFlow10,OpenFlow13",
        "controllers": ["c0"], "dpctl_port"?: 6634, "ip"?: "10.0.0.200", "netflow": false, "sflow": false,
        "start_command"?: "...", "stop_command"?: "...", "external_interfaces": []},
       {"name": "r1", "kind": "legacyRouter",          a host with ip_forward=1 and no address
        "start_command"?: "...", "stop_command"?: "...", "external_interfaces": []}],
     "links": [                                        in the order that gives the port numbers
       {"src": {"node": "h1", "interface": "h1-eth0", "port": 0},
        "dest": {"node": "s1", "interface": "s1-eth1", "port": 1},
        "opts": {}}],                                  or any of bw (float, Mbit/s), delay and jitter ("20ms", for tc),
                                                       loss (float, percent), max_queue_size (int, packets),
                                                       speedup (float, Mbit/s); {} is a plain veth pair, no tc
                                                       an impaired end has "tc" too: lines that set it, and the
                                                       disciplines that then stand there, as `linklab.tc.Qdisc`:
                                                       {"lines": [...], "qdiscs": [{"kind": "netem", "handle": "1:",
                                                        "parent": "root", "options": {"delay_ns": 20000000, …}}]}
     "preferences": {"start_cli": false, "terminal": "xterm|gterm", "dpctl_port"?: 6634,
        "netflow"?: {"target": "10.0.0.5:2055", "timeout_s": 600, "add_id": false},
        "sflow"?: {"target": "...", "sampling": 400, "header_bytes": 128, "polling_s": 30}},
     "linklab": {}}                                    the file's own "linklab" object, as it stands

A host or router whose ports have addresses of ours, or that has routes of ours, has these two keys as well:
    "ports": [{"interface": "r1-eth0", "addresses": ["10.0.1.254/24", "2001:db8:1::1/64"],
               "added": false}],                      true where they come beside the host's own "address"
    "routes": [{"to": "10.0.3.0/24" | "default", "via": "10.0.2.2"}]                   beside "default_route"

A switch has "stp": true as well where the drawing asks for a spanning tree, and "alone": "secure" where one without
controllers forwards nothing.

External interfaces take the node's first port numbers (they are attached before any link). Every OVS switch wants
`dpid` given: Mininet derives one only from names that hold a digit.
"""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Any

from linklab import tc, units
from linklab.errors import TopologyError
from linklab.topology import addressing, own, switching
from linklab.topology.checks import wireless_names
from linklab.topology.forgiven import forgiven
from linklab.topology.model import Topology
from linklab.topology.parts import Controller, Host, Link, Node, Switch

ORDER = (
    "controllers",
    "nodes",
    "links",
    "build",
    "hosts",
    "start controllers",
    "start switches",
    "impairments",
    "commands",
)
"""The stages in which a network is built, by the agent and by an exported script."""


def plan(topology: Topology) -> dict[str, Any]:
    """Give the dict of the module's docstring; TopologyError where `Topology.check` finds an error."""
    topology.check()
    if wireless := wireless_names(topology):
        raise TopologyError(f"{topology.name}: cannot be run: wireless nodes ({', '.join(sorted(wireless))})")
    topology, _ = forgiven(topology)
    interfaces = topology.interfaces()
    ports: dict[str, list[addressing.Port]] = {node.name: [] for node in topology.nodes}
    for port in addressing.ports(topology):
        ports[port.node].append(port)
    return {
        "format": 1,
        "name": topology.name,
        "ip_base": topology.preferences.ip_base,
        "order": list(ORDER),
        "controllers": [_controller(controller) for controller in topology.all_controllers],
        "nodes": [
            {**_host(host, topology, interfaces[host.name]), **_addressed(host, ports[host.name])}
            for host in topology.hosts
        ]
        + [{**_switch(switch, topology), **_addressed(switch, ports[switch.name])} for switch in topology.switches],
        "links": [_link(link, ends) for link, ends in zip(topology.links, topology.link_ends(), strict=True)],
        "preferences": _preferences(topology),
        "linklab": own.take_from(topology.links, own.take_from_nodes(topology.nodes, topology.extra)).get(
            "linklab", {}
        ),
    }


def _commands(node: Node) -> dict[str, Any]:
    return {
        "start_command": node.opts.get("startCommand") or None,
        "stop_command": node.opts.get("stopCommand") or None,
        "external_interfaces": list(node.external_interfaces),
    }


def _host(host: Host, topology: Topology, interfaces: tuple[str, ...]) -> dict[str, Any]:
    route = host.opts.get("defaultRoute")
    return {
        "name": host.name,
        "kind": "host",
        "address": topology.address(host),
        "default_route": f"via {route}" if route else None,
        "cpu": host.opts.get("cpu"),
        "sched": host.opts.get("sched", "host"),
        "cores": host.opts.get("cores"),
        "vlan_interfaces": [
            _vlan(host, interfaces, address, tag) for address, tag in host.opts.get("vlanInterfaces", ())
        ],
        "private_dirs": list(host.opts.get("privateDirectory", ())),
        **_commands(host),
    }


def _addressed(node: Node, ports: list[addressing.Port]) -> dict[str, Any]:
    """Addresses and routes of ours; nothing for a node that has none, which is built as it always was."""
    found: dict[str, Any] = {}
    given = [
        {
            "interface": port.interface,
            "added": port.has_host_address,
            "addresses": list(port.addresses[port.has_host_address :]),
        }
        for port in ports
    ]
    if given := [port for port in given if port["addresses"]]:
        found["ports"] = given
    if routes := addressing.own_routes(node):
        found["routes"] = [{"to": route.to, "via": route.via} for route in routes]
    return found


def _vlan(host: Host, interfaces: tuple[str, ...], address: str, tag: str) -> dict[str, Any]:
    """On the first interface of the host's own.

    MiniEdit gives `ifconfig` the bare address, which then takes the class of the address for the mask.
    """
    parent = next((name for name in interfaces if name not in host.external_interfaces), f"{host.name}-eth0")
    return {"name": f"{parent}.{int(tag)}", "parent": parent, "id": int(tag), "address": addressing.with_class(address)}


def _switch(switch: Switch, topology: Topology) -> dict[str, Any]:
    kind = topology.preferences.switch_type if switch.type == "default" else switch.type
    if kind == "legacyRouter":
        return {"name": switch.name, "kind": kind, **_commands(switch)}
    controllers = list(switch.controllers)
    if topology.version == "1" and kind != "legacySwitch":
        controllers = [controller.name for controller in topology.all_controllers if controller.name == "c0"]
    behaviour: dict[str, Any] = {}
    if switching.has_spanning_tree(topology):
        behaviour["stp"] = True
    if kind != "legacySwitch" and switching.lone_switches_drop(topology):
        behaviour["alone"] = "secure"
    return {
        **behaviour,
        "name": switch.name,
        "kind": kind,
        "dpid": _dpid(switch),
        "fail_mode": "standalone" if kind == "legacySwitch" else "secure",
        "protocols": ",".join(topology.preferences.openflow_protocols),
        "controllers": controllers,
        "dpctl_port": int(switch.opts["dpctl"]) if switch.opts.get("dpctl") else topology.preferences.dpctl_port,
        "ip": switch.opts.get("switchIP") or None,
        "netflow": switch.opts.get("netflow") == "1",
        "sflow": switch.opts.get("sflow") == "1",
        **_commands(switch),
    }


def _dpid(switch: Switch) -> str:
    """Sixteen hexadecimal digits: as given, else of the first number in the name (mininet/node.py), else of nodeNum."""
    given = switch.opts.get("dpid", "").replace(":", "")
    if given:
        return str(given).lower().zfill(16)
    number = re.search(r"\d+", switch.name)
    return f"{int(number[0]) if number else switch.node_num:016x}"


def _controller(controller: Controller) -> dict[str, Any]:
    return {
        "name": controller.name,
        "type": controller.opts.get("controllerType", "ref"),
        "protocol": controller.opts.get("controllerProtocol", "tcp"),
        "ip": controller.opts.get("remoteIP", "127.0.0.1"),
        "port": controller.opts.get("remotePort", 6633),
    }


def _link(link: Link, ends: tuple[str, str]) -> dict[str, Any]:
    opts: dict[str, Any] = {}
    if "bw" in link.opts:
        bandwidth = link.opts["bw"]
        opts["bw"] = units.parse_rate_mbit(bandwidth) if isinstance(bandwidth, str) else float(bandwidth)
    for key in ("delay", "jitter"):
        if key in link.opts:
            opts[key] = units.format_time(units.parse_time_s(link.opts[key]))
    for key in ("loss", "speedup"):
        if key in link.opts:
            opts[key] = float(link.opts[key])
    if "max_queue_size" in link.opts:
        opts["max_queue_size"] = link.opts["max_queue_size"]
    forward, backward = link.impairments
    return {"src": _end(link.src, ends[0], forward), "dest": _end(link.dest, ends[1], backward), "opts": opts}


def _end(node: str, interface: str, impairment: tc.Impairment | None) -> dict[str, Any]:
    end: dict[str, Any] = {"node": node, "interface": interface, "port": int(interface.removeprefix(f"{node}-eth"))}
    if impairment is not None:
        qdiscs = [asdict(each) for each in tc.objects(impairment) if isinstance(each, tc.Qdisc)]
        end["tc"] = {"lines": tc.lines(interface, impairment), "qdiscs": qdiscs}
    return end


def _preferences(topology: Topology) -> dict[str, Any]:
    preferences = topology.preferences
    netflow, sflow = preferences.netflow, preferences.sflow
    return {
        "start_cli": preferences.start_cli,
        "terminal": preferences.terminal_type,
        "dpctl_port": preferences.dpctl_port,
        "netflow": {
            "target": netflow["nflowTarget"],
            "timeout_s": int(netflow["nflowTimeout"] or 600),
            "add_id": netflow["nflowAddId"] == "1",
        }
        if netflow["nflowTarget"]
        else None,
        "sflow": {
            "target": sflow["sflowTarget"],
            "sampling": int(sflow["sflowSampling"] or 400),
            "header_bytes": int(sflow["sflowHeader"] or 128),
            "polling_s": int(sflow["sflowPolling"] or 30),
        }
        if sflow["sflowTarget"]
        else None,
    }
