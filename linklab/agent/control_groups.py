# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.control_groups TOOL WORD…`: libcgroup's tools, with cpusets where the kernel has none.

A pocket has one processor and one memory node, both number 0, so its kernel has no cpusets; yet Mininet's
CPULimitedHost makes the groups cpu,cpuacct,cpuset:/NAME.  The cpuset part is done here: a group is a folder with the
files that the kernel would show, and the only processor that it can be given is 0.  The rest goes to the real tool.
The shims of the tools' names run this.  Sources: Documentation/admin-guide/cgroup-v1/cpusets.rst, cgcreate(1).
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

SETS = Path("/sys/fs/cgroup/cpuset")
FREE = Path("/sys/module/pocket/parameters/free")
"""Whether this process costs no network time (kernel/README.md)."""
ONLY = {"cpuset.cpus": "0", "cpuset.mems": "0"}
"""The files of a group, and the only value that each can have."""
CPUSET = "cpuset"


def main(tool: str, words: Sequence[str]) -> int:
    """Do what concerns cpusets and become the real tool for the rest; 1 if a processor other than 0 is asked for."""
    if os.environ.get("LINKLAB_ENGINE") == "host" or os.path.ismount(SETS):
        rest, status = list(words), 0
    elif tool in {"cgset", "cgget"}:
        rest, status = _settings(tool, words)
    else:
        rest, status = _groups(tool, words), 0
    if status == 0 and any(not word.startswith("-") for word in rest):
        sys.stdout.flush()
        if os.access(FREE, os.W_OK):  # we cost no network time in a pocket; what we become does
            FREE.write_text("0")
        os.execv(f"/usr/bin/{tool}", [tool, *rest])
    return status


def _groups(tool: str, words: Sequence[str]) -> list[str]:
    """Make or remove the cpuset of `cgcreate -g cpu,cpuset:/h1` and the like; the words left for the real tool."""
    rest, asked = list(words), False
    for word in words:
        controllers, colon, group = word.partition(":")
        if not colon or CPUSET not in controllers.split(","):
            asked |= bool(colon)
            continue
        folder = SETS / group.lstrip("/")
        if tool == "cgcreate":
            folder.mkdir(parents=True, exist_ok=True)
            for name, value in ONLY.items():
                (folder / name).write_text(f"{value}\n")
        elif tool == "cgdelete" and folder != SETS:
            shutil.rmtree(folder, ignore_errors=True)
        place = rest.index(word)
        if others := ",".join(name for name in controllers.split(",") if name != CPUSET):
            rest[place] = f"{others}:{group}"
            asked = True
        else:
            del rest[place - 1 if rest[place - 1] == "-g" else place : place + 1]
    return rest if asked else []


def _settings(tool: str, words: Sequence[str]) -> tuple[list[str], int]:
    """Set or show `cgset -r cpuset.cpus=0 /h1`, `cgget -r cpuset.cpus /h1`; the words left, and the exit status."""
    rest, ours = list(words), [word for word in words if word.startswith(f"{CPUSET}.")]
    for word in ours:
        place = rest.index(word)
        del rest[place - 1 : place + 1]
    groups = [word for word in rest if not word.startswith("-") and "=" not in word and not word.startswith("cpu")]
    if tool == "cgget":
        for group in groups:
            print(f"{group}:")
            for word in ours:
                print(f"{word}: {ONLY.get(word, '')}")
    for word in ours if tool == "cgset" else ():
        name, _, value = word.partition("=")
        if value not in {ONLY.get(name), "0-0"}:
            print(f"cgset: {word}: a pocket has one processor and one memory node, number 0", file=sys.stderr)
            return [], 1
    return (rest if "-r" in rest else []), 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
