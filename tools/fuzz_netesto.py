# SPDX-License-Identifier: BSD-3-Clause
"""Damages good campaign scripts at random, and counts what the language does not answer well.

`python tools/fuzz_netesto.py [--count N] [--seed N] [--run N] [--show N]`: N scripts, the same for the same seed, each
with one to four changes: lines and words that are gone, twice, in another place or of another script, numbers and
characters that are others. Each must expand and be planned on a network, or be refused with the line of every problem.
Counted are other exceptions, problems without a place in the script, and more than DEADLINE_S of processor time.
With --run the first N of those that are short are run in pockets as well, and their tables made, by the commands that
people type. The general fuzzer (fuzz.py) works on bytes; here the damage is that of people who edit scripts.
"""

from __future__ import annotations

import argparse
import re
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from random import Random
from types import FrameType

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from linklab.cli import main as linklab  # noqa: E402 - found by the line above
from linklab.errors import LinklabError  # noqa: E402
from linklab.netesto.campaign import CampaignPlan, CampaignSettings, plan_campaign  # noqa: E402
from linklab.netesto.campaign_experiment import CampaignExperiment  # noqa: E402
from linklab.netesto.expand import Expansion, ScriptError, expand  # noqa: E402
from linklab.netesto.experiments import experiments  # noqa: E402
from linklab.netesto.lines import MOST_PROBLEMS, ScriptProblem  # noqa: E402
from linklab.netesto.machines import drawn_for  # noqa: E402
from linklab.netesto.sources import LIBRARY  # noqa: E402

DEADLINE_S = 60
"""Of processor time: the caps of the language end within some seconds on a slow machine."""
LONGEST_MESSAGE = 3000
MOST_PLANNED = 4
"""Experiments of a script that are planned: the first ones, since planning hundreds of flows takes seconds."""
MOST_RUN_S = 60.0
MOST_RUN_FLOWS = 40
"""A script that lasts longer or has more flows is not run."""
RUN = {"dur": "1"}
"""Variables of the scripts that are run."""

SCRIPTS = ("script.test", "script.basic", "script.vsTest", "script.rateTest", "script.complexSample", "script.23")
SOURCED = ("inlib", "inlib.caTest", "inlib.vsTest", "inlib.rateTest")
"""Scripts that are damaged, and files that are damaged beside a good script."""

EXTRA = """
SET n=3
SET_EXP m=($n+1)*2-5/2
BEGIN hook
IF $verbose: ECHO $host at $n
SET_SYSCTL host=$host net.ipv4.tcp_wmem=10000,262144,20971520 net.ipv4.tcp_ecn=1
END hook
FOR i IN 1..9,2 DO
  FOR h in h1,h2,h$i do
    IF_DEF hook: RUN hook,$n host=$h verbose=1
    IF $m: SET_NETEM host=$h netem_delay=$i loss=0.5% limit=1000
    DO_SERVER host=$h exp=COUNTER expName=e$i start=1 \\
      order=0   # begins
    DO_CLIENT host=c$i server=$h ca=bbr dur=10 delay=0.5 req=10K reply=1 instances=4 stats=1
    RAND_WAIT 0.1 0.5
    WAIT 10
    GET_DATA host=$h
    PROCESS_EXP
  DONE
  NEXT_COUNTER
DONE
BEGIN_COMMENT
RUN nothing at all
END_COMMENT
SET_QDISC host=r qdisc=tbf rate=10mbit burst=3000 limit=50000 action=replace other=latency 50ms
SET_MODULE_PARAMS host=c1 module=tcp_cubic hystart=0
DESC two words
OTHER testType=x,netem=$n
SOURCE inlib
DO_TCPDUMP host=c1 server=X packets=100
END
"""

WORDS = (
    *(
        "FOR",
        "DONE",
        "BEGIN",
        "END",
        "IF",
        "IF_DEF",
        "RUN",
        "SET",
        "SET_EXP",
        "DO",
        "IN",
        "in",
        "SOURCE",
        "END x",
        "\\",
    ),
    *(
        "DO_CLIENT",
        "PROCESS_EXP",
        "WAIT",
        "BEGIN_COMMENT",
        "END_COMMENT",
        "FORLOOP 1",
        "#",
        "$",
        "$$",
        "$x",
        "$servers",
    ),
    *("=", ":", ",", "..", "1..9", "1..99999999999", "9..1", "1..5,0", "-1", "0", "999999999999", "1e9", "0.0000001"),
    *(
        "inlib",
        "../inlib",
        "/etc/passwd",
        "m",
        "ca=a,b",
        "host=",
        "exp=PREV",
        "a=$a",
        "x=$x$x",
        "é",
        "\x00",
        "\x1b[31m",
    ),
    *(
        "(",
        ")",
        "1/0",
        "((((",
        "%s",
        "{}",
        "a" * 300,
        "$" + "a" * 300,
        "1" * 300,
        "net.ipv4.ip_forward=1",
        "\t",
        "\x85",
    ),
)

