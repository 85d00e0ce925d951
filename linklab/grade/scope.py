# SPDX-License-Identifier: BSD-3-Clause
"""What grading a submission may take of this machine, where systemd gives a control group: a scope with limits.

    limits → a scope of systemd's that this process moves into, and all that it starts with it

A scope also counts what no sum of processes' memory shows, such as buffers of sockets.  It is the last resort: systemd
ends all that is in a scope of which the kernel had to end a process (systemd 252; OOMPolicy in later ones).  Sources:
systemd.scope(5), systemd.resource-control(5), org.freedesktop.systemd1(5), busctl(1), cgroups(7).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.grade.limits import Limits

GROUPS = Path("/sys/fs/cgroup")
"""Where control groups of version 2 are mounted (cgroups(7))."""
BOOTED = Path("/run/systemd/system")
"""Is there where systemd is the first process (sd_booted(3))."""
_OWN = Path("/proc/self/cgroup")
_SPARE_BYTES = 2**29
"""For what the machine's kernel keeps for an honest network, which is far less."""
_SPARE_TASKS = 64
_SHARE_OF_MACHINE = 0.9
_PAGE = os.sysconf("SC_PAGE_SIZE")  # the kernel keeps whole pages
_ASK_S = 10.0
_MOVED_S = 5.0


@dataclass(frozen=True)
class ScopeLimits:
    """memory_bytes: of all processes and what the kernel keeps for them; tasks: processes and threads."""

    memory_bytes: int
    tasks: int


def limits_of(grader_bytes: int, machine: int | None = None, network: Limits | None = None) -> ScopeLimits:
    """What grading a submission may take: the sum of its limits, and never the machine's last tenth.

    Args:
        grader_bytes: memory of the process that grades.
        machine: memory of the machine, bytes; None asks it.
        network: limits of its networks, of which there is one at a time.
    """
    network = network or Limits()
    machine = os.sysconf("SC_PHYS_PAGES") * _PAGE if machine is None else machine
    wanted = grader_bytes + (network.memory_mib + network.work_mib + network.own_mib) * 2**20 + _SPARE_BYTES
    memory = min(wanted, int(machine * _SHARE_OF_MACHINE))
    return ScopeLimits(memory - memory % _PAGE, network.processes + _SPARE_TASKS)


def enter(limits: ScopeLimits) -> str:
    """Move this process into a scope with these limits, where one can be had; what went wrong, in words, else "".

    A process that already has a limit of memory keeps that one.
    """
    if limit_of(own_group()) is not None or why_none():
        return ""
    name = f"linklab-grade-{os.getpid()}.scope"
    try:
        asked = _busctl("--quiet", "call", *_wanted(name, limits))
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"systemd does not answer ({error})"
    if asked.returncode:
        return f"systemd makes no scope ({' '.join(asked.stderr.split())})"
    until = time.monotonic() + _MOVED_S
    while (group := own_group()).name != name:
        if time.monotonic() > until:
            return "systemd has not moved this process into the scope that it made"
        time.sleep(0.01)
    return "" if limit_of(group) == limits.memory_bytes else "the scope that systemd made does not limit memory"


def what_holds() -> str:
    """Which limit of memory holds for all that grading a submission takes, as words of `linklab doctor`."""
    if (most := limit_of(own_group())) is not None:
        return f"a limit of {most / 2**30:.1f} GiB of memory that is there already holds for all of it"
    if why := why_none():
        return f"no limit of memory but the sandbox's own ({why})"
    return "each submission in a scope of systemd's"


def why_none() -> str:
    """Why systemd could not be asked for a scope, in words; "" where it can."""
    try:
        controllers = (GROUPS / "cgroup.controllers").read_text(encoding="utf-8").split()
    except OSError:
        return "this machine has no control groups of version 2"
    if not {"memory", "pids"} <= {*controllers}:
        return "the control groups of this machine limit no memory or no processes"
    if not BOOTED.is_dir() or shutil.which("busctl") is None:
        return "no systemd manages this machine"
    try:
        answers = _busctl("status").returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        answers = False
    return "" if answers else "systemd does not answer this user, as without a session of one's own"


def _busctl(*words: str) -> subprocess.CompletedProcess[str]:
    """Talk to systemd: that of the machine as root, else that of the user."""
    return subprocess.run(
        ["busctl", "--system" if os.geteuid() == 0 else "--user", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_ASK_S,
        env={**os.environ, "LC_ALL": "C"},
    )


def own_group() -> Path:
    """The control group of this process below the mount of version 2."""
    try:
        lines = _OWN.read_text(encoding="utf-8").splitlines()
    except OSError:  # a kernel without control groups
        return GROUPS
    return next((GROUPS / line[3:].lstrip("/") for line in lines if line.startswith("0::")), GROUPS)


def limit_of(group: Path) -> int | None:
    """Return the smallest memory limit of a group and its parents, in bytes; None if none of them has one."""
    found = []
    for each in (group, *group.parents):
        if not each.is_relative_to(GROUPS):
            break
        try:
            text = (each / "memory.max").read_text(encoding="utf-8").strip()
        except OSError:  # the root has none
            continue
        found += [int(text)] if text.isdecimal() else []
    return min(found, default=None)


def _wanted(name: str, limits: ScopeLimits) -> Sequence[str]:
    """The call of StartTransientUnit as busctl takes it."""
    numbers: Mapping[str, int] = {"MemoryMax": limits.memory_bytes, "MemorySwapMax": 0, "TasksMax": limits.tasks}
    properties = ["PIDs", "au", "1", str(os.getpid())]
    for key, value in numbers.items():
        properties += [key, "t", str(value)]
    properties += ["CollectMode", "s", "inactive-or-failed"]
    manager = ("org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager")
    count = str(len(numbers) + 2)
    return [*manager, "StartTransientUnit", "ssa(sv)a(sa(sv))", name, "fail", count, *properties, "0"]
