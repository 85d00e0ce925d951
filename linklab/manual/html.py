# SPDX-License-Identifier: BSD-3-Clause
"""A manual as one HTML file: works offline, in light and dark, on paper and with a screen reader.

Takes the parsed manual and what was recorded, gives text. Numbers and outputs come from the recording alone; what it
lacks is marked as not recorded, never made up. The page around it is `page.html.j2`; `linklab.manual.paper` puts the
same chapters into a PDF.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from markdown_it.token import Token

from linklab.base.catalogue import Say
from linklab.base.finish import Background
from linklab.base.numbers import format_number
from linklab.manual.blocks import OUTPUT_COLUMNS, box, in_a_shell, shown_lines, terminal_name, wrapped
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.dialect import STEP_MARK, SUBGOAL_MARK, markdown, parse_figure, parse_quote, plain_text
from linklab.manual.forms import in_english, mark_english, prediction_box, settled_here, subgoal_heading
from linklab.manual.hints import begin_hint, clock_hint, folder_hint
from linklab.manual.images import figure_image, missing
from linklab.manual.info import LISTINGS, Place
from linklab.manual.model import (
    Await,
    Commands,
    Figure,
    Interrupt,
    Manual,
    Prediction,
    PredictionAnswer,
    Section,
    Show,
    Step,
)
from linklab.manual.parse import groups
from linklab.manual.predict import PREDICT
from linklab.manual.templates import templates

SHORT_BOX = 20
"""Most lines of a box that paper does not break over two pages."""

UNBROKEN = 30
"""Letters of the longest word of code that stays on one line."""


def render_manual(chapter: Chapter, messages: str = "") -> str:
    """The whole page.

    Args:
        chapter: what to write.
        messages: where the page lies that explains the messages of commands; "" leaves out what leads to it.

    Raises:
        ManualError: an image file that is not there, or a unit that does not fit its number.
    """
    return page(
        "page.html.j2",
        heading=chapter.heading,
        note=chapter.note,
        messages=messages,
        language=chapter.language,
        say=chapter.say,
        sections=chapter.manual.sections,
        english=chapter.english_sections,
        predictions=bool(chapter.manual.predictions),
        body=render_body(chapter),
    )


def render_body(chapter: Chapter, *, paper: bool = False, prefix: str = "") -> str:
    """What stands below the heading; ManualError as in `render_manual`.

    Args:
        chapter: what to write.
        paper: long lines are wrapped so that it shows, pictures stand apart from the text's own colours.
        prefix: of ids and of the numbers of figures, where chapters share a document; such as "14".
    """
    return _Writer(chapter, paper, f"lab{prefix}-" if prefix else "", f"{prefix}." if prefix else "").body()


def script_of_documents() -> str:
    """The script within pages that `page` fills, as it stands there; for a server that allows it by its digest."""
    return str(templates().get_template("scroll.js").render())


def page(template: str, **values: object) -> str:
    """Fill one of the templates that stand beside this module."""
    return templates().get_template(template).render(**values)


def _code(tokens: Sequence[Token], at: int, *_rest: object) -> str:
    """Code within a sentence; an option such as -c is not broken after its dash."""
    words = [
        f'<span class="word">{escape(word)}</span>' if "-" in word and len(word) <= UNBROKEN else escape(word)
        for word in tokens[at].content.split(" ")
    ]
    return f"<code>{' '.join(words)}</code>"


def _columns(tokens: Sequence[Token]) -> str:
    """The heads of the columns of the table that begins here, by which a screen reader tells it from others."""
    cells = [
        plain_text(cell)
        for head, cell in itertools.pairwise(itertools.takewhile(lambda token: token.type != "thead_close", tokens))
        if head.type == "th_open"
    ]
    return ", ".join(filter(None, cells))


@dataclass
class _Writer:
    chapter: Chapter
    paper: bool
    prefix: str
    numbers: str
    _figures: int = 0
    _step: int = 0
    _level: int = 1
    _source: tuple[Path, str] = (Path(), "")
    """The file that is being written out and its text, for messages: the manual, or the answers for a while."""
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
        self._source = (self.manual.path, self.manual.text)
        self._by_line = {step.line: step for step in self.manual.steps}
        self._asked = {asked.line: asked for asked in self.manual.predictions}
        for group in groups(self.manual.steps):
            for step in group:
                self._partners[step.id] = [
                    terminal_name(other.terminal, self.say) for other in group if other is not step
                ]
        self._parser = markdown()
        self._renderer, self._options = self._parser.renderer, self._parser.options
        self._renderer.rules["quote"] = self._quote  # type: ignore[attr-defined] # add_render_rule wants a function
        self._renderer.rules["code_inline"] = _code  # type: ignore[attr-defined] # as above
        self._sections = iter(self.manual.sections)
        return self._blocks(self.manual.text)

    @property
    def say(self) -> Say:
        return self.chapter.say

    def _section(self, name: str) -> str:
        return escape(self.say("Section {name}").format(name=name))

    def _blocks(self, text: str, line: int = 1) -> str:
        """Markdown that begins at `line` of the source as HTML."""
        tokens = self._parser.parse(text)
        out: list[Token] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            html, used = "", 1
            if token.type == "heading_open":
                html, used = ("" if token.tag == "h1" else self._heading(next(self._sections))), 3
            elif token.type == "fence":
                html = self._fence(token)
            elif token.type == "table_open":
                if self._english((token.map or [0])[0] + line):
                    token.attrSet("lang", "en")
                if not self.paper:
                    token.attrSet("tabindex", "0")  # where it is wider than the page, arrow keys move it: scroll.js
                    token.attrSet("aria-label", _columns(tokens[at:]))
            elif token.type == "paragraph_open":
                begin = (token.map or [0])[0] + line
                html = "" if token.hidden else self._paragraph(tokens[at + 1], begin)
                used = 3 if html else 1
                if not html and self._english(begin):
                    mark_english(tokens[at + 1])
                if not token.hidden and tokens[at + 1].content.rstrip().endswith(":"):
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

    def _english(self, line: int) -> bool:
        """Whether a piece in English begins at this line of what is written out, on a page in another language."""
        return self.chapter.english.begins(self._source[0], line)

    def _as_said(self, html: str, line: int) -> str:
        return in_english(html) if self._english(line) else html

    def _title(self, section: Section) -> str:
        title = escape(section.title)
        return in_english(title) if section.slug in self.chapter.english_sections else title

    def _heading(self, section: Section) -> str:
        self._step, self._level = 0, section.level
        number = f'<span class="number">{section.number}</span> ' if section.number else ""
        tag = f"h{section.level + 1}"
        heading = f'<{tag} id="{self.prefix}{section.slug}">{number}{self._title(section)}</{tag}>'
        return heading + begin_hint(self.manual, section, self.say)

    def _paragraph(self, inline: Token, line: int) -> str:
        """Paragraphs that are more than text: a figure, a list the lab fills in, a numbered step; else ""."""
        children = inline.children or []
        if len(children) == 1 and children[0].type == "image":
            source = str(children[0].attrs["src"])
            words = str(children[0].attrs.get("title", ""))
            return self._figure(parse_figure(source, line), children[0].content, words, english=self._english(line))
        if len(children) == 1 and children[0].type == "quote":
            quote = parse_quote(children[0].content, self._place(line))
            if (quote.kind, quote.metric) == ("lab", "objectives"):
                return self._objectives()
            if (quote.kind, quote.metric) == ("lab", "roadmap"):
                return self._roadmap()
        if inline.content.startswith(STEP_MARK):
            self._step += 1
            html = self._as_said(self._inline(inline).removeprefix(STEP_MARK), line)
            number = escape(self.say("Step {number}.").format(number=self._step))
            return f'<p class="step"><strong>{number}</strong> {html}</p>'
        if inline.content.startswith(SUBGOAL_MARK):
            html = self._as_said(self._inline(inline).removeprefix(SUBGOAL_MARK).rstrip("."), line)
            return subgoal_heading(html, self._level, self.say)
        return ""

    def _objectives(self) -> str:
        english = self.chapter.english.objectives
        said = [in_english(escape(text)) if text in english else escape(text) for text in self.chapter.objectives]
        return f"<ol>{''.join(f'<li>{text}</li>' for text in said)}</ol>"

    def _roadmap(self) -> str:
        items = ""
        for section in self.manual.sections:
            if section.number and section.level == 1:
                number = escape(self.say("Section {name}:").format(name=section.number))
                items += f'<li>{number} <a href="#{self.prefix}{section.slug}">{self._title(section)}</a></li>'
        return f'<ul class="roadmap">{items}</ul>'

    def _quote(self, tokens: Sequence[Token], at: int, *_rest: object) -> str:
        text = tokens[at].content
        quote = parse_quote(text, self._place(self._line_of(text)))
        if quote.kind == "section":
            section = next((section for section in self.manual.sections if section.slug == quote.metric), None)
            if section is None:
                raise self._place(self._line_of(text)).error(f'there is no section "{quote.metric}"')
            return f'<a href="#{self.prefix}{section.slug}">{self._section(section.number or section.title)}</a>'
        if quote.kind == "lab":
            return escape(self.chapter.fields.get(quote.metric, ""))
        found = self.recorded.scalars.get(quote.step, {}).get(quote.metric)
        if found is None:
            return missing(self.say)
        try:
            number = format_number(*found, quote.unit, quote.decimals)
        except ValueError as error:
            raise self._place(self._line_of(text)).error(f'"{{{{{text}}}}}": {error}') from error
        return f'<span class="measured">{escape(number)}</span>'

    def _figure(self, figure: Figure, caption: str, words: str = "", *, english: bool = False) -> str:
        self._figures += 1
        number = self.say("Figure {number}.").format(number=f"{self.numbers}{self._figures}")
        inside = figure_image(self.chapter, figure, caption, words, paper=self.paper)
        if self.chapter.language != "en":
            inside = re.sub(r"^<svg\b", '<svg lang="en"', inside)  # drawings are not translated
        shown = in_english(escape(caption)) if english else escape(caption)
        label = f"<figcaption>{escape(number)} {shown}</figcaption>"
        return f'<figure id="{self.prefix}figure-{self._figures}">{inside}{label}</figure>'

    def _prediction(self, asked: Prediction) -> str:
        question = self._blocks(asked.text, asked.line + 1)
        answer = self.chapter.answers.get(asked.id)
        shown = self._answer(answer) if answer and not self.paper else ""
        name, keep = f"{self.prefix}predict-{asked.id}", f"linklab/{self.manual.path.parent.name}/{asked.id}"
        return prediction_box(asked, question, shown, name=name, keep=keep, paper=self.paper, say=self.say)

    def _answer(self, answer: PredictionAnswer) -> str:
        manual, self._source = self._source, (answer.path, answer.path.read_text(encoding="utf-8"))
        try:
            return self._blocks(answer.text, answer.line + 1)
        finally:
            self._source = manual

    def _settled(self, step: Step) -> str:
        """The predictions that a step is the last to decide; of what runs on, where it ends and its output is shown."""
        match step.action:
            case Commands(finish=Background()):
                return ""
            case Interrupt(of=of) | Await(of=of):
                ids = {step.id, of}
            case _:
                ids = {step.id}
        decided = [asked for asked in self.manual.predictions if asked.settled[-1] in ids]
        return settled_here(decided, self.prefix, self.say)

    def _fence(self, token: Token) -> str:
        kind = token.info.split()[0]
        if kind == PREDICT:
            return self._prediction(self._asked[(token.map or [0])[0] + 1])
        if kind in LISTINGS:
            text = wrapped(token.content, OUTPUT_COLUMNS) if self.paper and kind == "text" else escape(token.content)
            name = self.say("Formula") if kind == "formula" else self.say("Listing")
            return f'<pre class="{kind}" role="group" aria-label="{escape(name)}" tabindex="0">{text}</pre>'
        step = self._by_line[(token.map or [0])[0] + 1]
        label, inside, note = box(step, paper=self.paper, say=self.say)
        by_hand, where = in_a_shell(self.manual.steps, self.say)
        inside += by_hand if step.id == where else ""
        inside += folder_hint(self.manual.steps, step, self.say)
        hint, needing = clock_hint(self.manual, self.say)
        if partners := self._partners[step.id]:
            others = self.say(" and ").join(partners)
            note = self.say("press Enter here and in {others} at the same time").format(others=others)
        if prompt := self._prompts.get(step.terminal):
            note = self.say("at the prompt {prompt}").format(prompt=prompt) + (f", {note}" if note else "")
        self._prompts[step.terminal] = step.prompt
        show = step.show
        if show.kind == "auto" and isinstance(step.action, Commands) and isinstance(step.action.finish, Background):
            show = Show("none")  # its output is shown where it is stopped
        output = shown_lines(self.recorded.outputs.get(step.id, ""), show, self.say)
        if output:
            text = wrapped(output, OUTPUT_COLUMNS) if self.paper else escape(output)
            inside += (
                f'<pre class="output" role="group" aria-label="{escape(self.say("Output"))}" tabindex="0">{text}</pre>'
            )
        aside = f' <span class="note">{escape(note)}</span>' if note else ""
        name = f"{self.prefix}block-{step.id}"
        kind = "box" if inside.count("\n") > SHORT_BOX else "box short"
        inside = f'<div class="{kind}" id="{name}"><p class="label">{escape(label)}{aside}</p>{inside}</div>'
        return inside + (hint if step.id == needing else "") + self._settled(step)

    def _place(self, line: int) -> Place:
        return Place(str(self._source[0]), line)

    def _line_of(self, text: str) -> int:
        """Line of a quote; the renderer of inline text is not told it."""
        lines = self._source[1].splitlines()
        return next((number for number, line in enumerate(lines, 1) if "{{" + text + "}}" in line), 1)
