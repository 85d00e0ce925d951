# SPDX-License-Identifier: BSD-3-Clause
"""Lines of a script → its statements: commands, loops and macros, each with the conditions before it.

Nothing is filled in or executed here; `expand` does that. What is wrong with how loops and macros begin and end is
found whether or not a line is ever reached.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from linklab.base.spelling import nearest_words
from linklab.base.text import excerpt
from linklab.netesto.command_table import STRUCTURE, WORDS
from linklab.netesto.limits import MOST_NESTED
from linklab.netesto.lines import MOST_PROBLEMS, ScriptLine, ScriptProblem, Where, Word, read_lines
from linklab.netesto.statements import ForLoop, Guard, Macro, Script, ScriptCommand, Statement

NAME = re.compile(r"[A-Za-z0-9_]+")
TEXTS = ("DESC", "OTHER", "ECHO")
"""Commands that take a text."""
_BRACES = re.compile(r"\$\{([A-Za-z0-9_]*)\}?")
_COMPARISON = re.compile(r"[=!<>]=|[<>=!]|&&|\|\|")
_MACRO = re.compile(r"[A-Za-z0-9_.:-]+")


def parse(text: str, file: str) -> Script:
    """The statements of a script's text; `file` is what messages call it."""
    lines, problems = read_lines(text, file)
    parser = _Parser(lines, problems)
    while parser.at < len(lines) and len(problems) < MOST_PROBLEMS:
        parser.take(lines[parser.at])
    parser.end()
    return Script(tuple(parser.blocks[0].body), tuple(parser.problems))


def nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str:
    """The end of a message where a known word is near, such as "; did you mean FOR?"; else ""."""
    near = nearest_words(word, known, alike=alike)
    return f"; did you mean {near[0]}?" if near else ""


_NOWHERE = Where("", 0, 0)
_NOTHING = Word("", 0)


@dataclass
class _Block:
    """An open FOR or BEGIN, or the script itself (word "")."""

    word: str = ""
    name: str = ""
    where: Where = _NOWHERE
    line: ScriptLine | None = None
    values: Word = _NOTHING
    guards: tuple[Guard, ...] = ()
    body: list[Statement] = field(default_factory=list)


