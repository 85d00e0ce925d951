# SPDX-License-Identifier: BSD-3-Clause
"""Root disciplines, the hooks of clsact, and classifiers of eBPF at an interface, by rtnetlink(7).

A `TrafficControl` speaks of the network namespace in which it was made. What the kernel refuses raises OSError with
what was asked. Specified in linux/pkt_sched.h and linux/pkt_cls.h.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from linklab.linux.netlink import (
    ACK,
    CREATE,
    DUMP,
    EXCL,
    INGRESS,
    INGRESS_HANDLE,
    NLMSG_DONE,
    NLMSG_ERROR,
    ROOT,
    TCMSG,
    attribute,
    attributes,
    connect,
    error,
    message,
    messages,
    text,
)
from linklab.linux.route_attributes import (
    RTM_DELQDISC,
    RTM_DELTFILTER,
    RTM_GETQDISC,
    RTM_GETTFILTER,
    RTM_NEWQDISC,
    RTM_NEWTFILTER,
)
from linklab.linux.tc_attributes import (
    TCA_BPF_FD,
    TCA_BPF_FLAG_ACT_DIRECT,
    TCA_BPF_FLAGS,
    TCA_BPF_ID,
    TCA_BPF_NAME,
    TCA_KIND,
    TCA_OPTIONS,
)

INCOMING, EGRESS = 0xFFFFFFF2, 0xFFFFFFF3
"""The parents of clsact's filters for what comes in and for what leaves (TC_H_MIN_INGRESS, TC_H_MIN_EGRESS)."""
ETH_P_ALL = 3


@dataclass(frozen=True)
class Discipline:
    """A queueing discipline that stands somewhere; its options are those of its netlink attributes."""

    interface: int
    kind: str
    handle: int
    parent: int
    options: Mapping[int, bytes]


@dataclass(frozen=True)
class Classifier:
    """A classifier of eBPF: its name, its priority, its handle and the number of its program."""

    name: str
    priority: int
    handle: int
    program: int


class TrafficControl:
    """What tc(8) does, for one network namespace."""

    def __init__(self) -> None:
        self.socket = connect()
        self.sequence = 0

    def close(self) -> None:
        """Let go of it."""
        self.socket.close()

    def disciplines(self, interface: int) -> list[Discipline]:
        """Those of an interface; the kernel's own default has the handle 0."""
        return [one for one in self.all_disciplines() if one.interface == interface]

    def all_disciplines(self) -> list[Discipline]:
        """Those of all interfaces."""
        found = []
        for body in self._dump(RTM_GETQDISC, TCMSG.pack(0, 0, 0, 0, 0)):
            _, index, handle, parent, _ = TCMSG.unpack_from(body)
            data = attributes(body[TCMSG.size :])
            options = attributes(data.get(TCA_OPTIONS, b""))
            found.append(Discipline(index, _text(data[TCA_KIND]), handle, parent, options))
        return found

    def classifiers(self, interface: int) -> list[Classifier]:
        """Those of eBPF for what leaves."""
        found = []
        for body in self._dump(RTM_GETTFILTER, TCMSG.pack(0, interface, 0, EGRESS, 0)):
            _, _, handle, _, info = TCMSG.unpack_from(body)
            data = attributes(body[TCMSG.size :])
            options = attributes(data.get(TCA_OPTIONS, b""))
            if _text(data.get(TCA_KIND, b"")) == "bpf" and TCA_BPF_ID in options:
                number = int(struct.unpack("=I", options[TCA_BPF_ID])[0])
                found.append(Classifier(_text(options.get(TCA_BPF_NAME, b"")), info >> 16, handle, number))
        return found

    def set_root(self, interface: int, kind: str, handle: int, options: Mapping[int, bytes], *, new: bool) -> None:
        """Set the root discipline; `new`: it must not be there yet."""
        body = TCMSG.pack(0, interface, handle, ROOT, 0) + text(TCA_KIND, kind)
        body += attribute(TCA_OPTIONS, b"".join(attribute(key, value) for key, value in options.items()))
        self._do(RTM_NEWQDISC, CREATE | EXCL if new else 0, body, f"setting {kind} as the root discipline")

    def remove_root(self, interface: int) -> None:
        """Remove the root discipline with what waits in it."""
        self._do(RTM_DELQDISC, 0, TCMSG.pack(0, interface, 0, ROOT, 0), "removing the root discipline")

    def add_clsact(self, interface: int) -> None:
        """Make the hooks that classifiers hang on."""
        body = TCMSG.pack(0, interface, INGRESS_HANDLE, INGRESS, 0) + text(TCA_KIND, "clsact")
        self._do(RTM_NEWQDISC, CREATE | EXCL, body, "adding clsact")

    def remove_clsact(self, interface: int) -> None:
        """Remove them, with all classifiers."""
        body = TCMSG.pack(0, interface, INGRESS_HANDLE, INGRESS, 0) + text(TCA_KIND, "clsact")
        self._do(RTM_DELQDISC, 0, body, "removing clsact")

    def add_classifier(self, interface: int, name: str, program: int, priority: int, *, new: bool = True) -> None:
        """Have an open program look at all that leaves and decide about it; not `new`: in place of the one there."""
        info = priority << 16 | socket.htons(ETH_P_ALL)
        options = attribute(TCA_BPF_FD, struct.pack("=I", program)) + text(TCA_BPF_NAME, name)
        options += attribute(TCA_BPF_FLAGS, struct.pack("=I", TCA_BPF_FLAG_ACT_DIRECT))
        body = TCMSG.pack(0, interface, 1, EGRESS, info) + text(TCA_KIND, "bpf") + attribute(TCA_OPTIONS, options)
        self._do(RTM_NEWTFILTER, CREATE | EXCL if new else 0, body, f"adding the classifier {name}")

    def remove_classifier(self, interface: int, classifier: Classifier) -> None:
        """Remove one; its program and maps go with it if nobody else holds them."""
        info = classifier.priority << 16 | socket.htons(ETH_P_ALL)
        body = TCMSG.pack(0, interface, classifier.handle, EGRESS, info) + text(TCA_KIND, "bpf")
        self._do(RTM_DELTFILTER, 0, body, f"removing the classifier {classifier.name}")

    def has_filters(self, interface: int) -> bool:
        """Whether a filter of any kind hangs on clsact's hooks."""
        hooks = (INCOMING, EGRESS)
        return any(True for hook in hooks for _ in self._dump(RTM_GETTFILTER, TCMSG.pack(0, interface, 0, hook, 0)))

    def _dump(self, kind: int, body: bytes) -> Iterator[bytes]:
        self.sequence += 1
        self.socket.send(message(kind, DUMP, self.sequence, body))
        while True:
            for found, answer in messages(self.socket.recv(1 << 17)):
                if found == NLMSG_DONE:
                    return
                if found == NLMSG_ERROR:
                    number = error(answer)
                    raise OSError(number, f"asking the kernel for what tc has set: {os.strerror(number)}")
                yield answer

    def _do(self, kind: int, flags: int, body: bytes, what: str) -> None:
        self.sequence += 1
        self.socket.send(message(kind, ACK | flags, self.sequence, body))
        for found, answer in messages(self.socket.recv(1 << 16)):
            if found == NLMSG_ERROR and (number := error(answer)):
                raise OSError(number, f"{what}: {os.strerror(number)}")


def _text(data: bytes) -> str:
    return data.rstrip(b"\0").decode("utf-8", "replace")
