# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in processes of their own: how many at once, what came of each, and that nothing of them stays."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from linklab.base.signals import TO_STOP, signals_wait
from linklab.base.supervise import Began, Ended, Job, OverdueError, Told, supervised
from linklab.base.worker import BrokenError, DiedError, StoppedError, WorkerError
from linklab.errors import DataError, Fault

HERE = Path(__file__).parent
LONG_S = 60.0


@pytest.fixture(autouse=True)
def found_by_new_interpreters(monkeypatch):
    """Jobs of these tests travel by the name of this module."""
    monkeypatch.setenv("PYTHONPATH", f"{HERE}:{HERE.parents[1]}")


def run(jobs, at_once=2, **options):
    """Every event, in order."""
    with supervised(jobs, at_once, **options) as events:
        return list(events)


def ended(found):
    """What came of each job, by its key."""
    return {event.key: event for event in found if isinstance(event, Ended)}


def alive(pid):
    """Whether a process does anything yet."""
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def hold(folder, name):
    """Say in a file who we are, then wait far longer than any test."""
    (folder / f"{name}.part").write_text(str(os.getpid()))
    (folder / f"{name}.part").rename(folder / name)
    time.sleep(LONG_S)


def until_there(*paths):
    """The process numbers that `hold` wrote."""
    deadline = time.monotonic() + 30
    while not all(path.exists() for path in paths):
        assert time.monotonic() < deadline, "a job does not begin"
        time.sleep(0.01)
    return [int(path.read_text()) for path in paths]


def until_gone(pids):
    """Wait for the end of processes that are no children of ours."""
    deadline = time.monotonic() + 10
    while any(map(alive, pids)):
        assert time.monotonic() < deadline, "a process stays"
        time.sleep(0.01)


# --- what comes of a job


@pytest.mark.parametrize("fresh", [False, True])
def test_a_job_gives_its_result_and_works_in_a_process_of_its_own(tmp_path, fresh):
    """What is told on the way comes between beginning and end; folder and output are the job's."""
    job = Job(7, partial(_introduce, "hello"), fresh=fresh, folder=tmp_path, printed=tmp_path / "printed")
    began, told, end = run([job])
    assert (began, told) == (Began(7), Told(7, "hello"))
    assert (end.key, end.error) == (7, None)
    pid, folder = end.value
    assert pid != os.getpid()
    assert folder == str(tmp_path)
    assert (tmp_path / "printed").read_text() == "printed by hello\n"


def _introduce(word, tell):
    tell(word)
    os.write(1, f"printed by {word}\n".encode())
    return os.getpid(), str(Path.cwd())


def _refuse(_tell):
    raise DataError("no replies in it", where="ping.txt", fault=Fault.NETWORK)


def _break(_tell):
    raise ValueError("odd")


def _lambda(_tell):
    return lambda: None


def _killed(_tell):
    os.kill(os.getpid(), signal.SIGKILL)


def _leave(_tell):
    os._exit(3)


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize(
    ("work", "kind", "says"),
    [
        (_refuse, DataError, "ping.txt: no replies in it"),
        (_break, BrokenError, "ValueError: odd"),
        (_lambda, BrokenError, "pickle"),
        (_killed, DiedError, "its process ended without a word (signal SIGKILL)"),
        (_leave, DiedError, "its process ended without a word (exit code 3)"),
    ],
)
def test_whatever_happens_to_a_job_is_its_outcome_and_the_others_go_on(work, kind, says, fresh):
    """An error keeps its class and whose fault it is, a death is one too, and what is behind comes all the same."""
    found = ended(run([Job(1, work, fresh=fresh), Job(2, lambda _: "well")], at_once=1))
    assert found[2].value == "well"
    assert type(found[1].error) is kind
    assert says in str(found[1].error)
    if work is _refuse:
        assert (found[1].error.fault, found[1].error.where) == (Fault.NETWORK, "ping.txt")
    if work is _break:
        assert 'raise ValueError("odd")' in found[1].error.trace
    if kind is DiedError:
        assert isinstance(found[1].error, WorkerError)
        assert found[1].error.fault is Fault.TOOL


def test_what_a_job_told_before_it_died_is_not_lost():
    """The last messages are there when its end is noticed."""

    def work(tell):
        for number in range(1000):
            tell(number)
        os._exit(0)

    found = run([Job(1, work)])
    assert [event.what for event in found if isinstance(event, Told)] == list(range(1000))
    assert type(found[-1].error) is DiedError


