# SPDX-License-Identifier: BSD-3-Clause
"""The runner of lists of trials: what is kept, what fails, what is done again, and that the folder is the same."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import trials
from trials import do, entries

from linklab.data import open_file
from linklab.errors import InputError
from linklab.experiment import host_commands
from linklab.experiment.host_commands import HostCommands
from linklab.experiment.model import Trial, TrialCommand, When
from linklab.experiment.runner import ListProgress, TrialTask, at_once, run_entries
from linklab.experiment.trial_cluster import cluster as trial_cluster
from linklab.experiment.trial_folder import opened, read_journal
from linklab.experiment.trial_list import ListedTrial
from linklab.experiment.trial_work import TrialSettings

HERE = Path(__file__).resolve().parent
MODULES = os.pathsep.join([str(HERE), str(HERE.parents[1])])
"""Where another interpreter finds this test's modules, and those that are tested."""


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder, hidden files too."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def states(progress: ListProgress) -> list[str]:
    """The states of all trials in the order of the list."""
    return [task.state for task in progress.tasks]


def test_every_trial_has_its_file_and_the_journal_says_so(tmp_path):
    """And nothing else is left in the folder."""
    progress = do(entries(3), tmp_path / "out")
    assert states(progress) == ["done"] * 3
    assert sorted(contents(tmp_path / "out")) == [
        "a/t-01.flent.gz",
        "a/t-02.flent.gz",
        "a/t-03.flent.gz",
        "trials.json",
    ]
    assert [path.name for path in (tmp_path / "out").iterdir() if path.is_dir()] == ["a"]
    journal = json.loads((tmp_path / "out/trials.json").read_text())
    assert (journal["what"], journal["shuffle_seed"]) == ("test", 1)
    assert [(each["label"], each["state"]) for each in journal["trials"]] == [
        ("seed 1", "done"),
        ("seed 2", "done"),
        ("seed 3", "done"),
    ]
    assert open_file(tmp_path / "out/a/t-02.flent.gz").metadata["seed"] == 2
    assert progress.tasks[0].doing == "measuring"


def test_one_at_a_time_two_at_a_time_and_in_new_interpreters_the_folder_is_the_same(tmp_path, monkeypatch):
    """Byte for byte."""
    monkeypatch.setenv("PYTHONPATH", MODULES)
    do(entries(5), tmp_path / "one", 1)
    do(entries(5), tmp_path / "two", 2)
    do(entries(5), tmp_path / "fresh", 2, fresh=True)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "fresh")


@pytest.mark.parametrize(
    ("note", "why"),
    [
        ("raise it cannot be", "it cannot be"),
        ("die", "its process ended without a word (signal SIGKILL)"),
        ("break", "ZeroDivisionError:"),
    ],
)
def test_a_trial_that_fails_is_named_and_the_others_go_on(tmp_path, note, why):
    """Whatever becomes of its process."""
    found = entries(3)
    found[1] = replace(found[1], trial=replace(found[1].trial, note=note))
    progress = do(found, tmp_path / "out", 1)
    assert states(progress) == ["done", "failed", "done"]
    assert why in progress.tasks[1].why
    record = read_journal(tmp_path / "out")["trials"][1]
    assert (record["state"], record["why"]) == ("failed", progress.tasks[1].why)
    assert not (tmp_path / "out/a/t-02.flent.gz").exists()


def test_a_trial_with_gaps_is_kept_and_says_why(tmp_path):
    """Its data are there; which of its programs failed is told."""
    progress = do(entries(1, "gaps"), tmp_path / "out")
    assert (states(progress), progress.tasks[0].why) == (["gaps"], "Ping (ms) ICMP: no reply")
    assert open_file(tmp_path / "out/a/t-01.flent.gz").series
    again = do(entries(1, "gaps"), tmp_path / "out")
    assert (again.tasks[0].kept, again.tasks[0].state, again.tasks[0].why) == (True, "gaps", "Ping (ms) ICMP: no reply")


def test_a_trial_that_was_ended_early_does_not_count(tmp_path):
    """A part of a test is no repetition of it, so a run that goes on does it again (it was "done")."""
    progress = do(entries(1, "early"), tmp_path / "out")
    assert states(progress) == ["failed"]
    assert progress.tasks[0].why == "the test was ended early, so it does not count"
    assert not list((tmp_path / "out").rglob("*.flent.gz"))


