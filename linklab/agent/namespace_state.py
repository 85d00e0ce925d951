# SPDX-License-Identifier: BSD-3-Clause
"""What the network namespace that this thread is in is set to: interfaces, queues, routes of IPv4, sysctls.

Asks the kernel over rtnetlink(7), ethtool's ioctl and /proc/sys; changes nothing and starts no process.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import itertools
import os
import re
import socket
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linklab.linux import edt_maps, tc_filter_options, tc_options
from linklab.linux import route_attributes as attr
from linklab.linux.netlink import (
    DUMP,
    INGRESS,
    NLMSG_DONE,
    NLMSG_ERROR,
    ROOT,
    TCMSG,
    attribute,
    attributes,
    connect,
    error,
    handle_text,
    message,
    messages,
)
from linklab.linux.tc_attributes import TCA_CHAIN, TCA_DUMP_INVISIBLE, TCA_KIND, TCA_OPTIONS

_USUAL_TXQLEN = 1000
"""Packets (DEFAULT_TX_QUEUE_LEN in include/linux/netdevice.h)."""
FALLBACK = re.compile(r"(?:tunl|gre|gretap|erspan|sit|ip6tnl|ip6gre|ip_vti|ip6_vti|teql)0")
"""Interfaces that the kernel makes in every namespace for its own use."""
OF_THEIR_PORTS = ("bridge", "openvswitch")
"""Kinds of interface whose offloads follow from those of their ports."""
SYSCTLS = (
    "net.core.default_qdisc",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.ip_forward",
    "net.ipv4.ip_no_pmtu_disc",
    "net.ipv4.tcp_adv_win_scale",
    "net.ipv4.tcp_app_win",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_base_mss",
    "net.ipv4.tcp_comp_sack_delay_ns",
    "net.ipv4.tcp_comp_sack_nr",
    "net.ipv4.tcp_comp_sack_slack_ns",
    "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_dsack",
    "net.ipv4.tcp_early_retrans",
    "net.ipv4.tcp_ecn",
    "net.ipv4.tcp_ecn_fallback",
    "net.ipv4.tcp_fastopen",
    "net.ipv4.tcp_frto",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_max_reordering",
    "net.ipv4.tcp_min_rtt_wlen",
    "net.ipv4.tcp_min_tso_segs",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_no_ssthresh_metrics_save",
    "net.ipv4.tcp_notsent_lowat",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_recovery",
    "net.ipv4.tcp_reordering",
    "net.ipv4.tcp_retrans_collapse",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_rto_min_us",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_shrink_window",
    "net.ipv4.tcp_slow_start_after_idle",
    "net.ipv4.tcp_thin_linear_timeouts",
    "net.ipv4.tcp_timestamps",
    "net.ipv4.tcp_tso_rtt_log",
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_window_scaling",
    "net.ipv4.tcp_wmem",
)
"""Watched: what decides how TCP sends.  `linklab.state.node` has the same list."""

CLSACT_HOOKS = (0xFFFFFFF2, 0xFFFFFFF3)
CLSACT_TEXTS = tuple(map(handle_text, CLSACT_HOOKS))
EDT_FQ = handle_text(edt_maps.FQ_HANDLE)
MOST_LINKS = 1000
"""At an interface; the file of a state is limited, and a restored network has as many to set."""
ROUTE_TYPES = {
    attr.RTN_UNICAST: "unicast",
    attr.RTN_BLACKHOLE: "blackhole",
    attr.RTN_UNREACHABLE: "unreachable",
    attr.RTN_PROHIBIT: "prohibit",
}
SCOPES = {attr.RT_SCOPE_UNIVERSE: "global", attr.RT_SCOPE_LINK: "link", attr.RT_SCOPE_HOST: "host"}
PROTOCOLS = {attr.RTPROT_KERNEL: "kernel", attr.RTPROT_BOOT: "boot", attr.RTPROT_STATIC: "static"}
METRICS = {
    attr.RTAX_MTU: "mtu",
    attr.RTAX_WINDOW: "window",
    attr.RTAX_RTT: "rtt",
    attr.RTAX_RTTVAR: "rttvar",
    attr.RTAX_SSTHRESH: "ssthresh",
    attr.RTAX_CWND: "cwnd",
    attr.RTAX_ADVMSS: "advmss",
    attr.RTAX_REORDERING: "reordering",
    attr.RTAX_HOPLIMIT: "hoplimit",
    attr.RTAX_INITCWND: "initcwnd",
    attr.RTAX_RTO_MIN: "rto_min",
    attr.RTAX_INITRWND: "initrwnd",
    attr.RTAX_QUICKACK: "quickack",
}
SIOCETHTOOL = 0x8946
ETHTOOL_GSTRINGS, ETHTOOL_GSSET_INFO, ETHTOOL_GFEATURES = 0x1B, 0x37, 0x3A
ETH_SS_FEATURES = 4


class Netlink:
    """Dumps over rtnetlink from the network namespace that this thread is in."""

    def __init__(self) -> None:
        self.socket = connect()
        self.socket.settimeout(5)
        self.sequence = 0

    def close(self) -> None:
        """End the conversation."""
        self.socket.close()

    def dump(self, request: int, body: bytes) -> Iterator[bytes]:
        """The bodies of the answers.

        Raises:
            OSError: the kernel refuses; of a discipline without filters it says EINVAL or EOPNOTSUPP.
        """
        self.sequence += 1
        self.socket.send(message(request, DUMP, self.sequence, body))
        while True:
            for kind, answer in messages(self.socket.recv(1 << 18)):
                if kind in (NLMSG_DONE, NLMSG_ERROR):
                    if number := error(answer):  # one after the dump began is in its end (netlink(7))
                        raise OSError(number, f"rtnetlink request {request}: {os.strerror(number)}")
                    return
                yield answer


def node(wanted: re.Pattern[str]) -> dict[str, Any]:
    """The node whose namespace this is: those of its interfaces whose whole name is wanted."""
    with contextlib.closing(Netlink()) as netlink:
        interfaces, routes = _asked(netlink, wanted)
    return {"interfaces": interfaces, "routes": routes, "sysctls": sysctls()}


def _asked(netlink: Netlink, wanted: re.Pattern[str]) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Interfaces and the routes over them."""
    names: dict[int, str] = {}
    interfaces: dict[str, dict[str, Any]] = {}
    links = list(netlink.dump(attr.RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0)))
    for body in links:
        names[struct.unpack_from("=i", body, 4)[0]] = _text(attributes(body[16:])[attr.IFLA_IFNAME])
    for body in links:
        name = names[struct.unpack_from("=i", body, 4)[0]]
        if wanted.fullmatch(name) and not FALLBACK.fullmatch(name):
            interfaces[name] = _link(body, names)
            if interfaces[name].get("kind") not in OF_THEIR_PORTS:
                interfaces[name]["features"] = features(name)
    _addresses(netlink, names, interfaces)
    _queues(netlink, names, interfaces)
    return interfaces, [route for route in _routes(netlink, names) if route.get("dev", "lo") in interfaces]


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode("utf-8", "replace")


