# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto run SCRIPT`: the experiments of a script; with -n every command with its time, and nothing runs."""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from linklab.base import installation
from linklab.base.text import counted, visible
from linklab.commands.console import make_console, plain
from linklab.commands.interrupt import answered
from linklab.commands.netesto_script import add_script_options, expanded, print_expansion, script_file
from linklab.commands.options import add_engine_options
from linklab.commands.trials_view import TrialsView, before_running, duration
from linklab.engine.api import Clock
from linklab.engine.choice import REPLAY_CLOCK, clock_of, load_engine
from linklab.errors import InputError
from linklab.experiment.out_file import refuse_folder
from linklab.experiment.runner import ListProgress, TrialTask
from linklab.netesto.campaign import CampaignPlan, CampaignSettings, jobs_of, plan_campaign, refuse_other, run_campaign
from linklab.netesto.expansion import Expansion
from linklab.netesto.machines import PATH, drawn_for, on_topology, read_map
from linklab.topology import Topology

RUNS = Path("runs")

EPILOG = f"""examples:
  linklab netesto run mine                          on a network that is drawn for its machines ({PATH})
  linklab netesto run mine --path "100mbit 40ms 1bdp"
  linklab netesto run mine --topology lab.mn --map kerneltest010=h1,kerneltest014=h4
  linklab netesto run mine -o campaign -D dur=10 --jobs 2
  linklab netesto run -n mine -D dur=10             every command with its time; nothing runs
  linklab netesto run -n --json script.basic

Ctrl+C ends the experiments under way; the same command goes on with those that are not done yet.
Exits with 1 if an experiment failed or lacks a series. docs/netesto.md describes what comes of it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `SCRIPT [-n] [--topology F] [-o OUT] …`."""
    parser.add_argument("script", metavar="SCRIPT", help="a script, or the name of one of the library")
    parser.add_argument("-n", "--dry-run", action="store_true", help="print every command with its time; nothing runs")
    parser.add_argument("--json", action="store_true", help="with -n: as JSON, with the place of each command")
    add_script_options(parser)
    where = parser.add_argument_group("where it runs")
    where.add_argument("--topology", metavar="FILE.mn", default="", help="a network whose nodes are the machines")
    where.add_argument(
        "--map",
        metavar="NAME=NODE,…",
        action="append",
        default=[],
        help="which node a machine of the script is; also in a file hosts.map beside the script, a line for each",
    )
    where.add_argument(
        "--path", metavar="WORDS", default="", help=f'of the links of a drawn network, such as "{PATH}" (the default)'
    )
    version = where.add_mutually_exclusive_group()
    for number in (4, 6):
        version.add_argument(
            f"-{number}", dest="version", action="store_const", const=number, help=f"flows over IPv{number}"
        )
    add_engine_options(parser)
    parser.add_argument(
        "--clock", choices=[clock.value for clock in Clock], help="default: virtual, or wall on the host"
    )
    out = parser.add_argument_group("what comes of it")
    out.add_argument(
        "-o", "--out", metavar="FOLDER", type=Path, help="the campaign's folder (default: runs/netesto-SCRIPT)"
    )
    out.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="experiments at once (default and most: one a processor)"
    )
    out.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")
    parser.epilog = EPILOG


def run(args: argparse.Namespace) -> int:
    """Run the campaign, or print what the script does."""
    found = expanded(args.script, args)
    if args.dry_run:
        print_expansion(found, as_json=args.json)
        return 0
    if os.environ.get("LINKLAB_INSIDE"):
        from linklab.commands import netesto_inside

        return netesto_inside.run(args, found)
    plan = _plan(args, found)
    if args.jobs is not None and args.jobs < 1:
        raise InputError(f"--jobs {args.jobs}: at least one experiment runs at a time")
    load_engine(args.engine).check()
    out = args.out or RUNS / f"netesto-{script_file(args.script).name}"
    refuse_folder(out)
    refuse_other(out)
    out.mkdir(parents=True, exist_ok=True)
    for note in found.notes:
        print(visible(f"note: {note}"), file=sys.stderr)
    for line in found.said:
        make_console(quiet=args.quiet).print(plain(visible(line)), soft_wrap=True)
    return _run(args, plan, out)


def _plan(args: argparse.Namespace, found: Expansion) -> CampaignPlan:
    mapping = read_map(args.map, script_file(args.script))
    if args.topology and args.path:
        raise InputError("give either --topology or --path: the file says what its links are")
    if args.topology:
        file = installation.topology_file(Path(args.topology))
        machines = on_topology(found.commands, Topology.load(file), mapping)
    else:
        machines = drawn_for(found.commands, mapping, words=args.path, version6=args.version == 6)
    clock = clock_of(args.clock, args.engine, REPLAY_CLOCK).value
    return plan_campaign(found, machines, CampaignSettings(args.seed, args.version, clock, args.engine, args.cpu))


def _run(args: argparse.Namespace, plan: CampaignPlan, out: Path) -> int:
    progress = ListProgress(jobs=jobs_of(plan.entries, args.jobs))
    view = TrialsView(progress, out, quiet=args.quiet, noun="experiment")
    _say_before(view, plan, progress.jobs, out)
    began = time.perf_counter()
    with answered(lambda: f"ending the experiments under way; the same command goes on in {out}"), view:
        tasks = run_campaign(plan, out, progress=progress, changed=view.changed)
    view.end(time.perf_counter() - began)
    return 0 if all(task.state == "done" for task in tasks) else 1


def _say_before(view: TrialsView, plan: CampaignPlan, jobs: int, out: Path) -> None:
    """Say what is going to run, on which network, and what the person may not expect."""
    flows = sum(group.instances for each in plan.planned for group in each.experiment.groups)
    due = [entry for entry in plan.entries if not (out / entry.file).exists()]
    done = len(plan.entries) - len(due)
    guess = ListProgress([TrialTask(entry) for entry in due], jobs=jobs)
    network_s = sum(entry.network_s for entry in due)
    rest = f"{duration(network_s)} of network time: {before_running(guess)}"
    if done:
        earlier = f"{done} of them in an earlier run"
        rest = f"{earlier}; {counted(len(due), 'experiment')} left, {rest}" if due else f"{earlier}, so none is left"
    all_of_them = f"{counted(len(plan.entries), 'experiment')} with {counted(flows, 'flow')}"
    view.say(f"{all_of_them} on {plan.machines.topology.name}, {rest}.")
    renamed = {name: node for name, node in plan.machines.nodes.items() if name != node}
    if renamed:
        view.say(f"Machines: {', '.join(f'{name} is {node}' for name, node in renamed.items())}.")
    for note in dict.fromkeys(note for each in plan.planned for note in each.settings.notes):
        view.say(f"Note: {note}.")
