# SPDX-License-Identifier: BSD-3-Clause
"""Builds a student's network, types what set_env.sh sets, runs work.sh in it, and reads the state that it left.

All that leaves is the state as text, which is checked as hostile, and bounded output. Whatever work.sh does to its
network is told as a sentence and is no error of the grader's.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from linklab.base.text import excerpt, one_line
from linklab.engine.api import Clock, Completed, Engine, Network, Typed, refuse_failed_commands
from linklab.errors import BootError, DeadlineError, EngineError, Fault, OverusedError, ShortageError
from linklab.grade.drawing import is_tame
from linklab.grade.limits import HANG_S, IDLE_S
from linklab.grade.sandbox import SandboxEngine
from linklab.grade.scratch import working_folder
from linklab.grade.shared import SharedEngine
from linklab.grade.worklines import CACHES, FD, WATCH, Printed, read_printed, sentences
from linklab.state.model import READ_STATE
from linklab.topology import Topology

PROCESSOR_S = 60.0
"""Processor time of the whole network in a sandbox; with a model answer it takes a few seconds."""
NETWORK_S = 900
"""Network time that work.sh may take: it costs nothing to sleep on the virtual clock, but an `iperf3 -s` never ends."""
MOST_OUTPUT_BYTES = 200 * 1024
MOST_STATE_BYTES = 2 << 20
MOST_WORDS = 300
"""Letters of an engine's message that a note quotes; it may hold what work.sh printed."""
OVERDUE = 124
"""Exit status of timeout(1) where time was up."""
NODES = "/run/linklab/nodes"
SET_ENV = "set_env.sh"

_DROP = "/proc/sys/vm/drop_caches"
_PREPARE = f"""\
# A command for each node: `h1 sysctl -w …` runs in h1, as students type it in h1's terminal.
mkdir -p {NODES}
ln -s {_DROP} {CACHES}
declare -A shells # each node's, the oldest that names it
while read -r pid words; do
    name=${{words##*mininet:}}
    [ -z "$name" ] || [ -n "${{shells[$name]}}" ] || shells[$name]=$pid
done <<<"$(pgrep -a -f mininet:)"
while read -r name; do
    [ -z "${{shells[$name]}}" ] || printf '#!/bin/sh\\nexec mnexec -a %s "$@"\\n' "${{shells[$name]}}" >"{NODES}/$name"
done </lab/nodes.txt
chmod +x {NODES}/*
[ ! -e /lab/{SET_ENV} ] || chmod +x /lab/{SET_ENV}
"""
_RUN = f"""\
# Repeat work.sh.  Programs that it leaves running may hold its output open, so nobody waits for that to end.
export PATH=$PATH:{NODES}
out=/run/linklab/out
mkfifo "$out"
{{
    (ulimit -f {MOST_OUTPUT_BYTES // 1024} && exec cat >/lab/work.out) # each piece as it comes; head(1) keeps them
    exec cat >/dev/null
}} <"$out" 2>/dev/null &
read -r began _ </proc/uptime
BASH_ENV=/lab/.watch timeout -k 5 {NETWORK_S} bash /lab/work.sh </dev/null >"$out" 2>&1 {FD}>"$out"
status=$?
read -r ended _ </proc/uptime
# of one that is deaf to SIGTERM, timeout(1) says that it was killed
[ "$status" -ne 137 ] || [ "$((${{ended%.*}} - ${{began%.*}}))" -lt {NETWORK_S} ] || status={OVERDUE}
sleep 0.5 # in which what it printed last is written
exit "$status"
"""
# /lab may be full
_READ = f"{{ echo 2 >{_DROP}; }} 2>/dev/null; set -o pipefail; {READ_STATE} | head -c {MOST_STATE_BYTES}"


@dataclass(frozen=True)
class Rebuilt:
    """What came of it: state_text is None where no network was left to read; notes are sentences for the report.

    stopped: that of the notes which says what the student's commands did to the network that did not end by itself.
    """

    state_text: str | None
    output: str
    notes: tuple[str, ...] = ()
    stopped: str = ""


