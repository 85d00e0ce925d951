# SPDX-License-Identifier: BSD-3-Clause
"""A manual as one HTML file: works offline, in light and dark, on paper and with a screen reader.

Called by `linklab manual`; takes the parsed manual and what was recorded, gives text.
Numbers and outputs come from the recording alone; what it lacks is marked as not recorded, never made up.
The page around it is `page.html.j2`.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import jinja2
from markdown_it.token import Token

from linklab.errors import ManualError
from linklab.manual.info import LISTINGS, Place
from linklab.manual.model import (
    Await,
    Commands,
    EditorActions,
    EditorVerb,
    Figure,
    Interrupt,
    LeftRunning,
    Manual,
    Section,
    Show,
    Step,
    StoppedAfter,
    WriteFile,
)
from linklab.manual.numbers import format_number
from linklab.manual.parse import STEP_MARK, groups, markdown, parse_figure, parse_quote

SHORT_LINES = 34
"""Longest output that `show=auto` prints whole; of a longer one it prints both ends."""
ENDS_LINES = (8, 16)

MISSING = '<span class="missing">not recorded yet</span>'


@dataclass(frozen=True)
class Recorded:
    """What a run of the manual left.

    outputs: step id → terminal output.
    scalars: step id → metric → (value, unit).
    figures: "STEP/NAME" → the bytes of an SVG or PNG image.
    """

    outputs: Mapping[str, str] = field(default_factory=dict)
    scalars: Mapping[str, Mapping[str, tuple[float, str]]] = field(default_factory=dict)
    figures: Mapping[str, bytes] = field(default_factory=dict)


def render_manual(
    manual: Manual,
    *,
    heading: str,
    objectives: Sequence[str] = (),
    fields: Mapping[str, str] | None = None,
    recorded: Recorded | None = None,
    picture: str = "",
) -> str:
    """The whole page.

    Args:
        manual: the parsed manual; files its images name are read from beside it.
        heading: title of the page, such as "Lab 14: Router's bufferbloat".
        objectives: what `{{lab.objectives}}` lists.
        fields: what `{{lab.title}}` and `{{lab.number}}` stand for.
        recorded: outputs, numbers and plots of the reference run.
        picture: the topology as an `<svg>` element.

    Raises:
        ManualError: an image file that is not there, or a unit that does not fit its number.
    """
    writer = _Writer(manual, recorded or Recorded(), objectives, fields or {}, picture)
    body = writer.body()
    return page("page.html.j2", heading=heading, sections=manual.sections, body=body)


def page(template: str, **values: object) -> str:
    """Fill one of the templates that stand beside this module."""
    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["number"] = format_number
    return environment.get_template(template).render(**values)


def data_uri(content: bytes) -> str:
    """An image inside the page: SVG or PNG by its first bytes."""
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def excerpt(output: str, show: Show) -> str:
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


@dataclass
class _Writer:
    manual: Manual
    recorded: Recorded
    objectives: Sequence[str]
    fields: Mapping[str, str]
    picture: str
    _figures: int = 0
    _step: int = 0
    _by_line: dict[int, Step] = field(default_factory=dict)
    _partners: dict[str, list[str]] = field(default_factory=dict)

    def body(self) -> str:
        self._by_line = {step.line: step for step in self.manual.steps}
        for group in groups(self.manual.steps):
            for step in group:
                self._partners[step.id] = [other.terminal for other in group if other is not step]
        parser = markdown()
        self._renderer, self._options = parser.renderer, parser.options
        self._renderer.rules["quote"] = self._quote  # type: ignore[attr-defined] # add_render_rule wants a function
        tokens = parser.parse(self.manual.text)
        out: list[Token] = []
        sections = iter(self.manual.sections)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            html, used = "", 1
            if token.type == "heading_open":
                html, used = ("" if token.tag == "h1" else self._heading(next(sections))), 3
            elif token.type == "fence":
                html = self._fence(token)
            elif token.type == "paragraph_open" and not token.hidden:
                html = self._paragraph(tokens[at + 1], (token.map or [0])[0] + 1)
                used = 3 if html else 1
            if html or used == 3:
                block = Token("html_block", "", 0)
                block.content = html + "\n"
                out.append(block)
            else:
                out.append(token)
            at += used
        return str(self._renderer.render(out, self._options, {}))

    def _inline(self, token: Token) -> str:
        return str(self._renderer.render([token], self._options, {}))

    def _heading(self, section: Section) -> str:
        self._step = 0
        number = f'<span class="number">{section.number}</span> ' if section.number else ""
        tag = f"h{section.level + 1}"
        return f'<{tag} id="{section.slug}">{number}{escape(section.title)}</{tag}>'

    def _paragraph(self, inline: Token, line: int) -> str:
        """Paragraphs that are more than text: a figure, a list the lab fills in, a numbered step; else ""."""
        children = inline.children or []
        if len(children) == 1 and children[0].type == "image":
            source = str(children[0].attrs["src"])
            return self._figure(parse_figure(source, line), children[0].content)
        if len(children) == 1 and children[0].type == "quote":
            quote = parse_quote(children[0].content, self._place(line))
            if (quote.kind, quote.metric) == ("lab", "objectives"):
                items = "".join(f"<li>{escape(text)}</li>" for text in self.objectives)
                return f"<ol>{items}</ol>"
            if (quote.kind, quote.metric) == ("lab", "roadmap"):
                return self._roadmap()
        if inline.content.startswith(STEP_MARK):
            self._step += 1
            html = self._inline(inline).removeprefix(STEP_MARK)
            return f'<p class="step"><strong>Step {self._step}.</strong> {html}</p>'
        return ""

    def _roadmap(self) -> str:
        items = [
            f'<li>Section {section.number}: <a href="#{section.slug}">{escape(section.title)}</a></li>'
            for section in self.manual.sections
            if section.number and section.level == 1
        ]
        return f'<ul class="roadmap">{"".join(items)}</ul>'

    def _quote(self, tokens: Sequence[Token], at: int, *_rest: object) -> str:
        text = tokens[at].content
        quote = parse_quote(text, self._place(self._line_of(text)))
        if quote.kind == "section":
            section = next((section for section in self.manual.sections if section.slug == quote.metric), None)
            if section is None:
                raise self._place(self._line_of(text)).error(f'there is no section "{quote.metric}"')
            return f'<a href="#{section.slug}">Section {section.number or escape(section.title)}</a>'
        if quote.kind == "lab":
            return escape(self.fields.get(quote.metric, ""))
        found = self.recorded.scalars.get(quote.step, {}).get(quote.metric)
        if found is None:
            return MISSING
        try:
            number = format_number(*found, quote.unit, quote.decimals)
        except ValueError as error:
            raise self._place(self._line_of(text)).error(f'"{{{{{text}}}}}": {error}') from error
        return f'<span class="measured">{escape(number)}</span>'

    def _figure(self, figure: Figure, caption: str) -> str:
        self._figures += 1
        label = f"<figcaption>Figure {self._figures}. {escape(caption)}</figcaption>"
        match figure.kind:
            case "topology":
                inside = self.picture or MISSING
            case "run":
                content = self.recorded.figures.get(f"{figure.step}/{figure.name}")
                inside = f'<img src="{data_uri(content)}" alt="{escape(caption)}">' if content else MISSING
            case _:
                inside = self._file(figure, caption)
        return f'<figure id="figure-{self._figures}">{inside}{label}</figure>'

    def _file(self, figure: Figure, caption: str) -> str:
        path = self.manual.path.parent / figure.name
        try:
            content = path.read_bytes()
        except OSError:
            raise self._place(figure.line).error(f"there is no image {path}") from None
        if path.suffix == ".svg":
            # Inside the page rather than as a data URI, so that it takes the page's colours in the dark.
            return content.decode("utf-8")[content.decode("utf-8").index("<svg") :]
        return f'<img src="{data_uri(content)}" alt="{escape(caption)}">'

    def _fence(self, token: Token) -> str:
        kind = token.info.split()[0]
        if kind in LISTINGS:
            return f'<pre class="{kind}">{escape(token.content)}</pre>'
        step = self._by_line[(token.map or [0])[0] + 1]
        label, inside, note = _box(step)
        if partners := self._partners[step.id]:
            note = f"press Enter here and in {' and '.join(partners)} at the same time"
        show = step.show
        if show.kind == "auto" and isinstance(step.action, Commands) and isinstance(step.action.finish, LeftRunning):
            show = Show("none")  # its output is shown where it is stopped
        output = excerpt(self.recorded.outputs.get(step.id, ""), show)
        if output:
            inside += f'<pre class="output" aria-label="Output" tabindex="0">{escape(output)}</pre>'
        aside = f' <span class="note">{escape(note)}</span>' if note else ""
        return f'<div class="box" id="block-{step.id}"><p class="label">{escape(label)}{aside}</p>{inside}</div>'

    def _place(self, line: int) -> Place:
        return Place(str(self.manual.path), line)

    def _line_of(self, text: str) -> int:
        """Line of a quote; the renderer of inline text is not told it."""
        lines = self.manual.text.splitlines()
        return next((number for number, line in enumerate(lines, 1) if "{{" + text + "}}" in line), 1)


def _box(step: Step) -> tuple[str, str, str]:
    """Label, content and remark of a step's box."""
    match step.action:
        case Commands(lines=lines, finish=finish):
            code = "\n".join(escape(line) for line in lines)
            remark = ""
            if isinstance(finish, StoppedAfter):
                remark = f"stop it with Ctrl+C after about {finish.seconds:g} s"
            elif isinstance(finish, LeftRunning):
                remark = "leave it running"
            return terminal_label(step.terminal), f'<pre class="typed" tabindex="0"><code>{code}</code></pre>', remark
        case Interrupt(keys=keys):
            return terminal_label(step.terminal), f'<p class="keys"><kbd>{escape(keys)}</kbd></p>', ""
        case Await():
            return terminal_label(step.terminal), "", "wait until the prompt is back"
        case WriteFile(path=path, text=text, append=append):
            how = "add at the end" if append else "the whole file"
            return f"File {path}", f'<pre class="typed" tabindex="0"><code>{escape(text.rstrip())}</code></pre>', how
        case EditorActions(verbs=verbs):
            return "Editor", "<ol>" + "".join(f"<li>{escape(phrase(verb))}</li>" for verb in verbs) + "</ol>", ""


def terminal_label(terminal: str) -> str:
    """What the reader calls a terminal."""
    node, _, number = terminal.partition("#")
    name = {"client": "Client's terminal", "mininet": "Mininet's command line"}.get(node, f"Terminal of {node}")
    return f"{name}, number {number}" if number else name


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
