# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.node_state`: what every node of the running network is set to, as JSON.

Run as root in the root namespace, beside Mininet; read by `linklab.state.model`, which holds the format.
Starts no process: it enters the network namespace of each node's shell, which carries `mininet:NAME` in its command
line, and asks the kernel there over rtnetlink, ethtool's ioctl and /proc/sys.
It must not change anything, and must live with whatever a student's network holds.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linklab.agent.namespace_state import node
from linklab.linux.kernelcalls import CLONE_NEWNET, setns

FORMAT = 1
CLIENT = "client"
SCRIPTS = Path("/run/linklab/set_env")
"""A line for each lab's set_env.sh that has begun here: its process and when that started (proc_pid_stat(5), 22)."""
MOST_BYTES = 65536
MOST_LOOKED_AT = 100
"""Of that file, and of its lines."""
NODE_NAME = re.compile(r"\0mininet:([A-Za-z0-9_.-]{1,15})\0?\Z")


def nodes(proc: Path = Path("/proc")) -> dict[str, int]:
    """Mininet's nodes and a process on each: its shell, or what stays there in its place (`linklab.agent.many`)."""
    found: dict[str, tuple[int, int]] = {}
    for folder in proc.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            name = NODE_NAME.search((folder / "cmdline").read_text("latin-1"))
            started = int((folder / "stat").read_text("latin-1").rpartition(")")[2].split()[19])
        except (OSError, ValueError, IndexError):
            continue
        if name and (started, int(folder.name)) < found.get(name[1], (1 << 63, 0)):
            found[name[1]] = (started, int(folder.name))
    return {name: pid for name, (_, pid) in sorted(found.items())}


def state(read: Callable[[re.Pattern[str]], dict[str, Any]] = node) -> dict[str, Any]:
    """Of all nodes; a switch lives in the root namespace, so its interfaces are the client's.

    read: gives what is wanted of the namespace that this thread is in, of the interfaces with such names.
    """
    here = Path("/proc/self/ns/net").stat().st_ino
    at_root, elsewhere = [], {}
    for name, pid in nodes().items():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/ns/net").stat().st_ino == here:
                at_root.append(name)
            else:
                elsewhere[name] = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    named = "|".join(re.escape(name) for name in at_root) or "(?!)"
    found = {CLIENT: read(re.compile(rf"(?:{named})(?:-eth.*)?"))}
    root = os.open("/proc/self/ns/net", os.O_RDONLY)
    for name, namespace in elsewhere.items():
        setns(namespace, CLONE_NEWNET)
        try:
            found[name] = read(re.compile(".*"))
        finally:
            setns(root, CLONE_NEWNET)
            os.close(namespace)
    return {"format": FORMAT, "nodes": found}


def scripts(place: Path = SCRIPTS, proc: Path = Path("/proc")) -> dict[str, Any]:
    """How many of a lab's set_env.sh have begun in this network, and whether one still runs; nothing where none has."""
    try:
        number = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:  # anybody may have made it, or written there
            lines = file.read(MOST_BYTES).splitlines() if stat.S_ISREG(os.fstat(number).st_mode) else []
    except OSError:
        return {}
    begun = [line.split() for line in lines]
    last = {(words[0], words[1]) for words in begun[-MOST_LOOKED_AT:] if len(words) == 2 and words[0].isdigit()}
    return {"set_env": {"begun": len(begun), "running": any(_runs(proc, *one) for one in last)}}


def _runs(proc: Path, pid: bytes, started: bytes) -> bool:
    with contextlib.suppress(OSError, IndexError):
        return (proc / pid.decode() / "stat").read_bytes().rpartition(b")")[2].split()[19] == started
    return False


def text() -> str:
    """The state, with the scripts, as JSON; OSError where it cannot be read."""
    return json.dumps({**state(), **scripts()}, separators=(",", ":"), sort_keys=True)


def main() -> int:
    """Print the state; 1 where that cannot be."""
    try:
        print(text())
    except OSError as error:
        print(f"node_state: the network's settings cannot be read: {error}; run it as root", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
