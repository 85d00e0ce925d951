# SPDX-License-Identifier: BSD-3-Clause
"""Keys typed while a network's time stands still → orders to its clock, and what waits for the network.

Nothing inside can show a key then, so the keys of a line are collected until it is plain whose they are: r and s by
themselves, with nothing after them for a moment, and a line that begins with `clock` are the clock's; all else is the
network's, once time goes on.  Called by `linklab.screen`, which shows the line; pure: bytes in, bytes and words out.
"""

from __future__ import annotations

from collections.abc import Iterator

ALONE_S = 0.5
"""How long nothing may follow a key that is to act by itself: people type two letters of a word in less."""
KEYS = {ord("r"): ["resume"], ord("s"): ["step", "10ms"]}
CTRL_C, CTRL_U, ESC, BACKSPACES = 0x03, 0x15, 0x1B, (0x7F, 0x08)
FIRST_PRINTED = 0x20


class PausedLine:
    """The line that has been begun; `text` is what of it is to be shown."""

    def __init__(self) -> None:
        self.text = b""

    def feed(self, data: bytes) -> Iterator[bytes | list[str]]:
        """Take keys; what they are for the network (bytes) or the clock (its words), in their order."""
        for at, key in enumerate(data):
            if key in (0x0D, 0x0A):
                yield self._line(data[at : at + 1])
            elif key == ESC:  # an arrow, say: one key of several bytes, and nothing that could be shown
                yield self.take() + data[at:]
                return
            elif self.text and key in (*BACKSPACES, CTRL_C, CTRL_U):
                self.text = self.text[:-1] if key in BACKSPACES else b""
            elif key < FIRST_PRINTED or key in BACKSPACES:
                yield self.take() + data[at : at + 1]
            else:
                self.text += data[at : at + 1]

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
