# SPDX-License-Identifier: BSD-3-Clause
"""Text of `ping` (iputils) → RTT per sequence number, loss, and the summary's figures.

It must not take a lost reply for an RTT of 0, nor know loss where ping was killed before its summary. The format is
that of iputils' ping.c and ping_common.c, under LC_ALL=C.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from linklab.base.text import excerpt
from linklab.errors import DataError, NothingMeasuredError
from linklab.measure.reading import MOST_WORDS, decimal
from linklab.measure.series import Measurements, Quantity, make_series

_START = re.compile(r"^PING (\S+)")
_STATISTICS = re.compile(r"^--- (\S+) ping statistics ---$")
_STAMP = re.compile(r"^\[([\d.]+)\] ", re.ASCII)
_REPLY = re.compile(r"\d+ bytes from ", re.ASCII)
_SEQUENCE = re.compile(r"icmp_seq=(\d+) ", re.ASCII)
_MS = re.compile(r"time[=<]([\d.]+) ms", re.ASCII)
_SUMMARY = re.compile(
    r"^(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received,(?P<rest>.*)$", re.ASCII
)
_DUPLICATES = re.compile(r"\+(\d+) duplicates", re.ASCII)
_ERRORS = re.compile(r"\+(\d+) errors", re.ASCII)
_TIME = re.compile(r"time (\d+)ms", re.ASCII)
_RTT = re.compile(r"^(?:rtt|round-trip) min/avg/max(?:/\w+)? = ([\d.]+)/([\d.]+)/([\d.]+)(?:/([\d.]+))? ms", re.ASCII)
_FAILED = re.compile(r"^ping: (.+)$")
_COMMA = re.compile(r"=\d+,\d+ ms", re.ASCII)
MOST_PROBES = 1_000_000
"""Of one ping with its replies printed: eleven days of one a second."""


@dataclass
class _Run:
    """One ping while its lines are read; `rtt_s` by sequence number, `at_s` likewise where -D was given.

    is_cut: its first lines are missing, as in `ping … | tail -3`, so what was not printed is not known.
    """

    target: str
    is_cut: bool = False
    rtt_s: dict[int, float] = field(default_factory=dict)
    at_s: dict[int, float] = field(default_factory=dict)
    duplicates: int = 0
    errors: int = 0
    highest: int = 0
    sent: float = math.nan
    received: float = math.nan
    elapsed_s: float = math.nan
    summary_s: tuple[float, ...] = ()

    @property
    def name(self) -> str:
        """The target, as a message shows it."""
        return excerpt(self.target) if self.target else "an unnamed host"


def read_pings(text: str, source: str = "ping") -> list[Measurements]:
    """Every ping in `text`, in order; [] if there is none.

    If a ping's first lines are missing, only its summary is read: there is no series, and no scalar that is not shown.

    Scalars: ping.sent, ping.received, ping.duplicates, ping.errors, ping.loss.fraction (0..1), ping.rtt.min, .mean,
    .max, .mdev (s). Series: ping.rtt (s), one value a sequence number, NaN where no reply came.

    Raises:
        NothingMeasuredError: ping could not start; its words.
        DataError: it printed in another language, or a line holds what ping never prints, such as icmp_seq=70000.
    """
    runs: list[_Run] = []
    failure = ""
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.removeprefix("^C")  # a terminal echoes Ctrl+C in front of what is printed next
        if start := _START.match(line):
            runs.append(_Run(start[1]))
        elif failed := _FAILED.match(line):
            failure = failure or failed[1]
        elif _localised(line):
            shown = excerpt(line, MOST_WORDS)
            raise DataError(f'{source}: ping printed numbers with a comma ("{shown}"); run it under LC_ALL=C')
        elif _begins_cut(runs, line):
            runs.append(_Run(statistics[1] if (statistics := _STATISTICS.match(line)) else "", is_cut=True))
        if runs:
            _read_line(runs[-1], line, f"{source}: line {number}")
    if failure and not runs:
        raise NothingMeasuredError(f"ping sent nothing: {excerpt(failure, MOST_WORDS)}", where=source)
    found, probes = [], 0
    for run in runs:
        if run.rtt_s or run.errors or run.summary_s or not math.isnan(run.sent):
            found.append(one := _measurements(run, source))
            probes += sum(len(each.value) for each in one.series.values())
            if probes > MOST_PROBES:
                raise DataError(
                    f"{source}: its pings have more than {MOST_PROBES} probes together, the most that is read"
                )
    return found


def _begins_cut(runs: Sequence[_Run], line: str) -> bool:
    """Whether a line of a summary is that of a ping whose first lines are missing."""
    last = runs[-1] if runs else None
    statistics = _STATISTICS.match(line)
    if statistics and last is not None and last.target != statistics[1]:
        return True
    if statistics or _SUMMARY.match(line):
        return last is None or not math.isnan(last.sent) or bool(last.summary_s)
    return _RTT.match(line) is not None and (last is None or bool(last.summary_s))


def _localised(line: str) -> bool:
    """Whether ping printed this reply in a language with a decimal comma; translated, only icmp_seq stays."""
    sequence = _SEQUENCE.search(line) if line[:1].isdigit() else None
    return bool(sequence and _COMMA.search(line, sequence.end()))


def _read_line(run: _Run, line: str, where: str) -> None:
    stamp = _STAMP.match(line)
    begin = stamp.end() if stamp else 0
    if _REPLY.match(line, begin):
        if run.is_cut or not math.isnan(run.sent):
            return  # behind its summary: of another ping, whose first lines are missing
        _read_reply(run, line, stamp[1] if stamp else "", where)
    elif summary := _SUMMARY.match(line):
        run.sent, run.received = decimal(summary["sent"], where), decimal(summary["received"], where)
        if run.received > run.sent:
            raise DataError(f'{where}: "{excerpt(line)}" has more replies than probes; was the output changed?')
        if duplicates := _DUPLICATES.search(summary["rest"]):
            run.duplicates = int(decimal(duplicates[1], where))
        if errors := _ERRORS.search(summary["rest"]):  # counted with -q too, which prints none of them
            run.errors = int(decimal(errors[1], where))
        if elapsed := _TIME.search(summary["rest"]):
            run.elapsed_s = decimal(elapsed[1], where) / 1e3
    elif rtt := _RTT.match(line):
        run.summary_s = tuple(decimal(value, where) / 1e3 for value in rtt.groups() if value is not None)
    elif line.startswith("From ", begin) and _SEQUENCE.search(line, begin):
        run.errors += 1


def _read_reply(run: _Run, line: str, stamp: str, where: str) -> None:
    """A line of a reply; one that was cut off before its time is none."""
    sequence = _SEQUENCE.search(line)
    time = _MS.search(line, sequence.end()) if sequence else None
    if sequence is None or time is None:
        return
    seq = int(decimal(sequence[1], where))
    if seq >= 2**16:
        raise DataError(
            f"{where}: icmp_seq={seq} is not a number that ping prints, 0 to 65535; was the output changed?"
        )
    # The sequence number has 16 bits.
    while seq < run.highest - 2**15:
        seq += 2**16
    run.highest = max(run.highest, seq)
    if "(DUP!)" in line or seq in run.rtt_s:
        run.duplicates += 1
        return
    run.rtt_s[seq] = decimal(time[1], where) / 1e3
    if stamp:
        run.at_s[seq] = decimal(stamp, where)


def _measurements(run: _Run, source: str) -> Measurements:
    notes: list[str] = []
    whole = not math.isnan(run.sent)
    scalars = {}
    if whole or not run.is_cut:
        scalars = {
            "ping.received": Quantity(run.received if whole else float(len(run.rtt_s)), "packets"),
            "ping.duplicates": Quantity(float(run.duplicates), "packets"),
            "ping.errors": Quantity(float(run.errors), "packets"),
        }
    if whole:
        scalars["ping.sent"] = Quantity(run.sent, "packets")
        if run.sent > 0:
            scalars["ping.loss.fraction"] = Quantity((run.sent - run.received) / run.sent, "")
    else:
        notes.append(f"ping of {run.name} has no summary: how many packets were sent and lost is not known")
    for name, value in zip(("min", "mean", "max", "mdev"), run.summary_s or _statistics(run), strict=False):
        scalars[f"ping.rtt.{name}"] = Quantity(value, "s")
    if not run.rtt_s and not run.summary_s and not (run.is_cut and run.received > 0):
        notes.append(f"ping of {run.name} got no reply: there is no RTT")
    series = {}
    # With -q replies came but were not printed: then there is nothing to draw, which is not the same as loss.
    if run.rtt_s or (run.received == 0 and not run.is_cut):
        last = max([int(run.sent) if whole else 0, *run.rtt_s])
        first = min([1, *run.rtt_s])
        if last - first >= MOST_PROBES:
            raise DataError(f"{source}: the ping of {run.name} has {last - first + 1} probes; {MOST_PROBES} are read")
        numbers = range(first, last + 1)
        times, how = _times(run, numbers)
        values = [run.rtt_s.get(number, math.nan) for number in numbers]
        meta = {"target": run.target, "times": how, "first_seq": numbers.start}
        series["ping.rtt"] = make_series("ping.rtt", "s", times, values, source=source, meta=meta)
    return Measurements(scalars, series, "ping", source, tuple(notes))


def _statistics(run: _Run) -> tuple[float, ...]:
    """min, mean, max, mdev of the replies, as ping would have printed them."""
    values = list(run.rtt_s.values())
    if not values:
        return ()
    mean = sum(values) / len(values)
    # iputils: mdev = sqrt(mean of squares - square of mean).
    variance = max(0.0, sum(value**2 for value in values) / len(values) - mean**2)
    return min(values), mean, max(values), math.sqrt(variance)


def _times(run: _Run, numbers: range) -> tuple[list[float], str]:
    """When each packet was sent, s since the first; and how that is known."""
    if run.at_s and len(run.at_s) == len(run.rtt_s):
        # -D prints when the reply came.
        sent_at = {number: at - run.rtt_s[number] for number, at in run.at_s.items()}
        first = min(sent_at)
        last = max(sent_at)
        step = (sent_at[last] - sent_at[first]) / (last - first) if last > first else 1.0
        origin = sent_at[first] - (first - numbers.start) * step
        times = [sent_at.get(number, origin + (number - numbers.start) * step) - origin for number in numbers]
        return sorted(times), "time stamps of ping -D"
    if run.elapsed_s > 0 and run.sent > 1:
        step = run.elapsed_s / (run.sent - 1)
        return [(number - numbers.start) * step for number in numbers], "sequence number, by the summary's total time"
    return [float(number - numbers.start) for number in numbers], "sequence number, taking the default of 1 s"
