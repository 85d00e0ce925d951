# SPDX-License-Identifier: BSD-3-Clause
"""Programs that compute without end on one host, and what becomes of the time of all others."""

from __future__ import annotations

import base64
import contextlib
import re
import statistics
import threading
import time
from collections.abc import Iterator

from linklab.engine.api import Clock, Typed
from linklab.errors import LinklabError
from validate.experiment import Data, Experiment, Row, Runs
from validate.nets import LINE, Net, network

PATIENCE_S = 90
"""Wall-clock seconds that `sleep 5` may take before it is given up."""
MOST_PRESSES = 4
PROCESSOR_S = {"virtual": 30, "paced": 12}
"""Processor seconds that the whole pocket may take for it: what a busy machine does not change."""
LOOPS = {
    "while :": "while :; do :; done",
    "poll(0)": "python3 -c 'import select\np = select.poll()\nwhile True: p.poll(0)'",
    "select(0)": "python3 -c 'import select\nwhile True: select.select([], [], [], 0)'",
    "python": "python3 -c 'while True: pass'",
    "fork": "while :; do /bin/true; done",
    "sched_yield": "python3 -c 'import os\nwhile True: os.sched_yield()'",
    "clock": "python3 -c 'import time\nwhile True: time.time()'",
}
COMPUTED = "/sys/module/pocket/parameters/computed"


def _spin(loop: str, clock: Clock) -> Data:
    """Wall and network seconds of `sleep 5` on h2 and of ten pings, while h1 runs the loop; None if given up."""
    found: Data = {"sleep_wall_s": None, "sleep_cpu_s": None, "sleep_network_s": None, "lost": None, "computed": None}
    with contextlib.suppress(LinklabError), network(LINE, 1, clock=clock) as net:
        net.type("h2", "ping -c 1 10.0.0.1")
        net.leave("h1", LOOPS[loop])
        begin, spent = time.monotonic(), net.cpu_s()
        (slept,) = net.network.run([Typed("h2", "sleep 5")], deadline_s=PATIENCE_S)
        found["sleep_wall_s"] = round(time.monotonic() - begin, 1)
        found["sleep_cpu_s"] = round(net.cpu_s() - spent, 1)
        found["sleep_network_s"] = round(slept.end_s - slept.start_s, 3)
        (pinged,) = net.network.run([Typed("h2", "ping -i 0.1 -c 10 10.0.0.1")], deadline_s=PATIENCE_S)
        lost = re.search(r"([\d.]+)% packet loss", pinged.output)
        found["lost"] = float(lost[1]) if lost else None
        (said,) = net.network.run([Typed("client", f"cat {COMPUTED}")], deadline_s=PATIENCE_S)
        found["computed"] = said.output.strip() if said.exit_status == 0 else None
    return found


def spin_virtual(seed: int) -> Data:
    """All loops on the virtual clock."""
    return {loop: _spin(loop, Clock.VIRTUAL) for loop in LOOPS}


def spin_paced(seed: int) -> Data:
    """All loops on the paced clock."""
    return {loop: _spin(loop, Clock.PACED) for loop in LOOPS}


def judge_virtual(runs: Runs) -> Iterator[Row]:
    """Time goes on."""
    yield from _judge(runs, "virtual")


def judge_paced(runs: Runs) -> Iterator[Row]:
    """Time goes on as if there was no loop."""
    yield from _judge(runs, "paced")


def _judge(runs: Runs, clock: str) -> Iterator[Row]:
    (run,) = runs.values()
    for loop, one in run.items():
        cpu, network_s = one["sleep_cpu_s"], one["sleep_network_s"]
        if cpu is None:
            found = "did not end"
        else:
            found = (
                f"{network_s} s of network time, {cpu} s of the processor's, {one['sleep_wall_s']} s of wall time; "
                f"{one['lost']} % of pings lost" + (f"; computed: {one['computed']}" if one["computed"] else "")
            )
        yield Row(
            f"`sleep 5` and ten pings on h2 while h1 runs {loop!r}, {clock} clock",
            f"5 s of network time for at most {PROCESSOR_S[clock]} s of the processor",
            "a busy program keeps one host busy, and no clock",
            found,
            cpu is not None and cpu <= PROCESSOR_S[clock] and 5 <= network_s < 6 and one["lost"] == 0,
        )


def interrupted(seed: int) -> Data:
    """Wall seconds from Ctrl+C to the next prompt in a live terminal, after a loop has run for 2 s; and keys on h2."""
    found: Data = {}
    for loop in ("while :", "python", "fork"):
        found[loop] = {"ctrl_c_s": None, "key_ms": None, "presses": None}
        with contextlib.suppress(LinklabError, TimeoutError), network(LINE, seed, clock=Clock.PACED) as net:
            here, there = Screen(net, "h1"), Screen(net, "h2")
            here.wait_for(r"[#$] $")
            there.wait_for(r"[#$] $")
            here.send(LOOPS[loop] + "\r")
            time.sleep(2)
            delays = []
            for key in "abcdefghij":
                begin = time.monotonic()
                there.send(key)
                there.wait_for(key, within_s=10)
                delays.append((time.monotonic() - begin) * 1000)
                time.sleep(0.1)
            found[loop]["key_ms"] = round(statistics.median(delays), 1)
            begin = time.monotonic()
            for presses in range(1, MOST_PRESSES + 1):
                here.send("\x03")
                with contextlib.suppress(TimeoutError):
                    here.wait_for(r"[#$] $", within_s=4)
                    found[loop] |= {"ctrl_c_s": round(time.monotonic() - begin, 3), "presses": presses}
                    break
    return found


