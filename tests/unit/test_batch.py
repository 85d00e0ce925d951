# SPDX-License-Identifier: BSD-3-Clause
"""Several labs at once, a process each, on an engine that answers from a table."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from linklab.lab.model import load_lab
from linklab.run.many import Task, run_batch
from linklab.run.stage import RunSettings

TOML = 'number = NUMBER\ntitle = "T"\n[[expect]]\nstep = "probe"\nshows = "here"\nwhy = "it is"\n'
MANUAL = "## A\n\n```client id=probe\nlook\n```\n"
HOLD = """
import os, sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from scripted import ScriptedEngine
from linklab.run.many import Task, run_batch
from linklab.lab.model import load_lab
from linklab.run.stage import RunSettings
def look(workdir):
    (workdir / "pid.part").write_text(str(os.getpid()))
    (workdir / "pid.part").rename(workdir / "pid")
    time.sleep(60)
here = Path(sys.argv[1])
run_batch([Task(load_lab(here / "labs/01-t"), here / "out")], lambda: ScriptedEngine({"look": look}), RunSettings(), 1,
          lambda task: None)
"""


@pytest.fixture
def labs(tmp_path):
    """Two labs of one step."""
    for number in (1, 2):
        folder = tmp_path / "labs" / f"0{number}-t"
        folder.mkdir(parents=True)
        (folder / "lab.toml").write_text(TOML.replace("NUMBER", str(number)))
        (folder / "manual.md").write_text(MANUAL)
    return [load_lab(tmp_path / "labs" / f"0{number}-t") for number in (1, 2)]


def batch(labs, tmp_path, answer, jobs=2):
    """Run them; the tasks as they ended."""
    tasks = [Task(lab, tmp_path / f"out{lab.number}") for lab in labs]
    run_batch(tasks, lambda: ScriptedEngine({"look": answer}), RunSettings(), jobs, lambda task: None)
    return tasks


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_lab_has_its_verdict_and_folder(labs, tmp_path, jobs):
    """Side by side or one after the other."""
    tasks = batch(labs, tmp_path, "here", jobs)
    assert [(task.state, task.passed, task.of) for task in tasks] == [("pass", 1, 1)] * 2
    assert all((task.out / "run.json").is_file() and (task.out / "report.html").is_file() for task in tasks)


def test_a_lab_that_misses_an_expectation_or_breaks_leaves_the_others_alone(labs, tmp_path):
    """Each says why in a sentence."""

    def answer(workdir):
        if "out2" in str(workdir):
            raise OSError("no room")
        return "nothing"

    missed, broken = batch(labs, tmp_path, answer)
    assert (missed.state, broken.state) == ("fail", "broken")
    assert "probe /here/: expected shown (it is)" in missed.why
    assert broken.why == "OSError: no room"
    assert json.loads((broken.out / "incomplete.json").read_text())["why"] == "OSError: no room"


def test_a_process_that_dies_without_a_word_is_noticed(labs, tmp_path):
    """As one that is killed for lack of memory."""
    tasks = batch(labs[:1], tmp_path, lambda _: os._exit(1))
    assert (tasks[0].state, tasks[0].why) == ("broken", "its process ended without a word (exit code 1)")


def alive(process):
    """Whether the process of this folder of /proc does anything yet."""
    try:
        return "(zombie)" not in (process / "status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_nothing_runs_on_when_the_parent_is_killed(labs, tmp_path):
    """Its labs tear their networks down; regression: they went on by themselves."""
    here = str(Path(__file__).parent)
    parent = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path), here])
    try:
        note = tmp_path / "out/files/pid"
        deadline = time.monotonic() + 30
        while not note.exists() or not note.read_text():
            assert time.monotonic() < deadline, "the lab does not begin"
            time.sleep(0.05)
        child = Path("/proc") / note.read_text()
        parent.kill()
        parent.wait()
        deadline = time.monotonic() + 5
        while alive(child):
            assert time.monotonic() < deadline, "the lab's process still runs"
            time.sleep(0.05)
    finally:
        parent.kill()
        parent.wait()
    assert json.loads((tmp_path / "out/incomplete.json").read_text())["why"] == "stopped with Ctrl+C"
