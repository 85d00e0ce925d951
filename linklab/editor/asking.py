# SPDX-License-Identifier: BSD-3-Clause
"""What a person asks a running network by one click: does it answer, to whom, and what do its tables say.

Every answer stands in a window below the command that gave it, so that it can be typed the next time.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from tkinter import ttk

from linklab.editor import orders, pinging
from linklab.editor.command_window import CommandWindow
from linklab.editor.document import Document
from linklab.editor.lookups import Lookup
from linklab.editor.networking import Networking
from linklab.editor.pinging import Interface
from linklab.editor.programs import Program
from linklab.windows.toplevel import Dialog
from linklab.windows.window import Window
from linklab.windows.words import Phrase

PAUSED = Phrase("time is paused, so nothing inside can answer; Ctrl+P lets it go on")
MOST_HOSTS = 40
"""Of a ping of everyone to everyone: the square of it are pings."""
EVERYONE = (
    "Each node runs ping -c 1 -W 1 ADDRESS once for every other one. In the Mininet CLI, pingall does this, "
    "one ping after the other."
)


class Asking:
    """Questions about the network of one document."""

    def __init__(self, window: Window, document: Document, network: Networking) -> None:
        self.window, self.document, self.network = window, document, network

    def can_ask(self) -> bool:
        """Whether something inside can answer now; says why not."""
        if not self.network.is_running:
            self.window.say("no network is running: F5 runs it")
        elif self.network.is_paused:
            self.window.say(PAUSED, bad=True)
        return self.network.is_running and not self.network.is_paused

    def selected(self) -> list[str]:
        """The selected nodes that have addresses, in the order of the file."""
        return [name for name in pinging.pingable(self.document.topology) if name in self.document.selection]

    # --- ping

    def ping_selected(self) -> None:
        """From one selected node to the other; with one, ask for the other, with more, all of them."""
        chosen = self.selected()
        if not self.can_ask():
            return
        if len(chosen) == 1:
            self.choose_target(chosen[0])
        elif len(chosen) == 2:
            self.ping(*chosen)
        elif chosen:
            self.ping_among(chosen)
        else:
            self.window.say("select one or two hosts or routers to ping; a switch has no address")

    def ping_all(self) -> None:
        """Every host to every other one, or the selected nodes if there are several."""
        hosts = [host.name for host in self.document.topology.hosts]
        chosen = self.selected()
        self.ping_among(chosen if len(chosen) > 1 else hosts)

    def choose_target(self, source: str) -> None:
        """Ask whom a node is to ping."""
        others = [name for name in pinging.pingable(self.document.topology) if name != source]
        if self.can_ask():
            TargetDialog(self.window, source, others, partial(self.ping, source))

    def ping(self, source: str, target: str) -> None:
        """Ping from a node to another, or to an address."""
        if self.can_ask():
            PingWindow(self, source, target)

    def ping_among(self, names: list[str]) -> None:
        """Ping from each of these nodes to each other one."""
        if len(names) < 2:
            self.window.say("Ping All needs at least two hosts")
        elif len(names) > MOST_HOSTS:
            self.window.say(
                Phrase(
                    "{count} hosts are too many to ping one another: select up to {most} of them",
                    count=len(names),
                    most=MOST_HOSTS,
                )
            )
        elif self.can_ask():
            EveryoneWindow(self, names)

    # --- tables

    def look(self, lookup: Lookup) -> None:
        """Show a table of a node."""
        if self.can_ask():
            LookupWindow(self, lookup)


class LookupWindow(CommandWindow):
    """A table, which can be refreshed."""

    def __init__(self, asking: Asking, lookup: Lookup) -> None:
        super().__init__(asking.window.root, asking.window.look, lookup.title, lookup.note)
        self.asking, self.lookup = asking, lookup
        self.again("Refresh", self.refresh)
        self.say(lookup.title)
        self.open(self.area)
        self.refresh()

    def refresh(self) -> None:
        """Type the commands again."""
        if self.asking.can_ask():
            lookup = self.lookup
            self.asking.network.runner.order(
                lambda session: orders.look(session, lookup.terminal, lookup.lines), self.show, self.say
            )


class PingWindow(CommandWindow):
    """One ping, as it goes on."""

    def __init__(self, asking: Asking, source: str, target: str) -> None:
        super().__init__(
            asking.window.root, asking.window.look, Phrase("Ping {source} → {target}", source=source, target=target)
        )
        self.asking, self.source, self.target = asking, source, target
        self._program: Program | None = None
        self._round = 0
        self.on_close = self._stop
        self.again("Again", self.start)
        if not pinging.is_address(target):
            self.button("Other Way", self._turn, side="left")
        self.open(self.area)
        self.start()

    def start(self) -> None:
        """Ping anew."""
        self._stop()
        if not self.asking.can_ask():
            return
        self.say(Phrase("{source} pings {target} …", source=self.source, target=self.target))
        if pinging.is_address(self.target):
            self._ping(self.target)
            return
        nodes, then = (self.source, self.target), partial(self._choose, self._round)
        self.asking.network.runner.order(lambda session: orders.addresses(session, nodes), then, self.say)

    def _choose(self, asked_in: int, found: dict[str, list[Interface]]) -> None:
        if asked_in != self._round:  # somebody pressed Again, or closed the window, meanwhile
            return
        address = pinging.target_address(found[self.source], found[self.target])
        if address:
            self._ping(address)
        else:
            self.say(Phrase("{target} has no address, so nothing can be sent to it.", target=self.target))

    def _ping(self, address: str) -> None:
        line = pinging.ping_line(address)
        lines = [f"{self.source}# {line}"]
        self.show(lines[0])

        def take(text: str) -> None:
            lines.append(text)
            self.show("\n".join(lines))

        def ended() -> None:
            self.say(pinging.verdict(self.source, self.target, self.text))
            self.asking.window.say(pinging.verdict(self.source, self.target, self.text))

        runner = self.asking.network.runner
        self._program = Program(runner, self.source, line.split(), take=take, ended=ended, failed=self.say)

    def _turn(self) -> None:
        self.source, self.target = self.target, self.source
        self.call_it(Phrase("Ping {source} → {target}", source=self.source, target=self.target))
        self.start()

    def _stop(self) -> None:
        self._round += 1
        if self._program is not None:
            self._program.stop()


class EveryoneWindow(CommandWindow):
    """Everyone pings everyone; a table that fills."""

    def __init__(self, asking: Asking, names: list[str]) -> None:
        super().__init__(asking.window.root, asking.window.look, "Ping All", EVERYONE)
        self.asking, self.names = asking, names
        self.answers: dict[tuple[str, str], bool | None] = {}
        self._programs: list[Program] = []
        self._round = 0
        self.on_close = self._stop
        self.again("Again", self.start)
        self.open(self.area)
        self.start()

    def start(self) -> None:
        """Ping anew."""
        self._stop()
        if not self.asking.can_ask():
            return
        self.answers, self._programs = {}, []
        self._tell()
        then = partial(self._begin, self._round)
        self.asking.network.runner.order(lambda session: orders.addresses(session, self.names), then, self.say)

    def _begin(self, asked_in: int, found: dict[str, list[Interface]]) -> None:
        if asked_in != self._round:  # somebody pressed Again, or closed the window, meanwhile
            return
        for source in self.names:
            targets = {}
            for target in self.names:
                address = pinging.target_address(found[source], found[target]) if target != source else ""
                if address:
                    targets[target] = address
                elif target != source:
                    self.answers[source, target] = None
            if targets:
                self._programs.append(self._program(source, pinging.everyone_script(targets)))
        self._tell()

    def _program(self, source: str, script: str) -> Program:
        def take(line: str) -> None:
            target, _, said = line.partition(" ")
            if said in ("yes", "no"):
                self.answers[source, target] = said == "yes"
                self._tell()

        runner, command = self.asking.network.runner, ["sh", "-c", script]
        return Program(runner, source, command, take=take, ended=lambda: None, failed=self.say)

    def _tell(self) -> None:
        self.show(pinging.matrix(self.names, self.answers))
        words = pinging.everyone_verdict(self.names, self.answers)
        self.say(words)
        if len(self.answers) == len(self.names) * (len(self.names) - 1):
            self.asking.window.say(words)

    def _stop(self) -> None:
        self._round += 1
        for program in self._programs:
            program.stop()


class TargetDialog(Dialog):
    """Whom to ping."""

    def __init__(self, window: Window, source: str, others: list[str], take: Callable[[str], None]) -> None:
        super().__init__(window.root, window.look, Phrase("Ping from {source}", source=source), modal=True)
        self._others, self._take = others, take
        look = window.look
        asked = look.say(Phrase("{source} pings this node or address:", source=source))
        ttk.Label(self.body, text=asked).pack(anchor="w", pady=(0, look.px(6)))
        self.target = tk.StringVar(self, others[0] if others else "")
        choice = ttk.Combobox(self.body, textvariable=self.target, values=others, width=28)
        choice.pack(fill="x")
        self.message = ttk.Label(self.body, text="", style="Bad.TLabel")
        self.message.pack(anchor="w", pady=(look.px(6), 0))
        self.button("Ping", self._ok, style="Accent.TButton")
        self.button("Cancel", self.destroy)
        self.bind("<Return>", lambda _: self._ok())
        choice.select_range(0, "end")
        self.open(choice)

    def _ok(self) -> None:
        target = self.target.get().strip()
        if target not in self._others and not pinging.is_address(target):
            wrong = Phrase('"{target}" is neither a host or router here nor an address', target=target)
            self.message.configure(text=self.look.say(wrong))
            return
        self.destroy()
        self._take(target)
