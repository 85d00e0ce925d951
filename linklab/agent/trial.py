# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial.py PLAN OUT`: run a test on the network that runs here: its programs, what is sampled, its outcome.

Run as root in the root namespace; it finds the nodes itself. The plan: `linklab.agent.trial_plan`; what stands in OUT
afterwards: docs/architecture.md, "Trials inside a network". It says how far it is on standard output, a line of JSON
at most once a second of network time. SIGINT, SIGTERM, SIGHUP, and SIGUSR1 end the test early and keep what was
measured, and so does a file END in OUT: on the virtual clock no key reaches a program before it ends. It costs no
network time in a pocket.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()  # before the rest is read, so that its length is no part of a run

import argparse
import json
import os
import resource
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from linklab.agent.trial_facts import as_json, ask_facts
from linklab.agent.trial_keeper import Sessions, keep, kill_children
from linklab.agent.trial_loop import FIRST, LAST, SECOND, THIRD, Loop
from linklab.agent.trial_nodes import Nodes
from linklab.agent.trial_plan import Fact, PlanError, TrialPlan, load
from linklab.agent.trial_programs import PRELOADED, Child, Programs
from linklab.agent.trial_samplers import Sampler, samplers
from linklab.agent.trial_settings import Settings
from linklab.linux import held
from linklab.native import find

NS = 1_000_000_000
END_FILE = "END"
"""Looked for once a second of network time."""
LOOK_NS = 10_000_000
"""Between two looks whether the servers listen."""
PUNCTUAL = 0.01
"""A reading that is late by at most this part of a period is said to be in time, so that series have their times in
common: a process in the middle of a system call delays it by some microseconds."""
SELF_S = 0.5
"""A server may end by itself when its client has."""
LOAD_NS = 300 * NS
"""Within which all flows have to be loaded."""


