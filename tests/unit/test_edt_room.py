# SPDX-License-Identifier: BSD-3-Clause
"""States of links that move to larger maps."""

from linklab.linux.edt_maps import STATE
from linklab.linux.edt_room import added


def state(**values: int) -> bytes:
    """A state with those values."""
    return STATE.pack(values)


def test_what_was_counted_after_the_copy_is_added():
    """Three packets after the copy in the old map, two in the new one since: all five and the copied ten."""
    copied = state(packets=10, bytes=1000, free_ns=50, left=1, longest_ns=9)
    last = state(packets=13, bytes=1300, lost=1, free_ns=80, left=2, longest_ns=12)
    now = state(packets=12, bytes=1200, marked=4, free_ns=70, left=3, longest_ns=9)
    assert added(now, last, copied) == state(
        packets=15, bytes=1500, lost=1, marked=4, free_ns=80, left=2, longest_ns=12
    )


def test_a_line_is_free_when_the_later_of_both_says_so():
    """With the remainder of that one's division."""
    later = state(free_ns=90, left=5, packets=1)
    assert STATE.unpack(added(later, state(free_ns=80, left=2, packets=1), state()))["free_ns"] == 90
    assert STATE.unpack(added(later, state(free_ns=80, left=2), state()))["left"] == 5


def test_the_state_of_the_loss_model_goes_on_where_it_was():
    """If the new program has changed it since, it stays as that has it."""
    assert STATE.unpack(added(state(), state(is_bad=1), state()))["is_bad"] == 1
    assert STATE.unpack(added(state(is_bad=1), state(), state()))["is_bad"] == 1
