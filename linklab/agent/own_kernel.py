# SPDX-License-Identifier: BSD-3-Clause
"""What the agent sets in a kernel of its own, the pocket's, before the network is built; never on the host engine.

Linux computes some limits at boot from the memory that is left beside its own image, so another compiler, or one option
more, gives other values, and a flow that meets a limit then behaves differently. Here they are the same in every
pocket: what one with 2048 MiB computes, rounded.
"""

from __future__ import annotations

import re
import resource
from pathlib import Path
from typing import Any

LIMITS = {
    # net/ipv4/tcp.c, tcp_init: pages of all sockets together. Beyond the second value TCP is "under memory pressure"
    # and grows no receive window, which several flows of 10 Gbps with buffers of a BDP reach.
    "net/ipv4/tcp_mem": "24000 32000 48000",
    "net/ipv4/tcp_rmem": "4096 131072 16384000",
    "net/ipv4/udp_mem": "48000 64000 96000",  # net/ipv4/udp.c, udp_init
    "net/sctp/sctp_mem": "48000 64000 96000",  # net/sctp/protocol.c, sctp_init
    "net/sctp/sctp_rmem": "4096 865500 2048000",
    "net/sctp/sctp_wmem": "4096 16384 2048000",
    "net/netfilter/nf_conntrack_max": "65536",  # net/netfilter/nf_conntrack_core.c, nf_conntrack_init_start
    "fs/file-max": "205000",  # fs/file_table.c, files_maxfiles_init
    "fs/epoll/max_user_watches": "457000",  # fs/eventpoll.c
    "fs/inotify/max_user_watches": "20000",  # fs/notify/inotify/inotify_user.c
    "kernel/threads-max": "16000",  # kernel/fork.c, set_max_threads
    **{f"user/max_{kind}_namespaces": "8000" for kind in ("cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts")},
    "vm/min_free_kbytes": "6000",  # mm/page_alloc.c, calculate_min_free_kbytes
    "vm/user_reserve_kbytes": "64000",  # mm/mmap.c, init_user_reserve
}
"""Paths below /proc/sys. Sizes of hash tables come from memory too, but are powers of two far from the next."""
PROCESSES = 8000
"""RLIMIT_NPROC and RLIMIT_SIGPENDING, half of threads-max in Linux (kernel/fork.c, fork_init)."""
SYSCTLS = Path("/proc/sys")
PARAMETERS = Path("/sys/module/pocket/parameters")
"""What the pocket's kernel can be told, and tells (kernel/README.md)."""


def set_limits() -> None:
    """Set what this kernel has of LIMITS, and look whether it is set; OSError if it is not.

    tcp_rmem is copied by each network namespace that is made afterwards.
    """
    for name, value in LIMITS.items():
        path = SYSCTLS / name
        if path.exists():
            path.write_text(value)
            if path.read_text().split() != value.split():
                raise OSError(f"{path} is {path.read_text().strip()} after setting it to {value}")
    for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_SIGPENDING):
        resource.setrlimit(limit, (PROCESSES, PROCESSES))


def cost_nothing() -> None:
    """Let what this process does from now on take no network time; a child that it forks begins with the price."""
    path = PARAMETERS / "free"
    if path.exists():
        path.write_text("1")


def begin_chance() -> None:
    """Let chance begin anew from the seed: what programs drew while the kernel booted depends on the host's files."""
    path = PARAMETERS / "begin"
    if path.exists():
        path.write_text("1")


def computed() -> list[dict[str, Any]]:
    """The programs that computed so long without letting time pass that network time followed the processor's.

    Each has its name ("program"), the kernel's clock when that first happened ("clock_s") and how much time passed in
    this way ("s"), in seconds. If the list is empty, the run can be repeated.
    """
    path = PARAMETERS / "computed"
    if not path.exists():
        return []
    # prctl(PR_SET_NAME) allows any bytes in a name, line breaks too
    found = re.findall(r"^(\d+) (\d+) (.*)$", path.read_text(errors="replace"), re.MULTILINE)
    return [{"program": name, "clock_s": int(since) / 1e9, "s": int(lasted) / 1e9} for since, lasted, name in found]
