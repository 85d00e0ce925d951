# SPDX-License-Identifier: BSD-3-Clause
"""How a yes or no came about, in numbers: "7.24 Gbps > 6.88 Gbps", "0.20 < 0.25 or 0.20 not > 0.9"."""

from __future__ import annotations

from itertools import pairwise

from linklab.base.numbers import digits_to_tell, format_number
from linklab.judge.dimension import PLAIN, WORD, is_simple
from linklab.judge.evaluation import Evaluation, NoValueError, compares
from linklab.judge.language import Arithmetic, Comparison, Expression, Junction, Not, walk
from linklab.judge.quantity import Value


def told(evaluation: Evaluation, expression: Expression) -> str:
    """The comparisons of a yes or no with their values, and "not" before the signs that do not hold.

    A value that is not known is told as "unknown".
    """
    match expression:
        case Comparison():
            return _comparison(evaluation, expression)
        case Not(operand=operand):
            return f"not ({told(evaluation, operand)})"
        case Junction(word=word, parts=parts):
            shown = [(part, told(evaluation, part)) for part in parts]
            return f" {word} ".join(f"({text})" if isinstance(part, Junction) else text for part, text in shown)
        case _:
            return str(expression)


def _comparison(evaluation: Evaluation, comparison: Comparison) -> str:
    terms = [comparison.first, *(term for _, term in comparison.others)]
    try:
        values = [evaluation.value(term) for term in terms]
    except NoValueError:
        return "unknown"
    shown = _written(values, terms)
    text = shown[0]
    for (sign, _), (left, right), after in zip(comparison.others, pairwise(values), shown[1:], strict=True):
        text += f" {'' if compares(left, sign, right) else 'not '}{sign} {after}"
    return text


def _written(values: list[Value], terms: list[Expression]) -> list[str]:
    """The values, with as many digits as tell neighbours apart.

    They have the unit that the arithmetic gives; of a ratio, or of a product of units, the bare numbers are shown.
    """
    unit = values[0].unit
    ratio = any(isinstance(part, Arithmetic) and part.sign == "/" for term in terms for part in walk(term))
    bare = ratio if unit == PLAIN else not is_simple(unit)

    def written(digits: int) -> list[str]:
        return [_one(value, digits, bare=bare) for value in values]

    return written(digits_to_tell(lambda digits: all(one != other for one, other in pairwise(written(digits)))))


def _one(value: Value, digits: int, *, bare: bool) -> str:
    if value.unit == WORD:
        return value.word
    return f"{value.number:.{digits + 1}g}" if bare else format_number(value.number, value.unit, significant=digits)
