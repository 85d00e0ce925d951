# SPDX-License-Identifier: BSD-3-Clause
"""iperf3 results → one figure a field and one table a test, in a folder `results`.

File names are those that the labs name: cwnd.pdf, retransmits.pdf, RTT.pdf, RTT_Var.pdf, throughput.pdf, MTU.pdf,
bytes.pdf and the table 1.dat; UDP has jitter.pdf and loss.pdf. It must not draw a field that the files lack: that is
said in a sentence instead.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base.files import write_asked
from linklab.measure import Measurements, Series
from linklab.measure.iperf3 import Flow, Iperf3Test, read_file
from linklab.plots import panels, style

_TCP = "TCP"
_UDP = "UDP"


@dataclass(frozen=True)
class _Plot:
    """A figure: its file, the field of the series, the words on the axis, and for which protocol it is meant."""

    file: str
    field: str
    what: str
    protocols: tuple[str, ...]


PLOTS = (
    _Plot("throughput.pdf", "throughput", "Throughput", (_TCP, _UDP)),
    _Plot("bytes.pdf", "bytes", "Data per interval", (_TCP, _UDP)),
    _Plot("cwnd.pdf", "cwnd", "Congestion window", (_TCP,)),
    _Plot("retransmits.pdf", "retransmits", "Retransmitted", (_TCP,)),
    _Plot("RTT.pdf", "rtt", "Smoothed RTT", (_TCP,)),
    _Plot("RTT_Var.pdf", "rttvar", "RTT variation", (_TCP,)),
    _Plot("MTU.pdf", "pmtu", "Path MTU", (_TCP,)),
    _Plot("jitter.pdf", "jitter", "Jitter", (_UDP,)),
    _Plot("loss.pdf", "lost", "Lost", (_UDP,)),
)


@dataclass(frozen=True)
class Written:
    """What was written, and a sentence for each thing that could not be."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def plot_files(paths: Sequence[Path], folder: Path = Path("results"), *, partial: bool = False) -> Written:
    """Read iperf3 results and write every figure and table that they hold into `folder`.

    Figures of an earlier call that have no counterpart now are removed from `folder`, so that none is taken for new.

    Raises:
        DataError: a file cannot be read as iperf3's output.
        InputError: the folder cannot be written.
    """
    tests = [test for path in paths for test in read_file(path, partial=partial)]
    return plot_tests(tests, folder)


def plot_tests(tests: Sequence[Iperf3Test], folder: Path) -> Written:
    """As `plot_files`, for tests that were read already."""
    measured = [test.measurements() for test in tests]
    labels = _test_labels(tests)
    _clear(folder)
    files: list[Path] = []
    notes = [note for test in tests for note in test.notes]  # what is missing over time is said figure by figure
    for plot in PLOTS:
        lines = [
            line
            for test, label, found in zip(tests, labels, measured, strict=True)
            for line in _lines(plot, test, label, found)
        ]
        meant = [test for test in tests if test.protocol in plot.protocols]
        bold = [label for label, series in lines if series.meta["stream"] == 0]
        if lines:
            with style.context():
                style.save(panels.draw_panels([panels.Panel(plot.what, lines, bold)]), folder / plot.file)
            files.append(folder / plot.file)
        elif meant:
            notes.append(f"no {plot.file}: {_why_missing(plot, meant[0])}")
    for number, test in enumerate(tests, start=1):
        table = folder / f"{number}.dat"
        _write_table(test, table)
        files.append(table)
    return Written(tuple(files), tuple(dict.fromkeys(notes)))


def _why_missing(plot: _Plot, test: Iperf3Test) -> str:
    if test.protocol == _UDP:
        return "a UDP sender does not see it over time; the server's output (iperf3 -s -J) has it"
    if not any(flow.rows for flow in test.flows):
        return "the file holds no intervals"
    side = "the sender's side has it (the server's output with -R)" if not _sends(test) else "another version would"
    return f'iperf3 did not write "{plot.field}" for each interval; {side}'


def _sends(test: Iperf3Test) -> bool:
    """Whether this side sent anything; only a sender has a window and an RTT to report."""
    return any(not math.isnan(row.retransmits) for flow in test.flows for row in flow.rows)


def _test_labels(tests: Sequence[Iperf3Test]) -> list[str]:
    """A short, different label for each test: the file's name, with its folder or a number where names are the same."""
    if len(tests) == 1:
        return [""]
    sources = {test.source: Path(test.source) for test in tests}
    stems = [path.stem for path in sources.values()]
    labels = []
    for test in tests:
        path = sources[test.source]
        labels.append(path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}")
    seen: dict[str, int] = {}
    for index, label in enumerate(labels):
        seen[label] = seen.get(label, 0) + 1
        if seen[label] > 1:
            labels[index] = f"{label} #{seen[label]}"
    return labels


def _lines(plot: _Plot, test: Iperf3Test, label: str, found: Measurements) -> list[tuple[str, Series]]:
    lines = []
    for flow in test.flows:
        series = found.series.get(f"iperf3.stream.{flow.number}.{plot.field}")
        if series is not None:
            lines.append((_flow_label(test, flow, label), series))
    if len(test.flows) > 1 and plot.field == "throughput":
        for total in test.sums:
            name = "iperf3.throughput" if total.direction == "forward" else "iperf3.reverse.throughput"
            if name in found.series and len(test.flows_of(total.direction)) > 1:
                arrow = {"forward": "", "reverse": " back"}[total.direction]
                lines.append((f"{label} sum{arrow}".strip(), found.series[name]))
    return lines


def _flow_label(test: Iperf3Test, flow: Flow, label: str) -> str:
    if len(test.flows) == 1:
        return label
    way = " back" if flow.direction == "reverse" else ""
    return f"{label} stream {flow.number}{way}".strip()


_COLUMNS = (
    ("throughput_bps", "rate_bps"),
    ("bytes", "bytes"),
    ("retransmits", "retransmits"),
    ("cwnd_bytes", "cwnd_bytes"),
    ("rtt_s", "rtt_s"),
    ("rttvar_s", "rttvar_s"),
    ("pmtu_bytes", "pmtu_bytes"),
    ("jitter_s", "jitter_s"),
    ("lost_datagrams", "lost"),
    ("datagrams", "datagrams"),
)


def _write_table(test: Iperf3Test, path: Path) -> None:
    """Comma-separated, one line an interval of a stream; what was not measured is empty."""
    lines = [",".join(["stream", "direction", "start_s", "end_s", *(name for name, _ in _COLUMNS)])]
    for flow in test.flows:
        for row in flow.rows:
            cells = [str(flow.number), flow.direction, _cell(row.start_s), _cell(row.end_s)]
            cells += [_cell(getattr(row, attribute)) for _, attribute in _COLUMNS]
            lines.append(",".join(cells))
    write_asked(path, "\n".join(lines) + "\n")


def _cell(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.12g}"


def _clear(folder: Path) -> None:
    names = {plot.file for plot in PLOTS}
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name in names or (path.suffix == ".dat" and path.stem.isdigit()):
            path.unlink()
