# SPDX-License-Identifier: BSD-3-Clause
"""Forms of a manual that the reader fills in or reads as a heading: predictions, subgoals, and what settles them.

Takes text that is HTML already and gives HTML. On the screen the answer to a prediction is shown when it is asked for;
on paper there are lines to write on, and no answer, because it would stand beside the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from markdown_it.token import Token

from linklab.base.catalogue import Say, unchanged
from linklab.manual.model import Prediction

PAPER_LINES = 2
"""Lines to write on below a question on paper."""


def in_english(html: str) -> str:
    """A piece of a translated page that is in English, as HTML, marked so that a screen reader speaks it so."""
    return f'<span lang="en">{html}</span>'


def mark_english(inline: Token) -> None:
    """Mark the text of a paragraph or of a list's item as English."""
    begin, end = Token("html_inline", "", 0), Token("html_inline", "", 0)
    begin.content, end.content = in_english("\n").split("\n")
    inline.children = [begin, *(inline.children or []), end]


def prediction_box(
    asked: Prediction, question: str, answer: str, *, name: str, keep: str, paper: bool, say: Say = unchanged
) -> str:
    """The box of a prediction.

    Args:
        asked: the prediction.
        question: HTML.
        answer: HTML; an empty one leaves out what would show it.
        name: the id of the box.
        keep: under which name the browser keeps what the reader writes; no other page may use it.
        paper: whether the reader writes by hand.
        say: gives the words of the box in the reader's language.
    """
    title = say("Prediction {number}").format(number=asked.number)
    hint = say("write down what you expect, and why, before you measure")
    label = f'<p class="label" id="{name}-label">{escape(title)} <span class="note">{escape(hint)}</span></p>'
    inside = _on_paper() if paper else _on_screen(asked.number, answer, name, keep, say)
    question = f'<div class="question">{question}</div>'
    return f'<section class="predict" id="{name}" aria-labelledby="{name}-label">{label}{question}{inside}</section>'


def _on_paper() -> str:
    return '<p class="fill"></p>' * PAPER_LINES


def _on_screen(number: int, answer: str, name: str, keep: str, say: Say) -> str:
    written = (
        f'<p class="write"><label for="{name}-words">{escape(say("Your prediction"))}</label>'
        f'<textarea id="{name}-words" rows="2" data-keep="{escape(keep)}"></textarea></p>'
    )
    show = escape(say("Show the answer to prediction {number}").format(number=number))
    return written + (f"<details><summary>{show}</summary>{answer}</details>" if answer else "")


def settled_here(predictions: Sequence[Prediction], prefix: str, say: Say = unchanged) -> str:
    """The line below a step that says which predictions it has decided; "" where there are none."""
    if not predictions:
        return ""
    links = [
        f'<a href="#{prefix}predict-{asked.id}">{escape(say("Prediction {number}").format(number=asked.number))}</a>'
        for asked in predictions
    ]
    return f'<p class="settles">{escape(say("Compare with:"))} {", ".join(links)}</p>'


def subgoal_heading(text: str, level: int, say: Say = unchanged) -> str:
    """A subgoal as a heading, which screen readers announce and can jump to.

    Args:
        text: HTML.
        level: that of the section it stands in, 1 for `##`.
        say: gives its mark in the reader's language.
    """
    tag = f"h{min(level + 2, 6)}"
    return f'<{tag} class="subgoal"><span class="mark">{escape(say("Subgoal:"))}</span> {text}</{tag}>'
