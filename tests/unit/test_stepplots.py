# SPDX-License-Identifier: BSD-3-Clause
"""Plots of several steps on one time axis, and what an AQM's samples say."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.data import Dataset
from linklab.errors import LabError
from linklab.measure import make_series, measure
from linklab.measure.aqm import red_average
from linklab.measure.series import Quantity, per_second
from linklab.plots import catalogue
from linklab.plots.catalogue import Part

CAPTURES = Path(__file__).parent.parent / "captures"


def samples(kind: str) -> Dataset:
    """Eight seconds of an AQM of a tbf of 1 Gbps, six of them with one TCP flow."""
    return Dataset.of(measure("", [CAPTURES / f"queue-samples-6.1.0-{kind}.jsonl"]), {})


def flow(label: str, start_s: float, end_s: float, mbps: float = 500, omitted_s: float = 0) -> Part:
    """An iperf3 test of a value a second."""
    times = np.arange(1, end_s - start_s - omitted_s + 1)
    meta = {"congestion": "cubic", "omitted_s": omitted_s}
    series = make_series("iperf3.throughput", "bit/s", times, times * 0 + mbps * 1e6, meta=meta)
    return Part(
        f"{label}-flow", label, Dataset(metadata={"tool": "iperf3"}, series={series.name: series}), start_s, end_s
    )


THROUGHPUT = catalogue.PLOTS["throughput"]


def words(svg: bytes) -> str:
    """The comments that matplotlib leaves beside each text drawn as paths."""
    return " ".join(re.findall(r"<!-- (.*?) -->", svg.decode()))


def test_each_aqm_has_its_own_figures() -> None:
    """What a discipline counts and is in can be drawn; another's figures are not offered."""
    own = {
        kind: [name for name in catalogue.available(samples(kind)) if name not in {"backlog", "drops"}]
        for kind in ("red", "codel", "fq_codel", "pie")
    }
    assert own == {
        "red": ["red-average", "red-drops"],
        "codel": ["codel-count", "codel-delay", "codel-dropping"],
        "fq_codel": ["flows-waiting"],
        "pie": ["pie-prob", "pie-delay", "pie-drops"],
    }


def test_counters_and_states_of_an_aqm_are_scalars() -> None:
    """How many RED dropped early while sampled, and what PIE's probability came to."""
    red, codel, pie = samples("red").scalars, samples("codel").scalars, samples("pie").scalars
    assert (red["queue.early"].value, red["queue.pdrop"].value) == (3, 0)
    assert codel["queue.count.max"].value == 2
    assert pie["queue.prob.max"] == Quantity(0.03364834749500015, "")
    assert pie["queue.delay.max"] == Quantity(44847 * 1e-6, "s")


def test_the_average_of_red_follows_the_queue_with_a_weight_of_a_half() -> None:
    """With ewma 1 the computed average is the queue but for 10 KB at most, a sixth of what is handed over at once."""
    found = samples("red")
    backlog, average = found.series["queue.backlog"], found.series["queue.average"]
    assert average.meta["computed"]
    behind = np.abs(average.value - backlog.value)
    assert (int(behind.argmax()), float(behind.max())) == (3, pytest.approx(10318.03278206801))
    assert [float(average.value[number]) for number in (0, 20, 40)] == pytest.approx([0, 1975407.57433266, 953820])


@given(st.lists(st.integers(0, 40), min_size=2, max_size=30), st.integers(1, 9))
def test_the_average_is_that_of_a_packet_by_packet_count(steps: list[int], ewma: int) -> None:
    """Between samples the formula gives what updating at every arrival on a straight line gives."""
    size, sent = 1000.0, 100
    backlog = np.array(steps, dtype=float) * size
    served = np.cumsum(np.full(len(steps), sent * size))
    series = {
        f"queue.{name}": make_series(f"queue.{name}", "", range(len(steps)), value)
        for name, value in (("backlog", backlog), ("qlen", backlog / size), ("sent.bytes", served))
    }
    if not backlog.any():
        return
    weight, expected = 2.0**-ewma, backlog[0]
    for before, queue in itertools.pairwise(backlog):
        arrivals = round(sent + (queue - before) / size)
        for number in range(1, arrivals + 1):
            expected += weight * (before + (queue - before) * number / arrivals - expected)
    average = red_average(series, {"ewma": ewma})
    assert average is not None
    assert math.isclose(average.value[-1], expected, rel_tol=1e-9, abs_tol=1e-6)


def average_of(backlog: list[float], sent: list[float], ewma: int = 1) -> list[float | None]:
    """The computed average of packets of 1000 bytes; None for NaN."""
    series = {
        f"queue.{name}": make_series(f"queue.{name}", "", range(len(backlog)), value)
        for name, value in (("backlog", backlog), ("qlen", np.array(backlog) / 1000), ("sent.bytes", sent))
    }
    average = red_average(series, {"ewma": ewma})
    assert average is not None
    return [None if math.isnan(value) else value for value in average.value.tolist()]


