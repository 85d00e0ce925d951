# SPDX-License-Identifier: BSD-3-Clause
"""The keeper of one pocket: starts the kernel, grants it time, ends it, and removes what it left.

A program of its own (`python3 -I -S keeper.py CONTROL_FD CHANNEL_FD`, standard library only), so that neither a busy
window nor the death of the program that started it, by whatever signal, can leave a kernel, a file or a folder behind:
the control socket's end is the order to end. Control messages are JSON lines; see `linklab.engine.pocket`.
Time is granted by the protocol of Linux' include/uapi/linux/um_timetravel.h.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import io
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MESSAGE = struct.Struct("=IIQ")  # op, seq, time in ns
ACK, START, REQUEST, WAIT, GET, UPDATE, RUN, FREE_UNTIL, GET_TOD = range(9)
SLICE_S = 0.010
"""Network time a pocket may run ahead without asking, at 1x: how late a key may be noticed."""
LATE_S = 0.020
"""Wall time after which being late is not made up for any more: the clock slows down instead."""
SLOWEST, FASTEST = 0.001, 1000.0
"""Speeds that can be asked for: at the slowest a key is noticed within 10 s; beyond the fastest there is inf."""
FURTHEST_S = 1_000_000
"""Network seconds that one order may go ahead; under 12 days."""
LONGEST_SLEEP_S = 3600.0
LAST_NS = 2**64 - 1
PR_SET_PDEATHSIG = 1
LEAST_FILES = 512
"""Open files that a kernel needs at the least; each process inside takes some, and 256 do not get it booted."""
GRACE_S = 0.3
TAIL_BYTES = 4000


class PacedClock:
    """Grants network time at a chosen speed of wall time; inf, as at the start, is as fast as it goes."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(str(path))
        self.listener.listen(1)
        self.guest: socket.socket | None = None
        self.speed = float("inf")
        self.paused = False
        self.until_ns: int | None = None
        self.then: tuple[float, bool] | None = None
        self.now_ns = 0  # of the last grant
        self.origin = (0, time.monotonic())  # network ns and wall s that belong together
        self.behind_s = 0.0
        self.requested: int | None = None
        self.waiting = False
        self.seq = 0
        self.reached = False

    # --- what the person asks for

    def set(self, speed: float | None = None, paused: bool | None = None) -> None:
        """Another speed, or stop and go; the clock goes on from where it is."""
        here = self.position_ns()
        if speed is not None:
            self.speed = speed
        if paused is not None:
            self.paused = paused
        self.origin = (here, time.monotonic())

    def change(self, speed: float | None, paused: bool | None) -> None:
        """What a person sets; on the way to a time, a speed is for afterwards, and pause or resume end the way."""
        if self.then is None:
            self.set(speed, paused)
            return
        self.then = (self.then[0] if speed is None else speed, self.then[1])
        if paused is not None:
            speed, self.until_ns, self.then = self.then[0], None, None
            self.set(speed, paused)

    def go_until(self, target_ns: int, speed: float) -> None:
        """Run at `speed` until network time reaches the target; then as before."""
        if self.then is None:
            self.then = (self.speed, self.paused)
        self.until_ns = target_ns
        self.set(speed=speed, paused=False)

    def status(self) -> dict[str, Any]:
        """The clock in numbers."""
        return {
            "now_ns": self.position_ns(),
            "speed": self.speed,
            "paused": self.paused,
            "behind_s": self.behind_s,
            "until_ns": self.until_ns,
        }

    def position_ns(self) -> int:
        """Network time now; never beyond what has been granted."""
        if self.paused:
            return max(self.now_ns, self.origin[0])  # where it stood when it was stopped
        if self.speed == float("inf"):
            return self.now_ns
        due = self.origin[0] + int((time.monotonic() - self.origin[1]) * self.speed * 1e9)
        return max(
            self.now_ns, min(due, self.requested if self.waiting and self.requested is not None else self.now_ns)
        )

    # --- granting

    def timeout_s(self) -> float | None:
        """Wall seconds until there is something to grant; None if only a message can change that."""
        if not self.waiting or self.requested is None:
            return None
        if self.paused:
            return None
        return min(LONGEST_SLEEP_S, max(0.0, self._wall(self.requested) - time.monotonic()))

    def _wall(self, ns: int) -> float:
        if self.speed == float("inf"):
            return 0.0
        return self.origin[1] + (ns - self.origin[0]) / 1e9 / self.speed

    def grant_if_due(self) -> None:
        """Let the pocket run if it waits and its time has come."""
        if not self.waiting or self.requested is None or self.paused:
            return
        if self.until_ns is not None and self.requested >= self.until_ns:
            self._arrive()
            if self.paused:
                return
        late = time.monotonic() - self._wall(self.requested) if self.speed != float("inf") else 0.0
        if late < 0:
            return
        if late > LATE_S:
            self.behind_s += late
            self.origin = (self.origin[0], self.origin[1] + late)
        ahead = int(SLICE_S * 1e9 * min(max(self.speed, 0.02), 20))
        limit = min(self.requested + ahead, LAST_NS)
        if self.until_ns is not None:
            limit = min(limit, max(self.until_ns, self.requested))
        granted, self.requested, self.waiting = self.requested, None, False
        self.now_ns = granted
        self._send(FREE_UNTIL, limit)
        self._send(RUN, granted)

    def _arrive(self) -> None:
        assert self.then is not None and self.until_ns is not None
        (speed, paused), target_ns = self.then, self.until_ns
        self.until_ns, self.then, self.reached = None, None, True
        self.set(speed=speed, paused=paused)
        # Nothing happens inside between what was granted last and the target, so the target is where time stands now.
        self.origin = (max(self.now_ns, target_ns), self.origin[1])

    def _send(self, op: int, ns: int) -> None:
        assert self.guest is not None
        self.seq += 1
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it has died; that is noticed elsewhere
            self.guest.sendall(MESSAGE.pack(op, self.seq, ns))

    def receive(self) -> bool:
        """Handle one message of the pocket; False when it has gone."""
        assert self.guest is not None
        try:
            data = self.guest.recv(MESSAGE.size, socket.MSG_WAITALL)
        except ConnectionResetError:
            return False
        if len(data) < MESSAGE.size:
            return False
        op, seq, ns = MESSAGE.unpack(data)
        if op == ACK:
            return True
        answer = 0
        if op == REQUEST:
            self.requested = ns
        elif op == WAIT:
            self.waiting = True
        elif op == UPDATE:
            self.now_ns = max(self.now_ns, ns)
        elif op == GET:
            answer = self.now_ns
        elif op == GET_TOD:
            answer = time.time_ns()
        try:
            self.guest.sendall(MESSAGE.pack(ACK, seq, answer))
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True


