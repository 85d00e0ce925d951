# SPDX-License-Identifier: BSD-3-Clause
"""What the agent sets in a pocket's kernel and asks of it; on the host engine the limits stay, the rest does nothing.

At boot Linux computes some limits from the memory that is left beside its own image, so another compiler or option
gives other values, and a flow that meets a limit behaves differently. `set_limits` makes them the same in every pocket:
the values of one with 2048 MiB, rounded. Parameters of the kernel: kernel/README.md.
"""

from __future__ import annotations

import os
import re
import resource
import threading
from pathlib import Path
from typing import Any

LIMITS = {
    # net/ipv4/tcp.c, tcp_init: pages of all sockets together. Beyond the second value, which several flows of 10 Gbps
    # with buffers of a BDP reach, TCP is "under memory pressure" and no longer grows a receive window.
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
"""Paths below /proc/sys, with their values. Hash tables need no entry: their sizes are powers of two, which a little
more or less memory does not change."""
PROCESSES = 8000
"""RLIMIT_NPROC and RLIMIT_SIGPENDING: half of threads-max, as in Linux (kernel/fork.c, fork_init)."""
FIRST_PROCESS = 150
"""ID of the first process after the boot, for which about 60 are used."""
SYSCTLS = Path("/proc/sys")
PARAMETERS = Path("/sys/module/pocket/parameters")
"""The pocket's part of the kernel as files; on another kernel the folder is not there."""


def set_limits() -> None:
    """Set those of LIMITS that this kernel has, and read them back; OSError if one has another value.

    Network namespaces that are made afterwards copy tcp_rmem.
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
    """Have this process take no network time from now on; the children that it forks do."""
    path = PARAMETERS / "free"
    if path.exists():
        path.write_text("1")


def not_ours(count: int) -> bytes:
    """Random bytes as a program draws them that is not free: of the run's seed, whatever ours have drawn.

    Only for a process that costs nothing, as it does again afterwards.
    """
    path = PARAMETERS / "free"
    if not path.exists():
        return os.urandom(count)
    path.write_text("0")
    try:
        return os.urandom(count)
    finally:
        path.write_text("1")


def begin_chance() -> None:
    """Begin chance anew from the seed: what programs drew while the kernel booted depends on the host's files.

    Their number does too, and a program's chance depends on its process ID, so IDs go on from a fixed one.
    """
    path = PARAMETERS / "begin"
    if path.exists():
        _use_process_ids_below(FIRST_PROCESS)
        path.write_text("1")


def _use_process_ids_below(first: int) -> None:
    """Let the next process have the ID `first`, unless it has a greater one: a thread takes an ID as a process does."""
    last = 0
    while last < first - 1:
        thread = threading.Thread(target=threading.get_native_id)
        thread.start()
        thread.join()
        last = thread.native_id or first


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
