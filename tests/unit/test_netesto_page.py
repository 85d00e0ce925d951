# SPDX-License-Identifier: BSD-3-Clause
"""The pages of a campaign: exp.html of each experiment, and the list of all."""

import html.parser
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from netesto_folders import flow_numbers, flow_series, group, stream_experiment, write_experiment

from linklab.data import open_file
from linklab.measure import make_series
from linklab.netesto import names, page
from linklab.netesto.graph_drawing import GraphLine, together
from linklab.netesto.graphs import acked_rate, draw_graphs, flow_lines, retransmitted_at
from linklab.netesto.recorded import read_experiment
from linklab.netesto.results import process, write_csv

HOSTILE = '"><script>alert(1)</script>&\u202e$x$'
VOID = {"meta", "input", "img", "br", "link"}


class Page(html.parser.HTMLParser):
    """A page as a parser sees it: open tags must be closed in their order."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.words = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        """Keep it, and that it is open."""
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Only the last one that is open can be closed."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Keep what is no style and no script."""
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    def found(self, tag):
        """The attributes of all tags of a name."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def text(self):
        """What a reader sees."""
        return re.sub(r"\s+", " ", " ".join(self.words))


def made(campaign, *folders):
    """The pages of the experiments' folders, and the list."""
    for folder in folders:
        process(folder, campaign)
    write_csv(campaign)
    return [Page((folder / "exp.html").read_text()) for folder in folders], Page(
        (campaign / "ExpList.html").read_text()
    )


def test_a_page_has_a_column_for_each_group_and_its_graphs(tmp_path):
    """The rows of Netesto's, and seven graphs inside the page as in files beside it."""
    (one,), _ = made(tmp_path, stream_experiment(tmp_path))
    assert "Experiment 1: 1s1c01fs" in one.text
    for words in (
        "Rate, all instances (Mbit/s) 12",
        "(Mbit/s) 4 / 6 / 8",
        "localRetrans (segments) 5",
        "segments) 0.6667",
    ):
        assert words in one.text
    assert "client-tx-packets 1,000" in one.text
    pictures = one.found("img")
    assert [Path(each).stem for each in sorted(tmp_path.glob("1/*.svg"))] == [
        *("acked_rate", "cwnd", "minrtt", "rates", "retrans", "rtt", "unacked"),
    ]
    assert len(pictures) == 7
    assert all(picture["src"].startswith("data:image/svg+xml;base64,") and picture["alt"] for picture in pictures)
    for path in tmp_path.glob("1/*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")  # noqa: S314 - our own


def test_a_page_asks_for_no_other_file(tmp_path):
    """It can be mailed: no address of a network, no file for its looks."""
    folder = stream_experiment(tmp_path)
    (one,), all_of_them = made(tmp_path, folder)
    for found in (one, all_of_them):
        assert not found.found("link")
        assert all("src" not in each for each in found.found("script"))
        links = [each["href"] for each in found.found("a") if not each["href"].startswith("#")]
        assert not [each for each in links if "://" in each]
    for link in [each["href"] for each in one.found("a") if not each["href"].startswith("#")]:
        assert (folder / link).exists(), link


def test_names_from_a_script_are_text(tmp_path):
    """Markup in every text that a script decides is shown, not obeyed."""
    groups = [group(1, host=HOSTILE.replace("/", ""), server=HOSTILE.replace("/", ""), ca=HOSTILE, req=HOSTILE)]
    settings = [{"word": HOSTILE, "host": HOSTILE, "arguments": {HOSTILE: HOSTILE}}]
    folder = write_experiment(
        tmp_path,
        1,
        groups,
        flow_series(names.STREAM, 1, 1),
        flow_numbers(names.STREAM, 1, 1),
        name=HOSTILE,
        desc=HOSTILE,
        other={HOSTILE: HOSTILE, "testType": HOSTILE},
        settings=settings,
    )
    (one,), listed = made(tmp_path, folder)
    assert one.found("script") == []
    assert len(listed.found("script")) == 1
    for found in (one, listed):
        assert "<script>alert(1)</script>" in found.text
        assert "\u202e" not in found.text


