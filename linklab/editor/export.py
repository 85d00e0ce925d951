# SPDX-License-Identifier: BSD-3-Clause
"""A topology → a Python script for stock Mininet 2.3 that builds the same network: ports, addresses, links, commands.

Made from the same plan as the agent builds from (`linklab.topology.plan`), stage by stage in the plan's order, so the
two build the same things in the same order. Every text of the file goes through `repr`. Pure. API: mininet/net.py,
mininet/node.py, mininet/link.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeAlias

from linklab.errors import TopologyError
from linklab.linux.baseline import BASELINE
from linklab.topology import Topology
from linklab.topology import plan as plans

Plan: TypeAlias = dict[str, Any]
Names: TypeAlias = dict[str, str]
"""A Python name for each node."""

SWITCHES = {"ovs": "OVSSwitch", "ivs": "IVSSwitch", "user": "UserSwitch", "userns": "UserSwitch"}
CONTROLLERS = {
    "ref": "DefaultController",
    "ovsc": "OVSController",
    "remote": "RemoteController",
    "inband": "InbandController",
}
"""DefaultController is the reference controller where it is installed, else Open vSwitch's."""
HEAD = '''#!/usr/bin/env python3
"""The network {title}: needs Mininet 2.3 and root.  Usage: sudo python3 FILE.py"""

from mininet.cli import CLI
from mininet.link import Intf, Link, TCLink
from mininet.log import info, setLogLevel
from mininet.net import Mininet
from mininet.node import {nodes}
from mininet.nodelib import LinuxBridge

'''
ROUTER = '''
class Router(Node):
    """A host that forwards."""

    def config(self, **params):
        result = super().config(**params)
        self.cmd("sysctl -w net.ipv4.ip_forward=1")
        return result

'''
INBAND = '''
class InbandController(RemoteController):
    """A controller inside the network: nothing can be checked before that runs."""

    def checkListening(self):
        pass

'''
COMMAND = '''
def command(node, line):
    """Type a line on a node; complain if it fails."""
    output = node.cmd(line + "; echo $?").split()
    if output[-1:] != ["0"]:
        info("*** %s: %s: %s\\n" % (node.name, line, " ".join(output[:-1])))

'''
TAIL = """
if __name__ == "__main__":
    setLogLevel("info")
    net = build()
    try:
        CLI(net)
    finally:
        end(net)
"""


def script(topology: Topology, title: str) -> str:
    """The text of the script.

    Raises:
        TopologyError: the topology has faults; the first of them.
    """
    plan = plans.plan(topology)
    classes = sorted({*_node_classes(plan), "Node"})
    text = HEAD.format(title=_plain(title), nodes=", ".join(classes))
    kinds = {node["kind"] for node in plan["nodes"]}
    if "legacyRouter" in kinds:
        text += ROUTER
    if any(controller["type"] == "inband" for controller in plan["controllers"]):
        text += INBAND
    text += COMMAND + "\ndef build():\n" + '    """Build and start the network."""\n'
    text += "".join(f"    {line}\n" for line in _body(plan))
    text += '\n\ndef end(net):\n    """Stop the network."""\n'
    for node in plan["nodes"]:
        if node.get("stop_command"):
            text += f"    net[{node['name']!r}].cmd({node['stop_command']!r})\n"
    return text + "    net.stop()\n\n" + TAIL


def _body(plan: Plan) -> list[str]:
    """The lines of `build`."""
    names = _identifiers(plan)
    body = [f"net = Mininet(topo=None, build=False, ipBase={plan['ip_base']!r})"]
    for stage in plan["order"]:
        body += STAGES[stage](plan, names)
    return [*body, "return net"]


def _started_switches(plan: Plan, names: Names) -> list[str]:
    lines = []
    for node in plan["nodes"]:
        if node["kind"] not in ("host", "legacyRouter"):
            using = ", ".join(names[name] for name in node["controllers"])
            lines.append(f"{names[node['name']]}.start([{using}])")
            if node.get("stp") and node["kind"] == "ovs":
                lines.append(_command(node, f"ovs-vsctl set Bridge {node['name']} stp_enable=true", names))
            lines += _flows(node, plan, names)
    return lines


