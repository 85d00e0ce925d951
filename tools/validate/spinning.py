# SPDX-License-Identifier: BSD-3-Clause
"""Programs that compute without end on one host, and whether time goes on for all others."""

from __future__ import annotations

import base64
import contextlib
import re
import statistics
import threading
import time
from collections.abc import Iterator

from linklab.engine.api import Clock, Typed
from linklab.errors import DeadlineError
from validate.experiment import Data, Experiment, Row, Runs
from validate.nets import LINE, PARAMETERS, Net, network

PATIENCE_S = 90
"""Wall-clock seconds that a command beside the loop may take before the experiment gives up."""
MOST_PRESSES = 4
PROCESSOR_S = {"virtual": 30, "paced": 12}
"""Processor seconds that the whole pocket may take for `sleep 5`: other load hardly changes them."""
LOOPS = {
    "while :": "while :; do :; done",
    "poll(0)": "python3 -c 'import select\np = select.poll()\nwhile True: p.poll(0)'",
    "select(0)": "python3 -c 'import select\nwhile True: select.select([], [], [], 0)'",
    "python": "python3 -c 'while True: pass'",
    "fork": "while :; do /bin/true; done",
    "sched_yield": "python3 -c 'import os\nwhile True: os.sched_yield()'",
    "clock": "python3 -c 'import time\nwhile True: time.time()'",
}
COMPUTED = f"{PARAMETERS}/computed"


def _spin(loop: str, clock: Clock, seed: int) -> Data:
    """Wall, processor, and network seconds of `sleep 5` on h2, and losses of ten pings, while h1 runs the loop.

    A value is None if its command did not end within PATIENCE_S; any other error ends the experiment.
    """
    found: Data = {"sleep_wall_s": None, "sleep_cpu_s": None, "sleep_network_s": None, "lost": None, "computed": None}
    with network(LINE, seed, clock=clock) as net:
        net.type("h2", "ping -c 1 10.0.0.1")
        net.leave("h1", LOOPS[loop])
        begin, spent = time.monotonic(), net.cpu_s()
        with contextlib.suppress(DeadlineError):
            (slept,) = net.network.run([Typed("h2", "sleep 5")], deadline_s=PATIENCE_S)
            found["sleep_wall_s"] = round(time.monotonic() - begin, 1)
            found["sleep_cpu_s"] = round(net.cpu_s() - spent, 1)
            found["sleep_network_s"] = round(slept.end_s - slept.start_s, 3)
            (pinged,) = net.network.run([Typed("h2", "ping -i 0.1 -c 10 10.0.0.1")], deadline_s=PATIENCE_S)
            lost = re.search(r"([\d.]+)% packet loss", pinged.output)
            found["lost"] = float(lost[1]) if lost else None
            found["computed"] = _computed(net, PATIENCE_S)
    return found


def _who(computed: str) -> str:
    """What the kernel says of programs that time followed ("since_ns lasted_ns name" a line), as names with seconds."""
    lines = [line.split(None, 2) for line in computed.splitlines()]
    return ", ".join(f"{name} {int(lasted) / 1e9:.2f} s" for _, lasted, name in lines)


def _computed(net: Net, deadline_s: float) -> str | None:
    """The programs that the kernel says let time go on; None if this kernel does not say."""
    (said,) = net.network.run([Typed("client", f"cat {COMPUTED}")], deadline_s=deadline_s)
    return said.output.strip() if said.exit_status == 0 else None


def spin_virtual(seed: int) -> Data:
    """All loops on the virtual clock."""
    return {loop: _spin(loop, Clock.VIRTUAL, seed) for loop in LOOPS}


def spin_paced(seed: int) -> Data:
    """All loops on the paced clock."""
    return {loop: _spin(loop, Clock.PACED, seed) for loop in LOOPS}


def judge_virtual(runs: Runs) -> Iterator[Row]:
    """Time goes on."""
    yield from _judge(runs, "virtual")


def judge_paced(runs: Runs) -> Iterator[Row]:
    """Time goes on as if there were no loop."""
    yield from _judge(runs, "paced")


def _judge(runs: Runs, clock: str) -> Iterator[Row]:
    (run,) = runs.values()
    for loop, one in run.items():
        cpu, network_s = one["sleep_cpu_s"], one["sleep_network_s"]
        if cpu is None:
            found = f"`sleep 5` did not end within {PATIENCE_S} s of wall time"
        else:
            pings = "the pings did not end" if one["lost"] is None else f"{one['lost']} % of pings lost"
            found = (
                f"{network_s} s of network time, {cpu} s of processor time, "
                f"{one['sleep_wall_s']} s of wall time; {pings}"
                + (f"; time followed {_who(one['computed'])}" if one["computed"] else "")
            )
        yield Row(
            f"`sleep 5` and ten pings on h2 while h1 runs {loop!r}, {clock} clock",
            f"5 to 6 s of network time for at most {PROCESSOR_S[clock]} s of processor time; no ping lost",
            "a busy program keeps its own host busy, but stops no clock",
            found,
            cpu is not None and cpu <= PROCESSOR_S[clock] and 5 <= network_s < 6 and one["lost"] == 0,
        )


