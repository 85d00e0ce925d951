# SPDX-License-Identifier: BSD-3-Clause
"""Results of the kernel's own tests and their reasons → docs/selftests.md; called by selftests.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from selftests_results import Explained, Judged, Result, totals
from tables import cell

HEAD = (
    "# Linux's own tests in the pocket",
    "",
    "`make selftests` runs the networking tests of the Linux source in pockets and writes this page.",
    "It fetches the source that the pocket is built from, builds what the tests need, and keeps both for the next run.",
    "It also unpacks the programs that the tests use, such as an iproute2 newer than the machine's, "
    "without installing them.",
    "Each program of tests runs as root in a pocket of its own, on the virtual clock and with the cost profile "
    "`desktop`.",
    "",
    "The run takes all of `tc-testing` and every test that the makefile of `net` lists, "
    "with two exceptions: tests in Python, which need the kernel's Netlink library and often a network card, "
    "and scripts that load a BPF object, which only clang can compile.",
    "The tests of `net/forwarding`, which are for switch chips, take hours and run only by name "
    "(`python tools/selftests.py 'net/forwarding/*'`).",
    "No test is left out because of its result.",
    "",
    "`tools/selftests.toml` holds the reason for each failure and each skip.",
    "The command exits with 1 if a failure or skip has no reason, or if a reason matches none of them.",
    "`python tools/selftests.py PATTERN` runs some of the tests, `--again` repeats those that have been run, "
    "and `build/selftests/` keeps what each test printed.",
)


def page(found: Sequence[Result], judged: Judged, facts: Mapping[str, str]) -> str:
    """The page: what was run, the totals, and each failure and skip with its reason."""
    lines = [
        *HEAD,
        "",
        f"This run: {facts['kernel']} (configuration and patches {facts['digest']}), tests of {facts['source']}, "
        f"iproute2 {facts['iproute2']}; {facts['programs']} programs of tests, "
        f"{facts['minutes']} minutes of wall time in pockets, at most two of which run at once.",
        "",
        "## Totals",
        "",
        "| tests | number | pass | expected failure | skip | fail | without a reason |",
        "|---|---|---|---|---|---|---|",
    ]
    unexplained = Counter(result.id.split(": ")[0].rpartition("/")[0] for result in judged.unexplained)
    counted = totals(found)
    for folder in sorted(counted, key=lambda name: (not name.startswith("tc-"), name)):
        lines.append(_row(folder, counted[folder], unexplained[folder]))
    lines.append(_row("all", sum(counted.values(), Counter()), len(judged.unexplained)))
    lines += [
        "",
        "An “expected failure” is one that the test itself expects (XFAIL).",
        "",
        "## Failures and skips, by reason",
        "",
    ]
    for each, hits in judged.explained.items():
        lines += _reason(each, hits)
    if judged.unexplained:
        lines += ["### Without a reason yet", "", *_table(judged.unexplained)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _row(name: str, counted: Mapping[str, int], unexplained: int) -> str:
    numbers = [sum(counted.values()), *(counted.get(state, 0) for state in ("pass", "xfail", "skip", "fail"))]
    return f"| {name} | " + " | ".join(f"{number:,}" for number in [*numbers, unexplained]) + " |"


def _reason(each: Explained, hits: Sequence[Result]) -> list[str]:
    """A reason, and a table of the tests that it explains."""
    return [f"### {each.title}", "", each.why, "", *_table(hits)]


def _table(hits: Iterable[Result]) -> list[str]:
    """One row for each program of tests and each result, with the message of the first such test."""
    rows: dict[tuple[str, str], list[Result]] = {}
    for result in hits:
        rows.setdefault((result.id.split(": ")[0], result.state), []).append(result)
    lines = ["| program | result | number | tests | message of the first |", "|---|---|---|---|---|"]
    for (program, state), results in rows.items():
        names = [_short(result.id, program) for result in results]
        told = "; ".join(name for name in names if name)
        lines.append(f"| {program} | {state} | {len(results)} | {cell(told)} | {cell(results[0].note)} |")
    return [*lines, ""]


def _short(test: str, program: str) -> str:
    """The name of a test within its program, or tdc's number; "" for the program itself."""
    name = test.removeprefix(program).removeprefix(": ")
    return name.split(" ")[0] if program.startswith("tc-testing/") else name
