# SPDX-License-Identifier: BSD-3-Clause
"""The running network as the person sees it: Run and Stop, progress, states, terminals, clock, links, traces.

Everything that waits is done by `running.Runner` in other threads. A network that dies is told of, and the drawing
stays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

from linklab.base import installation, lab_script
from linklab.editor import edits, files, orders, runnable
from linklab.editor.capturing import Capturing
from linklab.editor.document import Document, Key, everyone
from linklab.editor.meter import Meter
from linklab.editor.network_state import ATTENTION, UNKNOWN, LinkState, NetworkState, Watch, tree_words
from linklab.editor.runnable import Choice
from linklab.editor.running import Listener, Runner, Session
from linklab.terminal.windows import display_usable
from linklab.topology import Controller, Topology, addressing, switching
from linklab.windows.window import Window
from linklab.windows.words import Phrase

TAKE_MS = 40
T = TypeVar("T")


class View(Protocol):
    """Where a running network is seen."""

    def refresh(self) -> None:
        """Show anew what the drawing's nodes and links are doing, and what can be done."""
        ...

    def lock(self) -> None:
        """Put away the tools, which have no use while the network runs."""
        ...

    def show_clock(self, state: dict[str, Any] | None) -> None:
        """Show the clock of a network that has one to set; None takes it away."""
        ...

    def show_traces(self) -> None:
        """Show what passes the links."""
        ...