def _link(body: bytes, names: dict[int, str]) -> dict[str, Any]:
    """One interface; struct ifinfomsg, then attributes IFLA_*."""
    (flags,) = struct.unpack_from("=I", body, 8)
    data = attributes(body[16:])
    link = {
        "up": bool(flags & 1),
        "mtu": _number(data[attr.IFLA_MTU]),
        "mac": ":".join(f"{byte:02x}" for byte in data.get(attr.IFLA_ADDRESS, b"")),
        "txqlen": _number(data.get(attr.IFLA_TXQLEN, bytes(4))),
        "kind": _text(attributes(data.get(attr.IFLA_LINKINFO, b"")).get(attr.IFLA_INFO_KIND, b"")),
        "master": names.get(_number(data[attr.IFLA_MASTER]), "") if attr.IFLA_MASTER in data else "",
        "addresses": [],
        "qdiscs": [],
        "classes": [],
        "filters": [],
    }
    return {key: value for key, value in link.items() if value != ""}


def _number(data: bytes) -> int:
    return int.from_bytes(data[:4], sys.byteorder)


def _addresses(netlink: Netlink, names: dict[int, str], interfaces: dict[str, dict[str, Any]]) -> None:
    """Addresses of IPv4; struct ifaddrmsg, then attributes IFA_*."""
    for body in netlink.dump(attr.RTM_GETADDR, struct.pack("=BBBBi", socket.AF_INET, 0, 0, 0, 0)):
        length, index = struct.unpack_from("=xBxxi", body)
        data = attributes(body[8:])
        if names.get(index) in interfaces:
            address = data.get(attr.IFA_LOCAL, data.get(attr.IFA_ADDRESS, bytes(4)))
            interfaces[names[index]]["addresses"].append(f"{socket.inet_ntoa(address)}/{length}")


