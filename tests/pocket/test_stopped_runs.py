# SPDX-License-Identifier: BSD-3-Clause
"""Runs that are stopped with Ctrl+C."""

import json
import signal
import subprocess
import sys
import time

import pytest
from pockets import alive, group_of, needs_pocket

pytestmark = needs_pocket


@pytest.mark.parametrize("labs", ["8", "8,9"])
def test_ctrl_c_ends_a_run_within_a_second_or_so(tmp_path, labs):
    """While a step runs, it says what stays; regression: five seconds without a word."""
    out = tmp_path / "out"
    run = subprocess.Popen(
        [sys.executable, "-m", "linklab", "run", labs, "--out", str(out), "--jobs", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.rglob("steps/*")) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    pids = group_of(run.pid)
    began = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, said = run.communicate(timeout=20)
    took_s = time.monotonic() - began
    assert run.returncode == 130
    assert said == f"linklab: stopped with Ctrl+C, ending the network; what it has done so far stays in {out}\n"
    assert took_s < 2.5
    assert not alive(pids)
    notes = [json.loads(path.read_text()) for path in out.rglob("incomplete.json")]
    assert [note["why"] for note in notes] == ["stopped with Ctrl+C"]