class Networking:
    """Run commands of one document."""

    def __init__(self, window: Window, document: Document, view: View) -> None:
        self.window, self.document, self.view = window, document, view
        self.runner = Runner(Listener(self._stage, self._ready, self._ended, self._clock, self._sample))
        self.node_states: dict[str, str] = {}
        self.down: frozenset[int] = frozenset()
        self.waiting: Mapping[str, str] = {}
        self.meter = Meter()
        self.running_topology: Topology | None = None
        self.environment = ""
        self.watch = Watch()
        self.capturing = Capturing(window, self.runner)
        self._ends: list[tuple[str, str]] = []
        self._kept_routes: dict[str, list[str]] = {}
        self._told: frozenset[Key] = frozenset()
        self._clock_state: dict[str, Any] | None = None
        self._was_ready = False

    @property
    def is_on(self) -> bool:
        """Whether a network runs, starts or ends."""
        return self.runner.state != "stopped"

    @property
    def is_running(self) -> bool:
        """Whether a network is ready and has not ended."""
        return self.runner.state == "running"

    @property
    def is_paused(self) -> bool:
        """Whether time stands still, so that nothing inside can answer."""
        return self.is_running and self._clock_state is not None and bool(self._clock_state["paused"])

    # --- run and stop

    def run(self) -> None:
        """Start the network, unless something forbids it; what cannot be heeded is named first."""
        if self.is_on:
            return
        topology = self.document.topology
        choice = Choice.of(topology)
        errors = [str(problem) for problem in topology.problems() if problem.severity == "error"]
        errors = errors or runnable.refused(topology)
        if not topology.nodes:
            self.window.say("there is nothing to run yet: add a host and a switch, and link them")
        elif errors:
            shown, more = "\n\n".join(errors[:8]), len(errors) - 8
            text = Phrase("{errors}\n\n… and {count} more", errors=shown, count=more) if more > 0 else shown
            self.window.tell("This network cannot run", text)
        elif named := runnable.unheeded(topology, choice):
            text = Phrase("Kept in the file, but not part of this run:\n\n{things}", things="\n\n".join(named))
            answers = [("Run", lambda: self._look_for_loops(topology, choice)), ("Cancel", lambda: None)]
            self.window.ask("Some things cannot be heeded", text, answers)
        else:
            self._look_for_loops(topology, choice)

    def _look_for_loops(self, topology: Topology, choice: Choice) -> None:
        """Start, unless switches form a loop that nothing breaks: a broadcast would circle in it for ever."""
        words = switching.loop_words(topology)
        if not words or switching.has_spanning_tree(topology):
            self._start(topology, choice)
            return

        def with_tree() -> None:
            self.document.apply("Set spanning tree", switching.with_spanning_tree(self.document.topology))
            self._start(self.document.topology, choice)

        text = Phrase(
            "{loops}.\n\nA broadcast circles in a loop for ever and takes all of the processor; even building the "
            "network would not end. The Spanning Tree Protocol (STP) blocks as many ports as are too many; it takes "
            "eight seconds of network time to do so.",
            loops=words,
        )
        answers = [
            ("Run with STP", with_tree),
            ("Run without", lambda: self._start(topology, choice)),
            ("Cancel", lambda: None),
        ]
        self.window.ask("The switches form a loop", text, answers)

    def _start(self, topology: Topology, choice: Choice) -> None:
        path = self.document.path
        workdir = installation.work_folder(path)
        lab_script.leave(path, workdir)
        self.node_states = dict.fromkeys((node.name for node in everyone(topology)), "building")
        self.down, self.waiting, self.meter, self.environment = frozenset(), {}, Meter(), ""
        self.running_topology = runnable.runnable(topology, choice)
        self._ends = topology.link_ends()
        self._kept_routes = {}
        self._was_ready = False
        self.watch = Watch(topology, self._ends)
        self.view.lock()
        self.window.status.busy(True)
        self.runner.start(self.running_topology, choice, workdir, display=display_usable())
        self.view.refresh()
        self._take()

    def stop(self) -> None:
        """End it, or give up starting it."""
        if self.runner.state in ("starting", "running"):
            self.window.say("stopping …")
            self.window.status.busy(True)
            self.runner.stop()
            self.view.refresh()

    def _take(self) -> None:
        try:
            self.runner.take()
        finally:  # a fault in what was posted is shown by the window, and must not be the last that is heard
            if self.is_on:
                self.window.after(TAKE_MS, self._take)

    def _stage(self, what: str) -> None:
        if self.runner.state != "stopping":
            self.window.say(Phrase("{what} …", what=Phrase(what)))

    def _ready(self, session: Session) -> None:
        self._was_ready = True
        self.node_states = self.watch.state.node_words
        self.window.status.busy(False)
        topology = self.document.topology
        doubts = [*map(str, topology.problems()), *runnable.notes(topology)]
        if failed := session.network.failed_commands:
            text = "\n\n".join(str(each) for each in failed)
            self.window.tell(
                "A start command failed" if len(failed) == 1 else "Start commands failed",
                Phrase("{complaints}\n\nThe network runs all the same.", complaints=text),
            )
        if warnings := session.network.warnings:
            self.window.tell("The network is not as it should be", "\n\n".join(warnings))
        self.window.say(
            Phrase("running; note: {doubt}", doubt=doubts[0])
            if doubts
            else "running; right-click a node for a terminal"
        )
        self.view.refresh()
        if self.document.topology.preferences.start_cli:
            self.terminal("mininet")
        if files.sets_environment(self.document.path):
            self._set_environment()

    def _set_environment(self) -> None:
        """What an exercise finds in its network: its set_env.sh, in the root terminal."""
        self.window.say("setting the exercise's environment …")

        def done(shown: str) -> None:
            self.environment = shown
            settings = "; ".join(line.strip() for line in shown.split("\n")[1:-1])
            self.window.say(
                Phrase("the environment is set: {settings}", settings=settings)
                if settings
                else "the environment is set"
            )

        def failed(why: str) -> None:
            self.window.say("the exercise's environment is not set", bad=True)
            self.window.tell("The environment could not be set", why)

        self.runner.order(orders.set_environment, done, failed)

    def show_environment(self) -> None:
        """What set_env.sh printed."""
        if self.environment:
            note = "Set when the network was ready. To set it again, type sudo ./set_env.sh in the root terminal."
            self.window.show_text("The exercise's environment", self.environment, note=note)
        else:
            self.window.say("no environment was set: this is not the folder of an exercise that has one")

    def _ended(self, why: str | None) -> None:
        self.node_states = dict.fromkeys(self.node_states, "failed") if why else {}
        self.down, self.waiting, self.running_topology = frozenset(), {}, None
        self.window.status.busy(False)
        self._clock_state = None
        self.view.show_clock(None)
        self.meter = Meter()
        what = "the network has ended" if self._was_ready else "the network did not start"
        title = "The network has ended" if self._was_ready else "The network did not start"
        self.window.say(what if why else "stopped", bad=bool(why))
        self.view.refresh()
        if why:
            words = switching.loop_words(self.document.topology)
            if words and not switching.has_spanning_tree(self.document.topology):
                why += f"\n\n{words}; Run offers a spanning tree, which breaks it."
            self.window.tell(title, Phrase("{why}\n\nThe drawing is unchanged.", why=why))
            self.node_states = {}

    def rebuilt(self) -> None:
        """The window was made anew."""
        if self.is_running and self._clock_state is not None:
            self.view.show_clock(self._clock_state)
        self.window.status.busy(self.runner.state in ("starting", "stopping"))

    # --- terminals and what is shown in them

    def terminal(self, node: str) -> None:
        """Open a terminal window on a node, the root namespace or the Mininet CLI."""
        self.window.say(Phrase("opening a terminal on {node} …", node=node))

        def opened(complaint: str) -> None:
            self.window.say(complaint or Phrase("terminal of {node} opened", node=node), bad=bool(complaint))

        self._order(lambda session: orders.open_terminal(session, node), opened)

    def ovs_summary(self) -> None:
        """What Open vSwitch says of its bridges, as in MiniEdit; for Linux bridges what `brctl` says."""
        lines = [
            ("client", "ovs-vsctl show 2>/dev/null || echo 'Open vSwitch does not run: no switch here needs it'"),
            ("client", "brctl show"),
        ]
        self._order(
            lambda session: orders.type_lines(session, lines), lambda text: self.window.show_text("OVS Summary", text)
        )

    def bridge_details(self, node: str) -> None:
        """List bridge details of a switch."""
        lines = [("client", f"ovs-vsctl list bridge {node} 2>/dev/null || (brctl show {node}; brctl showmacs {node})")]
        title = Phrase("Bridge details of {node}", node=node)
        self._order(lambda session: orders.type_lines(session, lines), lambda text: self.window.show_text(title, text))

    def plot_queue(self, node: str, interface: str) -> None:
        """The live plot of plot_q.sh."""
        self.window.say(Phrase("opening the plot of {interface} …", interface=interface))
        where = self._terminal_of(node)
        self._order(
            lambda s: orders.plot_queue(s, where, interface),
            lambda _: self.window.say(Phrase("plotting {interface}; s stops", interface=interface)),
        )

    def _terminal_of(self, node: str) -> str:
        """Where a node's interfaces are: a switch's in the root namespace."""
        topology = self.document.topology
        own = {n.name for n in topology.hosts} | {s.name for s in topology.switches if s.type == "legacyRouter"}
        return node if node in own else "client"

    # --- links

    def waiting_links(self) -> Mapping[int, LinkState]:
        """The links with an end that the spanning tree keeps from forwarding, by their places."""
        return {place: link for place, link in self.watch.state.links.items() if self.is_running and any(link.waiting)}

    def set_link(self, place: int, up: bool) -> None:
        """Take a link down or up at both ends; the routes that go with an interface come back with it."""
        link, names = self.document.topology.links[place], self._ends[place]
        said = "link {link} is up" if up else "link {link} is down"
        ends = [
            orders.LinkEnd(self._terminal_of(node), name, addressing.routes_by(self.document.topology, node, name))
            for node, name in zip((link.src, link.dest), names, strict=True)
        ]

        def done(_: None) -> None:
            self.down = self.down - {place} if up else self.down | {place}
            self.window.say(Phrase(said, link=link.name))
            self.view.refresh()

        self._order(lambda session: orders.set_link(session, ends, self._kept_routes, up=up), done)

    def toggle_links(self) -> None:
        """Take the selected links down, or up where they are down."""
        chosen = self.document.selected_links
        if not chosen:
            self.window.say("select a link to take it down or up")
        for place in chosen:
            self.set_link(place, place in self.down)

    def show_state(self) -> None:
        """What every node and link does, in words."""
        note = "What needs attention comes first. Ctrl+U takes the selected link down or up."
        self.window.show_text("State of the Network", self.watch.state.text, note=note)

    def tell_selected(self) -> None:
        """Say what the one thing does that has just been selected."""
        chosen = self.document.selection
        if not self.is_running or chosen == self._told:
            return
        self._told = chosen
        if len(chosen) == 1:
            (key,) = chosen
            state = self.watch.state
            found = state.links.get(key) if isinstance(key, int) else state.nodes.get(key)
            if found is not None:
                self.window.say(found.words)

    def apply_lines(self, wanted: Mapping[int, list[tuple[int, str]]], then: Callable[[str], None]) -> None:
        """Type tc lines at the ends (0 src, 1 dest) of running links, by their places; `then` gets what the kernel has.

        All in one order, since the terminals that they are typed in take one line at a time.
        """
        typed, asked, names, ports = [], [], [], []
        for place, lines in wanted.items():
            link, ends = self.document.topology.links[place], self._ends[place]
            nodes = (link.src, link.dest)
            names.append(link.name)
            typed += [(self._terminal_of(nodes[end]), line) for end, line in lines]
            sides = sorted({end for end, _ in lines})
            asked += [(self._terminal_of(nodes[end]), f"tc qdisc show dev {ends[end]}") for end in sides]
            ports += [f"{nodes[end]}:{ends[end]}" for end in sides]

        def work(session: Session) -> str:
            orders.type_lines(session, typed)
            links = orders.links_at(session, ports) if any(line.startswith(orders.LINK) for _, line in typed) else ""
            return links + orders.type_lines(session, asked)

        def done(text: str) -> None:
            has = text.replace("qdisc ", "")
            line = "; ".join(has.split("\n"))
            self.window.say(Phrase("{links} changed; the kernel has: {state}", links=", ".join(names), state=line))
            then(Phrase("Changed in the running network. The kernel has now:\n{state}", state=has))

        self._order(work, done)

    def _order(self, work: Callable[[Session], T], then: Callable[[T], None]) -> None:
        self.runner.order(work, then, lambda why: self.window.say(why, bad=True))

    # --- the clock

    def clock(self, words: list[str]) -> None:
        """Order the clock about; while it is paused nothing inside can answer, so nothing inside is asked."""
        self._order(lambda session: orders.obey(session, words), self.window.say)

    def _clock(self, state: dict[str, Any]) -> None:
        self._clock_state = state
        self.view.show_clock(state)

    # --- traces

    def _sample(self, sample: Mapping[str, Any]) -> None:
        self.meter.add(sample, self._ends)
        state = self.watch.add(sample)
        seen = (state.node_words, state.down, state.waiting)
        if self.is_running and seen != (self.node_states, self.down, self.waiting):
            self._tell_changes(state)
            self.node_states, self.down, self.waiting = seen
            self.view.refresh()
        else:
            self.view.show_traces()

    def _named(self, name: str) -> object:
        return edits.named(self.document.topology).get(name)

    def _tell_changes(self, state: NetworkState) -> None:
        """Say which link went down or came up first, or else which node changed first."""
        links = sorted(state.down ^ self.down)
        if links:
            self.window.say(state.links[links[0]].words)
            return
        if tree := tree_words(self.waiting, state.waiting):
            self.window.say(tree)
            return
        for name, node in state.nodes.items():
            if "controller" not in node.what and not isinstance(self._named(name), Controller):
                continue  # its link says it
            if node.state != self.node_states.get(name) and self.node_states.get(name) != UNKNOWN:
                self.window.say(node.words, bad=node.state == ATTENTION)
                return
