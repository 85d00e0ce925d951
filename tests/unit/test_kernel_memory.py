# SPDX-License-Identifier: BSD-3-Clause
"""What the machine's kernel keeps for processes."""

import os
import resource
import shutil
import subprocess
import sys

import pytest

from linklab.base.kernel_memory import sockets, table_bytes

MAPS = """
import ctypes, mmap, sys, threading, time
def hold():
    time.sleep(0.5)  # the first thread has ended by now
    print(flush=True)
    sys.stdin.readline()
    held = mmap.mmap(-1, 64 * 2**20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
    held.madvise(15)  # MADV_NOHUGEPAGE
    held.madvise(22)  # MADV_POPULATE_READ
    print(flush=True)
    sys.stdin.read()
threading.Thread(target=hold).start()
ctypes.CDLL(None).syscall(60, 0)  # exit(2) of this thread alone
"""
FILES = """
import ctypes, os, resource, sys, threading
most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20_000)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
print(flush=True)
sys.stdin.readline()
def hold():
    assert ctypes.CDLL(None).unshare(0x400) == 0  # CLONE_FILES
    os.dup2(0, most - 1)
    ready.set()
    threading.Event().wait()
ready = threading.Event()
threading.Thread(target=hold, daemon=True).start()
ready.wait()
os.dup2(0, most - 1)
print(flush=True)
sys.stdin.read()
"""
SOCKETS = """
import socket, sys
print(flush=True)
sys.stdin.readline()
held = [socket.socketpair() for _ in range(5)]
print(flush=True)
sys.stdin.read()
"""


def asked(command, ask):
    """What `ask` says of a program when it has begun, and when it holds what it is to hold."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as one:
        said = []
        for _ in range(2):
            assert one.stdout.readline() == "\n"
            said.append(ask(one.pid))
            one.stdin.write("\n")
            one.stdin.flush()
        one.kill()
    return said


def test_page_tables_are_of_a_process_also_where_its_first_thread_has_ended():
    """4 KiB for each 2 MiB that is mapped page by page, and at most two for the levels above."""
    before, after = asked([sys.executable, "-S", "-c", MAPS], table_bytes)
    assert 32 * 4096 <= after - before <= 34 * 4096


def test_tables_of_open_files_are_those_of_all_threads():
    """Regression: 2,000 processes with one file each, under its highest number, held 570 MiB that nobody counted."""
    most = min(resource.getrlimit(resource.RLIMIT_NOFILE)[1], 20_000)
    before, after = asked([sys.executable, "-S", "-c", FILES], table_bytes)
    assert 2 * 8 * most <= after - before <= 2 * 8 * 2 * most + 2**20  # its size is a power of two


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare(1)")
def test_sockets_are_those_of_a_network_namespace():
    """Two for each pair, and none of other namespaces."""
    alone = ["unshare", "--net", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    if subprocess.run([*alone, "true"], check=False).returncode:
        pytest.skip("no network namespace can be had")
    before, after = asked([*alone, sys.executable, "-S", "-c", SOCKETS], sockets)
    assert (before, after) == (0, 10)


def test_what_has_gone_has_nothing():
    """As between two looks."""
    one = subprocess.Popen(["true"])
    one.wait()
    assert (table_bytes(one.pid), sockets(one.pid)) == (0, 0)
