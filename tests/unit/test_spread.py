# SPDX-License-Identifier: BSD-3-Clause
"""Work spread over processes."""

import os
import time
from functools import partial

import pytest

from linklab.errors import InputError
from linklab.grade.spread import SpreadError, spread


def test_what_ends_first_comes_first_and_no_more_than_asked_run_at_once(tmp_path):
    """Three tasks on two processes; the third begins when the first has ended."""

    def task(name, seconds):
        (tmp_path / f"{name}-begins").touch()
        most = len(list(tmp_path.glob("*-begins"))) - len(list(tmp_path.glob("*-ends")))
        time.sleep(seconds)
        (tmp_path / f"{name}-ends").touch()
        return name, os.getpid(), most

    found = list(spread([partial(task, "slow", 0.6), partial(task, "quick", 0.1), partial(task, "last", 0.1)], 2))
    assert [name for name, _, _ in found] == ["quick", "last", "slow"]
    assert max(most for _, _, most in found) == 2
    assert os.getpid() not in {pid for _, pid, _ in found}


def _wrong():
    raise InputError("exercise.toml: there is no check x")


def _broken():
    raise ValueError("odd")


@pytest.mark.parametrize(
    ("task", "says"),
    [
        (_wrong, "exercise.toml: there is no check x"),
        (_broken, "ValueError: odd"),
        (partial(os._exit, 3), "a process of ours ended without a word"),
    ],
)
def test_a_task_that_breaks_ends_the_whole(tmp_path, task, says):
    """With its sentence; what else runs is ended and does not finish."""

    def slow():
        time.sleep(30)
        (tmp_path / "finished").touch()

    began = time.monotonic()
    with pytest.raises(SpreadError, match=says):
        list(spread([slow, task], 2))
    assert time.monotonic() - began < 15
    assert not (tmp_path / "finished").exists()


def test_no_tasks_give_nothing():
    """And wait for nothing."""
    assert list(spread([], 2)) == []
