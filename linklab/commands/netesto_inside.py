# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto run SCRIPT` in a terminal of a network: the same campaign, each experiment on the network that runs.

The machines of the script are the nodes of this network, and experiments follow each other in it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from linklab.base.text import counted, visible
from linklab.commands.flent_batch import one_by_one
from linklab.commands.flent_voice import Voice
from linklab.commands.netesto_script import script_file
from linklab.commands.sweep_inside import SaidView
from linklab.commands.trials_view import duration
from linklab.errors import InputError
from linklab.experiment.inside import Inside
from linklab.experiment.out_file import refuse_folder
from linklab.experiment.runner import Deal, ListProgress
from linklab.experiment.trial_work import TrialSettings
from linklab.netesto.campaign import CampaignPlan, CampaignSettings, plan_campaign, refuse_other, run_campaign
from linklab.netesto.expansion import Expansion
from linklab.netesto.machines import Machines, nodes_of, read_map
from linklab.netesto.running import OnRunning
from linklab.netesto.running_site import RunningSite
from linklab.topology import Topology


def run(args: argparse.Namespace, found: Expansion) -> int:
    """Run the campaign on the network that runs."""
    _refuse_options(args)
    voice = Voice(quiet=args.quiet)
    with Inside() as door:
        plan = _plan(args, found, door)
    out = args.out or Path(f"netesto-{script_file(args.script).name}")
    refuse_folder(out)
    refuse_other(out)
    out.mkdir(parents=True, exist_ok=True)
    for note in found.notes:
        print(visible(f"note: {note}"), file=sys.stderr)
    for line in found.said:
        voice.say(line)
    _say_before(plan, voice)

    def deal(how: TrialSettings) -> Deal:
        return one_by_one(how.run, voice)

    progress = ListProgress()
    view = SaidView(progress, voice)
    try:
        tasks = run_campaign(plan, out, progress=progress, changed=view.changed, measured=OnRunning(Inside), deal=deal)
    except KeyboardInterrupt:
        voice.complain(f"linklab: stopped; the same command goes on in {out}")
        raise
    voice.say(f"{out / 'exp.csv'} has the results, and {out / 'ExpList.html'} leads to the pages.")
    return 0 if all(task.state == "done" for task in tasks) else 1


def _refuse_options(args: argparse.Namespace) -> None:
    """Refuse what only a network has that is started for an experiment."""
    for option, given in (("--topology", args.topology), ("--path", args.path), ("--clock", args.clock)):
        if given:
            raise InputError(f"{option}: this terminal belongs to a network, which has its own; leave the option out")
    if args.jobs not in (None, 1):
        raise InputError("--jobs: one experiment at a time runs on a network; leave the option out")


def _plan(args: argparse.Namespace, found: Expansion, door: Inside) -> CampaignPlan:
    site = RunningSite(door)
    nodes = nodes_of(found.commands, site.nodes(), read_map(args.map, script_file(args.script)), site.name)
    engine, clock = str(door.facts["engine"]), str(door.facts["clock"])
    settings = CampaignSettings(args.seed, args.version, clock, engine)
    return plan_campaign(found, Machines(Topology(), nodes), settings, site)


def _say_before(plan: CampaignPlan, voice: Voice) -> None:
    flows = sum(group.instances for each in plan.planned for group in each.experiment.groups)
    voice.say(
        f"{counted(len(plan.entries), 'experiment')} with {counted(flows, 'flow')}, one after the other: "
        f"{duration(sum(entry.network_s for entry in plan.entries))} of network time."
    )
    for note in dict.fromkeys(note for each in plan.planned for note in each.settings.notes):
        voice.say(f"Note: {note}.")