class _Parser:
    def __init__(self, lines: list[ScriptLine], problems: list[ScriptProblem]) -> None:
        self.lines = lines
        self.problems = problems
        self.at = 0
        self.blocks = [_Block()]

    def complain(self, where: Where, what: str) -> None:
        self.problems.append(ScriptProblem(where, what))

    def take(self, line: ScriptLine, start: int = 0) -> None:
        """Take the statement that begins at an offset of the next line, and go on to the line after it."""
        self.at += 1
        self._statement(line, line.words(start), ())

    def _statement(self, line: ScriptLine, words: list[Word], guards: tuple[Guard, ...]) -> None:
        while words and words[0].text in ("IF", "IF_DEF"):
            guard, words = self._guard(line, words)
            if guard is None:
                return
            guards = (*guards, guard)
            if len(guards) > MOST_NESTED:
                self.complain(line.where(words[0].offset), f"more than {MOST_NESTED} conditions precede one command")
                return
        if not words:
            return
        first, where = words[0].text, line.where(words[0].offset)
        if first == "FOR":
            self._open_loop(line, words, guards)
        elif first == "DONE":
            self._close_loop(line, words, guards)
        elif first == "BEGIN":
            self._open_macro(line, words, guards)
        elif first == "END" and len(words) > 1:
            self._close_macro(line, words, guards)
        elif first in STRUCTURE - {"END"}:
            self.complain(where, f"{first} cannot be used here; {_ALONE.get(first, 'it begins a line of its own')}")
        else:
            self._check_word(first, where)
            strange = self._has_braces(line, words)
            if first == "END" and self.blocks[-1].word == "BEGIN" and not guards:
                name = self.blocks[-1].name
                self.complain(where, f"END alone ends the whole script; the end of this macro is END {name}")
            if not strange or first in ("SET", "SET_EXP"):  # or every line that uses the variable would be told, too
                self.blocks[-1].body.append(ScriptCommand(line, tuple(words), guards))

    def _check_word(self, word: str, where: Where) -> None:
        if word in WORDS or "$" in word or word.startswith("HOST_SUFFIX="):
            return
        if NAME.fullmatch(word.partition("=")[0]) and "=" in word:
            what = f'"{excerpt(word)}" is an argument, not a command; end the line before it with \\ if it goes on here'
        else:
            what = f'"{excerpt(word)}" is not a command{nearest(word, WORDS - {"FORLOOP"})}'
        self.complain(where, what)

    def _has_braces(self, line: ScriptLine, words: list[Word]) -> bool:
        """Complain of ${x}, which other languages have; in texts it may be meant."""
        found_some = False
        for word in words[1:] if words[0].text not in TEXTS else ():
            if found := _BRACES.search(word.text):
                found_some = True
                what = f'"{excerpt(found[0])}" is not a variable; write ${found[1] or "name"} without braces'
                self.complain(line.where(word.offset + found.start()), what)
        return found_some

    def _guard(self, line: ScriptLine, words: list[Word]) -> tuple[Guard | None, list[Word]]:
        """The condition that the words begin with, and the words after its colon."""
        word = words[0]
        colon = line.text.find(":", word.offset)
        where = line.where(word.offset)
        before = [w for w in words[1:] if colon >= 0 and w.offset < colon]
        if colon < 0:
            self.complain(where, f"{word.text} needs a colon after its condition, as in {_EXAMPLES[word.text]}")
            return None, []
        condition = Word(line.text[before[0].offset : colon].rstrip(), before[0].offset) if before else Word("", colon)
        if not condition.text or len(condition.text.split()) > 1:
            found = f'"{excerpt(condition.text)}"' if condition.text else "nothing"
            self.complain(where, f"{word.text} needs one word before the colon, not {found}: {_EXAMPLES[word.text]}")
            return None, []
        if word.text == "IF" and (comparison := _COMPARISON.search(condition.text)):
            self.complain(
                line.where(condition.offset),
                f'IF cannot compare, and "{excerpt(condition.text)}" has {comparison[0]}; it takes a number or a '
                "variable, and holds unless that is 0; with SET_EXP d=$x-3, IF $d: holds where x is not 3",
            )
            return None, []
        rest = line.words(colon + 1)
        if not rest:
            self.complain(where, f"{word.text} has no command after its colon; put it on the same line")
            return None, []
        return Guard(word.text, condition), rest

    def _open_loop(self, line: ScriptLine, words: list[Word], guards: tuple[Guard, ...]) -> None:
        where = line.where(words[0].offset)
        if len(words) == _HEADER - 1 and self._next_word() in ("DO", "do"):
            line = line.joined(self.lines[self.at])
            self.at += 1
            words = line.words(words[0].offset)
        if wrong := _wrong_header([word.text for word in words]):
            self.complain(where, f"FOR {wrong}; write FOR x IN a,b,c DO")
            self.blocks.append(_Block("FOR", "", where, line, Word("", words[0].offset), guards))
            return
        if len(self.blocks) > MOST_NESTED:
            self.complain(where, f"more than {MOST_NESTED} loops are nested; remove some")
            self.at = len(self.lines)  # what follows would only repeat it
            return
        self.blocks.append(_Block("FOR", words[1].text, where, line, words[3], guards))
        rest = words[_HEADER:]
        closing = rest.pop() if rest and rest[-1].text == "DONE" else None
        if rest:
            self._statement(line.until(rest[-1].offset + len(rest[-1].text)), rest, ())
        if closing is not None:
            self._close_loop(line, [closing], ())

    def _next_word(self) -> str:
        return self.lines[self.at].words()[0].text if self.at < len(self.lines) else ""

    def _close_loop(self, line: ScriptLine, words: list[Word], guards: tuple[Guard, ...]) -> None:
        where = line.where(words[0].offset)
        if guards:
            self.complain(where, "DONE cannot follow a condition; a loop ends whether or not it holds")
        if len(words) > 1:
            self.complain(line.where(words[1].offset), "nothing may follow DONE; put this on the next line")
        if self.blocks[-1].word != "FOR":
            self.complain(where, "DONE has no FOR before it; remove it, or add the FOR")
            return
        self._keep_loop(self.blocks.pop())

    def _keep_loop(self, block: _Block) -> None:
        """Add a loop that has ended to what it stands in, unless its first line was wrong."""
        assert block.line is not None
        if block.name:
            loop = ForLoop(block.line, block.name, block.values, block.where, tuple(block.body), block.guards)
            self.blocks[-1].body.append(loop)

    def _open_macro(self, line: ScriptLine, words: list[Word], guards: tuple[Guard, ...]) -> None:
        where = line.where(words[0].offset)
        name = words[1].text if len(words) > 1 else ""
        if not name:
            self.complain(where, "BEGIN has no name after it; write the macro's name there")
        elif name in WORDS:
            self.complain(
                line.where(words[1].offset), f"{name} is a command, so it cannot name a macro; choose another name"
            )
        elif not _MACRO.fullmatch(name):
            what = f'"{excerpt(name)}" cannot be the name of a macro; use letters, digits and underscores'
            self.complain(line.where(words[1].offset), what)
        if guards:
            self.complain(where, "BEGIN cannot follow a condition; put the condition before the RUN of the macro")
        if len(self.blocks) > 1:
            self.complain(where, f"{_outside(self.blocks[-1])}; define macros outside loops and other macros")
        self.blocks.append(_Block("BEGIN", name, where, line))

    def _close_macro(self, line: ScriptLine, words: list[Word], guards: tuple[Guard, ...]) -> None:
        where, name = line.where(words[0].offset), words[1].text
        if guards:
            self.complain(where, "END of a macro cannot follow a condition; END alone ends the script")
        if not any(block.word == "BEGIN" for block in self.blocks):
            self.complain(
                where, f"END {excerpt(name)} has no BEGIN {excerpt(name)} before it; END alone ends the script"
            )
            return
        while self.blocks[-1].word == "FOR":
            self._unclosed(self.blocks.pop())
        block = self.blocks.pop()
        if block.name != name and block.name:
            begun = f"BEGIN {block.name} (line {block.where.line})"
            self.complain(line.where(words[1].offset), f'"{excerpt(name)}" does not match {begun}; write the same name')
        assert block.line is not None
        self.blocks[-1].body.append(Macro(block.name, block.where, tuple(block.body), block.line.comment))

    def _unclosed(self, block: _Block) -> None:
        """Complain of a block without an end; what it holds is kept, so that its own problems are found as well."""
        if block.word == "FOR":
            self._keep_loop(block)
            self.complain(block.where, "FOR has no DONE; add DONE after the last command of the loop")
        else:
            self.complain(block.where, f"BEGIN {block.name} has no end; add a line END {block.name}")

    def end(self) -> None:
        """At the end of the file."""
        while len(self.blocks) > 1:
            self._unclosed(self.blocks.pop())


