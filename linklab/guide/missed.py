# SPDX-License-Identifier: BSD-3-Clause
"""An expectation that a step misses → what the guide says of it: in words, without the names of measurements.  Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from linklab.base.numbers import as_printed
from linklab.judge.expectation import Expectation, ExpectationVerdict
from linklab.judge.language import names
from linklab.judge.metric_words import metric_in_words
from linklab.judge.parser import parse
from linklab.judge.verdict import Outcome


def story_of(verdict: ExpectationVerdict, broken: Mapping[str, str], why: str) -> str:
    """What is the matter, in sentences; what was expected and seen stands beside it.

    Args:
        verdict: one that failed, or that could not be judged.
        broken: as `Observed.broken`.
        why: a sentence on the setting that explains it, or "".
    """
    expectation = verdict.expectation
    if expectation.shows:
        said = "The output is not as expected."
    elif verdict.outcome is Outcome.ERROR:
        reason = next((broken[step] for step in expectation.steps if step in broken), "")
        said = f"{_subject(expectation)} could not be measured" + (f": {reason.rstrip('.')}." if reason else ".")
        return " ".join(filter(None, (said, why)))  # without the hint, which explains a wrong value
    elif len(_metrics(expectation)) > 1:
        said = f"{_subject(expectation)} do not fit together as expected."
    else:
        said = f"{_subject(expectation)} is not as expected."
    return " ".join(filter(None, (said, expectation.hint, why)))


def expected_of(verdict: ExpectationVerdict, titles: Mapping[str, str]) -> str:
    """What is expected, as a table shows it; titles: what people call each step."""
    expectation = verdict.expectation
    if expectation.relation:
        return relation_in_words(expectation, titles)
    return "" if expectation.shows else verdict.expected


def relation_in_words(expectation: Expectation, titles: Mapping[str, str]) -> str:
    """The relation with people's names of its measurements in brackets, and of their steps where there are several."""

    def said(found: re.Match[str]) -> str:
        if found[0] == "*":
            return "×"
        step, _, metric = found[0].partition(".")
        where = "" if len(expectation.steps) == 1 else f" at “{titles.get(step, step)}”"
        return f"[{metric_in_words(metric)}{where}]"

    longest_first = sorted(set(names(parse(expectation.relation))), key=len, reverse=True)
    whole = rf"(?<![\w.-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w.-])"
    return as_printed(re.sub(rf"{whole}|\*", said, expectation.relation))


def seen_of(verdict: ExpectationVerdict) -> str:
    """What was seen, as a table shows it; "" where the story says all."""
    return "" if verdict.expectation.shows else verdict.seen


def _metrics(expectation: Expectation) -> list[str]:
    """In words, each once."""
    if not expectation.relation:
        return [metric_in_words(expectation.what)]
    found = (metric_in_words(name.partition(".")[2]) for name in names(parse(expectation.relation)))
    return list(dict.fromkeys(found))


def _subject(expectation: Expectation) -> str:
    *first, last = [f"the {words}" for words in _metrics(expectation)]
    subject = f"{', '.join(first)} and {last}" if first else last
    return f"T{subject[1:]}"
