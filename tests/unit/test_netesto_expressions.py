# SPDX-License-Identifier: BSD-3-Clause
"""SET_EXP's expressions against Python's own, and all that cannot be one."""

import contextlib
import random

import pytest

from linklab.errors import InputError
from linklab.netesto.expressions import LONGEST, MOST, MOST_NESTED_TERMS, evaluate


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("60/3", 20),
        ("60*2/3", 40),
        ("60/6+3", 13),
        ("7/2", 3),
        ("10-7/2", 7),
        ("2+3*4", 14),
        ("(2+3)*4", 20),
        ("10-3-2", 5),
        ("100/5/2", 10),
        ("-5+2", -3),
        ("-(1+2)*3", -9),
        ("-7/2", -4),
        ("((((1))))", 1),
        ("1500000/1500", 1000),
        ("2*-3", -6),
    ],
)
def test_a_value(text, value):
    """Precedence, grouping from the left, division that rounds down."""
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("1 + 2", '" " has no place in it'),
        ("0.5*2", '"." has no place in it'),
        ("2**3", "a number is missing at position 3"),
        ("3+", "a number is missing at position 3"),
        ("(1+2", 'a ")" is missing at position 5'),
        ("1+2)", '")" does not belong at position 4'),
        ("2(3)", '"(" does not belong at position 2'),
        ("4/0", "the divisor at position 3 is 0"),
        ("4/(2-2)", "the divisor at position 3 is 0"),
        ("x+1", '"x" has no place in it'),
        ("9" * 30, f"exceeds {MOST:,}"),
        ("*".join(["999999"] * 9), f"exceeds {MOST:,}"),
        ("(" * (MOST_NESTED_TERMS + 2) + "1" + ")" * (MOST_NESTED_TERMS + 2), f"more than {MOST_NESTED_TERMS}"),
        ("-" * (MOST_NESTED_TERMS + 2) + "1", f"more than {MOST_NESTED_TERMS}"),
        ("1" * (LONGEST + 1), f"longer than {LONGEST}"),
        ("٣+1", '"٣" has no place in it'),
    ],
)
def test_what_cannot_be(text, says):
    """A sentence with the position."""
    with pytest.raises(InputError) as error:
        evaluate(text)
    assert says in str(error.value)


def made(rng, depth):
    """A random expression, and nothing that it could do but be evaluated."""
    kind = rng.random()
    if depth == 0 or kind < 0.3:
        return str(rng.randint(0, 99))
    if kind < 0.45:
        return f"({made(rng, depth - 1)})"
    if kind < 0.55:
        return f"-{made(rng, depth - 1)}"
    return f"{made(rng, depth - 1)}{rng.choice('+-*/')}{made(rng, depth - 1)}"


def test_random_expressions_are_pythons():
    """With // for /, whose unary minus binds as tightly for whole numbers and these operators."""
    rng = random.Random(20)  # noqa: S311 - repeatable on purpose
    compared = 0
    for _ in range(3000):
        text = made(rng, 5)
        try:
            wanted = eval(text.replace("/", "//"))  # noqa: S307 - digits and operators alone
        except ZeroDivisionError:
            with pytest.raises(InputError, match="divisor"):
                evaluate(text)
            continue
        assert evaluate(text) == wanted, text
        compared += 1
    assert compared > 2000


def test_random_characters_are_refused_or_a_number():
    """Nothing else comes of them."""
    rng = random.Random(21)  # noqa: S311 - repeatable on purpose
    for _ in range(5000):
        text = "".join(rng.choice("0123456789+-*/()  .$x") for _ in range(rng.randint(0, 12)))
        with contextlib.suppress(InputError):
            assert isinstance(evaluate(text), int)
