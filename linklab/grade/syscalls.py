# SPDX-License-Identifier: BSD-3-Clause
"""The system calls that the grader's sandbox allows, as a program for the machine's kernel.

They are what the keeper (Python), the pocket's kernel, and its stubs need; any other ends the process by SIGSYS.

A program of the guest's makes the same calls, but the pocket's kernel answers those.  It takes them by a filter of its
own, by notification or by SIGSYS, and the host does what the strictest filter says (seccomp(2), "Filter return
values").  So what is refused here is refused by `SECCOMP_RET_TRAP`: a guest's call raises the SIGSYS that its stub
handles anyway, so the pocket's kernel still answers it.  `SECCOMP_RET_ERRNO` would win over a notification and answer
in the pocket's place.  `SECCOMP_RET_TRACE` would lose to one, and a program that has left the pocket's kernel can ask
to be notified of its own calls and let them continue (seccomp_unotify(2), SECCOMP_USER_NOTIF_FLAG_CONTINUE).
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
from typing import Any

from linklab.errors import MissingError

ALLOWED = (
    # memory, processes, signals
    *("arch_prctl", "brk", "mremap", "munmap"),
    *("execve", "execveat", "exit", "exit_group", "vfork", "wait4", "waitid", "kill", "tgkill"),
    *("pidfd_open", "restart_syscall", "setpgid"),
    *("rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigsuspend", "sigaltstack", "pause"),
    *("rseq", "set_robust_list", "set_tid_address"),
    *("sched_getaffinity", "sched_yield", "getrusage", "sysinfo", "uname", "getrandom"),
    *("getpid", "getppid", "gettid", "getpgrp", "getuid", "geteuid", "getgid", "getegid", "umask"),
    # time
    *("clock_getres", "clock_gettime", "clock_nanosleep", "gettimeofday", "nanosleep", "time"),
    *("timer_create", "timer_settime"),
    # files: hostfs, which shows the sandbox's to the guest
    *("access", "faccessat", "faccessat2", "stat", "fstat", "lstat", "newfstatat", "statx", "statfs", "fstatfs"),
    *("close", "close_range", "dup", "dup2", "dup3"),
    *("read", "pread64", "write", "writev", "pwrite64", "lseek"),
    *("fsync", "fdatasync", "ftruncate", "truncate"),
    *("getdents", "getdents64", "getcwd", "chdir", "fchdir", "mkdir", "mkdirat", "rmdir", "unlink", "unlinkat"),
    *("link", "linkat", "symlink", "symlinkat", "readlink", "readlinkat", "rename", "renameat", "renameat2"),
    *("mknod", "mknodat", "chmod", "fchmod", "fchmodat", "chown", "fchown", "fchownat"),
    *("utimes", "utimensat"),
    # waiting, and the two sockets and the pipes that the sandbox was given
    *("epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait", "epoll_pwait"),
    *("eventfd", "eventfd2", "signalfd", "signalfd4", "pipe", "pipe2"),
    *("getpeername", "getsockname", "shutdown"),
)
"""Those allowed whatever their arguments.

Not clone3, whose flags a filter cannot see, and not memfd_create, whose memory belongs to no process, so that nobody
could count it.  Not setsid, since Linux may divide processors among sessions (autogroup, sched(7)).  Not fadvise64,
which can drop files that the whole machine uses from the page cache.  Not fallocate, which can fill a container's disk
before anybody looks; the pocket's kernel has it only for its own block devices (ubd).  `program` allows more calls by
their arguments, open, openat, poll, and futex among them.

Made of the functions that the kernel is linked with (`nm -D`), with the other calls by which C libraries make them, and
of what the keeper and the kernel called in a trace of graded labs and of attacks (strace(1)).
"""
_MOST_PROTECTED = 64 * 2**20
"""The most memory whose rights one mprotect(2) changes; programs do so for parts of themselves and stacks of threads.

While it runs, no page fault of that process is served, so a thread that waits for one keeps the lock of a folder of the
machine's: 1.2 s for 32 GiB, as often as one likes.
"""
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_MAP_UNCOUNTED = 0x42100
"""MAP_GROWSDOWN, MAP_LOCKED, and MAP_HUGETLB.

