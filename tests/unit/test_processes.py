# SPDX-License-Identifier: BSD-3-Clause
"""Which processes another one has started, and that none is left over."""

import os
import signal
import subprocess
import sys

from linklab.base.processes import children, deaf


def test_children_are_those_that_a_process_started_itself():
    """Not what these started in turn, and none of a process that is not there."""
    shell = subprocess.Popen(
        ["sh", "-c", "sh -c 'sleep 60 & echo $! $$; wait' & wait"], stdout=subprocess.PIPE, text=True
    )
    try:
        grandchild, child = map(int, shell.stdout.readline().split())
        assert children(shell.pid) == [child]
        assert children(child) == [grandchild]
        assert shell.pid in children(os.getpid())
        assert children(grandchild) == []
    finally:
        os.kill(grandchild, 9)
        shell.communicate()
    assert children(shell.pid) == []


ORPHANS = """
import os, subprocess, sys
from linklab.base.processes import adopting
begun = subprocess.Popen(["sleep", "60"])
with adopting(20):
    said = subprocess.run(["sh", "-c", "setsid sleep 60 >/dev/null 2>&1 & echo $!"], capture_output=True, text=True)
    one = f"/proc/{int(said.stdout)}"
    print("there", os.path.exists(one))
print("there", os.path.exists(one), begun.poll())
begun.kill()
"""


def test_sessions_without_a_parent_have_ended_on_the_way_out():
    """What was begun before goes on."""
    done = subprocess.run([sys.executable, "-c", ORPHANS], capture_output=True, text=True, timeout=50, check=True)
    assert done.stdout == "there True\nthere False None\n"


def test_signals_to_stop_change_nothing_while_what_runs_is_ended():
    """Regression: a second SIGTERM, or the terminal's end, broke off the waiting for what was left."""
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    with deaf():
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(os.getpid(), number)
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
