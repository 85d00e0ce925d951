# SPDX-License-Identifier: BSD-3-Clause
"""Signals to a test: the first one ends it early, and none but a second Ctrl+C costs its data."""

import os
import signal
from types import SimpleNamespace

import pytest

from linklab.errors import EngineError
from linklab.experiment import trial
from linklab.experiment.early_end import EarlyEnd, NotBegunError
from linklab.experiment.model import Trial


def send(*numbers: int) -> None:
    """Send signals to this process; a handler has run when the next line is reached."""
    for number in numbers:
        os.kill(os.getpid(), number)


@pytest.mark.parametrize("first", [signal.SIGUSR1, signal.SIGINT])
def test_the_first_signal_ends_a_test_and_further_sigusr1_do_nothing(first):
    """Regression: a second SIGUSR1 lost the data, and said that nothing had been measured."""
    before = signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)
    ends = []
    with EarlyEnd() as early:
        early.begun(lambda: ends.append(first))
        send(first, signal.SIGUSR1, signal.SIGUSR1)
        assert ends == [first]
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)
    assert (signal.getsignal(signal.SIGUSR1), signal.getsignal(signal.SIGINT)) == before


def test_before_the_runner_begins_a_signal_ends_the_test_without_data():
    """There is nothing to keep."""
    for number, error in ((signal.SIGUSR1, NotBegunError), (signal.SIGINT, KeyboardInterrupt)):
        with pytest.raises(error), EarlyEnd():
            send(number)


def test_in_a_process_of_a_batch_further_interrupts_stay_without_effect():
    """Its own handler interrupts once: the kernel may signal again when its parent is killed."""
    heard = []

    def once(number: int, frame: object) -> None:
        heard.append(number)
        if len(heard) == 1:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, once)
    try:
        with EarlyEnd() as early:
            early.begun(lambda: None)
            send(signal.SIGINT, signal.SIGINT, signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(heard) == 3


class _Network:
    """A network whose runner leaves an outcome; `at` sends signals at a moment of the test."""

    environment = {}  # noqa: RUF012 - as an engine has it

    def __init__(self, at):
        self.at, self.link, self.closed = at, SimpleNamespace(on=lambda *_: None), False

    def run(self, steps):
        self.at("run")

    def finished(self, terminal, deadline_s):
        self.at("finished")
        return SimpleNamespace(output="")

    def close(self):
        self.closed = True


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT])
def test_a_signal_while_results_are_collected_costs_no_data(number, tmp_path):
    """Regression: it lost the data of a test that had run to its end."""
    with EarlyEnd() as early:
        assert trial._run(_Network(lambda _: None), tmp_path, 1.0, (early, trial.quiet)) == ""
        send(number)
        assert not (tmp_path / "out").exists()
        with pytest.raises(KeyboardInterrupt):
            send(signal.SIGINT)


def test_a_signal_while_the_runner_runs_leaves_the_file_that_ends_it(tmp_path):
    """On the virtual clock nothing that comes from outside is noticed in time, but a file is."""
    told = []

    def at(moment):
        if moment == "finished":
            send(signal.SIGUSR1, signal.SIGUSR1)
            while not (tmp_path / "out/END").exists():
                pass

    with EarlyEnd() as early:
        assert trial._run(_Network(at), tmp_path, 1.0, (early, lambda progress: told.append(progress.stage))) == ""
    assert told == ["ending early"]


def test_what_is_ended_before_it_began_says_so(tmp_path, monkeypatch):
    """And only that."""
    monkeypatch.setattr(trial, "measure", lambda *_, **__: send(signal.SIGUSR1))
    with pytest.raises(EngineError, match="ended before it had begun, so nothing was measured"):
        trial.run_trial(Trial("ping", path="10mbit 50ms"), tmp_path)
