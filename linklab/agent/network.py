# SPDX-License-Identifier: BSD-3-Clause
"""A plan (`linklab.topology.plan`, plain data) → a running Mininet network, and its end.

Hosts get the curriculum's baseline: TCP buffers and CUBIC, set and read back.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link, TCLink
from mininet.net import VERSION, Mininet
from mininet.node import Controller, CPULimitedHost, Host, Node, OVSSwitch, RemoteController
from mininet.nodelib import LinuxBridge

from linklab.agent import many, node_shells
from linklab.agent.open_vswitch import BuildError, call, start_ovs
from linklab.linux.baseline import BASELINE
from linklab.linux.rtnetlink import NamespaceLinks

OVS_KINDS = ("ovs", "default")
NOT_BUILT = {
    "ivs": "Indigo Virtual Switch is not part of any supported distribution",
    "user": "the user-space reference switch is not part of any supported distribution",
    "userns": "the user-space reference switch is not part of any supported distribution",
}
STATUS = "linklab-status:"
LONGEST_LINE = 3900
"""Bytes; a terminal cuts a line off after 4,095 (N_TTY_BUF_SIZE of drivers/tty/n_tty.c)."""
PORTS_DEADLINE_S = 3
FORWARDING = "3"
"""BR_STATE_FORWARDING of include/uapi/linux/if_bridge.h."""


class Router(Host):  # type: ignore[misc] # mininet has no types
    """A legacy router: a host that forwards."""

    def config(self, **params: Any) -> Any:
        """Configure as a host, then forward."""
        result = super().config(**params)
        self.cmd("echo 1 > /proc/sys/net/ipv4/ip_forward")
        return result


def build(plan: dict[str, Any]) -> Mininet:
    """The network of the plan, started.

    Raises:
        BuildError: a switch kind that nothing here can run, or Mininet's own failure, with its words.
    """
    for node in plan["nodes"]:
        if node["kind"] in NOT_BUILT:
            raise BuildError(
                f"{plan['name']}: switch {node['name']}: {NOT_BUILT[node['kind']]}; choose another switch type"
            )
    # on the host engine the warden has done what Mininet.init does to the machine
    Mininet.inited = Mininet.inited or os.environ.get("LINKLAB_ENGINE") == "host"
    node_shells.mend(Node)
    try:
        net = Mininet(topo=None, build=False, ipBase=plan["ip_base"])
        for stage in plan["order"]:
            STAGES[stage](net, plan)
        if len(plan["nodes"]) >= many.FROM:
            many.note(net.values())
            many.stay(net.values())
    except BuildError:
        raise
    except Exception as error:
        fault = "machine" if isinstance(error, OSError | MemoryError) else "topology"  # no program, no memory, no file
        raise BuildError(f"{plan['name']}: Mininet could not build the network: {error}", fault) from error
    return net


def _add_controllers(net: Mininet, plan: dict[str, Any]) -> None:
    for entry in plan["controllers"]:
        options: dict[str, Any] = {"port": entry["port"], "protocol": entry["protocol"]}
        if entry["type"] == "remote":
            net.addController(entry["name"], RemoteController, ip=entry["ip"], **options)
        elif entry["type"] == "inband":
            net.addController(entry["name"], InbandController, ip=entry["ip"], **options)
        else:
            net.addController(entry["name"], TestController, **options)


class InbandController(RemoteController):  # type: ignore[misc] # mininet has no types
    """A controller reached through the network it controls: nothing can be checked before that runs."""

    def checkListening(self) -> None:  # noqa: N802 - mininet's name
        """Overridden to do nothing."""


class TestController(Controller):  # type: ignore[misc] # mininet has no types
    """The packaged OpenFlow test controller, under the name it has on this machine."""

    __test__ = False

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, command="ovs-testcontroller", cargs="-v ptcp:%d", **options)


def _add_nodes(net: Mininet, plan: dict[str, Any]) -> None:
    quick = len(plan["nodes"]) >= many.FROM
    if quick:
        many.without_ipv6()
        many.without_fallback_tunnels()
    for node in plan["nodes"]:
        _add_node(net, node, quick=quick)


def _add_node(net: Mininet, node: dict[str, Any], *, quick: bool) -> None:
    name, kind = node["name"], node["kind"]
    if quick and kind == "host" and node["cpu"] is None and not _private(node) and not _addressed(node):
        net.addHost(name, cls=many.QuickHost, ip=node["address"], defaultRoute=node["default_route"])
    elif kind == "host":
        if node["cpu"] is not None and os.environ.get("LINKLAB_ENGINE") == "host":
            raise BuildError(
                f"{name}: a share of a processor cannot be given on the host engine, which makes no control groups; "
                "take it away, or use the pocket"
            )
        options = {"ip": node["address"], "defaultRoute": node["default_route"], "privateDirs": _private(node)}
        if node["cpu"] is not None:
            # as options, because Mininet's build sets these again; `cores` and `sched` do nothing (topology.checks)
            options.update(cpu=node["cpu"], sched="cfs")
        net.addHost(name, cls=Host if node["cpu"] is None else CPULimitedHost, **options)
    elif kind == "legacyRouter":
        net.addHost(name, cls=Router, ip=None)
    elif kind == "legacySwitch":
        # Mininet counts the number of any switch from its name, and fails where the name has no digit
        options = {} if re.search(r"\d", name) else {"dpid": node["dpid"]}
        if node.get("stp"):
            options["stp"] = True
        net.addSwitch(name, cls=many.QuickBridge if quick and not node.get("stp") else LinuxBridge, **options)
    else:
        start_ovs()
        options = {"dpid": node["dpid"], "protocols": node["protocols"], "listenPort": node["dpctl_port"]}
        fail_mode = node["fail_mode"] if node["controllers"] else node.get("alone", "standalone")
        net.addSwitch(name, cls=OVSSwitch, failMode=fail_mode, dpopts=None, **options)
    for interface in node.get("external_interfaces", ()):
        if not Path("/sys/class/net", interface).exists():
            raise BuildError(
                f"{name}: external interface {interface} does not exist in this network's machine; remove it"
            )
        Intf(interface, node=net.get(name))


def _addressed(node: dict[str, Any]) -> bool:
    """Whether it has addresses or routes that Mininet does not set."""
    return "ports" in node or "routes" in node


def _private(node: dict[str, Any]) -> list[Any]:
    return [tuple(entry) if isinstance(entry, list) else entry for entry in node["private_dirs"]]


def _add_links(net: Mininet, plan: dict[str, Any]) -> None:
    kernel = NamespaceLinks()
    for link in plan["links"]:
        ends = [net.get(link[side]["node"]) for side in ("src", "dest")]
        ports = {"port1": link["src"]["port"], "port2": link["dest"]["port"]}
        if link["opts"]:
            net.addLink(*ends, cls=TCLink, **ports, **link["opts"])
        elif all(isinstance(end, many.LateShell) for end in ends):
            net.addLink(*ends, cls=many.QuickLink, kernel=kernel, **ports)
        else:
            net.addLink(*ends, cls=Link, **ports)
    kernel.flush()
    kernel.close()
    many.raise_ports(net.switches)


def _build(net: Mininet, _: dict[str, Any]) -> None:
    net.build()


def _start_controllers(net: Mininet, _: dict[str, Any]) -> None:
    for controller in net.controllers:
        controller.start()


def _start_switches(net: Mininet, plan: dict[str, Any]) -> None:
    for node in plan["nodes"]:
        if node["kind"] in (*OVS_KINDS, "legacySwitch"):
            net.get(node["name"]).start([net.get(name) for name in node.get("controllers", [])])
            if node.get("stp"):
                from linklab.agent import spanning_tree  # noqa: PLC0415 - costs network time, few networks need it

                spanning_tree.begin(net.get(node["name"]), node["kind"])
            _watch_flows(net.get(node["name"]), node, plan["preferences"])
    if any(node.get("stp") for node in plan["nodes"]):
        net.warnings = [words] if (words := spanning_tree.wait()) else []


def _watch_flows(switch: Any, node: dict[str, Any], preferences: dict[str, Any]) -> None:
    """The switch's own address, and reports of its flows to collectors, as MiniEdit sets them."""
    if node["ip"]:
        switch.cmd(f"ifconfig {switch.name} {node['ip']}")
    if node["kind"] == "legacySwitch":
        return
    netflow, sflow = preferences["netflow"], preferences["sflow"]
    if node["netflow"] and netflow:
        settings = [f'targets="{netflow["target"]}"', f"active-timeout={netflow['timeout_s']}"]
        settings += ["add_id_to_interface=true"] if netflow["add_id"] else []
        call(["ovs-vsctl", "set", "Bridge", switch.name, "netflow=@f", "--", "--id=@f", "create", "NetFlow", *settings])
    if node["sflow"] and sflow:
        settings = [f'targets="{sflow["target"]}"', f"header={sflow['header_bytes']}"]
        settings += [f"sampling={sflow['sampling']}", f"polling={sflow['polling_s']}"]
        call(["ovs-vsctl", "set", "Bridge", switch.name, "sflow=@f", "--", "--id=@f", "create", "sFlow", *settings])


