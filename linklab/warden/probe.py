# SPDX-License-Identifier: BSD-3-Clause
"""What of the kernel's parts is there, by trying each in a network namespace that is thrown away.

A kind of queueing discipline, filter or link that the kernel does not know is refused as unknown before its options are
looked at, so none has to be given: RTM_NEWQDISC and the rest of rtnetlink(7), with the kind alone. Trying loads the
module where there is one. Needs to be root, at least of a user namespace; also runs as a program, for `unshare -Urn`.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import signal
import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence

CLONE_NEWNET = 0x40000000
HEAD = struct.Struct("=IHHII")
TC = struct.Struct("=BxxxiIII")
LINK = struct.Struct("=BxHiII")
ATTRIBUTE = struct.Struct("=HH")
RTM_NEWLINK, RTM_NEWQDISC, RTM_NEWTFILTER, NLMSG_ERROR = 16, 36, 44, 2
REQUEST_ACK, CREATE_EXCL = 0x1 | 0x4, 0x400 | 0x200
TCA_KIND, IFLA_IFNAME, IFLA_LINKINFO, IFLA_INFO_KIND = 1, 3, 18, 1
ROOT, INGRESS, INGRESS_HANDLE = 0xFFFFFFFF, 0xFFFFFFF1, 0xFFFF0000
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
        try:
            _leave_network()
            os.write(theirs, json.dumps(look(asked)).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    found: dict[str, list[str]] = json.loads(text) if text else {}
    return found


def _leave_network() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")


def look(asked: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The same in the network namespace we are in, which is left with whatever could be made."""
    lo = socket.if_nametoindex("lo")
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    with _netlink(socket.NETLINK_ROUTE) as route, _netlink(NETLINK_GENERIC) as generic:
        tries: dict[str, Callable[[str], bool]] = {
            "qdiscs": lambda name: _has_qdisc(route, lo, name),
            "links": lambda name: _has_link(route, name),
            "congestion": _has_congestion,
            "families": lambda name: _has_family(generic, name),
            "filters": lambda name: _has_filter(route, lo, name),
        }
        if asked.get("filters"):
            _has_qdisc(route, lo, "ingress")  # where filters can be tried
        for kind, has in tries.items():
            found[kind] = [name for name in asked.get(kind, ()) if has(name)]
    return found


def _netlink(protocol: int) -> socket.socket:
    kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol)
    kernel.bind((0, 0))
    return kernel


def _has_qdisc(kernel: socket.socket, device: int, kind: str) -> bool:
    parent, handle = (INGRESS, INGRESS_HANDLE) if kind in ("ingress", "clsact") else (ROOT, 0)
    body = TC.pack(0, device, handle, parent, 0) + _attribute(TCA_KIND, kind.encode() + b"\0")
    return _ask(kernel, RTM_NEWQDISC, body) not in (errno.ENOENT, errno.EOPNOTSUPP)


def _has_filter(kernel: socket.socket, device: int, kind: str) -> bool:
    body = TC.pack(0, device, 0, INGRESS_HANDLE, 1 << 16 | IP_PROTOCOL) + _attribute(TCA_KIND, kind.encode() + b"\0")
    return _ask(kernel, RTM_NEWTFILTER, body) not in (errno.ENOENT, errno.EOPNOTSUPP)


def _has_link(kernel: socket.socket, kind: str) -> bool:
    info = _attribute(IFLA_LINKINFO, _attribute(IFLA_INFO_KIND, kind.encode()))
    body = LINK.pack(0, 0, 0, 0, 0) + _attribute(IFLA_IFNAME, f"try-{kind}"[:15].encode() + b"\0") + info
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
    body = GENERIC.pack(CTRL_CMD_GETFAMILY, 1) + _attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0")
    return _ask(kernel, GENL_ID_CTRL, body) == 0


def _attribute(kind: int, data: bytes) -> bytes:
    return ATTRIBUTE.pack(ATTRIBUTE.size + len(data), kind) + data + b"\0" * (-len(data) % 4)


def _ask(kernel: socket.socket, kind: int, body: bytes) -> int:
    """Send a request; the error number of its answer, 0 if it was done."""
    kernel.send(HEAD.pack(HEAD.size + len(body), kind, REQUEST_ACK | CREATE_EXCL, 1, 0) + body)
    while True:
        answer, at = kernel.recv(65536), 0
        while at + HEAD.size <= len(answer):
            size, kind, *_ = HEAD.unpack_from(answer, at)
            if kind == NLMSG_ERROR:
                return -int(struct.unpack_from("=i", answer, at + HEAD.size)[0])
            at += (size + 3) & ~3


def main() -> int:
    """`probe.py`, {kind: [names]} on standard input: `look`, for a namespace that somebody else has made."""
    signal.alarm(20)
    asked = json.loads(sys.stdin.readline())
    print(json.dumps(look({kind: [str(name) for name in asked.get(kind, ())] for kind in KINDS})))
    return 0


if __name__ == "__main__":
    sys.exit(main())