def rebuild(
    topology: Topology,
    settings: Sequence[tuple[str, str]],
    work: str,
    engine: Engine,
    *,
    within_s: float = HANG_S,
    beside: Mapping[str, str] | None = None,
) -> Rebuilt:
    """Run the student's commands on the student's network.

    Args:
        topology: as handed in, with its start commands.
        settings: (node or "client", line) that set_env.sh types.
        work: text of work.sh, run by bash as root in the Client's terminal.
        engine: confines what runs.
        within_s: wall-clock seconds for all of it, the last resort.
        beside: files to put beside work.sh, name → text; only if work.sh names `SET_ENV`, which is made a program.

    Raises:
        EngineError, MissingError: no network could be started, through no fault of the submission's.
    """
    with working_folder("linklab-work-") as folder:
        (folder / "work.sh").write_text(work, encoding="utf-8")
        if beside and SET_ENV in work:  # or what it did could not be shared with other students, whom its files name
            for name, text in beside.items():
                (folder / name).write_text(text, encoding="utf-8")
        (folder / "nodes.txt").write_text("".join(f"{node.name}\n" for node in topology.nodes), encoding="utf-8")
        (folder / ".prepare").write_text(_PREPARE, encoding="utf-8")
        (folder / ".run").write_text(_RUN, encoding="utf-8")
        (folder / ".watch").write_text(WATCH, encoding="utf-8")
        confined = engine.within(PROCESSOR_S) if isinstance(engine, (SandboxEngine, SharedEngine)) else engine
        starting = confined.start(_without_farewell(topology), workdir=folder, clock=Clock.VIRTUAL, seed=1)
        try:
            with starting as network:
                refuse_failed_commands(network)
                return _Work(network, folder, within_s).done(settings)
        except ShortageError:
            raise
        except EngineError as error:  # out of building
            theirs = error.fault is Fault.TOPOLOGY or isinstance(error, OverusedError)
            if not theirs and (isinstance(error, BootError) or is_tame(topology)):
                raise
            said = f"the network does not build: {_brief(error)}"
            return Rebuilt(None, "", (said,), "" if error.fault is Fault.TOPOLOGY else said)


class _Work:
    """One network that work.sh is repeated in."""

    def __init__(self, network: Network, folder: Path, within_s: float) -> None:
        self.network = network
        self.folder = folder
        self.within_s = within_s
        self.until = time.monotonic() + within_s
        self.notes: list[str] = []

    def done(self, settings: Sequence[tuple[str, str]]) -> Rebuilt:
        """Prepare, run, read.

        Raises:
            ShortageError: this machine lacks something, which is no fault of the submission's.
        """
        try:
            self._prepare(settings)
        except ShortageError:
            raise
        except EngineError as error:
            return self._lost(f"the network that was built does not take what this exercise sets up: {_brief(error)}")
        try:
            status = self._type("client", "bash /lab/.run").exit_status
        except ShortageError:
            raise
        except DeadlineError:
            idle = f"did nothing for {IDLE_S:g} s, or " if self.within_s > IDLE_S else ""
            return self._lost(f"work.sh {idle}ran longer than {self.within_s:g} s, and was stopped")
        except EngineError as error:
            return self._lost(f"the network ended while work.sh ran: {_brief(error)}")
        overdue = status == OVERDUE
        self.notes += sentences(self._printed(), 0 if overdue else status or 0)
        stopped = f"work.sh ran longer than {NETWORK_S} s of network time and was stopped" if overdue else ""
        self.notes += [stopped] if stopped else []
        try:
            done = self._type("client#state", _READ)
        except ShortageError:
            raise
        except EngineError as error:
            return self._lost(f"the network that work.sh left does not answer any more: {_brief(error)}")
        if done.exit_status:
            return self._lost("the settings of the network that work.sh left cannot be read")
        return Rebuilt(done.output, self._printed().text, tuple(self.notes), stopped)

    def _prepare(self, settings: Sequence[tuple[str, str]]) -> None:
        for on, line in settings:
            self._type(on, line)
        self._type("client", "bash /lab/.prepare")

    def _type(self, terminal: str, line: str) -> Completed:
        left = max(1.0, self.until - time.monotonic())
        return self.network.run([Typed(terminal, line)], deadline_s=left)[0]

    def _lost(self, why: str) -> Rebuilt:
        return Rebuilt(None, self._printed().text, (*self.notes, why), why)

    def _printed(self) -> Printed:
        return read_printed(read_bounded(self.folder / "work.out", MOST_OUTPUT_BYTES) or "")


def _without_farewell(topology: Topology) -> Topology:
    """Nothing is done with what stop commands do, so nobody waits for them."""

    def without(node: Any) -> Any:
        return replace(node, opts={key: value for key, value in node.opts.items() if key != "stopCommand"})

    hosts, switches = tuple(map(without, topology.hosts)), tuple(map(without, topology.switches))
    return replace(topology, hosts=hosts, switches=switches)


def _brief(error: Exception) -> str:
    return excerpt(one_line(str(error)), MOST_WORDS)


def read_bounded(path: Path, most: int) -> str | None:
    """Text of a plain file that a stranger may have put there; None if it is none, or larger than `most` bytes."""
    with contextlib.suppress(OSError):
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(number, "rb") as file:
            about = os.fstat(number)
            if stat.S_ISREG(about.st_mode) and about.st_size <= most:
                return file.read(most).decode("utf-8", errors="replace")
    return None
