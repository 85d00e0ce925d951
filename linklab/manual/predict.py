# SPDX-License-Identifier: BSD-3-Clause
"""Predictions: the `predict` blocks of a manual, and the answers to them in the lab's answers.md.

Questions stand in the manual, answers beside the instructor's, because the manual must print no outcome before it is
measured. Whether the two fit together is the business of `linklab.lab.teaching`. The forms: docs/writing-a-lab.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from markdown_it.token import Token

from linklab.base.text import excerpt
from linklab.errors import ManualError
from linklab.manual.dialect import STEP_MARK, SUBGOAL_MARK, check_brackets, markdown, plain_text, references
from linklab.manual.info import ID, LISTINGS, Place, named_options
from linklab.manual.model import Figure, Prediction, PredictionAnswer, Quote

PREDICT = "predict"
WORDS = "words"
QUANTITIES = ("rate", "time", "size", "share", "number")
"""Kinds of `linklab.base.typed_numbers` that a prediction may ask for."""
_ANSWER_OF = re.compile(r"\s*\{#predict-([^{}\s]*)\}$")


def parse_prediction(info: str, body: str, number: int, place: Place) -> Prediction:
    """The question of a `predict` block.

    Args:
        info: what stands after the backticks, `predict id=NAME settled=STEP[,STEP…] asks=KIND[,KIND…]`.
        body: the question, in the Markdown of manuals.
        number: which prediction of the manual it is, from 1.
        place: where the block begins.

    Raises:
        ManualError: an option is unknown or missing, or the body is no plain prose.
    """
    options = named_options(info, place, ("id", "settled", "asks"))
    settled, asks = tuple(options["settled"].split(",")), tuple(options["asks"].split(","))
    for name in (options["id"], *settled):
        if not ID.fullmatch(name):
            raise place.error(f'id and settled: "{excerpt(name)}": use small letters, digits and "-"')
    for kind in asks:
        if kind not in (WORDS, *QUANTITIES):
            raise place.error(f'asks: "{excerpt(kind)}" is no kind of answer; use {", ".join(QUANTITIES)} or {WORDS}')
    if not body.strip():
        raise place.error("the prediction asks nothing; write its question into the block")
    quotes, figures = _prose(body, Place(place.name, place.line + 1))
    return Prediction(options["id"], number, place.line, settled, asks, body, quotes, figures)


def load_answers(path: Path) -> dict[str, PredictionAnswer]:
    """The answers to predictions of an answers.md by their names; without the file, none.

    Raises:
        ManualError: it cannot be read, or as in `parse_answers`.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ManualError(f"{path}: cannot be read: {error}") from error
    return parse_answers(text, path)


def parse_answers(text: str, path: Path) -> dict[str, PredictionAnswer]:
    """The answers in the text of an answers.md: what stands below each heading that ends in `{#predict-NAME}`.

    Raises:
        ManualError: two answers to one prediction, an empty one, or one that is no plain prose.
    """
    check_brackets(text, path)
    lines = text.split("\n")
    headings = [*_headings(markdown().parse(text)), (len(lines), len(lines), "")]
    found: dict[str, PredictionAnswer] = {}
    for (_, first, title), (end, _, _) in pairwise(headings):
        if not (marked := _ANSWER_OF.search(title)):
            continue
        name, place = marked[1], Place(str(path), first)
        body = "\n".join(lines[first:end]) + "\n"
        if name in found:
            raise place.error(f'there is an answer to the prediction "{name}" already')
        if not body.strip():
            raise place.error(f'the answer to the prediction "{name}" is empty')
        quotes, figures = _prose(body, Place(str(path), first + 1))
        found[name] = PredictionAnswer(name, path, first, body, quotes, figures)
    return found


def predictions_alone(text: str) -> str:
    """The answers to predictions in the text of an answers.md, headings included; "" if it has none.

    A student's package holds no more of the file: the manual shows these, and the others are for the instructor.
    """
    lines = text.split("\n")
    headings = [*_headings(markdown().parse(text)), (len(lines), len(lines), "")]
    kept = [
        "\n".join(lines[first:end]).rstrip() + "\n"
        for (first, _, title), (end, _, _) in pairwise(headings)
        if _ANSWER_OF.search(title)
    ]
    return "\n".join(kept)


def _headings(tokens: list[Token]) -> Iterator[tuple[int, int, str]]:
    """Index of the first line, number of the last one, and text of each heading."""
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.map:
            yield token.map[0], token.map[1], plain_text(inline).strip()


def _prose(text: str, place: Place) -> tuple[tuple[Quote, ...], tuple[Figure, ...]]:
    """What a question or an answer quotes and shows; ManualError where it has the forms of a manual's own text."""
    quotes: list[Quote] = []
    figures: list[Figure] = []
    for token in markdown().parse(text):
        here = Place(place.name, place.line + (token.map[0] if token.map else 0))
        if token.type == "heading_open":
            raise here.error("a question or an answer has no headings")
        if token.type == "fence" and token.info.strip() not in LISTINGS:
            raise here.error("a question or an answer has no steps; use text or formula for a block that is only read")
        if token.type != "inline":
            continue
        if token.content.startswith((STEP_MARK, SUBGOAL_MARK)):
            raise here.error("a question or an answer has no steps")
        for found in references(token, here):
            if isinstance(found, Quote):
                quotes.append(found)
            else:
                figures.append(found)
    return tuple(quotes), tuple(figures)