class RunningTrial:
    """A run of a plan; `tell` takes what is to be said of its progress."""

    def __init__(self, plan: TrialPlan, out: Path, tell: Callable[[dict[str, Any]], None]) -> None:
        self.plan, self.out, self.tell = plan, out, tell
        most = len(plan.programs) + 2 * len(plan.facts) + len(plan.settings)
        self.sessions = Sessions(most)
        self.keeper, self.all_ended = keep(self.sessions)
        self.nodes = Nodes()
        self.programs = Programs(self.nodes, out, self.sessions)
        self.loop = Loop(self.notice, self.interrupt)
        self.settings = Settings(plan.settings, self.nodes, plan.command_s)
        self.t0 = self.ended_ns = 0
        self.interrupts = 0
        self.servers: list[Child] = []
        self.flows: list[Child] = []
        self.commands: dict[int, Child] = {}
        """By the numbers of their settings in the plan, from 0: two settings may be equal."""
        self.starting: deque[tuple[int, float]] = deque()
        self.given: int | None = None
        """Number of the command whose turn it is."""
        self.samplers: list[Sampler] = []
        self.lacks: list[str] = []

    # --- the phases

    def run(self) -> None:
        """All of it; nothing of it runs afterwards."""
        try:
            self.settings.before(self.programs, self.loop)
            before = ask_facts(self.plan.facts, self.programs, self.loop)
            self.samplers, self.lacks = samplers(self.plan.samplers, self.nodes, self.out)
            self.start_servers()
            self.load_flows()
            with held.undisturbed():  # nothing is started from here on, which would begin as undisturbed as we are
                self.begin()
                self.loop.run(self.is_over)
                self.ended_ns = time.monotonic_ns()
                self.end(self.flows)
            self.end([server for server in self.servers if server.runs], self_s=SELF_S)
            self.sample_ended()
            after = ask_facts([fact for fact in self.plan.facts if not fact.once], self.programs, self.loop)
            for number, _ in self.starting:
                self.settings.cut_off(number)
            self.lacks += self.settings.restore()
            self.save(before, after)
            self.tell({"phase": "end", "how": "early" if self.early else "whole", **self.counts()})
        finally:
            for sampler in self.samplers:
                sampler.close()
            self.sessions.kill()
            self.settings.restore()
            kill_children(self.keeper)
            self.all_ended()

    def start_servers(self) -> None:
        """Start the servers and wait until each listens, or its time is over."""
        self.tell({"phase": "servers"})
        self.servers = [self.programs.start(one) for one in self.plan.programs if one.role == "server"]
        deadline = time.monotonic_ns() + round(self.plan.ready_s * NS)
        waiting = [server for server in self.servers if server.program.ready]
        while waiting and not self.early and time.monotonic_ns() < deadline:
            waiting = self.not_listening(waiting)
            if waiting:
                self.loop.run(lambda: self.early, time.monotonic_ns() + LOOK_NS)
        for server in waiting:
            (protocol, port), *_ = server.program.ready.items()
            server.why = f"it did not listen on {protocol.upper()} port {port} within {self.plan.ready_s:g} s"

    def not_listening(self, servers: list[Child]) -> list[Child]:
        """Those that do not listen yet but may; each node's table is read once."""
        wanted: dict[tuple[str, str], set[int]] = {}
        for server in filter(lambda server: server.runs, servers):
            for protocol, port in server.program.ready.items():
                wanted.setdefault((server.program.node, protocol), set()).add(port)
        heard = {where: self.nodes[where[0]].listens(where[1], ports) for where, ports in wanted.items()}
        return [
            server
            for server in servers
            if server.runs
            and not all(port in heard[server.program.node, protocol] for protocol, port in server.program.ready.items())
        ]

    def load_flows(self) -> None:
        """Fork all flows and wait until each is loaded, and held, or has failed."""
        self.tell({"phase": "flows"})
        for program in self.plan.programs:
            if program.role == "flow" and not self.early:
                self.flows.append(self.programs.start(program, hold=True))
        self.programs.draw_lots(self.flows)
        for number, setting in enumerate(self.plan.settings):
            if setting.argv and setting.at_s is not None:
                self.commands[number] = self.programs.start(self.settings.program(number), hold=True)
        deadline = time.monotonic_ns() + LOAD_NS
        loading = [*self.flows, *self.commands.values()]
        self.loop.run(lambda: self.early or all(each.loaded or each.over for each in loading), deadline)
        for flow in self.flows:
            if not flow.loaded and not flow.over and not self.early:
                flow.why = f"it was not loaded within {LOAD_NS // NS} s"
                self.programs.ask_to_end(flow, signal.SIGKILL)

    def begin(self) -> None:
        """Fix T0, at a whole second of this kernel's clock, and what happens when."""
        self.t0 = (time.monotonic_ns() // NS + 1) * NS
        times = {setting.at_s for setting in self.plan.settings if setting.at_s is not None}
        for start_s in sorted(times | {flow.program.start_s for flow in self.flows}):
            self.loop.at(self.when(start_s), FIRST, lambda start_s=start_s: self.start_those_of(start_s))  # type: ignore[misc]
        for flow in self.flows:
            stop_s = flow.program.stop_s
            due = self.when(self.plan.length_s + self.plan.end_s if stop_s is None else stop_s)
            self.loop.at(due, THIRD, lambda flow=flow: self.stop(flow))  # type: ignore[misc]
        self.loop.every(self.t0, round(self.plan.samplers.period_s * NS), SECOND, self.sample)
        self.loop.every(self.t0, NS, LAST, self.tell_progress)
        self.loop.at(self.when(self.plan.length_s), LAST, lambda: None)

    def is_over(self) -> bool:
        """Whether the test has ended: all of its flows, and its length unless all that it had failed."""
        if self.early:
            return True
        if not all(flow.over for flow in self.flows):
            return False
        in_vain = bool(self.flows) and all(flow.why for flow in self.flows)
        return in_vain or time.monotonic_ns() >= self.when(self.plan.length_s)

    def end(self, those: Sequence[Child], self_s: float = 0.0) -> None:
        """End programs: by themselves within `self_s`, or by SIGINT, SIGTERM, SIGKILL with the plan's grace between."""
        asked = self.interrupts

        def over() -> bool:
            return self.interrupts > asked or all(child.over for child in those)

        self.loop.forget()
        self.loop.run(over, time.monotonic_ns() + round(self_s * NS))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            for child in those:
                self.programs.ask_to_end(child, number)
            asked = self.interrupts
            self.loop.run(over, time.monotonic_ns() + round(self.plan.grace_s * NS))

    # --- what happens meanwhile

    def when(self, s: float) -> int:
        """The kernel's clock so long after T0."""
        return self.t0 + round(s * NS)

    def start_those_of(self, start_s: float) -> None:
        """Set what is set at this time, then let its flows go: at once, or when the last command has ended."""
        due = [(number, one) for number, one in enumerate(self.plan.settings) if one.at_s == start_s]
        for number, setting in due:
            if setting.argv:
                self.starting.append((number, start_s))
            else:
                self.settings.write(number)
        if any(setting.argv for _, setting in due):
            self.run_commands()
        else:
            self.release(start_s)

    def release(self, start_s: float) -> None:
        """Let all flows of a time go."""
        self.programs.release([flow for flow in self.flows if flow.program.start_s == start_s])

    def run_commands(self) -> None:
        """Let the commands that are due go, each when the one before it has ended; the flows of their time follow."""
        while self.starting:
            number, start_s = self.starting[0]
            child = self.commands[number]
            if not child.over:
                if self.given != number:  # its turn begins now
                    self.given = number
                    self.programs.release([child])
                    self.loop.at(self.settings.deadline_ns(), THIRD, partial(self.give_up, child))
                return
            self.settings.ended(number, child)
            self.starting.popleft()
            if not any(later_s == start_s for _, later_s in self.starting):
                self.release(start_s)

    def give_up(self, command: Child) -> None:
        """Kill a command that has had its time, so that those behind it and the flows go on."""
        self.programs.ask_to_end(command, signal.SIGKILL)

    def notice(self) -> None:
        """Take notice of programs that are loaded or have ended."""
        self.programs.notice()
        if self.starting:
            self.run_commands()

    def stop(self, child: Child) -> None:
        """Ask a program to end, and again after the plan's grace, up to SIGKILL."""
        if not child.runs:
            return
        numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
        self.programs.ask_to_end(child, numbers[min(len(child.asked), 2)])
        self.loop.at(time.monotonic_ns() + round(self.plan.grace_s * NS), THIRD, lambda: self.stop(child))

    def sample(self) -> None:
        """Read everything once."""
        now, period = time.monotonic_ns() - self.t0, round(self.plan.samplers.period_s * NS)
        late = now % period
        t = round((now - late if late <= period * PUNCTUAL else now) / NS, 6)
        for sampler in self.samplers:
            sampler.sample(t)

    def sample_ended(self) -> None:
        """Read a last time, of connections that have ended or never will."""
        for sampler in self.samplers:
            sampler.sample_last(self.since(time.monotonic_ns(), 6))

    def interrupt(self) -> None:
        """End early; when asked again, without waiting for what does not end."""
        self.interrupts += 1

    @property
    def early(self) -> bool:
        """Whether it was asked to end before its time."""
        return self.interrupts > 0

    def tell_progress(self) -> None:
        """Say how far it is, and have what was read in the files."""
        for sampler in self.samplers:
            sampler.flush()
        if not self.early and (self.out / END_FILE).exists():
            self.interrupt()
        self.tell({"t": self.since(time.monotonic_ns(), 3), "length_s": self.plan.length_s, **self.counts()})

    def counts(self) -> dict[str, int]:
        """How many flows run, have ended, and have failed."""
        over = [flow for flow in self.flows if flow.over]
        running = sum(1 for flow in self.flows if flow.started_ns is not None and not flow.over)
        return {"running": running, "ended": len(over), "failed": sum(1 for flow in over if flow.why)}

    # --- what is left

    def since(self, clock_ns: int, digits: int = 9) -> float:
        """Seconds since T0."""
        return round((clock_ns - self.t0) / NS, digits)

    def save(self, before: dict[Fact, dict[str, Any]], after: dict[Fact, dict[str, Any]]) -> None:
        """Write the facts and the outcome."""
        write(self.out / "facts.json", as_json(before, after))
        outcome = {
            "format": 1,
            "t0_ns": self.t0,
            "t0_date_ns": self.t0 + time.clock_gettime_ns(time.CLOCK_REALTIME) - time.monotonic_ns(),
            "ended": "early" if self.early else "whole",
            "ended_s": self.since(self.ended_ns),
            "programs": {child.program.id: self.outcome(child) for child in (*self.servers, *self.flows)},
            "lacks": self.lacks,
            **({"settings": self.settings.as_json()} if self.plan.settings else {}),
            "shared_objects": [path.name for path in map(find, PRELOADED) if path is not None],
        }
        write(self.out / "outcome.json", outcome)

    def failed(self) -> bool:
        """Whether anything is missing of what was asked for."""
        return bool(self.lacks) or any(child.why for child in (*self.servers, *self.flows))

    def outcome(self, child: Child) -> dict[str, Any]:
        """What became of a program."""
        began, ended = (None if at is None else self.since(at) for at in (child.started_ns, child.ended_ns))
        known = {"started_s": began, "ended_s": ended, "status": child.status, "why": child.why}
        return {**known, "stopped": [number.name for number in child.asked]}


def write(path: Path, data: Any) -> None:
    """A JSON file, whole or not at all."""
    new = path.with_name(path.name + ".new")
    new.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def tell(line: dict[str, Any]) -> None:
    """Say it to whoever listens; a listener that does not read misses lines and holds nothing up."""
    with suppress(OSError):
        if select.select([], [1], [], 0)[1]:
            os.write(1, json.dumps(line, separators=(",", ":")).encode() + b"\n")


def allow_many() -> None:
    """As many processes and files as this user may have, for a test of a thousand programs."""
    for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_NOFILE):
        with suppress(OSError, ValueError):
            resource.setrlimit(limit, (resource.getrlimit(limit)[1],) * 2)


def main() -> int:
    """Run a plan.

    Returns:
        0; 1 where a program failed or something could not be sampled, 2 for a wrong plan, 130 if it was ended early.
    """
    parser = argparse.ArgumentParser(description="Run a test on the network that runs here.")
    parser.add_argument("plan", type=Path, help="what to run, JSON")
    parser.add_argument("out", type=Path, help="folder for what comes of it")
    args = parser.parse_args()
    try:
        plan = load(args.plan)
        args.out.mkdir(parents=True, exist_ok=True)
    except (PlanError, OSError) as error:
        print(f"trial: {error}", file=sys.stderr)
        return 2
    allow_many()
    held.adopt_orphans()
    trial = RunningTrial(plan, args.out, tell)
    trial.run()
    return 130 if trial.early else int(trial.failed())


if __name__ == "__main__":
    sys.exit(main())
