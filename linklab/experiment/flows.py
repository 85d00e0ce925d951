# SPDX-License-Identifier: BSD-3-Clause
"""The flows of a test with its parameters: entries that stand for several become several, places are filled in."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from linklab import units
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.experiment.dscp import parse_marking, parse_own
from linklab.experiment.entries import FlowEntry, NamedTest
from linklab.experiment.model import Traffic, TrafficFlow
from linklab.experiment.parameters import MOST_FLOWS, Given
from linklab.experiment.places import fill, seconds

PROBES = frozenset({Traffic.ICMP, Traffic.UDP_RTT, Traffic.TCP_RTT, Traffic.VOIP, Traffic.HTTP})
SAMPLERS = frozenset({Traffic.QDISC, Traffic.CPU, Traffic.NETSTAT, Traffic.COMMAND})
"""Probes and samplers last the whole test unless an entry says otherwise; loads begin after the delay."""

OWN_CONGESTION = "tcp_cong_control"
"""Flent's parameter for flows that name no algorithm: one, or one for uploads and one for downloads."""
OWN_MARKINGS = "marking_names"

_IPERF_RATE = re.compile(r"(\d+(?:\.\d+)?)([kKmMgG]?)")
_POWERS = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


def flows_of(test: NamedTest, given: Given, hosts: Sequence[str], times: Mapping[str, float]) -> list[TrafficFlow]:
    """The flows: loads, then probes, then samplers, each in the order of the file.

    Raises:
        InputError: a value cannot be, two flows have one series, or there are too many.
    """
    own = parse_own(given.all.get(OWN_MARKINGS, ""))
    found: dict[str, TrafficFlow] = {}
    for entry in test.entries.flows:
        try:
            if entry.needs and entry.needs not in given.yes:
                raise InputError(f"give the parameter {entry.needs}: -P {entry.needs}=…")
            for place in _places(entry, given, hosts, times):
                flow = _flow(entry, given, place, times, own)
                if flow.series in found:
                    raise InputError(f'there are two flows for the series "{excerpt(flow.series)}"')
                found[flow.series] = flow
                if len(found) > MOST_FLOWS:
                    raise InputError(f"there are more than {MOST_FLOWS:,} flows")
        except ValueOfParameterError as error:
            raise InputError(f"{test.name}: {error}") from error
        except InputError as error:
            raise InputError(f"{entry.where}: {error}") from error
    return sorted(found.values(), key=lambda flow: (flow.traffic in PROBES | SAMPLERS) + (flow.traffic in SAMPLERS))


class ValueOfParameterError(InputError):
    """A value of the person's own that cannot be: the message names the parameter, and not where it is used."""


@contextlib.contextmanager
def _names_parameter(text: str, given: Given) -> Iterator[None]:
    """Have an error about a value name the parameter that it comes from.

    text: as the entry has it, such as "{markings}".
    """
    try:
        yield
    except InputError as error:
        name = given.said_by(text)
        if not name:
            raise
        raise ValueOfParameterError(f"parameter {name}: {error}") from error


@dataclass(frozen=True)
class _Place:
    """One flow of an entry: which it is, and what its places stand for."""

    index: int
    target: int
    places: Mapping[str, str]
    times: Mapping[str, float]


def _places(entry: FlowEntry, given: Given, hosts: Sequence[str], times: Mapping[str, float]) -> Iterator[_Place]:
    each: Sequence[Mapping[str, str]] = entry.each or ({},) * _count(entry, given, len(hosts), times)
    turn = times["length"] // max(1, len(each))
    for position, extra in enumerate(each):
        index = position if entry.number is None else entry.number - 1
        if not given.fits(entry.when, index):
            continue
        # an entry of `each` may have places of its own, such as values of the test
        own = {name: fill(text, given.places) for name, text in extra.items()}
        known = {**given.places, **own, "i": str(index), "n": str(index + 1)}
        target = index if entry.count == "hosts" and not entry.target else _target(entry, known)
        if "host" not in given.places:  # a parameter of the test's own
            known["host"] = hosts[target] if target < len(hosts) else f"target {target + 1}"
        # the value of a list may itself have places, such as the number of the flow
        for _ in range(2):
            for name in given.lists:
                known[name] = _filled(given.nth(name, index), known)
        yield _Place(index, target, known, {**times, "turn": turn})


def _filled(text: str, known: Mapping[str, str]) -> str:
    """An `otherwise`, whose places may be those of lists that are not known in the first round."""
    return re.sub(r"\{(\w+)\}", lambda found: known.get(found[1], found[0]), text)


