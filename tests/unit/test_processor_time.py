# SPDX-License-Identifier: BSD-3-Clause
"""Processor time and memory of a process and all below it."""

import os
import resource
import subprocess
import sys
import time

import pytest

from linklab.base.processor_time import Family, Taken, processor_s

SPIN = "import time\nwhile time.process_time() < {seconds}: pass\n"


def test_what_has_been_waited_for_counts(tmp_path):
    """A shell whose children have ended has used what they used, as getrusage(2) says of it afterwards."""
    spin = SPIN.format(seconds=0.3)
    script = 'for i in 1 2; do "$0" -S -c "$1"; done; echo done; read end'
    shell = subprocess.Popen(
        ["sh", "-c", script, sys.executable, spin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert shell.stdout.readline() == "done\n"
    seen = processor_s(shell.pid)
    shell.communicate("\n")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used >= 0.6
    assert seen == pytest.approx(used, abs=0.1)


def test_a_grandchild_that_computes_counts_and_one_that_sleeps_does_not():
    """However long it sleeps."""
    script = '"$0" -S -c "$1" & sleep 60 & wait $!'
    shell = subprocess.Popen(["sh", "-c", script, sys.executable, SPIN.format(seconds=60)], start_new_session=True)
    try:
        while processor_s(shell.pid) < 0.5:
            time.sleep(0.02)
        assert processor_s(shell.pid) < 5
    finally:
        os.killpg(shell.pid, 9)
        shell.wait()
    assert processor_s(shell.pid) == 0.0


def test_memory_counts_also_where_the_first_thread_has_ended():
    """Regression: such a process has nothing in its own statm, so that 1.2 GiB were taken for 3 MiB."""
    script = (
        "import ctypes, sys, threading, time\n"
        "def hold():\n"
        "    own = bytearray(b'x') * 30 * 2**20\n"
        "    time.sleep(0.5)\n"  # the first thread has ended by now
        "    print(flush=True)\n"
        "    sys.stdin.read()\n"
        "threading.Thread(target=hold).start()\n"
        "ctypes.CDLL(None).syscall(60, 0)\n"  # exit(2) of this thread alone
    )
    python = [sys.executable, "-S", "-c", script]
    one = subprocess.Popen(python, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert one.stdout.readline() == "\n"
        assert Family(one.pid).taken().own_bytes > 30 * 2**20
    finally:
        one.kill()
        one.communicate()


def test_memory_of_its_own_counts_and_that_of_files_does_not(tmp_path):
    """Of two processes the sum; what they map of one file, which its file system holds once, is nobody's own."""
    (tmp_path / "file").write_bytes(bytes(50 * 2**20))
    script = (
        "import mmap, os, sys\n"
        "shared = mmap.mmap(os.open(sys.argv[1], os.O_RDWR), 0)\n"
        "child = os.fork()\n"
        "own = bytearray(b'x') * 30 * 2**20\n"
        "sum(shared[::4096])\n"
        "print(flush=True)\n"
        "sys.stdin.read()\n"
        "child and os.wait()\n"
    )
    command = [sys.executable, "-S", "-c", script, str(tmp_path / "file")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.readline()
        found = Family(process.pid).taken()
        process.stdin.close()
    assert found.processes == 2
    assert 60 < found.own_bytes / 2**20 < 85
    assert Family(process.pid).taken() == Taken()


def test_who_was_not_there_at_the_last_look_is_read_first(monkeypatch):
    """Regression: where numbers had begun anew, a process that moved on by fork(2) was read last, when it had gone."""
    with subprocess.Popen(["sleep", "60"]) as one, subprocess.Popen(["sleep", "60"]) as other:
        smaller, larger = sorted((one.pid, other.pid))  # as if the one with the smaller number had begun later
        order: list[int] = []
        family = Family(os.getpid())
        monkeypatch.setattr(os, "listdir", lambda _: ["self", str(larger)])
        family.look()
        monkeypatch.setattr(os, "listdir", lambda _: ["self", str(larger), str(smaller)])
        family.look(lambda pid: order.append(pid) or 0)
        for each in (one, other):
            each.kill()
    assert order == [smaller, larger]


def test_who_is_adopted_during_a_look_is_a_member(monkeypatch):
    """Regression: a process was in no sum whose parent had ended before its turn to be read came."""
    script = "import ctypes, os, sys, time\nctypes.CDLL(None).prctl(36, 1)\n"  # it adopts (PR_SET_CHILD_SUBREAPER)
    script += "first = os.fork()\nif not first:\n    child = os.fork() or os.getpid()\n"
    script += "    os.write(1, b'%d\\n' % child)\n    time.sleep(60)\n"  # print may write a line and its end apart
    script += "os.waitpid(first, 0)\nprint(0, flush=True)\ntime.sleep(60)\n"
    with subprocess.Popen([sys.executable, "-Sc", script], stdout=subprocess.PIPE, text=True) as root:
        child = int(root.stdout.readline())
        root.stdout.readline()
        (parent,) = (each.parent for each in Family(root.pid).look() if each.pid == child)

        def ends_its_parent(pid):
            if pid == child:
                os.kill(parent, 9)
                root.stdout.readline()
            return 0

        names = [str(pid) for pid in (root.pid, parent, child)]
        monkeypatch.setattr(os, "listdir", lambda _: names)
        family = Family(root.pid)
        family._before = frozenset((root.pid, parent))
        found = {each.pid: each.parent for each in family.look(ends_its_parent)}
        os.kill(child, 9)
        root.kill()
    assert found == {root.pid: os.getpid(), child: root.pid}


def test_busy_are_those_that_compute_and_further_threads():
    """Two that spin; one that waits has three more threads, whatever they do."""
    spins = subprocess.Popen(["sh", "-c", "(while :; do :; done) & while :; do :; done"], start_new_session=True)
    threads = "import sys, threading\nfor _ in range(3): threading.Thread(target=sys.stdin.readline).start()\n"
    threads += "print(flush=True)\n"
    waits = subprocess.Popen([sys.executable, "-Sc", threads], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        waits.stdout.readline()
        time.sleep(0.2)
        assert (Family(spins.pid).taken().busy, Family(waits.pid).taken().busy) == (2, 3)
    finally:
        os.killpg(spins.pid, 9)
        spins.wait()
        waits.communicate()
