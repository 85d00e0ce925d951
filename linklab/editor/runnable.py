# SPDX-License-Identifier: BSD-3-Clause
"""How a drawing is to run, what of it no engine or this one can do, and the drawing without that. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_address
from typing import TypeVar

from linklab.base.text import excerpt
from linklab.base.toml import Table
from linklab.engine.api import Clock
from linklab.engine.choice import ENGINES
from linklab.topology import Topology, addressing, switching
from linklab.topology.parts import MOST_DIGITS, Node

CLOCKS = tuple(clock.value for clock in Clock)
N = TypeVar("N", bound=Node)


@dataclass(frozen=True)
class Choice:
    """How to run: names as in Preferences."""

    engine: str = "pocket"
    clock: str = "paced"
    speed: str = "1"
    profile: str = "desktop"
    seed: int = 1

    @classmethod
    def of(cls, topology: Topology) -> Choice:
        """What the file says, defaults for the rest.

        Raises:
            InputError: the file says what Preferences cannot have written. Speed and profile are the engine's to check.
        """
        run = Table(topology.extra.get("linklab", {}).get("run") or {}, "Preferences, Running")
        engine, clock = run.text("engine", cls.engine), run.text("clock", cls.clock)
        if engine not in ENGINES:
            raise run.wrong(f'"engine" must be one of {", ".join(ENGINES)}, not {excerpt(engine)}')
        if clock not in CLOCKS:
            raise run.wrong(f'"clock" must be one of {", ".join(CLOCKS)}, not {excerpt(clock)}')
        if engine == "host":
            clock = Clock.WALL.value  # the only one that it has; the file keeps the pocket's
        seed = run.text("seed", str(cls.seed))
        if not seed.isdecimal() or len(seed) > MOST_DIGITS:
            raise run.wrong(f'"seed" must be a whole number, not {excerpt(seed)}')
        return cls(engine, clock, run.text("speed", cls.speed), run.text("profile", cls.profile), int(seed))


UNSUPPORTED = {
    "ivs": "Indigo Virtual Switch is not supported",
    "user": "the userspace switch is not supported",
    "userns": "the userspace switch is not supported",
}


_PLACES = {"pocket": "a pocket", "host": "a network of the host engine"}


def refused(topology: Topology) -> list[str]:
    """Why this topology runs on no engine, a sentence for each node."""
    found: list[str] = []
    for switch in topology.switches:
        kind = topology.preferences.switch_type if switch.type == "default" else switch.type
        if kind in UNSUPPORTED:
            where = "Preferences, Default Switch" if switch.type == "default" else "its Properties, Switch Type"
            found.append(
                f"{switch.name}: {UNSUPPORTED[kind]}. It is kept in the file; to run, choose another in {where}."
            )
    return found


def unheeded(topology: Topology, choice: Choice) -> list[str]:
    """What of the drawing this engine cannot do, a sentence each; kept in the file all the same."""
    found: list[str] = []
    where = _PLACES.get(choice.engine, choice.engine)
    for node in topology.nodes:
        if node.external_interfaces:
            names = ", ".join(node.external_interfaces)
            found.append(
                f"{node.name}: {where} has no interface {names} of this machine; left out, ports counted with it"
            )
    for host in topology.hosts:
        if choice.engine == "host" and ("cpu" in host.opts or "cores" in host.opts):
            found.append(f"{host.name}: no share of a processor on the host engine; all hosts share the machine's")
    for controller in topology.all_controllers:
        address = str(controller.opts.get("remoteIP", "127.0.0.1"))
        if controller.opts.get("controllerType") in ("remote", "inband") and not _is_inside(topology, address):
            found.append(
                f"{controller.name}: a controller outside ({address}) cannot be reached from {where}; one that you "
                "start in the Root Terminal can: give its IP Address as 127.0.0.1"
            )
    if topology.preferences.netflow["nflowTarget"] or topology.preferences.sflow["sflowTarget"]:
        found.append("Preferences: NetFlow and sFlow reach collectors inside the network alone")
    return found


def _is_inside(topology: Topology, address: str) -> bool:
    """Whether that is the root namespace's own address, or one of a host or router that is drawn."""
    try:
        there = {interface.ip for port in addressing.ports(topology) for interface in port.interfaces}
        return ip_address(address).is_loopback or ip_address(address) in there
    except ValueError:
        return address == "localhost"


def notes(topology: Topology) -> list[str]:
    """What a person who knows MiniEdit should know of a run of this drawing, a sentence each."""
    found: list[str] = []
    if lone := switching.lone_switches(topology):
        names, has = ", ".join(lone), "have" if len(lone) > 1 else "has"
        if switching.lone_switches_drop(topology):
            does = ", so nothing is forwarded there, as in MiniEdit"
        else:
            s = "" if len(lone) > 1 else "s"
            does = f" and forward{s} like a legacy switch; in MiniEdit nothing would pass (Preferences, Switches)"
        found.append(f"{names} {has} no controller{does}")
    for controller in topology.all_controllers:
        if controller.opts.get("controllerType") == "remote" and _is_inside(
            topology, str(controller.opts.get("remoteIP", "127.0.0.1"))
        ):
            port = controller.opts.get("remotePort", 6633)
            found.append(f"{controller.name} is yours to start: in the Root Terminal, listening on port {port}")
    return found


def runnable(topology: Topology, choice: Choice) -> Topology:
    """The topology without what `unheeded` names, with the same ports and addresses."""
    ports = topology.ports()
    dropped = {"externalInterfaces", *(("cpu", "cores") if choice.engine == "host" else ())}

    def stripped(node: N) -> N:
        return replace(node, opts={key: value for key, value in node.opts.items() if key not in dropped})

    links = tuple(
        replace(link, own={**link.own, "ports": list(pair)}) for link, pair in zip(topology.links, ports, strict=True)
    )
    return replace(
        topology,
        hosts=tuple(map(stripped, topology.hosts)),
        switches=tuple(map(stripped, topology.switches)),
        links=links if any(node.external_interfaces for node in topology.nodes) else topology.links,
    )
