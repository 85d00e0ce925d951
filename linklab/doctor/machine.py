# SPDX-License-Identifier: BSD-3-Clause
"""The machine this runs on → a list of checks: what labs in the pocket kernel need, what was found, and the cure.

`examine` looks at the machine and calls the `check_…` functions, which judge what they are given and nothing else. It
changes nothing and needs no rights.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from linklab import native, pocket_kernel
from linklab.base import installation, place
from linklab.engine import bytecode
from linklab.errors import TO_COPY, MissingError

Status = Literal["ok", "warn", "missing"]
_GIB = 1024**3
OF_THE_POCKET = ("pocket kernel", "place for memory", "seccomp", "compiled code", "sandbox")
"""Checks of what the pocket alone needs; not made where its kernel cannot run."""
PIPE_COLUMNS = 4096
"""Columns of the table where no terminal limits them: a path is at most that long (PATH_MAX)."""


@dataclass(frozen=True)
class MachineCheck:
    """One finding. "missing" keeps labs from running, "warn" takes something away; cure: what to do, "" if ok."""

    name: str
    status: Status
    found: str
    cure: str = ""


@dataclass(frozen=True)
class Tool:
    """A program, the package it comes in, and what cannot be done without it; needed: no lab runs without it."""

    program: str
    package: str
    use: str
    needed: bool = True


TOOLS = (
    Tool("mnexec", "mininet", "networks"),
    Tool("ovs-vsctl", "openvswitch-switch", "switches"),
    Tool("ip", "iproute2", "networks"),
    Tool("tc", "iproute2", "queueing disciplines"),
    Tool("ifconfig", "net-tools", "Mininet's set-up of hosts"),
    Tool("ethtool", "ethtool", "Mininet's link options"),
    Tool("ping", "iputils-ping", "labs"),
    Tool("iperf3", "iperf3", "labs"),
    Tool("brctl", "bridge-utils", "Linux bridges in Mininet", needed=False),
    Tool("jq", "jq", "reading results by hand", needed=False),
    Tool("ovs-testcontroller", "openvswitch-testcontroller", "Lab 1's `sudo mn`", needed=False),
    Tool("tcpdump", "tcpdump", "captures", needed=False),
    Tool("traceroute", "traceroute", "the path of packets", needed=False),
    Tool("tracepath", "iputils-tracepath", "the path of packets and its MTU", needed=False),
    Tool("mtr", "mtr-tiny", "loss and delay along a path", needed=False),
    Tool("htop", "htop", "what runs in a network", needed=False),
    Tool("dhclient", "isc-dhcp-client", "addresses by DHCP", needed=False),
    Tool("fping", "fping", "the round-trip times of named tests", needed=False),
    Tool("irtt", "irtt", "the UDP probes of named tests", needed=False),
    Tool("curl", "curl", "the page fetches of named tests", needed=False),
    Tool("stress-ng", "stress-ng", "the processor load of named tests", needed=False),
    Tool("xterm", "xterm", "terminal windows", needed=False),
    Tool("bwrap", "bubblewrap", "grading what others handed in", needed=False),
)


@dataclass(frozen=True)
class Module:
    """A Python module; package: what to install it from, "" where pip did with Linklab."""

    name: str
    package: str
    use: str
    needed: bool = True


MODULES = (
    Module("mininet", "mininet", "networks"),
    Module("matplotlib", "python3-matplotlib", "plots"),
    Module("numpy", "python3-matplotlib", "plots"),
    Module("markdown_it", "", "manuals"),
    Module("jinja2", "", "reports"),
    Module("tkinter", "python3-tk", "the editor", needed=False),
)


@dataclass(frozen=True)
class MemoryPlace:
    """A folder that could hold the pocket's memory, and why memory for all labs or for the slow ones cannot lie there.

    Both are None where it can (`linklab.base.place.why_not`).
    """

    folder: str
    why_not_all: str | None
    why_not_slow: str | None


def examine() -> list[MachineCheck]:
    """Look at this machine; takes about half a second."""
    environment = dict(os.environ)
    search = os.pathsep.join([environment.get("PATH", ""), "/usr/sbin", "/sbin"])  # a user's PATH may lack sbin
    packages = _package_versions({tool.package for tool in TOOLS} | {"python3-matplotlib", "python3-tk"})
    checks = [
        check_architecture(platform.system(), platform.machine()),
        _look_for_kernel(),
        check_memory(_available_bytes()),
        check_place([_look(folder) for folder in place.candidates()]),
        check_seccomp(_read("/proc/sys/kernel/seccomp/actions_avail")),
        check_compiled(bytecode.unwritable(Path(__file__).resolve().parents[1])),
        check_native(native.lacking()),
        *(check_tool(tool, shutil.which(tool.program, path=search), packages) for tool in TOOLS),
        *(check_module(module, importlib.util.find_spec(module.name) is not None, packages) for module in MODULES),
        _look_for_sandbox(),
        check_display(environment),
    ]
    return [check for check in checks if pocket_kernel.runs_here() or check.name not in OF_THE_POCKET]


def labs_can_run(checks: Iterable[MachineCheck]) -> bool:
    """Whether nothing that every lab needs is missing."""
    return all(check.status != "missing" for check in checks)


def check_architecture(system: str, machine: str) -> MachineCheck:
    """The pocket kernel is a Linux program for x86-64; Linux on another processor has the host engine."""
    found = f"{system} {machine}"
    if pocket_kernel.runs_on(system, machine):
        return MachineCheck("architecture", "ok", found)
    status: Status = "warn" if system == "Linux" else "missing"
    return MachineCheck("architecture", status, f"{found}; {pocket_kernel.ONLY}", pocket_kernel.instead(system))


def check_native(lacking: Sequence[Path]) -> MachineCheck:
    """Our shared objects are compiled; without them named tests take longer and give other numbers."""
    if not lacking:
        return MachineCheck("shared objects", "ok", "compiled")
    names = ", ".join(source.name for source in lacking)
    cure = "sudo apt-get install gcc libc6-dev, then start a network, which compiles them"
    return MachineCheck("shared objects", "warn", f"{names}: not compiled, named tests take longer", cure)


def check_kernel(found: str | None) -> MachineCheck:
    """The pocket kernel has been built for this version of Linklab."""
    if found is None:
        return MachineCheck("pocket kernel", "missing", "not built", pocket_kernel.how_to_build())
    return MachineCheck("pocket kernel", "ok", found)


def _look_for_kernel() -> MachineCheck:
    try:
        built = pocket_kernel.find()
    except MissingError as error:
        return MachineCheck("pocket kernel", "missing", "cannot be built", str(error))
    return check_kernel(None if built is None else f"Linux {built.version}, {built.path}")


def check_memory(available_bytes: int | None) -> MachineCheck:
    """Memory that a pocket can take: 200 MB do for 1 Gbps, 10 Gbps with deep buffers fills some 2 GiB."""
    if available_bytes is None:
        return MachineCheck("memory", "warn", "unknown", "make sure that 2 GiB are free")
    found = f"{available_bytes / _GIB:.1f} GiB available"
    if available_bytes >= 2 * _GIB:
        return MachineCheck("memory", "ok", found)
    if available_bytes >= _GIB // 2:
        return MachineCheck("memory", "warn", found, "for labs at 10 Gbps close other programs until 2 GiB are free")
    return MachineCheck(
        "memory", "missing", found, "close other programs until 0.5 GiB is free; 2 GiB for labs at 10 Gbps"
    )


def check_place(places: Sequence[MemoryPlace]) -> MachineCheck:
    """A folder for the file behind the pocket's memory: writable, executable (Docker's /dev/shm is not), with room."""
    cure = "set LINKLAB_TMP to a folder with 1 GiB free on a file system that is not mounted noexec"
    for option in places:
        if option.why_not_all is None:
            return MachineCheck("place for memory", "ok", option.folder)
    for option in places:
        if option.why_not_slow is None:
            found = f"{option.folder}, too small for labs at 10 Gbps: {option.why_not_all}"
            return MachineCheck("place for memory", "warn", found, cure)
    reasons = "; ".join(f"{option.folder} {option.why_not_slow}" for option in places)
    return MachineCheck("place for memory", "missing", reasons or "no folder", cure)


def check_seccomp(actions: str | None) -> MachineCheck:
    """The pocket catches system calls with seccomp's trap and its notifications (seccomp(2)), or with slower ptrace."""
    missing = [action for action in ("trap", "user_notif") if action not in (actions or "").split()]
    if not missing:
        return MachineCheck("seccomp", "ok", "trap and user_notif available")
    cure = "run outside of a sandbox that hides seccomp; labs run 1.6 times as long with ptrace"
    return MachineCheck("seccomp", "warn", f"no {' and no '.join(missing)}", cure)