def _routes(netlink: Netlink, names: dict[int, str]) -> Iterator[dict[str, Any]]:
    """Routes of IPv4 in the main table; struct rtmsg, then attributes RTA_*."""
    for body in netlink.dump(attr.RTM_GETROUTE, struct.pack("=8BI", socket.AF_INET, *[0] * 8)):
        _, length, _, tos, table, protocol, scope, kind, _ = struct.unpack_from("=8BI", body)
        if table != attr.RT_TABLE_MAIN or kind not in ROUTE_TYPES:
            continue
        data = attributes(body[12:])
        route = {
            "to": f"{socket.inet_ntoa(data.get(attr.RTA_DST, bytes(4)))}/{length}" if length else "default",
            "type": ROUTE_TYPES[kind],
            "via": socket.inet_ntoa(data[attr.RTA_GATEWAY]) if attr.RTA_GATEWAY in data else "",
            "dev": names.get(_number(data[attr.RTA_OIF]), "") if attr.RTA_OIF in data else "",
            "src": socket.inet_ntoa(data[attr.RTA_PREFSRC]) if attr.RTA_PREFSRC in data else "",
            "scope": SCOPES.get(scope, str(scope)),
            "protocol": PROTOCOLS.get(protocol, str(protocol)),
            "metric": _number(data[attr.RTA_PRIORITY]) if attr.RTA_PRIORITY in data else "",
            "tos": tos or "",
            "options": _metrics(data.get(attr.RTA_METRICS, b"")) or "",
            "unread": _beyond(data),
        }
        yield {key: value for key, value in route.items() if value != ""}


def _beyond(data: dict[int, bytes]) -> str:
    """What of a route is not read; "" if all of it is."""
    if attr.RTA_MULTIPATH in data:
        return "several next hops"
    return "encapsulation" if attr.RTA_ENCAP_TYPE in data or attr.RTA_VIA in data else ""


def _metrics(raw: bytes) -> dict[str, Any]:
    data = attributes(raw)
    found: dict[str, Any] = {name: _number(data[kind]) for kind, name in METRICS.items() if kind in data}
    if attr.RTAX_CC_ALGO in data:
        found["congctl"] = _text(data[attr.RTAX_CC_ALGO])
    if _number(data.get(attr.RTAX_FEATURES, bytes(4))) & attr.RTAX_FEATURE_ECN:
        found["ecn"] = 1
    return found


def _queues(netlink: Netlink, names: dict[int, str], interfaces: dict[str, dict[str, Any]]) -> None:
    """Queueing disciplines, classes and filters, in the kernel's order."""
    for body in list(netlink.dump(attr.RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0))):
        _, index, handle, parent, _ = TCMSG.unpack_from(body)
        if names.get(index) not in interfaces:
            continue
        interface = interfaces[names[index]]
        data = attributes(body[TCMSG.size :])
        kind = _text(data[TCA_KIND])
        said = {"kind": kind, "handle": handle_text(handle), "parent": _parent(parent)}
        interface["qdiscs"].append(
            {**said, "options": _options(tc_options.QDISCS.get(kind), data.get(TCA_OPTIONS, b""))}
        )
        parents = [handle, *_classes(netlink, index, handle, interface)]
        for hook in CLSACT_HOOKS if kind == "clsact" else parents if handle else ():
            _filters(netlink, index, hook, interface)
    if any(each["classes"] or _hollow(each) for each in interfaces.values()):
        _inner_queues(netlink, names, interfaces)
    for name, interface in interfaces.items():
        if any(qdisc["kind"] == "fq" and qdisc["handle"] == EDT_FQ for qdisc in interface["qdiscs"]):
            _links(name, interface)


