# SPDX-License-Identifier: BSD-3-Clause
"""What the grader measured, as data sets: nothing is lost in them, and pages are drawn from them."""

import math
from dataclasses import replace

from graded import report
from hypothesis import given
from hypothesis import strategies as st

from linklab.data import dump, load, open_file
from linklab.exercise.report import Trace
from linklab.grade.datasets import datasets_of, traces_of, write_data
from linklab.grade.html import draw

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def traces(draw):
    """Curves of any labels, some of them the same, with gaps."""
    times = sorted(draw(st.lists(FINITE, max_size=4)))
    values = [draw(FINITE) for _ in times]
    what = draw(st.sampled_from(["throughput", "rtt", "backlog"]))
    return Trace("bulk", 1, what, draw(st.text(max_size=5)), "s", tuple(times), tuple(values))


@given(st.lists(traces(), max_size=4))
def test_curves_come_back_from_data_sets(found):
    """Each curve, its label and its unit, to the last bit, also where two have one label."""
    data = datasets_of(replace(report(), traces=tuple(found)))
    assert traces_of(load(dump(each)) for each in data.values()) == tuple(found)


def test_pages_are_drawn_from_the_files(tmp_path):
    """The charts of what was written are those of what was measured; the files say what they are of."""
    graded = report()
    again = write_data(graded, tmp_path)
    assert draw(replace(graded, traces=again)) == draw(graded)
    names = sorted(path.name for path in (tmp_path / "data").iterdir())
    assert names == sorted(f"{name}.flent.gz" for name in datasets_of(graded))
    first = graded.traces[0]
    data = open_file(tmp_path / "data" / f"{first.experiment}-seed{first.seed}.flent.gz")
    assert (data.metadata["exercise"], data.metadata["experiment"]) == (graded.exercise, first.experiment)
    assert next(iter(data.series.values())).meta == {"what": first.what, "label": first.label}


def test_a_gap_and_what_is_infinite_are_gaps():
    """No curve of a student's network keeps the grader from writing its files."""
    trace = Trace("bulk", 1, "rtt", "h1 → h2", "s", (0.0, 1.0, 2.0), (math.nan, math.inf, 0.5))
    (again,) = traces_of(datasets_of(replace(report(), traces=(trace,))).values())
    assert [math.isnan(value) for value in again.values] == [True, True, False]
