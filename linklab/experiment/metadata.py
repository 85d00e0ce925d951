# SPDX-License-Identifier: BSD-3-Clause
"""What is asked of the nodes before and after a test, and the metadata that become of it, as Flent names them.

Nothing private: of addresses, nothing but those of the network's own nodes in the commands that were run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from linklab.experiment.place import TrialPlace

OFFLOADS = (
    "tcp-segmentation-offload",
    "udp-fragmentation-offload",
    "large-receive-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
)
SYSCTLS = (
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_allowed_congestion_control",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_available_congestion_control",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_mem",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
)
"""What of a host decides how its TCP behaves."""
REACH, SETTINGS, FEATURES, QDISCS, KERNEL = "reach", "sysctl", "offloads", "qdiscs", "kernel"
REACH_S = 5
Facts = Mapping[tuple[str, str], Mapping[str, Any]]
"""What was said, by node and name: "before" and "after" with "status" and "text"."""


def facts(place: TrialPlace, addresses: Iterable[str]) -> list[dict[str, Any]]:
    """The commands whose output is kept; the first ones also find the way, so that no flow waits for ARP.

    addresses: of the targets, as the flows use them.
    """
    source = place.source
    found: list[dict[str, Any]] = [
        _fact(source, f"{REACH} {address}", ["ping", "-n", "-c", "1", "-W", str(REACH_S), address], once=True)
        for address in dict.fromkeys(addresses)
    ]
    found.append(_fact(source, KERNEL, ["uname", "-sr"], once=True))
    found.append(_fact(source, SETTINGS, ["sysctl", "-e", *SYSCTLS], once=True))
    found.append(_fact(source, FEATURES, ["ethtool", "-k", place.egress], once=True))
    nodes = dict.fromkeys(port.node for port in place.ports)
    found += [_fact(node, QDISCS, ["tc", "-s", "qdisc", "show"]) for node in nodes]
    return found


def _fact(node: str, name: str, argv: list[str], *, once: bool = False) -> dict[str, Any]:
    return {"node": node, "name": name, "argv": argv, "once": once}


def read_facts(text: str) -> Facts:
    """The facts as the runner wrote them."""
    return {(one["node"], one["name"]): one for one in json.loads(text or "[]")}


def said(found: Facts, node: str, name: str, when: str = "before") -> str:
    """What a command printed; "" where it failed or was not run."""
    one = found.get((node, name), {}).get(when) or {}
    return str(one.get("text", "")).strip() if one.get("status") == 0 else ""


def unreached(found: Facts) -> list[str]:
    """The addresses that did not answer."""
    names = (name for (_, name), one in found.items() if name.startswith(REACH) and one["before"]["status"] != 0)
    return [name.removeprefix(REACH).strip() for name in names]


def host_metadata(found: Facts, place: TrialPlace) -> dict[str, Any]:
    """KERNEL_NAME, KERNEL_RELEASE, SYSCTLS, EGRESS_INFO of the source, and REMOTE_METADATA of the others."""
    name, _, release = said(found, place.source, KERNEL).partition(" ")
    others = dict.fromkeys(port.node for port in place.ports if port.node != place.source)
    return {
        "KERNEL_NAME": name or None,
        "KERNEL_RELEASE": release or None,
        "MODULE_VERSIONS": {},
        "SYSCTLS": dict(_settings(said(found, place.source, SETTINGS))),
        "EGRESS_INFO": {
            **port_info(found, place.source, place.egress),
            "offloads": dict(_offloads(said(found, place.source, FEATURES))),
            "bql": None,
            "driver": None,  # nobody reads it
        },
        "REMOTE_METADATA": {
            node: _remote(found, node, [port.interface for port in place.ports if port.node == node]) for node in others
        },
    }


def _remote(found: Facts, node: str, interfaces: list[str]) -> dict[str, Any]:
    """Of the ports of another node: the first is on the way up."""
    ports = [port_info(found, node, interface) for interface in interfaces]
    return {"LOCAL_HOST": node, "EGRESS_INFO": ports[0], "INGRESS_INFO": ports[-1], "PORTS": ports}


def port_info(found: Facts, node: str, interface: str) -> dict[str, Any]:
    """The disciplines of an interface, as they were set, and what tc said of them before and after."""
    before, after = (_of(said(found, node, QDISCS, when), interface) for when in ("before", "after"))
    return {
        "iface": interface,
        "qdiscs": [_discipline(text) for text in before],
        "tc_stats_pre": before or None,
        "tc_stats_post": after or None,
        "classes": None,
    }


def _of(text: str, interface: str) -> list[str]:
    """What `tc -s qdisc show` says of each discipline of an interface."""
    blocks: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith("qdisc "):
            blocks.append([])
        if blocks:
            blocks[-1].append(line.rstrip())
    return ["\n".join(block) for block in blocks if f" dev {interface} " in f"{block[0]} "]


def _discipline(text: str) -> dict[str, Any]:
    """Its kind, handle, parent, and the words that follow, in pairs."""
    words = text.splitlines()[0].split()
    at = words.index("dev") + 2
    parent, rest = "root", words[at + 1 :]
    if words[at : at + 1] == ["parent"]:
        parent, rest = words[at + 1], words[at + 2 :]
    if rest[:1] == ["refcnt"]:
        rest = rest[2:]
    rest += [""] * (len(rest) % 2)
    return {"name": words[1], "id": words[2], "parent": parent, "params": dict(zip(rest[::2], rest[1::2], strict=True))}


def _settings(text: str) -> Iterable[tuple[str, Any]]:
    for line in text.splitlines():
        name, equals, value = line.partition("=")
        words = value.split()
        if equals and words:
            numbers = [int(word) if word.isdecimal() else word for word in words]
            yield name.strip(), numbers[0] if len(numbers) == 1 else " ".join(words)


def _offloads(text: str) -> Iterable[tuple[str, bool]]:
    for line in text.splitlines():
        name, colon, value = line.strip().partition(":")
        if colon and name in OFFLOADS and value.split():
            yield name, value.split()[0] == "on"