def test_neighbours_are_linked_when_the_campaign_has_ended(tmp_path):
    """By number, whatever ended first; the first has no Previous and the last no Next."""
    pages, listed = made(tmp_path, *(stream_experiment(tmp_path, exp) for exp in (10, 2, 7)))
    around = {
        exp: {each.get("rel"): each["href"] for each in one.found("a") if each.get("rel")}
        for exp, one in zip((10, 2, 7), pages, strict=True)
    }
    up = "../ExpList.html"
    assert around[2] == {"up": up, "next": "../7/exp.html"}
    assert around[7] == {"prev": "../2/exp.html", "up": up, "next": "../10/exp.html"}
    assert around[10] == {"prev": "../7/exp.html", "up": up}
    assert [each["href"] for each in listed.found("a")][2:] == ["2/exp.html", "7/exp.html", "10/exp.html"]


def test_the_settings_of_the_script_are_shown(tmp_path):
    """As the script has them, without what is empty."""
    settings = [{"word": "SET_QDISC", "host": "r1", "arguments": {"qdisc": "tbf", "rate": "10mbit", "other": ""}}]
    (one,), _ = made(tmp_path, stream_experiment(tmp_path, settings=settings))
    assert "Settings of the script (1) SET_QDISC host=r1 qdisc=tbf rate=10mbit " in one.text


def test_a_single_answer_is_seen(tmp_path):
    """In the graph of latencies it is a line from 0 to 1 at its latency, not a point without size."""
    series = flow_series(names.RR, 1, 1, answers=[5.0])
    folder = write_experiment(tmp_path, 1, [group(1, names.RR)], series, flow_numbers(names.RR, 1, 1))
    process(folder, tmp_path)
    paths = re.findall(r'<path d="M ([\d.]+) ([\d.]+) \nL ([\d.]+) ([\d.]+) \n"', (folder / "latency.svg").read_text())
    assert any(x == to_x and float(y) - float(to_y) > 50 for x, y, to_x, to_y in paths)


def test_a_flow_that_gave_nothing_is_said(tmp_path):
    """A blank number has its reason on the page."""
    folder = write_experiment(
        tmp_path, 1, [group(1, instances=3)], flow_series(names.STREAM, 1, 2), flow_numbers(names.STREAM, 1, 2)
    )
    (one,), _ = made(tmp_path, folder)
    assert "Group 1: 2 of 3 instances gave no rate (1, 3), so no sum of this group is given." in one.text
    assert "Rate, all instances (Mbit/s) –" in one.text


def test_an_experiment_without_any_series_has_a_page(tmp_path):
    """All of its flows failed."""
    (one,), _ = made(tmp_path, write_experiment(tmp_path, 1, [group(1)], counters=False))
    assert "The data set has no series to draw." in one.text
    assert one.found("img") == []


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "–"),
        ("", "–"),
        (0.0, "0"),
        (1234.0, "1,234"),
        (12.3456, "12.35"),
        (123456.7, "123,457"),
        (0.00012, "0.00012"),
    ],
)
def test_numbers_for_people(value, words):
    """Four digits, thousands with a comma, and a dash for what is not known."""
    assert page.shown(value) == words


# --- graphs


def test_the_acknowledged_rate_is_of_the_intervals(tmp_path):
    """8 Mbit/s between all samples."""
    folder = stream_experiment(tmp_path)
    data = open_file(folder / names.data_file(1))
    line = GraphLine("", 1, 1, "STREAM 1::1")
    found = acked_rate(data, line)
    assert found.unit == "Mbits/s"
    assert len(found) == len(data.series["STREAM 1::1"]) - 1
    assert found.value == pytest.approx(8, abs=1e-5)


