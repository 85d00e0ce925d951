# SPDX-License-Identifier: BSD-3-Clause
"""What the machine takes from a network or refuses it ends it; what a program does to itself ends that program."""

import contextlib
import os
import signal
import subprocess
from pathlib import Path

import pytest
from pockets import group_of, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.errors import EngineError, ShortageError
from linklab.grade.bubblewrap import why_not
from linklab.grade.limits import Limits
from linklab.grade.sandbox import SandboxEngine

pytestmark = needs_pocket

WHY = r"^the pocket kernel has ended, because this machine has ended or refused .*Kernel panic - not syncing"


def kernel_of(network):
    """The process of the pocket's kernel, whose children are the guest's processes."""
    (found,) = (pid for pid in group_of(network.keeper_pid) if "linux" in name_of(pid))
    return found


def name_of(pid):
    """As the machine shows it; of one that has ended, nothing."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text()
    return ""


def test_a_process_that_the_machine_kills_ends_the_network(tmp_path):
    """As for want of memory; regression: the program had failed, with status 139, and that was graded."""
    with (
        pytest.raises(ShortageError, match=rf"{WHY}: the machine ended a program by signal 9$"),
        PocketEngine().start(None, workdir=tmp_path) as network,
    ):
        type_(network, "true")  # its shell is there now
        before = group_of(network.keeper_pid)
        type_(network, "sleep infinity &")
        (new,) = group_of(network.keeper_pid) - before
        os.kill(new, signal.SIGKILL)
        type_(network, "true")


@pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
def test_a_process_that_the_machine_refuses_ends_the_network(tmp_path):
    """As at a limit that others have used up; regression: the shell said "Cannot allocate memory"."""
    others = ["sh", "-c", "for each in $(seq 200); do sleep 60 & done; echo; wait"]
    with (
        pytest.raises(ShortageError, match=rf"{WHY}: the machine refused a process, errno = 11$"),
        SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network,
    ):
        whose = {"user": network.user, "group": network.user, "extra_groups": []}
        with subprocess.Popen(others, stdout=subprocess.PIPE, start_new_session=True, **whose) as sleeping:
            sleeping.stdout.readline()
            type_(network, "true")
            none_more = ["prlimit", f"--pid={kernel_of(network)}", "--nproc=150:150"]  # which its own user may set
            subprocess.run(none_more, check=True, **whose)
            try:
                type_(network, "/bin/true")
            finally:
                os.killpg(sleeping.pid, signal.SIGKILL)


KEEPS_IN_FLIGHT = """
import errno, os, socket
pair = socket.socketpair()
try:
    while True:
        socket.send_fds(pair[0], [b"x"], [0] * 250)
except OSError as error:
    print(errno.errorcode[error.errno], flush=True)
os.read(0, 1)
"""


@pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
def test_memory_that_the_machine_does_not_hand_over_ends_the_network(tmp_path):
    """As in another container, whose user has all in flight; regression: the page fault was tried again for ever."""
    with (
        pytest.raises(ShortageError, match=rf"{WHY}: the machine refused to hand a program its memory, errno = 109$"),
        SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network,
    ):
        type_(network, "true")
        whose = {"user": network.user, "group": network.user, "extra_groups": []}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        files = network.limits.of_a_process()["NOFILE"]
        others = ["prlimit", f"--nofile={files}:{files}", "python3", "-ISc", KEEPS_IN_FLIGHT]
        with subprocess.Popen(others, **pipes, **whose) as holding:
            assert holding.stdout.readline() == b"ETOOMANYREFS\n"
            type_(network, "/bin/true")


MAPPINGS = """python3 -c '
import ctypes, mmap, signal, sys

count, shared = int(sys.argv[1]), sys.argv[2] == "shared"
memory, stack = mmap.mmap(-1, count * 8192), mmap.mmap(-1, 2**20)

def touch(_=None):
    for page in range(count):
        memory[page * 8192] = 1
    return 0

if shared:
    top = ctypes.addressof(ctypes.c_char.from_buffer(stack)) + 2**20
    child = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(touch)
    ctypes.CDLL(None).clone(child, ctypes.c_void_p(top), 0x4100 | signal.SIGCHLD, None)  # CLONE_VFORK | CLONE_VM
