# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test run TEST`: a test on a path, from its words to its data file, with a summary."""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from linklab.base.text import excerpt
from linklab.commands.console import make_console, plain
from linklab.commands.options import add_network_options
from linklab.commands.test_show import given
from linklab.data import Dataset, open_file
from linklab.data.suffixes import stem_of
from linklab.engine.api import Clock
from linklab.engine.choice import REPLAY_CLOCK, clock_of, load_engine
from linklab.errors import InputError
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.model import Trial
from linklab.experiment.out_file import refuse_unwritable
from linklab.experiment.path import path_of
from linklab.experiment.places import nearest
from linklab.experiment.prepared import Prepared, prepare
from linklab.experiment.programs import spoken
from linklab.experiment.summary import text_of
from linklab.experiment.trial import run_trial
from linklab.experiment.trial_inside import Tell, TrialProgress
from linklab.terminal.screen import ends_orderly

INTERRUPTED = 130
INSTEAD = {
    **dict.fromkeys(("-H", "--host"), "--to, such as --to h2"),
    **dict.fromkeys(("-D", "--data-dir"), "-o with a folder, such as -o data"),
    "--local-bind": "--from, such as --from h1",
    **dict.fromkeys(("-B", "--batch-file"), "a command of its own: linklab batch FILE"),
    **dict.fromkeys(("-f", "--format"), "a command of its own, for the data file: linklab test summary FILE"),
}
"""Options of Flent's that people type here, and what they are here."""

EPILOG = """examples:
  linklab test run tcp_1up --path "10mbit 50ms fq_codel"
  linklab test run rrul --path "100mbit/20mbit 30ms fifo" -l 30 -t "without AQM"
  linklab test run rrul --rate 1gbit --rtt 20ms --qdisc cake --buffer 1bdp
  linklab test run tcp_nup --path "10mbit 50ms" -P upload_streams=2 -P cc_algos=cubic,bbr
  linklab test run rtt_fair4be --path "10mbit 20ms,40ms,80ms,160ms"
  linklab test run rrul --topology "Lab 14.mn" --from h1 --to h3
  linklab test run rrul --attach --from h1 --to h3      in the network of linklab shell or linklab edit
  linklab test run rrul --path "10mbit 50ms" --dry-run      what would be set and started

The direction "up" is from the source to the targets; of two rates the first is down. Ctrl+C and SIGUSR1 end a test
early and keep what it measured. Exits with 1 if a series is missing; the file then says why. The words of a path are
listed in docs/tests.md.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `TEST [--path WORDS] …`."""
    parser.add_argument("test", metavar="TEST", help="name of a test, or a TOML file")
    where = parser.add_argument_group("where it runs")
    where.add_argument("--path", metavar="WORDS", default="", help='such as "10mbit 50ms fq_codel"')
    for name, example in (("rate", "10mbit"), ("rtt", "50ms"), ("qdisc", "fq_codel"), ("buffer", "1bdp")):
        where.add_argument(f"--{name}", metavar="WORDS", default="", help=f"the same alone, such as {example}")
    where.add_argument("--topology", metavar="FILE.mn", default="", help="a network of your own instead of a path")
    where.add_argument(
        "--attach",
        metavar="NETWORK",
        nargs="?",
        const="",
        help="the network of a running shell or editor instead, as it is (linklab attach --list)",
    )
    where.add_argument("--from", dest="source", metavar="NODE", default="", help="the source (default: the first host)")
    where.add_argument("--to", dest="targets", metavar="NODE[,NODE…]", default="", help="the targets in their order")
    what = parser.add_argument_group("what is measured")
    what.add_argument("-l", "--length", metavar="S", type=_seconds, help="of the load, s (default: the test's, or 60)")
    what.add_argument("-s", "--step-size", metavar="S", type=_seconds, help="between two samples, s (default: 0.2)")
    what.add_argument(
        *("-P", "--test-parameter"),
        dest="parameters",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="of the test; may be given again",
    )
    what.add_argument("-t", "--title", default="", help="for figures and the name of the file")
    what.add_argument("--note", default="", help="kept in the file")
    add_network_options(parser)
    parser.add_argument(
        "--clock", choices=[clock.value for clock in Clock], help="default: virtual, or wall on the host"
    )
    out = parser.add_argument_group("what comes of it")
    out.add_argument("-o", "--output", metavar="FILE", type=Path, default=Path(), help="data file, or a folder for it")
    out.add_argument("-p", "--plot", metavar="NAME", help="draw this plot of the test beside the data file, as .svg")
    out.add_argument("--raw", metavar="FOLDER", type=Path, help="keep what the programs printed there")
    out.add_argument(
        "-n", "--dry-run", action="store_true", help="show network, programs and samplers, and run nothing"
    )
    out.add_argument(
        "--progress",
        choices=("auto", "lines"),
        default="auto",
        help="lines: a JSON object a line on standard error, for programs (default: a bar on a terminal)",
    )
    parser.epilog = EPILOG


