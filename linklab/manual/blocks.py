# SPDX-License-Identifier: BSD-3-Clause
"""What stands in the box of a step: whose terminal, what is typed there, and the lines of output that are shown.

On paper a line longer than the box is wrapped so that it shows: a shell command by a backslash, as the reader may type
it, anything else by an arrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from linklab.base.catalogue import Say, unchanged
from linklab.base.finish import Background, StopAfter
from linklab.errors import ManualError
from linklab.manual.model import Await, Commands, EditorActions, EditorVerb, Interrupt, Show, Step, WriteFile

SHORT_LINES = 34
"""Longest output that `show=auto` prints whole; of a longer one it prints both ends."""
ENDS_LINES = (8, 16)

TYPED_COLUMNS, OUTPUT_COLUMNS = 86, 92
"""Letters that fit into a line of a box on paper, at the font sizes of print.css."""


def shown_lines(output: str, show: Show, say: Say = unchanged) -> str:
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
    left_out = say("[… {count} lines …]").format(count=count - head - tail)
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


def box(step: Step, *, paper: bool = False, say: Say = unchanged) -> tuple[str, str, str]:
    """Label, content as HTML and remark of a step's box, in the reader's language."""
    match step.action:
        case Commands(lines=lines, finish=finish):
            code = "\n".join(wrapped_command(line, TYPED_COLUMNS) if paper else escape(line) for line in lines)
            remark = ""
            if isinstance(finish, StopAfter):
                remark = say("stop it with Ctrl+C after about {seconds} s").format(seconds=f"{finish.seconds:g}")
            elif isinstance(finish, Background):
                remark = say("leave it running")
            return terminal_label(step.terminal, say), _typed(code, say), remark
        case Interrupt(keys=keys):
            remark = say("in the window; where there is none, Ctrl+C here") if keys != INTERRUPT else ""
            return terminal_label(step.terminal, say), f'<p class="keys"><kbd>{escape(keys)}</kbd></p>', remark
        case Await():
            return terminal_label(step.terminal, say), "", say("wait until the prompt is back")
        case WriteFile(path=path, text=text, append=append):
            how = say("add at the end") if append else say("the whole file")
            code = wrapped(text.rstrip(), TYPED_COLUMNS) if paper else escape(text.rstrip())
            return say("File {path}").format(path=path), _typed(code, say), how
        case EditorActions(verbs=verbs):
            done = "".join(f"<li>{escape(phrase(verb, say))}</li>" for verb in verbs)
            return say("Editor"), f"<ol>{done}</ol>", ""


def in_a_shell(steps: Sequence[Step], say: Say = unchanged) -> tuple[str, str]:
    """What opens terminals without the editor, as HTML, and the id of the step whose box says so; "" where none does.

    That is the first that opens a terminal: once in a manual is enough.
    """
    for step in steps:
        verbs = step.action.verbs if isinstance(step.action, EditorActions) else ()
        if nodes := [verb.words[1] for verb in verbs if verb.words[0] == "terminal"]:
            commands = ", ".join(f"<code>linklab attach {escape(node)}</code>" for node in nodes)
            text = escape(
                say("In terminals of your own instead: {commands}; {client} alone is the Client's terminal."),
                quote=False,
            )
            told = text.format(commands=commands, client="<code>linklab attach</code>")
            return f'<p class="aside">{told}</p>', step.id
    return "", ""


def _typed(code: str, say: Say) -> str:
    return f'<pre class="typed" role="group" aria-label="{escape(say("Typed"))}" tabindex="0"><code>{code}</code></pre>'


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


def terminal_label(terminal: str, say: Say = unchanged) -> str:
    """What the reader calls a terminal."""
    node, _, number = terminal.partition("#")
    if node == "client":
        name = say("Client's terminal")
    elif node == "mininet":
        name = say("Mininet's command line")
    else:
        name = say("Terminal of {node}").format(node=node)
    return say("{terminal}, number {number}").format(terminal=name, number=number) if number else name


def terminal_name(terminal: str, say: Say = unchanged) -> str:
    """A terminal within a sentence: "h1", "h1 (terminal 2)", "the Client's terminal"."""
    node, _, number = terminal.partition("#")
    name = {"client": say("the Client's terminal"), "mininet": say("Mininet's command line")}.get(node, node)
    return say("{node} (terminal {number})").format(node=name, number=number) if number else name


def phrase(verb: EditorVerb, say: Say = unchanged) -> str:
    """What the reader does in the editor for one verb."""
    name, *words = verb.words
    phrases = _phrases(say)
    match name, words:
        case "set", [_, "ip"]:
            name = "empty"
        case "preferences", [setting, _]:
            name = setting
        case "delete", [_, _]:
            name = "unlink"
    if name not in phrases:
        raise ManualError(f'line {verb.line}: the editor cannot "{name}"')
    return phrases[name].format(*words)


def _phrases(say: Say) -> dict[str, str]:
    """Verb, or the kind of it that its words make → what the reader does; {0}, {1}, … are the words after the verb."""
    return {
        "new": say("File > New"),
        "open": say("File > Open: {0}"),
        "save": say("File > Save: {0}"),
        "run": say("Run"),
        "stop": say("Stop"),
        "host": say("Host tool: place {0}"),
        "switch": say("Switch tool: place {0}"),
        "link": say("Link tool: drag from {0} to {1}"),
        "delete": say("Select {0} and press Del"),
        "unlink": say("Select the link between {0} and {1} and press Del"),
        "terminal": say("Right click on {0}: Terminal"),
        "close": say("Close the terminal of {0}"),
        "set": say("Right click on {0}, Properties: IP address {2}"),
        "empty": say("Right click on {0}, Properties: empty the IP address"),
        "ip-base": say("Edit > Preferences: IP Base {1}"),
        "start-cli": say("Edit > Preferences: Start CLI {1}"),
    }
