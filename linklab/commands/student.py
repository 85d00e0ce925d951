# SPDX-License-Identifier: BSD-3-Clause
"""What `linklab check` and `linklab submit` find out about a student's work: is the environment set, does work.sh run.

not_set is pure, tried builds a network.
"""

from __future__ import annotations

import re
import sys

from linklab.agent.exercise_env import Line, linked, shaped
from linklab.engine.choice import load_engine
from linklab.errors import LinklabError
from linklab.exercise.answers import Answers
from linklab.exercise.folder import environment_files
from linklab.exercise.instance import filled, quantities
from linklab.exercise.model import Exercise, Instance
from linklab.grade.rebuild import rebuild
from linklab.grade.unit import network_of
from linklab.state.facts import facts
from linklab.state.model import State
from linklab.topology import Topology

TRY_S = 180.0
"""Wall-clock seconds after which work.sh is taken not to end; it may use 60 s of processor time where it is graded."""
_COMMAND = re.compile(r"^\s*[^#\s]", re.MULTILINE)


def not_set(state: str, exercise: Exercise, instance: Instance) -> str:
    """A sentence where a running network shows nothing of what set_env.sh shapes; "" where it does, or there is none.

    Args:
        state: as `linklab.terminal.attached.read_state` gives it.
        exercise: whose settings are looked for.
        instance: with the values of the settings.
    """
    lines = [Line(on, line, "") for on, line in filled(exercise.settings, quantities(exercise, instance))]
    wanted = [*(device for _, device in shaped(lines)), *linked(lines).values()]
    found = facts(State.loads(state, "the network's state"))
    if not wanted or any(found.get(f"{device}.discipline", "none") != "none" for device in wanted):
        return ""
    where = " and ".join(dict.fromkeys(wanted))
    have = "has" if len(set(wanted)) == 1 else "have"
    return (
        f"the environment is not set: {where} {have} no queueing discipline. Run set_env.sh first: "
        "sudo ./set_env.sh in the Client's terminal, or sh ./set_env.sh at the mininet> prompt"
    )


def tried(work: str, exercise: Exercise, instance: Instance, topology: Topology) -> list[str]:
    """What became of work.sh on a fresh network, as sentences: that it worked, or which lines did not."""
    if not _COMMAND.search(work):
        return ["There is no command in work.sh, so nothing is set by it."]
    print("Trying work.sh on a fresh network …", file=sys.stderr, flush=True)
    try:
        scene = network_of(exercise, instance, topology, Answers())
        rebuilt = rebuild(
            topology,
            [*scene.settings, *scene.fault],
            work,
            load_engine("pocket"),
            within_s=TRY_S,
            beside=environment_files(exercise, instance),
        )
    except LinklabError as error:
        return [f"It could not be tried here: {error}"]
    if rebuilt.state_text is None:
        return ["Tried here, it leaves no network, so that nothing of it counts:", *_indented(rebuilt.notes)]
    if rebuilt.notes:
        return ["Tried here on a fresh network, not all of it worked:", *_indented(rebuilt.notes)]
    return ["Tried here on a fresh network, every line of it worked; `linklab check --work` says what that earns."]


def _indented(notes: tuple[str, ...]) -> list[str]:
    return [f"  {note}" for note in notes]