class Screen:
    """A live terminal of a node, and what it has shown since something was last sent."""

    def __init__(self, net: Net, node: str) -> None:
        self.link = net.network.link
        self.shown: dict[str, str] = {}
        self.changed = threading.Condition()
        self.link.on("data", self._data)  # before it is open, so that its first prompt is not missed
        answer = self.link.request("open", deadline_s=30, what="a terminal", node=node, rows=24, columns=80)
        self.terminal: str = answer["terminal"]

    def _data(self, message: dict[str, str]) -> None:
        with self.changed:
            text = base64.b64decode(message["data"]).decode(errors="replace")
            self.shown[message["terminal"]] = self.shown.get(message["terminal"], "") + text
            self.changed.notify_all()

    def send(self, text: str) -> None:
        """Press keys."""
        with self.changed:
            self.shown.clear()
        self.link.send("input", terminal=self.terminal, data=base64.b64encode(text.encode()).decode())

    def wait_for(self, pattern: str, within_s: float = 30) -> None:
        """TimeoutError if that is not shown in time."""
        with self.changed:
            if not self.changed.wait_for(lambda: re.search(pattern, _plain(self._text())) is not None, within_s):
                raise TimeoutError(f"{pattern!r} was not shown but {self._text()!r}")

    def _text(self) -> str:
        return self.shown.get(self.terminal, "")


def _plain(text: str) -> str:
    """Without what only colours and moves the cursor."""
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07)", "", text)


def judge_interrupted(runs: Runs) -> Iterator[Row]:
    """Keys arrive; a signal to a child that is about to exit ends that child alone, so a loop of forks may need two."""
    (run,) = runs.values()
    for loop, one in run.items():
        ended = one["ctrl_c_s"] is not None
        most = 3 if loop == "fork" else 1
        yield Row(
            f"Ctrl+C after {loop!r} in a live terminal, paced clock; a key on h2 meanwhile",
            f"a prompt after {'at most three presses' if loop == 'fork' else 'the first press, within 1 s'}; "
            "an echo within 100 ms",
            "keys always arrive; of a child that is about to exit, bash does not learn the signal",
            f"press {one['presses']}, {one['ctrl_c_s']:.2f} s; median {one['key_ms']:.1f} ms"
            if ended
            else f"dead after {MOST_PRESSES} presses",
            ended and one["presses"] <= most and (loop == "fork" or one["ctrl_c_s"] < 1) and one["key_ms"] < 100,
        )


WORKLOADS = {
    "timeout 2": "timeout 2 sh -c 'while :; do :; done'; test $? = 124",
    "gzip": "head -c 60000000 /dev/urandom | gzip -9 | wc -c",
    "openssl": "openssl speed -seconds 3 sha256 2>&1 | tail -2",
    "gcc": "printf 'int main(void){return 0;}\\n' > a.c && gcc -O2 a.c -o a.out && ./a.out",
    "zlib": "python3 -c 'import os, zlib\nfor _ in range(60): zlib.compress(os.urandom(1000000), 9)'",
}


def compute(seed: int) -> Data:
    """Programs that compute and end, on both clocks: wall and network seconds."""
    found: Data = {}
    for clock in (Clock.VIRTUAL, Clock.PACED):
        for name, line in WORKLOADS.items():
            key = f"{name}, {clock.value}"
            found[key] = {"wall_s": None, "network_s": None, "computed": None, "status": None}
            with contextlib.suppress(LinklabError), network(LINE, seed, clock=clock) as net:
                begin = time.monotonic()
                (done,) = net.network.run([Typed("h1", line)], deadline_s=400)
                found[key] |= {
                    "wall_s": round(time.monotonic() - begin, 1),
                    "network_s": round(done.end_s - done.start_s, 2),
                    "status": done.exit_status,
                }
                (said,) = net.network.run([Typed("client", f"cat {COMPUTED}")], deadline_s=30)
                found[key]["computed"] = said.output.strip() if said.exit_status == 0 else None
    return found


def judge_compute(runs: Runs) -> Iterator[Row]:
    """They end, and say what they cost."""
    (run,) = runs.values()
    for name, one in run.items():
        ended = one["wall_s"] is not None and one["status"] == 0
        yield Row(
            f"`{WORKLOADS[name.rpartition(', ')[0]]}` on the {name.rpartition(', ')[2]} clock",
            "ends within 400 s of wall time",
            "computing takes time, and the kernel says whose",
            f"{one['wall_s']} s of wall time, {one['network_s']} s of network time; computed: {one['computed'] or '–'}"
            if ended
            else ("did not end within 400 s" if one["wall_s"] is None else f"status {one['status']}"),
            ended,
        )


EXPERIMENTS = [
    Experiment("spin-virtual", "loops on the virtual clock", [1], spin_virtual, judge_virtual, deadline_s=1800),
    Experiment("spin-paced", "loops on the paced clock", [1], spin_paced, judge_paced, deadline_s=1800),
    Experiment("ctrl-c", "keys while a program loops", [1], interrupted, judge_interrupted),
    Experiment("compute", "programs that compute", [1], compute, judge_compute, deadline_s=5000),
]
