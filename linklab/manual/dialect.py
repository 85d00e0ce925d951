# SPDX-License-Identifier: BSD-3-Clause
"""The Markdown of manuals: the parser, and what `{{…}}`, the target of an image and a heading's anchor mean.

Used by those that read a manual and by those that write it out. Specified in docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from linklab.base.text import excerpt
from linklab.errors import ManualError
from linklab.manual.info import Place
from linklab.manual.model import Figure, Quote

LAB_FIELDS = frozenset({"title", "number", "objectives", "roadmap"})
STEP_MARK = "Step. "
SUBGOAL_MARK = "Subgoal. "
MOST_BRACKETS = 1000
_QUOTE = re.compile(r"\{\{([^{}\n]*)\}\}")
_SCALAR = re.compile(r"([a-z0-9][a-z0-9-]*)\.(\S+?)(?:\s+as\s+(\S+))?(?:\s+\.(\d))?")


def markdown() -> MarkdownIt:
    """The Markdown dialect of manuals: CommonMark without raw HTML, with tables and `{{…}}`."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    parser.inline.ruler.before("link", "quote", _quote_rule)
    return parser


def parse_quote(text: str, place: Place) -> Quote:
    """The inside of `{{…}}`: `STEP.METRIC [as UNIT] [.DECIMALS]`, `section.SLUG` or `lab.FIELD`.

    Raises:
        ManualError: it is none of these.
    """
    found = _SCALAR.fullmatch(text.strip())
    if not found:
        raise place.error(
            f'"{{{{{excerpt(text)}}}}}": write {{{{STEP.METRIC}}}}, {{{{STEP.METRIC as UNIT .DECIMALS}}}}, '
            "{{section.SLUG}} or {{lab.FIELD}}"
        )
    step, metric, unit, decimals = found.groups()
    if step in {"lab", "section"}:
        if unit or decimals:
            raise place.error(f'"{{{{{text}}}}}" is no number and takes no unit')
        if step == "lab" and metric not in LAB_FIELDS:
            raise place.error(f'"{{{{{text}}}}}": of the lab I know {", ".join(sorted(LAB_FIELDS))}')
        return Quote(place.line, step, "", metric)
    return Quote(place.line, "scalar", step, metric, unit, int(decimals) if decimals else None)


def parse_figure(source: str, line: int) -> Figure:
    """The target of an image: `run:STEP[+STEP…]/NAME[+NAME…]`, `topology:` or a file beside the manual."""
    if source.startswith("run:"):
        step, _, name = source[4:].partition("/")
        return Figure(line, "run", step, name)
    if source == "topology:":
        return Figure(line, "topology", "", "")
    return Figure(line, "file", "", source)


def references(inline: Token, place: Place) -> Iterator[Quote | Figure]:
    """What a paragraph that begins at `place` quotes and shows, each with its line; ManualError as `parse_quote`."""
    line = place.line
    for child in inline.children or []:
        if child.type in {"softbreak", "hardbreak"}:
            line += 1
        elif child.type == "quote":
            yield parse_quote(child.content, Place(place.name, line))
        elif child.type == "image":
            yield parse_figure(str(child.attrs["src"]), line)


def slugify(title: str) -> str:
    """A heading's anchor: small letters, digits and dashes; "3.1 BDP & co" gives "3-1-bdp-co"."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def plain_text(inline: Token) -> str:
    """The text of an inline token without its markup."""
    return "".join(child.content if child.type in {"text", "code_inline"} else " " for child in inline.children or [])


def check_brackets(text: str, path: Path) -> None:
    """ManualError for a paragraph of opening brackets, each of which the reader of Markdown tries as a link's."""
    found = 0
    for number, line in enumerate(text.split("\n"), 1):
        found = found + line.count("[") if line.strip() else 0
        if found > MOST_BRACKETS:
            raise ManualError(f'{path}:{number}: more than {MOST_BRACKETS} "[" in one paragraph; divide it')


def _quote_rule(state: StateInline, silent: bool) -> bool:
    found = _QUOTE.match(state.src, state.pos, state.posMax)
    if not found:
        return False
    if not silent:
        token = state.push("quote", "", 0)
        token.content = found[1]
    state.pos = found.end()
    return True