The first is stack, and no data to RLIMIT_DATA; the second keeps the machine's files in memory, as no process's own; the
third has pages that are in no process's statm.
"""
_STUBS_MEMFD = 0x13
"""Flags with which the pocket's kernel makes the file of its stub: MFD_EXEC | MFD_CLOEXEC | MFD_ALLOW_SEALING."""
_OF_TRACERS = (7, 8)
"""PTRACE_CONT and PTRACE_KILL, which the pocket's kernel calls whenever it ends a stub, traced or not."""
_LITTLE_BYTES = 4 * 4096
"""The largest shared mapping without a file: the pocket's kernel tries its filter on one of a page or two."""
_NEW_NAMESPACES = 0x7E020000
_VM, _VFORK, _THREAD = 0x100, 0x4000, 0x10000
"""Flags of clone(2): with the first alone, memory would go from process to process faster than anybody counts it."""
_AF_UNIX, _STREAM, _KIND = 1, 1, 0xF
_WORD = 0xFFFFFFFF
_OUT_OF_BAND = 0x1
"""MSG_OOB, which nothing here needs, and by whose faults programs have left other sandboxes (CVE-2025-38236)."""
_MESSAGES = (("recvfrom", 3), ("recvmsg", 2), ("sendmsg", 2), ("sendto", 3))
"""Calls with flags, and which of their arguments these are."""
_FUTEX = 0x7F
WAITS = (0, 1, 3, 4, 9, 10)
"""Operations of futex(2) that are allowed: FUTEX_WAIT, _WAKE, _REQUEUE, _CMP_REQUEUE, _WAIT_BITSET, _WAKE_BITSET.

Not FUTEX_WAKE_OP, by which a line comes into the machine's log, nor those with priority inheritance.
"""
_OPENS = (("open", 1), ("openat", 2))
"""Calls with flags of open(2), and which of their arguments these are.

Not O_DIRECT, by which a loop that takes next to no processor time reads the machine's disk without end; fcntl's F_SETFL
would set it on an open file.
"""
_POLLS = (("poll", 1), ("ppoll", 1), ("select", 0), ("pselect6", 0))
"""Calls that wait for many files, and which of their arguments is the number of these (nfds)."""
MOST_POLLED = 64
"""The pocket's kernel waits for two at most, and the keeper for a few.

Linux keeps 64 bytes for each, which it charges to no process, and wakes all of them without taking an interrupt: for
800 processes that waited for one pipe 19,900 times each, 0.8 GiB and 2.3 s were seen.
"""
_OF_ALL_SOCKETS = 1
"""SOL_SOCKET."""
OF_SOCKET = (3, 38, 39)
"""Options of getsockopt(2) that are allowed: SO_TYPE, SO_PROTOCOL, SO_DOMAIN, which Python reads of an open file.

Not SO_PEERPIDFD, which returns a handle to the process that made the pair, outside the sandbox.
"""
OF_FILTERS = (0, 1, 8)
"""Flags of seccomp(2) that are allowed: none, SECCOMP_FILTER_FLAG_TSYNC, _NEW_LISTENER."""
_SET_A_FILTER = 1
"""SECCOMP_SET_MODE_FILTER."""
OF_EXECUTION = (0x40000, _WORD)
"""Arguments of personality(2) that are allowed: ADDR_NO_RANDOMIZE, which the pocket's kernel sets, and the question."""
CONTROLS = (
    *(0x5401, 0x5402, 0x5403, 0x5404, 0x5413),  # TCGETS, TCSETS, TCSETSW, TCSETSF, TIOCGWINSZ
    *(0x5450, 0x5451, 0x5421, 0x541B, 0x5452),  # FIONCLEX, FIOCLEX, FIONBIO, FIONREAD, FIOASYNC
    0x5411,  # SIOCOUTQ, also TIOCOUTQ: whether a stub of the pocket's kernel has taken its message
    *(0x80045430, 0x40045431, 0x5441),  # TIOCGPTN, TIOCSPTLCK, TIOCGPTPEER
    *(0xC0502100, 0xC0182101, 0x40082102, 0x80082102, 0x40082104),  # SECCOMP_IOCTL_NOTIF_*, without ADDFD
)
"""Requests of ioctl(2) that are allowed: of terminals but TIOCSTI and TIOCLINUX; of the pocket's filter and sockets."""
OF_PROCESS = (
    *(1, 2, 3, 15, 16),  # PR_[SG]ET_PDEATHSIG, PR_GET_DUMPABLE, PR_[SG]ET_NAME
    *(21, 22, 23, 38, 39),  # PR_[GS]ET_SECCOMP, PR_CAPBSET_READ, PR_[SG]ET_NO_NEW_PRIVS
    0x53564D41,  # PR_SET_VMA: names of the C library's memory
)
"""Options of prctl(2) that are allowed.

Not PR_SET_DUMPABLE: what a process has, and under hidepid=2 also that it is there, could be hidden from who counts it
(proc(5)).
"""
ADVICE = (
    *(0, 1, 2, 3, 4, 8),  # MADV_NORMAL, _RANDOM, _SEQUENTIAL, _WILLNEED, _DONTNEED, _FREE
    *(10, 11, 14, 15, 16, 17, 18, 19),  # MADV_[DO|DONT]FORK, _[NO]HUGEPAGE, _[DO|DONT]DUMP, _[WIPE|KEEP]ONFORK
    *(22, 23),  # MADV_POPULATE_READ, _WRITE
    *(102, 103),  # MADV_GUARD_INSTALL, _REMOVE: guards of threads' stacks in newer C libraries
)
"""Advice of madvise(2) that is allowed: not MADV_COLD and MADV_PAGEOUT, since memory in swap is in no sum.

Nor MADV_REMOVE, which goes through all mappings of a file: one call took 47 s, in which nobody got a page of it.
"""
_NO_DUMPS = 4
"""RLIMIT_CORE: lowered from 1 to 0, it would start the machine's handler of core dumps again (core(5))."""
_RESOURCES = 16
_NEGATIVE = 0x80000000
OF_FILE = (
    *(0, 1, 2, 3, 1030),  # F_DUPFD, F_[GS]ETFD, F_GETFL, F_DUPFD_CLOEXEC
    *(9, 11),  # F_GETOWN, F_GETSIG
    *(1033, 1034),  # F_ADD_SEALS, F_GET_SEALS
)
"""Commands of fcntl(2) that are allowed, beside F_SETFL without O_DIRECT, F_SETOWN of a process, F_SETSIG of SIGIO.

Not of a group of processes: one write to a pipe with 20,000 readers that are to signal 4,000 processes was seen to take
16 s, which no signal ends, and for so long no namespace of the machine could be made.  Not SIGCONT either, for which
Linux goes through all threads of a process: 12 s with 58,800 readers and 3,900 threads.

Locks and leases are not among them, nor is flock(2) allowed, because a program takes them on files that it may only
read.  Whoever else opens a leased file waits for 45 s (/proc/sys/fs/lease-break-time); the file's owner may lease it,
and without root the sandbox runs as that owner.
"""
_BY_ARGUMENT = (
    ("futex", 1, _FUTEX, WAITS),
    ("ioctl", 1, _WORD, CONTROLS),
    ("madvise", 2, _WORD, ADVICE),
    ("fcntl", 1, _WORD, OF_FILE),
    ("prctl", 0, _WORD, OF_PROCESS),
    ("personality", 0, _WORD, OF_EXECUTION),
)
"""Calls that are allowed where one of their arguments, under a mask, is one of these."""


