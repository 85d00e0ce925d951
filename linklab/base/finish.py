# SPDX-License-Identifier: BSD-3-Clause
"""When something typed into a terminal counts as finished: said by a manual, obeyed by an engine.

Plain data; imports nothing of ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class Prompt:
    """Finished when the terminal's shell shows its prompt again."""


@dataclass(frozen=True)
class Background:
    """Not waited for: left running in its terminal until somebody stops it or waits for its end."""


@dataclass(frozen=True)
class StopAfter:
    """Ctrl+C is typed after `seconds` of network time; finished when the prompt is back.

    pattern: what shows that instead, as in `Shows`, where a program with a prompt of its own runs.
    """

    seconds: float
    pattern: str = ""


@dataclass(frozen=True)
class Shows:
    """Finished when the output matches `pattern` (a regular expression), e.g. the prompt of `sudo mn`."""

    pattern: str


Finish: TypeAlias = Prompt | Background | StopAfter | Shows
