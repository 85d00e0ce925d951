# SPDX-License-Identifier: BSD-3-Clause
"""Workers that are copies of a prepared interpreter: what they share, what they do not, and how all of it ends."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from test_supervise import HERE, alive, ended, hold, run, until_gone, until_there

from linklab.base.fork_server import fork_server
from linklab.base.supervise import Began, Ended, Job, OverdueError, Told, supervised
from linklab.base.worker import BrokenError, DiedError, StoppedError
from linklab.grade import worker


@pytest.fixture(autouse=True)
def found_by_new_interpreters(monkeypatch):
    """Jobs of these tests travel by the name of this module."""
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{HERE.parents[1]}")


def prepare():
    """Done once, in the server."""
    importlib.import_module("tabnanny")


def fail():
    """As where a package lacks."""
    raise ImportError("nothing of the kind")


def tell_of_itself(word, tell):
    """What a copy is like, on the channel and in print."""
    tell(word)
    os.write(1, f"printed by {word}\n".encode())
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "folder": str(Path.cwd()),
        "prepared": "tabnanny" in sys.modules,
        "files": len([*Path("/proc/self/fd").iterdir()]) - 1,  # the one that lists them
        "group": os.getpgid(0),
        "stdin": str(Path("/proc/self/fd/0").readlink()),
    }


def parent_of(pid):
    """The process that began another."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def die(_tell):
    """By a signal."""
    os.kill(os.getpid(), signal.SIGKILL)


def refuse(_tell):
    """By an exception of ours."""
    raise ValueError("no")


def wait_long(folder, _tell):
    """Longer than any test."""
    hold(Path(folder), "waits")


def test_a_copy_has_what_was_prepared_and_nothing_else_of_anybody(tmp_path):
    """It works in its folder, prints into its file, and holds open its own channel beside the standard three."""
    with fork_server(prepare) as server:
        job = Job(7, partial(tell_of_itself, "hello"), server=server, folder=tmp_path, printed=tmp_path / "printed")
        began, told, end = run([job])
        assert (began, told, end.error) == (Began(7), Told(7, "hello"), None)
        found = end.value
        (second,) = ended(run([Job(8, partial(tell_of_itself, "again"), server=server)])).values()
    assert found["prepared"] and second.value["prepared"]
    assert found["parent"] == second.value["parent"] != os.getpid()
    assert found["pid"] != second.value["pid"]
    assert (found["folder"], found["group"], found["stdin"]) == (str(tmp_path), found["pid"], "/dev/null")
    assert found["files"] == 4
    assert (tmp_path / "printed").read_text() == "printed by hello\n"
    assert not alive(found["parent"]), "the server ends with its block"


def test_what_becomes_of_one_copy_is_no_matter_to_the_others(tmp_path):
    """One dies, one raises, one takes too long, one cannot travel."""
    with fork_server(prepare) as server:
        jobs = [
            Job(1, die, server=server),
            Job(2, refuse, server=server),
            Job(3, partial(wait_long, str(tmp_path)), 1.0, server=server),
            Job(4, lambda _: "ill", server=server),
            Job(5, partial(tell_of_itself, "well"), server=server),
        ]
        found = ended(run(jobs, grace_s=5.0))
    assert {key: type(end.error) for key, end in found.items() if end.error} == {
        1: DiedError,
        2: BrokenError,
        3: OverdueError,
        4: BrokenError,
    }
    assert found[1].error.how == "signal SIGKILL"
    assert found[5].value["prepared"]
    until_gone([int((tmp_path / "waits").read_text())])


def test_a_server_that_was_killed_is_replaced():
    """No submission of a class is lost by it."""
    with fork_server(prepare) as server:
        (one,) = ended(run([Job(1, partial(tell_of_itself, "one"), server=server)])).values()
        os.kill(one.value["parent"], signal.SIGKILL)
        (two,) = ended(run([Job(2, partial(tell_of_itself, "two"), server=server)])).values()
    assert two.error is None and two.value["prepared"]
    assert two.value["parent"] != one.value["parent"]


def slow_to_end(folder, _tell):
    """As a network that is torn down: two seconds from Ctrl+C to the end."""
    try:
        hold(Path(folder), f"slow-{os.getpid()}")
    finally:
        time.sleep(2)


def test_with_a_server_its_copies_are_interrupted_and_those_of_the_next_are_not(tmp_path):
    """Regression: who waited for a copy of the first server asked the second, which broke at that, and so on."""
    found = {}
    with fork_server(prepare) as server:
        jobs = [Job(number, partial(slow_to_end, str(tmp_path)), server=server) for number in (1, 2)]
        jobs += [Job(number, partial(tell_of_itself, "well"), server=server) for number in (3, 4, 5)]
        killed = False
        with supervised(jobs, 2, tick_s=0.1) as events:
            for event in events:
                waiting = [*tmp_path.glob("slow-*[0-9]")]
                if not killed and len(waiting) == 2:
                    (parent,) = {parent_of(int(path.read_text())) for path in waiting}
                    os.kill(parent, signal.SIGKILL)
                    killed = True
                if isinstance(event, Ended):
                    found[event.key] = event
    assert [type(found[number].error) for number in (1, 2)] == [StoppedError, StoppedError]
    assert [found[number].error for number in (3, 4, 5)] == [None] * 3
    assert len({found[number].value["parent"] for number in (3, 4, 5)}) == 1


def test_what_cannot_be_prepared_is_left_to_who_needs_it():
    """The copies begin all the same, and say what they lack."""
    with fork_server(fail) as server:
        (found,) = ended(run([Job(1, partial(tell_of_itself, "one"), server=server)])).values()
    assert found.error is None and not found.value["prepared"]


def test_where_no_process_can_be_had_the_outcome_says_so(monkeypatch):
    """As the server was told by the kernel."""
    with fork_server(prepare) as server:
        monkeypatch.setattr(server, "_ask", lambda *_: -11)
        (found,) = ended(run([Job(1, partial(tell_of_itself, "one"), server=server)])).values()
    assert isinstance(found.error, BrokenError) and "Resource temporarily unavailable" in str(found.error)


PARENT = """
import sys
from functools import partial
sys.path.insert(0, sys.argv[1])
from linklab.base.fork_server import fork_server
from linklab.base.supervise import Job, supervised
from test_fork_server import prepare, wait_long
with fork_server(prepare) as server, supervised([Job(1, partial(wait_long, sys.argv[2]), server=server)], 1) as events:
    list(events)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_when_the_parent_ends(tmp_path, number):
    """Neither the server nor a copy."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, HERE, tmp_path], stderr=subprocess.DEVNULL)
    try:
        (pid,) = until_there(tmp_path / "waits")
        server = parent_of(pid)
        assert b"fork_server" in Path(f"/proc/{server}/cmdline").read_bytes()
        parent.send_signal(number)
        assert parent.wait(30) == -number
        until_gone([pid, server])
    finally:
        parent.kill()
        parent.wait()


def test_the_server_has_one_thread():
    """A copy has the one that copies alone, and whatever lock another one held would stay locked in it."""
    with fork_server(worker._ready) as server:
        (found,) = ended(run([Job(1, partial(tell_of_itself, "one"), server=server)])).values()
        assert len([*Path(f"/proc/{found.value['parent']}/task").iterdir()]) == 1