class Keeper:
    """One pocket from its start to its end."""

    def __init__(self, control: socket.socket, channel: int) -> None:
        self.control = control
        self.channel = channel
        self.buffer = b""
        self.selector = selectors.DefaultSelector()
        self.clock: PacedClock | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.run_dir: Path | None = None
        self.console: io.FileIO | None = None
        self.doing = "hearing what to start"

    def keep(self) -> None:
        """Serve until the pocket has ended or must end."""
        try:
            config = self._first_message()
            if config is not None:
                self._start(config)
                self.doing = "watching the kernel"
                self._serve()
        except (OSError, MemoryError) as error:
            # Whoever started us knows the cure; a traceback would stand in the middle of their terminal.
            self._tell(
                {
                    "event": "failed",
                    "doing": self.doing,
                    "errno": error.errno if isinstance(error, OSError) else errno.ENOMEM,
                    "why": (error.strerror if isinstance(error, OSError) else None) or str(error) or "out of memory",
                    "file": None if not isinstance(error, OSError) or error.filename is None else str(error.filename),
                }
            )
        finally:
            self._end()

    def _first_message(self) -> dict[str, Any] | None:
        while b"\n" not in self.buffer:
            data = self.control.recv(65536)
            if not data:
                return None
            self.buffer += data
        line, _, self.buffer = self.buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message

    def _start(self, config: dict[str, Any]) -> None:
        self.doing = "making its folder"
        self.run_dir = Path(tempfile.mkdtemp(prefix=f"linklab-{os.getuid()}-", dir=config["run_base"]))
        (self.run_dir / "owner").write_text(f"{os.getpid()}\n")
        if config["known_as"]:
            Path(config["known_as"]).symlink_to(self.run_dir)
        for name, target in config["links"].items():
            (self.run_dir / name).parent.mkdir(parents=True, exist_ok=True)
            (self.run_dir / name).symlink_to(target)
        if config["user"]:
            (self.run_dir / "user").write_text(f"{config['user']}\n")
        argv = list(config["argv"])
        if config["clock"] == "paced":
            self.clock = PacedClock(self.run_dir / "clock")
            argv.append(f"time-travel=ext:{self.run_dir}/clock")
            self.selector.register(self.clock.listener, selectors.EVENT_READ, self._guest_connects)
        if config["share"]:
            self._share(config["links"]["work"], config["env"]["TMPDIR"])
        self.doing = "starting the kernel"
        cpu, keeper, limits = config["cpu"], os.getpid(), config["limits"]
        if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < LEAST_FILES:  # the kernel would panic at its first programs
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        os.dup2(self.channel, config["channel_fd"])  # the same number in every run
        os.close(self.channel)

        def prepare() -> None:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != keeper:
                os._exit(1)
            # a guest's file beyond RLIMIT_FSIZE is an error (EFBIG), and not the end of the kernel that writes it
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            if cpu is not None:
                with contextlib.suppress(OSError):  # it runs on any processor, if more slowly
                    os.sched_setaffinity(0, {cpu})
            for name, most in limits.items():
                try:
                    resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
                except (OSError, ValueError) as error:  # without its limits it must not run
                    os.write(2, f"the limit {name} of {most} cannot be set: {error}\n".encode())
                    os._exit(1)

        # it stays open, since by the end something else may have its name
        self.console = (self.run_dir / "console").open("w+b", buffering=0)
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=self.console,
            stderr=subprocess.STDOUT,
            env={**config["env"], "HOME": str(self.run_dir)},
            pass_fds=[config["channel_fd"]],
            cwd=self.run_dir,
            preexec_fn=prepare,  # noqa: PLW1509 - one thread only
        )
        os.close(config["channel_fd"])
        (self.run_dir / "kernel").write_text(f"{self.process.pid}\n")
        self._tell({"event": "started", "pid": self.process.pid, "run_dir": str(self.run_dir)})

    def _share(self, work: str, memory: str) -> None:
        """Make the working folder, which only we can see, and hand it over with that of the memory."""
        Path(work).mkdir()
        folders = [os.open(folder, os.O_RDONLY | os.O_DIRECTORY) for folder in (work, memory)]
        socket.send_fds(self.control, [json.dumps({"event": "folders"}).encode() + b"\n"], folders)
        for folder in folders:
            os.close(folder)

    def _serve(self) -> None:
        assert self.process is not None
        ended = os.pidfd_open(self.process.pid)
        self.selector.register(ended, selectors.EVENT_READ, None)
        self.selector.register(self.control, selectors.EVENT_READ, self._order)
        while True:
            timeout = self.clock.timeout_s() if self.clock else None
            for key, _ in self.selector.select(timeout):
                if key.fd == ended:
                    os.close(ended)
                    return
                if key.data() is False:
                    return
            if self.clock:
                self.clock.grant_if_due()
                if self.clock.reached:
                    self.clock.reached = False
                    self._tell({"event": "reached", "clock": self.clock.status()})

    def _guest_connects(self) -> None:
        assert self.clock is not None
        self.clock.guest, _ = self.clock.listener.accept()
        self.selector.unregister(self.clock.listener)
        self.selector.register(self.clock.guest, selectors.EVENT_READ, self._guest_speaks)

    def _guest_speaks(self) -> None:
        assert self.clock is not None
        if not self.clock.receive():
            assert self.clock.guest is not None
            self.selector.unregister(self.clock.guest)

    def _order(self) -> bool:
        try:
            data = self.control.recv(65536)
        except ConnectionResetError:
            data = b""
        if not data:
            return False
        self.buffer += data
        while b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            try:
                order = json.loads(line)
            except (ValueError, RecursionError):  # the network must not end with an order that nobody understands
                order = None
            self._obey(order)
        return True

    def _obey(self, order: object) -> None:
        """Set the clock, if the order can be obeyed; the answer says where it is, and why an order was refused."""
        clock = self.clock
        if clock is None:
            self._tell({"event": "clock", "clock": None})
            return
        refused = refusal(order, clock.position_ns())
        if refused is None:
            assert isinstance(order, dict)
            self._set(clock, order)
        self._tell({"event": "clock", "clock": clock.status(), "refused": refused})

    @staticmethod
    def _set(clock: PacedClock, order: dict[str, Any]) -> None:
        if order["do"] == "set":
            clock.change(order.get("speed"), order.get("paused"))
        elif order["do"] == "until":
            clock.go_until(order["target_ns"], order.get("speed") or float("inf"))
        elif order["do"] == "step":
            clock.set(paused=True)
            clock.go_until(clock.position_ns() + order["step_ns"], order.get("speed") or clock.speed)

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):  # whoever started us may have gone; the end comes by the control socket
            self.control.sendall(json.dumps(message).encode() + b"\n")

    def _end(self) -> None:
        code: int | None = None
        if self.process is not None:
            try:
                code = self.process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()  # its guest processes die with it: each has set PR_SET_PDEATHSIG
                code = self.process.wait()
        tail = ""
        if self.console is not None:
            with self.console, contextlib.suppress(OSError):
                size = os.fstat(self.console.fileno()).st_size
                tail = os.pread(self.console.fileno(), TAIL_BYTES, max(0, size - TAIL_BYTES)).decode(errors="replace")
        if self.run_dir is not None:
            shutil.rmtree(self.run_dir, ignore_errors=True)
        self._tell({"event": "ended", "code": code, "console": tail})


