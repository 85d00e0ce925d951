# SPDX-License-Identifier: BSD-3-Clause
"""A short run of tools/fuzz.py over every reader, and that the tool sees what it is to see."""

import importlib
import sys
from pathlib import Path

import pytest

from linklab.errors import DataError

TOOLS = Path(__file__).parents[2] / "tools"
COUNT = 15
"""Inputs for each target: some ten seconds in all; `make fuzz` tries 2,500."""


@pytest.fixture(scope="module")
def fuzz():
    """The tool as a module."""
    before = list(sys.path)
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("fuzz")
    sys.path[:] = before


def targets():
    """Names of all targets."""
    sys.path.insert(0, str(TOOLS))
    try:
        return [target.name for target in importlib.import_module("fuzz_targets").TARGETS]
    finally:
        sys.path.remove(str(TOOLS))


@pytest.mark.parametrize("name", targets())
def test_a_reader_takes_or_refuses_whatever_it_is_given(fuzz, name):
    """No foreign exception, no hang, no memory beyond the bound, no broken promise."""
    (target,) = (target for target in fuzz.TARGETS if target.name == name)
    found = fuzz.fuzz(target, COUNT, seed=1)
    assert found.done == COUNT
    assert found.faults == {}


def test_the_same_seed_gives_the_same_inputs(fuzz):
    """Another seed, and another number, gives others."""
    target = fuzz.TARGETS[0]
    seeds = list(target.seeds())
    first = [fuzz.input_of(target, 1, number, seeds) for number in range(5)]
    assert first == [fuzz.input_of(target, 1, number, seeds) for number in range(5)]
    assert len({*first, fuzz.input_of(target, 2, 0, seeds)}) == 6


def foreign(data, folder):
    """A fault of ours."""
    raise KeyError(data[:1])


def greedy(data, folder):
    """An array as long as a number in the input."""
    bytearray(1 << 30)


def wordy(data, folder):
    """A message as long as the input."""
    raise DataError("a" * 2000)


def slow(data, folder):
    """No end."""
    while True:
        pass


@pytest.mark.parametrize(
    ("read", "kind", "what"),
    [
        (foreign, "foreign", "KeyError"),
        (greedy, "memory", ""),
        (wordy, "promise", "a message longer than a screen"),
        (slow, "hang", ""),
    ],
)
def test_each_kind_of_fault_is_found(fuzz, read, kind, what):
    """With the input that shows it; the next input is tried all the same."""
    target = fuzz.Target("bad", lambda: [b"1234"], (), read)
    found = fuzz.fuzz(target, 2, seed=1, deadline_s=0.5 if kind == "hang" else 30)
    ((seen, told), numbers), *others = found.faults.items()
    assert (seen, numbers, others) == (kind, [0, 1], [])
    assert what in told


def test_a_process_that_dies_is_found(fuzz):
    """Such as by a signal, where no exception says so."""

    def die(data, folder):
        importlib.import_module("os")._exit(1)

    found = fuzz.fuzz(fuzz.Target("dead", lambda: [b"1"], (), die), 2, seed=1)
    assert found.faults == {("death", ""): [0, 1]}