def _impair(net: Mininet, plan: dict[str, Any]) -> None:
    """Set the queueing disciplines that the plan gives for ends of links, and look whether they are there."""
    for link in plan["links"]:
        for end in (link["src"], link["dest"]):
            if "tc" not in end:
                continue
            node, interface = net.get(end["node"]), end["interface"]
            if link["opts"]:  # Mininet has set its own for both directions
                node.cmd(f"tc qdisc del dev {interface} root")
            for line in end["tc"]["lines"]:
                _do(net, end["node"], line)
            shown = json.loads(node.cmd(f"tc -j qdisc show dev {interface}") or "[]")
            seen = [_at(qdisc) for qdisc in shown]
            missing = [place for qdisc in end["tc"]["qdiscs"] if (place := _at(qdisc)) not in seen]
            if missing:
                raise BuildError(
                    f"{end['node']}: {interface} shows {', '.join(seen)}, not {', '.join(missing)}, after tc"
                )


def _at(qdisc: dict[str, Any]) -> str:
    """Kind and place of a discipline, of the plan or of `tc -j`: "tbf 2: at 1:"."""
    return f"{qdisc['kind']} {qdisc['handle']} at {qdisc.get('parent', 'root')}"


def _configure_hosts(net: Mininet, plan: dict[str, Any]) -> None:
    for node in plan["nodes"]:
        if node["kind"] not in ("host", "legacyRouter"):
            continue
        host = net.get(node["name"])
        if isinstance(host, many.QuickHost):
            many.settle(host, node["address"], node["default_route"], partial(_baseline, node["name"], _set))
        else:
            _baseline(node["name"], partial(_set_in, host))
        for vlan in node.get("vlan_interfaces", ()):
            name = vlan["name"]
            _do(net, host.name, f"ip link add link {vlan['parent']} name {name} type vlan id {vlan['id']}")
            _do(net, host.name, f"ip addr add {vlan['address']} dev {name}")
            _do(net, host.name, f"ip link set {name} up")
            if vlan["address"] not in (seen := host.cmd(f"ip -o -4 addr show dev {name}").split()):
                raise BuildError(f"{host.name}: {name} shows {' '.join(seen)}, not {vlan['address']}, after setting it")
        if _addressed(node):
            from linklab.agent import addresses  # noqa: PLC0415 - costs network time, and few networks need it

            addresses.set_addresses(host, node, partial(_do, net, host.name))
        if (route := node.get("default_route")) and not isinstance(host, many.QuickHost):
            # Mininet sets it and does not look
            _do(net, host.name, f"ip route replace default {route}")
            if route not in (shown := host.cmd("ip route show default")):
                raise BuildError(f"{host.name}: the default route is {shown.strip() or 'not there'}, not {route}")
        if "routes" in node:
            addresses.set_routes(host, node, partial(_do, net, host.name))


