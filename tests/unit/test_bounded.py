# SPDX-License-Identifier: BSD-3-Clause
"""Work that may take so much of the processor and of memory: what is beyond ends it, and the process goes on."""

import resource
import signal
import threading
from contextlib import suppress
from itertools import count

import pytest

from linklab.base.bounded import Bounded
from linklab.errors import DataError

GIB = 2**30


def for_ever():
    """Counts, and takes no notice of errors."""
    for number in count():
        with suppress(Exception):  # as a reader that goes on with the next record
            number + 1


def as_it_was():
    """What `Bounded` changes of this process."""
    handler, timer = signal.getsignal(signal.SIGVTALRM), signal.getitimer(signal.ITIMER_VIRTUAL)
    return handler, timer, resource.getrlimit(resource.RLIMIT_DATA)


def test_what_computes_for_ever_ends_by_an_error():
    """It says what it was that took so long."""
    before = as_it_was()
    said = r"^reading it takes more than 0\.05 s of processor time$"
    with pytest.raises(DataError, match=said), Bounded(0.05, 64 * GIB, "reading it"):
        for_ever()
    assert as_it_was() == before


def test_what_needs_too_much_memory_ends_by_an_error():
    """Before the machine gives it: nothing else notices."""
    before = as_it_was()
    said = r"^reading it takes more than 2 GiB of memory$"
    with pytest.raises(DataError, match=said), Bounded(60, 2 * GIB, "reading it"):
        bytearray(3 * GIB)
    assert as_it_was() == before


def test_what_is_nested_too_deep_ends_by_an_error():
    """As a reader that calls itself for each level."""

    def descend():
        descend()

    with (
        pytest.raises(DataError, match=r"^reading it goes deeper than Python does$"),
        Bounded(60, 64 * GIB, "reading it"),
    ):
        descend()


def test_what_stays_within_its_bounds_is_not_disturbed():
    """Its result is there, and an error of its own is told."""
    before = as_it_was()
    with Bounded(60, 64 * GIB, "reading it"):
        assert len(bytearray(2**20)) == 2**20
    with pytest.raises(DataError, match="no capture"), Bounded(60, 64 * GIB, "reading it"):
        raise DataError("no capture")
    assert as_it_was() == before


def test_a_thread_beside_the_main_one_is_not_bounded():
    """Python handles signals in the main thread alone, and grading measures there."""
    said = []

    def work():
        with Bounded(0.001, 1, "reading it"):
            said.append(len(bytearray(2**20)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert said == [2**20]
