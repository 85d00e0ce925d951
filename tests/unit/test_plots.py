"""Figures hold what was measured, look the same each time, and never show what is not there."""

from __future__ import annotations

import csv
import math
import os
import threading
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from linklab.errors import InputError
from linklab.measure import make_series
from linklab.measure.iperf3 import read_file
from linklab.measure.qdisc import measure_samples, read_samples
from linklab.plots import palette, style
from linklab.plots.iperf import plot_files
from linklab.plots.panels import Panel, draw_panels
from linklab.plots.queue import Follower, draw_queue, plot_file

CAPTURES = Path(__file__).parent.parent / "captures"
SAMPLES = CAPTURES / "queue-samples-6.1.0-htb-tbf.jsonl"
SEVEN = {"cwnd.pdf", "retransmits.pdf", "RTT.pdf", "RTT_Var.pdf", "throughput.pdf", "MTU.pdf", "bytes.pdf"}


def iperf3(case: str) -> Path:
    """Path of a capture of iperf3."""
    return CAPTURES / f"iperf3-{case}"


def test_seven_figures_and_a_table(tmp_path: Path) -> None:
    """A TCP client's JSON gives the seven figures and the table that the labs name."""
    written = plot_files([iperf3("3.12-tcp-p4.json")], tmp_path / "results")
    assert {path.name for path in written.files} == SEVEN | {"1.dat"}
    assert {path.name for path in (tmp_path / "results").iterdir()} == SEVEN | {"1.dat"}
    assert written.notes == ()


def test_same_data_same_bytes(tmp_path: Path) -> None:
    """Figures of the same file are byte-identical, in each format."""
    figures = []
    for name in ("one", "two"):
        plot_files([iperf3("3.12-tcp.json")], tmp_path / name)
        for suffix in (".png", ".svg"):
            plot_file(SAMPLES, tmp_path / name / f"q{suffix}")
        figures.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    assert figures[0] == figures[1]
    assert b"CreationDate" not in figures[0]["RTT.pdf"]
    assert b"/FontFile2" in figures[0]["RTT.pdf"]


def test_missing_fields_are_said(tmp_path: Path) -> None:
    """With -R there are no window and RTT: no such figures, a sentence for each, and none left from before."""
    plot_files([iperf3("3.12-tcp.json")], tmp_path)
    (tmp_path / "notes.txt").write_text("the student's own")
    written = plot_files([iperf3("3.12-tcp-reverse.json")], tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"throughput.pdf", "bytes.pdf", "1.dat", "notes.txt"}
    assert [note.split(":")[0] for note in written.notes] == [
        "no cwnd.pdf",
        "no retransmits.pdf",
        "no RTT.pdf",
        "no RTT_Var.pdf",
        "no MTU.pdf",
    ]


def test_udp(tmp_path: Path) -> None:
    """UDP has loss and jitter where they were measured: at the server."""
    server = plot_files([iperf3("3.12-server-udp-loss.json")], tmp_path / "server")
    assert {path.name for path in server.files} == {"throughput.pdf", "bytes.pdf", "jitter.pdf", "loss.pdf", "1.dat"}
    client = plot_files([iperf3("3.12-udp-loss.json")], tmp_path / "client")
    assert {path.name for path in client.files} == {"throughput.pdf", "bytes.pdf", "1.dat"}
    assert any(note.startswith("no loss.pdf: a UDP sender does not see") for note in client.notes)


def test_several_files(tmp_path: Path) -> None:
    """Several files share the figures and have a table each."""
    written = plot_files([iperf3("3.12-tcp.json"), iperf3("3.12-two-documents.json")], tmp_path)
    assert {path.name for path in written.files} == SEVEN | {"1.dat", "2.dat", "3.dat"}