def _baseline(name: str, set_and_read: Callable[[str, str], str]) -> None:
    for key, value in BASELINE.items():
        seen = set_and_read(f"/proc/sys/{key}", value).split()
        if seen != value.split():
            raise BuildError(f"{name}: {key} is {' '.join(seen)} after setting it to {value}", "tool")


def _set(path: str, value: str) -> str:
    """In the network namespace that we are in; without a Path, which takes as long as the kernel does."""
    with open(path, "r+", encoding="ascii") as file:  # noqa: PTH123 - as said
        file.write(f"{value}\n")
        file.flush()
        file.seek(0)
        return file.read()


def _set_in(host: Host, path: str, value: str) -> str:
    host.cmd(f"echo '{value}' > {path}")
    return str(host.cmd(f"cat {path}"))


def _do(net: Mininet, name: str, command: str) -> None:
    """Run a command in the shell that Mininet keeps on a node.

    `eval`, so that a command which ends in & or in a comment is whole before the status is asked for.

    Raises:
        BuildError: it ended with another status than 0; names the node and the command, with what was printed.
    """
    status, said = _typed(net, name, command)
    if status != 0:
        words = " ".join(said.split()) or f"status {'unknown' if status is None else status}"
        raise BuildError(f"{name}: {command}: {words}")


