# SPDX-License-Identifier: BSD-3-Clause
r"""Here-documents of a shell script as here-strings, so that each command is one line, as a start command has to be.

`cat > f <<EOF`, two lines, and `EOF` become `cat > f <<< 'one'$'\n''two'`: the same to bash(1), which runs them. A
document in which commands are replaced may become `< <(eval …)`: quotes in them would mean something else in a string.
A quotation over several lines becomes one line, too. Pure.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence

_BEGIN = re.compile(r"""(?P<fd>\d*)<<(?P<strip>-?)[ \t]*(?P<word>(?:'[^']*'|"[^"]*"|\\.|[\w.+-])+)""")
_SPECIAL = re.compile(r"[$`\\]")
_QUOTE = re.compile(r'(\\*)"')
_PLAIN = re.compile(r"""\\.|\$\{\w+\}|\$\(\([^()"'`\\]*\)\)|\$\([^()"'`\\]*\)|`[^"'`\\]*`""")
"""What means the same in a document and between double quotes."""
_REPLACED = re.compile(r"\$[({\[]|`")
_NEWLINE = "$'\\n'"
_ENDS = {"'": "'", "$'": "'", '"': '"', "${": "}", "(": ")", "`": "`"}
"""What ends that which is open."""


def folded(lines: Sequence[str]) -> list[str]:
    """The lines of a script, each here-document within the command that reads it, each quotation on one line.

    A document that is not ended goes on to the end of the script, as in the shell.
    """
    found: list[str] = []
    waiting = iter(lines)
    scanner, goes_on = _Scanner(), False
    for line in waiting:
        parts, at = [found.pop() if goes_on else ""], 0
        for begin in scanner.begins(line):
            text = list(_document(waiting, begin))
            parts += [line[at : begin.start()], f"{begin['fd']}{_string(text, begin['word'])}"]
            at = begin.end()
        found.append("".join([*parts, line[at:]]))
        if goes_on := scanner.in_quotes:
            found[-1] = _with_newline(found[-1], scanner.open[-1])
    return found


class _Scanner:
    """Reads a script line by line; knows what is open at the end of each, such as a quotation or `$(`."""

    def __init__(self) -> None:
        self.open: list[str] = []
        """Keys of _ENDS, the innermost last."""

    @property
    def in_quotes(self) -> bool:
        """Whether a quotation goes on in the next line; not one in a parameter, where quotes have other rules."""
        return self.open[-1:] in (["'"], ['"']) and "${" not in self.open

    def begins(self, line: str) -> list[re.Match[str]]:
        """Where here-documents begin in the next line: not in quotes, comments, arithmetic, or here-strings."""
        found: list[re.Match[str]] = []
        at = 0
        while at < len(line):
            inside = self.open[-1] if self.open else ""
            if line[at] == "\\" and inside != "'":
                at += 2
            elif inside and line[at] == _ENDS[inside]:
                self.open.pop()
                at += 1
            elif inside in ("'", "$'"):
                at += 1
            elif inside in ('"', "${"):
                at = self._quoted(line, at)
            elif line[at] == "#" and (not at or line[at - 1] in " \t;&|("):
                break
            elif (begin := _BEGIN.match(line, at)) and not (begin["fd"] and at and line[at - 1] not in " \t"):
                found.append(begin)
                at = begin.end()
            else:
                at = self._typed(line, at)
        return found

    def _quoted(self, line: str, at: int) -> int:
        """Past the next letter between double quotes, or all that it opens."""
        if line.startswith("$((", at):
            return _past_arithmetic(line, at)
        for opening, opened in (("$(", "("), ("${", "${"), ("`", "`"), ('"', '"')):
            if line.startswith(opening, at):
                self.open.append(opened)
                return at + len(opening)
        return at + 1

    def _typed(self, line: str, at: int) -> int:
        """Past the next letter of a command, or all that it opens."""
        if line.startswith("((", at):
            return _past_arithmetic(line, at)
        if line.startswith("<<<", at):
            return at + 3
        for opening in ("$'", "'", '"', "`", "("):
            if line.startswith(opening, at):
                self.open.append(opening)
                return at + len(opening)
        return at + 1


def _past_arithmetic(line: str, at: int) -> int:
    end = line.find("))", at)
    return len(line) if end < 0 else end + 2


def _with_newline(text: str, quote: str) -> str:
    """A text that ends within a quotation, with the newline that follows; a backslash takes it away."""
    if quote == '"' and _goes_on(text):
        return text[:-1]
    return f"{text}{quote}{_NEWLINE}{quote}"


def _document(waiting: Iterator[str], begin: re.Match[str]) -> Iterator[str]:
    """The lines of a document, up to its last word; one that a backslash joins to the line before is as it stands."""
    end = shlex.split(begin["word"])[0] if begin["word"].strip("'\"") else ""
    joined = False
    for line in waiting:
        text = line.lstrip("\t") if begin["strip"] and not joined else line
        if text == end and not joined:
            return
        joined = _goes_on(text) and not _is_literal(begin["word"])
        yield text


def _is_literal(word: str) -> bool:
    """Whether the shell replaces nothing in a document that ends with a word, which is quoted."""
    return re.search(r"['\"\\]", word) is not None


def _string(document: Sequence[str], word: str) -> str:
    """The redirection that gives the same text; what the shell replaces in it stays to be replaced."""
    if not document:
        return "< /dev/null"
    literal = _is_literal(word)
    if not literal and any(_REPLACED.search(_PLAIN.sub("", line)) for line in document):
        script = (f"cat <<{word}", *document, word)
        return f"< <(eval {_NEWLINE.join(map(shlex.quote, script))})"
    lines = [
        shlex.quote(line) if literal or not _SPECIAL.search(line) else f'"{_QUOTE.sub(_escaped, line)}"'
        for line in (document if literal else _whole(document))
    ]
    return f"<<< {_NEWLINE.join(lines)}"


def _whole(document: Sequence[str]) -> list[str]:
    """The lines of a document in which the shell replaces: one that ends with a backslash goes on in the next."""
    found: list[str] = []
    goes_on = False
    for line in document:
        found = [*found[:-1], found[-1] + line] if goes_on else [*found, line]
        goes_on = _goes_on(line)
        if goes_on:
            found[-1] = found[-1][:-1]
    return found


def _goes_on(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _escaped(found: re.Match[str]) -> str:
    """A quote stands for itself in a here-document, also after a backslash, which then stands for itself as well."""
    before = found[1]
    return before + ("\\" if len(before) % 2 else "") + '\\"'
