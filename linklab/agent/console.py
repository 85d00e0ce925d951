# SPDX-License-Identifier: BSD-3-Clause
"""The Mininet CLI of a running network, as a process of its own on a pty.

The process is a fork of the agent, so it holds the network's objects; the agent itself no longer speaks to the nodes'
shells once the network is built. `clock`, `concurrent`, `linklab`, `test`, `xterm` by way of the host, and
`source NAME` from any folder are added.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import mininet.net
from mininet.cli import CLI
from mininet.log import lg

from linklab.agent import concurrent, guided, iperf, own_kernel, recording
from linklab.agent.ask import ask
from linklab.agent.terminal import Terminal, enter, fork_on_pty, no_echo, resize
from linklab.linux import children

MARKER = "\x1b]777;prompt;\x07"


class Console(CLI):  # type: ignore[misc] # mininet has no types
    """Mininet's CLI with the clock and windows of the host."""

    kept_routes: ClassVar[dict[str, list[str]]] = {}
    """Of the interfaces that `link` took down here; each CLI is a process of its own."""

    def do_clock(self, line: str) -> None:
        """Show or set the network's clock: clock | clock pause | resume | speed 8 | step 10ms | until 90s."""
        print(ask(["clock", *line.split()])[0])

    def do_xterm(self, line: str, term: str = "xterm") -> None:
        """Open a terminal window on nodes: xterm h1 h2."""
        for name in line.split() or [""]:
            if name not in self.mn:
                print(f"node {name!r} is not in the network" if name else f"usage: {term} node1 node2 ...")
                return
            print(ask(["terminal", name])[0])

    do_gterm = do_xterm

    def do_source(self, line: str) -> None:
        """Run the commands of a file: source FILE; a bare name is also looked for among Linklab's scripts."""
        name = line.strip()
        if name and not Path(name).is_file() and "/" not in name:  # results may be in a folder of that name
            for folder in os.environ["PATH"].split(":"):
                if (Path(folder) / name).is_file():
                    name = str(Path(folder) / name)
                    break
        if name and not os.access(name, os.R_OK):  # Mininet's own source ends the whole CLI on such a file
            print(f"source: {name} cannot be read; it is no file here, nor a script of Linklab")
            return
        super().do_source(name)

    def onecmd(self, line: str) -> Any:
        """As Mininet's, with comments also in the files of `source`; kept where the folder is an exercise's."""
        line = self.precmd(line)
        if line.strip() not in ("", "EOF") and "LINKLAB_LOG" in os.environ:  # EOF: Ctrl+D
            recording.note(dict(os.environ), "$", line)
        if guided.GUIDED not in os.environ or self.inputFile or line.strip() in ("", "EOF"):
            return super().onecmd(line)
        print(guided.mark(os.environ, "mininet", "C", line), end="", flush=True)
        try:
            return super().onecmd(line)
        finally:
            print(guided.mark(os.environ, "mininet", "D", ""), end="", flush=True)

    def do_link(self, line: str) -> None:
        """Bring the link between two nodes up or down: link h1 s1 down; its routes come back with it."""
        words = line.split()
        if len(words) != 3 or words[2] not in ("up", "down"):
            super().do_link(line)
            return
        from linklab.agent import link_status  # noqa: PLC0415 - few need it, and what is read costs network time

        link_status.change(self.mn, words[0], words[1], words[2], self.kept_routes)

    def do_concurrent(self, line: str) -> None:
        """Run iperf3 tests that begin together, plot them in one graph, print the fairness index.

        Usage: concurrent [-t SECONDS] CLIENT:SERVER[:ALGORITHM] [-P STREAMS]... [-- OPTION OF IPERF3...]
        A -P is for the flow before it, what stands behind -- for all. The results go to a folder called as the sourced
        file, or "concurrent"; those of an earlier call are moved to one called so and .earlier-1, .earlier-2 ...
        """
        name = Path(self.inputFile.name).name if self.inputFile else "concurrent"
        folder = Path(f"{name}.results" if Path(name).is_file() else name)
        try:
            plan = concurrent.parse(line, self.mn)
            print(concurrent.describe(plan))
            tests = concurrent.Tests(plan, lambda n: int(self.mn[n].pid), lambda n: str(self.mn[n].IP()), folder)
            files = [str(path) for path in tests.run()]
        except (concurrent.ConcurrentError, OSError) as error:
            print(f"concurrent: {error}")
            return
        results = str(folder / "results")
        for command in (
            ["linklab", "plot", "iperf", "--out", results, *files],
            ["xdg-open", f"{results}/throughput.pdf"],
            ["linklab", "fairness", *files],
        ):
            if subprocess.run(command, check=False).returncode:
                return

    def default(self, line: str) -> Any:
        """As Mininet's, and `linklab …`; a do_linklab would be in what `help` lists, which a lab shows."""
        if line.split(maxsplit=1)[:1] != ["linklab"]:
            return super().default(line)
        try:
            subprocess.run(shlex.split(line), check=False)
        except ValueError:
            print("linklab: a quotation mark is not closed")
        return None

    def do_test(self, line: str) -> None:
        """Run a named test from one node to others, such as test rrul h1 h3 -l 30.

        Usage: test TEST SOURCE TARGET... [OPTION OF FLENT...]
        h1 flent --list-tests lists the tests, h1 flent --help the options. Ctrl+C ends a test and keeps its data.
        """
        try:
            words = shlex.split(line)
        except ValueError:
            print("test: a quotation mark is not closed")
            return
        nodes = list(itertools.takewhile(lambda word: not word.startswith("-"), words[1:]))
        if len(nodes) < 2:
            print("usage: test TEST SOURCE TARGET... [OPTION OF FLENT...], such as test rrul h1 h3 -l 30")
            return
        targets = [word for name in nodes[1:] for word in ("-H", name)]
        options = words[1 + len(nodes) :]
        test = subprocess.Popen(["flent", words[0], "--local-bind", nodes[0], *targets, *options])
        while test.returncode is None:
            with contextlib.suppress(KeyboardInterrupt):  # it reaches the test as well, which then ends by itself
                test.wait()


