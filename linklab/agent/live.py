# SPDX-License-Identifier: BSD-3-Clause
"""Terminals that a person sits at: ptys in here whose bytes go to a window or a terminal on the host, unchanged."""

from __future__ import annotations

import base64
import contextlib
import os
import selectors
from collections.abc import Callable
from pathlib import Path
from typing import Any

from linklab.agent import apart, guided, live_rc, recording
from linklab.agent.console import start_console
from linklab.agent.terminal import as_at_login, enter, fork_on_pty, resize
from linklab.linux import children

READ_BYTES = 65536
MOST_PENDING_BYTES = 16 * 2**20
"""Input that waits until its program reads; more than this into one that never does is dropped."""


class LiveTerminals:
    """The open ones, by their names t1, t2 and so on."""

    def __init__(
        self,
        send: Callable[[dict[str, Any]], None],
        watch: Callable[..., None],
        unwatch: Callable[[Any], None],
    ) -> None:
        self.send, self.watch, self.unwatch = send, watch, unwatch
        self.open_ones: dict[str, tuple[int, int]] = {}
        self.pending: dict[str, bytes] = {}
        self.writers: dict[str, int] = {}  # second descriptors of the ptys, watched for room
        self.held: set[str] = set()  # those whose windows have yet to show what was read
        self.count = 0

    def open(self, message: dict[str, Any], where: list[str], env: dict[str, str], cwd: str, now_s: float = 0.0) -> str:
        """A shell (or `argv`) on the node that `where` leads to; its name.

        A shell in an exercise's folder is kept, one in a lab's is marked. With `apart`, one of the programs that look
        on.
        """
        if message.get("apart"):
            return self._keep(*apart.start(message["apart"]), message)
        node = message["node"]
        rc = live_rc.options()
        if not message.get("argv") and recording.is_kept(Path(cwd)):
            kept = recording.begin(Path(cwd), node, f"t{self.count + 1}", now_s)
            env, rc = {**env, **kept}, recording.rc_options() if kept else rc
        elif not message.get("argv") and guided.is_guided(Path(cwd)):
            kept = guided.begin(now_s)
            env, rc = {**env, **kept}, live_rc.options(guided.RC_FILE) if kept else rc
        command = [*where, *(message.get("argv") or ["/bin/bash", "--noprofile", *rc, "-i"])]
        term = message.get("term", "xterm-256color")
        env = {
            **env,
            "TERM": term,
            "LINKLAB_NODE": node,
            "PS1": f"root@{node}:\\w# ",
            "HISTFILE": live_rc.history(node),
        }

        def become_program() -> None:  # pragma: no cover - the child
            as_at_login()
            enter(cwd)
            children.become(command, env)

        pid, master = fork_on_pty()
        if pid == 0:  # pragma: no cover - the child
            children.live(become_program)
        return self._keep(pid, master, message)

    def open_console(self, net: Any, env: dict[str, str], message: dict[str, Any], cwd: str, now_s: float) -> str:
        """The Mininet CLI; its name.  What is typed there is kept or marked as in a shell."""
        env = {**env, "TERM": message.get("term", "xterm-256color")}
        if recording.is_kept(Path(cwd)):
            env.update(recording.begin(Path(cwd), "mininet", f"t{self.count + 1}", now_s))
        elif guided.is_guided(Path(cwd)):
            env.update(guided.begin(now_s))
        others = [*(master for _, master in self.open_ones.values()), *self.writers.values()]
        terminal = start_console("mininet", net, env, cwd, live=True, not_its=others)
        return self._keep(terminal.pid, terminal.master, message)

    def _keep(self, pid: int, master: int, message: dict[str, Any]) -> str:
        if not message.get("apart"):
            resize(master, message.get("rows", 24), message.get("columns", 80))
        os.set_blocking(master, False)  # whoever pastes into a program that does not read must not stop the agent
        self.count += 1
        name = f"t{self.count}"
        self.open_ones[name] = (pid, master)
        child = os.pidfd_open(pid)
        self.watch(master, lambda: self._readable(name))
        self.watch(child, lambda: self._ended(name, pid, child))
        return name

    def _readable(self, name: str) -> None:
        """Pass on what the terminal shows; it may close before its program ends, whose end is waited for elsewhere."""
        if name not in self.open_ones:  # its end was noticed in the same turn of the loop
            return
        master = self.open_ones[name][1]
        try:
            data = os.read(master, READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.send({"event": "data", "terminal": name, "data": base64.b64encode(data).decode()})
        else:
            self.unwatch(master)

    def _ended(self, name: str, pid: int, child: int) -> None:
        """The program has ended; what it left in the background may hold the terminal, as after closing a window."""
        self.unwatch(child)
        os.close(child)
        _, waited = os.waitpid(pid, 0)
        if name in self.open_ones:
            master = self.open_ones[name][1]
            with contextlib.suppress(OSError):
                while data := os.read(master, READ_BYTES):
                    self.send({"event": "data", "terminal": name, "data": base64.b64encode(data).decode()})
            self._close(name)
        self.send({"event": "closed", "terminal": name, "status": os.waitstatus_to_exitcode(waited)})

    def _close(self, name: str) -> None:
        self.pending.pop(name, None)
        self.held.discard(name)
        self._no_writer(name)
        _, master = self.open_ones.pop(name)
        self.unwatch(master)
        os.close(master)

    def input(self, message: dict[str, Any]) -> dict[str, Any]:
        """Keys typed there."""
        name = message["terminal"]
        if name in self.open_ones:
            data = self.pending.get(name, b"") + base64.b64decode(message["data"])
            self.pending[name] = data[:MOST_PENDING_BYTES]
            self._type_pending(name)
        return {}

    def _type_pending(self, name: str) -> None:
        """Type what waits, as far as there is room; the rest follows when there is more."""
        if name not in self.open_ones:  # closed in the same turn of the loop
            return
        data, master = self.pending.pop(name, b""), self.open_ones[name][1]
        try:
            while data:
                data = data[os.write(master, data) :]
        except BlockingIOError:
            self.pending[name] = data
            if name not in self.writers:
                self.writers[name] = os.dup(master)
                self.watch(self.writers[name], lambda: self._type_pending(name), selectors.EVENT_WRITE)
            return
        except OSError:  # its program has just ended
            pass
        self._no_writer(name)

    def _no_writer(self, name: str) -> None:
        if name in self.writers:
            writer = self.writers.pop(name)
            self.unwatch(writer)
            os.close(writer)

    def resize(self, message: dict[str, Any]) -> dict[str, Any]:
        """The window has another size."""
        if message["terminal"] in self.open_ones and os.isatty(self.open_ones[message["terminal"]][1]):
            resize(self.open_ones[message["terminal"]][1], message["rows"], message["columns"])
        return {}

    def flow(self, message: dict[str, Any]) -> dict[str, Any]:
        """Read what a terminal shows, or leave it there, so that what writes to it waits, while its window is slow."""
        name = message["terminal"]
        if name in self.open_ones and message["on"] is (name in self.held):
            master = self.open_ones[name][1]
            if message["on"]:
                self.held.discard(name)
                self.watch(master, lambda: self._readable(name))
            else:
                self.held.add(name)
                self.unwatch(master)
        return {}

    def hangup(self, message: dict[str, Any]) -> dict[str, Any]:
        """The window was closed: the kernel tells the shell and what it runs (SIGHUP, tty_ioctl(4))."""
        if message["terminal"] in self.open_ones:
            self._close(message["terminal"])
        return {}