def test_table(tmp_path: Path) -> None:
    """The table has every interval of every stream; what was not measured is empty."""
    plot_files([iperf3("3.12-tcp-bidir.json")], tmp_path)
    with (tmp_path / "1.dat").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 6
    assert {row["direction"] for row in rows} == {"forward", "reverse"}
    assert all(row["rtt_s"] and row["cwnd_bytes"] for row in rows if row["direction"] == "forward")
    assert not any(row["rtt_s"] or row["cwnd_bytes"] for row in rows if row["direction"] == "reverse")
    test = read_file(iperf3("3.12-tcp-bidir.json"))[0]
    assert [float(row["throughput_bps"]) for row in rows[:3]] == pytest.approx(
        [row.rate_bps for row in test.flows[0].rows]
    )


def test_gap_stays_a_gap() -> None:
    """NaN interrupts the line; it is not drawn as 0."""
    series = make_series("iperf3.rtt", "s", [1, 2, 3], [0.02, None, 0.03])
    axes = draw_panels([Panel("RTT", [("", series)])]).axes[0]
    drawn = np.asarray(axes.lines[0].get_ydata())
    assert list(drawn) == pytest.approx([20, math.nan, 30], nan_ok=True)
    assert axes.get_ylabel() == "RTT\n(ms)"
    assert axes.get_legend() is None


def test_streams_differ_without_colour() -> None:
    """Eight streams differ in dash or marker too, sixteen in one of the three; each has its legend entry."""
    lines = [(f"stream {n}", make_series("x", "bit/s", [1, 2], [n, n])) for n in range(1, 17)]
    axes = draw_panels([Panel("Throughput", lines)]).axes[0]
    looks = [
        (style.line_look(n, 2)["color"], str(style.line_look(n, 2)["linestyle"]), line.get_marker())
        for n, line in enumerate(axes.lines)
    ]
    assert len({look[1:] for look in looks[:8]}) == 8
    assert len(set(looks)) == 16
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [label for label, _ in lines]


def test_a_sum_is_bold_whatever_its_length() -> None:
    """Of a long test, the lines of the streams are thin and that of the sum is not."""
    times = np.arange(1, 301)
    lines = [(label, make_series("x", "bit/s", times, times)) for label in ("stream 1", "stream 2", "sum")]
    drawn = draw_panels([Panel("Throughput", lines, bold=["sum"])]).axes[0].lines
    assert [line.get_linewidth() for line in drawn] == [0.8, 0.8, 1.6]


def test_a_point_between_gaps_is_seen() -> None:
    """Regression: a short line had no markers, and a value without neighbours was not drawn at all."""
    series = make_series("iperf3.rtt", "s", [1, 2, 3], [0.02, None, 0.03])
    assert draw_panels([Panel("RTT", [("", series)])]).axes[0].lines[0].get_marker() == "o"


def test_a_stub_is_no_part_of_the_axis() -> None:
    """Regression: the rate of a hundredth of a second at the end made room for itself on the axis of a report."""
    meta = {"interval_s": [1, 1, 0.01]}
    series = make_series("iperf3.throughput", "bit/s", [1, 2, 2.01], [1e6, 1e6, 9e6], meta=meta)
    axes = draw_panels([Panel("Throughput", [("", series)])]).axes[0]
    assert (axes.get_ylabel(), axes.get_ylim()[1]) == ("Throughput\n(kbit/s)", pytest.approx(1060))


@pytest.mark.parametrize(
    ("unit", "largest", "expected"),
    [
        ("bit/s", 9.5e9, (1e9, "Gbit/s")),
        ("bit/s", 1e9, (1e6, "Mbit/s")),
        ("bytes", 2.6e6, (1e6, "MB")),
        ("bytes", 1500, (1, "bytes")),
        ("s", 0.039, (1e-3, "ms")),
        ("s", 1.0, (1e-3, "ms")),
        ("s", 0.0005, (1e-6, "µs")),
        ("segments", 17, (1, "segments")),
        ("bytes", 0, (1, "bytes")),
    ],
)
def test_axis_units(unit: str, largest: float, expected: tuple[float, str]) -> None:
    """Axes have the unit in which people say such a number."""
    assert palette.axis_unit(unit, largest) == expected


