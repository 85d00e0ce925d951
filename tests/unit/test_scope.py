# SPDX-License-Identifier: BSD-3-Clause
"""The limit of all that grading takes together: what it is, who has one already, and what systemd is asked for."""

import json
import os
import subprocess
import sys
import time

import pytest

from linklab.grade import scope
from linklab.grade.scope import GROUPS, ScopeLimits, limit_of, limits_of, own_group, why_none

GIB = 2**30
ENTERS = """
import json, subprocess
from linklab.grade import scope
why = scope.enter(scope.ScopeLimits(2**30, 300))
group = scope.own_group()
print(json.dumps([why, group.name, scope.limit_of(group), (group / "pids.max").read_text()]), flush=True)
subprocess.run(["python3", "-c", "bytearray(3 * 2**30)"], stderr=subprocess.DEVNULL, check=True)
print("it had 3 GiB")
"""


def test_the_limit_is_the_sum_of_all_others_and_leaves_the_machine_a_tenth():
    """4 GiB for the grader, 2048 + 256 + 256 MiB for its network, and something for the machine's kernel."""
    assert limits_of(4 * GIB, 64 * GIB) == ScopeLimits(4 * GIB + (2560 + 512) * 2**20, 2048 + 64)
    assert limits_of(4 * GIB, 7 * GIB).memory_bytes == 7 * GIB * 9 // 10 // 4096 * 4096


def test_who_has_a_limit_already_keeps_it(tmp_path, monkeypatch):
    """The least of the own group and of those above it; the root of all has none."""
    monkeypatch.setattr(scope, "GROUPS", tmp_path)
    group = tmp_path / "user.slice/run-1.scope"
    group.mkdir(parents=True)
    for folder, text in ((group, "max\n"), (group.parent, "max\n")):
        (folder / "memory.max").write_text(text)
    assert limit_of(group) is None
    (group.parent / "memory.max").write_text("4294967296\n")
    assert limit_of(group) == 4 * GIB
    (group / "memory.max").write_text("1073741824\n")
    assert limit_of(group) == GIB
    own = tmp_path / "cgroup"
    own.write_text("4:memory:/x\n0::/user.slice/run-1.scope\n")
    monkeypatch.setattr(scope, "_OWN", own)
    assert own_group() == group
    monkeypatch.setattr(scope, "_OWN", tmp_path / "gone")
    assert own_group() == tmp_path, "a kernel without control groups"
    monkeypatch.setattr(scope, "_OWN", own)
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    monkeypatch.setattr(scope, "BOOTED", tmp_path)
    monkeypatch.setattr(scope.shutil, "which", lambda _: "/usr/bin/busctl")
    monkeypatch.setattr(scope, "_busctl", lambda *_: pytest.fail("who has a limit asks for none"))
    assert scope.what_holds() == "a limit of 1.0 GiB of memory that is there already holds for all of it"
    for folder in (group, group.parent):
        (folder / "memory.max").write_text("max\n")
    monkeypatch.setattr(scope, "_busctl", lambda *_: subprocess.CompletedProcess([], 1))
    assert why_none() == "systemd does not answer this user, as without a session of one's own"
    (tmp_path / "cgroup.controllers").write_text("cpu pids\n")
    assert scope.what_holds() == (
        "no limit of memory but the sandbox's own (the control groups of this machine limit no memory or no processes)"
    )


@pytest.mark.skipif(bool(why_none()), reason=f"no scope here: {why_none()}")
@pytest.mark.skipif(limit_of(own_group()) is not None, reason="this process has a limit of memory already")
def test_systemd_limits_what_is_started_from_there():
    """A process of 3 GiB ends in a scope of 1 GiB, and nothing of the scope is left."""
    done = subprocess.run([sys.executable, "-c", ENTERS], capture_output=True, text=True, check=False, timeout=120)
    said, *more = done.stdout.splitlines()
    why, name, limit, tasks = json.loads(said)
    assert (why, limit, tasks, more) == ("", GIB, "300\n", [])
    assert name.startswith("linklab-grade-")
    until = time.monotonic() + 20  # systemd removes it when it has seen the end
    while list(GROUPS.rglob(name)) and time.monotonic() < until:
        time.sleep(0.1)
    assert not list(GROUPS.rglob(name))


def test_a_systemd_that_makes_none_is_said(monkeypatch):
    """In its own words, for the submission's log; grading goes on with the other limits."""
    monkeypatch.setattr(scope, "why_none", lambda: "")
    monkeypatch.setattr(scope, "limit_of", lambda _: None)
    refused = subprocess.CompletedProcess([], 1, "", "Failed to start transient scope unit:\nAccess denied\n")
    asked = []
    monkeypatch.setattr(scope, "_busctl", lambda *words: asked.append(words) or refused)
    said = scope.enter(ScopeLimits(GIB, 300))
    assert said == "systemd makes no scope (Failed to start transient scope unit: Access denied)"
    words = " ".join(asked[0])
    assert f"fail 5 PIDs au 1 {os.getpid()} MemoryMax t {GIB} MemorySwapMax t 0 TasksMax t 300 CollectMode s" in words
    monkeypatch.setattr(scope, "_busctl", lambda *_: (_ for _ in ()).throw(FileNotFoundError("busctl")))
    assert scope.enter(ScopeLimits(GIB, 300)) == "systemd does not answer (busctl)"
