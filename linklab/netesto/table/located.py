# SPDX-License-Identifier: BSD-3-Clause
"""Text that knows where each of its characters comes from, so that a message can name line and column.

A line of a script may be made of several lines of the file, and `$name` puts in characters that stand elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.netesto.lines import Where

MOST_CHARACTERS = 20_000
"""Of a line, with its variables put in."""

_BEFORE_QUOTES = ("", "=", "<", ">", "]", ":", "!")
"""What a quote may follow that holds a value; the apostrophe of "don't" holds none."""

_VARIABLE = re.compile(r"\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})", re.ASCII)


class TableError(InputError):
    """Something in a table script cannot be done; `at` is where it stands."""

    def __init__(self, what: str, where: Where) -> None:
        super().__init__(what, where=str(where))
        self.at = where


@dataclass(frozen=True)
class Located:
    """A piece of a script.

    at: the place of each letter, and of the end.
    """

    text: str
    at: Sequence[Where]

    @property
    def place(self) -> Where:
        """Where it begins."""
        return self.at[0]

    def __bool__(self) -> bool:
        return bool(self.text)

    def slice(self, start: int, end: int) -> Located:
        """The characters from `start` to before `end`."""
        return Located(self.text[start:end], self.at[start : end + 1])

    def strip(self) -> Located:
        """It without the blanks around it."""
        start = len(self.text) - len(self.text.lstrip())
        return self.slice(start, max(start, len(self.text.rstrip())))

    def split(self, mark: str) -> list[Located]:
        """Its parts between the marks, without the blanks around them; a part in quotes may hold the mark."""
        return [self.slice(start, end).strip() for start, end in _parts(self.text, mark)]

    def partition(self, mark: str) -> tuple[Located, bool, Located]:
        """What is before the first mark, whether there is one, and what is behind it."""
        found = self.text.find(mark)
        if found < 0:
            end = len(self.text)
            return self.strip(), False, self.slice(end, end)
        return self.slice(0, found).strip(), True, self.slice(found + len(mark), len(self.text)).strip()

    def unquoted(self) -> Located:
        """It without one pair of quotes around it."""
        whole = self.strip()
        text = whole.text
        if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" and text[0] not in text[1:-1]:
            return whole.slice(1, len(text) - 1)
        return whole

    def error(self, what: str) -> TableError:
        """What is wrong with it, and where."""
        return TableError(what, self.place)


def _parts(text: str, mark: str) -> Iterator[tuple[int, int]]:
    start, quote, before = 0, "", ""
    for index, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"" and before in _BEFORE_QUOTES and text.find(letter, index + 1) > 0:
            quote = letter
        elif letter == mark:
            yield start, index
            start, before = index + 1, ""
            continue
        before = before if letter.isspace() else letter
    yield start, len(text)


def lines_of(text: str, file: str) -> Iterator[Located]:
    r"""The lines of a script, joined where one ends with `\`, without blanks around them, empty ones and comments."""
    letters: list[str] = []
    at: list[Where] = []
    for number, whole in enumerate(text.splitlines(), 1):
        line = whole.strip()
        first = len(whole) - len(whole.lstrip()) + 1
        if line.startswith("#"):
            continue
        more = line.endswith("\\")
        line = line[:-1] if more else line
        letters.append(line)
        at += [Where(file, number, first + index) for index in range(len(line))]
        if more:
            continue
        joined = Located("".join(letters), [*at, Where(file, number, first + len(line))])
        letters, at = [], []
        if joined.strip():
            yield joined.strip()
    if letters and "".join(letters).strip():
        yield Located("".join(letters), [*at, at[-1]]).strip()


def filled(line: Located, variables: Mapping[str, str], told: Callable[[str, Where], None]) -> Located:
    """The line with `$name` and `${name}` replaced; `$$` is a dollar sign.

    Args:
        line: of a script.
        variables: what each name stands for; one that is not there is left out and told.
        told: takes the name and its place.

    Raises:
        TableError: the line is, or becomes, longer than MOST_CHARACTERS.
    """
    if len(line.text) > MOST_CHARACTERS:
        raise line.error(f"a line may have {MOST_CHARACTERS:,} characters, not {len(line.text):,}")
    if "$" not in line.text:
        return line
    letters: list[str] = []
    at: list[Where] = []
    end = 0
    for found in _VARIABLE.finditer(line.text):
        name = found[2] or found[3] or ""
        if name and name not in variables:
            told(name, line.at[found.start()])
        value = "$" if found[1] else variables.get(name, "")
        letters += [line.text[end : found.start()], value]
        at += [*line.at[end : found.start()], *[line.at[found.start()]] * len(value)]
        end = found.end()
        if len(at) > MOST_CHARACTERS:
            break
    letters.append(line.text[end:])
    at += line.at[end:]
    if len(at) > MOST_CHARACTERS:
        raise line.error(f'"{excerpt(line.text)}" has more than {MOST_CHARACTERS:,} characters; shorten its variables')
    return Located("".join(letters), at).strip()
