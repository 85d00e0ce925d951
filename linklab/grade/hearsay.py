# SPDX-License-Identifier: BSD-3-Clause
"""What the kernel, the agent, and the keeper in a sandbox say → the same, if it has the shape of what they may say.

Programs of strangers may speak in their name, so nothing is taken for what it ought to be: an exit status may come as a
long text, an answer with nothing in it, a path as one of ours.  Called by `linklab.grade.sandbox`; pure.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from linklab.engine.api import Completed, FailedCommand
from linklab.errors import EngineError

MOST_CONSOLE = 2**16
"""Characters of a kernel's last words, and bytes of one message of the keeper's."""
_MOST_SAID = 200
_STATUSES = range(256)
"""What a shell's `$?` may be (bash(1), EXIT STATUS)."""


@contextlib.contextmanager
def believing_nothing() -> Iterator[None]:
    """A malformed answer is an error of the network's, not of ours."""
    try:
        yield
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError, OverflowError) as error:
        raise EngineError(f"what came from the network is no answer: {type(error).__name__}") from error


def built(nodes: Any, failed: Sequence[FailedCommand], tools: Any, ready_s: Any) -> None:
    """Look at what is said of a network that has been built; start commands, which are a stranger's, ran before it.

    Args:
        nodes: names.
        failed: the start commands that failed.
        tools: program → version.
        ready_s: network time at which it was ready.

    Raises:
        TypeError: one of them, or a part of it, has another type.
    """
    if not isinstance(nodes, list) or not isinstance(tools, dict):
        raise TypeError("nodes must be a list, and tools a table")
    texts = [*nodes, *tools.values()]
    for each in failed:
        texts += [each.node, each.command, each.output]
        _status(each.status)
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("names, versions, commands, and outputs must be texts")
    times(ready_s)


def answers(done: list[Completed], count: int) -> list[Completed]:
    """The same answers.

    Args:
        done: as they came.
        count: how many there must be.

    Raises:
        ValueError: there are more or fewer.
        TypeError: a part of an answer has another type than in `Completed`, or an exit status is not 0 to 255 or None.
    """
    if len(done) != count:
        raise ValueError(f"{len(done)} answers to {count} questions")
    for each in done:
        if not all(isinstance(text, str) for text in (each.terminal, each.text, each.output)):
            raise TypeError("terminal, text and output must be texts")
        _status(each.exit_status)
        times(each.start_s, each.end_s)
    return done


def _status(found: Any) -> None:
    if found is not None and (type(found) is not int or found not in _STATUSES):
        raise TypeError("an exit status must be None or 0 to 255")


def times(*found_s: Any) -> tuple[float, ...]:
    """The same numbers of seconds; TypeError where one is no finite number."""
    if not all(type(each) in (int, float) and math.isfinite(each) for each in found_s):
        raise TypeError("a time must be a finite number of seconds")
    return found_s


def keepers_word(line: bytes) -> Iterator[dict[str, Any]]:
    """A keeper's message, if it is one that may come from a sandbox."""
    try:
        said = json.loads(line)
    except (ValueError, RecursionError):
        return
    if not isinstance(said, dict):
        return
    if said.get("event") == "started":
        yield {"event": "started", "pid": None}  # a number of another process space
    elif said.get("event") == "failed":
        number = said.get("errno")
        words = {name: str(said.get(name, ""))[:_MOST_SAID] for name in ("doing", "why")}
        yield {"event": "failed", "errno": number if isinstance(number, int) else None, **words}
    elif said.get("event") == "ended":
        code = said.get("code")
        console = str(said.get("console", ""))[:MOST_CONSOLE]
        yield {"event": "ended", "console": console, "code": code if isinstance(code, int) else None}
