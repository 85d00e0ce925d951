# SPDX-License-Identifier: BSD-3-Clause
"""What work.sh printed, with marks that bash put into it → the lines that failed, and the output without the marks.

`WATCH` is read by bash before work.sh: its traps mark where each command begins and where one failed, in the stream
that work.sh prints to, so that what a command said lies between the two. They leave alone what work.sh does: `$?`, `$_`
and PIPESTATUS stay, and what is meant to fail (`if`, `||`, `!`) is none (bash(1), trap, ERR). Who sets DEBUG or ERR
traps of their own, or closes the marks' descriptor, is told less. Pure. The stream is a stranger's: it may forge marks,
which then stand in the stranger's own report, and nothing here grows with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

FD = 198
"""Of the marks: one that no script uses."""
MOST_BEGUN = 1000
"""Commands that are marked: a loop of a million costs what it always did."""
CACHES = "/run/linklab/caches"
"""A link to /proc/sys/vm/drop_caches, where there is one: a 2 has the kernel forget names and inodes (proc_sys_vm(5)).

The kernel keeps a file of the machine open for each, so after `find /` it could start no more commands.
"""
WATCH = f"""\
unset BASH_ENV
LINKLAB_BEGUN=0
trap '{{ {{
    ((LINKLAB_BEGUN = ${{LINKLAB_BEGUN:-0}} + 1, LINKLAB_BEGUN <= {MOST_BEGUN})) || {{
        printf "\\036E\\037"
        trap - DEBUG
    }}
    printf "2%.0s" "$_" >|{CACHES}
    printf "\\036B%.0s\\037" "$_"
}} >&{FD}; }} 2>/dev/null || :' DEBUG
# in one line, since LINENO counts those of a trap
linklab_failed='{{ {{ printf "\\036F%s:%s:%s:%s%.0s\\037" "$?" "${{#PIPESTATUS[@]}}" "$LINENO" '
linklab_failed+='"${{BASH_COMMAND:0:400}}" "$_"; }} >&{FD}; }} 2>/dev/null || :'
trap "$linklab_failed" ERR
unset linklab_failed
"""
MOST_TOLD = 8
_BEGIN = "\x1eB\x1f"
_LAST = "\x1eE\x1f"
_MARK = re.compile(
    f"(?:{_BEGIN})?\x1eF([0-9]{{1,4}}):([0-9]{{1,4}}):([0-9]{{1,9}}):([^\x1e\x1f]{{0,400}})\x1f|{_BEGIN}|{_LAST}"
)
"""The trap of a failure is a command, too, and begins before it is told; after `_LAST` no beginning is marked."""
_SILENCED = re.compile(r"(?:2|&)>>?\s*/dev/null|>\s*/dev/null\s+2>&1")
"""Who throws the complaint away expects it: `tc qdisc del dev s2-eth2 root 2>/dev/null`."""
_ASKS = re.compile(r"\(\(|\[|test |let |read |(?:\w+ )?[ef]?grep (?:.* )?-\w*q")
"""Their status is an answer."""
_SYNTAX = re.compile(r"\S*work\.sh: line \d+: syntax error")
_LONGEST_COMMAND = 120
_LONGEST_WORDS = 240


@dataclass(frozen=True)
class Failure:
    """A command of work.sh that failed: its line, itself, its exit status, and what it printed.

    said: None where that is not known, of a pipeline and of what comes after too many commands.
    """

    line: int
    command: str
    status: int
    said: str | None

    def __str__(self) -> str:
        said = f": {self.said}" if self.said else ", and said nothing" if self.said is not None else ""
        return f"work.sh, line {self.line}: `{self.command}` failed with status {self.status}{said}"


@dataclass(frozen=True)
class Printed:
    """What work.sh printed: text without marks; failures in order; tail: what came after the last mark of a failure."""

    text: str
    failures: tuple[Failure, ...]
    tail: str


def read_printed(stream: str) -> Printed:
    """Take the marks out of the stream and the failures out of the marks."""
    text: list[str] = []
    failures: dict[tuple[int, str], Failure] = {}
    at = begun = tail = 0
    marked = True
    for mark in _MARK.finditer(stream):
        text.append(stream[at : mark.start()])
        at = mark.end()
        if mark[1] is None:
            begun, marked = len(text), marked and mark[0] != _LAST
            continue
        line, command = int(mark[3]), _cut(" ".join(mark[4].split()), _LONGEST_COMMAND).replace("`", "'")
        piped = int(mark[2]) > 1  # whose parts print at the same time
        said = _words("".join(text[begun:])) if marked and not piped else None
        failure = Failure(line, f"… | {command}" if piped else command, int(mark[1]), said)
        if said or not (_SILENCED.search(mark[4]) or _ASKS.match(mark[4])):
            failures.setdefault((line, command), failure)
        begun = tail = len(text)
    text.append(stream[at:])
    return Printed("".join(text), tuple(failures.values()), "".join(text[tail:]))


def sentences(printed: Printed, status: int) -> list[str]:
    """What the report says of lines that failed, and of how work.sh ended.

    Args:
        printed: by work.sh.
        status: exit status of work.sh.
    """
    failures = printed.failures
    told = [str(failure) for failure in failures[:MOST_TOLD]]
    if len(failures) > MOST_TOLD:
        told.append(f"{len(failures) - MOST_TOLD} more lines of work.sh failed")
    ends_with_it = failures and failures[-1].status == status and not printed.tail.strip()
    if status and not ends_with_it:
        told.append(f"work.sh ended with status {status}; its last words: {_last(printed.text)}")
    return told


def _words(said: str) -> str:
    """The lines that a command printed as one, the first two and the last; not what bash traces (`set -x`)."""
    lines = [_plain(line) for line in said.splitlines() if line.strip() and not line.startswith("+")]
    if len(lines) > 3:
        lines = [*lines[:2], "…", lines[-1]]
    return _cut(" / ".join(re.sub(r"^/lab/(?=work\.sh: line \d+: )", "", line) for line in lines), _LONGEST_WORDS)


def _last(text: str) -> str:
    """The last line; of bash's complaint about the syntax, which has two, both."""
    lines = [line for line in text.split("\n") if line.strip()]
    both = len(lines) > 1 and _SYNTAX.match(lines[-2]) is not None
    return " / ".join(_plain(line[-200:]).removeprefix("/lab/") for line in lines[-2 if both else -1 :]) or "(none)"


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in text.strip())


def _cut(text: str, most: int) -> str:
    plain = _plain(text)
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"
