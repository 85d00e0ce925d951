# SPDX-License-Identifier: BSD-3-Clause
"""What a terminal shows, with the marks of `linklab.agent.guided` → the lines typed there and what each showed.  Pure.

Inside Mininet's own command line (`sudo mn`), which makes no marks, its prompt shows where a line begins and ends.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from linklab.guide.evidence import TypedEvidence
from linklab.guide.shell import CLIENT, commands_in

MOST_OUTPUT = 4 << 20
"""Letters of what one line shows that are kept, the last ones; the longest JSON of a lab has half of them."""
LONGEST_MARK = 8192
_MARK = re.compile(r"\x1b\]133;([CD]);linklab;([^;\x07]*);(-?\d{1,18});([^\x07]*)\x07")
_STATUS = re.compile(r"\d{1,3}")
_ESCAPES = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()][A-Z0-9]|\x1b[=>78]")
_UTF_8 = codecs.getincrementaldecoder("utf-8")
_OUTER = "mn"
_PROMPT_WORDS = "mininet> "
_PROMPT = re.compile(rf"^{_PROMPT_WORDS}", re.M)
"""At the beginning of a line: in the midst of one it stands in the examples that Mininet's `help` prints."""
_STEP_S = 1e-6
_HUNG_UP = 129
"""How a shell tells the status of a program that SIGHUP has ended: 128 and the signal's number."""


@dataclass
class LastShown:
    """The last characters of what is shown, at least `most` of them; each piece is touched once as it comes."""

    most: int = MOST_OUTPUT
    _pieces: deque[str] = field(default_factory=deque)
    _length: int = 0

    def add(self, text: str) -> None:
        """Put text at the end, and forget at the beginning what is too much."""
        self._pieces.append(text)
        self._length += len(text)
        while self._length - len(self._pieces[0]) >= self.most:
            self._length -= len(self._pieces.popleft())

    def clear(self) -> None:
        """Forget all."""
        self._pieces.clear()
        self._length = 0

    def text(self) -> str:
        """The last `most` characters, or fewer where fewer were shown."""
        return "".join(self._pieces)[-self.most :]


@dataclass
class MarkedTerminal:
    """One terminal; `read` takes what it shows as it comes."""

    _decoder: codecs.IncrementalDecoder = field(default_factory=lambda: _UTF_8("replace"))
    _rest: str = ""
    _running: TypedEvidence | None = None
    _shown: LastShown = field(default_factory=LastShown)
    _inner: TypedEvidence | None = None
    _inside: LastShown = field(default_factory=LastShown)
    _tail: str = ""
    _prompted: bool = False
    _count: int = 0

    @property
    def running(self) -> str:
        """The line that runs; "" while the shell waits for one, or Mininet's command line in it does."""
        if self._running is None:
            return ""
        if self._inner is not None:
            return self._inner.text
        return "" if self._prompted else self._running.text

    @property
    def has_line(self) -> bool:
        """Whether a line has begun that has not ended, be it one that started another command line."""
        return self._running is not None

    def read(self, data: bytes) -> Iterator[TypedEvidence]:
        """Lines that begin or end with this; one that ends has its output."""
        self._rest += self._decoder.decode(data)
        while found := _MARK.search(self._rest):
            yield from self._show(self._rest[: found.start()])
            self._rest = self._rest[found.end() :]
            yield from self._marked(found)
        keep = self._rest.rfind("\x1b]133")
        if keep < 0:
            half = self._rest.rfind("\x1b")
            keep = half if len(self._rest) - half < len("\x1b]133") and half >= 0 else len(self._rest)
        elif len(self._rest) - keep > LONGEST_MARK:
            keep = len(self._rest)  # no mark of ours
        yield from self._show(self._rest[:keep])
        self._rest = self._rest[keep:]

    def hung_up(self, now_s: float) -> Iterator[TypedEvidence]:
        """Lines that end because the terminal is closed; now_s: network time.  The shell cannot say so any more."""
        if self._running is not None:
            yield from self._end(max(now_s, self._running.start_s), _HUNG_UP)

    def _end(self, time_s: float, status: int | None) -> Iterator[TypedEvidence]:
        assert self._running is not None
        if self._inner is not None:
            yield replace(self._inner, end_s=time_s, output=plain(self._inside.text()))
        yield replace(self._running, end_s=time_s, output=plain(self._shown.text()), status=status)
        self._running = None
        self._shown.clear()
        self._keep_inside("")

    def _marked(self, found: re.Match[str]) -> Iterator[TypedEvidence]:
        kind, node, time_s, text = found[1], found[2], int(found[3]) / 1e6, unquote(found[4])
        if kind == "C":
            self._running, self._inner = TypedEvidence(node, text, time_s), None
            self._shown.clear()
            self._keep_inside("")
            yield self._running
        elif self._running is not None:
            yield from self._end(time_s, int(text) if _STATUS.fullmatch(text) else None)

    def _show(self, text: str) -> Iterator[TypedEvidence]:
        if self._running is None:
            return
        self._shown.add(text)
        if self._running.terminal == CLIENT and self._is_mininet(self._running.text):
            yield from self._lines_inside(text)

    @staticmethod
    def _is_mininet(text: str) -> bool:
        return any(command.program == _OUTER for command in commands_in(CLIENT, text))

    def _lines_inside(self, text: str) -> Iterator[TypedEvidence]:
        """The lines typed at the prompt of Mininet's command line in this terminal."""
        assert self._running is not None
        seam = self._tail + text
        self._tail = seam[-len(_PROMPT_WORDS) :]
        self._inside.add(text)
        if not self._prompted and _PROMPT_WORDS not in seam:
            return  # what a command shows is read once, when the prompt is back
        inside = self._inside.text()
        while (prompt := _PROMPT.search(shown := plain(inside))) is not None:
            if self._inner is not None:
                yield replace(self._inner, end_s=self._next_s(), output=shown[: prompt.start()])
                self._inner = None
            typed, newline, after = shown[prompt.end() :].partition("\n")
            inside = after if newline else shown[prompt.start() :]
            if newline and typed.strip():
                self._inner = TypedEvidence(CLIENT, typed.strip(), self._next_s())
                yield self._inner
            if not newline:
                break
        self._keep_inside(inside)

    def _keep_inside(self, text: str) -> None:
        """What is not read yet of Mininet's command line."""
        self._inside.clear()
        self._inside.add(text)
        self._prompted = text.startswith(_PROMPT_WORDS)

    def _next_s(self) -> float:
        assert self._running is not None
        self._count += 1
        return self._running.start_s + self._count * _STEP_S


def plain(shown: str) -> str:
    """Text as a person reads it, without what moves the cursor and colours letters."""
    lines = _ESCAPES.sub("", shown).split("\n")
    # what a carriage return is followed by is written over what stood before it
    return "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in lines).replace("\x07", "")
