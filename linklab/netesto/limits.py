# SPDX-License-Identifier: BSD-3-Clause
"""How much a script may ask for, and the refusal of settings that it may not make.

What it may set: `linklab.linux.allowed_settings`, which the runner inside asks again before it writes.
"""

from __future__ import annotations

from linklab.errors import InputError
from linklab.linux.allowed_settings import why_not_allowed

MOST_LOOPS = 100_000
"""Passes of all FOR loops and repetitions of all RUNs of a script."""
MOST_COMMANDS = 200_000
MOST_STEPS = 1_000_000
"""Lines that are executed, whether they give a command or not."""
MOST_SECONDS = 30 * 86_400
"""Of network time in all, flows that are still under way when the script ends included."""
MOST_FLOWS = 5_000
"""Of one experiment: as many as a test may have (`linklab.experiment.parameters`)."""
MOST_FLOWS_IN_ALL = 1_000_000
MOST_DELAY_MS = 100_000
"""That netem may hold a packet; the kernel keeps it as a number of 32 bits, which ends at 274 s."""
MOST_OPEN = 1000
"""Experiments that are under way at one time."""
MOST_HELD = 1_000_000
"""Settings and commands of all experiments together; each experiment has those that were made before it."""
MOST_BYTES = 1_000_000
"""Of one file."""
MOST_CHARACTERS = 20_000
"""Of one line once its variables are filled in."""
MOST_TEXT = 50_000_000
"""Characters of all commands, variables that are set, and lines that are said."""
MOST_NESTED = 50
"""Loops in loops, macros that run macros, and conditions before one command."""
MOST_NESTED_IN_ALL = 80
"""Loops, macros and files inside one another."""


def refuse_setting(word: str, name: str, value: str) -> None:
    """Let a setting pass only if it is on the list, with a value in its range (`why_not_allowed`).

    Raises:
        InputError: it is not; the message has no place.
    """
    if wrong := why_not_allowed(word, name, value):
        raise InputError(wrong)