def test_retransmissions_stand_at_their_instants(tmp_path):
    """The first sample at or after 3 and 5 s; a flow without any has none, and one that nobody watched is unknown."""
    data = open_file(stream_experiment(tmp_path) / names.data_file(1))
    assert list(retransmitted_at(data, GraphLine("", 1, 1, "STREAM 1::1"))) == pytest.approx([3.1, 5.1])
    assert list(retransmitted_at(data, GraphLine("", 1, 2, "STREAM 1::2"))) == []
    assert retransmitted_at(data, GraphLine("", 1, 3, "STREAM 1::3")) is None


def test_a_sum_is_of_the_flows_that_run():
    """2 alone, 2 + 3 together, 3 alone."""
    first = make_series("a", "Mbits/s", np.arange(0, 2.01, 0.2), np.full(11, 2.0))
    second = make_series("b", "Mbits/s", np.arange(1, 3.01, 0.2), np.full(11, 3.0))
    found = together(np.nansum, [first, second])
    at = dict(zip(found.time_s.round(3), found.value, strict=True))
    assert (at[0.4], at[1.6], at[2.8]) == (2, 5, 3)


def many_flows(campaign, groups, instances):
    """An experiment of many bulk flows."""
    told = [group(number, instances=instances, host=f"h{number + 1}") for number in range(1, groups + 1)]
    series, numbers = [], {}
    for number in range(1, groups + 1):
        for instance in range(1, instances + 1):
            series += flow_series(names.STREAM, number, instance, rate=1.0 + instance / 10, retransmits=(2.0,))
            numbers |= flow_numbers(names.STREAM, number, instance)
    return write_experiment(campaign, 1, told, series, numbers, counters=False)


def test_two_hundred_flows_stay_readable(tmp_path):
    """Thin lines, no more than eight groups in the legend and a note of the rest, and a page of a few MB."""
    folder = many_flows(tmp_path, 20, 10)
    recorded, data = read_experiment(folder), open_file(folder / names.data_file(1))
    assert len(flow_lines(recorded)) == 200
    graphs = {graph.name: graph for graph in draw_graphs(recorded, data)}
    assert set(graphs) == {"rates", "acked_rate", "cwnd", "unacked", "rtt", "minrtt", "retrans"}
    assert sum(len(graph.svg) for graph in graphs.values()) < 6_000_000
    assert "of 200 flows, whose means lie between 1.1 and 2 Mbit/s" in graphs["rates"].words
    assert graphs["rates"].svg.count(b"stroke-width: 1.8") == 1  # the sum, above the flows
    notes = re.findall(rb"<!-- (.*?) -->", graphs["rates"].svg)
    assert b"12 more groups repeat the colours" in notes
    assert sum(note.endswith("(×10)".encode()) for note in notes) == 8


def test_the_same_folder_gives_the_same_graphs(tmp_path):
    """Byte for byte."""
    folder = stream_experiment(tmp_path)
    recorded, data = read_experiment(folder), open_file(folder / names.data_file(1))
    assert draw_graphs(recorded, data) == draw_graphs(recorded, data)


# --- the list


def test_the_list_has_a_row_for_each_experiment(tmp_path):
    """Numbers can be sorted in full, columns that are blank everywhere are left out, and words are no numbers."""
    _, listed = made(tmp_path, stream_experiment(tmp_path, 1, desc="6.10"), stream_experiment(tmp_path, 12))
    assert "2 experiments" in listed.text
    heads = re.search(r"exp expName .*? cwnd", listed.text)[0].split()
    assert "rate" in heads
    assert "testNote" not in heads
    numbers = [float(cell["data-v"]) for cell in listed.found("td") if "data-v" in cell]
    assert numbers[:5] == [1, 6.1, 2, 10, 12]  # exp, desc, instances, dur, rate
    assert "6.10" in listed.text
