# SPDX-License-Identifier: BSD-3-Clause
"""Builds a student's network, types what set_env.sh sets, runs work.sh in it, and reads the state that it left.

Called by `linklab.grade.unit`, with an engine that confines it (`linklab.grade.sandbox`): everything the student wrote
runs here and nowhere else.  All that leaves is the state as text, which is checked as hostile, and bounded output.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.engine.api import Clock, Engine, Network, Typed
from linklab.errors import DeadlineError, EngineError
from linklab.topology import Topology

WORK_WALL_S = 60.0
MOST_OUTPUT_BYTES = 100_000
MOST_STATE_BYTES = 8 << 20
NODES = "/run/linklab/nodes"
"""Holds a command for each node: `h1 sysctl -w …` runs in h1, as students type it in h1's terminal."""
_NODE_COMMAND = (
    f"mkdir -p {NODES} && for n in {{names}}; do "
    f'p=$(pgrep -o -f "mininet:$n\\$") && printf \'#!/bin/sh\\nexec mnexec -a %s "$@"\\n\' $p > {NODES}/$n '
    f"&& chmod +x {NODES}/$n; done"
)


@dataclass(frozen=True)
class Rebuilt:
    """What came of it: state_text is None where no network was left to read; notes are sentences for the report."""

    state_text: str | None
    output: str
    notes: tuple[str, ...] = ()


def rebuild(topology: Topology, settings: Sequence[tuple[str, str]], work: str, engine: Engine) -> Rebuilt:
    """Run the student's commands on the student's network.

    Args:
        topology: as handed in, with its start commands.
        settings: (node or "client", line) that set_env.sh types.
        work: text of work.sh, run by bash as root in the Client's terminal.
        engine: confines what runs.

    Raises:
        EngineError, MissingError: no network could be started.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-work-") as name:
        folder = Path(name)
        (folder / "work.sh").write_text(work, encoding="utf-8")
        with engine.start(topology, workdir=folder, clock=Clock.VIRTUAL, seed=1) as network:
            return _done(network, topology, settings, folder)


def _done(network: Network, topology: Topology, settings: Sequence[tuple[str, str]], folder: Path) -> Rebuilt:
    notes: list[str] = []
    try:
        for on, line in settings:
            network.run([Typed(on, line)], deadline_s=WORK_WALL_S)
        names = " ".join(node.name for node in topology.nodes)
        network.run([Typed("client", _NODE_COMMAND.format(names=names))], deadline_s=WORK_WALL_S)
        command = f"PATH=$PATH:{NODES} bash /lab/work.sh </dev/null 2>&1 | head -c {MOST_OUTPUT_BYTES} > /lab/work.out"
        network.run([Typed("client", command)], deadline_s=WORK_WALL_S)
    except DeadlineError:
        return Rebuilt(
            None, _text(folder / "work.out"), (f"work.sh ran longer than {WORK_WALL_S:g} s and was stopped",)
        )
    output = _text(folder / "work.out")
    try:
        read = "python3 -m linklab.agent.node_state > /lab/state.json"
        (done,) = network.run([Typed("client#state", read)], deadline_s=WORK_WALL_S)
    except EngineError as error:
        return Rebuilt(None, output, (f"the network that work.sh left does not answer any more: {error}",))
    state = folder / "state.json"
    if done.exit_status or not state.is_file() or state.stat().st_size > MOST_STATE_BYTES:
        return Rebuilt(None, output, ("the state of the network that work.sh left cannot be read",))
    return Rebuilt(state.read_text(encoding="utf-8", errors="replace"), output, tuple(notes))


def _text(path: Path) -> str:
    return path.read_bytes()[:MOST_OUTPUT_BYTES].decode(errors="replace") if path.is_file() else ""