else:
    touch()
print("all")' """
"""Every other page, so that each is a mapping of its own to the machine; in a child with the same memory, if shared."""


@pytest.mark.parametrize("whose", ["own", "shared"])
def test_a_program_of_more_mappings_than_the_machine_allows_ends_alone(whose, tmp_path):
    """Regression: the last fault was tried again until the network's processor time was used up."""
    most = int(Path("/proc/sys/vm/max_map_count").read_text())  # proc_sys_vm(5)
    if most > 100_000:
        pytest.skip(f"this machine allows {most} mappings")
    with PocketEngine().start(None, workdir=tmp_path) as network:
        ended = type_(network, f"{MAPPINGS}{most + 4000} {whose}", deadline_s=60)
        assert ended.exit_status == 128 + signal.SIGSEGV
        assert type_(network, "echo goes on").output == "goes on\n"


BOMB = """sysctl -qw kernel.pid_max=100000; python3 -c '
import os, time
for count in range(1000):
    try:
        if os.fork() == 0:
            time.sleep(60)
    except OSError as error:
        print(count > 200, error.strerror)
        break
os.killpg(0, 9)'"""


@pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")
def test_a_limit_that_programs_inside_have_reached_is_theirs(tmp_path):
    """Regression: above its pid_max, which root inside may raise, it was an error of ours: no mark for 0 points."""
    with SandboxEngine(Limits(memory_mib=256, processes=400)).start(None, workdir=tmp_path) as network:
        assert type_(network, BOMB).output.startswith("True Cannot allocate memory")
        assert type_(network, "echo goes on").output == "goes on\n"


KEEPS = """sleep infinity | python3 -c '
import os
kept = []
for _ in range(500):
    ours, theirs = os.pipe()
    if (child := os.fork()) == 0:
        os.close(theirs)
        os.read(ours, 1)
        os._exit(0)
    kept.append(open(f"/proc/{child}/mem"))
    os.close(ours)
    os.close(theirs)
    os.wait()
input()' &"""
"""A program that keeps the memory of its children by an open file (proc_pid_mem(5)), when they have ended."""


def test_a_process_of_the_guest_that_has_ended_is_none_of_the_machines(tmp_path):
    """Regression: 4,000 were, of a guest that had few, so the machine refused more: an error of ours for 0 points."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        type_(network, "true")
        before = group_of(network.keeper_pid)
        type_(network, KEEPS)
        type_(network, "while [ $(ls /proc/$!/fd | wc -l) -lt 500 ]; do sleep 0.1; done")
        assert len(group_of(network.keeper_pid) - before) < 10
        assert type_(network, "echo goes on").output == "goes on\n"


TURNS_OFF = "echo 75 >/proc/exitcode; sync; python3 -c 'import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)'"
"""LINUX_REBOOT_CMD_POWER_OFF of reboot(2)."""


def test_a_guest_does_not_choose_the_status_with_which_its_kernel_ends(tmp_path):
    """Regression: a kernel in user space has a file for it, so a student's doing was taken for the machine's."""
    with pytest.raises(EngineError) as ended, PocketEngine().start(None, workdir=tmp_path) as network:
        type_(network, TURNS_OFF)
    assert "the pocket kernel has ended" in str(ended.value)
    assert not isinstance(ended.value, ShortageError)


# What the processor calls a stack fault, for which no process of the pocket has a handler.
FAULTS = """python3 -c '
import ctypes, mmap
code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(bytes.fromhex("48bd0000000000000080" "488b4500" "c3"))  # mov rbp, 1 << 63; mov rax, [rbp]; ret
ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()'"""


def test_a_program_that_ends_by_its_own_fault_ends_alone(tmp_path):
    """Also by one that ends the process which the machine has for it."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        type_(network, "true")
        before = group_of(network.keeper_pid)
        assert type_(network, FAULTS).exit_status == 128 + signal.SIGSEGV
        assert type_(network, "echo goes on").output == "goes on\n"
        assert group_of(network.keeper_pid) == before
