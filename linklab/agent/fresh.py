# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.fresh`: undo what was set in the running network since it was started.

`record` keeps what a network is like when it has just been built; `changes` compares that with what it is like now, and
`main` makes the changes, so that a lab's set_env.sh begins from a known state.  Covered: queueing disciplines, MTU,
queue length, offloads, GSO limits and state of each port, the sysctls of each node, parameters of congestion controls,
and what computing costs.  Addresses and routes are left alone.  Root in the root namespace; standard library only.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from linklab.agent import cpu_profile, namespace_state
from linklab.agent.node_state import CLIENT, nodes, state
from linklab.linux import route_attributes as attr
from linklab.linux.netlink import attributes

NAME = "fresh.json"
NO_RECORD = 3
MOST_NODES = 100
"""Of a larger network no record is kept: reading it would delay the start, and no lab has as many."""
SYSCTL_FOLDERS = ("net/core", "net/ipv4")
SYSCTLS = Path("/proc/sys")
MODULES = Path("/sys/module")
MOST_BYTES = 65536
"""Of the value of a sysctl; the kernel gives it in one piece."""
GSO_LIMITS = {"gso_max_size": attr.IFLA_GSO_MAX_SIZE, "gso_max_segs": attr.IFLA_GSO_MAX_SEGS}
"""By the words of ip-link(8); no exercise sets them, so they are not part of a node's state."""
NO_QUEUE = "0:"
"""The handle of the discipline that the kernel gives an interface by itself (tc(8)), and which cannot be deleted."""
AT_INGRESS = "ffff:fff1"
AGAIN = "end the network and start it again"


class Undoing(NamedTuple):
    """A command that undoes something, where it is typed, and what it undoes, in words."""

    on: str
    argv: list[str]
    undoes: str


def record(place: Path, count: int, files: Mapping[str, str]) -> None:
    """Keep what the network is like now, unless it is a large one.

    Args:
        place: the file that `main` reads.
        count: how many nodes the network has.
        files: what is about to be written before time begins, with the prices of computing among it.
    """
    if count <= MOST_NODES:
        prices = {str(cpu_profile.PARAMETERS / name) for name in cpu_profile.PRICES}
        kept = {path: text.strip() for path, text in files.items() if path in prices}
        place.write_text(json.dumps({**_now(), "parameters": {**_parameters(), **kept}}), encoding="utf-8")


def _now() -> dict[str, Any]:
    return {"nodes": state(_node)["nodes"]}


def _node(wanted: re.Pattern[str]) -> dict[str, Any]:
    """Interfaces and sysctls of the namespace that this thread is in."""
    interfaces = namespace_state.node(wanted)["interfaces"]
    with contextlib.closing(namespace_state.Netlink()) as netlink:
        for body in netlink.dump(attr.RTM_GETLINK, struct.pack("=BxHiII", 0, 0, 0, 0, 0)):
            data = attributes(body[16:])
            name = data[attr.IFLA_IFNAME].rstrip(b"\0").decode("utf-8", "replace")
            if name in interfaces:
                limits = {word: struct.unpack("=I", data[kind])[0] for word, kind in GSO_LIMITS.items()}
                interfaces[name].update(limits)
    return {"interfaces": interfaces, "sysctls": _sysctls()}


