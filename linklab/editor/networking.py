# SPDX-License-Identifier: BSD-3-Clause
"""The running network as the person sees it: Run and Stop, progress, states, terminals, clock, links, traces.

Part of the window; everything that waits is done by `running.Runner` in other threads. A network that dies is told of,
and the drawing stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linklab.base import installation
from linklab.editor import files, questions, running
from linklab.editor.document import everyone
from linklab.editor.meter import Meter, polyline, short_bytes, short_rate
from linklab.editor.running import Choice, Listener, Runner, Session
from linklab.terminal.windows import display_usable
from linklab.topology import Topology

if TYPE_CHECKING:
    from linklab.editor.app import Editor

TAKE_MS = 40
TRACE_WIDE, TRACE_HIGH = 104, 22


class Networking:
    """Run commands of one window."""

    def __init__(self, editor: Editor) -> None:
        self.editor = editor
        self.runner = Runner(Listener(self._stage, self._ready, self._ended, self._clock, self._sample))
        self.node_states: dict[str, str] = {}
        self.down: frozenset[int] = frozenset()
        self.meter = Meter()
        self.running_topology: Topology | None = None
        self.environment = ""
        self._ends: list[tuple[str, str]] = []
        self._clock_state: dict[str, Any] = {}

    @property
    def is_on(self) -> bool:
        """Whether a network runs, starts or ends."""
        return self.runner.state != "stopped"

    # --- run and stop

    def run(self) -> None:
        """Start the network, unless something forbids it; what cannot be heeded is named first."""
        if self.is_on:
            return
        topology = self.editor.document.topology
        choice = Choice.of(topology)
        errors = [str(problem) for problem in topology.problems() if problem.severity == "error"]
        errors = errors or running.refused(topology)
        if not topology.nodes:
            self.editor.say("there is nothing to run yet: add a host and a switch, and link them")
        elif errors:
            more = f"\n\n… and {len(errors) - 8} more" if len(errors) > 8 else ""
            self.editor.tell("This network cannot run", "\n\n".join(errors[:8]) + more)
        elif named := running.unheeded(topology, choice):
            text = "Kept in the file, but not part of this run:\n\n" + "\n\n".join(named)
            answers = [("Run", lambda: self._start(topology, choice)), ("Cancel", lambda: None)]
            questions.ask(self.editor.root, self.editor.look, "Some things cannot be heeded", text, answers)
        else:
            self._start(topology, choice)

    def _start(self, topology: Topology, choice: Choice) -> None:
        path = self.editor.document.path
        workdir = installation.work_folder(path)
        self.node_states = dict.fromkeys((node.name for node in everyone(topology)), "building")
        self.down, self.meter, self.environment = frozenset(), Meter(), ""
        self.running_topology = running.runnable(topology, choice)
        self._ends = topology.link_ends()
        self.editor.tool = "select"
        self.editor.status.busy(True)
        self.runner.start(self.running_topology, choice, workdir, display=display_usable())
        self.editor.refresh()
        self._take()

    def stop(self) -> None:
        """End it, or give up starting it."""
        if self.runner.state in ("starting", "running"):
            self.editor.say("stopping …")
            self.editor.status.busy(True)
            self.runner.stop()
            self.editor.refresh()

    def _take(self) -> None:
        self.runner.take()
        if self.is_on:
            self.editor.root.after(TAKE_MS, self._take)

    def _stage(self, what: str) -> None:
        if self.runner.state != "stopping":
            self.editor.say(f"{what} …")

    def _ready(self, session: Session) -> None:
        self.node_states = dict.fromkeys(self.node_states, "running")
        self.editor.status.busy(False)
        if session.clock is not None:
            self._show_clock_bar()
        doubts = [str(problem) for problem in self.editor.document.topology.problems()]
        self.editor.say(f"running; note: {doubts[0]}" if doubts else "running; right-click a node for a terminal")
        self.editor.refresh()
        if self.editor.document.topology.preferences.start_cli:
            self.terminal("mininet")
        if files.sets_environment(self.editor.document.path):
            self._set_environment()

    def _set_environment(self) -> None:
        """What an exercise finds in its network: its set_env.sh, in the root terminal."""
        self.editor.say("setting the exercise's environment …")

        def done(shown: str) -> None:
            self.environment = shown
            settings = "; ".join(line.strip() for line in shown.split("\n")[1:-1])
            self.editor.say(f"the environment is set: {settings}" if settings else "the environment is set")

        def failed(why: str) -> None:
            self.editor.say("the exercise's environment is not set", bad=True)
            self.editor.tell("The environment could not be set", why)

        self.runner.order(running.set_environment, done, failed)

    def show_environment(self) -> None:
        """What set_env.sh printed."""
        if self.environment:
            note = "Set when the network was ready. To set it again, type sudo ./set_env.sh in the root terminal."
            self.editor.show_text("The exercise's environment", self.environment, note=note)
        else:
            self.editor.say("no environment was set: this is not the folder of an exercise that has one")

    def _show_clock_bar(self) -> None:
        self.editor.clock_bar.pack(side="top", fill="x", before=self.editor.drawing)

    def _ended(self, why: str | None) -> None:
        self.node_states = dict.fromkeys(self.node_states, "failed") if why else {}
        self.down, self.running_topology = frozenset(), None
        self.editor.status.busy(False)
        self.editor.clock_bar.pack_forget()
        self.editor.drawing.delete("trace")
        self.meter = Meter()
        self.editor.say("the network has ended" if why else "stopped", bad=bool(why))
        self.editor.refresh()
        if why:
            self.editor.tell("The network has ended", f"{why}\n\nThe drawing is unchanged.")
            self.node_states = {}

    def rebuilt(self) -> None:
        """The window was made anew."""
        if self.runner.state == "running" and self._clock_state:
            self._show_clock_bar()
            self.editor.clock_bar.show(self._clock_state)
        self.editor.status.busy(self.runner.state in ("starting", "stopping"))

    # --- terminals and what is shown in them

    def terminal(self, node: str) -> None:
        """Open a terminal window on a node, the root namespace or the Mininet CLI."""
        self.editor.say(f"opening a terminal on {node} …")

        def opened(complaint: str) -> None:
            self.editor.say(complaint or f"terminal of {node} opened", bad=bool(complaint))

        self._order(lambda session: running.open_terminal(session, node), opened)

    def ovs_summary(self) -> None:
        """What Open vSwitch says of its bridges, as in MiniEdit; for Linux bridges what `brctl` says."""
        lines = [
            ("client", "ovs-vsctl show 2>/dev/null || echo 'Open vSwitch does not run: no switch here needs it'"),
            ("client", "brctl show"),
        ]
        self._order(
            lambda session: running.type_lines(session, lines), lambda text: self.editor.show_text("OVS Summary", text)
        )

    def bridge_details(self, node: str) -> None:
        """List bridge details of a switch."""
        lines = [("client", f"ovs-vsctl list bridge {node} 2>/dev/null || (brctl show {node}; brctl showmacs {node})")]
        title = f"Bridge details of {node}"
        self._order(lambda session: running.type_lines(session, lines), lambda text: self.editor.show_text(title, text))

    def plot_queue(self, node: str, interface: str) -> None:
        """The live plot of plot_q.sh."""
        self.editor.say(f"opening the plot of {interface} …")
        where = self._terminal_of(node)
        self._order(
            lambda s: running.plot_queue(s, where, interface),
            lambda _: self.editor.say(f"plotting {interface}; s stops"),
        )

    def _terminal_of(self, node: str) -> str:
        """Where a node's interfaces are: a switch's in the root namespace."""
        topology = self.editor.document.topology
        own = {n.name for n in topology.hosts} | {s.name for s in topology.switches if s.type == "legacyRouter"}
        return node if node in own else "client"

    # --- links

    def set_link(self, place: int, up: bool) -> None:
        """Take a link down or up at both ends."""
        link, ends = self.editor.document.topology.links[place], self._ends[place]
        word = "up" if up else "down"
        lines = [
            (self._terminal_of(n), f"ip link set {i} {word}") for n, i in zip((link.src, link.dest), ends, strict=True)
        ]

        def done(_: str) -> None:
            self.down = self.down - {place} if up else self.down | {place}
            self.editor.say(f"link {link.name} is {word}")
            self.editor.refresh()

        self._order(lambda session: running.type_lines(session, lines), done)

    def apply_lines(self, place: int, lines: list[tuple[int, str]]) -> None:
        """Type tc lines at the ends (0 src, 1 dest) of a running link, and read back what the kernel then has."""
        link, ends = self.editor.document.topology.links[place], self._ends[place]
        nodes = (link.src, link.dest)
        typed = [(self._terminal_of(nodes[end]), line) for end, line in lines]
        sides = sorted({end for end, _ in lines})
        asked = [(self._terminal_of(nodes[end]), f"tc qdisc show dev {ends[end]}") for end in sides]

        def work(session: Session) -> str:
            running.type_lines(session, typed)
            return running.type_lines(session, asked)

        def done(text: str) -> None:
            self.editor.say(
                f"{link.name} changed; the kernel has: " + "; ".join(text.replace("qdisc ", "").split("\n"))
            )

        self._order(work, done)

    def _order(self, work: Any, then: Any) -> None:
        self.runner.order(work, then, lambda why: self.editor.say(why, bad=True))

    # --- the clock

    def clock(self, words: list[str]) -> None:
        """Order the clock about; while it is paused nothing inside can answer, so nothing inside is asked."""
        self._order(lambda session: running.obey(session, words), self.editor.say)

    def _clock(self, state: dict[str, Any]) -> None:
        self._clock_state = state
        self.editor.clock_bar.show(state)

    # --- traces

    def _sample(self, sample: Mapping[str, Any]) -> None:
        self.meter.add(sample, self._ends)
        self.draw_traces()

    def draw_traces(self) -> None:
        """A small picture of rate (line) and queue (filled) beside each link that carries something."""
        drawing, look = self.editor.drawing, self.editor.look
        drawing.delete("trace")
        if not self.editor.settings.traces or self.runner.state != "running":
            return
        p, wide, high = look.palette, look.px(TRACE_WIDE), look.px(TRACE_HIGH)
        for place, readings in self.meter.busy().items():
            spot = drawing.trace_spot(place, wide, high)
            if spot is None:
                continue
            x, y = spot
            last = readings[-1]
            box = (x - 3, y - high - 3, x + wide + 3, y + look.px(14))
            drawing.create_rectangle(*box, fill=p.panel, outline=p.border, tags="trace")
            if len(readings) > 1:
                queue = polyline([r.queue_bytes for r in readings], x, y, wide, high)
                if any(r.queue_bytes for r in readings):
                    drawing.create_polygon(
                        queue[0], y, *queue, queue[-2], y, fill=p.warn, outline="", stipple="gray50", tags="trace"
                    )
                line = polyline([r.rate_bps for r in readings], x, y, wide, high)
                drawing.create_line(*line, fill=p.accent, width=look.px(1.5), tags="trace")
            below, font = y + look.px(7), look.font(8)
            rate, queued = short_rate(last.rate_bps), short_bytes(last.queue_bytes)
            drawing.create_text(x, below, text=rate, anchor="w", font=font, fill=p.accent, tags="trace")
            drawing.create_text(x + wide, below, text=queued, anchor="e", font=font, fill=p.warn, tags="trace")
