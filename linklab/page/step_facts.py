# SPDX-License-Identifier: BSD-3-Clause
"""The steps of a manual as its page needs them: what a button types where, and what it opens or writes.

Also what to do about the steps that a page cannot do, such as drawing a network.
"""

from __future__ import annotations

import shlex
from pathlib import PurePosixPath
from typing import Any

from linklab.base.finish import Background, StopAfter
from linklab.guide.plan import runs_at_once
from linklab.guide.shell import CLIENT
from linklab.manual.model import Commands, EditorActions, Interrupt, Manual, Step, WriteFile
from linklab.manual.names import step_names, step_places

_FOLDER = PurePosixPath("/lab")
"""The working folder, as the network has it."""
_DRAW = (
    "This step is done in the editor, which is a window of its own: type linklab edit in a terminal of your computer. "
    "This page does not follow it."
)
_OF_DRAWN = (
    "{node} belongs to the network that you draw. Do this step in a terminal of the editor: right-click {node} while "
    "the network runs. This page does not follow it."
)
_ELSEWHERE = (
    "This file lies in the network and not in your folder: the buttons type a command that writes it. "
    "An editor in the terminal will do as well."
)
_STARTED = "This page has started the network already."
_OPENS = "On this page, the button below opens what is named here, without the editor."
_STOP = "On this page the network runs until you end the lab. What you did is kept."
_CLOSE = "On this page, close the terminal with its button Close."


def facts_of_steps(manual: Manual) -> list[dict[str, Any]]:
    """What the page needs of each step, in the order of the manual: what `step_facts` gives, and four more.

    name: as people call it; place: its numbers in the manual, as `step_places` gives them; in_editor: whether the
    editor alone can do it; note: how the page does a step that it does not do as printed, or what to do about one that
    it cannot do, "" for the others.
    """
    own, names, places = runs_at_once(manual), step_names(manual), step_places(manual)
    found = []
    for step in manual.steps:
        facts, note = step_facts(step), ""
        verbs = {verb.words[0] for verb in step.action.verbs} if isinstance(step.action, EditorActions) else set()
        in_editor = bool(verbs) if not own else bool(verbs - {"open", "run", "terminal", "stop", "close"})
        node = step.terminal.partition("#")[0]
        if in_editor:
            note = _DRAW
        elif not own and node != CLIENT:
            note, in_editor = _OF_DRAWN.format(node=node), True
        elif isinstance(step.action, WriteFile) and facts["kind"] == "commands":
            note = _ELSEWHERE
        elif "stop" in verbs:
            note = _STOP
        elif "close" in verbs:
            note = _CLOSE
        elif facts["nodes"]:
            note = _OPENS
        elif "run" in verbs:
            note = _STARTED
        found.append({**facts, "name": names[step.id], "place": places[step.id], "note": note, "in_editor": in_editor})
    return found


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
        case WriteFile(path=path) as action:
            inside = place_in_folder(path) is not None
            kind, lines = ("file", ()) if inside else ("commands", (_typed(action),))
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


def place_in_folder(path: str) -> PurePosixPath | None:
    """The path of a manual's file within the working folder; None if the file lies elsewhere."""
    named = PurePosixPath(path)
    if named.is_absolute() and _FOLDER in named.parents:
        named = named.relative_to(_FOLDER)
    return None if named.is_absolute() or ".." in named.parts else named


def _typed(action: WriteFile) -> str:
    """A line of bash(1) that writes a file."""
    arrow, text = ">>" if action.append else ">", action.text
    is_line = text.endswith("\n") and "\n" not in text[:-1]
    if is_line and not text.startswith("-"):  # which echo would take for its options
        return f"echo {shlex.quote(text[:-1])} {arrow} {shlex.quote(action.path)}"
    return f"printf %s {shlex.quote(text)} {arrow} {shlex.quote(action.path)}"