def test_the_average_goes_on_over_a_gap_by_what_arrived_in_it() -> None:
    """Regression: it began anew at the queue after a gap.

    Four packets fill the queue meanwhile, 1000 to 4000 bytes, and the average is 500, 1250, 2125, 3062.5; two that
    find it empty halve it twice.
    """
    assert average_of([0, 0, math.nan, 4000], [0, 0, math.nan, 0]) == [0, 0, None, pytest.approx(3062.5)]
    assert average_of([4000, 0, math.nan, 0], [0, 4000, math.nan, 6000]) == [4000, 4000, None, 1000]


def test_after_a_gap_in_which_the_discipline_was_replaced_there_is_no_average() -> None:
    """What arrived is not known, nor what the new one's average was; regression: it was the queue."""
    assert average_of([4000, math.nan, 4000, 4000], [9000, math.nan, 1000, 2000]) == [4000, None, None, None]


def test_the_average_starts_at_the_first_sample() -> None:
    """The discipline may be made after the first look."""
    assert average_of([math.nan, 2000, 2000], [math.nan, 0, 1000]) == [None, 2000, 2000]


def test_without_the_weight_there_is_no_average() -> None:
    """An older recording does not say the weight: nothing is made up."""
    assert red_average(samples("red").series, {}) is None


def rates(time_s: list[float], counts: list[float], most: int = 100) -> list[tuple[float, float | None]]:
    """Middle and value of each bin; None for NaN."""
    found = per_second(make_series("queue.drops", "packets", time_s, counts), most)
    assert found.unit == "1/s"
    pairs = zip(found.time_s.tolist(), found.value.tolist(), strict=True)
    return [(middle, None if math.isnan(rate) else rate) for middle, rate in pairs]


def test_counters_are_drawn_as_how_many_a_second() -> None:
    """A step belongs to the time before its sample; regression: it was put after it, into the next bin.

    A counter that starts again begins at 0, and the last bin, half observed, is divided by what was observed.
    """
    assert rates([0, 0.25, 0.5, 0.75, 1.0, 1.25], [5, 5, 9, 2, 2, 3], most=3) == [(0.25, 8), (0.75, 4), (1.25, 4)]


def test_a_steady_counter_has_one_rate_from_the_first_bin_to_the_last() -> None:
    """Regression: bins at the edges, of which only a part was observed, were too low."""
    assert rates([0.75, 1.25, 1.75, 2.25, 2.75], [0, 50, 100, 150, 200], most=2) == [(0.5, 100), (1.5, 100), (2.5, 100)]


def test_what_was_counted_in_a_gap_has_no_rate() -> None:
    """Regression: the bins of a gap were 0, and the first after it was a spike."""
    assert rates([0, 1, 2, 3, 4, 5], [0, 2, math.nan, math.nan, 100, 103], most=5) == [
        (0.5, 2),
        (1.5, None),
        (2.5, None),
        (3.5, None),
        (4.5, 3),
    ]


def test_a_bin_is_no_shorter_than_the_time_between_samples() -> None:
    """Regression: 1.5 s of samples every half second fell into bins of 20 ms, most of them empty."""
    assert rates([0, 0.5, 1.0, 1.5], [0, 1, 1, 4]) == [(0.25, 2), (0.75, 0), (1.25, 6)]


@given(st.lists(st.tuples(st.integers(1, 2000), st.integers(0, 50)), min_size=1, max_size=60), st.integers(1, 40))
def test_the_bins_hold_what_was_counted(steps: list[tuple[int, int]], most: int) -> None:
    """Rate times observed time, added up, is the count."""
    times = np.concatenate(([0], np.cumsum([step[0] for step in steps]))) / 1000
    counts = np.concatenate(([0], np.cumsum([step[1] for step in steps])))
    found = per_second(make_series("queue.drops", "packets", times, counts), most)
    half = (found.time_s[1] - found.time_s[0]) / 2 if len(found) > 1 else math.inf
    observed = np.minimum(found.time_s + half, times[-1]) - np.maximum(found.time_s - half, 0)
    assert float(np.nansum(found.value * observed)) == pytest.approx(counts[-1], rel=1e-6, abs=1e-6)


def test_steps_at_the_same_time_share_an_axis() -> None:
    """A flow that began ten seconds later is drawn ten seconds later; what iperf3 omitted counts as time."""
    parts = [flow("h1", 100, 160), flow("h2", 110, 140, omitted_s=5)]
    starts = catalogue._starts(parts)
    assert starts == {"h1-flow": 0, "h2-flow": 10}
    moved = catalogue._moved(parts[1].data.series["iperf3.throughput"], starts["h2-flow"])
    assert (moved.time_s[0], moved.time_s[-1]) == (16, 40)


def test_what_the_first_flow_omitted_is_time_too() -> None:
    """Regression: the flow that the axis begins with was drawn as much too early as it had omitted."""
    parts = [flow("h1", 100, 130, omitted_s=5), flow("h2", 110, 140)]
    starts = catalogue._starts(parts)
    ((_, first),), ((_, second),) = (catalogue._on_axis(part, "throughput", THROUGHPUT, starts) for part in parts)
    assert (first.time_s[0], first.time_s[-1]) == (6, 30)
    assert (second.time_s[0], second.time_s[-1]) == (11, 40)


