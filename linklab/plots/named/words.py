# SPDX-License-Identifier: BSD-3-Clause
"""Words of figures: labels made shorter and as a person wants them, and what stands at an axis."""

from __future__ import annotations

import re
from collections.abc import Sequence

from linklab.base.text import one_line
from linklab.plots import palette
from linklab.plots.named.options import Options

MOST_CHARACTERS = 48
"""Of a label; the rest is an ellipsis."""

_ENDS_WORD = re.compile(r"[\s:_\-.,/]")

LATENCY_UNITS = ("ms", "s")
"""Units of quantities that are better the smaller they are."""

_WORDS = {
    "Mbits/s": "Throughput",
    "bit/s": "Throughput",
    "ms": "Latency",
    "s": "Time",
    "bytes": "Data",
    "MOS": "Mean opinion score",
}
"""What a unit measures, if the plot does not say it."""

_KEYS = {
    "tcp_cwnd": ("Congestion window", "segments"),
    "tcp_ssthresh": ("Slow start threshold", "segments"),
    "tcp_retransmits": ("Retransmissions", "segments"),
    "tcp_rtt": ("TCP round-trip time", "ms"),
    "tcp_rtt_var": ("Variation of TCP's round-trip time", "ms"),
    "tcp_delivery_rate": ("Delivery rate", "Mbits/s"),
    "tcp_pacing_rate": ("Pacing rate", "Mbits/s"),
    "tcp_bbr_bw": ("BBR's bandwidth", "Mbits/s"),
    "tcp_bbr_mrtt": ("BBR's least round-trip time", "ms"),
    "owd_up": ("One-way delay up", "ms"),
    "owd_down": ("One-way delay down", "ms"),
    "ipdv": ("Variation of delay", "ms"),
    "ipdv_up": ("Variation of delay up", "ms"),
    "ipdv_down": ("Variation of delay down", "ms"),
    "backlog_bytes": ("Backlog", "bytes"),
    "backlog_pkts": ("Backlog", "packets"),
    "delay": ("Delay", "ms"),
    "dropped": ("Drops", "packets"),
    "ecn_mark": ("Marks", "packets"),
}
"""Further numbers of Flent's samples → words and unit, which its files do not say."""


def unit_of(unit: str, key: str) -> str:
    """The unit of a further number, which the file may not say."""
    return unit or _KEYS.get(key, ("", ""))[1]


def quantity(unit: str, key: str) -> str:
    """Words for what a series measures; "" if they are not known."""
    return _KEYS[key][0] if key in _KEYS else _WORDS.get(unit, "")


def axis_unit(unit: str, largest: float) -> tuple[float, str]:
    """What to divide values by, and the unit as it stands at the axis.

    Units of Flent's stay as they are, so that limits that a person gives hold for every run.
    """
    return (1.0, "Mbit/s") if unit == "Mbits/s" else palette.axis_unit(unit, largest)


def is_latency(unit: str) -> bool:
    """Whether less of it is better."""
    return unit in LATENCY_UNITS


def without_common(labels: Sequence[str], *, both_ends: bool = True) -> list[str]:
    """The labels without the words that all of them begin or end with; those that are all alike stay as they are."""
    if len(set(labels)) < 2:
        return list(labels)
    start = common_start(labels)
    kept = [label[len(start) :] for label in labels]
    end = _whole_words(_common([label[::-1] for label in kept])) if both_ends else ""
    short = [label[: len(label) - len(end)].strip(" -_:.,") for label in kept]
    return short if all(short) and len(set(short)) == len(set(labels)) else list(labels)


def common_start(labels: Sequence[str]) -> str:
    """The whole words, with what ends them, that all labels begin with."""
    return _whole_words(_common(labels)) if labels else ""


def _common(labels: Sequence[str]) -> str:
    """The letters that all labels begin with."""
    first, last = min(labels), max(labels)
    same = next((at for at, letter in enumerate(first) if last[at : at + 1] != letter), len(first))
    return first[:same]


def _whole_words(common: str) -> str:
    """As much of it as ends with the end of a word."""
    found = list(_ENDS_WORD.finditer(common))
    return common[: found[-1].end()] if found else ""


def wanted(label: str, options: Options) -> str:
    """A label as a person wants it, on one line and not too long."""
    for expression in options.filters:
        label = re.sub(expression, "", label)
    for old, new in options.replace.items():
        label = label.replace(old, new)
    label = one_line(label)
    return label if len(label) <= MOST_CHARACTERS else label[: MOST_CHARACTERS - 1] + "…"


def plain(text: str) -> str:
    """Text whose dollar signs are drawn; between two of them Matplotlib would read mathematics, and could fail.

    Its line ends stay; what a font has no picture of, such as control characters, is spelt out.
    """
    return "\n".join(one_line(line) for line in text.split("\n")).replace("$", r"\$")