def check_compiled(unwritable: Sequence[Path]) -> MachineCheck:
    """Whether our modules are compiled for the inside of a pocket, or can be; else each start there compiles them."""
    if not unwritable:
        return MachineCheck("compiled code", "ok", "compiled code can be kept")
    found = f"{unwritable[0].parent} takes no compiled code of yours ({len(unwritable)} modules), so Linklab's own"
    cure = "use a clone of your own, or let the owner of that folder run a lab once; "
    cure += "where Linklab came as a package: sudo dpkg-reconfigure linklab"
    return MachineCheck("compiled code", "warn", f"{found} commands start more slowly in a network", cure)


def check_sandbox(why_not: str | None, as_whom: str = "") -> MachineCheck:
    """Whether grading can confine what others handed in; why_not, as_whom: what `linklab.grade` says of it."""
    if why_not is None:
        return MachineCheck("sandbox", "ok", f"bubblewrap starts programs, {as_whom}")
    return MachineCheck("sandbox", "warn", "none; needed for grading what others handed in", why_not)


def _look_for_sandbox() -> MachineCheck:
    from linklab.grade.bubblewrap import as_whom, why_not
    from linklab.grade.scope import what_holds

    try:
        why = why_not()
        return check_sandbox(why, "" if why else f"{as_whom()}; {what_holds()}")
    except MissingError as error:
        return check_sandbox(str(error))