def _hollow(interface: dict[str, Any]) -> list[dict[str, Any]]:
    """Disciplines that let nothing through without another one in them, and in which no other is shown."""
    within = {qdisc["parent"].partition(":")[0] + ":" for qdisc in interface["qdiscs"]}
    return [each for each in interface["qdiscs"] if each["kind"] in ("tbf", "red") and each["handle"] not in within]


def _inner_queues(netlink: Netlink, names: dict[int, str], interfaces: dict[str, dict[str, Any]]) -> None:
    """Note what the kernel's own queues are, which it does not show by itself.

    For a class, note how much its queue holds if that is not the interface's txqueuelen.  Once something was set in it
    and deleted, the kernel makes a queue that it shows to nobody, as long as txqueuelen is at that moment
    (htb_graft in net/sched/sch_htb.c).  The usual txqueuelen of today is taken for that; with any other, the length is
    not known.  In tbf and red no queue is left after that (tbf_graft in net/sched/sch_tbf.c).
    """
    shown = set()
    hollow = {(name, each["handle"]): each for name, one in interfaces.items() for each in _hollow(one)}
    classes = {(name, one["classid"]): one for name, each in interfaces.items() for one in each["classes"]}
    for body in list(netlink.dump(attr.RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0) + attribute(TCA_DUMP_INVISIBLE, b""))):
        _, index, handle, parent, _ = TCMSG.unpack_from(body)
        hollow.pop((names.get(index, ""), handle_text(parent & 0xFFFF0000)), None)
        inside = classes.get((names.get(index, ""), handle_text(parent)))
        data = attributes(body[TCMSG.size :])
        if inside is None:
            continue
        shown.add((names[index], inside["classid"]))
        if handle or _text(data[TCA_KIND]) != "pfifo":
            continue
        limit = _options(tc_options.QDISCS["pfifo"], data.get(TCA_OPTIONS, b"")).get("limit")
        if limit is not None and limit != interfaces[names[index]]["txqlen"]:
            inside["options"]["leaf_limit"] = limit
    for each in hollow.values():
        _beyond_words(each, "no queue inside")
    inner = {(name, each["parent"]) for name, one in interfaces.items() for each in one["classes"]}
    for name, classid in classes.keys() - shown - inner:
        if interfaces[name]["txqlen"] != _USUAL_TXQLEN:
            _beyond_words(classes[name, classid], "a queue of unknown length")


def _beyond_words(each: dict[str, Any], what: str) -> None:
    """Note what no words of tc set."""
    each["options"]["unread"] = [*each["options"].get("unread", []), what]


def _links(name: str, interface: dict[str, Any]) -> None:
    """Put links by departure time in place of the disciplines and the classifier that they are made of."""
    from linklab.linux.edt_stage import EdtStage, StageError  # noqa: PLC0415 - seldom needed, and slower than all other imports here

    try:
        with EdtStage(name) as stage:
            found = list(itertools.islice(stage.links(), MOST_LINKS + 1)) if stage.stands else None
            count = stage.count() if stage.stands else 0
    except StageError:  # of another version: it is told as what it is
        found = None
    if found is None:
        return
    if len(found) > MOST_LINKS:
        interface["unread"] = f"{count} links by departure time"
    else:
        interface["links"] = [_words(link.keys, link.spec.words()) for link in found]
    interface["filters"] = [
        each for each in interface["filters"] if (each["kind"], each["pref"]) != ("bpf", edt_maps.PRIORITY)
    ]
    ours = {"fq"} if any(each["parent"] in CLSACT_TEXTS for each in interface["filters"]) else {"fq", "clsact"}
    interface["qdiscs"] = [each for each in interface["qdiscs"] if each["kind"] not in ours]


def _words(keys: tuple[bytes, ...], words: list[str]) -> dict[str, Any]:
    """A link; of one whose ends have addresses of both versions those of IPv4, as of interfaces."""
    pairs = [[edt_maps.address_text(end) for end in edt_maps.KEY.unpack(key)] for key in keys]
    of_four = [pair for pair in pairs if ":" not in pair[1]]
    return {"pairs": sorted(of_four or pairs), "does": " ".join(words)}


