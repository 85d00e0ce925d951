# SPDX-License-Identifier: BSD-3-Clause
"""The info string of a fenced block (`h1 id=bulk for=5s`) and its body to a step's action.

Raises ManualError with file and line for whatever it does not know. The syntax is specified in docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from linklab.base.finish import Background, Finish, Prompt, StopAfter
from linklab.base.text import excerpt
from linklab.errors import ManualError
from linklab.manual.model import Action, Await, Commands, EditorActions, EditorVerb, Interrupt, Show, Step, WriteFile

LISTINGS = frozenset({"text", "formula"})
"""Blocks that are only read."""

VALUED = frozenset({"id", "for", "stop", "wait", "together", "file", "files", "prompt", "show", "status", "deadline"})
FLAGS = frozenset({"background", "append", "setup", "optional", "at-once"})

_TERMINAL = re.compile(r"(?:client|mininet|[a-z][a-z-]*[0-9]+)(?:#[2-9])?|editor")
ID = re.compile(r"[a-z0-9][a-z0-9-]*")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|min)")
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0}

# verb → the words that may follow; None stands for any one word
VERBS: dict[str, tuple[tuple[str | None, ...], ...]] = {
    "new": ((),),
    "open": ((None,),),
    "save": ((None,),),
    "run": ((),),
    "stop": ((),),
    "host": ((None, "at", None, None),),
    "switch": ((None, "at", None, None),),
    "link": ((None, None),),
    "set": ((None, "ip", None), (None, "ip")),
    "delete": ((None,), (None, None)),
    "preferences": (("ip-base", None), ("start-cli", None)),
    "terminal": ((None,),),
    "close": ((None,),),
}


@dataclass(frozen=True)
class Place:
    """Where a block stands, for messages."""

    name: str
    line: int

    def error(self, message: str, line: int | None = None) -> ManualError:
        """The error to raise for this place, or for another line of the same file."""
        return ManualError(f"{self.name}:{line or self.line}: {message}")


@dataclass(frozen=True)
class Info:
    """An info string taken apart; `options` holds the valued ones as written."""

    place: Place
    terminal: str
    options: dict[str, str]
    flags: frozenset[str]

    def number(self, name: str) -> float | None:
        """Seconds of a duration option, None where it is not given."""
        if name not in self.options:
            return None
        found = _DURATION.fullmatch(self.options[name])
        if not found:
            raise self.place.error(f'{name}="{self.options[name]}" is no duration; write it as 500ms, 5s or 2min')
        return float(found[1]) * _SECONDS[found[2]]


def parse_info(text: str, place: Place, nodes: frozenset[str] | None) -> Info:
    """Take an info string apart.

    Args:
        text: what stands after the three backticks.
        place: where, for messages.
        nodes: names of the lab's nodes; None accepts any name of a node's form.

    Raises:
        ManualError: unknown terminal or option, an option given twice or without its value.
    """
    words = _words(text, place)
    if not words:
        raise place.error("a block needs the name of its terminal; use text for a block that is only read")
    terminal = words[0]
    if not _TERMINAL.fullmatch(terminal):
        raise place.error(
            f'unknown terminal "{excerpt(terminal)}"; use a node such as h1, client, mininet or editor, '
            "or text for a listing"
        )
    node = terminal.partition("#")[0]
    if nodes is not None and node not in nodes | {"client", "mininet", "editor"}:
        raise place.error(
            f'unknown terminal "{excerpt(terminal)}"; this lab has {", ".join(sorted(nodes))}, client and mininet'
        )
    options, flags = _options(words[1:], place, VALUED, FLAGS)
    for name in ("id", "stop", "wait", "together"):
        if name in options and not ID.fullmatch(options[name]):
            raise place.error(f'{name}="{excerpt(options[name])}": use small letters, digits and "-"')
    return Info(place, terminal, options, frozenset(flags))


def named_options(text: str, place: Place, names: Sequence[str]) -> dict[str, str]:
    """The options of a block that has just these, each with a value.

    Raises:
        ManualError: one is missing, unknown, given twice or without its value.
    """
    options, _ = _options(_words(text, place)[1:], place, frozenset(names), frozenset())
    if missing := [name for name in names if name not in options]:
        raise place.error(f"the block needs {missing[0]}=…")
    return options


def _words(text: str, place: Place) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise place.error(f"the block's options cannot be read: {excerpt(str(error))}") from error


def _options(
    words: list[str], place: Place, valued: frozenset[str], flagged: frozenset[str]
) -> tuple[dict[str, str], set[str]]:
    options: dict[str, str] = {}
    flags: set[str] = set()
    for word in words:
        name, equals, value = word.partition("=")
        if name not in valued | flagged:
            raise place.error(f'unknown option "{excerpt(name)}"; I know {", ".join(sorted(valued | flagged))}')
        if name in options or name in flags:
            raise place.error(f'option "{name}" is given twice')
        if name in flagged:
            if equals:
                raise place.error(f'option "{name}" takes no value')
            flags.add(name)
        elif not value:
            raise place.error(f'option "{name}" needs a value, as in {name}=…')
        else:
            options[name] = value
    return options, flags


def parse_action(info: Info, body: str) -> Action:
    """The action a block asks for; `body` is its text.

    Raises:
        ManualError: options that exclude each other, an empty block, an unknown editor verb.
    """
    place, given = info.place, set(info.options) | info.flags
    kinds = given & {"stop", "wait", "file"}
    if len(kinds) > 1:
        raise place.error(f"{' and '.join(sorted(kinds))} exclude each other")
    if info.terminal == "editor":
        _only(info, {"id", "optional"})
        return _editor_actions(place, body)
    if kinds:
        _only(
            info,
            {*kinds, "id", "show", "optional", "deadline", *({"append", "setup", "files"} if "file" in kinds else ())},
        )
    elif "append" in given:
        raise place.error("append goes with file=PATH")
    if "stop" in kinds:
        return Interrupt(info.options["stop"], body.strip() or "Ctrl+C")
    if "wait" in kinds:
        if body.strip():
            raise place.error("a block with wait=… has no text; nothing is typed")
        return Await(info.options["wait"])
    if "file" in kinds:
        return WriteFile(info.options["file"], body, "append" in given)
    lines = tuple(join_lines(body))
    if not lines:
        raise place.error("the block is empty")
    finish = _finish(info)
    if "at-once" in given and "together" not in given:
        raise place.error("at-once needs together=NAME")
    single = given & {"together", "for", "background", "prompt"}
    if len(lines) > 1 and single:
        raise place.error(f"{' and '.join(sorted(single))} needs a block of one command, this one has {len(lines)}")
    return Commands(lines, finish)


def retyped(step: Step, text: str, place: Place) -> Step:
    """A step in which something else is typed.

    Raises:
        ManualError: nothing is typed in it, or the text is none that may stand in such a block.
    """
    match step.action:
        case Commands(lines=lines, finish=finish):
            typed = tuple(join_lines(text))
            if not typed or len(typed) > 1 == len(lines):
                raise place.error(f"step {step.id} has one command" if typed else "the block is empty")
            return replace(step, action=Commands(typed, finish))
        case WriteFile() as action:
            return replace(step, action=replace(action, text=text))
        case EditorActions():
            return replace(step, action=_editor_actions(place, text))
        case _:
            raise place.error(f"nothing is typed in step {step.id}")


def parse_show(info: Info) -> Show:
    """The `show` option: all, none, first:N, last:N or N-M.

    Raises:
        ManualError: anything else.
    """
    text = info.options.get("show", "auto")
    if text in {"auto", "all", "none"}:
        return Show(text)
    if found := re.fullmatch(r"(first|last):([1-9]\d{0,6})", text):
        count = int(found[2])
        return Show(found[1], first=count) if found[1] == "first" else Show(found[1], last=count)
    if (found := re.fullmatch(r"([1-9]\d{0,6})-([1-9]\d{0,6})", text)) and int(found[1]) <= int(found[2]):
        return Show("lines", first=int(found[1]), last=int(found[2]))
    raise info.place.error(f'show="{excerpt(text)}"; use all, none, first:N, last:N or FROM-TO')


def parse_files(info: Info) -> tuple[str, ...]:
    """The `files` option: paths below the working folder, separated by commas, in which `*` stands for anything.

    Raises:
        ManualError: a path is empty or leads out of the folder.
    """
    if "files" not in info.options:
        return ()
    patterns = tuple(info.options["files"].split(","))
    for pattern in patterns:
        if not pattern or pattern.startswith("/") or ".." in pattern.split("/"):
            text = info.options["files"]
            raise info.place.error(
                f'files="{text}"; name paths below the working folder, as in files=one/out.json,*.pcap'
            )
    return patterns


def parse_status(info: Info) -> int | None:
    """The `status` option: the exit status that counts as success, None for any.

    Raises:
        ManualError: neither a number nor "any".
    """
    text = info.options.get("status", "0")
    if text == "any":
        return None
    if not re.fullmatch(r"\d{1,3}", text):
        raise info.place.error(f'status="{text}"; use the exit status to expect, or any')
    return int(text)


def join_lines(body: str) -> list[str]:
    """Commands of a block: one a line, a backslash at the end of a line continues it, empty lines fall away."""
    commands: list[str] = []
    pending = ""
    for line in body.splitlines():
        text = line.strip()
        if text.endswith("\\"):
            pending += text[:-1].rstrip() + " "
        elif pending or text:
            commands.append(pending + text)
            pending = ""
    if pending:
        commands.append(pending.rstrip())
    return commands


def _finish(info: Info) -> Finish:
    seconds = info.number("for")
    if seconds is not None and "background" in info.flags:
        raise info.place.error("for and background exclude each other")
    if "background" in info.flags:
        return Background()
    return Prompt() if seconds is None else StopAfter(seconds)


def _only(info: Info, allowed: set[str]) -> None:
    for name in sorted((set(info.options) | info.flags) - allowed):
        raise info.place.error(f'option "{name}" means nothing in this kind of block')


def _editor_actions(place: Place, body: str) -> EditorActions:
    verbs = []
    for offset, line in enumerate(body.splitlines(), 1):
        if not line.strip():
            continue
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise place.error(f"the editor's line cannot be read: {error}", place.line + offset) from error
        forms = VERBS.get(words[0])
        if forms is None:
            raise place.error(f'the editor cannot "{words[0]}"; it can {", ".join(sorted(VERBS))}', place.line + offset)
        if not any(_fits(words[1:], form) for form in forms):
            usage = " or ".join(" ".join((words[0], *(word or "…" for word in form))) for form in forms)
            raise place.error(f'"{line.strip()}": write {usage}', place.line + offset)
        verbs.append(EditorVerb(tuple(words), place.line + offset))
    if not verbs:
        raise place.error("the block is empty")
    return EditorActions(tuple(verbs))


def _fits(words: list[str], form: tuple[str | None, ...]) -> bool:
    return len(words) == len(form) and all(want in (None, word) for word, want in zip(words, form, strict=True))