def test_a_step_alone_begins_when_iperf3_begins_to_count() -> None:
    """Without a common axis there is nothing that what was omitted would have to fit."""
    part = flow("h1", 100, 130, omitted_s=5)
    ((_, series),) = catalogue._on_axis(part, "throughput", THROUGHPUT, catalogue._starts([part]))
    assert (series.time_s[0], series.time_s[-1]) == (1, 25)


def test_a_queue_is_watched_from_before_the_axis_begins() -> None:
    """The axis begins with the flow, and samples from before it are left out."""
    queue = Part("queue", "client", samples("red"), 98, 112)
    starts = catalogue._starts([flow("h1", 100, 106), queue])
    assert starts == {"h1-flow": 0, "queue": -2}
    assert catalogue._moved(queue.data.series["queue.backlog"], -2).time_s[0] >= 0


def test_steps_one_after_the_other_are_compared_from_their_starts() -> None:
    """Three runs of one flow lie over each other."""
    assert catalogue._starts([flow("h1", 0, 20), flow("h1", 30, 50)]) is None


def test_a_queue_that_was_watched_only_before_the_axis_says_so() -> None:
    """Regression: the panel had a line without a value, which was a ValueError."""
    parts = [flow("h1", 20, 40), Part("queue", "client", samples("red"), 0, 40)]
    message = "queue: no backlog to draw after the time axis begins, with the first step that sends"
    with pytest.raises(LabError, match=re.escape(message)):
        catalogue.draw(parts, ["throughput", "backlog"])


def test_panels_of_one_figure() -> None:
    """Each panel has its words and unit, lines are told by terminal and algorithm, and the bytes are the same."""
    parts = [flow("h1", 10, 16), flow("h2", 10, 16, mbps=300), Part("queue", "client", samples("red"), 9, 18)]
    svg = catalogue.draw(parts, ["throughput", "red-average", "red-drops"])
    for text in ("Throughput", "(Mbit/s)", "h1 cubic", "h2 cubic", "RED's average, computed from it", "(MB)", "(1/s)"):
        assert text in words(svg), text
    assert words(svg).count("Time (s)") == 1
    assert svg == catalogue.draw(parts, ["throughput", "red-average", "red-drops"])


def test_the_average_of_red_is_drawn_with_its_thresholds() -> None:
    """min and max as tc told them; one that the queue comes nowhere near is left out."""
    red = samples("red")
    assert catalogue.PLOTS["red-average"].levels(red) == [("min", 2184533), ("max", 8738133)]
    drawn = words(catalogue.draw([Part("queue", "client", red)], ["red-average"])).split()
    assert red.scalars["queue.backlog.max"].value < 8738133
    assert ("min" in drawn, "max" in drawn) == (True, False)


def test_a_state_has_words_on_its_axis() -> None:
    """CoDel drops or does not: regression, the axis had quarters of it."""
    drawn = words(catalogue.draw([Part("queue", "client", samples("codel"))], ["codel-dropping"])).split()
    assert {"no", "yes"} < set(drawn)
    assert "0.25" not in drawn


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["speed"], 'h1-flow, queue: there is no figure "speed"; there is throughput, backlog'),
        (["rtt"], "h1-flow, queue: there is no rtt over time; there is throughput, backlog"),
        (["throughput"], "queue: it has nothing of throughput over time"),
    ],
)
def test_a_figure_that_cannot_be_drawn_says_why(names: list[str], message: str) -> None:
    """An unknown name, a series that no step has, and a step without a line are told apart."""
    parts = [flow("h1", 0, 6), Part("queue", "client", samples("red"), 0, 8)]
    with pytest.raises(LabError, match=re.escape(message)):
        catalogue.draw(parts, names)


@pytest.mark.parametrize(
    ("name", "meta"),
    [
        ("ping.rtt", {}),
        ("queue.backlog", {}),
        ("queue.backlog", {"kind": 1, "handle": None, "options": [1]}),
        ("iperf3.throughput", {"interval_s": "abc", "omitted_s": "q"}),
        ("iperf3.throughput", {"interval_s": [1, "q", None], "omitted_s": [2]}),
    ],
)
def test_a_data_file_may_say_anything_of_itself(name: str, meta: dict[str, object]) -> None:
    """Regression: what a strange file says of its series, or does not say, broke its plot with a KeyError."""
    series = [make_series(each, "bytes", [0, 1, 2], [1, 2, 3], meta=meta) for each in (name, "queue.average")]
    series += [make_series(f"iperf3.stream.{n}.throughput", "bit/s", [0, 1, 2], [1, 2, 3]) for n in (1, 2)]
    data = Dataset({"start_s": None, "end_s": "x"}, series={each.name: each for each in series})
    part = catalogue.part_of(data)
    assert (part.start_s, part.end_s) == (0, 0)
    beside = replace(part, step="other", start_s=1, end_s=3)
    for figure in catalogue.reported(data):
        assert catalogue.draw([replace(part, step="one", end_s=3), beside], [figure]).startswith(b"<?xml")
