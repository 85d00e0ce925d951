# SPDX-License-Identifier: BSD-3-Clause
"""An engine on which the commands of the labs leave the files that they leave in a pocket, empty ones, at once."""

import re
from pathlib import Path

from scripted import ScriptedEngine, ScriptedNetwork

from linklab.engine import api

FIGURES = ("MTU.pdf", "RTT.pdf", "RTT_Var.pdf", "bytes.pdf", "cwnd.pdf", "retransmits.pdf", "throughput.pdf")


class WritingNetwork(ScriptedNetwork):
    """Follows `cd` in each terminal; what a queue plot samples grows whenever something else is done."""

    def __init__(self, answers, workdir, nodes=()):
        super().__init__(answers, workdir, nodes)
        self.folders, self.count = {}, 0

    def run(self, actions, *, deadline_s=600, on_output=None, at_once=False):
        """Answer each action, and sample each queue that is watched."""
        done = super().run(actions, deadline_s=deadline_s, on_output=on_output)
        for action in self.running.values():
            if action not in actions:
                self.sample(action)
        return done

    def complete(self, action, start_s):
        """What an action leaves when it ends."""
        if "plot_q.sh" in action.text:
            self.sample(action)
            self.write(self.folder(action).joinpath(f"queue-{action.text.split()[-1]}.pdf"))
        elif action.text.startswith("source "):
            self.concurrent(action.text.split()[1])
        else:
            for command in action.text.split("&&"):
                self.do(action, command.strip())
        return api.Completed(action.terminal, action.text, "", None, start_s, self.time_s)

    def do(self, action, command):
        """One command of a line."""
        here = self.folder(action)
        if found := re.fullmatch(r"cd (\S+)", command):
            self.folders[action.terminal] = (here / found[1]).resolve()
        elif found := re.fullmatch(r"mkdir (\S+)", command):
            (here / found[1]).mkdir()
        elif command.startswith("plot_iperf.sh "):
            self.results(here / "results", 1)
        elif command.startswith("linklab plot spacing "):
            self.write(here / "spacing.pdf")
        elif found := re.search(r"(?:> |tcpdump .*-w )(\w+\.\w+)", command):
            self.write(here / found[1])

    def sample(self, action):
        """The samples of a queue grow."""
        if "plot_q.sh" in action.text:
            self.write(self.folder(action) / f"queue-{action.text.split()[-1]}.jsonl")

    def concurrent(self, script):
        """What `source SCRIPT` at the Mininet CLI leaves (`linklab.agent.concurrent`)."""
        text = (Path(__file__).parents[2] / "scripts" / script).read_text()
        flows = re.findall(r"(\w+):\w+(?::(\w+))?", text.splitlines()[-1])
        for client, algorithm in flows:
            self.write(self.workdir / script / f"{'-'.join(filter(None, (client, algorithm)))}.json")
        self.results(self.workdir / script / "results", len(flows))

    def results(self, folder, tests):
        """What `linklab plot iperf` writes."""
        for name in (*FIGURES, *(f"{number}.dat" for number in range(1, tests + 1))):
            self.write(folder / name)

    def folder(self, action):
        """Where a terminal is."""
        return self.folders.get(action.terminal, self.workdir.resolve())

    def write(self, path):
        """A file that is different each time."""
        self.count += 1
        path.parent.mkdir(exist_ok=True)
        path.write_text(" " * self.count)


class WritingEngine(ScriptedEngine):
    """Starts such networks."""

    network = WritingNetwork