_HEADER = 5
"""Words of FOR x IN list DO."""

_EXAMPLES = {"IF": "IF $x: RUN m", "IF_DEF": "IF_DEF preServer: RUN preServer host=$s"}
_ALONE = {
    "FORLOOP": "loops are written FOR x IN a,b,c DO",
    "END_COMMENT": "a comment block ends with it on a line of its own",
    "BEGIN_COMMENT": "a comment block begins with it on a line of its own",
}


def _wrong_header(texts: list[str]) -> str:
    """What is wrong with FOR x IN list DO; "" if nothing is."""
    if len(texts) < 2 or not NAME.fullmatch(texts[1]):
        return "has no variable after it"
    if len(texts) < 3 or texts[2] not in ("IN", "in"):
        return f"has no IN after {texts[1]}"
    if len(texts) < 4 or texts[3] in ("DO", "do"):
        return "has no list after IN"
    if len(texts) < _HEADER or texts[4] not in ("DO", "do"):
        return f'has no DO after the list "{excerpt(texts[3])}" (a list has commas and no spaces)'
    return ""


def _outside(block: _Block) -> str:
    return (
        f"BEGIN is inside the FOR of line {block.where.line}"
        if block.word == "FOR"
        else (f"BEGIN is inside the macro {block.name} of line {block.where.line}")
    )
