# SPDX-License-Identifier: BSD-3-Clause
"""The properties of hosts, switches, controllers and of a whole link, as pages of fields.

Names and order are MiniEdit's, so that a lab written for it finds them. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from linklab.editor.name_checks import address, bare_address, name
from linklab.errors import InputError
from linklab.topology import Topology
from linklab.windows.fields import Field, Page, digits, number, pattern, percent, rate, time, whole
from linklab.windows.words import Phrase

_NAME = Field("hostname", "Hostname", "the node's name and the start of its interfaces' names: h1, h1-eth0", check=name)
_START = Field("startCommand", "Start Command", "run on the node when the network is ready", keep_empty=True)
_STOP = Field("stopCommand", "Stop Command", "run on the node before the network ends", keep_empty=True)
_EXTERNAL = Page(
    "External Interfaces",
    (
        Field(
            "externalInterfaces", "Interface names", "one a line; they take the node's first port numbers", kind="lines"
        ),
    ),
    "Interfaces of this machine that the node takes over. A pocket has none of them: kept in the file, named at Run.",
)


def host_pages(topology: Topology) -> tuple[Page, ...]:
    """Properties of a host."""
    own = Phrase("with prefix length, 10.0.0.1/8; empty: the next of {base}", base=topology.preferences.ip_base)
    return (
        Page(
            "Properties",
            (
                _NAME,
                Field("ip", "IP Address", own, check=address),
                Field("defaultRoute", "Default Gateway", "address of the router, 10.0.0.254", check=bare_address),
                Field(
                    "cpu",
                    "Amount CPU",
                    "0.5 is half a processor; its effect is seen on the paced and the wall clock",
                    "of one processor",
                    check=number(0.001, 1024, "a number above 0"),
                ),
                Field(
                    "sched",
                    "Scheduler",
                    "how the share is kept",
                    kind="choice",
                    choices=(("host", "host (no limit)"), ("cfs", "cfs (share)"), ("rt", "rt (real time)")),
                    default="host",
                ),
                Field(
                    "cores",
                    "Cores",
                    "processors it may use: 0,1 or 0-3",
                    check=pattern(r"\d+(-\d+)?(,\d+(-\d+)?)*", "processor numbers such as 0,1 or 0-3"),
                ),
                _START,
                _STOP,
            ),
        ),
        Page(
            "VLAN Interfaces",
            (Field("vlanInterfaces", "VLANs", kind="rows", columns=("IP Address", "VLAN ID"), check=_vlan),),
            "Each makes an interface such as h1-eth0.100 with its own address.",
        ),
        _EXTERNAL,
        Page(
            "Private Directories",
            (
                Field(
                    "privateDirectory",
                    "Directories",
                    kind="rows",
                    columns=("Mount", "Persistent Directory"),
                    check=_private,
                ),
            ),
            "Folders that this host alone sees; without a persistent directory empty at each Run.",
        ),
    )


SWITCH_TYPES = (
    ("default", "Default (as in Preferences)"),
    ("ovs", "Open vSwitch Kernel Mode"),
    ("ivs", "Indigo Virtual Switch"),
    ("user", "Userspace Switch"),
    ("userns", "Userspace Switch inNamespace"),
)


def switch_pages() -> tuple[Page, ...]:
    """Properties of an OpenFlow switch."""
    return (
        Page(
            "Properties",
            (
                _NAME,
                Field(
                    "dpid",
                    "DPID",
                    "datapath number; empty: from the digits of the name",
                    "hexadecimal",
                    check=pattern(r"[0-9A-Fa-f:]{1,23}", "at most 16 hexadecimal digits"),
                    keep_empty=True,
                ),
                Field("netflow", "Enable NetFlow", "to the target in Preferences", kind="flag", default="0"),
                Field("sflow", "Enable sFlow", "to the target in Preferences", kind="flag", default="0"),
                Field(
                    "switchType",
                    "Switch Type",
                    "Indigo and userspace switches are kept in the file but cannot run: they are not supported",
                    kind="choice",
                    choices=SWITCH_TYPES,
                    default="default",
                ),
                Field("switchIP", "IP Address", "of the switch's own interface", check=address, keep_empty=True),
                Field("dpctl", "DPCTL port", "where dpctl may reach it", check=digits(1, 65535), keep_empty=True),
                _START,
                _STOP,
            ),
        ),
        _EXTERNAL,
    )


def legacy_pages(*, router: bool) -> tuple[Page, ...]:
    """Properties of a legacy switch or router, which MiniEdit has no dialog for."""
    note = (
        "Forwards between its ports, each of which needs an address in a subnet of its own: Ports and Routes."
        if router
        else "Learns addresses by itself, like a switch from a shop; no controller."
    )
    return (Page("Properties", (_NAME, _START, _STOP), note), _EXTERNAL)


def controller_pages() -> tuple[Page, ...]:
    """Properties of a controller."""
    return (
        Page(
            "Properties",
            (
                replace(_NAME, label=Phrase("Name"), help=Phrase("what switches call it")),
                Field(
                    "remotePort",
                    "Controller Port",
                    "6633 and 6653 are the usual ones",
                    check=digits(1, 65535, as_text=False),
                    default="6633",
                ),
                Field(
                    "controllerType",
                    "Controller Type",
                    kind="choice",
                    choices=(
                        ("remote", "Remote Controller"),
                        ("inband", "In-Band Controller"),
                        ("ref", "OpenFlow Reference"),
                        ("ovsc", "OVS Controller"),
                    ),
                    default="ref",
                ),
                Field(
                    "controllerProtocol",
                    "Protocol",
                    kind="choice",
                    choices=(("tcp", "TCP"), ("ssl", "SSL")),
                    default="tcp",
                ),
                Field(
                    "remoteIP",
                    "IP Address",
                    "of a remote or in-band controller; a pocket reaches only what runs inside it",
                    check=bare_address,
                    default="127.0.0.1",
                ),
            ),
        ),
    )


LINK_PAGE = Page(
    "Link",
    (
        Field("bw", "Bandwidth", "of each direction; 0.5 works too, and 1gbit", "Mbit/s", check=rate),
        Field(
            "delay",
            "Delay",
            "one way, added by each end: the round trip grows by twice as much; 5ms, 100us",
            check=time,
        ),
        Field("loss", "Loss", "share of packets dropped at random in each direction", "%", check=percent),
        Field("max_queue_size", "Max Queue size", "what waits at each end at most", "packets", check=whole),
        Field("jitter", "Jitter", "how far the delay varies up and down; needs a delay", check=time),
        Field(
            "speedup",
            "Speedup",
            "rate that a switch's end sends at instead",
            "Mbit/s",
            check=number(0, 1e6, "a number of Mbit/s"),
        ),
    ),
    "Both directions alike, by Mininet's own link. Empty: nothing of the kind.",
)


def _vlan(pair: str) -> list[str]:
    first, second = pair.split("\0")
    if not second.isdecimal() or not 1 <= int(second) <= 4094:
        raise InputError(f"VLAN ID {second!r}: a number from 1 to 4094")
    return [address(first), second]


def _private(pair: str) -> Any:
    first, second = pair.split("\0")
    for each in (first, second) if second else (first,):
        if not each.startswith("/"):
            raise InputError(f"{each!r}: a folder's whole path, which starts with /")
    return [first, second] if second else first
