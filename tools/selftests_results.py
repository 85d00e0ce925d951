# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel's own tests print → results with ids → results with and without an explanation.

The tests print in several forms: KTAP (Documentation/dev-tools/ktap.rst in the kernel's source), "TEST: name [ OK ]",
"PASS: name", and "[PASS] name". A program that prints none of them is judged by its exit status: 0 passed, 4 skipped,
anything else failed (tools/testing/selftests/kselftest.h). tc-testing's tdc ends with KTAP that has its own numbers; if
that is missing, its tests have not passed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.base import toml
from linklab.errors import InputError

SKIPPED = 4
NOTE = 160
STATES = {
    "OK": "pass",
    "PASS": "pass",
    "PASSED": "pass",
    "FAIL": "fail",
    "FAILED": "fail",
    "ERROR": "fail",
    "SKIP": "skip",
    "XFAIL": "xfail",
}
_ENDS = re.compile(r"^\s*(?:#\s+)?(?:\S*\s*\bTEST:\s*)?(\S.*?)\s*\[\s*(OK|PASS|PASSED|FAIL|FAILED|SKIP|XFAIL)\s*\]\s*$")
_BEGINS = re.compile(r"^\s*(?:\[\s*)?(PASS|FAIL|SKIP|XFAIL|ERROR)(?:\s*\])?\s*:\s*(\S.*?)\s*$")
_BRACKETS = re.compile(r"^\s*\[\s*(OK|PASS|FAIL|SKIP|XFAIL)\s*\]\s*(\S.*?)\s*$")
_KTAP = re.compile(r"^(not ok|ok)\s+(\d+)\s*(?:-\s*)?(.*?)\s*(?:#\s*(SKIP|XFAIL|skipped|TODO)\b[\s:-]*(.*))?$", re.I)
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_WARNS = re.compile(r"(?:^|\] )((?:WARNING|BUG|KASAN|UBSAN|Kernel panic|Oops|RTNL: assertion failed|INFO: task).*)")


@dataclass(frozen=True)
class Result:
    """One test: its id ("net/fib_tests.sh: IPv4 nexthop"), its state (pass, fail, skip, or xfail), and its message."""

    id: str
    state: str
    note: str = ""


@dataclass(frozen=True)
class Outcome:
    """What one program of tests left.

    status: its exit status; None if it did not end. ended: why it did not; "" if it did. kernel: the kernel's log.
    """

    name: str
    output: str
    status: int | None
    ended: str = ""
    kernel: str = ""


@dataclass(frozen=True)
class Explained:
    """Why some tests fail or are skipped: patterns of their ids, in which `*` stands for any text, and the reason."""

    title: str
    tests: tuple[str, ...]
    why: str


def results(outcome: Outcome) -> list[Result]:
    """Each test that the program printed, and the program itself if its end tells more than they do."""
    is_tdc = outcome.name.startswith("tc-testing/")
    found = _tdc(outcome) if is_tdc else _printed(outcome)
    failed = any(result.state == "fail" for result in found)
    skipped = any(result.state == "skip" for result in found)
    last = _shortened(" ".join([line for line in outcome.output.splitlines() if line.strip()][-2:]) or "no output")
    if outcome.status is None:
        found.append(Result(outcome.name, "fail", _shortened(f"{outcome.ended}; last: {last}")))
    elif outcome.status == SKIPPED:
        if not failed and not skipped:
            found.append(Result(outcome.name, "skip", last))
    elif outcome.status != 0:
        if not failed:
            found.append(Result(outcome.name, "fail", f"exit {outcome.status}: {last}"))
    elif not found:
        found.append(Result(outcome.name, "fail", f"no results: {last}") if is_tdc else Result(outcome.name, "pass"))
    warned = list(dict.fromkeys(match[1] for line in outcome.kernel.splitlines() if (match := _WARNS.search(line))))
    if warned:
        found.append(Result(f"{outcome.name}: the kernel's log", "fail", _shortened("; ".join(warned))))
    return found


def _printed(outcome: Outcome) -> list[Result]:
    found: list[Result] = []
    seen: Counter[str] = Counter()
    before: list[str] = []
    lines = _COLOUR.sub("", outcome.output).replace("\r", "\n").splitlines()
    for index, line in enumerate(lines):
        read = _line(line)
        if read is None:
            before += [line.strip()] if line.strip() else []
            continue
        name, state, note = read
        if state in ("fail", "skip") and not note:
            after = lines[index + 1] if index + 1 < len(lines) else ""
            note = after if after.startswith("\t") else " ".join(before[-2:])
        seen[name] += 1
        again = f" ({seen[name]})" if seen[name] > 1 else ""
        found.append(Result(f"{outcome.name}: {name}{again}", state, _shortened(note)))
        before = []
    return found


def _line(line: str) -> tuple[str, str, str] | None:
    """Name, state, and message of the test that a line reports; None if it reports none."""
    if ktap := _KTAP.match(line):
        _, number, name, directive, reason = ktap.groups()
        state = "pass" if ktap[1].lower() == "ok" else "fail"
        if directive:
            state = "xfail" if directive.upper() in ("XFAIL", "TODO") else "skip"
        return name or number, state, reason or ""
    if ends := _ENDS.match(line):
        return ends[1], STATES[ends[2]], ""
    for form in (_BEGINS, _BRACKETS):
        if begins := form.match(line):
            return begins[2], STATES[begins[1]], ""
    return None


def _tdc(outcome: Outcome) -> list[Result]:
    """The tests of the last plan ("1..27") that tdc printed; an id is tdc's four characters and the name.

    A plan that promises more tests than follow is a failure of the program.
    """
    lines = outcome.output.splitlines()
    plans = [index for index, line in enumerate(lines) if re.fullmatch(r"1\.\.\d+", line)]
    found: list[Result] = []
    note: list[str] = []
    for line in lines[plans[-1] + 1 :] if plans else []:
        if match := _KTAP.match(line):
            _, _, name, directive, reason = match.groups()
            state = "skip" if directive else "pass" if match[1] == "ok" else "fail"
            found.append(
                Result(
                    f"{outcome.name}: {name.replace(' - ', ' ', 1)}",
                    state,
                    _shortened((reason or "").removeprefix("skipped - ")),
                )
            )
            note = []
        elif found and found[-1].state == "fail" and line.strip():
            note.append(line.strip())
            found[-1] = Result(found[-1].id, "fail", _shortened(_told(note)))
    if plans and len(found) < (planned := int(lines[plans[-1]].removeprefix("1.."))):
        found.append(Result(outcome.name, "fail", f"{len(found)} results of {planned} that were planned"))
    return found


def _told(note: Sequence[str]) -> str:
    """The message of a failed test of tdc, without the commands it had run."""
    after = [line for line in note if not line.startswith("Commands executed in this test case")]
    return " ".join(after[-6:])


def _shortened(text: str) -> str:
    text = re.sub(r"\s+", " ", text).strip()
    return text if len(text) <= NOTE else text[: NOTE - 1] + "…"


def read_explanations(path: Path) -> list[Explained]:
    """Read the explanations of a file; InputError if one lacks a field or has another."""
    entries = toml.loads(path.read_text()).get("explained", [])
    read = []
    for entry in entries:
        if set(entry) != {"title", "tests", "why"} or not all(entry.values()):
            raise InputError(f"{path}: an [[explained]] needs title, tests, and why; this one has {sorted(entry)}")
        read.append(Explained(entry["title"], tuple(entry["tests"]), entry["why"].strip()))
    return read


def fits(pattern: str, name: str) -> bool:
    """Whether a pattern, in which `*` stands for any text, matches a whole name."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name) is not None


@dataclass(frozen=True)
class Judged:
    """Failures and skips by explanation, those without one, and patterns that match none although they could."""

    explained: dict[Explained, list[Result]]
    unexplained: list[Result]
    idle: list[str]


def judge(found: Iterable[Result], explanations: Sequence[Explained], run: Iterable[str]) -> Judged:
    """Find the explanation of each failure and skip.

    run: names of the programs that were run; a pattern for another program is not called idle.
    """
    explained: dict[Explained, list[Result]] = {}
    unexplained = []
    used: set[str] = set()
    for result in found:
        if result.state not in ("fail", "skip"):
            continue
        hits = [(each, pattern) for each in explanations for pattern in each.tests if fits(pattern, result.id)]
        used.update(pattern for _, pattern in hits)
        if hits:
            explained.setdefault(hits[0][0], []).append(result)
        else:
            unexplained.append(result)
    names = list(run)
    idle = [
        pattern
        for each in explanations
        for pattern in each.tests
        if pattern not in used and any(fits(pattern.split(": ")[0], name) for name in names)
    ]
    return Judged(explained, unexplained, idle)


def totals(found: Iterable[Result]) -> dict[str, Counter[str]]:
    """The number of tests in each state, by folder."""
    counted: dict[str, Counter[str]] = {}
    for result in found:
        folder = result.id.split(": ")[0].rpartition("/")[0]
        counted.setdefault(folder, Counter())[result.state] += 1
    return counted
