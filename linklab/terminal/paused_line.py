# SPDX-License-Identifier: BSD-3-Clause
"""Keys typed while a network's time stands still → orders to its clock, and what waits for the network.

Nothing inside can show a key then, so the keys of a line are collected until it is plain whose they are: r and s by
themselves, with nothing after them for a moment, and a line that begins with `clock` are the clock's; all else is the
network's, once time goes on. Pure: bytes in, bytes and words out. Keys of several bytes: ECMA-48 5.4 (CSI), and ESC O
of a terminal's function keys (SS3).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

ALONE_S = 0.5
"""How long nothing may follow a key that is to act by itself: people type two letters of a word in less."""
KEYS = {ord("r"): ["resume"], ord("s"): ["step", "10ms"]}
CTRL_C, CTRL_U, ESC, BACKSPACES = 0x03, 0x15, 0x1B, (0x7F, 0x08)
FIRST_PRINTED = 0x20
_SEQUENCE = re.compile(rb"\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]?|O[\x20-\x7e]?|[^\x00-\x1f\x7f][\x80-\xbf]*)?")
"""ESC and what belongs to it: of an arrow, say, or of a letter with Alt."""
_UNFINISHED = re.compile(rb"\x1b(?:\[[\x20-\x3f]*|O)?")


class PausedLine:
    """The line that has been begun; `text` is what of it is to be shown."""

    def __init__(self) -> None:
        self.text = b""
        self._begun = b""  # of an escape sequence, the rest of which may come with the next read

    def feed(self, data: bytes) -> Iterator[bytes | list[str]]:
        """Take keys; what they are for the network (bytes) or the clock (its words), in their order."""
        begun, self._begun = self._begun, b""
        if len(begun) > 1 or (begun and data[:1] in (b"[", b"O")):  # any other key after Esc stands for itself
            rest = self._sequence(data, begun)
            data = data[len(rest) :]
            if rest:
                yield rest
        at = 0
        while at < len(data):
            key, one = data[at], data[at : at + 1]
            if key in (0x0D, 0x0A):
                yield self._line(one)
            elif key == ESC:  # one key, perhaps of several bytes, and nothing that could be shown
                one = self._sequence(data[at:])
                yield self.take() + one
            elif self.text and key in (*BACKSPACES, CTRL_C, CTRL_U):
                self.text = _without_last(self.text) if key in BACKSPACES else b""
            elif key < FIRST_PRINTED or key in BACKSPACES:
                yield self.take() + one
            else:
                self.text += one
            at += len(one)

    def _sequence(self, data: bytes, begun: bytes = b"") -> bytes:
        """What of `data` belongs to the escape sequence at its start, of which `begun` was passed on before."""
        found = _SEQUENCE.match(begun + data)
        assert found
        if found.end() == len(begun + data) and _UNFINISHED.fullmatch(found[0]):
            self._begun = found[0]
        return data[: found.end() - len(begun)]

    def _line(self, enter: bytes) -> bytes | list[str]:
        text = self.take()
        words = text.decode(errors="replace").split()
        if len(text) == 1 and text[0] in KEYS:
            return KEYS[text[0]]
        return (words[1:] or ["status"]) if words[:1] == ["clock"] else text + enter

    @property
    def may_be_keys(self) -> bool:
        """Whether the line acts if nothing follows: r and s, also several, as whoever steps quickly presses them."""
        return bool(self.text) and all(key in KEYS for key in self.text)

    def alone(self) -> list[list[str]]:
        """Nothing has followed: what each of the keys orders."""
        return [KEYS[key] for key in self.take()] if self.may_be_keys else []

    def take(self) -> bytes:
        """The line as far as it was typed, which is begun anew."""
        text, self.text = self.text, b""
        return text


def _without_last(text: bytes) -> bytes:
    """Without its last character, which in UTF-8 is a byte and those after it of the form 10xxxxxx."""
    end = len(text) - 1
    while end > 0 and text[end] & 0xC0 == 0x80:
        end -= 1
    return text[:end]