Change = Callable[[list[str], Random], None]


def _drop_line(lines: list[str], rng: Random) -> None:
    del lines[rng.randrange(len(lines))]


def _repeat_line(lines: list[str], rng: Random) -> None:
    lines.insert(rng.randrange(len(lines)), rng.choice(lines))


def _swap_lines(lines: list[str], rng: Random) -> None:
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]


def _cut_off(lines: list[str], rng: Random) -> None:
    del lines[rng.randrange(1, len(lines) + 1) :]


def _foreign_line(lines: list[str], rng: Random) -> None:
    lines.insert(rng.randrange(len(lines)), rng.choice(EXTRA.splitlines()))


def _word(change: Callable[[list[str], int, Random], None]) -> Change:
    """A change of one word of a line that has any."""

    def changed(lines: list[str], rng: Random) -> None:
        full = [number for number, line in enumerate(lines) if line.split() and not line.lstrip().startswith("#")]
        if full:
            number = rng.choice(full)
            parts = re.split(r"(\s+|[=,:])", lines[number])
            change(parts, rng.randrange(len(parts)), rng)
            lines[number] = "".join(parts)

    return changed


def _drop_word(parts: list[str], at: int, rng: Random) -> None:
    del parts[at]


def _other_word(parts: list[str], at: int, rng: Random) -> None:
    parts[at] = rng.choice(WORDS)


def _more_words(parts: list[str], at: int, rng: Random) -> None:
    parts[at:at] = [" ", rng.choice(WORDS), " "]


def _letters(parts: list[str], at: int, rng: Random) -> None:
    text = parts[at]
    place = rng.randrange(len(text) + 1)
    parts[at] = text[:place] + rng.choice("aZ0$#=:,.\\ -_/()'\"\t~é") + text[place + rng.randrange(2) :]


def _number(parts: list[str], at: int, rng: Random) -> None:
    numbers = [index for index, part in enumerate(parts) if re.search(r"\d", part)]
    if numbers:
        at = rng.choice(numbers)
        parts[at] = re.sub(r"\d+", lambda _: rng.choice(["0", "-1", "7", "65536", "99999", "1.5", "9" * 25]), parts[at])


CHANGES: tuple[Change, ...] = (
    *(_drop_line, _repeat_line, _swap_lines, _cut_off, _foreign_line),
    *(_word(change) for change in (_drop_word, _other_word, _more_words, _letters, _letters, _number)),
)


class SlowError(BaseException):
    """The deadline is over; no handler of ours may take it for anything else."""


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    def late(number: int, frame: FrameType | None) -> None:
        raise SlowError

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def damaged(seed: int, number: int) -> tuple[str, str]:
    """A script of this number, and an `inlib` beside it ("" for none)."""
    rng = Random(f"fuzz_netesto {seed} {number}")  # noqa: S311 - repeatable on purpose
    name = rng.choice((*SCRIPTS, *SOURCED, "", "", ""))
    text = (LIBRARY / name).read_text() if name else EXTRA
    lines = text.splitlines()
    for _ in range(rng.choice((1, 1, 1, 2, 3, 4))):
        rng.choice(CHANGES)(lines, rng)
        lines = lines or [""]
    changed = "\n".join(lines) + "\n" * rng.randrange(2)
    if name == "inlib":
        return (LIBRARY / "script.basic").read_text(), changed
    return changed, ""


def judged(script: Path, deadline_s: float = DEADLINE_S) -> tuple[str, str]:
    """What came of a script: "planned", "refused", or a kind of fault with its description."""
    try:
        with _deadline(deadline_s):
            first = _answer(script)
    except SlowError:
        return "slow", f"more than {deadline_s} s"
    except Exception:
        return "traceback", traceback.format_exc()
    if isinstance(first, CampaignPlan):
        return "planned", ""
    if isinstance(first, Expansion):
        return "order", "times go back"
    problems = first.problems if isinstance(first, ScriptError) else ()
    if isinstance(first, ScriptError) and not 1 <= len(problems) <= MOST_PROBLEMS:
        return "place", f"{len(problems)} problems"
    return next(filter(None, map(_odd, problems)), ("refused", str(first)))


