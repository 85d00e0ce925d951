# SPDX-License-Identifier: BSD-3-Clause
"""The words of `ls` and `jq` without what only changes how they show the same things, as ls -la and ls.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

_OTHER_FILES = frozenset("dR")
"""Letters of ls by which it lists other files; what is long is --directory or --recursive."""
_HERE = frozenset((".", "~", "/lab"))
"""Where the reader is, and the home and the working folder of every node."""
_JQ = frozenset(("--compact-output", "--monochrome-output", "--color-output", "--sort-keys", "--tab"))
_JQ_LETTERS = frozenset("cMCS")


def without_layout(program: str, words: Sequence[str]) -> list[str]:
    """The words behind a program's name, without those that change no more than how it shows what it shows."""
    if program == "ls":
        return [word for each in words if (word := _of_ls(each))]
    return _of_jq(words) if program == "jq" else list(words)


def _of_ls(word: str) -> str:
    if word.startswith("--"):
        return word if word in ("--directory", "--recursive") else ""
    if word.startswith("-"):
        return "-" * bool(letters := "".join(sorted(_OTHER_FILES.intersection(word)))) + letters
    place = word.rstrip("/") or word
    return "" if place in _HERE else place


def _of_jq(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--indent" and rest:
            rest.pop(0)
        elif word in _JQ:
            continue
        elif word.startswith("-") and not word.startswith("--"):
            found += [f"-{letter}" for letter in word[1:] if letter not in _JQ_LETTERS]
        else:
            found.append(word)
    return found
