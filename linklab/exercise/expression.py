# SPDX-License-Identifier: BSD-3-Clause
"""Expressions of exercise.toml, such as `0.9 * goodput(rate)` or `start.throughput < mathis(rtt, "0.1 %")`.

Python's grammar, none of its evaluator: only what docs/writing-an-exercise.md ("Quantities") lists is understood.
Units are checked: what is added, subtracted or compared must be of one unit.  Pure.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

from linklab.analysis import formulas
from linklab.errors import InputError
from linklab.exercise.quantity import Value, parse_value

Lookup = Callable[[str], "Value | None"]
"""Name ("rate", "tuned.throughput") → its value, None where it was not measured or given; KeyError: no such name."""

SEGMENT_BYTES = 1448
"""Payload of a full segment with time stamps: 1500 - 40 - 12 (RFC 9293 §3.7.1, RFC 7323 §3)."""


class NoValueError(Exception):
    """A name that exists has no value; `name` is which."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


_COMPARE: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def evaluate(text: str, lookup: Lookup, facts: Lookup | None = None) -> Value | bool:
    """The value of an expression.

    Args:
        text: the expression.
        lookup: gives names their values.
        facts: gives `fact("…")` its values; None where there is no state.

    Raises:
        InputError: it cannot be read, names something unknown, or mixes units.
        NoValueError: a name in it has no value.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except SyntaxError as error:
        raise InputError(
            f'expression "{text}": {error.msg} at "{(error.text or "")[max(0, (error.offset or 1) - 1) :]}"'
        ) from None
    return _Evaluator(text, lookup, facts).of(tree)


def number(text: str, lookup: Lookup, facts: Lookup | None = None) -> Value:
    """As `evaluate`, for what must be a value and no yes or no."""
    found = evaluate(text, lookup, facts)
    if isinstance(found, bool):
        raise InputError(f'expression "{text}" is a yes or no, where a value is wanted')
    return found


def holds(text: str, lookup: Lookup, facts: Lookup | None = None) -> bool:
    """As `evaluate`, for what must be a yes or no."""
    found = evaluate(text, lookup, facts)
    if not isinstance(found, bool):
        raise InputError(f'expression "{text}" is a value, where a yes or no is wanted')
    return found


def names(text: str) -> set[str]:
    """The names in an expression, dotted ones whole; InputError if it cannot be read."""
    found: set[str] = set()
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise InputError(f'expression "{text}": {error.msg}') from None
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and (dotted := _dotted(node)):
            found.add(dotted)
    called = {_dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {name for name in found - called if not any(other.startswith(f"{name}.") for other in found)}


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = _dotted(node.value)
        return f"{inner}.{node.attr}" if inner else ""
    return ""


class _Evaluator:
    def __init__(self, text: str, lookup: Lookup, facts: Lookup | None) -> None:
        self.text, self.lookup, self.facts = text, lookup, facts

    def wrong(self, why: str) -> InputError:
        return InputError(f'expression "{self.text}": {why}')

    def of(self, node: ast.expr) -> Value | bool:  # noqa: PLR0911 - one return a kind of node
        match node:
            case ast.Constant(value=bool()):
                return bool(node.value)
            case ast.Constant(value=int() | float() | str() as given):
                return parse_value(given)
            case ast.Name() | ast.Attribute():
                return self.name(_dotted(node))
            case ast.BinOp(left=left, op=op, right=right):
                return self.arithmetic(op, self.value(left), self.value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                value = self.value(operand)
                return Value(-value.number, value.unit)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.yes(operand)
            case ast.BoolOp(op=op, values=parts):
                answers = (self.yes(part) for part in parts)
                return all(answers) if isinstance(op, ast.And) else any(answers)
            case ast.Compare(left=left, ops=signs, comparators=others):
                return self.compare(left, signs, others)
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]):
                return self.call(function, args)
            case _:
                raise self.wrong(f'I cannot read "{ast.unparse(node)}"')

    def value(self, node: ast.expr) -> Value:
        found = self.of(node)
        if isinstance(found, bool):
            raise self.wrong(f'"{ast.unparse(node)}" is a yes or no, where a value is wanted')
        return found

    def yes(self, node: ast.expr) -> bool:
        found = self.of(node)
        if not isinstance(found, bool):
            raise self.wrong(f'"{ast.unparse(node)}" is a value, where a yes or no is wanted')
        return found

    def name(self, name: str) -> Value:
        try:
            found = self.lookup(name)
        except KeyError:
            raise self.wrong(f'there is no "{name}"') from None
        if found is None:
            raise NoValueError(name)
        return found

    def arithmetic(self, op: ast.operator, left: Value, right: Value) -> Value:
        for side in (left, right):
            if side.is_word:
                raise self.wrong(f'the word "{side.word}" is no number')
        a, b = left.number, right.number
        match op:
            case ast.Add() | ast.Sub():
                if left.unit != right.unit:
                    raise self.wrong(f"adds or subtracts {left.unit} and {right.unit}")
                return Value(a + b if isinstance(op, ast.Add) else a - b, left.unit)
            case ast.Mult():
                if "1" not in (left.unit, right.unit):
                    return Value(a * b, f"{left.unit}·{right.unit}")
                return Value(a * b, right.unit if left.unit == "1" else left.unit)
            case ast.Div():
                if b == 0:
                    raise NoValueError(f"{self.text} (a division by 0)")
                unit = (
                    left.unit if right.unit == "1" else "1" if left.unit == right.unit else f"{left.unit}/{right.unit}"
                )
                return Value(a / b, unit)
            case _:
                raise self.wrong("only + - * / are understood")

    def compare(self, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]) -> bool:
        first = self.value(left)
        for sign, node in zip(signs, others, strict=True):
            second = self.value(node)
            if type(sign) not in _COMPARE:
                raise self.wrong("only < <= > >= == != compare")
            if first.is_word or second.is_word:
                if type(sign) not in (ast.Eq, ast.NotEq):
                    raise self.wrong("words are only equal or not")
                if (first.shown == second.shown) != isinstance(sign, ast.Eq):
                    return False
            else:
                if first.unit != second.unit:
                    raise self.wrong(f"compares {first.unit} and {second.unit}")
                if not _COMPARE[type(sign)](first.number, second.number):
                    return False
            first = second
        return True

    def call(self, function: str, args: list[ast.expr]) -> Value:  # noqa: PLR0911 - one return a function
        if function == "fact":
            return self.fact(args)
        given = [self.value(arg) for arg in args]
        numbers = [value.number for value in given]
        try:
            match function, [value.unit for value in given]:
                case "bdp", ["bit/s", "s"]:
                    return Value(formulas.bdp_bytes(*numbers), "bytes")
                case "goodput", ["bit/s"]:
                    return Value(formulas.goodput_limit(numbers[0]), "bit/s")
                case "goodput", ["bit/s", "1" | "bytes"]:
                    return Value(formulas.goodput_limit(numbers[0], mtu_bytes=round(numbers[1])), "bit/s")
                case "mathis", ["s", "1"]:
                    return Value(formulas.mathis_bps(SEGMENT_BYTES, *numbers), "bit/s")
                case "sqrt", ["1"]:
                    return Value(math.sqrt(numbers[0]), "1")
                case "round" | "ceil", [unit]:
                    return Value(float(round(numbers[0]) if function == "round" else math.ceil(numbers[0])), unit)
                case "abs", [unit]:
                    return Value(abs(numbers[0]), unit)
                case "jain", [unit, *more] if all(other == unit for other in more):
                    if min(numbers) < 0 or not any(numbers):  # a student may answer so
                        raise NoValueError(f"{self.text} (an index of no throughputs)")
                    return Value(formulas.jain_index(numbers), "1")
                case "min" | "max", [unit, *more] if all(other == unit for other in more):
                    return Value(min(numbers) if function == "min" else max(numbers), unit)
        except (ValueError, OverflowError) as error:
            raise self.outside(f"{function}: {error}") from error
        kinds = ", ".join(value.unit for value in given)
        raise self.wrong(f"there is no {function}({kinds})")

    def outside(self, why: str) -> Exception:
        """A function that has no value there: a student may answer so, an author must not write it."""
        return NoValueError(f"{self.text} ({why})") if "answer." in self.text else self.wrong(why)

    def fact(self, args: list[ast.expr]) -> Value:
        match args:
            case [ast.Constant(value=str(name))]:
                pass
            case _:
                raise self.wrong('fact takes one name in quotes, such as fact("s1-eth2.rate")')
        if self.facts is None:
            raise self.wrong("there is no state here for a fact")
        found = self.facts(name)
        if found is None:
            raise NoValueError(name)
        return found
