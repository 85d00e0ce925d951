# SPDX-License-Identifier: BSD-3-Clause
"""The sandbox's filter of system calls, run by an interpreter as the machine's kernel runs it (seccomp(2))."""

import ctypes.util
import errno
import os
import struct

import pytest

from linklab.grade import syscalls

seccomp = pytest.importorskip("pyseccomp", exc_type=(ImportError, RuntimeError))
ALLOW, TRACE, ABSENT, TRAP = 0x7FFF0000, 0x7FF00000, 0x00050000 | errno.ENOSYS, 0x00030000
X86_64, I386 = 0xC000003E, 0x40000003
X32 = 0x40000000


@pytest.fixture(scope="module")
def instructions():
    """The filter's instructions, as in linux/filter.h: code, jump if true, jump if false, constant."""
    with os.fdopen(syscalls.program(), "rb") as file:
        return list(struct.iter_unpack("=HBBI", file.read()))


def verdict(instructions, name, *args, arch=X86_64, number=None):
    """What the filter answers to a call, by an interpreter of the instructions that it has."""
    number = seccomp.resolve_syscall(seccomp.Arch.X86_64, name) if number is None else number
    data = struct.pack("=iIQ6Q", number, arch, 0, *args, *[0] * (6 - len(args)))
    at = loaded = 0
    while True:
        code, yes, no, constant = instructions[at]
        at += 1
        if code == 0x20:  # ld [k]
            (loaded,) = struct.unpack_from("=I", data, constant)
        elif code == 0x54:  # and #k
            loaded &= constant
        elif code == 0x06:  # ret #k
            return constant
        elif code == 0x05:  # ja k
            at += constant
        else:
            holds = {0x15: loaded == constant, 0x25: loaded > constant, 0x35: loaded >= constant}[code]
            at += yes if holds else no


def test_every_call_is_allowed_or_ends_the_process(instructions):
    """Of all numbers only those of the list are allowed; the others raise SIGSYS, which no notification overrules."""
    found = {number: verdict(instructions, "", number=number) for number in range(1000)}  # with 0 for all arguments
    clone3 = seccomp.resolve_syscall(seccomp.Arch.X86_64, "clone3")
    assert found.pop(clone3) == ABSENT  # the C library takes clone then
    assert set(found.values()) == {ALLOW, TRAP}
    in_part = (
        *("mmap", "clone", "fcntl", "madvise", "setrlimit", "prlimit64", "open", "openat", "futex"),
        *("recvfrom", "recvmsg", "sendmsg", "sendto", "mprotect", "poll", "ppoll", "select", "pselect6"),
    )
    wanted = {seccomp.resolve_syscall(seccomp.Arch.X86_64, name) for name in (*syscalls.ALLOWED, *in_part)}
    assert {number for number, answer in found.items() if answer == ALLOW} == wanted


