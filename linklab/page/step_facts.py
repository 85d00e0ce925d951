# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a manual as its page needs them: what a button types where, and what it opens or writes."""

from __future__ import annotations

from typing import Any

from linklab.base.finish import Background, StopAfter
from linklab.manual.model import Commands, EditorActions, Interrupt, Step, WriteFile


def step_facts(step: Step) -> dict[str, Any]:
    """What the page needs of one step, as JSON holds it.

    Returns:
        id, terminal; kind: "commands", "interrupt", "file", "editor" or "await"; lines: what is typed; stops: whether
        the reader ends it with Ctrl+C; runs_on: whether it stays running; nodes: whose terminals the step opens.
    """
    lines: tuple[str, ...] = ()
    nodes: list[str] = []
    kind, stops, runs_on = "await", False, False
    match step.action:
        case Commands(lines=typed, finish=finish):
            kind, lines = "commands", typed
            stops, runs_on = isinstance(finish, StopAfter), isinstance(finish, Background)
        case Interrupt():
            kind = "interrupt"
        case WriteFile():
            kind = "file"
        case EditorActions(verbs=verbs):
            kind = "editor"
            nodes = [verb.words[1] for verb in verbs if verb.words[0] == "terminal"]
    return {
        "id": step.id,
        "terminal": step.terminal,
        "kind": kind,
        "lines": list(lines),
        "stops": stops,
        "runs_on": runs_on,
        "nodes": nodes,
    }