def test_what_is_done_is_not_done_again_and_what_failed_is(tmp_path):
    """The second run ends with what an undisturbed one gives."""
    found = entries(3)
    found[1] = replace(found[1], trial=replace(found[1].trial, note=f"once {tmp_path / 'seen'}"))
    assert states(do(found, tmp_path / "out")) == ["done", "failed", "done"]
    again = do(found, tmp_path / "out")
    assert [(task.state, task.kept) for task in again.tasks] == [("done", True), ("done", False), ("done", True)]
    do(found, tmp_path / "whole")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_a_file_that_was_changed_or_removed_is_made_again(tmp_path):
    """The journal knows what each file held."""
    do(entries(3), tmp_path / "out")
    whole = contents(tmp_path / "out")
    (tmp_path / "out/a/t-01.flent.gz").write_bytes(b"x")
    (tmp_path / "out/a/t-02.flent.gz").unlink()
    again = do(entries(3), tmp_path / "out")
    assert [task.kept for task in again.tasks] == [False, False, True]
    assert contents(tmp_path / "out") == whole


def test_a_folder_of_another_list_is_refused(tmp_path):
    """Before anything in it is touched."""
    do(entries(2), tmp_path / "out")
    whole = contents(tmp_path / "out")
    with pytest.raises(InputError, match="this folder holds another list"), opened(tmp_path / "out", {"what": "other"}):
        pass
    other = [replace(each, trial=replace(each.trial, path="1mbit 10ms")) for each in entries(2)]
    with pytest.raises(InputError, match=r"t-01\.flent\.gz is of another trial"):
        do(other, tmp_path / "out")
    assert contents(tmp_path / "out") == whole


@pytest.mark.parametrize("text", ["", "[]", '{"format": 9, "trials": []}', '{"format": 1, "trials": [{"file": 3}]}'])
def test_a_journal_that_is_none(tmp_path, text):
    """One sentence, with the file's name."""
    (tmp_path / "trials.json").write_text(text)
    with pytest.raises(InputError, match=r"trials\.json: this is not a journal of trials"):
        read_journal(tmp_path)


def test_a_folder_is_worked_on_by_one_run_at_a_time(tmp_path, monkeypatch):
    """The second is told."""
    monkeypatch.setattr("linklab.experiment.trial_folder.LOCK_S", 0.2)
    with (
        opened(tmp_path, {"what": "test"}),
        pytest.raises(InputError, match="another run works on this folder"),
        opened(tmp_path, {"what": "test"}),
    ):
        pass


def test_the_log_of_a_trial_is_kept_where_it_failed_or_is_wanted(tmp_path):
    """And goes where a later run is well."""
    found = [replace(entries(1, "print here I am")[0], keep_log=True), *entries(2, "print hidden")[1:]]
    do(found, tmp_path / "out")
    assert (tmp_path / "out/a/t-01.log").read_text() == (
        "here I am\ntest = tcp_1up\npath = 10mbit 50ms\nseed = 1\nclock = virtual\nengine = pocket\n"
        "profile = desktop\nnote = print here I am\n"
    )
    assert not (tmp_path / "out/a/t-02.log").exists()


def test_commands_for_this_machine_run_only_if_that_was_asked_for(tmp_path):
    """Before, beside and after the trial; those after it also where it fails."""
    log = tmp_path / "log"
    commands = tuple(
        TrialCommand(kind.value, line, kind, on_host=True, kill=True)
        for kind, line in (
            (When.PRE, f"echo pre >> {log}"),
            (When.POST, f"echo post >> {log}"),
            (When.MONITOR, f"echo beside >> {log}; sleep 100"),
        )
    )
    do(entries(1, "sleep 0.3", commands=commands), tmp_path / "without")
    assert not log.exists()
    do(entries(1, "sleep 0.3", commands=commands), tmp_path / "with", host_commands=True)
    assert log.read_text() == "pre\nbeside\npost\n"
    log.unlink()
    failing = (TrialCommand("no", "exit 3", When.PRE, on_host=True, essential=True), *commands)
    progress = do(entries(1, commands=failing), tmp_path / "failing", host_commands=True)
    assert (states(progress), progress.tasks[0].why) == (
        ["failed"],
        "the command no on this machine ended with status 3",
    )
    assert log.read_text() == "post\n"


