# SPDX-License-Identifier: BSD-3-Clause
"""`linklab check`: which parts of an exercise the running network and the answers meet, and where to look."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from linklab.commands.console import make_console, plain
from linklab.commands.options import add_exercises_option
from linklab.engine.choice import load_engine
from linklab.errors import InputError
from linklab.exercise.answers import Answers, read_answers
from linklab.exercise.discreet import discreet
from linklab.exercise.model import Exercise
from linklab.exercise.places import searching
from linklab.exercise.report import CheckResult, Report
from linklab.exercise.textfile import read_text
from linklab.judge.verdict import Outcome
from linklab.terminal.screen import ends_orderly

if TYPE_CHECKING:
    from linklab.commands import Subparsers

HINTS = ("where", "what", "how")
MORE = {1: "what is wrong there", 2: "how to do it"}
"""What the hint after this one says."""
WIDTH = 100
_STYLES = {
    Outcome.PASS: "green",
    Outcome.PARTIAL: "yellow",
    Outcome.FAIL: "red bold",
    Outcome.SKIPPED: "dim",
    Outcome.ERROR: "magenta bold",
}
_EPILOG = """examples:
  linklab check                    the folder you are in, and the network that runs in it
  linklab check exercise-3
  linklab check --hint 2           where to look, what is wrong there, and why; 3 says how to do it, and what
                                   was expected of the network
  linklab check --work             what work.sh leads to, though a network runs

Looks at the network that runs in this folder, sets a copy of it up on the virtual clock and measures that; where none
runs, it does the same with what work.sh leads to. Judges as the grader does, but with one run instead of three and
without the hidden checks. Needs no connection to anything.

Exits with 0 if every visible check is met, 1 if not; other codes as in linklab --help.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `check [FOLDER] [--hint N] [--work] [--json]`."""
    parser = subparsers.add_parser(
        "check",
        help=summary,
        description="Say which parts of an exercise are done, and for the others where to look.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(), help="default: this one")
    parser.add_argument(
        "--hint", type=int, choices=(1, 2, 3), default=1, metavar="N", help="1 where (default), 2 what and why, 3 how"
    )
    parser.add_argument("--work", action="store_true", help="judge work.sh, also where a network runs")
    parser.add_argument("--json", action="store_true", help="print the report as JSON and nothing else")
    add_exercises_option(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Judge and tell; 0 if all visible checks are met."""
    with ends_orderly(), searching(args.exercises):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    from linklab.commands.student import not_set
    from linklab.grade.own_folder import own_instance, self_check
    from linklab.terminal import attached

    attached.need_outside("linklab check")
    instance, exercise = own_instance(args.folder)
    network = None if args.work else attached.running_in(args.folder)
    with _waiting("reading the network", quiet=args.json) as say:
        state = attached.read_state(network) if network else None
        if network and state and (why := not_set(state, exercise, instance)):
            raise InputError(f"in network {network['id']} ({network['name']}) {why}")
        say("setting a copy up and measuring it")
        report = discreet(
            self_check(args.folder, state, load_engine("pocket")),
            exercise,
            own_answers(args.folder, exercise),
            args.hint,
        )
    if args.json:
        told = {"checks": exercise.hidden.count, "points": exercise.hidden.points}
        print(json.dumps({**json.loads(report.dumps()), "hidden": told}, indent=2, ensure_ascii=False))
    else:
        tell(report, exercise, looked_at(args.folder, network), hint=args.hint)
    return 0 if all(check.outcome is Outcome.PASS for check in report.checks) else 1


def own_answers(folder: Path, exercise: Exercise) -> Answers:
    """The folder's answers.toml as the grader reads it; none where there is no file."""
    return read_answers(read_text(folder / "answers.toml"), exercise)


def looked_at(folder: Path, network: dict[str, object] | None) -> str:
    """What was judged, as a sentence."""
    if network is not None:
        return f"Network {network['id']} ({network['name']}), as it is set now, was measured as a copy."
    if (folder / "work.sh").is_file():
        return "What work.sh leads to, from a fresh network, was measured."
    return (
        "No network runs in this folder and there is no work.sh, so a fresh network was measured; "
        "run the topology here and check again."
    )


@contextlib.contextmanager
def _waiting(what: str, *, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A line that says what is done, on a terminal; gone at the end."""
    console = Console(stderr=True, quiet=quiet or not sys.stderr.isatty())
    with console.status(f"{what} …") as status:
        yield lambda text: status.update(f"{text} …")


def tell(report: Report, exercise: Exercise, looked: str, *, hint: int) -> None:
    """The story of each check, its hints, and the sum."""
    console = make_console(width=WIDTH)
    console.print(plain(report.heading, style="bold"))
    _say(console, looked)
    for note in report.notes:
        _say(console, f"Note: {note}")
    console.print()
    for check in report.checks:
        _tell_check(console, check, hint)
    console.print()
    met = sum(check.outcome is Outcome.PASS for check in report.checks)
    _say(
        console,
        f"{met} of {len(report.checks)} visible checks are met: {report.score:g} of {report.max_score:g} points.",
    )
    if more := exercise.hidden.count:
        points = f"{exercise.hidden.points:g}"
        count = f"{more} more checks, worth {points}," if more > 1 else f"One more, worth {points},"
        verb = "are" if more > 1 else "is"
        _say(console, f"{count} {verb} hidden: judged when you hand in.")
    left = [check for check in report.checks if check.outcome in (Outcome.FAIL, Outcome.PARTIAL) and check.hints]
    if not left and met == len(report.checks):
        _say(console, "`linklab submit` packs what you hand in.")
    elif left and hint < len(HINTS):
        _say(console, f"`linklab check --hint {hint + 1}` says {MORE[hint]}.")


def _tell_check(console: Console, check: CheckResult, hint: int) -> None:
    width = min(console.width, WIDTH)
    points = f"{check.score:g}/{check.max_score:g}" if check.max_score else "(others need it)"
    word = check.outcome.value
    line = plain(f"{word:<8}", style=_STYLES[check.outcome])
    line.append_text(plain(check.title, style="bold" if check.outcome is not Outcome.PASS else ""))
    line.append(f"  {points}", style="dim")
    console.print(line, soft_wrap=True)
    indent = " " * 8
    if check.outcome is not Outcome.PASS:
        story = check.story.removeprefix(f"{word} ")
        console.print(plain(_wrapped(story, width, indent, indent)))
    if check.outcome in (Outcome.FAIL, Outcome.PARTIAL):
        for name, text in list(zip(HINTS, check.advice, strict=False))[:hint]:
            console.print(plain(_wrapped(f"{name}: {text}", width, f"{indent}→ ", f"{indent}  "), style="cyan"))


def _say(console: Console, text: str) -> None:
    console.print(plain(_wrapped(text, min(console.width, WIDTH))))


def _wrapped(text: str, width: int, first: str = "", later: str = "") -> str:
    """Paragraph with an indent; names such as s1-eth2 stay whole."""
    return textwrap.fill(
        text, width, initial_indent=first, subsequent_indent=later, break_on_hyphens=False, break_long_words=False
    )
