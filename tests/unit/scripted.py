# SPDX-License-Identifier: BSD-3-Clause
"""An engine that answers from a table, for tests of what stands above the engines; the pocket has its own tests.

mypy checks this file too: it is an `Engine`, and its networks are `Network`s.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linklab.engine import api
from linklab.errors import AgentError, EngineError
from linklab.topology import Topology

Answer = str | tuple[str, int] | Exception
Answers = Mapping[str, Answer | Callable[[Path], Answer]]


class ScriptedChannel:
    """A way to an agent that opens terminals, shows nothing in them, and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self._handlers: dict[str, list[api.Handler]] = {}
        self._ended: str | None = None

    @property
    def ended(self) -> str | None:
        """Why it ended."""
        return self._ended

    def on(self, event: str, handler: api.Handler) -> None:
        """Keep a handler."""
        self._handlers.setdefault(event, []).append(handler)

    def say(self, event: str, **fields: Any) -> None:
        """Let the agent say something by itself."""
        for handler in self._handlers.get(event, []):
            handler({"event": event, **fields})

    def end(self, why: str) -> None:
        """Let the agent go."""
        self._ended = why
        self.say("end")

    def request(self, op: str, *, deadline_s: float, what: str, **fields: Any) -> dict[str, Any]:
        """Open a terminal; other requests are refused."""
        self.asked.append((op, fields))
        if self._ended is not None:
            raise EngineError(self._ended)
        if op != "open":
            raise AgentError(f"{what}: no {op} here")
        return {"terminal": f"t{len(self.asked)}"}

    def send(self, op: str, **fields: Any) -> Future[dict[str, Any]]:
        """Take an order."""
        self.asked.append((op, fields))
        done: Future[dict[str, Any]] = Future()
        done.set_result({"ok": {"terminal": f"t{len(self.asked)}"} if op == "open" else {}})
        return done


class ScriptedNetwork:
    """A network that shows `answers[command]`, as (output, status), and notes all that was typed.

    An answer may be a function of the working folder, to write files; each command takes one second.
    """

    def __init__(self, answers: Answers, workdir: Path, nodes: Sequence[str] = ()) -> None:
        self.answers, self.workdir = answers, workdir
        self.environment: dict[str, Any] = {"kernel": "scripted"}
        self.link, self.nodes = ScriptedChannel(), list(nodes)
        self.failed_commands: list[api.FailedCommand] = []
        self.warnings: list[str] = []
        self.typed: list[list[tuple[str, str, api.Finish]]] = []
        self.running: dict[str, api.Typed] = {}
        self.time_s, self.closed = 0.0, False

    @property
    def paced(self) -> api.Paced | None:
        """Its clock cannot be set."""
        return None

    def run(
        self,
        actions: Sequence[api.Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
        at_once: bool = False,
    ) -> list[api.Completed]:
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

    def complete(self, action: api.Typed, start_s: float) -> api.Completed:
        """What an action gives when it ends."""
        answer = self.answers.get(action.text, "")
        found = answer(self.workdir) if callable(answer) else answer
        if isinstance(found, Exception):
            raise found
        output, status = found if isinstance(found, tuple) else (found, 0)
        return api.Completed(action.terminal, action.text, output, status, start_s, self.time_s)

    def stop(self, terminal: str, *, deadline_s: float = 60, suspend: bool = False) -> api.Completed:
        """End what runs there."""
        if terminal not in self.running:
            raise AgentError(f"nothing runs in {terminal}")
        return self.complete(self.running.pop(terminal), 0.0)

    def finished(self, terminal: str, *, deadline_s: float = 600, within_s: float | None = None) -> api.Completed:
        """The same here."""
        return self.stop(terminal, deadline_s=deadline_s)

    def holds_many_files(self) -> bool:
        """It has no files."""
        return False

    def now_s(self) -> float:
        """Seconds since the start."""
        return self.time_s

    def computed(self) -> list[api.Computed]:
        """No program of the script computes."""
        return []

    def state_text(self) -> str:
        """What it answers to "the state"."""
        return self.complete(api.Typed("client", "the state"), self.time_s).output

    def close(self) -> None:
        """End it."""
        self.closed = True


class ScriptedEngine:
    """Starts scripted networks and keeps them, with what they were started with."""

    side_by_side = True
    network = ScriptedNetwork

    def __init__(self, answers: Answers | None = None) -> None:
        self.answers: Answers = answers or {}
        self.networks: list[ScriptedNetwork] = []
        self.started: list[tuple[str | None, api.Clock, int, str]] = []

    def check(self) -> None:
        """It needs nothing."""

    @contextmanager
    def start(
        self,
        topology: Topology | None,
        *,
        workdir: Path,
        clock: api.Clock = api.Clock.VIRTUAL,
        seed: int = 1,
        profile: str = "desktop",
        display: bool = False,
        on_stage: api.OnStage = lambda stage, network: None,
    ) -> Iterator[ScriptedNetwork]:
        """Start one."""
        names = [node.name for node in topology.nodes] if topology else ()
        network = self.network(self.answers, workdir, names)
        self.networks.append(network)
        self.started.append((topology.name if topology else None, clock, seed, profile))
        try:
            on_stage("building the network", network)
            yield network
        finally:
            network.close()


_CONFORMS: type[api.Engine] = ScriptedEngine  # here mypy sees that it keeps to the contract