@pytest.mark.parametrize("when", [When.PRE, When.MONITOR, When.POST])
def test_after_ctrl_c_no_command_is_waited_for_and_those_after_the_trial_run(tmp_path, when):
    """Also where it comes while one of them runs (one beside the trial was waited for, and the last never ran)."""
    log = tmp_path / "log"
    slow = TrialCommand("slow", f"echo begun >> {log}; exec sleep 100", when, on_host=True)
    last = TrialCommand("last", f"echo post >> {log}", When.POST, on_host=True)

    def ctrl_c() -> None:
        while not log.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    interrupt = threading.Thread(target=ctrl_c)
    interrupt.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), HostCommands([slow, last]) as commands:
        commands.whole = when is not When.MONITOR
        if when is When.MONITOR:
            time.sleep(50)
    interrupt.join()
    assert log.read_text() == "begun\npost\n"
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("when", list(When))
def test_ctrl_c_while_a_command_starts_is_heard_when_it_has_started(tmp_path, monkeypatch, when):
    """Regression: a command that had just begun was left running, and those after the trial did not run."""
    log = tmp_path / "log"
    begun = []

    class Interrupted(subprocess.Popen):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            begun.append(self)
            if len(begun) == 1:
                os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(host_commands.subprocess, "Popen", Interrupted)
    monkeypatch.setattr(host_commands, "ENDING_S", 0.5)
    slow = TrialCommand("slow", "exec sleep 100", when, on_host=True)
    last = TrialCommand("last", f"echo post >> {log}", When.POST, on_host=True)
    with pytest.raises(KeyboardInterrupt), HostCommands([slow, last]) as commands:
        commands.whole = True
    assert log.read_text() == "post\n"
    assert [process.poll() is None for process in begun] == [False, False]


def test_where_ctrl_c_is_ignored_the_commands_ignore_it_too(tmp_path):
    """As under nohup, and as a shell starts what it puts into the background."""
    command = TrialCommand("itself", f"kill -INT $$; echo alive >{tmp_path}/log", When.PRE, on_host=True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with HostCommands([command]) as commands:
            commands.whole = True
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "log").read_text() == "alive\n"


def test_no_command_on_this_machine_is_waited_for_without_end(tmp_path, monkeypatch):
    """It is ended and counts as one that failed."""
    monkeypatch.setattr(host_commands, "COMMAND_S", 0.2)
    kinds = (When.PRE, When.MONITOR, When.POST)
    with HostCommands([TrialCommand(kind.value, "exec sleep 100", kind, on_host=True) for kind in kinds]) as commands:
        commands.whole = True
    why = "on this machine did not end in time"
    assert commands.failed == [f"the command {kind.value} {why}" for kind in kinds]


def test_a_command_that_fails_is_told_and_the_trial_counts(tmp_path):
    """On this machine and in the network, before, beside, and after; one that is ended with the test has not failed."""
    on_host = tuple(
        TrialCommand(name, line, kind, on_host=True, kill=name == "ended")
        for name, line, kind in (
            ("set", "exit 4", When.PRE),
            ("watch", "exit 5", When.MONITOR),
            ("ended", "sleep 100", When.MONITOR),
            ("fine", "true", When.POST),
            ("tidy", "exit 6", When.POST),
        )
    )
    inside = (TrialCommand("tc", "tc qdisc", When.PRE, node="r1"), TrialCommand("good", "true", When.PRE))
    progress = do(entries(1, "sleep 0.3", commands=(*on_host, *inside)), tmp_path / "out", host_commands=True)
    assert states(progress) == ["done"]
    why = (
        "the command tc on r1 ended with status 2: RTNETLINK answers: No such file; "
        "the command set on this machine ended with status 4; the command watch on this machine ended with status 5; "
        "the command tidy on this machine ended with status 6"
    )
    assert progress.tasks[0].why == why
    assert read_journal(tmp_path / "out")["trials"][0]["why"] == why
    again = do(entries(1, "sleep 0.3", commands=(*on_host, *inside)), tmp_path / "out", host_commands=True)
    assert (again.tasks[0].kept, again.tasks[0].why) == (True, why)


def test_the_files_that_a_trial_names_are_where_it_works_and_their_folders_are_not_in_its_data(tmp_path):
    """So that the same batch gives the same data elsewhere."""
    (tmp_path / "my.mn").write_text("{}")
    entry = ListedTrial("t", "t", Trial("tcp_1up", topology=str(tmp_path / "my.mn")))
    do([entry], tmp_path / "out")
    assert open_file(tmp_path / "out/t.flent.gz").metadata["topology"] == "my.mn"
    (tmp_path / "my.mn").unlink()
    progress = do([replace(entry, name="u"), *entries(1)], tmp_path / "other")
    assert states(progress) == ["failed", "done"]
    assert progress.tasks[0].why == f"{tmp_path / 'my.mn'}: No such file or directory"