def _count(entry: FlowEntry, given: Given, hosts: int, times: Mapping[str, float]) -> int:
    if entry.every:
        every = seconds(fill(entry.every, given.places), times)
        if every <= 0:
            raise InputError(f'"every" must be above 0 s, not {every:g} s')
        return int(times["length"] // every)
    if entry.count == "hosts":
        return hosts
    if not entry.count:
        return 1
    if entry.count in given.lists:
        return len(given.lists[entry.count])
    word = fill(entry.count if "{" in entry.count else given.places.get(entry.count, entry.count), given.places)
    if not re.fullmatch(r"\d{1,6}", word) or int(word) > MOST_FLOWS:
        raise InputError(
            f'"count" must be a whole number up to {MOST_FLOWS:,}, a parameter, or "hosts", not "{excerpt(word)}"'
        )
    return int(word)


def _target(entry: FlowEntry, known: Mapping[str, str]) -> int:
    word = fill(entry.target or "1", known)
    if not re.fullmatch(r"[1-9]\d{0,3}", word):
        raise InputError(f'"target" must be the number of a target host from 1, not "{excerpt(word)}"')
    return int(word) - 1


def _flow(
    entry: FlowEntry, given: Given, place: _Place, times: Mapping[str, float], own: Mapping[str, int]
) -> TrafficFlow:
    known, ways = place.places, place.times
    load = entry.traffic not in PROBES | SAMPLERS
    with _names_parameter(entry.shift, given):
        shift = seconds(fill(entry.shift, known) or "0", ways)
    if entry.every:
        shift += place.index * seconds(fill(entry.every, known), ways)
    start = seconds(fill(entry.start, known) or ("delay" if load else "0"), ways) + shift
    length = seconds(fill(entry.length, known) or ("length" if load else "total"), ways)
    if entry.shift:
        length -= shift
    series = fill(entry.series, known)
    if length <= 0 or start < 0:
        raise InputError(
            f'the flow "{excerpt(series)}" would begin at {start:g} s and last {length:g} s; '
            "choose a longer test or shorter delays"
        )
    rate, size = fill(entry.rate, known), fill(entry.size, known)
    with _names_parameter(entry.marking, given):
        tos = parse_marking(fill(entry.marking, known), own)
    with _names_parameter(f"{entry.congestion}{{{OWN_CONGESTION}}}", given):
        congestion = _congestion(entry, given, fill(entry.congestion, known))
    with _names_parameter(entry.rate, given):
        rate_bps = _rate_bps(rate) if rate else None
    with _names_parameter(entry.size, given):
        size_bytes = _size_bytes(size) if size else None
    return TrafficFlow(
        series=series,
        traffic=entry.traffic,
        direction=entry.direction,
        target=place.target,
        start_s=round(start, 9),
        length_s=round(length, 9),
        tos=tos,
        congestion=congestion,
        interval_s=seconds(fill(entry.interval, known) or "step", ways),
        rate_bps=rate_bps,
        size_bytes=size_bytes,
        version=entry.version,
        options={name: text for name, text in ((k, fill(v, known)) for k, v in entry.options.items()) if text},
    )


def _congestion(entry: FlowEntry, given: Given, named: str) -> str:
    """The algorithm of a flow: its own, else what the person gave for all."""
    if entry.traffic is not Traffic.TCP:
        return ""
    both = [word.strip() for word in (named or given.all.get(OWN_CONGESTION, "")).split(",")]
    word = both[-1] if entry.direction == "down" else both[0]
    if word and not re.fullmatch(r"[a-z][a-z0-9_]{0,15}", word):
        raise InputError(f'"{excerpt(word)}" is not a congestion control; use one such as cubic or bbr')
    return word


def _rate_bps(text: str) -> float:
    """A rate as iperf3 takes it ("10M" is 10 Mbit/s) or with its unit ("10mbit")."""
    match = _IPERF_RATE.fullmatch(text.strip())
    rate = float(match[1]) * _POWERS[match[2].lower()] if match else units.parse_rate_mbit(text) * 1e6
    if not 0 < rate <= 1e13:
        raise InputError(f'rate "{excerpt(text)}" must be above 0; use one such as 10M')
    return rate


def _size_bytes(text: str) -> int:
    size = units.parse_size_bytes(text)
    if not 1 <= size <= 2**30:
        raise InputError(f'size "{excerpt(text)}" must be from 1 byte to 1 GiB')
    return size
