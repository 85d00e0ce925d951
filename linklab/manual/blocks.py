# SPDX-License-Identifier: BSD-3-Clause
"""What stands in the box of a step: whose terminal, what is typed there, and the lines of output that are shown.

On paper a line longer than the box is wrapped so that it shows: a shell command by a backslash, as the reader may type
it, anything else by an arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from linklab.base.finish import Background, StopAfter
from linklab.errors import ManualError
from linklab.manual.model import Await, Commands, EditorActions, EditorVerb, Interrupt, Show, Step, WriteFile

SHORT_LINES = 34
"""Longest output that `show=auto` prints whole; of a longer one it prints both ends."""
ENDS_LINES = (8, 16)

TYPED_COLUMNS, OUTPUT_COLUMNS = 86, 92
"""Letters that fit into a line of a box on paper, at the font sizes of print.css."""


def shown_lines(output: str, show: Show) -> str:
    """The lines of an output that the reader sees; what is left out is counted in its place."""
    lines = output.rstrip("\n").splitlines()
    count = len(lines)
    if show.kind == "none" or not count:
        return ""
    head, tail = count, 0
    match show.kind:
        case "auto" if count > SHORT_LINES:
            head, tail = ENDS_LINES
        case "first":
            head = show.first
        case "last":
            head, tail = 0, show.last
        case "lines":
            return "\n".join(lines[show.first - 1 : show.last])
    if head + tail >= count:
        return "\n".join(lines)
    left_out = f"[… {count - head - tail} lines …]"
    return "\n".join([*lines[:head], left_out, *lines[count - tail :]])


def wrapped(text: str, columns: int) -> str:
    """Text as HTML in which no line is longer than `columns`; a line that goes on begins with an arrow."""
    return "\n".join(
        f'<span class="more">↪</span> {escape(part)}' if number else escape(part)
        for line in text.expandtabs(8).splitlines()
        for number, part in enumerate(_parts(line, columns, columns - 2))
    )


def wrapped_command(line: str, columns: int) -> str:
    """A shell command as HTML, over several lines with backslashes where it is longer than `columns`.

    It is broken between words outside quotes; where there is no such place, as `wrapped` does.
    """
    lines, rest, indent = [], line, ""
    while len(indent + rest) > columns:
        fit = columns - len(indent) - 2
        at = max((place for place in _gaps(rest) if 0 < place <= fit), default=0)
        if not at:
            return wrapped(line, columns)
        lines.append(f"{indent}{rest[:at]} \\")
        rest, indent = rest[at:].lstrip(), "    "
    return escape("\n".join([*lines, indent + rest]))


INTERRUPT = "Ctrl+C"


def box(step: Step, *, paper: bool = False) -> tuple[str, str, str]:
    """Label, content as HTML and remark of a step's box."""
    match step.action:
        case Commands(lines=lines, finish=finish):
            code = "\n".join(wrapped_command(line, TYPED_COLUMNS) if paper else escape(line) for line in lines)
            remark = ""
            if isinstance(finish, StopAfter):
                remark = f"stop it with Ctrl+C after about {finish.seconds:g} s"
            elif isinstance(finish, Background):
                remark = "leave it running"
            return terminal_label(step.terminal), _typed(code), remark
        case Interrupt(keys=keys):
            remark = f"in the window; where there is none, {INTERRUPT} here" if keys != INTERRUPT else ""
            return terminal_label(step.terminal), f'<p class="keys"><kbd>{escape(keys)}</kbd></p>', remark
        case Await():
            return terminal_label(step.terminal), "", "wait until the prompt is back"
        case WriteFile(path=path, text=text, append=append):
            how = "add at the end" if append else "the whole file"
            code = wrapped(text.rstrip(), TYPED_COLUMNS) if paper else escape(text.rstrip())
            return f"File {path}", _typed(code), how
        case EditorActions(verbs=verbs):
            return "Editor", "<ol>" + "".join(f"<li>{escape(phrase(verb))}</li>" for verb in verbs) + "</ol>", ""


def in_a_shell(steps: Sequence[Step]) -> tuple[str, str]:
    """What opens terminals without the editor, as HTML, and the id of the step whose box says so; "" where none does.

    That is the first that opens a terminal: once in a manual is enough.
    """
    for step in steps:
        verbs = step.action.verbs if isinstance(step.action, EditorActions) else ()
        if nodes := [verb.words[1] for verb in verbs if verb.words[0] == "terminal"]:
            commands = ", ".join(f"<code>linklab attach {escape(node)}</code>" for node in nodes)
            client = "<code>linklab attach</code> alone is the Client's terminal"
            return f'<p class="aside">In terminals of your own instead: {commands}; {client}.</p>', step.id
    return "", ""


def _typed(code: str) -> str:
    return f'<pre class="typed" role="group" aria-label="Typed" tabindex="0"><code>{code}</code></pre>'


def _parts(line: str, first: int, later: int) -> Iterator[str]:
    """A line in parts of at most `first`, then `later` characters, broken after a space where there is one."""
    room = first
    while len(line) > room:
        at = line.rfind(" ", room // 2, room) + 1 or room
        yield line[:at]
        line, room = line[at:], later
    yield line


def _gaps(command: str) -> Iterator[int]:
    """Places of the spaces between the words of a shell command."""
    quote, escaped = "", False
    for place, letter in enumerate(command):
        if escaped:
            escaped = False
        elif letter == "\\" and quote != "'":
            escaped = True
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == " ":
            yield place


def terminal_label(terminal: str) -> str:
    """What the reader calls a terminal."""
    node, _, number = terminal.partition("#")
    name = {"client": "Client's terminal", "mininet": "Mininet's command line"}.get(node, f"Terminal of {node}")
    return f"{name}, number {number}" if number else name


def terminal_name(terminal: str) -> str:
    """A terminal within a sentence: "h1", "h1 (terminal 2)", "the Client's terminal"."""
    node, _, number = terminal.partition("#")
    name = {"client": "the Client's terminal", "mininet": "Mininet's command line"}.get(node, node)
    return f"{name} (terminal {number})" if number else name


_PHRASES = {
    "new": "File > New",
    "open": "File > Open: {0}",
    "save": "File > Save: {0}",
    "run": "Run",
    "stop": "Stop",
    "host": "Host tool: place {0}",
    "switch": "Switch tool: place {0}",
    "link": "Link tool: drag from {0} to {1}",
    "delete": "Select {0} and press Del",
    "terminal": "Right click on {0}: Terminal",
    "close": "Close the terminal of {0}",
}


def phrase(verb: EditorVerb) -> str:
    """What the reader does in the editor for one verb."""
    name, *words = verb.words
    match name, words:
        case "set", [node, "ip"]:
            return f"Right click on {node}, Properties: empty the IP address"
        case "set", [node, "ip", address]:
            return f"Right click on {node}, Properties: IP address {address}"
        case "preferences", ["ip-base", base]:
            return f"Edit > Preferences: IP Base {base}"
        case "preferences", [_, state]:
            return f"Edit > Preferences: Start CLI {state}"
        case "delete", [one, other]:
            return f"Select the link between {one} and {other} and press Del"
    if name not in _PHRASES:
        raise ManualError(f'line {verb.line}: the editor cannot "{name}"')
    return _PHRASES[name].format(*words)