def _identifiers(plan: Plan) -> Names:
    """A Python name for each node; two names that would become one are kept apart."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for node in (*plan["controllers"], *plan["nodes"]):
        base = re.sub(r"\W", "_", node["name"], flags=re.ASCII)
        name = base if re.match(r"[A-Za-z]\w*\d+$", base) else f"node_{base}"
        while name in taken:
            name += "_"
        taken.add(name)
        found[node["name"]] = name
    return found


def _plain(title: str) -> str:
    return re.sub(r'["\\\n]', "", title)


def _node_classes(plan: Plan) -> set[str]:
    found = {"Host"}
    for node in plan["nodes"]:
        if node["kind"] == "host" and (node["cpu"] is not None or node["cores"] is not None):
            found.add("CPULimitedHost")
        found |= {SWITCHES[node["kind"]]} if node["kind"] in SWITCHES else set()
    for controller in plan["controllers"]:
        found.add(CONTROLLERS[controller["type"]] if controller["type"] != "inband" else "RemoteController")
    return found


def _call(function: str, *plain: str, **options: Any) -> str:
    words = [*plain, *(f"{key}={value!r}" for key, value in options.items() if value is not None)]
    return f"{function}({', '.join(words)})"


def _controller(controller: Plan, names: Names) -> list[str]:
    options = {"protocol": controller["protocol"], "port": controller["port"]}
    if controller["type"] in ("remote", "inband"):
        options["ip"] = controller["ip"]
    made = _call(
        "net.addController", repr(controller["name"]), f"controller={CONTROLLERS[controller['type']]}", **options
    )
    return [f"{names[controller['name']]} = {made}"]


def _node(node: Plan, names: Names) -> list[str]:
    name, variable = node["name"], names[node["name"]]
    if node["kind"] == "host":
        limited = node["cpu"] is not None or node["cores"] is not None
        private = [tuple(each) if isinstance(each, list) else each for each in node["private_dirs"]]
        options = {"ip": node["address"], "defaultRoute": node["default_route"], "privateDirs": private or None}
        lines = [
            f"{variable} = "
            + _call("net.addHost", repr(name), f"cls={'CPULimitedHost' if limited else 'Host'}", **options)
        ]
        if node["cpu"] is not None:
            sched = "cfs" if node["sched"] == "host" else node["sched"]
            lines.append(f"{variable}.setCPUFrac(f={node['cpu']!r}, sched={sched!r})")
        if node["cores"] is not None:
            lines.append(f"{variable}.setCPUs({node['cores']!r})")
    elif node["kind"] == "legacyRouter":
        lines = [f"{variable} = net.addHost({name!r}, cls=Router, ip=None)"]
    elif node["kind"] == "legacySwitch":
        # Mininet counts a switch's number from its name; one without a digit is told its number
        options = {} if re.search(r"\d", name) else {"dpid": node["dpid"]}
        if node.get("stp"):
            options["stp"] = True
        lines = [f"{variable} = " + _call("net.addSwitch", repr(name), "cls=LinuxBridge", **options)]
    else:
        options = {"dpid": node["dpid"], "listenPort": node["dpctl_port"]}
        if node["kind"] == "ovs":
            options |= {
                "protocols": node["protocols"] or None,
                "failMode": node["fail_mode"] if node["controllers"] else node.get("alone", "standalone"),
            }
        if node["kind"] == "userns":
            options["inNamespace"] = True
        lines = [f"{variable} = " + _call("net.addSwitch", repr(name), f"cls={SWITCHES[node['kind']]}", **options)]
    return lines + [f"Intf({interface!r}, node={variable})" for interface in node["external_interfaces"]]


def _link(link: Plan, names: Names) -> list[str]:
    options = {"port1": link["src"]["port"], "port2": link["dest"]["port"], **link["opts"]}
    cls = "cls=TCLink" if link["opts"] else "cls=Link"
    return [_call("net.addLink", names[link["src"]["node"]], names[link["dest"]["node"]], cls, **options)]


def _configured(node: Plan, names: Names) -> list[str]:
    lines = []
    if node["kind"] in ("host", "legacyRouter"):
        lines += [
            _command(node, f"sysctl -w {key.replace('/', '.')}='{value}'", names) for key, value in BASELINE.items()
        ]
    for vlan in node.get("vlan_interfaces", ()):
        add = f"ip link add link {vlan['parent']} name {vlan['name']} type vlan id {vlan['id']}"
        rest = (f"ip addr add {vlan['address']} dev {vlan['name']}", f"ip link set {vlan['name']} up")
        lines += [_command(node, line, names) for line in (add, *rest)]
    for port in node.get("ports", ()):
        lines += _port(node, port, names)
    if node.get("ports") and node.get("default_route"):  # Mininet sets it before, when its subnet may not be there
        lines.append(_command(node, f"ip route replace default {node['default_route']}", names))
    for route in node.get("routes", ()):
        family = "-6" if ":" in route["via"] else "-4"
        lines.append(_command(node, f"ip {family} route replace {route['to']} via {route['via']}", names))
    return lines


def _port(node: Plan, port: Plan, names: Names) -> list[str]:
    """Addresses of a port: the first IPv4 address of one that has none by Mininet, so that its commands know it."""
    lines, first = [], not port["added"]
    for address in port["addresses"]:
        if ":" in address:
            if node["kind"] == "legacyRouter":
                lines.append(_command(node, "sysctl -w net.ipv6.conf.all.forwarding=1", names))
            lines.append(_command(node, f"ip addr replace {address} dev {port['interface']} nodad", names))
        elif first:
            lines.append(f"{names[node['name']]}.setIP({address!r}, intf={port['interface']!r})")
            first = False
        else:
            lines.append(_command(node, f"ip addr replace {address} broadcast + dev {port['interface']}", names))
    return lines


def _start_command(node: Plan, names: Names) -> list[str]:
    return [_command(node, node["start_command"], names)] if node.get("start_command") else []


def _command(node: Plan, line: str, names: Names) -> str:
    return f"command({names[node['name']]}, {line!r})"


def _flows(node: Plan, plan: Plan, names: Names) -> list[str]:
    """The switch's own address, NetFlow and sFlow, as MiniEdit sets them."""
    lines = []
    if node["ip"]:
        lines.append(_command(node, f"ifconfig {node['name']} {node['ip']}", names))
    flows = plan["preferences"]
    if node["netflow"] and flows["netflow"]:
        target = f'targets=\\"{flows["netflow"]["target"]}\\" active-timeout={flows["netflow"]["timeout_s"]}'
        add_id = " add_id_to_interface=true" if flows["netflow"]["add_id"] else ""
        line = f"ovs-vsctl -- set Bridge {node['name']} netflow=@flow -- --id=@flow create NetFlow {target}{add_id}"
        lines.append(_command(node, line, names))
    if node["sflow"] and flows["sflow"]:
        s = flows["sflow"]
        target = (
            f'target=\\"{s["target"]}\\" header={s["header_bytes"]} sampling={s["sampling"]} polling={s["polling_s"]}'
        )
        line = f"ovs-vsctl -- set Bridge {node['name']} sflow=@flow -- --id=@flow create sFlow {target}"
        lines.append(_command(node, line, names))
    return lines