def test_killed_at_random_and_gone_on_with_the_folder_is_the_same(tmp_path):
    """Twenty times, with one and with two processes; what was done by then is not done again."""
    rng = random.Random(18)  # noqa: S311
    do(entries(40, "sleep 0.05"), tmp_path / "whole")
    killed = 0
    for jobs in (1, 2):
        folder = tmp_path / f"killed{jobs}"
        folder.mkdir()
        for _ in range(10):
            process = running(folder, jobs, 40)
            assert process.stdout.readline() == b"begin\n"
            # by how far it is, since a busy machine does nothing in any given time
            wanted = len(list(folder.glob("a/*.gz"))) + rng.randint(0, 2)
            while len(list(folder.glob("a/*.gz"))) < wanted and process.poll() is None:
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.05))
            killed += process.poll() is None
            process.kill()
            process.communicate()
        before = {file for file in contents(folder) if file.endswith(".flent.gz") and not file.startswith(".")}
        assert running(folder, jobs, 40).communicate(timeout=60) == (b"begin\n", None)
        assert before
        assert contents(folder) == contents(tmp_path / "whole")
    assert killed == 20, "the list was done before it could be killed"


def running(folder: Path, jobs: int, count: int) -> subprocess.Popen[bytes]:
    """The list in a process that can be killed."""
    command = [sys.executable, HERE / "trials.py", str(folder), str(jobs), str(count)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": MODULES}
    )


def test_after_ctrl_c_what_is_done_is_kept_and_no_process_is_left(tmp_path):
    """The trial under way counts as not done."""
    folder = tmp_path / "out"
    folder.mkdir()
    process = running(folder, 2, 12)
    until = time.monotonic() + 30
    while len(list(folder.glob("a/*.gz"))) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=20)
    assert process.returncode != 0
    assert not (folder / ".work").exists()
    done = {each["file"] for each in read_journal(folder)["trials"] if each["state"] == "done"}
    assert 2 <= len(done) < 12
    assert done <= {str(path.relative_to(folder)) for path in folder.glob("a/*")}
    do(entries(12, "sleep 0.05"), folder)
    do(entries(12, "sleep 0.05"), tmp_path / "whole")
    assert contents(folder) == contents(tmp_path / "whole")


def test_the_estimate_is_corrected_by_what_has_run(tmp_path):
    """At first it is a guess from what is asked for."""
    progress = ListProgress([TrialTask(replace(each, cost_s=8.0)) for each in entries(4)], jobs=2)
    assert (progress.left_s, progress.measured) == (4 * 8.0 / 2, False)
    progress.tasks[1].state, progress.tasks[1].wall_s = "running", 16.0
    progress.tasks[1].entry = replace(progress.tasks[1].entry, network_s=10.0)
    progress.tasks[1].network_s = 2.0
    assert progress.left_s == 3 * 8.0 / 2  # it has hardly begun
    progress.tasks[1].network_s = 5.0
    assert progress.left_s == (3 * 8.0 * 4 + 16.0) / 2  # half of it took four times as long as was guessed
    progress.tasks[1].state, progress.tasks[1].wall_s = "waiting", 0.0
    progress.tasks[0].state, progress.tasks[0].wall_s = "done", 2.0
    progress.ended(progress.tasks[0])
    assert (progress.left_s, progress.measured) == (3.0, True)
    progress.tasks[1].state, progress.tasks[1].wall_s = "running", 1.5
    assert progress.left_s == pytest.approx((2 * 2 + 0.5) / 2)


def test_trials_on_the_clock_of_the_wall_run_one_after_the_other():
    """They would disturb each other."""
    virtual, wall = Trial("ping"), Trial("ping", clock="paced")
    assert at_once([virtual] * 9, None, 4) == 4
    assert at_once([virtual] * 9, 3, 4) == 3
    assert at_once([virtual] * 2, None, 4) == 2
    assert at_once([virtual, wall], 3, 4) == 1


# --- a cluster


@pytest.fixture(scope="module")
def workers():
    """A scheduler and two workers, processes of their own, on this machine."""
    distributed = pytest.importorskip("distributed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", MODULES)
        made = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50, host="127.0.0.1"
        )
    yield made
    made.close()


def test_on_a_cluster_of_two_workers_the_folder_is_the_same(workers, tmp_path, monkeypatch):
    """Also what fails there."""
    monkeypatch.setattr("linklab.experiment.trial_cluster.examine", no_look)
    found = entries(4)
    found += [
        ListedTrial("bad", "bad", Trial("x", note="raise it cannot be")),
        ListedTrial("dead", "dead", Trial("x", note="die")),
    ]
    do(found, tmp_path / "here")
    folder = tmp_path / "there"
    folder.mkdir()
    progress = ListProgress()
    with (
        trial_cluster(workers.scheduler_address, TrialSettings(trials.fake)) as (deal, threads),
        opened(folder, {"what": "test", "shuffle_seed": 1}) as kept,
    ):
        run_entries(found, kept, deal, progress, lambda task: None)
    assert threads == 2
    assert states(progress) == ["done"] * 4 + ["failed"] * 2
    assert contents(tmp_path / "here") == contents(folder)


def no_look():
    """A worker that says that it can."""
    return "0.1.0", ""
