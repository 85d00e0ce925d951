# SPDX-License-Identifier: BSD-3-Clause
"""A manual as one HTML file: works offline, in light and dark, on paper and with a screen reader.

Takes the parsed manual and what was recorded, gives text. Numbers and outputs come from the recording alone; what it
lacks is marked as not recorded, never made up. The page around it is `page.html.j2`; `linklab.manual.paper` puts the
same chapters into a PDF.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape, unescape

from markdown_it.token import Token

from linklab.base.finish import Background
from linklab.base.numbers import format_number
from linklab.manual.blocks import OUTPUT_COLUMNS, box, in_a_shell, shown_lines, terminal_name, wrapped
from linklab.manual.info import LISTINGS, Place
from linklab.manual.model import Commands, Figure, Manual, Section, Show, Step
from linklab.manual.parse import STEP_MARK, groups, markdown, parse_figure, parse_quote
from linklab.manual.templates import templates

SHORT_BOX = 20
"""Most lines of a box that paper does not break over two pages."""

UNBROKEN = 30
"""Letters of the longest word of code that stays on one line."""

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


@dataclass(frozen=True)
class Chapter:
    """A manual with all that its pages need.

    manual: files that its images name are read from beside it.
    heading: its title, such as "Lab 14: Router's bufferbloat".
    objectives: what `{{lab.objectives}}` lists.
    fields: what `{{lab.title}}` and `{{lab.number}}` stand for.
    recorded: outputs, numbers and plots of the reference run.
    picture: the topology as an `<svg>` element.
    minutes: a student needs; 0 where nobody knows.
    note: a line under the title; "" for none.
    """

    manual: Manual
    heading: str
    objectives: Sequence[str] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    recorded: Recorded = Recorded()
    picture: str = ""
    minutes: int = 0
    note: str = ""


def render_manual(chapter: Chapter) -> str:
    """The whole page.

    Raises:
        ManualError: an image file that is not there, or a unit that does not fit its number.
    """
    sections = chapter.manual.sections
    return page(
        "page.html.j2", heading=chapter.heading, note=chapter.note, sections=sections, body=render_body(chapter)
    )


def render_body(chapter: Chapter, *, paper: bool = False, prefix: str = "") -> str:
    """What stands below the heading; ManualError as in `render_manual`.

    Args:
        chapter: what to write.
        paper: long lines are wrapped so that it shows, pictures stand apart from the text's own colours.
        prefix: of ids and of the numbers of figures, where chapters share a document; such as "14".
    """
    return _Writer(chapter, paper, f"lab{prefix}-" if prefix else "", f"{prefix}." if prefix else "").body()


def page(template: str, **values: object) -> str:
    """Fill one of the templates that stand beside this module."""
    return templates().get_template(template).render(**values)


def data_uri(content: bytes) -> str:
    """An image inside the page: SVG or PNG by its first bytes."""
    kind = "image/png" if content.startswith(b"\x89PNG") else "image/svg+xml"
    return f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}"


def spoken(svg: str) -> str:
    """What a picture says of itself for readers who cannot see it: its title and description; "" if it has none."""
    found = [re.search(rf"<{tag}\b[^>]*>(.*?)</{tag}>", svg, re.DOTALL) for tag in ("title", "desc")]
    return ". ".join(unescape(part[1]).strip().rstrip(".") for part in found if part)


def _code(tokens: Sequence[Token], at: int, *_rest: object) -> str:
    """Code within a sentence; an option such as -c is not broken after its dash."""
    words = [
        f'<span class="word">{escape(word)}</span>' if "-" in word and len(word) <= UNBROKEN else escape(word)
        for word in tokens[at].content.split(" ")
    ]
    return f"<code>{' '.join(words)}</code>"


@dataclass
class _Writer:
    chapter: Chapter
    paper: bool
    prefix: str
    numbers: str
    _figures: int = 0
    _step: int = 0
    _by_line: dict[int, Step] = field(default_factory=dict)
    _partners: dict[str, list[str]] = field(default_factory=dict)
    _prompts: dict[str, str | None] = field(default_factory=dict)
    """Of each terminal, what it shows after the last step where that is not the shell's prompt."""

    @property
    def manual(self) -> Manual:
        return self.chapter.manual

    @property
    def recorded(self) -> Recorded:
        return self.chapter.recorded

    def body(self) -> str:
        self._by_line = {step.line: step for step in self.manual.steps}
        for group in groups(self.manual.steps):
            for step in group:
                self._partners[step.id] = [terminal_name(other.terminal) for other in group if other is not step]
        parser = markdown()
        self._renderer, self._options = parser.renderer, parser.options
        self._renderer.rules["quote"] = self._quote  # type: ignore[attr-defined] # add_render_rule wants a function
        self._renderer.rules["code_inline"] = _code  # type: ignore[attr-defined] # as above
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
                if tokens[at + 1].content.rstrip().endswith(":"):
                    token.attrSet("class", "lead")  # stays with what it announces
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
        return f'<{tag} id="{self.prefix}{section.slug}">{number}{escape(section.title)}</{tag}>'

    def _paragraph(self, inline: Token, line: int) -> str:
        """Paragraphs that are more than text: a figure, a list the lab fills in, a numbered step; else ""."""
        children = inline.children or []
        if len(children) == 1 and children[0].type == "image":
            source = str(children[0].attrs["src"])
            words = str(children[0].attrs.get("title", ""))
            return self._figure(parse_figure(source, line), children[0].content, words)
        if len(children) == 1 and children[0].type == "quote":
            quote = parse_quote(children[0].content, self._place(line))
            if (quote.kind, quote.metric) == ("lab", "objectives"):
                items = "".join(f"<li>{escape(text)}</li>" for text in self.chapter.objectives)
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
            f'<li>Section {section.number}: <a href="#{self.prefix}{section.slug}">{escape(section.title)}</a></li>'
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
            return f'<a href="#{self.prefix}{section.slug}">Section {section.number or escape(section.title)}</a>'
        if quote.kind == "lab":
            return escape(self.chapter.fields.get(quote.metric, ""))
        found = self.recorded.scalars.get(quote.step, {}).get(quote.metric)
        if found is None:
            return MISSING
        try:
            number = format_number(*found, quote.unit, quote.decimals)
        except ValueError as error:
            raise self._place(self._line_of(text)).error(f'"{{{{{text}}}}}": {error}') from error
        return f'<span class="measured">{escape(number)}</span>'

    def _figure(self, figure: Figure, caption: str, words: str = "") -> str:
        self._figures += 1
        label = f"<figcaption>Figure {self.numbers}{self._figures}. {escape(caption)}</figcaption>"
        match figure.kind:
            case "topology":
                inside = self._svg(self.chapter.picture, caption) if self.chapter.picture else MISSING
            case "run":
                content = self.recorded.figures.get(f"{figure.step}/{figure.name}")
                alt = escape(caption + self._told(figure))
                inside = f'<img class="plot" src="{data_uri(content)}" alt="{alt}">' if content else MISSING
            case _:
                inside = self._file(figure, caption, words)
        return f'<figure id="{self.prefix}figure-{self._figures}">{inside}{label}</figure>'

    def _told(self, figure: Figure) -> str:
        """The numbers of a plot, for readers who cannot see it."""
        wanted = "|".join(re.escape(name.rpartition("-")[2]) for name in figure.names)
        several = len(figure.steps) > 1 or len(figure.names) > 1
        found = [
            f"{f'{step} {told[1]} ' if several else ''}{told[2]} {format_number(*quantity)}"
            for step in figure.steps
            for name, quantity in self.recorded.scalars.get(step, {}).items()
            if (told := re.fullmatch(rf"\w+\.({wanted})\.(min|mean|max|receiver)", name))
        ]
        return f"; plot over time, {', '.join(found)}" if found else ""

    def _file(self, figure: Figure, caption: str, words: str) -> str:
        """An image beside the manual; `words` are for whoever cannot see one that holds none itself."""
        path = self.manual.path.parent / figure.name
        try:
            content = path.read_bytes()
        except OSError:
            raise self._place(figure.line).error(f"there is no image {path}") from None
        if path.suffix == ".svg":
            return self._svg(content.decode("utf-8"), caption)
        return f'<img src="{data_uri(content)}" alt="{escape(words or caption)}">'

    def _svg(self, svg: str, caption: str) -> str:
        """A drawing: inside the page rather than as an image, so that it takes the page's colours in the dark."""
        svg = svg[svg.index("<svg") :]
        if not self.paper:
            return svg
        width = re.search(r'viewBox="0 0 (\d+)', svg)
        style = f' style="width:{width[1]}px"' if width else ""
        return f'<img src="{data_uri(svg.encode())}" alt="{escape(spoken(svg) or caption)}"{style}>'

    def _fence(self, token: Token) -> str:
        kind = token.info.split()[0]
        if kind in LISTINGS:
            text = wrapped(token.content, OUTPUT_COLUMNS) if self.paper and kind == "text" else escape(token.content)
            return f'<pre class="{kind}">{text}</pre>'
        step = self._by_line[(token.map or [0])[0] + 1]
        label, inside, note = box(step, paper=self.paper)
        by_hand, where = in_a_shell(self.manual.steps)
        inside += by_hand if step.id == where else ""
        if partners := self._partners[step.id]:
            note = f"press Enter here and in {' and '.join(partners)} at the same time"
        if prompt := self._prompts.get(step.terminal):
            note = f"at the prompt {prompt}" + (f", {note}" if note else "")
        self._prompts[step.terminal] = step.prompt
        show = step.show
        if show.kind == "auto" and isinstance(step.action, Commands) and isinstance(step.action.finish, Background):
            show = Show("none")  # its output is shown where it is stopped
        output = shown_lines(self.recorded.outputs.get(step.id, ""), show)
        if output:
            text = wrapped(output, OUTPUT_COLUMNS) if self.paper else escape(output)
            inside += f'<pre class="output" role="group" aria-label="Output" tabindex="0">{text}</pre>'
        aside = f' <span class="note">{escape(note)}</span>' if note else ""
        name = f"{self.prefix}block-{step.id}"
        kind = "box" if inside.count("\n") > SHORT_BOX else "box short"
        return f'<div class="{kind}" id="{name}"><p class="label">{escape(label)}{aside}</p>{inside}</div>'

    def _place(self, line: int) -> Place:
        return Place(str(self.manual.path), line)

    def _line_of(self, text: str) -> int:
        """Line of a quote; the renderer of inline text is not told it."""
        lines = self.manual.text.splitlines()
        return next((number for number, line in enumerate(lines, 1) if "{{" + text + "}}" in line), 1)
