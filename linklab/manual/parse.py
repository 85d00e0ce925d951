# SPDX-License-Identifier: BSD-3-Clause
"""manual.md to a `Manual`: sections, steps, quoted numbers and figures, each with its line.

Reads only the text it is given; whether a quoted number exists is the lab's business. The format: CommonMark with
tables, and fenced blocks as docs/writing-a-lab.md specifies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it.token import Token

from linklab.base.finish import Background
from linklab.base.text import excerpt
from linklab.errors import ManualError
from linklab.manual import info as fences
from linklab.manual.dialect import (
    STEP_MARK,
    SUBGOAL_MARK,
    check_brackets,
    markdown,
    plain_text,
    references,
    slugify,
)
from linklab.manual.model import (
    Action,
    Await,
    Commands,
    Figure,
    Interrupt,
    Manual,
    Prediction,
    Quote,
    Section,
    Step,
    StepLine,
    Subgoal,
)
from linklab.manual.predict import PREDICT, parse_prediction

_UNNUMBERED = re.compile(r"(?<!\s)\s*\{-\}$")


def load_manual(path: Path, nodes: Iterable[str] | None = None) -> Manual:
    """Read and parse a manual; see `parse_manual`.

    Raises:
        ManualError: it cannot be read, or as in `parse_manual`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ManualError(f"{path}: there is no such manual") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ManualError(f"{path}: cannot be read: {error}") from error
    return parse_manual(text, path, nodes)


def parse_manual(text: str, path: Path, nodes: Iterable[str] | None = None) -> Manual:
    """Parse the text of a manual.

    Args:
        text: the Markdown source.
        path: its name, for messages.
        nodes: names of the lab's nodes, to find misspelt terminals; None accepts any.

    Raises:
        ManualError: "FILE:LINE: …" for an unknown terminal, option, quote or verb, a step id used twice,
            a `stop` or `wait` of something that does not run there, a command typed into a busy terminal.
    """
    reader = _ManualReader(path, None if nodes is None else frozenset(nodes))
    check_brackets(text, path)
    tokens = markdown().parse(text)
    for at, token in enumerate(tokens):
        reader.read(token, tokens[at - 1] if at else None)
    _check_unclosed_fence(text, tokens, path)
    steps = tuple(reader.steps)
    check_sequence(steps, path)
    return Manual(
        path,
        text,
        reader.title,
        tuple(reader.sections),
        steps,
        tuple(reader.quotes),
        tuple(reader.figures),
        tuple(reader.predictions),
        tuple(reader.subgoals),
        tuple(reader.tasks),
    )