def _typed(net: Mininet, name: str, command: str) -> tuple[int | None, str]:
    """Exit status (None where the shell did not say) and output of a command in the shell of a node."""
    line, file = f"eval {shlex.quote(command)}", -1
    if len(line.encode()) > LONGEST_LINE:
        file = os.memfd_create("command")
        os.write(file, command.encode())
        line = f". /proc/{os.getpid()}/fd/{file}"
    shown = net.get(name).cmd(f"{line}; printf '\\n{STATUS}%d\\n' $?")
    if file >= 0:
        os.close(file)
    said, _, status = shown.rpartition(STATUS)
    return (int(status) if status.strip().isdecimal() else None), said


def _type_start_commands(net: Mininet, plan: dict[str, Any]) -> None:
    """Type them; one that fails is kept for who asked for the network, which goes on."""
    net.failed_commands = []
    for node in plan["nodes"]:
        net.get(node["name"]).stop_command = node.get("stop_command")
        if command := node.get("start_command"):
            status, said = _typed(net, node["name"], command)
            if status != 0:
                failed = {"node": node["name"], "command": command, "status": status, "output": said.strip()}
                net.failed_commands.append(failed)


STAGES: dict[str, Callable[[Mininet, dict[str, Any]], None]] = {
    "controllers": _add_controllers,
    "nodes": _add_nodes,
    "links": _add_links,
    "build": _build,
    "hosts": _configure_hosts,
    "start controllers": _start_controllers,
    "start switches": _start_switches,
    "impairments": _impair,
    "commands": _type_start_commands,
}
"""What is done at each stage of `plan["order"]`."""


def wait_for_ports() -> None:
    """Until every port of a bridge forwards; what comes before, such as a first ARP request, is lost.

    The kernel notices that a link is up at most once a second (net/core/link_watch.c). A port that has no carrier never
    forwards, so this ends in any case.
    """
    deadline = time.monotonic() + PORTS_DEADLINE_S
    ports = [path.parent for path in Path("/sys/class/net").glob("*/brport")]
    while time.monotonic() < deadline and any(_waits(port) for port in ports):
        time.sleep(0.01)


def _waits(port: Path) -> bool:
    return (port / "brport/state").read_text().strip() != FORWARDING


def versions() -> dict[str, str]:
    """Versions of what decides a result."""
    tools = {"iperf3": ["iperf3", "--version"], "tc": ["tc", "-V"], "ping": ["ping", "-V"]}
    found = {"kernel": os.uname().release, "python": ".".join(str(part) for part in sys.version_info[:3])}
    for name, argv in tools.items():
        try:
            found[name] = subprocess.run(argv, capture_output=True, text=True, check=False).stdout.split("\n")[0]
        except OSError:
            found[name] = "not installed"
    found["mininet"] = str(VERSION)
    return found