def _odd(problem: ScriptProblem) -> tuple[str, str] | None:
    """What is wrong with how a problem is told."""
    if problem.where.line < 1 or problem.where.column < 1 or not problem.what or "\n" in str(problem):
        return "place", str(problem)
    return ("long", str(problem)[:200]) if len(str(problem)) > LONGEST_MESSAGE else None


def _answer(script: Path) -> CampaignPlan | Expansion | LinklabError:
    """The plan of a script, or the error that refuses it; the expansion where its times are wrong."""
    try:
        found = expand(script)
        times = [command.at_s for command in found.commands]
        if times != sorted(times):
            return found
        first = {each.number for each in experiments(found)[:MOST_PLANNED]}
        few = [one for one in found.commands if int(one.arguments.get("exp", "0") or "0") in {0, *first}]
        return plan_campaign(replace(found, commands=tuple(few)), drawn_for(few, {}), CampaignSettings())
    except LinklabError as error:
        return error


def _is_short(found: Sequence[CampaignExperiment]) -> bool:
    """Whether experiments are run."""
    flows = sum(group.instances for each in found for group in each.groups)
    return 0 < flows <= MOST_RUN_FLOWS and sum(each.length_s for each in found) <= MOST_RUN_S


def ran(script: Path, out: Path) -> tuple[str, str] | None:
    """What came of running a script and making its tables; None if it is too long to be run."""
    try:
        if not _is_short(experiments(expand(script, variables=RUN))):
            return None
    except LinklabError:
        return None
    words = [word for name, value in RUN.items() for word in ("-D", f"{name}={value}")]
    table = str(out / "table.html")
    for command in (
        ["run", str(script), "-q", "-o", str(out), "--path", "20mbit 10ms 100p", *words],
        ["csv", str(out), "--get", "exp", "--get", "rate"],
        ["page", str(out)],
        ["table", "basic.exp", "--csv", str(out / "exp.csv"), "-o", table],
    ):
        try:
            with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                status = linklab(["netesto", *command])
        except Exception:
            return "traceback", f"{' '.join(command[:2])}: {traceback.format_exc()}"
        if status == REFUSED and command[0] == "run":
            return "refused", ""
        if status not in (0, 1) or (status and command[0] != "run"):
            return "status", f"linklab netesto {' '.join(command)} ended with {status}"
    return "ran", ""


REFUSED = 2
"""The exit code of `linklab netesto run` for a script that it refuses."""


def fuzz(count: int, seed: int, run: int = 0) -> tuple[Counter[str], list[tuple[int, str, str]]]:
    """How often each thing came of `count` scripts, and the faults: number, kind, description; run: how many to run."""
    seen: Counter[str] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        script, library = Path(folder) / "script", Path(folder) / "inlib"
        for number in range(count):
            text, beside = damaged(seed, number)
            script.write_text(text)
            library.unlink(missing_ok=True)
            if beside:
                library.write_text(beside)
            kind, what = judged(script)
            if kind == "planned" and seen["ran"] < run and (came := ran(script, Path(folder) / str(number))):
                kind, what = came
            seen[kind] += 1
            if kind not in ("planned", "ran", "refused"):
                faults.append((number, kind, what))
    return seen, faults


def main(argv: Sequence[str] | None = None) -> int:
    """Print what came of all; 1 if there are faults."""
    parser = argparse.ArgumentParser(description="Damage campaign scripts, and count what is not answered well.")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--run", type=int, default=0, metavar="N", help="run N of the short ones, too")
    parser.add_argument("--show", type=int, metavar="N", help="print script number N and what comes of it")
    args = parser.parse_args(argv)
    if args.show is not None:
        text, beside = damaged(args.seed, args.show)
        print(f"{text}--- inlib\n{beside}" if beside else text)
        return 0
    seen, faults = fuzz(args.count, args.seed, args.run)
    print(", ".join(f"{number} {kind}" for kind, number in seen.most_common()))
    for number, kind, what in faults:
        print(f"script {number} (--show {number}): {kind}: {what}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
