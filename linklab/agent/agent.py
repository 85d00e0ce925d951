# SPDX-License-Identifier: BSD-3-Clause
"""The agent's loop: requests from the engine, terminals, and what programs inside ask of the host.

On a clock that stops while the channel is read (the pocket's virtual clock) it reads a request only when nothing is
being typed, so that how long the engine takes is no part of the run; else it listens to everything at once.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import selectors
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from linklab.agent import (
    capture,
    fresh,
    names,
    network,
    network_time,
    node_state,
    own_kernel,
    protocol,
    recording,
    resting,
    scripts,
    services,
)
from linklab.agent.asks import SOCKET, Asks
from linklab.agent.console import start_console
from linklab.agent.live import LiveTerminals
from linklab.agent.open_vswitch import OVS_COUNTS_CPUS_FROM_S, BuildError
from linklab.agent.terminal import CTRL_C, CTRL_Z, RC, Terminal, TerminalError, TypedText, start_shell

HERE = Path(__file__).resolve().parent
SCRIPTS = HERE.parent.parent / "scripts"
WORK = "/lab"
PING_GROUPS = "/proc/sys/net/ipv4/ping_group_range"
"""The groups that may ping without root's rights; all of them, as systemd sets it in the machine's own namespace."""
AFTER_S = 0.5
"""Network time starts this long after a whole second: near whole seconds the kernel reseeds its random generator
(drivers/char/random.c, crng_reseed_interval), which must not race with programs that draw from it."""
TICK_S = 0.1
"""Typing begins at whole ticks of network time, so that what happened between two steps leaves no trace in the next."""
SHELL_DEADLINE_S = 30
ASKS_FOR_END = re.compile(r"(?:^|[;&|])\s*(?:exit|logout|quit|EOF)(?:\s+\d+)?[\s;]*$")
"""A last line that ends the shell it is typed into, or Mininet's CLI."""

T = TypeVar("T")


@dataclass
class Request:
    """A request that is answered when its jobs have ended."""

    id: int
    terminals: list[Terminal]
    jobs: list[TypedText]
    streamed: set[str] = field(default_factory=set)