def _impaired(link: Plan, names: Names) -> list[str]:
    lines = []
    for end in (link["src"], link["dest"]):
        if "tc" in end:
            if link["opts"]:
                lines.append(f"{names[end['node']]}.cmd('tc qdisc del dev {end['interface']} root')")
            if any(line.startswith("linklab ") for line in end["tc"]["lines"]):
                raise TopologyError(
                    f"link {link['src']['node']}-{link['dest']['node']}: the backend edt is Linklab's own, and stock "
                    "Mininet has no such links; choose netem in the link's properties"
                )
            lines += [f"command({names[end['node']]}, {line!r})" for line in end["tc"]["lines"]]
    return lines


def _each(of: str, lines: Callable[[Plan, Names], list[str]]) -> Callable[[Plan, Names], list[str]]:
    """The lines of each node, link or controller of a plan."""
    return lambda plan, names: [line for each in plan[of] for line in lines(each, names)]


STAGES: dict[str, Callable[[Plan, Names], list[str]]] = {
    "controllers": _each("controllers", _controller),
    "nodes": _each("nodes", _node),
    "links": _each("links", _link),
    "build": lambda plan, names: ["net.build()"],
    "hosts": _each("nodes", _configured),
    "start controllers": lambda plan, names: ["for controller in net.controllers:\n        controller.start()"],
    "start switches": _started_switches,
    "impairments": _each("links", _impaired),
    "commands": _each("nodes", _start_command),
}
"""The lines of each stage of `plan["order"]`."""