def refusal(order: object, now_ns: int) -> str | None:
    """Why the clock cannot do that, as a sentence; None for an order that it can.

    Args:
        order: {"do": "status"}, {"do": "set", "speed"?, "paused"?}, {"do": "until", "target_ns", "speed"?} or
            {"do": "step", "step_ns", "speed"?}; null stands for a field that is left out.
        now_ns: the kernel's time.
    """
    if not isinstance(order, dict) or order.get("do") not in ("status", "set", "until", "step"):
        return "the clock's order is not one: it takes status, set, until or step"
    speed, paused = order.get("speed"), order.get("paused")
    if speed is not None and not is_speed(speed):
        return f"the clock's speed must be a number from {SLOWEST:g} to {FASTEST:g}, or max, not {speed!r}"
    if not isinstance(paused, bool | None):
        return f"whether the clock is paused must be true or false, not {paused!r}"
    if order["do"] not in ("until", "step"):
        return None
    ahead_ns = order.get("step_ns" if order["do"] == "step" else "target_ns")
    if isinstance(ahead_ns, int) and not isinstance(ahead_ns, bool):
        ahead_ns -= now_ns if order["do"] == "until" else 0
        if ahead_ns <= FURTHEST_S * 10**9 and (order["do"] == "until" or ahead_ns > 0):
            return None
    return f"the clock goes at most {FURTHEST_S:,} s ahead with one order, and not back"


def is_speed(speed: object) -> bool:
    """Whether the clock can go at that: network seconds a wall second."""
    if not isinstance(speed, int | float) or isinstance(speed, bool):
        return False
    return speed == float("inf") or SLOWEST <= speed <= FASTEST


def allow_many_files() -> None:
    """As many open files as the person may have: the kernel holds each file of the host that was read inside.

    A usual soft limit, 1024, is less than what drawing one plot reads.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main() -> None:
    """Serve the sockets named by the arguments; deaf to the terminal's signals, the control socket decides."""
    allow_many_files()
    for deaf in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(deaf, signal.SIG_IGN)
    control, channel = map(lowest, sys.argv[1:3])
    Keeper(socket.socket(fileno=control), channel).keep()


def lowest(number: str) -> int:
    """The open file under the lowest free number, where its number may not be the one that the kernel's channel gets.

    The numbers come from the program that started us, and are as high as it has files open.
    """
    moved = os.dup(int(number))
    os.close(int(number))
    return moved


if __name__ == "__main__":
    main()