@pytest.mark.parametrize(
    "name",
    [
        *("memfd_create", "memfd_secret", "shmget"),  # memory that no process is asked for
        *("ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"),  # a tracer could allow the rest
        *("mount", "umount2", "pivot_root", "chroot", "unshare", "setns", "move_mount", "fsopen", "open_tree"),
        *("socket", "bind", "connect", "listen", "accept4"),
        *("timerfd_create", "inotify_init1", "fanotify_init", "flock", "sync"),
        *("bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "keyctl", "add_key", "request_key"),
        *("init_module", "finit_module", "kexec_load", "reboot", "swapon", "quotactl", "modify_ldt"),
        *("open_by_handle_at", "name_to_handle_at", "msgget", "semget", "mq_open", "setuid", "capset"),
        "setsid",  # Linux shares the processors among sessions (autogroup, sched(7))
    ],
)
def test_what_has_been_a_way_out_of_sandboxes_is_refused(instructions, name):
    """Each of these calls is the end of the process that makes it."""
    assert verdict(instructions, name) == TRAP


@pytest.mark.parametrize("arch", [I386, 0xC00000B7])
def test_calls_of_another_architecture_are_refused(instructions, arch):
    """Number 1 by `int 0x80` is exit, and write on x86-64: no number is allowed that is not of x86-64."""
    assert {verdict(instructions, "", number=number, arch=arch) for number in range(500)} == {TRAP}


def test_the_calls_of_x32_are_refused(instructions):
    """They are those of x86-64 with a bit more."""
    assert {verdict(instructions, "", number=X32 + number) for number in range(600)} == {TRAP}


@pytest.mark.parametrize(
    ("name", "args", "answer"),
    [
        ("mmap", (0, 1 << 40, 3, 0x22), ALLOW),  # MAP_PRIVATE | MAP_ANONYMOUS, which is counted as the process's own
        ("mmap", (0, 1 << 40, 3, 0x01), ALLOW),  # MAP_SHARED, of a file, which is counted by its file system
        ("mmap", (0, 4 * 4096, 3, 0x21), ALLOW),  # the pocket's kernel tries its filter so
        ("mmap", (0, 4 * 4096 + 1, 3, 0x21), TRAP),  # no process's own, and no file's
        ("mmap", (0, 1 << 32, 3, 0x23), TRAP),  # MAP_SHARED_VALIDATE
        ("mmap", (0, 1 << 28, 3, 0x122), TRAP),  # MAP_GROWSDOWN, which is a stack's
        ("mmap", (0, 1 << 28, 3, 0x40022), TRAP),  # MAP_HUGETLB, which nobody's memory shows
        ("mmap", (0, 4096, 3, 0x40021), TRAP),  # the same: a whole page of 2 MiB
        ("mmap", (0, 4096, 3, 0x40001), TRAP),
        ("mmap", (0, 4096, 1, 0x2001), TRAP),  # MAP_LOCKED, which keeps a file of the machine's in memory
        ("open", (0, 0o2000000), ALLOW),  # O_CLOEXEC
        ("open", (0, 0o2000000 | os.O_DIRECT), TRAP),
        ("openat", (0, 0, os.O_DIRECT | 0xFFFFFFFF_00000000), TRAP),
        ("openat", (0, 0, 0o2), ALLOW),
        ("fcntl", (0, 4, os.O_NONBLOCK), ALLOW),  # F_SETFL
        ("fcntl", (0, 4, os.O_DIRECT), TRAP),
        ("futex", (0, 128), ALLOW),  # FUTEX_WAIT_PRIVATE
        ("futex", (0, 128 | 256 | 9), ALLOW),  # FUTEX_WAIT_BITSET_PRIVATE | FUTEX_CLOCK_REALTIME
        ("futex", (0, 128 | 5), TRAP),  # FUTEX_WAKE_OP
        ("futex", (0, 6), TRAP),  # FUTEX_LOCK_PI
        ("getsockopt", (0, 1, 3), ALLOW),  # SO_TYPE
        ("getsockopt", (0, 1, 77), TRAP),  # SO_PEERPIDFD
        ("getsockopt", (0, 1, 0xFFFFFFFF_0000004D), TRAP),
        ("getsockopt", (0, 6, 3), TRAP),
        ("setrlimit", (7, 1), ALLOW),  # RLIMIT_NOFILE
        ("setrlimit", (4, 1), TRAP),  # RLIMIT_CORE
        ("prlimit64", (0, 7, 1), ALLOW),
        ("prlimit64", (0, 4, 0, 1), ALLOW),  # asks
        ("prlimit64", (0, 4, 1), TRAP),
        ("prlimit64", (0, 0xFFFFFFFF_00000004, 1), TRAP),
        ("madvise", (0, 4096, 9), TRAP),  # MADV_REMOVE
        ("poll", (0, 64, 0), ALLOW),
        ("poll", (0, 65, 0), TRAP),
        ("pselect6", (64, 0, 0), ALLOW),
        ("pselect6", (65, 0, 0), TRAP),
        ("mprotect", (0, 2**26, 0), ALLOW),
        ("mprotect", (0, 2**26 + 1, 0), TRAP),
        ("fcntl", (0, 10, 29), ALLOW),  # F_SETSIG of SIGIO
        ("fcntl", (0, 10, 18), TRAP),  # of SIGCONT
        ("fcntl", (0, 8, 2**32 - 5), TRAP),  # F_SETOWN of a group
        ("madvise", (0, 4096, 102), ALLOW),  # MADV_GUARD_INSTALL
        ("madvise", (0, 4096, 21), TRAP),  # MADV_PAGEOUT
        ("fallocate", (0, 0, 0, 4096), TRAP),
        ("clone", (0x01200011,), ALLOW),  # fork
        ("clone", (0x4111,), ALLOW),  # CLONE_VM | CLONE_VFORK, as the pocket's kernel starts a stub
        ("clone", (0x003D0F00,), ALLOW),  # a thread of the C library
        ("clone", (0x00000111,), TRAP),  # CLONE_VM alone
        ("clone", (0x00004111 | 0x10000000,), TRAP),
        ("clone", (0x10000000 | 17,), TRAP),  # CLONE_NEWUSER
        ("clone", (0x20000000,), TRAP),  # CLONE_NEWPID
        ("clone", (0x00020000,), TRAP),  # CLONE_NEWNS
        ("clone", (0x40000000,), TRAP),  # CLONE_NEWNET
        ("clone", (0x02000000,), TRAP),  # CLONE_NEWCGROUP
        ("socketpair", (1, 1), ALLOW),
        ("socketpair", (16, 3), TRAP),  # AF_NETLINK
        ("sendmsg", (0, 0, 0x4040), ALLOW),  # MSG_NOSIGNAL | MSG_DONTWAIT
        ("sendmsg", (0, 0, 0x4001), TRAP),  # MSG_OOB
        ("recvmsg", (0, 0, 0xFFFFFFFF_00000001), TRAP),
        ("sendto", (0, 0, 0, 0x1), TRAP),
        ("recvfrom", (0, 0, 0, 0x1), TRAP),
        ("recvfrom", (0, 0, 0, 0x2), ALLOW),  # MSG_PEEK
        ("ioctl", (0, 0x5401), ALLOW),
        ("ioctl", (0, 0x5412), TRAP),  # TIOCSTI
        ("ioctl", (0, 0x541C), TRAP),  # TIOCLINUX
        ("ioctl", (0, 0xFFFFFFFF_00005412), TRAP),  # the upper half is not looked at by the kernel
        ("ioctl", (0, 0xFFFFFFFF_00005401), ALLOW),
        ("ioctl", (0, 0x40182103), TRAP),  # SECCOMP_IOCTL_NOTIF_ADDFD
        ("fcntl", (0, 1033, 0x2), ALLOW),  # F_ADD_SEALS
        ("fcntl", (0, 1024, 1), TRAP),  # F_SETLEASE
        ("fcntl", (0, 6), TRAP),  # F_SETLK
        ("fcntl", (0, 0xFFFFFFFF_00000400, 1), TRAP),
        ("prctl", (1, 9), ALLOW),
        ("prctl", (3,), ALLOW),  # PR_GET_DUMPABLE
        ("prctl", (4, 0), TRAP),  # PR_SET_DUMPABLE
        ("prctl", (35,), TRAP),  # PR_SET_MM
        ("personality", (0xFFFFFFFF,), ALLOW),  # asks
        ("personality", (0x0040000,), ALLOW),  # ADDR_NO_RANDOMIZE
        ("personality", (0x0400000,), TRAP),  # READ_IMPLIES_EXEC
        ("personality", (0x0008,), TRAP),  # PER_LINUX32
        ("seccomp", (1, 8), ALLOW),  # SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER
        ("seccomp", (1, 0x2), TRAP),  # SECCOMP_FILTER_FLAG_LOG
        ("seccomp", (1, 0x28), TRAP),  # SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
        ("seccomp", (0, 0), TRAP),  # SECCOMP_SET_MODE_STRICT
        ("prctl", (0x59616D61,), TRAP),  # PR_SET_PTRACER
        ("memfd_create", (0, 0x13), ABSENT),  # the pocket's kernel takes a temporary file for its stub then
        ("memfd_create", (0, 0x03), TRAP),
        ("ptrace", (7, 1), TRACE),  # PTRACE_CONT
        ("ptrace", (8, 1), TRACE),  # PTRACE_KILL, with which the pocket's kernel ends a stub
        ("ptrace", (16, 1), TRAP),  # PTRACE_ATTACH
        ("ptrace", (0x4206, 1), TRAP),  # PTRACE_SEIZE
    ],
)
def test_some_calls_are_allowed_by_their_arguments(instructions, name, args, answer):
    """Processes, but no namespaces; pairs of sockets, but of this machine's kernel alone; no keys typed for others."""
    assert verdict(instructions, name, *args) == answer


def test_without_libseccomp_nothing_is_graded(monkeypatch):
    """The library is named with the command that installs it; there is no sandbox without a filter."""
    monkeypatch.setattr(ctypes.util, "find_library", lambda _: None)
    monkeypatch.delitem(__import__("sys").modules, "pyseccomp")
    with pytest.raises(syscalls.MissingError, match=r"cannot be made here \(.*\): sudo apt-get install libseccomp2"):
        syscalls.program()


def test_an_old_installation_is_told_to_be_renewed(monkeypatch):
    """The Python package came later than Linklab: no package of the distribution would bring it."""
    monkeypatch.setitem(__import__("sys").modules, "pyseccomp", None)
    with pytest.raises(syscalls.MissingError, match=r"cannot be made here \(.*\): install Linklab again$"):
        syscalls.program()
