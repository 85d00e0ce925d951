# SPDX-License-Identifier: BSD-3-Clause
"""A script → a folder with all its experiments: which are due, each in a process and a network of its own.

    Expansion ─→ CampaignPlan ─→ `experiment.runner` ─→ OUT/EXP/…, then OUT/exp.csv and OUT/ExpList.html

An experiment's folder appears whole, and the journal of trials follows; so the same command goes on where a run was
killed. An experiment depends on the script, the network and the seed alone, and not on how many run at once.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from linklab.base.processes import processors
from linklab.base.text import one_line
from linklab.errors import InputError, LinklabError, MissingError
from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.model import Trial
from linklab.experiment.runner import Deal, ListProgress, TrialTask, at_once, here, run_entries
from linklab.experiment.trial_folder import DONE, TrialFolder, opened_as
from linklab.experiment.trial_inside import Tell, TrialProgress
from linklab.experiment.trial_list import JOURNAL, ListedTrial, digest
from linklab.experiment.trial_work import TrialSettings
from linklab.netesto import results
from linklab.netesto.campaign_cost import wall_s
from linklab.netesto.csv_file import finished
from linklab.netesto.expansion import Expansion
from linklab.netesto.experiments import experiments
from linklab.netesto.fields import FIELDS_FILE, fields_of
from linklab.netesto.lines import MOST_PROBLEMS, ScriptError, ScriptProblem
from linklab.netesto.machines import Machines
from linklab.netesto.names import data_file
from linklab.netesto.network_plan import PlannedExperiment, plan_experiment
from linklab.netesto.running import TEST, Measured, in_its_own, run_experiment
from linklab.netesto.site import Site
from linklab.netesto.sound import refuse_unsound

UNMADE = (LinklabError, ArithmeticError, LookupError, TypeError, ValueError)
"""What may go wrong where values and a page are made of data that are not as they should be."""


@dataclass(frozen=True)
class CampaignSettings:
    """How the networks of a campaign run; version: of IP, None for what the hosts have."""

    seed: int = 1
    version: int | None = None
    clock: str = "virtual"
    engine: str = "pocket"
    profile: str = "desktop"


@dataclass(frozen=True)
class CampaignPlan:
    """All experiments of a script on a network; entries: the same as a list of trials, in the same order."""

    planned: tuple[PlannedExperiment, ...]
    machines: Machines
    settings: CampaignSettings
    entries: tuple[ListedTrial, ...]


def seed_of(campaign: int, number: int) -> int:
    """The seed of an experiment: of its campaign's seed and its number alone, so that no other one changes it."""
    return int.from_bytes(hashlib.sha256(f"netesto {campaign} {number}".encode()).digest()[:6], "big")


def plan_campaign(
    expansion: Expansion, machines: Machines, settings: CampaignSettings, site: Site | None = None
) -> CampaignPlan:
    """The plan of a campaign; nothing runs. site: the network, where it runs already.

    Raises:
        ScriptError: commands of the script cannot be on this network; it holds every problem with its place.
        InputError: an experiment cannot be; the message names it.
        MissingError: the kernel lacks a congestion control.
    """
    refuse_unsound(expansion, settings.engine)
    planned = []
    problems: list[ScriptProblem] = []
    for each in experiments(expansion):
        try:
            found = plan_experiment(each, machines, seed_of(settings.seed, each.number), settings.version, site)
            refuse_missing(found.expanded, settings.engine)
        except ScriptError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            continue
        except (InputError, MissingError) as error:
            raise type(error)(f"experiment {each.number} ({each.name}): {error}") from error
        planned.append(found)
    if problems:
        raise ScriptError(problems[:MOST_PROBLEMS])
    if not planned:
        raise InputError("the script starts no flows: it has no DO_CLIENT that is reached")
    entries = tuple(_entry(each, machines, settings) for each in planned)
    return CampaignPlan(tuple(planned), machines, settings, entries)


def _entry(planned: PlannedExperiment, machines: Machines, settings: CampaignSettings) -> ListedTrial:
    """An experiment as an entry of a list: the trial says all that decides what comes of it."""
    experiment = planned.experiment
    number = experiment.number
    drawing = machines.topology.dumps()
    trial = Trial(
        TEST,
        seed=planned.about["seed"],
        clock=settings.clock,
        engine=settings.engine,
        profile=settings.profile,
        title=" ".join(filter(None, (experiment.name, experiment.desc))),
        extra={"experiment": planned.about, "topology_sha256": hashlib.sha256(drawing.encode()).hexdigest()},
    )
    label = f"{number} {experiment.name}"
    name = f"{number}/{data_file(number).partition('.')[0]}"
    cost_s = wall_s(planned, settings.clock)
    return ListedTrial(name, label, trial, network_s=experiment.length_s, cost_s=cost_s)


