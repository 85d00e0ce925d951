# SPDX-License-Identifier: BSD-3-Clause
"""Facts about the network of a trial: what commands say before and after it, one after the other.

They are asked while no flow runs, and take network time as they would in a terminal. Called by `linklab.agent.trial`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

from linklab.agent.trial_loop import NS, Loop
from linklab.agent.trial_plan import Fact, PlannedProgram
from linklab.agent.trial_programs import Programs

FACT_NS = 20 * NS
"""What one command may take."""


def ask_facts(facts: Sequence[Fact], programs: Programs, loop: Loop) -> dict[Fact, dict[str, Any]]:
    """What each says now: its exit status and what it printed, or why it could not be asked."""
    found = {}
    for fact in facts:
        file = os.memfd_create("fact")
        child = programs.start(PlannedProgram("fact", fact.node, fact.argv), prints_to=file)
        loop.run(lambda child=child: child.over, time.monotonic_ns() + FACT_NS)  # type: ignore[misc]
        if child.runs:
            programs.ask_to_end(child, signal.SIGKILL)
            loop.run(lambda child=child: child.over, time.monotonic_ns() + NS)  # type: ignore[misc]
        text = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
        os.close(file)
        found[fact] = {"status": child.status, "text": text or child.why}
    return found


def as_json(before: Mapping[Fact, Any], after: Mapping[Fact, Any]) -> list[dict[str, Any]]:
    """Each fact with what it said before and after; None where it was not asked."""
    return [
        {"node": fact.node, "name": fact.name, "argv": fact.argv, "before": said, "after": after.get(fact)}
        for fact, said in before.items()
    ]