def _seconds(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = float("nan")
    if not 0 < value <= 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return value


def run(args: argparse.Namespace) -> int:
    """Run it, or show what would be run."""
    if args.attach is not None:
        from linklab.commands import test_attach

        return test_attach.run(args)
    trial = trial_of(args)
    prepared = prepare(trial)
    check_plot(args, prepared)
    refuse_unwritable(args.output, args.raw, near=True)
    if args.dry_run:
        for line in described(prepared):
            print(line)
        load_engine(trial.engine).check()
        refuse_missing(prepared.expanded, trial.engine)
        return 0
    with ends_orderly(), says_what_is_lost(), progress(prepared, lines=args.progress == "lines") as tell:
        path = run_trial(trial, args.output, tell, raw=args.raw)
    return finished(args, path)


def check_plot(args: argparse.Namespace, prepared: Prepared) -> None:
    """InputError if the plot that is asked for is none of the test's."""
    if args.plot and args.plot not in [plot.name for plot in prepared.expanded.plots]:
        names = [plot.name for plot in prepared.expanded.plots]
        raise InputError(f"{prepared.expanded.name} has no plot {excerpt(args.plot)}; {nearest(args.plot, names)}")


def finished(args: argparse.Namespace, path: Path) -> int:
    """Show what came of it, draw the plot, and give the exit code."""
    if args.progress == "lines":
        _line({"file": str(path)})
    data = open_file(path)
    console = make_console()
    show(console, data, path)
    if args.plot:
        from linklab.plots.named import Loaded, Options, save, specs_of

        figure = path.with_name(f"{stem_of(path.name)}.{args.plot}.svg")
        loaded = [Loaded(path.name, data)]
        save(next(spec for spec in specs_of(loaded) if spec.name == args.plot), loaded, Options(), figure)
        console.print(plain(f"{figure}"))
    if data.metadata.get("ended") == "early":
        return INTERRUPTED
    return 1 if data.metadata.get("failed") else 0


def trial_of(args: argparse.Namespace) -> Trial:
    """The trial that the options say."""
    words = path_of(args.path, rate=args.rate, rtt=args.rtt, qdisc=args.qdisc, buffer=args.buffer)
    return Trial(
        test=args.test,
        path=words,
        topology=args.topology,
        source=args.source,
        targets=tuple(filter(None, args.targets.split(","))),
        parameters=given(args.parameters),
        length_s=args.length,
        step_s=args.step_size,
        seed=args.seed,
        clock=clock_of(args.clock, args.engine, REPLAY_CLOCK).value,
        engine=args.engine,
        profile=args.cpu,
        title=args.title,
        note=args.note,
    )


def described(prepared: Prepared) -> Iterator[str]:
    """Everything that would be set, started and sampled."""
    place, expanded, plan = prepared.place, prepared.expanded, prepared.plan.data
    yield f"{expanded.name}: {expanded.title}; {expanded.total_s:g} s of network time"
    if place.words:
        yield f"path: {place.words}"
    yield from (f"note: {note}" for note in prepared.notes)
    yield f"topology: {place.name}; from {place.source} to {', '.join(dict.fromkeys(place.targets))}"
    yield from (f"  {line}" for line in place.commands)
    for program in plan["programs"]:
        if program["role"] == "server":
            yield f"server, {program['node']}: {spoken(program['argv'])}"
    for program in plan["programs"]:
        if program["role"] != "server":
            yield f"from {program['start_s']:g} s, {program['node']}: {spoken(program['argv'])}"
    samplers = plan["samplers"]
    ports = ", ".join(port["interface"] for port in samplers["qdiscs"])
    yield f"sampled every {samplers['period_s']:g} s: disciplines of {ports}"
    if samplers["sockets"]:
        yield f"  TCP connections of {', '.join(samplers['sockets'])}"
    if samplers["netstat"]:
        yield f"  network counters of {', '.join(samplers['netstat'])}"


@contextlib.contextmanager
def says_what_is_lost() -> Iterator[None]:
    """Ctrl+C ends a test early and keeps its data; before the test has begun there is no data to keep."""
    try:
        yield
    except KeyboardInterrupt:
        print("linklab: ended with Ctrl+C before there were data to keep; nothing was written", file=sys.stderr)
        raise


@contextlib.contextmanager
def progress(prepared: Prepared, *, lines: bool = False) -> Iterator[Tell]:
    """A bar on a terminal, gone at the end; or lines for a program."""
    if lines:
        total_s = prepared.expanded.total_s
        yield lambda told: _line({"stage": told.stage, "done_s": told.done_s, "total_s": total_s})
        return
    console = Console(stderr=True)
    if not sys.stderr.isatty():
        yield lambda told: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(prepared.expanded.name, total=prepared.expanded.total_s)

        def tell(told: TrialProgress) -> None:
            bar.update(task, description=told.stage, completed=told.done_s or None)

        yield tell


def _line(told: dict[str, object]) -> None:
    print(json.dumps(told), file=sys.stderr, flush=True)


def show(console: Console, data: Dataset, path: Path) -> None:
    """The summary, what is missing, and the file."""
    console.print(plain(text_of(path.name, data)), soft_wrap=True, end="")
    for name, why in data.metadata.get("failed", {}).items():
        console.print(plain(f"missing: {name}: {why}", style="red"), soft_wrap=True)
    for note in data.notes:
        console.print(plain(f"Note: {note}"), soft_wrap=True)
    console.print(plain(str(path)), soft_wrap=True)
