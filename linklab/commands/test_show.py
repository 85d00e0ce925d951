# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test show NAME`: what a test shows, its parameters with defaults, its flows, derived series and plots."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterator, Sequence

from linklab.base.text import visible
from linklab.errors import InputError
from linklab.experiment.algorithms import lacking
from linklab.experiment.dscp import marking_name
from linklab.experiment.entries import NamedTest, ParameterKind
from linklab.experiment.expand import expand
from linklab.experiment.model import Expanded, TrafficFlow
from linklab.experiment.test_file import FAMILIES, load_test

WIDTH = 100
MOST_FLOWS = 40


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `NAME [-P KEY=VALUE]…`."""
    parser.add_argument("test", metavar="TEST", help="name of a test, or a TOML file")
    parser.add_argument(
        "-P",
        "--test-parameter",
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="show the flows as this parameter makes them; may be given again",
    )
    parser.add_argument("--hosts", metavar="N", type=int, default=0, help="with so many target hosts")
    parser.epilog = (
        "examples:\n  linklab test show rrul\n  linklab test show tcp_nup -P upload_streams=3 -P cc_algos=bbr\n"
    )


def run(args: argparse.Namespace) -> int:
    """Print all of it."""
    test = load_test(args.test)
    print("\n".join(visible(line) for line in described(test, given(args.parameters), args.hosts)))
    return 0


def given(words: Sequence[str]) -> dict[str, str]:
    """The parameters of KEY=VALUE words, as several verbs take them; InputError for a word without "="."""
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f'"{word}" is not a parameter; write KEY=VALUE, such as upload_streams=4')
        found[key.strip()] = value.strip()
    return found


def described(test: NamedTest, parameters: dict[str, str], hosts: int) -> Iterator[str]:
    """The lines that describe a test."""
    yield f"{test.name}: {test.title}"
    yield f"family {test.family} ({FAMILIES[test.family]})"
    if test.text:
        yield ""
        yield from textwrap.wrap(" ".join(test.text.split()), WIDTH)
    if test.impossible:
        yield ""
        yield from textwrap.wrap(f"It cannot be run: {test.impossible}", WIDTH)
        return
    yield ""
    yield "Parameters (-P NAME=VALUE)"
    refused = []
    for parameter in test.entries.parameters.values():
        if parameter.kind is ParameterKind.REFUSED:
            refused.append(f"  {parameter.name}: {parameter.text}")
            continue
        kind = "" if parameter.kind is ParameterKind.TEXT else f", {parameter.kind.value}"
        default = f" [{parameter.default}]" if parameter.default else ""
        other = "".join(f", or {name}" for name in parameter.other_names)
        yield f"  {parameter.name}{other}{kind}{default}: {parameter.text}"
    if refused:
        yield "What Flent has and cannot be had here"
        yield from refused
    names = [f"target{number}" for number in range(1, max(hosts, test.hosts, test.usual_hosts) + 1)]
    expanded = expand(test, parameters, hosts=names)
    if missing := lacking(expanded):
        yield ""
        yield from textwrap.wrap(f"It needs {missing}.", WIDTH)
    yield from _contents(expanded)


def _contents(expanded: Expanded) -> Iterator[str]:
    targets = f"{expanded.hosts} target host{'s' if expanded.hosts > 1 else ''}"
    yield ""
    yield f"Flows ({len(expanded.flows)}, to {targets}, {expanded.total_s:g} s in all)"
    for flow in expanded.flows[:MOST_FLOWS]:
        yield f"  {flow.series}: {flow_words(flow)}"
    if len(expanded.flows) > MOST_FLOWS:
        yield f"  and {len(expanded.flows) - MOST_FLOWS:,} more"
    if expanded.derived:
        yield ""
        yield "Derived series"
    for derived in expanded.derived:
        of = ", ".join(derived.of[:4]) + (f" and {len(derived.of) - 4:,} more" if len(derived.of) > 4 else "")
        yield f"  {derived.series}: {derived.rule.value} of {of}"
    yield ""
    yield f"Plots (shown first: {expanded.default_plot})"
    for plot in expanded.plots:
        yield f"  {plot.name} ({plot.kind.value}): {plot.description}"


def flow_words(flow: TrafficFlow) -> str:
    """A flow in a line: what it is, to which target, when, and what is special about it."""
    words = [flow.traffic.value]
    if flow.direction:
        words[0] += f" {flow.direction}"
    words.append(f"host {flow.options['host']}" if "host" in flow.options else f"target {flow.target + 1}")
    words.append(f"{flow.start_s:g} s to {flow.start_s + flow.length_s:g} s")
    if flow.tos:
        words.append(f"marked {marking_name(flow.tos)}")
    words += [flow.congestion] if flow.congestion else []
    words += [f"IPv{flow.version}"] if flow.version else []
    words += [f"{flow.rate_bps / 1e6:g} Mbit/s"] if flow.rate_bps else []
    words += [f"{flow.size_bytes} bytes"] if flow.size_bytes else []
    words += [f"{name} {value}" for name, value in flow.options.items() if name != "host"]
    return ", ".join(words)