def test_a_job_has_until_its_deadline_and_then_a_grace(tmp_path):
    """One that hangs is interrupted; one that will not hear of that is killed; the others are not kept waiting."""

    def deaf(_tell):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        hold(tmp_path, "deaf")

    jobs = [
        Job(1, lambda _: hold(tmp_path, "hangs"), deadline_s=1.0),
        Job(2, deaf, deadline_s=1.0),
        Job(3, lambda _: "well", deadline_s=LONG_S),
    ]
    began = time.monotonic()
    found = run(jobs, grace_s=1.0)
    assert time.monotonic() - began < 20
    ends = ended(found)
    assert [type(ends[key].error) for key in (1, 2)] == [OverdueError, OverdueError]
    assert str(ends[1].error) == "it took longer than 1 s and was ended"
    assert ends[3].value == "well"
    assert not any(map(alive, until_there(tmp_path / "hangs", tmp_path / "deaf")))


def test_a_job_that_answers_and_does_not_end_is_ended(tmp_path):
    """Its result counts; the thread that it left is no reason to wait."""

    def work(_tell):
        threading.Thread(target=hold, args=(tmp_path, "thread")).start()
        until_there(tmp_path / "thread")
        return "well"

    (end,) = ended(run([Job(1, work)], grace_s=0.5)).values()
    assert (end.value, end.error) == ("well", None)
    assert not alive(*until_there(tmp_path / "thread"))


def test_what_a_job_leaves_running_ends_with_it():
    """Programs in its process group, which nobody waits for."""

    def work(_tell):
        return subprocess.Popen(["sleep", str(LONG_S)]).pid

    (end,) = ended(run([Job(1, work)])).values()
    until_gone([end.value])


def test_a_job_that_cannot_be_started_is_an_outcome_too():
    """Its task does not travel, or there is no room for it; the others go on."""
    found = ended(run([Job(1, lambda _: "ill", fresh=True), Job(2, lambda _: "well")], at_once=1))
    assert type(found[1].error) is BrokenError
    assert "pickle" in str(found[1].error)
    assert found[2].value == "well"


def test_a_process_that_cannot_be_watched_does_not_run_on(monkeypatch, tmp_path):
    """Regression: where no file could be opened for it, it ran on when its block was left."""
    started = []

    def refuse(pid):
        started.append(pid)
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "pidfd_open", refuse)
    found = ended(run([Job(1, lambda _: time.sleep(LONG_S))]))
    assert "Too many open files" in str(found[1].error)
    assert not Path(f"/proc/{started[0]}").exists()


# --- how many, in which order


def test_no_more_jobs_run_than_asked_and_each_place_is_taken_again(tmp_path):
    """With two places the third begins when one of the first two has ended; a pipe, not a clock, says who goes on."""
    gates = [os.pipe() for _ in range(4)]

    def work(number, _tell):
        return os.read(gates[number][0], 1), number

    found = []
    with supervised([Job(number, partial(work, number)) for number in range(4)], 2) as events:
        for event in events:
            found.append(event)
            match event:
                case Began(1):
                    os.write(gates[1][1], b"x")  # the second ends first
                case Began(2):
                    os.write(gates[2][1], b"x")
                case Began(3):
                    os.write(gates[0][1], b"x")
                case Ended(0):
                    os.write(gates[3][1], b"x")
    assert [(type(event).__name__, event.key) for event in found] == [
        ("Began", 0), ("Began", 1), ("Ended", 1), ("Began", 2), ("Ended", 2), ("Began", 3), ("Ended", 0), ("Ended", 3),
    ]  # fmt: skip
    for end in (end for pair in gates for end in pair):
        os.close(end)


def test_a_job_is_drawn_when_there_is_room_for_it():
    """A class of submissions is not read into memory at once."""
    drawn = []

    def jobs():
        for number in range(3):
            drawn.append(number)
            yield Job(number, lambda _: None)

    with supervised(jobs(), 1) as events:
        assert next(events) == Began(0)
        assert drawn == [0]
        assert [event.key for event in events if isinstance(event, Ended)] == [0, 1, 2]


def test_a_display_is_told_that_time_goes_on(tmp_path):
    """None comes while nothing happens; the caller ends what it no longer wants by leaving."""
    with supervised([Job(1, lambda _: hold(tmp_path, "one"))], 1, tick_s=0.05) as events:
        assert next(events) == Began(1)
        assert [next(events) for _ in range(3)] == [None, None, None]
        pids = until_there(tmp_path / "one")
    assert not any(map(alive, pids))


def test_no_jobs_give_nothing():
    """And wait for nothing."""
    assert run([]) == []


# --- ends


