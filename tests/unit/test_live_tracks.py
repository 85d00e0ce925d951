# SPDX-License-Identifier: BSD-3-Clause
"""Tracks of live plots: bounded, thinned without losing peaks, and what is new since somebody looked."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linklab.live.tracks import GROUP, MOST_POINTS, LiveSeries, Track, extremes

SERIES = LiveSeries("queue s1-eth1", "queue", "s1-eth1", "s1-eth1")


def track_of(values, step_s=0.1):
    """A track with one of these values each step."""
    track = Track(SERIES)
    for number, value in enumerate(values):
        track.add(number * step_s, value)
    return track


def test_equal_values_in_a_row_are_two_points():
    """A flat line has its first and its last point, however long it is."""
    times, values = track_of([1.0, 5.0, 5.0, 5.0, 5.0, 2.0]).arrays
    assert values.tolist() == [1.0, 5.0, 5.0, 2.0]
    assert times.tolist() == [0.0, 0.1, 0.4, 0.5]


def test_a_gap_lasts_as_two_points_too():
    """NaN is equal to NaN here."""
    times, values = track_of([1.0, math.nan, math.nan, math.nan]).arrays
    assert np.isnan(values).tolist() == [False, True, True]
    assert times[-1] == 0.3 or abs(times[-1] - 0.3) < 1e-12


def test_time_does_not_go_back():
    """A point that is not later than the last is left out."""
    track = track_of([1.0, 2.0])
    track.add(0.05, 9.0)
    assert track.arrays[1].tolist() == [1.0, 2.0]


def test_an_ended_track_ends_in_a_gap_once():
    """What is known no longer is no value; ending twice changes nothing."""
    track = track_of([3.0])
    track.end(1.0)
    track.end(2.0)
    times, values = track.arrays
    assert times.tolist() == [0.0, 1.0]
    assert math.isnan(values[1])


def test_an_hour_stays_bounded_and_keeps_its_beginning_and_its_peak():
    """Regression of a ring that only forgets: the first second and a short peak are there after an hour."""
    values = [float(number % 7) for number in range(36_000)]
    values[123] = 1e6
    track = track_of(values)
    times, found = track.arrays
    assert len(times) <= MOST_POINTS
    assert times[0] < 1
    assert found.max() == 1e6
    assert (np.diff(times) > 0).all()
    assert track.count == 36_000


@given(st.lists(st.one_of(st.floats(-1e6, 1e6), st.just(math.nan)), min_size=GROUP, max_size=GROUP * 20))
def test_of_each_group_the_extremes_stay(values):
    """The smallest and the largest of each group are among those kept, two of each, in order."""
    array = np.array(values[: len(values) // GROUP * GROUP])
    kept = extremes(array)
    assert (np.diff(kept) > 0).all()
    for number, group in enumerate(array.reshape(-1, GROUP)):
        chosen = array[kept[2 * number : 2 * number + 2]]
        if not np.isnan(group).any():
            assert (chosen.min(), chosen.max()) == (group.min(), group.max())
        elif not np.isnan(group).all():
            assert np.isnan(chosen).any()
            assert np.nanmax(chosen) == np.nanmax(group)


def follow(track, view, count):
    """What a view does with what is new: it drops its points from there on and appends."""
    points = track.since(count)
    if points.whole:
        view.clear()
    else:
        del view[len(view) - (count - points.start) :]
    view.extend(zip(points.time_s.tolist(), points.value.tolist(), strict=True))
    return track.count


def test_a_view_that_takes_what_is_new_has_the_whole_track():
    """Also where the last point has moved, and where it looks seldom."""
    track, view, count = Track(SERIES), [], 0
    for number in range(3 * MOST_POINTS // 4):
        track.add(number * 0.1, float(number // 5))
        if number % 7 in (0, 3):
            count = follow(track, view, count)
    count = follow(track, view, count)
    assert view == list(zip(*(part.tolist() for part in track.arrays), strict=True))


def test_a_view_that_looks_after_thinning_gets_all_anew():
    """The numbers of its points no longer fit."""
    track, view = Track(SERIES), []
    for number in range(10):
        track.add(number * 0.1, float(number))
    count = follow(track, view, 0)
    for number in range(10, 2 * MOST_POINTS):
        track.add(number * 0.1, float(number))
    assert track.since(count).whole
    follow(track, view, count)
    assert view == list(zip(*(part.tolist() for part in track.arrays), strict=True))