def check_tool(tool: Tool, path: str | None, packages: Mapping[str, str]) -> MachineCheck:
    """A program; packages: versions of installed Debian packages."""
    return _part(tool.program, tool, path, packages)


def check_module(module: Module, present: bool, packages: Mapping[str, str]) -> MachineCheck:
    """A Python module that this interpreter finds."""
    return _part(f"python: {module.name}", module, "present" if present else None, packages)


def check_display(environment: Mapping[str, str]) -> MachineCheck:
    """Whether windows can be opened."""
    for name in ("WAYLAND_DISPLAY", "DISPLAY"):
        if environment.get(name):
            return MachineCheck("display", "ok", f"{name}={environment[name]}")
    return MachineCheck(
        "display", "warn", "none", "log in to a desktop to see windows; without one plots are written to files"
    )


def render(checks: Iterable[MachineCheck]) -> None:
    """Print a table and a verdict on the terminal."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    checks = list(checks)
    colours = {"ok": "green", "warn": "yellow", "missing": "red"}
    to_copy: list[str] = []
    table = Table("", "what", Column("found", overflow="fold"), Column("cure", overflow="fold"), box=None)
    for check in checks:
        colour = colours[check.status]
        cure, _, line = check.cure.partition(TO_COPY)
        to_copy += [f"{check.name}, the line:{TO_COPY}{line}"] if line else []
        table.add_row(f"[{colour}]{check.status}[/]", *map(escape, (check.name, check.found, cure)))
    console = Console()
    if not console.is_terminal:  # into a file or another program a line is a line
        console = Console(width=PIPE_COLUMNS)
    console.print(table)
    for text in to_copy:
        console.print(f"\n{text}", markup=False, highlight=False, soft_wrap=True)
    missing = [check.name for check in checks if check.status == "missing"]
    able = (
        "Labs can run here." if pocket_kernel.runs_here() else "Labs can run here, on the host engine: --engine host."
    )
    verdict = f"Labs cannot run here yet; missing: {', '.join(missing)}." if missing else able
    console.print(f"\n{verdict}", markup=False, soft_wrap=True)


def _part(name: str, part: Tool | Module, found: str | None, packages: Mapping[str, str]) -> MachineCheck:
    if found is not None:
        version = packages.get(part.package)
        return MachineCheck(name, "ok", f"{part.package} {version}" if version else found)
    cure = f"sudo apt-get install {part.package}" if part.package else _pips_cure()
    return MachineCheck(name, "missing" if part.needed else "warn", f"not found; needed for {part.use}", cure)


def _pips_cure() -> str:
    """What brings back a module that came with Linklab itself."""
    return "install Linklab again" if installation.installed() else "make setup"


def _available_bytes() -> int | None:
    """MemAvailable (proc(5)), or what the control group still allows if that is less (cgroup v2, memory.max)."""
    lines = (_read("/proc/meminfo") or "").splitlines()
    free = [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    limit, used = _read("/sys/fs/cgroup/memory.max"), _read("/sys/fs/cgroup/memory.current")
    if limit and used and limit.strip().isdecimal():
        free.append(max(0, int(limit) - int(used)))
    return min(free, default=None)


def _look(folder: Path) -> MemoryPlace:
    return MemoryPlace(str(folder), *(place.why_not(folder, size_bytes) for size_bytes in (4 * _GIB, _GIB)))


def _package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Versions of those that dpkg has installed; none on a system without dpkg."""
    shown = "${db:Status-Status} ${Package} ${Version}\n"
    lines = (_output(["dpkg-query", "-W", f"-f={shown}", *sorted(packages)]) or "").splitlines()
    words = [line.split() for line in lines]
    return {word[1]: word[2] for word in words if len(word) == 3 and word[0] == "installed"}


def _output(command: list[str]) -> str | None:
    """Standard output whatever the exit code; None if the program is not there or takes over 10 s."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=10, env={**os.environ, "LC_ALL": "C"}
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None


def _read(path: str) -> str | None:
    try:
        return Path(path).read_text(encoding="utf-8")
    except OSError:
        return None