@dataclass(frozen=True)
class ExperimentRunner:
    """Does one experiment of a campaign, as `TrialSettings.run` has it, in a process of its own.

    campaign: its folder.
    """

    plan: CampaignPlan
    campaign: Path
    by_name: Mapping[str, PlannedExperiment] = field(default_factory=dict)
    measured: Measured = in_its_own

    def __call__(self, trial: Trial, path: Path, tell: Tell) -> Path:
        """Run it; all that comes of it lies in a folder beside the data file that was asked for."""
        planned = self.by_name[path.name]
        folder = path.parent / str(planned.experiment.number)
        nodes = self.plan.machines.nodes
        file, data = run_experiment(planned, nodes, trial, folder, tell, measured=self.measured)
        tell(TrialProgress("making its page"))
        with suppress(*UNMADE):  # the measurement counts all the same; `_remake` says so and tries again
            results.process(folder, self.campaign, data)
        return file


class CampaignFolder(TrialFolder):
    """The folder of a campaign: a data file takes its experiment's whole folder with it."""

    noun = "campaign"

    def place(self, made: Path, file: Path) -> None:
        """Put an experiment's folder where it belongs, whole; one that is there goes when the new one is in place."""
        old = file.parent.with_name(f".{file.parent.name}.old")
        if file.parent.exists():
            if old.exists():
                shutil.rmtree(old)
            file.parent.replace(old)
        try:
            made.parent.replace(file.parent)
        except OSError:
            if old.exists():
                old.replace(file.parent)
            raise
        shutil.rmtree(old, ignore_errors=True)


Changed = Callable[[TrialTask | None], None]


def run_campaign(
    plan: CampaignPlan,
    out: Path,
    *,
    jobs: int | None = None,
    progress: ListProgress | None = None,
    changed: Changed,
    measured: Measured = in_its_own,
    deal: Callable[[TrialSettings], Deal] | None = None,
) -> list[TrialTask]:
    """Run the experiments that are not done yet, and make exp.csv and the pages of all.

    Args:
        plan: of the campaign.
        out: its folder, which is there; one in which another campaign ran is refused.
        jobs: experiments at once; None for one a processor.
        progress: gets the tasks.
        changed: told of each task whose state changed, and with None a few times a second.
        measured: runs one experiment in its network.
        deal: has the experiments done; None for each in a process of its own.

    Raises:
        InputError: another run works on the folder, it holds something else, or its fields.txt has mistakes.
    """
    out = out.resolve()
    fields_of(out)
    by_name = {data_file(each.experiment.number): each for each in plan.planned}
    how = TrialSettings(ExperimentRunner(plan, out, by_name, measured))
    about = {"what": TEST, "list": digest(plan.entries)}
    progress = progress or ListProgress(jobs=jobs_of(plan.entries, jobs))
    with opened_as(out, about, CampaignFolder) as folder:
        tasks = run_entries(plan.entries, folder, deal(how) if deal else here(how, progress.jobs), progress, changed)
        _remake(tasks, out, changed)
        if any(task.state in ("done", "gaps") for task in tasks):
            results.write_csv(out)
    return tasks


def _remake(tasks: Sequence[TrialTask], out: Path, changed: Changed) -> None:
    """Make the values and pages that are missing of experiments that were measured; say where that cannot be."""
    for task in tasks:
        folder = (out / task.entry.file).parent
        if task.state not in DONE or finished(folder):
            continue
        try:
            results.process(folder, out)
        except UNMADE as error:
            why = f"its values and page could not be made ({one_line(str(error))}); linklab netesto page tries again"
            task.state, task.why = "gaps", "; ".join(filter(None, (task.why, why)))
            changed(task)


def jobs_of(entries: Sequence[ListedTrial], wanted: int | None) -> int:
    """How many experiments run at once."""
    return at_once([entry.trial for entry in entries], wanted, processors())


def refuse_other(out: Path) -> None:
    """Refuse a folder that holds something else than a campaign.

    Raises:
        InputError: it is not empty, and no campaign ran there.
    """
    if out.is_dir() and not (out / JOURNAL).exists():
        there = sorted(path.name for path in out.iterdir() if path.name != FIELDS_FILE)
        if there:
            raise InputError(f"{out}: this folder is not empty ({there[0]}); give another one with -o")