def program() -> int:
    """The filter as an open file of classic BPF, which `linklab.grade.enter` loads; the caller closes it.

    Raises:
        MissingError: libseccomp, which makes it, is not here.
    """
    seccomp = _library()
    rules = seccomp.SyscallFilter(seccomp.TRAP)
    rules.set_attr(seccomp.Attr.ACT_BADARCH, seccomp.TRAP)  # calls of 32 bits, which a guest may make too
    for name in ALLOWED:
        rules.add_rule(seccomp.ALLOW, name)

    def low(position: int, mask: int, value: int) -> Any:
        return seccomp.Arg(position, seccomp.MASKED_EQ, mask, value)

    for flag in (_MAP_SHARED, _MAP_ANONYMOUS):
        rules.add_rule(seccomp.ALLOW, "mmap", low(3, flag | _MAP_UNCOUNTED, 0))
    rules.add_rule(seccomp.ALLOW, "mmap", seccomp.Arg(1, seccomp.LE, _LITTLE_BYTES), low(3, _MAP_UNCOUNTED, 0))
    for of_all, wanted in ((_VM, 0), (_VM | _VFORK, _VM | _VFORK), (_VM | _THREAD, _VM | _THREAD)):
        rules.add_rule(seccomp.ALLOW, "clone", low(0, _NEW_NAMESPACES | of_all, wanted))
    # of streams, which lead nowhere else: a datagram socket of a pair can send to any name
    rules.add_rule(seccomp.ALLOW, "socketpair", low(0, _WORD, _AF_UNIX), low(1, _KIND, _STREAM))
    for name, flags in _MESSAGES:
        rules.add_rule(seccomp.ALLOW, name, low(flags, _OUT_OF_BAND, 0))
    for option in OF_SOCKET:
        rules.add_rule(seccomp.ALLOW, "getsockopt", low(1, _WORD, _OF_ALL_SOCKETS), low(2, _WORD, option))
    for flags_of_filter in OF_FILTERS:
        rules.add_rule(seccomp.ALLOW, "seccomp", low(0, _WORD, _SET_A_FILTER), low(1, _WORD, flags_of_filter))
    for resource in {*range(_RESOURCES)} - {_NO_DUMPS}:
        rules.add_rule(seccomp.ALLOW, "setrlimit", low(0, _WORD, resource))
        rules.add_rule(seccomp.ALLOW, "prlimit64", low(1, _WORD, resource))
    rules.add_rule(seccomp.ALLOW, "prlimit64", seccomp.Arg(2, seccomp.EQ, 0))  # asks, and sets nothing
    for name, position, mask, values in _BY_ARGUMENT:
        for value in values:
            rules.add_rule(seccomp.ALLOW, name, low(position, mask, value))
    for name, flags in _OPENS:
        rules.add_rule(seccomp.ALLOW, name, low(flags, os.O_DIRECT, 0))
    rules.add_rule(seccomp.ALLOW, "mprotect", seccomp.Arg(1, seccomp.LE, _MOST_PROTECTED))
    for name, count in _POLLS:
        rules.add_rule(seccomp.ALLOW, name, seccomp.Arg(count, seccomp.LE, MOST_POLLED))
    rules.add_rule(seccomp.ALLOW, "fcntl", low(1, _WORD, fcntl.F_SETFL), low(2, os.O_DIRECT, 0))
    rules.add_rule(seccomp.ALLOW, "fcntl", low(1, _WORD, fcntl.F_SETOWN), low(2, _NEGATIVE, 0))
    rules.add_rule(seccomp.ALLOW, "fcntl", low(1, _WORD, fcntl.F_SETSIG), low(2, _WORD, signal.SIGIO))
    # Three calls fail as on a kernel without them.  The C library then takes clone (the pocket has SIGSYS raised for a
    # guest's clone3, which wins over an error), and the pocket's kernel a temporary file for its stub.
    absent = seccomp.ERRNO(errno.ENOSYS)
    rules.add_rule(absent, "clone3")
    rules.add_rule(absent, "memfd_create", low(1, _WORD, _STUBS_MEMFD))
    # A guest's call must reach its notification, and a process that traces nothing gains nothing by these.
    for request in _OF_TRACERS:
        rules.add_rule(seccomp.TRACE(0), "ptrace", seccomp.Arg(0, seccomp.EQ, request))
    number = os.memfd_create("seccomp")
    with os.fdopen(os.dup(number), "wb") as file:
        rules.export_bpf(file)
    os.lseek(number, 0, os.SEEK_SET)
    return number


def _library() -> Any:
    try:
        import pyseccomp  # noqa: PLC0415 - only the grader needs it, and it fails where libseccomp is missing
    except (ImportError, RuntimeError, OSError) as error:
        cure = "install Linklab again" if isinstance(error, ImportError) else "sudo apt-get install libseccomp2"
        raise MissingError(
            f"submissions are graded behind a filter of system calls, which cannot be made here ({error}): {cure}"
        ) from error
    return pyseccomp