def test_stub_is_left_out() -> None:
    """The hundredth of a second at the end of a server's output is not drawn; half a second is."""
    test = read_file(iperf3("3.12-tcp-server.json"))[0]
    assert len(style.without_stub(test.measurements().series["iperf3.throughput"])) == 3
    test = read_file(iperf3("3.12-tcp-bytes.json"))[0]
    assert len(style.without_stub(test.measurements().series["iperf3.throughput"])) == 2


def test_queue_figure() -> None:
    """The backlog in kB, named after its discipline and interface, with a line at the limit."""
    axes = draw_queue(measure_samples(read_samples(SAMPLES)), limit_bytes=100000).axes[0]
    assert axes.get_ylabel() == "Queue occupancy (kB)"
    assert max(axes.lines[0].get_ydata()) == pytest.approx(99.924)
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["tbf 2: on r1-eth2", "limit"]


@pytest.mark.parametrize(
    ("kind", "below"),
    [
        ("codel", ["CoDel's delay", "CoDel's count", "Dropping state", "Drops"]),
        ("fq_codel", ["Drops", "Flows in the queue"]),
        ("pie", ["PIE's delay", "PIE's drop probability", "Drops"]),
        ("red", ["Queue", "Drops"]),
        ("htb-tbf", []),
    ],
)
def test_own_state_below_the_backlog(kind: str, below: list[str]) -> None:
    """A discipline that tells of its state has it drawn below the queue, over the same time; a FIFO has the queue."""
    figure = draw_queue(measure_samples(read_samples(CAPTURES / f"queue-samples-6.1.0-{kind}.jsonl")))
    first, *others = figure.axes
    assert [axes.get_ylabel().split("\n")[0] for axes in others] == below
    assert all(axes.get_lines()[0].get_xydata().size for axes in others)
    assert {axes.get_xlim() for axes in others} <= {first.get_xlim()}
    assert [axes.get_xlabel() for axes in figure.axes] == [""] * len(below) + ["Time (s)"]


def test_unknown_format(tmp_path: Path) -> None:
    """A format that cannot be written is refused with those that can, and nothing is left."""
    with pytest.raises(InputError, match=r"q\.gif: a figure can be written as \.pdf, \.png, \.svg"):
        plot_file(SAMPLES, tmp_path / "q.gif")
    assert list(tmp_path.iterdir()) == []


def test_follower(tmp_path: Path) -> None:
    """A file that is not there yet, then grows in the middle of a line, is read as far as it is whole."""
    path = tmp_path / "q.jsonl"
    follower = Follower(path)
    assert not follower.more()
    text = SAMPLES.read_text()
    path.write_text(text[:1000])
    assert follower.more()
    count = len(follower.samples.time_s)
    assert not follower.more()
    path.write_text(text)
    assert follower.more()
    assert 0 < count < len(follower.samples.time_s) == 30


@pytest.mark.display
@pytest.mark.skipif(not os.environ.get("DISPLAY"), reason="needs a display (xvfb-run)")
def test_live_window(tmp_path: Path) -> None:
    """The window follows the file; s stops the sampling and saves a figure of a column's width."""
    from linklab.plots.queue_window import QueueWindow  # noqa: PLC0415 - needs tkinter

    path, out = tmp_path / "q.jsonl", tmp_path / "q.pdf"
    path.write_text(SAMPLES.read_text()[:3000])
    stopped = threading.Event()
    window = QueueWindow(path, out, stop_sampling=stopped.set)

    def grow_and_press() -> None:
        path.write_text(SAMPLES.read_text())
        window.root.focus_force()
        window.root.event_generate("<Key-s>")
        window.root.after(200, window.close)

    window.root.after(800, grow_and_press)
    window.show()
    assert stopped.is_set()
    assert window.saved
    plot_file(path, tmp_path / "again.pdf")
    assert out.read_bytes() == (tmp_path / "again.pdf").read_bytes()
