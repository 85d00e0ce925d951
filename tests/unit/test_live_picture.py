# SPDX-License-Identifier: BSD-3-Clause
"""What is seen becomes a figure and a data set; a view elsewhere is told what is new."""

import json
import math
import re

import numpy as np
import pytest
from test_live_history import FLOW, TBF, row_of

from linklab import data
from linklab.experiment.plots_of import plots_of
from linklab.live import LiveFeed, LiveHistory
from linklab.live.messages import LiveMessages
from linklab.live.picture import ALL, axes_of, dataset, filled, svg
from linklab.live.readings import parse
from linklab.plots.named import Loaded
from linklab.plots.palette import COLOURS


def history_of_a_flow(seconds=5.0, period_s=0.1):
    """A flow through a full queue, h1 → h2, after a second of silence."""
    history = LiveHistory()
    shaped = {"s1-eth2": {"qdiscs": [TBF], "classes": []}}
    head = {"t": 0.0, "a": {"h1": ["10.0.0.1"], "h2": ["10.0.0.2"]}, "d": shaped, "q": {"s1-eth2": [0, 0, 0, 0]}}
    history.see(parse(json.dumps(head)))
    told = {"rtt_ms": 40.0, "pacing_bps": 12e6, "mss": 1448, "min_rtt_ms": 40.0, "ssthresh": 20}
    for number in range(1, round(seconds / period_s)):
        time_s = number * period_s
        line = {"t": time_s}
        if time_s >= 1:
            sent = int((time_s - 0.9) * 1.2e6)
            line["s"] = {FLOW: row_of(**told, cwnd=10 + number % 20, bytes_sent=sent, bytes_acked=sent - 5000)}
            line["q"] = {"s1-eth2": [1514 * (number % 15), number % 15, number // 15, 0]}
        history.see(parse(json.dumps(line)))
    return history


def test_panels_hold_the_lines_of_the_time_that_is_asked_for():
    """With the values at both ends, so that a line that was flat before is not cut off."""
    history = history_of_a_flow()
    panels = axes_of(history, 0.55, 3.05)
    assert list(panels) == ["rate", "queue", "packets", "drops", "cwnd", "rtt", "pacing"]
    (rtt,) = panels["rtt"].lines
    assert (rtt.time_s[0], rtt.time_s[-1], set(rtt.value.tolist())) == (1.0, 3.05, {0.04})
    (queue,) = panels["queue"].lines
    assert queue.time_s[0] == 0.55
    assert queue.value[0] == 0
    assert [(label, value) for label, value, _ in panels["queue"].levels] == [("limit of s1-eth2", 30_000.0)]
    assert [line.is_second for line in panels["cwnd"].lines] == [False, True]


def test_one_thing_has_one_look_in_all_panels():
    """The number of its coming."""
    panels = axes_of(history_of_a_flow())
    assert len({line.number for name in ("rate", "cwnd", "rtt", "pacing") for line in panels[name].lines}) == 1
    assert panels["queue"].lines[0].number != panels["cwnd"].lines[0].number
    assert panels["cwnd"].lines[0].look["color"] in COLOURS
    assert panels["cwnd"].lines[0].look["linestyle"] != panels["cwnd"].lines[1].look["linestyle"]


def test_a_figure_has_the_words_of_lines_and_levels():
    """As text, in a file that is the same each time."""
    history = history_of_a_flow()
    first, again = (svg(history, 0.0, 5.0) for _ in range(2))
    assert first == again
    words = re.sub(r"\s+", " ", " ".join(re.findall(r"<!-- (.*?) -->", first.decode())))
    for text in ("h1 → h2:5201", "limit of s1-eth2", "Congestion window", "Network time (s)"):
        assert text in words, words


def test_a_figure_of_nothing_says_so():
    """And is no error."""
    assert b"Nothing was measured" in svg(LiveHistory(), 0.0, 1.0)


def test_only_chosen_tracks_are_drawn():
    """By their keys."""
    assert list(axes_of(history_of_a_flow(), keys=[f"cwnd {FLOW}"])) == ["cwnd"]
    assert list(axes_of(history_of_a_flow(), panels=["rtt", "queue"])) == ["queue", "rtt"]


def test_the_data_set_is_opened_by_the_viewer_with_a_plot_for_each_panel(tmp_path):
    """Written and read back; all panels stand in one plot, which comes first."""
    history = history_of_a_flow()
    data.save(dataset(history, 0.0, 5.0, {"network": "Lab 8"}), path := tmp_path / "live.flent.gz")
    found = data.open_file(path)
    assert found.metadata["network"] == "Lab 8"
    assert found.scalars["limit of s1-eth2"].value == 30_000
    name = "cwnd h1 → h2:5201"
    assert found.series[name].unit == "segments"
    assert found.series[name].known.max() == max(10 + number % 20 for number in range(10, 50))
    specs, first = plots_of([Loaded(path.name, found)])
    assert first.name == ALL
    assert [spec.name for spec in specs] == [ALL, "rate", "queue", "packets", "drops", "cwnd", "rtt", "pacing"]


def test_flat_parts_get_points_in_a_data_set():
    """Two points a minute apart would count as a gap."""
    times, values = filled(np.array([0.0, 60.0, 61.0]), np.array([5.0, 5.0, 7.0]))
    assert np.diff(times).max() == pytest.approx(1.0)
    assert len(times) == 602
    assert set(values.tolist()) == {5.0, 7.0}
    assert (np.diff(times) > 0).all()


class View:
    """A view in another process: holds what it is told."""

    def __init__(self, feed):
        self.messages, self.points, self.series, self.levels = LiveMessages(feed), {}, {}, []

    def look(self):
        """Take what is new."""
        message = json.loads(json.dumps(self.messages.next(), allow_nan=False))
        if message is None:
            return None
        self.series = {one["key"]: one for one in message.get("series", [])} or self.series
        self.levels = message.get("levels", self.levels)
        for key, part in message.get("points", {}).items():
            count, points = self.points.get(key, (0, []))
            kept = [] if part["whole"] else points[: len(points) - (count - part["from"])]
            kept += zip(part["t"], part["v"], strict=True)
            self.points[key] = (part["from"] + len(part["t"]), kept)
        return message


def all_points(history):
    """What a view should have, as JSON has it."""
    found = {}
    for key, track in history.tracks.items():
        times, values = (part.tolist() for part in track.arrays)
        found[key] = [
            (round(t, 6), None if math.isnan(value) else value) for t, value in zip(times, values, strict=True)
        ]
    return found


def test_a_view_that_is_told_what_is_new_has_everything():
    """Beginning in the midst, with a track that ends and others that come."""
    history = history_of_a_flow(3.0)
    feed = LiveFeed(lambda: None, history)
    view = View(feed)
    first = view.look()
    assert [panel["name"] for panel in first["panels"]] == [
        "rate",
        "queue",
        "packets",
        "drops",
        "cwnd",
        "rtt",
        "pacing",
    ]
    for number in range(200):
        time_s = 3 + number * 0.1
        line = {"t": time_s, "q": {"s1-eth2": [number * 10, number % 3, 4, 0]}}
        if number == 50:
            line["e"] = [FLOW]
        if number > 80:
            line["r"] = [[time_s - 0.01, "h1", "10.0.0.2", 40 + number / 10]]
        history.see(parse(json.dumps(line)))
        if number % 3:
            view.look()
    view.look()
    assert {key: [tuple(point) for point in points] for key, (_, points) in view.points.items()} == all_points(history)
    assert set(view.series) == set(history.tracks)
    assert {level["label"] for level in view.levels} == {"rate of s1-eth2", "limit of s1-eth2"}
    assert view.look() is None


def test_a_view_is_told_why_there_is_nothing():
    """Before the first reading it waits."""
    feed = LiveFeed(lambda: None, LiveHistory())
    messages = LiveMessages(feed)
    assert messages.next()["state"] == "waiting"
    feed.why = "the network has ended"
    assert messages.next() == {"state": "ended", "why": "the network has ended"}
