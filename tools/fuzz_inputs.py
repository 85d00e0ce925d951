# SPDX-License-Identifier: BSD-3-Clause
"""Bytes of a good file and a generator of chance → bytes of a file that something went wrong with.

The same seed gives the same bytes. The changes are those that files meet in practice (cut off, edited by hand, lines
twice, another version of the tool) and those that a hostile person would try (numbers of any size, deep nesting, long
runs of one letter). Nothing here reads or writes files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

MOST_BYTES = 200_000
"""Longest input: room for slow patterns to show, and small enough for tens of thousands of inputs."""

NUMBERS = (
    *(
        "0",
        "-0",
        "1",
        "-1",
        "9.2.1",
        "1..2",
        ".",
        "1.",
        ".5",
        "1,5",
        "1_000",
        "0x10",
        "1e3",
        "1e-320",
        "65535",
        "65536",
    ),
    *(
        "2147483647",
        "4294967296",
        "18446744073709551616",
        "99999999999999999999",
        "1e308",
        "1e309",
        "-1e999",
        "1e99999999",
    ),
    *(
        "NaN",
        "nan",
        "inf",
        "Infinity",
        "-Infinity",
        "null",
        "true",
        "٣",
        "²",
        "１２",
        "9" * 400,
        "9" * 5000,
        "-" + "9" * 5000,
    ),
)
WORDS = (
    *(
        "",
        " ",
        "\t",
        "\0",
        "\x1b[31m",
        "\r",
        "\x0b",
        "\x85",
        "\u2028",
        "\ufeff",
        "é",
        "日本",
        "%s",
        "{}",
        "{{a.b}}",
        "\\",
        '"',
    ),
    *(
        "'",
        "[",
        "]",
        "(",
        "_",
        "None",
        "nan",
        "sender",
        "receiver",
        "(omitted)",
        "(DUP!)",
        "SUM",
        "time=",
        "icmp_seq=9",
    ),
    *("root", "dev", "parent", "../../etc/passwd", "/", "$(id)", "-", "=", ":", "#", "10.0.0.300/40", "a" * 5000),
)
_NUMBER = re.compile(r"[0-9](?:[0-9.]*[0-9])?")
_WORD = re.compile(r"[A-Za-z_]+")
_RAW = {
    "@nan@": "NaN",
    "@inf@": "Infinity",
    "@large@": "1e999",
    "@digits@": "9" * 5000,
    "@small@": "-1e-320",
    "@surrogate@": '"\\ud800"',
    "@nul@": '"\\u0000"',
    "@deep-list@": "[" * 3000 + "]" * 3000,
    "@deep-object@": '{"a":' * 3000 + "1" + "}" * 3000,
    "@open@": "[" * 100_000,
}
"""Stands for what `json.dumps` cannot write: JSON text that a reader meets all the same."""

Mutation = Callable[[Random, str], str]


def mutated(chance: Random, seeds: Sequence[bytes], changes: Sequence[Mutation]) -> bytes:
    """One of the seeds, changed one to four times; now and then only bytes of it, or joined to another seed."""
    data = chance.choice(seeds)
    if chance.random() < 0.1:
        data += chance.choice(seeds)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if chance.random() < 0.1:
            data = change_bytes(chance, data)
            continue
        text = data.decode("utf-8", "surrogateescape")
        data = chance.choice(changes)(chance, text).encode("utf-8", "surrogateescape")
        data = data[:MOST_BYTES]
    return data


def change_bytes(chance: Random, data: bytes) -> bytes:
    """Some bytes replaced, a run of them removed, or words of two and four bytes set to the ends of their range."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 8))):
        if not changed:
            return bytes(chance.randrange(256) for _ in range(8))
        at = chance.randrange(len(changed))
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                changed[at : at + 4] = chance.choice(
                    (bytes(4), b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f")
                )
            case 2:
                changed[at : at + 2] = chance.choice((b"\0\0", b"\xff\xff", b"\0\1", b"\xc3("))
            case _:
                del changed[at : at + chance.choice((1, 4, 64))]
    return bytes(changed)


def change_number(chance: Random, text: str) -> str:
    """A number replaced by an odd one."""
    return _replaced(chance, text, _NUMBER, chance.choice(NUMBERS))


def change_word(chance: Random, text: str) -> str:
    """A word replaced by an odd one, or by another word of the text."""
    words = _WORD.findall(text)
    return _replaced(chance, text, _WORD, chance.choice((chance.choice(WORDS), chance.choice(words or [""]))))


def _replaced(chance: Random, text: str, pattern: re.Pattern[str], by: str) -> str:
    places = [found.span() for found in pattern.finditer(text)]
    if not places:
        return text + by
    begin, end = chance.choice(places)
    return text[:begin] + by + text[end:]


def insert(chance: Random, text: str) -> str:
    """An odd number or word put anywhere."""
    at = chance.randrange(len(text) + 1)
    return text[:at] + chance.choice(NUMBERS + WORDS) + text[at:]


def change_lines(chance: Random, text: str) -> str:
    """A line removed, doubled, moved, joined to the next, or many times over."""
    lines = text.split("\n")
    at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(at, lines[other])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at : at + 2] = ["".join(lines[at : at + 2])]
        case _:
            lines[at:at] = [lines[at]] * min(chance.choice((2, 50, 3000)), MOST_BYTES // (len(lines[at]) + 1))
    return "\n".join(lines)


def cut(chance: Random, text: str) -> str:
    """The text up to some place, or from there on."""
    at = chance.randrange(len(text) + 1)
    return text[:at] if chance.random() < 0.8 else text[at:]


def stretch(chance: Random, text: str) -> str:
    """A few letters of the text over and over in their place, 20 to 100 kB: what slow patterns stumble over."""
    at = chance.randrange(len(text) + 1)
    piece = chance.choice((text[at : at + chance.choice((1, 2, 5, 12, 30))], " ", "9", "[", "a ", "\n")) or " "
    return text[:at] + piece * (chance.choice((20_000, 100_000)) // len(piece)) + text[at:]


def change_json(chance: Random, text: str) -> str:
    """A value, a key or an element of one of the JSON documents in the text changed; a text without one stretched."""
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if line[:1] == "{" and line.rstrip()[-1:] == "}"]
    try:
        if places:
            at = chance.choice(places)
            lines[at] = _dumped(_changed(chance, json.loads(lines[at])), None)
            return "\n".join(lines)
        return _dumped(_changed(chance, json.loads(text)), chance.choice((None, 1)))
    except (ValueError, RecursionError):
        return change_number(chance, text)


def _dumped(data: Any, indent: int | None) -> str:
    text = json.dumps(data, indent=indent)
    for mark, raw in _RAW.items():
        text = text.replace(f'"{mark}"', raw)
    return text


def _changed(chance: Random, data: Any) -> Any:
    """The data with one place in it changed; every place is as likely as its depth allows."""
    if isinstance(data, dict) and data and chance.random() < 0.9:
        return _changed_object(chance, data)
    if isinstance(data, list) and data and chance.random() < 0.9:
        return _changed_list(chance, data)
    return _odd(chance, data)


def _changed_object(chance: Random, data: dict[str, Any]) -> dict[str, Any]:
    key = chance.choice(list(data))
    match chance.randrange(12):
        case 0:
            return {other: value for other, value in data.items() if other != key}
        case 1:
            return {**data, chance.choice((*WORDS, *data)): data[key]}
        case _:
            return {**data, key: _changed(chance, data[key])}


def _changed_list(chance: Random, data: list[Any]) -> list[Any]:
    at = chance.randrange(len(data))
    match chance.randrange(10):
        case 0:
            return data[:at] + data[at + 1 :]
        case 1:
            return data[: at + 1] + data[at:]
        case 2:
            return [*data, *[data[at]] * chance.choice((1, 3, 200))]
        case _:
            return [*data[:at], _changed(chance, data[at]), *data[at + 1 :]]


def _odd(chance: Random, data: Any) -> Any:
    """A value in the place of another."""
    numbers = (0, -1, 1, 2**31, 2**63, 10**30, 1e308, -1e308, 1e-320, 0.1, data)
    others = (
        None,
        True,
        False,
        [],
        {},
        [[]],
        [None],
        {"": None},
        "9.2.1",
        "1e999",
        chance.choice(WORDS),
        [data],
        {"a": data},
    )
    return chance.choice((chance.choice(numbers), chance.choice(others), chance.choice(list(_RAW))))


def change_toml(chance: Random, text: str) -> str:
    """The value of a key replaced by a TOML value of any type."""
    values = (
        *(
            "nan",
            "inf",
            "-1",
            "0",
            "1e400",
            "9" * 400,
            "9" * 5000,
            "true",
            '""',
            "[]",
            "{}",
            "[[]]",
            "[1, 'a']",
            "{a = 1}",
        ),
        *(
            '"[("',
            '"(a+)+$"',
            '"1 parsec"',
            "1979-05-27",
            "07:32:00",
            '"1e999 ms"',
            "'''",
            '"\\u0000"',
            '"\\ud800"',
            '"{{"',
        ),
        *(
            '"(" ',
            f'"{"(" * 3000}"',
            f'"{"-" * 5000}1"',
            f'"1{"+1" * 5000}"',
            '"2 ** 999999999"',
            '"9" ',
            f'"{"9" * 5000} ms"',
        ),
        *(f"[{'[' * 3000}", f"{'{a=' * 3000}1{'}' * 3000}", '"1/0"', '"1e308 * 1e308"', '"bdp(1)"', '"a.b.c"', '"\\n"'),
    )
    lines = text.split("\n")
    places = [number for number, line in enumerate(lines) if re.match(r"\s*[\w.-]+\s*=", line)]
    if not places:
        return text + f"\nnumber = {chance.choice(values)}\n"
    at = chance.choice(places)
    key, _, old = lines[at].partition("=")
    if chance.random() < 0.1:
        key = f"{key.strip()}.{key.strip()} "
    lines[at] = f"{key}= {chance.choice((chance.choice(values), chance.choice(lines).partition('=')[2], old))}"
    return "\n".join(lines)


TEXT: tuple[Mutation, ...] = (
    change_number,
    change_number,
    change_number,
    change_word,
    insert,
    change_lines,
    cut,
    stretch,
)
JSON: tuple[Mutation, ...] = (change_json, change_json, change_json, change_json, *TEXT)
TOML: tuple[Mutation, ...] = (change_toml, change_toml, change_toml, change_toml, *TEXT)
