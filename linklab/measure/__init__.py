# SPDX-License-Identifier: BSD-3-Clause
"""Captured output and result files → `Measurements`: named scalars and series with units.

Plots and commands that need one tool alone use its module, which alone knows its output.
Whatever the input, the answer is measurements or a DataError (`reading`); names and units: docs/measurements.md.
It must not need root, Mininet or a network, nor turn what was not measured into 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from linklab.base.text import file_name
from linklab.errors import DataError
from linklab.measure import iperf3
from linklab.measure.capture import looks_like_capture, measure_capture
from linklab.measure.fairness import read_fairness
from linklab.measure.nstat import read_nstat
from linklab.measure.ping import read_pings
from linklab.measure.qdisc import looks_like_samples, measure_samples, read_samples
from linklab.measure.reading import read_text
from linklab.measure.series import Measurements, Quantity, Series, make_series, merge
from linklab.measure.ss import read_ss
from linklab.measure.tc import read_tc

__all__ = ["Measurements", "Quantity", "Series", "make_series", "measure", "merge"]


def measure(text: str, files: Sequence[Path] = (), source: str = "", *, partial: bool = False) -> Measurements:
    """Everything that text and files of iperf3, ping, tc, ss, nstat, fairness, the queue sampler and tcpdump say.

    The first result of a tool has plain names (`iperf3.throughput.receiver`, `ping.rtt.mean`), the second has its
    number after the tool (`iperf3.2.throughput.receiver`), and so on: first those of `text` in the order in which they
    were printed, then those of `files` in the order given. A file is recognised by what is in it.

    Args:
        text: output of one terminal, without prompts.
        files: iperf3 JSON or text, queue samples, captures; ping, tc or ss output.
        source: where the text is from, for messages.
        partial: take what a killed or failed iperf3 measured up to then.

    Returns:
        Empty if no tool is recognised in `text`.

    Raises:
        DataError: a tool failed before it measured anything, a line of its output cannot be understood, or a file
            holds nothing that is known here.
    """
    parts = _measure_text(text, source, partial=partial)
    for path in files:
        parts += _measure_file(path, partial=partial)
    return merge(parts, source)


def _measure_text(text: str, source: str, *, partial: bool) -> list[Measurements]:
    where = source or "output"
    tests = iperf3.read_output(text, where, partial=partial)
    return [
        *(test.measurements() for test in tests),
        *read_pings(text, where),
        *read_tc(text, where),
        *read_ss(text, where),
        *read_nstat(text, where),
        *read_fairness(text, where),
    ]


def _measure_file(path: Path, *, partial: bool) -> list[Measurements]:
    try:
        with path.open("rb") as file:
            if looks_like_capture(file.read(4)):
                return [measure_capture(path)]
    except OSError as error:
        raise DataError(f"{file_name(path)}: {error.strerror}") from error
    text = read_text(path)
    if looks_like_samples(text):
        return [measure_samples(read_samples(path))]
    if not text.strip() or text.lstrip().startswith("{"):
        return [test.measurements() for test in iperf3.read_json(text, file_name(path), partial=partial)]
    parts = _measure_text(text, file_name(path), partial=partial)
    if not parts:
        raise DataError(f"{file_name(path)}: no output of iperf3, ping, tc or ss, no queue samples and no capture")
    return parts