def test_leaving_ends_every_process_as_ctrl_c_does(tmp_path):
    """Each can tear down what it built, and none stays."""

    def work(number, _tell):
        try:
            hold(tmp_path, str(number))
        except KeyboardInterrupt:
            (tmp_path / f"{number}-torn-down").touch()
            raise

    with pytest.raises(KeyboardInterrupt), supervised([Job(n, partial(work, n)) for n in (1, 2)], 2) as events:
        assert [next(events), next(events)] == [Began(1), Began(2)]
        pids = until_there(tmp_path / "1", tmp_path / "2")
        raise KeyboardInterrupt
    assert not any(map(alive, pids))
    assert (tmp_path / "1-torn-down").exists()
    assert (tmp_path / "2-torn-down").exists()


def test_a_worker_that_is_interrupted_by_itself_says_so(tmp_path):
    """The batch takes it as the outcome of that job."""

    def work(_tell):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(LONG_S)

    (end,) = ended(run([Job(1, work)])).values()
    assert (type(end.error), str(end.error)) == (StoppedError, "stopped with Ctrl+C")


def test_more_than_one_ctrl_c_does_not_break_off_what_is_torn_down(tmp_path):
    """A killed parent with threads gives several: one for each thread that dies after the one that began the job."""

    def work(_tell):
        try:
            hold(tmp_path, "1")
        finally:
            for _ in range(3):
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            (tmp_path / "torn-down").touch()

    with pytest.raises(KeyboardInterrupt), supervised([Job(1, work)], 1) as events:
        next(events)
        until_there(tmp_path / "1")
        raise KeyboardInterrupt
    assert (tmp_path / "torn-down").exists()


PARENT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from functools import partial
from linklab.base.supervise import Job, supervised
from test_supervise import held
jobs = [Job(n, partial(held, sys.argv[2], str(n)), fresh=n == 2) for n in (1, 2)]
with supervised(jobs, 2) as events:
    list(events)
"""


def held(folder, name, _tell):
    """`hold`, as a job of another program."""
    hold(Path(folder), name)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, -signal.SIGINT), (signal.SIGKILL, -signal.SIGKILL)])
def test_nothing_runs_on_when_the_parent_ends(tmp_path, number, status):
    """Ctrl+C, or killed: the processes of its jobs end too, copies and new ones alike."""
    parent = subprocess.Popen([sys.executable, "-c", PARENT, HERE, tmp_path], stderr=subprocess.DEVNULL)
    try:
        pids = until_there(tmp_path / "1", tmp_path / "2")
        parent.send_signal(number)
        assert parent.wait(30) == status
        until_gone(pids)
    finally:
        parent.kill()
        parent.wait()


def test_jobs_can_be_supervised_from_a_thread(tmp_path):
    """As a worker of a cluster does: only the main thread may change what a signal does."""
    found = []

    def supervise():
        with supervised([Job(1, partial(_introduce, "hello"), fresh=True, printed=tmp_path / "printed")], 1) as events:
            found.extend(events)

    thread = threading.Thread(target=supervise)
    thread.start()
    thread.join(30)
    assert found[1] == Told(1, "hello")
    assert found[2].error is None


def test_ctrl_c_waits_until_a_process_is_started_in_a_program_with_threads_too():
    """Another thread takes the signal, and where the handler ran then, such as in a hook of fork, it was lost."""
    done = threading.Event()
    other = threading.Thread(target=done.wait)
    other.start()
    started = False
    try:
        with pytest.raises(KeyboardInterrupt), signals_wait():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            started = True
    finally:
        done.set()
        other.join()
    assert started
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize("number", TO_STOP)
def test_signals_to_stop_wait_until_what_runs_is_ended(number):
    """Regression: a second SIGTERM, or the terminal's end, broke off the waiting for what was left."""
    heard = []
    before = signal.signal(number, lambda *_: heard.append("heard"))
    try:
        with signals_wait(*TO_STOP):
            os.kill(os.getpid(), number)
            time.sleep(0.01)
            assert heard == []
        assert heard == ["heard"]
    finally:
        signal.signal(number, before)


def test_another_signal_waits_with_ctrl_c_where_that_is_asked_for():
    """Its handler runs when the block is left, and not in it."""
    heard = []
    before = signal.signal(signal.SIGPROF, lambda *_: heard.append("heard"))
    try:
        with signals_wait(signal.SIGPROF):
            signal.raise_signal(signal.SIGPROF)
            signal.raise_signal(signal.SIGPROF)
            time.sleep(0.01)
            assert heard == []
        assert heard == ["heard"]
    finally:
        signal.signal(signal.SIGPROF, before)
