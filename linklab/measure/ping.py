# SPDX-License-Identifier: BSD-3-Clause
"""Text of `ping` (iputils) → RTT per sequence number, loss, and the summary's figures.

It must not take a lost reply for an RTT of 0, nor know loss where ping was killed before its summary. The format is
that of iputils' ping.c and ping_common.c, under LC_ALL=C.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from linklab.errors import DataError, NothingMeasuredError
from linklab.measure.series import Measurements, Quantity, make_series

_START = re.compile(r"^PING (\S+)")
_REPLY = re.compile(r"^(?:\[(?P<at>[\d.]+)\] )?\d+ bytes from .*icmp_seq=(?P<seq>\d+) .*time[=<](?P<ms>[\d.]+) ms")
_ERROR_REPLY = re.compile(r"^(?:\[[\d.]+\] )?From \S+.* icmp_seq=\d+ ")
_SUMMARY = re.compile(r"^(?P<sent>\d+) packets transmitted, (?P<received>\d+) (?:packets )?received,(?P<rest>.*)$")
_DUPLICATES = re.compile(r"\+(\d+) duplicates")
_TIME = re.compile(r"time (\d+)ms")
_RTT = re.compile(r"^(?:rtt|round-trip) min/avg/max(?:/\w+)? = ([\d.]+)/([\d.]+)/([\d.]+)(?:/([\d.]+))? ms")
_FAILED = re.compile(r"^ping: (.+)$")
_LOCALISED = re.compile(r"^\d+ .*icmp_seq=\d+ .*=\d+,\d+ ms")


@dataclass
class _Run:
    """One ping while its lines are read; `rtt_s` by sequence number, `at_s` likewise where -D was given."""

    target: str
    rtt_s: dict[int, float] = field(default_factory=dict)
    at_s: dict[int, float] = field(default_factory=dict)
    duplicates: int = 0
    errors: int = 0
    highest: int = 0
    sent: float = math.nan
    received: float = math.nan
    elapsed_s: float = math.nan
    summary_s: tuple[float, ...] = ()


def read_pings(text: str, source: str = "ping") -> list[Measurements]:
    """Every ping in `text`, in order; [] if there is none.

    Scalars: ping.sent, ping.received, ping.duplicates, ping.errors, ping.loss.fraction (0..1), ping.rtt.min, .mean,
    .max, .mdev (s). Series: ping.rtt (s), one value a sequence number, NaN where no reply came.

    Raises:
        NothingMeasuredError: ping could not start; its words.
        DataError: it printed in another language.
    """
    runs: list[_Run] = []
    failure = ""
    for raw in text.splitlines():
        line = raw.removeprefix("^C")  # a terminal echoes Ctrl+C in front of what is printed next
        if start := _START.match(line):
            runs.append(_Run(start[1]))
        elif failed := _FAILED.match(line):
            failure = failure or failed[1]
        elif _LOCALISED.match(line):
            raise DataError(f'{source}: ping printed numbers with a comma ("{line}"); run it under LC_ALL=C')
        elif runs:
            _read_line(runs[-1], line)
    if failure and not runs:
        raise NothingMeasuredError(f"ping sent nothing: {failure}", where=source)
    return [_measurements(run, source) for run in runs if run.rtt_s or run.errors or not math.isnan(run.sent)]


def _read_line(run: _Run, line: str) -> None:
    if reply := _REPLY.match(line):
        seq = int(reply["seq"])
        # The sequence number has 16 bits.
        while seq < run.highest - 2**15:
            seq += 2**16
        run.highest = max(run.highest, seq)
        if "(DUP!)" in line or seq in run.rtt_s:
            run.duplicates += 1
            return
        run.rtt_s[seq] = float(reply["ms"]) / 1e3
        if reply["at"]:
            run.at_s[seq] = float(reply["at"])
    elif summary := _SUMMARY.match(line):
        run.sent, run.received = float(summary["sent"]), float(summary["received"])
        if duplicates := _DUPLICATES.search(summary["rest"]):
            run.duplicates = int(duplicates[1])
        if elapsed := _TIME.search(summary["rest"]):
            run.elapsed_s = float(elapsed[1]) / 1e3
    elif rtt := _RTT.match(line):
        run.summary_s = tuple(float(value) / 1e3 for value in rtt.groups() if value is not None)
    elif _ERROR_REPLY.match(line):
        run.errors += 1


def _measurements(run: _Run, source: str) -> Measurements:
    notes: list[str] = []
    whole = not math.isnan(run.sent)
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
        notes.append(f"ping of {run.target} has no summary: how many packets were sent and lost is not known")
    for name, value in zip(("min", "mean", "max", "mdev"), run.summary_s or _statistics(run), strict=False):
        scalars[f"ping.rtt.{name}"] = Quantity(value, "s")
    if not run.rtt_s and not run.summary_s:
        notes.append(f"ping of {run.target} got no reply: there is no RTT")
    series = {}
    # With -q replies came but were not printed: then there is nothing to draw, which is not the same as loss.
    if run.rtt_s or run.received == 0:
        last = max([int(run.sent) if whole else 0, *run.rtt_s])
        numbers = range(min([1, *run.rtt_s]), last + 1)
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
