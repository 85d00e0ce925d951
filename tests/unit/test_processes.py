# SPDX-License-Identifier: BSD-3-Clause
"""Which processes another one has started, and which the machine kills."""

import os
import subprocess

import pytest

from linklab.base.processes import children, ended_first, oom_kills, own_oom_kills


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


def test_what_the_oom_killer_ended_is_counted_since_the_machines_start(tmp_path):
    """As Linux 6.18 says it; of a kernel that says nothing it is not known."""
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 5012031\npgmigrate_success 0\noom_kill 13\nthp_fault_alloc 12\n")
    assert oom_kills(vmstat) == 13
    vmstat.write_text("nr_free_pages 5012031\n")
    assert oom_kills(vmstat) is None
    assert oom_kills(tmp_path / "none") is None


V1 = "4:memory:/docker/c1\n3:cpuset:/\n0::/\n"


@pytest.mark.parametrize(
    ("groups", "file", "text", "count"),
    [
        ("0::/user.slice/x.scope\n", "user.slice/x.scope/memory.events", "low 0\noom 2\noom_kill 3\n", 3),
        ("0::/\n", "memory.events", "oom_kill 4\noom_group_kill 9\n", 4),
        ("0::/user.slice/x.scope\n", "user.slice/memory.events", "oom_kill 7\n", 7),
        (V1, "memory/docker/c1/memory.oom_control", "under_oom 0\noom_kill 5\n", 5),
        (V1, "memory/memory.oom_control", "oom_kill_disable 0\noom_kill 6\n", 6),
        ("0::/user.slice/x.scope\n", "memory.stat", "anon 1\n", 13),
        (None, "memory.stat", "anon 1\n", 13),
    ],
    ids=[
        "a scope",
        "a container",
        "a scope that counts no memory",
        "version 1",
        "a container of version 1",
        "a group that does not say it",
        "none",
    ],
)
def test_what_the_oom_killer_ended_of_ours_is_told_by_the_control_group(tmp_path, groups, file, text, count):
    """Regression: another container that ran out of memory again and again left honest work without a mark."""
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(text)
    (tmp_path / "vmstat").write_text("oom_kill 13\n")
    if groups is not None:
        (tmp_path / "groups").write_text(groups)
    assert own_oom_kills(tmp_path / "groups", tmp_path, tmp_path / "vmstat") == count


def test_a_command_may_ask_to_be_ended_first():
    """Its words and its status stay its own, and so does what else it says."""
    shows = ["sh", "-c", 'cat /proc/self/oom_score_adj; echo "$1"; exit 3', "sh", "two words"]
    done = subprocess.run([*ended_first(), *shows], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("1000\ntwo words\n", "", 3)
