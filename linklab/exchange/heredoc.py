# SPDX-License-Identifier: BSD-3-Clause
r"""Here-documents of a shell script as here-strings, so that each command is one line, as a start command has to be.

`cat > f <<EOF`, two lines, and `EOF` become `cat > f <<< 'one'$'\n''two'`: the same to bash(1), which runs them. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

_BEGIN = re.compile(r"""(?P<fd>\d*)<<(?P<strip>-?)[ \t]*(?P<word>(?:'[^']*'|"[^"]*"|\\.|[\w.+-])+)""")
_SPECIAL = re.compile(r"[$`\\]")
_QUOTE = re.compile(r'(\\*)"')


def folded(lines: Sequence[str]) -> list[str]:
    """The lines of a script, each here-document within the command that reads it.

    One that is not ended goes on to the end of the script, as in the shell.
    """
    found: list[str] = []
    waiting = iter(lines)
    for line in waiting:
        parts, at = [], 0
        for begin in _begins(line):
            text = list(_document(waiting, begin))
            parts += [line[at : begin.start()], f"{begin['fd']}{_string(text, begin['word'])}"]
            at = begin.end()
        found.append("".join([*parts, line[at:]]))
    return found


def _begins(line: str) -> Iterator[re.Match[str]]:
    """Where here-documents begin in a line: not in quotes, comments, arithmetic, or here-strings."""
    at, quote = 0, ""
    while at < len(line):
        letter = line[at]
        if letter == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter == "#" and (not at or line[at - 1] in " \t;&|("):
            return
        elif line.startswith("((", at):
            end = line.find("))", at)
            at = len(line) if end < 0 else end + 2
            continue
        elif line.startswith("<<<", at):
            at += 3
            continue
        elif (found := _BEGIN.match(line, at)) and not (found["fd"] and at and line[at - 1] not in " \t"):
            yield found
            at = found.end()
            continue
        at += 1


def _document(waiting: Iterator[str], begin: re.Match[str]) -> Iterator[str]:
    """The lines of a document, up to its last word."""
    end = shlex.split(begin["word"])[0] if begin["word"].strip("'\"") else ""
    for line in waiting:
        text = line.lstrip("\t") if begin["strip"] else line
        if text == end:
            return
        yield text


def _string(document: Sequence[str], word: str) -> str:
    """The redirection that gives the same text; what the shell replaces in it stays to be replaced."""
    if not document:
        return "< /dev/null"
    literal = re.search(r"['\"\\]", word) is not None
    lines = [
        shlex.quote(line) if literal or not _SPECIAL.search(line) else f'"{_QUOTE.sub(_escaped, line)}"'
        for line in (document if literal else _whole(document))
    ]
    return "<<< " + "$'\\n'".join(lines)


def _whole(document: Sequence[str]) -> list[str]:
    """The lines of a document in which the shell replaces: one that ends with a backslash goes on in the next."""
    found: list[str] = []
    goes_on = False
    for line in document:
        found = [*found[:-1], found[-1] + line] if goes_on else [*found, line]
        goes_on = (len(line) - len(line.rstrip("\\"))) % 2 == 1
        if goes_on:
            found[-1] = found[-1][:-1]
    return found


def _escaped(found: re.Match[str]) -> str:
    """A quote stands for itself in a here-document, also after a backslash, which then stands for itself as well."""
    before = found[1]
    return before + ("\\" if len(before) % 2 else "") + '\\"'