def _sysctls() -> dict[str, str]:
    """The sysctls of this namespace that can be set, by name.

    Without a Path, which takes twice as long: there are hundreds of them for each node.
    """
    found = {}
    for folder in SYSCTL_FOLDERS:
        for name in sorted(each.name for each in os.scandir(SYSCTLS / folder)):
            if "key" in name:  # that of TCP Fast Open is drawn by chance, and nobody sets it
                continue
            with contextlib.suppress(OSError):  # write-only, or not of this namespace
                file = os.open(f"{SYSCTLS}/{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
                try:
                    mode = os.fstat(file).st_mode
                    if stat.S_ISREG(mode) and mode & 0o200:
                        value = os.read(file, MOST_BYTES).decode()
                        found[f"{folder}/{name}".replace("/", ".")] = " ".join(value.split())
                finally:
                    os.close(file)
    return found


def _parameters() -> dict[str, str]:
    """The parameters of congestion controls and the prices of computing, by the paths of their files."""
    files = [*MODULES.glob("tcp_*/parameters/*"), *(cpu_profile.PARAMETERS / name for name in cpu_profile.PRICES)]
    found = {}
    for file in sorted(files):
        with contextlib.suppress(OSError):
            if file.stat().st_mode & 0o200:
                found[str(file)] = file.read_text().strip()
    return found


def changes(was: Mapping[str, Any], now: Mapping[str, Any]) -> tuple[list[Undoing], list[str]]:
    """What makes the nodes of `now` like those of `was`, and what cannot be undone, as sentences."""
    found: list[Undoing] = []
    left: list[str] = []
    for on, before in was["nodes"].items():
        after = now["nodes"].get(on)
        if after is None:
            left.append(f"node {on} is gone: {AGAIN}")
            continue
        for name, interface in before["interfaces"].items():
            if name not in after["interfaces"]:
                left.append(f"{name} is gone: {AGAIN}")
            else:
                _port(Undoing(on, [], name), interface, after["interfaces"][name], found, left)
        for name, value in before["sysctls"].items():
            if after["sysctls"].get(name, value) != value:
                found.append(Undoing(on, ["sysctl", "-qw", f"{name}={value}"], name))
    for path, value in was["parameters"].items():
        if now["parameters"].get(path, value) != value:
            what = f"{Path(path).name} of {Path(path).parents[1].name}"
            found.append(Undoing(CLIENT, ["sh", "-c", 'echo "$1" >"$2"', "sh", value, path], what))
    return found, left


def _port(port: Undoing, was: Mapping[str, Any], now: Mapping[str, Any], found: list[Undoing], left: list[str]) -> None:
    """Add what one interface needs; `port` says which it is."""
    on, _, name = port
    queues = ("qdiscs", "classes", "filters")
    if any(was[kind] != now[kind] for kind in queues):
        if any(qdisc["handle"] != NO_QUEUE for qdisc in was["qdiscs"]):
            left.append(
                f"{name} had queueing disciplines when the network was started, and they were changed since: "
                f"{AGAIN} to have them back"
            )
        else:
            own = [qdisc for qdisc in now["qdiscs"] if qdisc["handle"] != NO_QUEUE]
            # tc names what is at ingress by its kind: ingress or clsact
            for place in sorted({qdisc["kind"] if qdisc["parent"] == AT_INGRESS else "root" for qdisc in own}):
                argv = ["tc", "qdisc", "del", "dev", name, place]
                found.append(Undoing(on, argv, f"queueing disciplines of {name}"))
    for field, word in (("mtu", "mtu"), ("txqlen", "txqueuelen"), *((word, word) for word in GSO_LIMITS)):
        if was[field] != now[field]:
            found.append(Undoing(on, ["ip", "link", "set", "dev", name, word, str(was[field])], f"{word} of {name}"))
    if was["up"] != now["up"]:
        found.append(Undoing(on, ["ip", "link", "set", "dev", name, "up" if was["up"] else "down"], f"state of {name}"))
    before, after = was.get("features", {}), now.get("features", {})
    words = [
        word for key, on_ in before.items() if after.get(key, on_) != on_ for word in (key, "on" if on_ else "off")
    ]
    if words:
        found.append(Undoing(on, ["ethtool", "-K", name, *words], f"offloads of {name}"))


def _run(running: Mapping[str, int], on: str, argv: list[str]) -> subprocess.CompletedProcess[str]:
    where = [] if on == CLIENT else ["mnexec", "-a", str(running[on])]
    return subprocess.run([*where, *argv], capture_output=True, text=True, errors="replace", check=False)


def main() -> int:
    """Undo, and say what; NO_RECORD where nothing was recorded, 1 where something could not be undone."""
    place = Path(os.environ.get("LINKLAB_RC", "/run/linklab/bashrc")).with_name(NAME)
    if not place.exists():
        return NO_RECORD
    try:
        now = {**_now(), "parameters": _parameters()}
    except OSError as error:
        return _told([f"what the network is set to cannot be read: {error}"])
    try:
        wanted, left = changes(json.loads(place.read_text(encoding="utf-8")), now)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        return _told([f"{place}, what the network was like when it was started, cannot be read: {error}; {AGAIN}"])
    running = nodes()
    undone: dict[str, dict[str, None]] = {}
    for change in wanted:
        done = _run(running, change.on, change.argv)
        if done.returncode:
            left.append(f"{change.on}: {change.undoes} could not be undone: {' '.join(done.stderr.split())}")
        else:
            undone.setdefault(change.on, {})[change.undoes] = None
    for on, what in undone.items():
        print(f"{on}: undone: {', '.join(what)}", flush=True)
    return _told(left)


def _told(left: list[str]) -> int:
    """Say what could not be undone; the exit status."""
    for sentence in left:
        print(f"set_env.sh: {sentence}", file=sys.stderr)
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
