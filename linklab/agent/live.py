# SPDX-License-Identifier: BSD-3-Clause
"""Terminals that a person sits at: ptys in here whose bytes go to a window or a terminal on the host, unchanged."""

from __future__ import annotations

import base64
import contextlib
import os
import pty
import signal
from collections.abc import Callable
from typing import Any

from linklab.agent.console import start_console
from linklab.agent.terminal import resize

READ_BYTES = 65536


class LiveTerminals:
    """The open ones, by their names t1, t2, …"""

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None],
        watch: Callable[[Any, Callable[[], None]], None],
        unwatch: Callable[[Any], None],
    ) -> None:
        self.send, self.watch, self.unwatch = send, watch, unwatch
        self.open_ones: dict[str, tuple[int, int]] = {}
        self.count = 0

    def open(self, message: dict[str, Any], where: list[str], env: dict[str, str], cwd: str) -> str:
        """A shell (or `argv`) on the node that `where` leads to; its name."""
        node = message["node"]
        command = [*where, *(message.get("argv") or ["/bin/bash", "--noprofile", "--norc", "-i"])]
        env = {**env, "TERM": message.get("term", "xterm-256color"), "PS1": f"root@{node}:\\w# "}
        pid, master = pty.fork()
        if pid == 0:  # pragma: no cover - the child
            for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD):
                signal.signal(number, signal.SIG_DFL)
            os.chdir(cwd)
            os.execvpe(command[0], command, env)
        return self._keep(pid, master, message)

    def open_console(self, net: Any, env: dict[str, str], message: dict[str, Any], _: Any) -> str:
        """The Mininet CLI; its name."""
        env = {**env, "TERM": message.get("term", "xterm-256color")}
        terminal = start_console("mininet", net, env, "/lab", live=True)
        return self._keep(terminal.pid, terminal.master, message)

    def _keep(self, pid: int, master: int, message: dict[str, Any]) -> str:
        resize(master, message.get("rows", 24), message.get("columns", 80))
        self.count += 1
        name = f"t{self.count}"
        self.open_ones[name] = (pid, master)
        self.watch(master, lambda: self._readable(name))
        return name

    def _readable(self, name: str) -> None:
        pid, master = self.open_ones[name]
        try:
            data = os.read(master, READ_BYTES)
        except OSError:
            data = b""
        if data:
            self.send({"event": "data", "terminal": name, "data": base64.b64encode(data).decode()})
            return
        self.unwatch(master)
        os.close(master)
        del self.open_ones[name]
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, 0)
        self.send({"event": "closed", "terminal": name})

    def input(self, message: dict[str, Any]) -> dict[str, Any]:
        """Keys typed there."""
        if message["terminal"] in self.open_ones:
            os.write(self.open_ones[message["terminal"]][1], base64.b64decode(message["data"]))
        return {}

    def resize(self, message: dict[str, Any]) -> dict[str, Any]:
        """The window has another size."""
        if message["terminal"] in self.open_ones:
            resize(self.open_ones[message["terminal"]][1], message["rows"], message["columns"])
        return {}

    def hangup(self, message: dict[str, Any]) -> dict[str, Any]:
        """The window was closed."""
        if message["terminal"] in self.open_ones:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.open_ones[message["terminal"]][0], signal.SIGHUP)
        return {}
