# SPDX-License-Identifier: BSD-3-Clause
"""What of the kernel's parts is there, by trying each in a network namespace that is thrown away.

A kind of queueing discipline, filter or link that the kernel does not know is refused as unknown before its options are
looked at, so none has to be given: RTM_NEWQDISC and the rest of rtnetlink(7), with the kind alone. Trying loads the
module where there is one. Needs to be root, at least of a user namespace; also runs as a program, for `unshare -Urn`.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[2]))  # as a program, with -I
from linklab.linux import children, netlink
from linklab.linux.kernelcalls import CLONE_NEWNET, unshare
from linklab.linux.route_attributes import (
    IFLA_IFNAME,
    IFLA_INFO_KIND,
    IFLA_LINKINFO,
    RTM_NEWLINK,
    RTM_NEWQDISC,
    RTM_NEWTFILTER,
)
from linklab.linux.tc_attributes import TCA_KIND
from linklab.warden.paths import RefusedError

TCP_CONGESTION = 13
IP_PROTOCOL = 0x0008
NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME = 16, 16, 3, 2
GENERIC = struct.Struct("=BBxx")
KINDS = ("qdiscs", "filters", "links", "congestion", "families")
"""What can be asked for; families of generic netlink, as Open vSwitch's is."""


def probe(asked: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Which of the named are there, by kind (KINDS); in a child, whose network namespace goes with it."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover - the child
        children.live(lambda: os.write(theirs, _looked(asked).encode()))
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    told: dict[str, Any] = json.loads(text) if text else {"error": "whoever looked ended early"}
    if "error" in told:
        raise RefusedError(f"what this kernel has cannot be found out, although this is root: {told['error']}")
    found: dict[str, list[str]] = told["found"]
    return found


def _looked(asked: Mapping[str, Sequence[str]]) -> str:
    """`look` in a new network namespace, as JSON: {"found": …} or {"error": why not}."""
    try:
        unshare(CLONE_NEWNET)
        return json.dumps({"found": look(asked)})
    except OSError as error:
        cure = "; a container needs CAP_SYS_ADMIN (`--privileged`)" if error.errno == errno.EPERM else ""
        return json.dumps({"error": f"{error.strerror}{cure}"})
    except Exception as error:  # whatever it is, the person is to know why
        return json.dumps({"error": children.reason(error)})


def load_congestion_controls() -> None:
    """Have the kernel load every algorithm of TCP that it has a module for, as root's choosing one would.

    In a network namespace a lab may then choose it, once it is allowed (`records.ALLOWED`).
    """
    for name in modules():
        if name.startswith("tcp_"):
            _has_congestion(name.removeprefix("tcp_"))


def modules() -> set[str]:
    """Names of the modules that this kernel can load or has built in (modules.dep(5))."""
    folder = Path("/lib/modules", os.uname().release)
    found = set()
    for name in ("modules.dep", "modules.builtin"):
        try:
            lines = (folder / name).read_text(encoding="utf-8").splitlines()
        except OSError:
            continue
        found |= {Path(line.partition(":")[0]).name.partition(".")[0].replace("-", "_") for line in lines}
    return found


def look(asked: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The same in the network namespace we are in, which is left with whatever could be made."""
    lo = socket.if_nametoindex("lo")
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    priorities = itertools.count(1)  # one that was made stands in the way of the next at its place
    with netlink.connect() as route, netlink.connect(NETLINK_GENERIC) as generic:
        tries: dict[str, Callable[[str], bool]] = {
            "qdiscs": lambda name: _has_qdisc(route, lo, name),
            "links": lambda name: _has_link(route, name),
            "congestion": _has_congestion,
            "families": lambda name: _has_family(generic, name),
            "filters": lambda name: _has_filter(route, lo, name, next(priorities)),
        }
        if asked.get("filters"):
            _has_qdisc(route, lo, "ingress")  # where filters can be tried
        for kind, has in tries.items():
            found[kind] = [name for name in asked.get(kind, ()) if has(name)]
    return found


def _has_qdisc(kernel: socket.socket, device: int, kind: str) -> bool:
    parent, handle = (netlink.INGRESS, netlink.INGRESS_HANDLE) if kind in ("ingress", "clsact") else (netlink.ROOT, 0)
    body = netlink.TCMSG.pack(0, device, handle, parent, 0) + netlink.text(TCA_KIND, kind)
    return _ask(kernel, RTM_NEWQDISC, body) not in (errno.ENOENT, errno.EOPNOTSUPP)


def _has_filter(kernel: socket.socket, device: int, kind: str, priority: int) -> bool:
    about = netlink.TCMSG.pack(0, device, 0, netlink.INGRESS_HANDLE, priority << 16 | IP_PROTOCOL)
    return _ask(kernel, RTM_NEWTFILTER, about + netlink.text(TCA_KIND, kind)) not in (errno.ENOENT, errno.EOPNOTSUPP)


def _has_link(kernel: socket.socket, kind: str) -> bool:
    info = netlink.attribute(IFLA_LINKINFO, netlink.attribute(IFLA_INFO_KIND, kind.encode()))
    body = netlink.IFINFO.pack(0, 0, 0, 0, 0) + netlink.text(IFLA_IFNAME, f"try-{kind}"[:15]) + info
    return _ask(kernel, RTM_NEWLINK, body) != errno.EOPNOTSUPP


def _has_congestion(name: str) -> bool:
    """A name may be refused to whoever has no rights (EPERM), which says that it is there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as tcp:
        try:
            tcp.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, name.encode())
        except OSError as error:
            return error.errno == errno.EPERM
    return True


def _has_family(kernel: socket.socket, name: str) -> bool:
    """Of generic netlink: CTRL_CMD_GETFAMILY (include/uapi/linux/genetlink.h)."""
    body = GENERIC.pack(CTRL_CMD_GETFAMILY, 1) + netlink.text(CTRL_ATTR_FAMILY_NAME, name)
    return _ask(kernel, GENL_ID_CTRL, body) == 0


def _ask(kernel: socket.socket, kind: int, body: bytes) -> int:
    """Send a request; the error number of its answer, 0 if it was done."""
    kernel.send(netlink.message(kind, netlink.ACK | netlink.CREATE | netlink.EXCL, 1, body))
    while True:
        for answer, told in netlink.messages(kernel.recv(65536)):
            if answer == netlink.NLMSG_ERROR:
                return netlink.error(told)


def main() -> int:
    """`probe.py`, {kind: [names]} on standard input: `look`, for a namespace that somebody else has made."""
    signal.alarm(20)
    asked = json.loads(sys.stdin.readline())
    print(json.dumps(look({kind: [str(name) for name in asked.get(kind, ())] for kind in KINDS})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
