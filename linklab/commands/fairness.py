# SPDX-License-Identifier: BSD-3-Clause
"""`linklab fairness`: Jain's index of the flows of one or more iperf3 results.

Index and variation are computed by `linklab.analysis.formulas`, throughputs are read by `linklab.measure.iperf3`.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from linklab.analysis.formulas import coefficient_of_variation, jain_index
from linklab.commands.console import make_console, plain
from linklab.errors import DataError
from linklab.measure.iperf3 import Flow, Iperf3Test, read_file

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_CONVENTION = "Jain's index of the mean throughput of each flow over its whole test, as the receiver saw it where known"

_VARIATION = "CV: standard deviation over mean of a flow's throughput in the intervals of its report"

_EPILOG = """examples:
  iperf3 -c 10.0.0.2 -P 8 -J > out.json
  linklab fairness out.json                  between eight parallel streams
  linklab fairness h1.json h3.json           between the flows of two hosts
  linklab fairness --json out.json | jq '.groups[0].index'

The index is 1 when all flows have the same throughput and 1/n when one of n has everything. With --bidir each direction
has its own index. The coefficient of variation (CV) says how steady a flow was: 0 if it had the same throughput in each
interval of iperf3's report.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `fairness FILE... [--json]`."""
    parser = subparsers.add_parser(
        "fairness",
        help=summary,
        description=f"{_CONVENTION}. {_VARIATION}.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", metavar="FILE", nargs="+", type=Path, help="output of iperf3 -J, or its text")
    parser.add_argument("--json", action="store_true", help="print index and flows as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print the flows and the index of each direction."""
    tests = [test for path in args.files for test in read_file(path)]
    groups = [group for direction in ("forward", "reverse") if (group := _group(tests, direction))["flows"]]
    if args.json:
        print(json.dumps({"convention": _CONVENTION, "groups": groups}, indent=2))
        return 0
    console = make_console(width=80)
    for group in groups:
        _print_group(console, group, titled=len(groups) > 1)
    console.print(f"({_CONVENTION})\n({_VARIATION})", soft_wrap=True)
    return 0


def _group(tests: Sequence[Iperf3Test], direction: str) -> dict[str, Any]:
    """The flows of all files in one direction, and their index.

    Raises:
        DataError: a flow whose throughput is not in its file, or none transferred anything.
    """
    flows = [(test, flow) for test in tests for flow in test.flows if flow.direction == direction]
    if not flows:
        return {"direction": direction, "index": None, "flows": []}
    for test, flow in flows:
        if math.isnan(flow.throughput_bps):
            raise DataError(f"{test.source}: the throughput of stream {flow.number} is not in it")
    try:
        index = jain_index([flow.throughput_bps for _, flow in flows])
    except ValueError as error:
        raise DataError(f"{flows[0][0].source}: {error}") from error
    total = math.fsum(flow.throughput_bps for _, flow in flows)
    rows = [_row(test, flow, total) for test, flow in flows]
    return {"direction": direction, "index": round(index, 5), "flows": rows}


def _row(test: Iperf3Test, flow: Flow, total_bps: float) -> dict[str, Any]:
    return {
        "file": Path(test.source).name,
        "stream": flow.number,
        "sender": flow.sender,
        "receiver": flow.receiver,
        "throughput_mbit": flow.throughput_bps / 1e6,
        "share": flow.throughput_bps / total_bps,
        "seen_by": "sender" if math.isnan(flow.received.rate_bps) else "receiver",
        "variation": _variation(flow),
    }


def _variation(flow: Flow) -> float | None:
    """Coefficient of variation over the whole intervals of the report; None where there are fewer than two."""
    rates = [row.rate_bps for row in flow.whole_rows]
    try:
        return coefficient_of_variation(rates)
    except ValueError:
        return None


def _print_group(console: Console, group: dict[str, Any], *, titled: bool) -> None:
    names = {"forward": "client to server", "reverse": "server to client"}
    table = Table(box=box.SIMPLE, title=names[group["direction"]] if titled else None, title_justify="left")
    for heading in ("file", "stream", "from", "to"):
        table.add_column(heading, overflow="fold")
    for heading in ("Mbit/s", "share", "CV"):
        table.add_column(heading, justify="right")
    for row in group["flows"]:
        ends = [plain(text) for text in (row["file"], str(row["stream"]), row["sender"] or "?", row["receiver"] or "?")]
        rate = f"{row['throughput_mbit']:.2f}" + ("" if row["seen_by"] == "receiver" else " (sent)")
        table.add_row(*ends, rate, f"{100 * row['share']:.1f} %", _decimals(row["variation"]))
    console.print(table)
    console.print(f"fairness index: {group['index']:.5f}")
    variations = [row["variation"] for row in group["flows"]]
    console.print(f"coefficient of variation: {', '.join(_decimals(value) for value in variations)}", soft_wrap=True)


def _decimals(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"