class _Captured(Console):
    """The same for captured typing: no echo, and a prompt that is a marker."""

    prompt = MARKER
    use_rawinput = False

    def isatty(self) -> bool:
        """Not for Mininet, which would switch the echo on."""
        return False


def start_console(
    name: str, net: Any, env: dict[str, str], cwd: str, *, live: bool = False, not_its: Sequence[int] = ()
) -> Terminal:
    """A terminal in which the CLI of `net` runs; `live` for a person, else for captured typing.

    not_its: descriptors that it closes; a terminal that it held would outlast its window.
    """

    def become_console() -> None:  # pragma: no cover - the child
        for descriptor in not_its:
            os.close(descriptor)
        _run(net, env, cwd, live)

    pid, master = fork_on_pty()
    if pid == 0:  # pragma: no cover - the child
        children.live(become_console)
    resize(master, 24, 120)
    return Terminal(name, pid, master)


def _hung_up(net: Any, *_: object) -> None:  # pragma: no cover - the child
    """End when the terminal closes, and interrupt what the CLI runs on a node, as `h1 ping h2` does.

    The shells of the nodes belong to the network and live on, so nothing else would end such a command.
    """
    for node in net.values():
        if getattr(node, "waiting", False):  # a node whose shell has not started has no such field
            node.sendInt()
    os._exit(128 + signal.SIGHUP)


def _run(net: Any, env: dict[str, str], cwd: str, live: bool) -> None:  # pragma: no cover - the child
    own_kernel.cost_nothing()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, partial(_hung_up, net))
    os.environ.clear()
    os.environ.update(env)
    enter(cwd)
    sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", buffering=1, closefd=False)  # noqa: SIM115
    sys.stderr = sys.stdout
    lg.handlers[0].stream = sys.stdout
    lg.setLogLevel("output" if not live else "info")
    iperf.mend(mininet.net)
    try:
        if live:
            Console(net)
        else:
            no_echo(0)
            _Captured(net)
    finally:
        sys.stdout.flush()