def _parent(number: int) -> str:
    return "root" if number == ROOT else "ffff:fff1" if number == INGRESS else handle_text(number)


def _options(read: Any, *raw: Any) -> Any:
    if read is None:
        return {"unread": ["everything"]}
    try:
        return read(*raw)
    except (KeyError, struct.error, IndexError, ZeroDivisionError):
        return {"unread": ["everything"]}


def _classes(netlink: Netlink, index: int, qdisc: int, interface: dict[str, Any]) -> list[int]:
    """Append the classes of a discipline that has some of its own; their handles."""
    handles = []
    for body in list(netlink.dump(attr.RTM_GETTCLASS, TCMSG.pack(0, index, 0, qdisc, 0))):
        _, _, handle, parent, _ = TCMSG.unpack_from(body)
        data = attributes(body[TCMSG.size :])
        kind = _text(data[TCA_KIND])
        if kind not in tc_options.CLASSES or handle >> 16 != qdisc >> 16:
            continue
        handles.append(handle)
        parent = qdisc if parent == ROOT else parent
        said = {"kind": kind, "classid": handle_text(handle), "parent": handle_text(parent)}
        interface["classes"].append({**said, "options": _options(tc_options.CLASSES[kind], data.get(TCA_OPTIONS, b""))})
    return handles


def _filters(netlink: Netlink, index: int, parent: int, interface: dict[str, Any]) -> None:
    """Append the filters at a discipline or class, without what tc makes for each priority by itself."""
    try:
        answers = list(netlink.dump(attr.RTM_GETTFILTER, TCMSG.pack(0, index, 0, parent, 0)))
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):  # a discipline or class that can have no filters
            raise
        answers = []
    for body in answers:
        _, _, handle, _, info = TCMSG.unpack_from(body)
        data = attributes(body[TCMSG.size :])
        kind = _text(data[TCA_KIND])
        if TCA_OPTIONS not in data or not handle:
            continue
        options = _options(tc_filter_options.FILTERS.get(kind), data[TCA_OPTIONS], handle)
        if options is None:
            continue
        if any(data.get(TCA_CHAIN, b"")):
            options.setdefault("unread", []).append("chain")
        protocol = socket.ntohs(info & 0xFFFF)
        said = {"kind": kind, "parent": handle_text(parent), "pref": info >> 16}
        said["protocol"] = tc_filter_options.PROTOCOLS.get(protocol, f"0x{protocol:04x}")
        interface["filters"].append({**said, "options": options})


def features(name: str) -> dict[str, bool]:
    """Offloads that can be changed, on or off, by the kernel's names (ethtool-netlink, ETHTOOL_GFEATURES)."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:

        def ask(request: bytes) -> bytes:
            buffer = array.array("B", request)
            fcntl.ioctl(control, SIOCETHTOOL, struct.pack("16sP", name.encode(), buffer.buffer_info()[0]))
            return buffer.tobytes()

        try:
            (count,) = struct.unpack_from(
                "=I", ask(struct.pack("=IIQI", ETHTOOL_GSSET_INFO, 0, 1 << ETH_SS_FEATURES, 0)), 16
            )
            strings = ask(struct.pack("=III", ETHTOOL_GSTRINGS, ETH_SS_FEATURES, count) + bytes(32 * count))
            blocks = (count + 31) // 32
            answer = ask(struct.pack("=II", ETHTOOL_GFEATURES, blocks) + bytes(16 * blocks))
        except OSError:
            return {}
    found = {}
    for number in range(count):
        label = _text(strings[12 + 32 * number : 44 + 32 * number].partition(b"\0")[0])
        available, _, active, never = struct.unpack_from("=4I", answer, 8 + 16 * (number // 32))
        bit = 1 << number % 32
        if available & ~never & bit and label:
            found[label] = bool(active & bit)
    return found


def sysctls() -> dict[str, str]:
    """The watched ones that this namespace has of its own, not only shows; spaces between the values."""
    found = {}
    for name in SYSCTLS:
        file = Path("/proc/sys", name.replace(".", "/"))
        with contextlib.suppress(OSError):
            if file.stat().st_mode & 0o222:
                found[name] = " ".join(file.read_text().split())
    return found
