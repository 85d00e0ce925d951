# SPDX-License-Identifier: BSD-3-Clause
"""A trial's words → all that is known before a network starts."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.experiment.algorithms import refuse_missing
from linklab.experiment.expand import expand
from linklab.experiment.model import Expanded, Trial
from linklab.experiment.parameters import mistyped
from linklab.experiment.path import parse_path
from linklab.experiment.place import TrialPlace, place_of
from linklab.experiment.plan import make_plan
from linklab.experiment.planned import ProgramPlan
from linklab.experiment.test_file import load_test


@dataclass(frozen=True)
class Prepared:
    """A trial whose words have been read: all that is known before a network starts.

    notes: sentences about what was asked for and looks like a mistake.
    """

    trial: Trial
    expanded: Expanded
    place: TrialPlace
    plan: ProgramPlan
    notes: tuple[str, ...] = ()


def prepare(trial: Trial) -> Prepared:
    """Read the test, its parameters, the path or topology, and make the plan.

    Raises:
        InputError: one of them cannot be.
        MissingError: the pocket kernel, if that would run it, lacks a congestion control.
    """
    test = load_test(trial.test)

    def with_hosts(hosts: tuple[str, ...]) -> Expanded:
        return expand(test, trial.parameters, hosts=hosts, length_s=trial.length_s, step_s=trial.step_s)

    # names of targets stand in names of series, and how many there are is known only when the test is expanded
    first = with_hosts(trial.targets or _ends_of(trial.path))
    version6 = any(flow.version == 6 for flow in first.flows)
    place = place_of(
        trial.path, trial.topology, trial.source, trial.targets, hosts=max(1, first.hosts), version6=version6
    )
    if trial.engine == "pocket":  # what the host's kernel has is asked where the test runs
        refuse_missing(first, trial.engine)
    expanded = with_hosts(place.targets[: max(1, first.hosts, len(trial.targets))])
    return Prepared(
        trial, expanded, place, make_plan(expanded, place, trial.commands), tuple(mistyped(test, trial.parameters))
    )


def _ends_of(words: str) -> tuple[str, ...]:
    """The targets of a path of several round trips, one for each; none where a test says itself how many it needs."""
    rtts_s = parse_path(words).rtts_s if words else ()
    return tuple(f"h{number}" for number in range(2, len(rtts_s) + 2)) if len(rtts_s) > 1 else ()
