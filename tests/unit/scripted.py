# SPDX-License-Identifier: BSD-3-Clause
"""An engine that answers from a table, for tests of what stands above the engines; the pocket has its own tests."""

from contextlib import contextmanager

from linklab.engine import api
from linklab.errors import AgentError


class ScriptedNetwork:
    """A network that shows `answers[command]`, as (output, status), and notes all that was typed.

    An answer may be a function of the working folder, to write files; each command takes one second.
    """

    def __init__(self, answers, workdir):
        self.answers, self.workdir = answers, workdir
        self.environment = {"kernel": "scripted"}
        self.typed, self.running, self.time_s, self.closed = [], {}, 0.0, False

    def run(self, actions, *, deadline_s=600, on_output=None):
        """Answer each action."""
        start_s = self.time_s
        self.typed.append([(action.terminal, action.text, action.finish) for action in actions])
        self.time_s += 1.0
        done = []
        for action in actions:
            if isinstance(action.finish, api.Background):
                self.running[action.terminal] = action
                done.append(api.Completed(action.terminal, action.text, "", None, start_s, start_s))
            else:
                done.append(self.complete(action, start_s))
        return done

    def complete(self, action, start_s):
        """What an action gives when it ends."""
        answer = self.answers.get(action.text, "")
        answer = answer(self.workdir) if callable(answer) else answer
        output, status = answer if isinstance(answer, tuple) else (answer, 0)
        if isinstance(answer, Exception):
            raise answer
        return api.Completed(action.terminal, action.text, output, status, start_s, self.time_s)

    def stop(self, terminal, *, deadline_s=60):
        """End what runs there."""
        if terminal not in self.running:
            raise AgentError(f"nothing runs in {terminal}")
        return self.complete(self.running.pop(terminal), 0.0)

    def finished(self, terminal, *, deadline_s=600):
        """The same here."""
        return self.stop(terminal, deadline_s=deadline_s)

    def now_s(self):
        """Seconds since the start."""
        return self.time_s

    def close(self):
        """End it."""
        self.closed = True


class ScriptedEngine:
    """Starts scripted networks and keeps them, with what they were started with."""

    side_by_side = True
    network = ScriptedNetwork

    def __init__(self, answers=None):
        self.answers, self.networks, self.started = answers or {}, [], []

    def check(self):
        """It needs nothing."""

    @contextmanager
    def start(self, topology, *, workdir, clock=api.Clock.VIRTUAL, seed=1, profile="desktop"):
        """Start one."""
        network = self.network(self.answers, workdir)
        self.networks.append(network)
        self.started.append((topology.name if topology else None, clock, seed, profile))
        try:
            yield network
        finally:
            network.close()