def interrupted(seed: int) -> Data:
    """Ctrl+C after a loop has run for 2 s in a live terminal, and keys typed on h2 meanwhile.

    ctrl_c_s: wall seconds from the first Ctrl+C to the next prompt; presses: how many it took; None if no prompt came.
    key_ms: median wall time from a key to its echo on h2; None if an echo did not come within 10 s.
    """
    found: Data = {}
    for loop in ("while :", "python", "fork"):
        found[loop] = {"ctrl_c_s": None, "key_ms": None, "presses": None}
        with network(LINE, seed, clock=Clock.PACED) as net:
            here, there = Screen(net, "h1"), Screen(net, "h2")
            here.wait_for(r"[#$] $")
            there.wait_for(r"[#$] $")
            here.send(LOOPS[loop] + "\r")
            time.sleep(2)
            with contextlib.suppress(TimeoutError):
                found[loop]["key_ms"] = _key_ms(there)
            begin = time.monotonic()
            for presses in range(1, MOST_PRESSES + 1):
                here.send("\x03")
                with contextlib.suppress(TimeoutError):
                    here.wait_for(r"[#$] $", within_s=4)
                    found[loop] |= {"ctrl_c_s": round(time.monotonic() - begin, 3), "presses": presses}
                    break
    return found


def _key_ms(screen: Screen) -> float:
    """Median wall time from a key to its echo, over ten keys."""
    delays = []
    for key in "abcdefghij":
        begin = time.monotonic()
        screen.send(key)
        screen.wait_for(key, within_s=10)
        delays.append((time.monotonic() - begin) * 1000)
        time.sleep(0.1)
    return round(statistics.median(delays), 1)


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
        """Wait until a pattern is shown; TimeoutError if it is not shown in time."""
        with self.changed:
            if not self.changed.wait_for(lambda: re.search(pattern, _plain(self._text())) is not None, within_s):
                raise TimeoutError(
                    f"{pattern!r} was not shown within {within_s:g} s; the terminal shows {self._text()!r}"
                )

    def _text(self) -> str:
        return self.shown.get(self.terminal, "")


def _plain(text: str) -> str:
    """The text without escape sequences that colour it or move the cursor."""
    return re.sub(r"\x1b(\[[0-9;?]*[A-Za-z]|\][^\x07]*\x07)", "", text)


def judge_interrupted(runs: Runs) -> Iterator[Row]:
    """Keys arrive, and Ctrl+C ends the loop.

    A signal that meets a child about to exit ends that child alone, so a loop of forks may need several presses.
    """
    (run,) = runs.values()
    for loop, one in run.items():
        ended = one["ctrl_c_s"] is not None
        most = 3 if loop == "fork" else 1
        pressed = (
            f"press {one['presses']}, {one['ctrl_c_s']:.2f} s" if ended else f"no prompt after {MOST_PRESSES} presses"
        )
        echoed = "a key was not echoed within 10 s" if one["key_ms"] is None else f"median {one['key_ms']:.1f} ms"
        yield Row(
            f"Ctrl+C after {loop!r} in a live terminal, paced clock; a key on h2 meanwhile",
            f"a prompt after {'at most three presses' if loop == 'fork' else 'the first press, within 1 s'}; "
            "an echo within 100 ms, of wall time",
            "keys always arrive; bash does not learn of a signal that meets a child about to exit",
            f"{pressed}; {echoed}",
            ended
            and one["presses"] <= most
            and (loop == "fork" or one["ctrl_c_s"] < 1)
            and one["key_ms"] is not None
            and one["key_ms"] < 100,
        )


COMPUTES_S = 400
"""Wall-clock seconds that a program which computes may take."""
WORKLOADS = {
    "timeout 2": "timeout 2 sh -c 'while :; do :; done'; test $? = 124",
    "gzip": "head -c 60000000 /dev/urandom | gzip -9 > a.gz",
    "openssl": "openssl speed -seconds 3 sha256",
    "gcc": "printf 'int main(void){return 0;}\\n' > a.c && gcc -O2 a.c -o a.out && ./a.out",
    "zlib": "python3 -c 'import os, zlib; [zlib.compress(os.urandom(1000000), 9) for _ in range(60)]'",
}


def compute(seed: int) -> Data:
    """Programs that compute and end, on both clocks: wall and network seconds; None if one did not end in time."""
    found: Data = {}
    for clock in (Clock.VIRTUAL, Clock.PACED):
        for name, line in WORKLOADS.items():
            key = f"{name}, {clock.value}"
            found[key] = {"wall_s": None, "network_s": None, "computed": None, "status": None}
            with network(LINE, seed, clock=clock) as net, contextlib.suppress(DeadlineError):
                begin = time.monotonic()
                (done,) = net.network.run([Typed("h1", line)], deadline_s=COMPUTES_S)
                found[key] |= {
                    "wall_s": round(time.monotonic() - begin, 1),
                    "network_s": round(done.end_s - done.start_s, 2),
                    "status": done.exit_status,
                }
                found[key]["computed"] = _computed(net, 30)
    return found


def judge_compute(runs: Runs) -> Iterator[Row]:
    """They end, and the row shows what they cost."""
    (run,) = runs.values()
    for name, one in run.items():
        program, _, clock = name.rpartition(", ")
        if one["wall_s"] is None:
            found = f"did not end within {COMPUTES_S} s"
        elif one["status"] != 0:
            found = f"exit status {one['status']} after {one['wall_s']} s of wall time"
        else:
            followed = f"; time followed {_who(one['computed'])}" if one["computed"] else ""
            found = f"{one['wall_s']} s of wall time, {one['network_s']} s of network time{followed}"
        yield Row(
            f"`{WORKLOADS[program]}` on the {clock} clock",
            f"ends within {COMPUTES_S} s of wall time, with exit status 0",
            "a program that computes takes time, but it ends",
            found,
            one["wall_s"] is not None and one["status"] == 0,
        )


EXPERIMENTS = [
    Experiment("spin-virtual", "loops on the virtual clock", [1], spin_virtual, judge_virtual, deadline_s=1800),
    Experiment("spin-paced", "loops on the paced clock", [1], spin_paced, judge_paced, deadline_s=1800),
    Experiment("ctrl-c", "keys while a program loops", [1], interrupted, judge_interrupted),
    Experiment("compute", "programs that compute", [1], compute, judge_compute, deadline_s=5000),
]