@dataclass
class _ManualReader:
    path: Path
    nodes: frozenset[str] | None
    title: str = ""
    sections: list[Section] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    quotes: list[Quote] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    predictions: list[Prediction] = field(default_factory=list)
    subgoals: list[Subgoal] = field(default_factory=list)
    tasks: list[StepLine] = field(default_factory=list)
    _counts: list[int] = field(default_factory=list)
    _step_number: int | None = None
    _step_title: str = ""

    def read(self, token: Token, before: Token | None) -> None:
        line = (token.map[0] if token.map else 0) + 1
        if token.type == "inline" and before is not None and before.type == "heading_open":
            self._heading(token, int(before.tag[1:]) - 1, line)
        elif token.type == "inline":
            self._paragraph(token, line)
        elif token.type == "fence":
            self._fence(token, line)

    def _heading(self, token: Token, level: int, line: int) -> None:
        title = plain_text(token).strip()
        if level == 0:
            self.title = title
            return
        number = ""
        if _UNNUMBERED.search(title):
            title = _UNNUMBERED.sub("", title)
        else:
            while len(self._counts) < level:
                self._counts.append(0)
            del self._counts[level:]
            self._counts[level - 1] += 1
            number = ".".join(map(str, self._counts))
        slug = slugify(title)
        if any(section.slug == slug for section in self.sections):
            slug = f"{slug}-{line}"
        self.sections.append(Section(number, title, level, line, slug))
        self._step_number, self._step_title = None, ""

    def _paragraph(self, token: Token, line: int) -> None:
        section = self.sections[-1].number if self.sections else ""
        if token.content.startswith(SUBGOAL_MARK):
            if "\n" in token.content:
                raise fences.Place(str(self.path), line).error("a subgoal is one line; leave an empty line after it")
            self.subgoals.append(Subgoal(plain_text(token)[len(SUBGOAL_MARK) :].rstrip("."), line, section))
        if token.content.startswith(STEP_MARK):
            self._step_number = (self._step_number or 0) + 1
            sentence = plain_text(token)[len(STEP_MARK) :]
            self._step_title = re.split(r"(?<=[.:?!])\s", sentence, maxsplit=1)[0].strip().rstrip(".:")
            self.tasks.append(StepLine(self._step_title, line, section))
        self._refer(references(token, fences.Place(str(self.path), line)))

    def _refer(self, found: Iterable[Quote | Figure]) -> None:
        for each in found:
            if isinstance(each, Quote):
                self.quotes.append(each)
            else:
                self.figures.append(each)

    def _predict(self, token: Token, place: fences.Place) -> None:
        asked = parse_prediction(token.info, token.content, len(self.predictions) + 1, place)
        before = next((other for other in self.predictions if other.id == asked.id), None)
        if before is not None:
            raise place.error(f'the prediction id="{asked.id}" is used already on line {before.line}')
        self.predictions.append(asked)
        self._refer([*asked.quotes, *asked.figures])

    def _fence(self, token: Token, line: int) -> None:
        kind = next(iter(token.info.split()), "")
        place = fences.Place(str(self.path), line)
        if kind == PREDICT:
            self._predict(token, place)
        if kind == PREDICT or kind in fences.LISTINGS:
            return
        info = fences.parse_info(token.info, place, self.nodes)
        action: Action = fences.parse_action(info, token.content)
        section = self.sections[-1].number if self.sections else ""
        if "setup" in info.flags and not section:
            raise place.error("a block with setup stands in a numbered section")
        self.steps.append(
            Step(
                id=info.options.get("id", f"step-{len(self.steps) + 1}"),
                line=line,
                section=section,
                number=self._step_number,
                title=self._step_title,
                terminal=info.terminal,
                action=action,
                together=info.options.get("together"),
                at_once="at-once" in info.flags,
                prompt=info.options.get("prompt"),
                status=fences.parse_status(info),
                setup="setup" in info.flags,
                optional="optional" in info.flags,
                show=fences.parse_show(info),
                deadline_s=info.number("deadline"),
                files=fences.parse_files(info),
            )
        )


def check_sequence(steps: tuple[Step, ...], path: Path) -> None:
    """Whether steps can be done one after the other; ManualError as `parse_manual`."""
    seen: dict[str, Step] = {}
    running: dict[str, Step] = {}  # terminal → the step left running there
    for step in steps:
        place = fences.Place(str(path), step.line)
        if step.id in seen:
            raise place.error(f'id="{excerpt(step.id)}" is used already on line {seen[step.id].line}')
        seen[step.id] = step
        if step.optional:
            continue
        busy = running.get(step.terminal)
        match step.action:
            case Interrupt(of=of) | Await(of=of):
                if busy is None or busy.id != of:
                    raise place.error(f'"{excerpt(of)}" is not running in {step.terminal} here')
                del running[step.terminal]
            case _ if busy is not None and step.terminal != "editor":
                raise place.error(
                    f'{step.terminal} is still busy with "{excerpt(busy.id)}" (line {busy.line}); stop it first'
                )
            case Commands(finish=Background()):
                running[step.terminal] = step
    for group in groups(steps):
        terminals = [step.terminal for step in group]
        if len(group) > 1 and len(set(terminals)) < len(terminals):
            raise fences.Place(str(path), group[1].line).error("steps done together need different terminals")


def groups(steps: Iterable[Step]) -> Iterator[tuple[Step, ...]]:
    """Steps in order, those typed together as one tuple."""
    pending: list[Step] = []
    for step in steps:
        if pending and (step.together is None or step.together != pending[-1].together):
            yield tuple(pending)
            pending = []
        pending.append(step)
    if pending:
        yield tuple(pending)


def _check_unclosed_fence(text: str, tokens: list[Token], path: Path) -> None:
    lines = text.splitlines()
    for token in tokens:
        if token.type == "fence" and token.map:
            last = lines[token.map[1] - 1].strip() if token.map[1] - 1 < len(lines) else ""
            if token.map[1] - token.map[0] < 2 or not last.startswith(token.markup):
                raise ManualError(f"{path}:{token.map[0] + 1}: the block is never closed; end it with {token.markup}")
