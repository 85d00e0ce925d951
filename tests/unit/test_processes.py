# SPDX-License-Identifier: BSD-3-Clause
"""Which processes another one has started."""

import os
import subprocess

from linklab.base.processes import children


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
