# SPDX-License-Identifier: BSD-3-Clause
"""What the networks of every engine have in common: an agent that is asked to build, to type and to tell the time.

Base of `linklab.engine.pocket.PocketNetwork` and `linklab.engine.host.HostNetwork`, which start and end it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from linklab.base.finish import Background, Finish, Prompt, Shows, StopAfter
from linklab.engine.agent_link import AgentLink
from linklab.engine.api import Completed, Computed, FailedCommand, Paced, Typed
from linklab.topology import Topology
from linklab.topology.plan import plan

BUILD_DEADLINE_S = 120


class AgentNetwork:
    """A network whose agent answers on `link`; see `linklab.engine.api.Network`."""

    link: AgentLink
    build_within_s: float = BUILD_DEADLINE_S
    """Seconds by the machine's clock that building may take."""

    def __init__(self) -> None:
        self.environment: dict[str, Any] = {}
        self.nodes: list[str] = []
        self.failed_commands: list[FailedCommand] = []
        self.warnings: list[str] = []
        self._on_output: Callable[[str, str], None] | None = None
        self._listens = False
        self._ready_clock_s = 0.0
        self._says_goodbye = False
        self._typed_within_s = 0.0

    @property
    def paced(self) -> Paced | None:
        """None: an engine whose clock can be set says so itself."""
        return None

    def _build(self, topology: Topology | None, files: dict[str, str], *, display: bool) -> dict[str, Any]:
        """Have the agent build the network and write files; versions of the tools inside."""
        built = plan(topology) if topology is not None else None
        self._says_goodbye = built is not None and any(node.get("stop_command") for node in built["nodes"])
        answer = self.link.request(
            "build",
            deadline_s=self.build_within_s,
            what="building the network",
            plan=built,
            env={"LINKLAB_DISPLAY": "1" if display else ""},
            files=files,
        )
        self.nodes = answer["nodes"]
        self.failed_commands = [FailedCommand(**failed) for failed in answer.get("failed_commands", ())]
        self.warnings = list(map(str, answer.get("warnings", ())))
        self._ready_clock_s = answer["ready_clock_s"]
        tools: dict[str, Any] = answer["environment"]
        return tools

    # --- typing

    def run(
        self,
        actions: Sequence[Typed],
        *,
        deadline_s: float = 600,
        on_output: Callable[[str, str], None] | None = None,
        at_once: bool = False,
    ) -> list[Completed]:
        """Type all actions and wait for each to finish; see `Network.run`."""
        self._on_output = on_output
        if not self._listens:
            self._listens = True
            self.link.on("output", self._output)
        what = " and ".join(f'"{action.text}" in {action.terminal}' for action in actions)
        answer = self.link.request(
            "run",
            deadline_s=deadline_s,
            what=what,
            actions=[_action(action) for action in actions],
            within_s=0.0 if at_once else self._typed_within_s,
        )
        return [Completed(**done) for done in answer["done"]]

    def _output(self, message: dict[str, Any]) -> None:
        if self._on_output is not None:
            self._on_output(message["terminal"], message["text"])

    def stop(self, terminal: str, *, deadline_s: float = 60, suspend: bool = False) -> Completed:
        """Ctrl+C, or Ctrl+Z, to what runs in the background of a terminal; see `Network.stop`."""
        more = {"suspend": True} if suspend else {}
        return self._one("stop", terminal, deadline_s, f"what was stopped in {terminal}", **more)

    def finished(self, terminal: str, *, deadline_s: float = 600, within_s: float | None = None) -> Completed:
        """Wait for what runs in the background of a terminal; see `Network.finished`."""
        return self._one("finished", terminal, deadline_s, f"what runs in {terminal}", within_s=within_s)

    def _one(self, op: str, terminal: str, deadline_s: float, what: str, **more: float | None) -> Completed:
        answer = self.link.request(op, deadline_s=deadline_s, what=what, terminal=terminal, **more)
        return Completed(**answer["done"][0]) if "done" in answer else Completed(**answer)

    def holds_many_files(self) -> bool:
        """Whether its kernel is to forget names of files, since it may soon have no more open ones."""
        return False

    def now_s(self) -> float:
        """Network time."""
        answer = self.link.request("now", deadline_s=60, what="asking for the time")
        return float(answer["now_s"])

    def computed(self) -> list[Computed]:
        """See `Network.computed`."""
        answer = self.link.request("computed", deadline_s=60, what="asking what was computed")
        return [Computed(found["program"], found["from_s"], found["s"]) for found in answer["computed"]]

    def state_text(self) -> str:
        """See `Network.state_text`."""
        answer = self.link.request("state", deadline_s=60, what="asking what it is set to")
        return str(answer["state"])


def _action(typed: Typed) -> dict[str, Any]:
    killed = {} if typed.kill_s is None else {"kill_s": typed.kill_s}
    return {"terminal": typed.terminal, "text": typed.text, "finish": _finish(typed.finish), **killed}


def _finish(finish: Finish) -> dict[str, Any]:
    match finish:
        case StopAfter(seconds=seconds, pattern=pattern):
            return {"kind": "after", "seconds": seconds, "pattern": pattern}
        case Shows(pattern=pattern):
            return {"kind": "shows", "pattern": pattern}
        case Background():
            return {"kind": "background"}
        case Prompt():
            return {"kind": "prompt"}