class Agent:
    """Serves one network."""

    def __init__(self, channel: int, *, stops_time: bool, waits_for_us: bool) -> None:
        self.channel = channel
        self.stops_time = stops_time
        self.waits_for_us = waits_for_us
        self.selector = selectors.DefaultSelector()
        self.decoder = protocol.Decoder()
        self.terminals: dict[str, Terminal] = {}
        self.kept: set[str] = set()  # terminals for captured typing that are recorded in an exercise's folder
        self.lost: dict[str, str] = {}  # terminals whose shell died at something in the background, and how
        self.requests: list[Request] = []
        self.net: Any = None
        self.ready_clock = time.monotonic()
        self.env = {name: value for name, value in os.environ.items() if name not in ("RUN", "CLOCK")}
        self.ended = False
        self.asks = Asks(self._send, answers_itself=stops_time)
        self.live = LiveTerminals(self._send, self._watch, self._unwatch)

    # --- the loop

    def serve(self) -> int:
        """Until `shutdown` or the end of the channel; the exit status."""
        # a handler and not SIG_IGN, which every program that the agent starts would inherit
        signal.signal(signal.SIGINT, lambda *_: None)
        Path(SOCKET).parent.mkdir(parents=True, exist_ok=True)
        self._watch(self.asks.listen(), self._ask_arrives)
        if not self.stops_time:
            self._watch(self.channel, self._channel_readable)
        self._send({"event": "hello", "python": sys.version.split()[0]})
        while not self.ended:
            if self.stops_time and not self.requests:
                self._blocking_read()
            else:
                for key, _ in self.selector.select(self._timeout()):
                    key.data()
                self._advance()
        if self.net is not None:
            self._stop_commands()
        return 0

    def now_s(self) -> float:
        """Network time: seconds since the network was ready."""
        return time.monotonic() - self.ready_clock

    def _watch(self, file: Any, handler: Callable[[], None], events: int = selectors.EVENT_READ) -> None:
        self.selector.register(file, events, handler)

    def _unwatch(self, file: Any) -> None:
        with contextlib.suppress(KeyError, ValueError):
            self.selector.unregister(file)

    def _timeout(self) -> float | None:
        jobs = [job for request in self.requests for job in request.jobs if job.end_s is None]
        due = [job.interrupt_at_s for job in jobs if self._to_interrupt(job)] + [job.kill_at_s for job in jobs]
        return max(0.0, min(times) - self.now_s()) if (times := [d for d in due if d is not None]) else None

    def _kill_later(self, job: TypedText) -> None:
        """A key was typed that is to end it."""
        job.kill_at_s = None if job.kill_s is None else self.now_s() + job.kill_s

    @staticmethod
    def _to_interrupt(job: TypedText) -> bool:
        return job.interrupt_at_s is not None and not job.interrupted and job.end_s is None

    def _send(self, message: dict[str, Any]) -> None:
        frame = protocol.encode(message)
        while frame:
            frame = frame[os.write(self.channel, frame) :]

    def _blocking_read(self) -> None:
        head = os.read(self.channel, protocol.LENGTH.size)
        if len(head) < protocol.LENGTH.size:
            self.ended = True
            return
        for message in self.decoder.feed(head + os.read(self.channel, protocol.LENGTH.unpack(head)[0])):
            self._handle(message)

    def _channel_readable(self) -> None:
        data = os.read(self.channel, 65536)
        if not data:
            self.ended = True
            return
        for message in self.decoder.feed(data):
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        operation = getattr(self, f"_op_{message.get('op')}", None)
        try:
            if operation is None:
                raise ValueError(f"no operation {message.get('op')!r}")
            answer = operation(message)
        except (BuildError, TerminalError, ValueError, KeyError, OSError) as error:
            text = f"{type(error).__name__}: {error}" if isinstance(error, (KeyError, OSError)) else str(error)
            self._send({"id": message["id"], "error": text, "fault": _fault(error)})
            return
        if answer is not None:
            self._send({"id": message["id"], "ok": answer})

    def _ask_arrives(self) -> None:
        connection = self.asks.accept()
        self._watch(connection, lambda: self._ask_readable(connection))

    def _ask_readable(self, connection: socket.socket) -> None:
        self._unwatch(connection)
        self.asks.read(connection)

    # --- operations: each gives its answer, or None if the answer comes later

    def _op_build(self, message: dict[str, Any]) -> dict[str, Any]:
        self._set_environment(message["env"])
        in_pocket = os.environ.get("LINKLAB_ENGINE") != "host"  # on the host engine /etc and /run are the machine's
        if in_pocket:
            scripts.lay()
            services.make_folders()
            names.name_the_pocket()
            Path(PING_GROUPS).write_text("0 2147483647")
        network_time.prepare()
        own_kernel.begin_chance()
        if message["plan"] is not None:
            self.net = network.build(message["plan"])
            scripts.built([node.name for node in self.net.values()])
            if not self.waits_for_us:  # else network time begins later than the ports do
                network.wait_for_ports()
            if in_pocket:
                names.name_the_nodes(self.net)
        environment = network.versions()
        if self.net is not None and in_pocket:
            fresh.record(Path(self.env["LINKLAB_RC"]).with_name(fresh.NAME), len(self.net.values()), message["files"])
        for path, text in message["files"].items():
            Path(path).write_text(text)
        self._start_clock_at_tick()
        nodes = [node.name for node in self.net.values()] if self.net else []
        answer = {"nodes": nodes, "environment": environment, "ready_clock_s": self.ready_clock}
        said = {key: getattr(self.net, key, []) for key in ("failed_commands", "warnings")}
        return answer | {key: value for key, value in said.items() if value}

    def _set_environment(self, given: dict[str, str]) -> None:
        """Set what every shell finds: the variables, its start-up file, and the working folder."""
        rc = Path("/run/linklab/bashrc")
        rc.write_text(RC)
        ours = f"/proc/{os.getpid()}/root"  # a host may have a /run of its own, as a private directory
        self.env.update(given)
        self.env.update(
            LINKLAB_RC=f"{ours}{rc}",
            LINKLAB_SOCKET=f"{ours}{SOCKET}",
            LINKLAB_INSIDE="1",
            HOME=WORK,
            USER="root",
            LOGNAME="root",
            SHELL="/bin/bash",
            TERM="dumb",
            XDG_CACHE_HOME="/run/linklab/cache",
            MPLCONFIGDIR="/run/linklab/matplotlib",
            PATH=f"{HERE / 'shims'}:{SCRIPTS}:{os.environ['PATH']}",
        )
        os.environ.update(self.env)  # the shells that Mininet keeps on its nodes find the same programs and files
        os.chdir(WORK)

    def _start_clock_at_tick(self) -> None:
        """Wait until network time starts: `AFTER_S` after a whole second of this kernel's clock, not in the first.

        ping takes a clock that reads 0 s for one that it has not read yet, and sends without waiting (iputils, pinger).
        """
        now = time.monotonic()
        if self.waits_for_us:  # and until Open vSwitch works, however a script starts it
            self.ready_clock = math.ceil(max(now + 1, OVS_COUNTS_CPUS_FROM_S)) + AFTER_S
        else:
            self.ready_clock = max(now, 1.0)
        network_time.leave(self.ready_clock)
        time.sleep(max(0.0, self.ready_clock - time.monotonic()))

    def _op_now(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"now_s": self.now_s(), "clock_s": time.monotonic()}

    def _op_date(self, message: dict[str, Any]) -> dict[str, Any]:
        time.clock_settime_ns(time.CLOCK_REALTIME, message["date_ns"])
        return {}

    def _op_computed(self, _: dict[str, Any]) -> dict[str, Any]:
        found = own_kernel.computed()
        return {"computed": [{**one, "from_s": one["clock_s"] - self.ready_clock} for one in found]}

    def _op_state(self, _: dict[str, Any]) -> dict[str, Any]:
        return {"state": node_state.text()}

    def _op_run(self, message: dict[str, Any]) -> None:
        actions = message["actions"]
        terminals = [self._terminal(action["terminal"]) for action in actions]
        jobs = [TypedText(action["text"], action["finish"], 0.0, action["text"].split("\n")) for action in actions]
        for action, job in zip(actions, jobs, strict=True):
            job.kill_s = action.get("kill_s")
        request = Request(message["id"], terminals, jobs)
        for number, (terminal, job) in enumerate(self._pairs(request)):  # all, before any is typed
            if terminal in terminals[:number]:
                raise TerminalError(
                    f"terminal {terminal.name}: two texts cannot be typed there at once; "
                    f"use a second terminal, {terminal.name}#2"
                )
            terminal.check(job)
        self._wait_for_tick()
        begun_s = self.now_s()
        for delay_s, (terminal, job) in self._when(message["within_s"], self._pairs(request)):
            time.sleep(max(0.0, begun_s + delay_s - self.now_s()))
            job.start_s = self.now_s()
            if job.kind == "after":
                job.interrupt_at_s = job.start_s + float(str(job.finish["seconds"]))
            terminal.type(job)
            if terminal.log:
                recording.note(terminal.log, "$", job.text)
        self.requests.append(request)
        self._advance()

    @staticmethod
    def _when(within_s: float, pairs: list[T]) -> list[tuple[float, T]]:
        """Each with its delay, earliest first: seconds, drawn below `within_s`, or 0 for one alone."""
        if len(pairs) == 1 or not within_s:
            return [(0.0, pair) for pair in pairs]
        drawn = struct.unpack(f"<{len(pairs)}Q", own_kernel.not_ours(8 * len(pairs)))
        return sorted(
            ((number / 2**64 * within_s, pair) for number, pair in zip(drawn, pairs, strict=True)),
            key=lambda timed: timed[0],
        )

    def _wait_for_tick(self) -> None:
        if self.stops_time:
            now = self.now_s()
            time.sleep(math.ceil(now / TICK_S + 1e-6) * TICK_S - now)

    def _op_keep(self, message: dict[str, Any]) -> dict[str, Any]:
        self.kept.add(message["terminal"])
        return {}

    def _log(self, name: str) -> dict[str, str]:
        """What a terminal's environment needs so that what is typed there is recorded; {} if it is not."""
        if name not in self.kept or not recording.is_kept(Path(WORK)):
            return {}
        return recording.begin(Path(WORK), name, "piped", self.now_s())

    def _op_stop(self, message: dict[str, Any]) -> None:
        terminal = self._running_in(message["terminal"])
        assert terminal.job is not None
        self._wait_for_tick()
        if terminal.job.end_s is None:
            terminal.interrupt(CTRL_Z if message.get("suspend") else CTRL_C)
            self._kill_later(terminal.job)
        self._wait_for_end(message, terminal)

    def _op_finished(self, message: dict[str, Any]) -> None:
        terminal = self._running_in(message["terminal"])
        assert terminal.job is not None
        if message.get("within_s") is not None:
            terminal.job.interrupted, terminal.job.interrupt_at_s = False, self.now_s() + float(message["within_s"])
        self._wait_for_end(message, terminal)

    def _running_in(self, name: str) -> Terminal:
        terminal = self.terminals.get(name)
        if terminal is None or terminal.job is None:
            raise TerminalError(self.lost.pop(name, f"terminal {name}: nothing runs there in the background"))
        return terminal

    def _wait_for_end(self, message: dict[str, Any], terminal: Terminal) -> None:
        assert terminal.job is not None
        terminal.job.finish = {"kind": "prompt"}
        self.requests.append(Request(message["id"], [terminal], [terminal.job]))
        self._advance()

    def _op_resting(self, message: dict[str, Any]) -> dict[str, Any]:
        return resting.foreground(self._terminal(message["terminal"]).master)

    def _op_open(self, message: dict[str, Any]) -> dict[str, Any]:
        where = self._namespace(message["node"])
        if message["node"] == "mininet":
            return {"terminal": self.live.open_console(self.net, self.env, message, WORK, self.now_s())}
        env = {**self.env, capture.BEGAN: str(round(self.ready_clock * 1e9))}  # for what shows network time
        return {"terminal": self.live.open(message, where, env, WORK, self.now_s())}

    def _op_input(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.live.input(message)

    def _op_resize(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.live.resize(message)

    def _op_flow(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.live.flow(message)

    def _op_hangup(self, message: dict[str, Any]) -> dict[str, Any]:
        return self.live.hangup(message)

    def _op_answer(self, message: dict[str, Any]) -> dict[str, Any]:
        self.asks.answer(message)
        return {}

    def _op_answers(self, _: dict[str, Any]) -> dict[str, Any]:
        self.asks.host_answers = True
        return {}

    def _op_shutdown(self, _: dict[str, Any]) -> dict[str, Any]:
        self.ended = True
        return {}

    # --- jobs

    def _advance(self) -> None:
        """Type the Ctrl+C that are due, answer the requests whose jobs have ended."""
        now = self.now_s()
        for request in list(self.requests):
            for terminal, job in zip(request.terminals, request.jobs, strict=True):
                if self._to_interrupt(job) and job.interrupt_at_s is not None and job.interrupt_at_s <= now:
                    job.interrupted = True
                    terminal.interrupt()
                    self._kill_later(job)
                if job.kill_at_s is not None and job.kill_at_s <= now and job.end_s is None:
                    job.kill_at_s = None
                    terminal.kill()
            failed = next((job.failed for job in request.jobs if job.failed), None)
            if failed is not None:
                self.requests.remove(request)
                self._send({"id": request.id, "error": failed})
            elif all(job.end_s is not None or (job.kind == "background" and not job.lines) for job in request.jobs):
                self.requests.remove(request)
                self._send(
                    {"id": request.id, "ok": {"done": [self._completed(*pair) for pair in self._pairs(request)]}}
                )

    @staticmethod
    def _pairs(request: Request) -> list[tuple[Terminal, TypedText]]:
        return list(zip(request.terminals, request.jobs, strict=True))

    def _completed(self, terminal: Terminal, job: TypedText) -> dict[str, Any]:
        done = {
            "terminal": terminal.name,
            "text": job.text,
            "output": job.output,
            "exit_status": job.exit_status,
            "start_s": job.start_s,
            "end_s": self.now_s() if job.end_s is None else job.end_s,
        }
        if job.end_s is not None:
            terminal.job = None
            if terminal.log and job.exit_status is not None:
                recording.note(terminal.log, "=", str(job.exit_status))
        return done

    def _terminal(self, name: str) -> Terminal:
        if name not in self.terminals:
            base = name.partition("#")[0]
            where = self._namespace(base)
            log = self._log(name)
            if base == "mininet":  # which notes by itself what it is told, lines of sourced files too
                terminal = start_console(name, self.net, {**self.env, **log}, WORK)
            else:
                terminal = start_shell(name, where, self.env, WORK)
                terminal.log = log
            self.terminals[name] = terminal
            self.lost.pop(name, None)
            self._watch(terminal.master, lambda: self._terminal_readable(terminal))
            self._until_ready(terminal)
        return self.terminals[name]

    def _namespace(self, base: str) -> list[str]:
        """What comes before a shell so that it is on the node."""
        if base == "client":
            return []
        if base == "mininet":
            if self.net is None:
                raise TerminalError("terminal mininet: there is no network here, so no Mininet CLI")
            return []
        if self.net is None or base not in self.net:
            known = ", ".join(
                ["client", "mininet", *(node.name for node in self.net.values())] if self.net else ["client"]
            )
            raise TerminalError(f"terminal {base}: no such node; there are {known}")
        node = self.net[base]
        limited = ["-g", node.name] if hasattr(node, "cgroup") else []  # the share of a processor is the group's
        return [] if not node.inNamespace else ["mnexec", *limited, "-a", str(node.pid)]

    def _until_ready(self, terminal: Terminal) -> None:
        deadline = time.monotonic() + SHELL_DEADLINE_S
        shown = ""
        with selectors.DefaultSelector() as poll:
            poll.register(terminal.master, selectors.EVENT_READ)
            while not terminal.ready:
                text = terminal.read(self.now_s()) if poll.select(deadline - time.monotonic()) else None
                if text is None:
                    said = " ".join(f"{shown}{terminal.tail}".split()) or "it shows nothing"
                    raise TerminalError(f"terminal {terminal.name}: its shell does not start: {said}")
                shown += text

    def _terminal_readable(self, terminal: Terminal) -> None:
        text = terminal.read(self.now_s())
        if text is None:
            self._closed(terminal)
        elif text and terminal.job is not None:
            self._send({"event": "output", "terminal": terminal.name, "text": text})

    def _closed(self, terminal: Terminal) -> None:
        """The shell has gone: its job ends with it, as an error unless it asked for that; the next gets a new shell."""
        self._unwatch(terminal.master)
        os.close(terminal.master)
        code = 0
        with contextlib.suppress(ChildProcessError):
            code = os.waitstatus_to_exitcode(os.waitpid(terminal.pid, 0)[1])
        self.terminals.pop(terminal.name, None)
        job = terminal.job
        if job is None or job.end_s is not None:
            return
        job.end_s = self.now_s()
        if job.lines or not ASKS_FOR_END.search(job.text.rstrip().rpartition("\n")[2]):
            how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
            job.failed = f'terminal {terminal.name}: its shell {how} at "{" ".join(job.text.split())}"'
            if not any(job is waited for request in self.requests for waited in request.jobs):
                self.lost[terminal.name] = job.failed

    def _stop_commands(self) -> None:
        for node in self.net.values():
            command = getattr(node, "stop_command", None)
            if command:
                node.cmd(command)


def _fault(error: Exception) -> str:
    """Whose fault it is, as `linklab.errors.Fault` calls it: of what was asked for where a terminal says no."""
    if isinstance(error, BuildError):
        return error.fault
    return "given" if isinstance(error, TerminalError) else "tool"
