# SPDX-License-Identifier: BSD-3-Clause
"""Reports for the tests of what is made of reports: a class with good and bad work, and `grade` in four kinds.

`grade` stands for `linklab.grade.unit.grade` where the batch is tested: the submitted file says what is to happen.
"""

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from linklab.base.processor_time import LOOKING
from linklab.errors import EngineError, LinklabError
from linklab.exercise.report import CheckResult, Report, Status, Trace
from linklab.grade import worker
from linklab.grade.scratch import working_folder
from linklab.judge.verdict import Outcome

NAN = float("nan")


def check(name, outcome, score, of, **more):
    """A check with a story as `linklab.exercise.judge` tells it."""
    values = {"title": name.replace("-", " ").capitalize(), "kind": "measure", "hidden": False} | more
    told = values.pop("told", "expected at least 929 Mbps (97 % of the goodput of 1 Gbps), saw 412 Mbps.")
    return CheckResult(
        id=name, outcome=outcome, score=score, max_score=of, story=f"{outcome.value} {name}: {told}", **values
    )


def traces(experiment, seeds=(1, 2, 3), seconds=20, period=0.1):
    """Throughput of two flows, RTT and backlog, with a gap."""
    made = []
    for seed in seeds:
        time_s = tuple(round(period * (i + 1), 3) for i in range(int(seconds / period)))
        for number, label in enumerate(("h1 → h2", "h3 → h4")):
            rates = tuple(
                NAN if i == 17 else 470e6 * (1 - math.exp(-t)) + 3e7 * math.sin(t * (2 + number) + seed)
                for i, t in enumerate(time_s)
            )
            made.append(Trace(experiment, seed, "throughput", label, "bit/s", time_s, rates))
        rtt = tuple(0.1 + 0.02 * abs(math.sin(t / 3 + seed)) for t in time_s)
        made.append(Trace(experiment, seed, "rtt", "h2 → h4", "s", time_s, rtt))
        backlog = tuple(2.5e6 * abs(math.sin(t / 3 + seed)) for t in time_s)
        made.append(Trace(experiment, seed, "backlog", "s1-eth2", "bytes", time_s, backlog))
    return tuple(made)


def report(student="s1", name="Ada Lovelace", **changes):
    """A graded report of Exercise 3 with every outcome in it."""
    checks = (
        check("bottleneck", Outcome.PASS, 1, 1, title="The bottleneck is as it was set", kind="unchanged",
              expected="unchanged", seen="unchanged", told="nothing else differs, as it should be"),
        check("switch-buffer", Outcome.PARTIAL, 1, 2, title="The switch's buffer holds a BDP", kind="state",
              expected="at least 11.3 MB", seen="6.2 MB", hints=("Look at the queue of `s1-eth2`.",
              "Its limit is smaller than a BDP.", "`tc qdisc change dev s1-eth2 … limit 12500000`"),
              told="expected at least 11.3 MB (Reno halves its window after a loss), saw 6.2 MB. That is at least "
              "5.62 MB, which earns 50% of the points."),
        check("throughput", Outcome.FAIL, 0, 4, title="Reno fills the link", expected="at least 929 Mbps",
              seen="412 Mbps", samples=(401e6, 412e6, 420e6), unit="bit/s", experiments=("tuned",),
              hints=("Look at <both> hosts.", "rmem & wmem", "`sysctl -w …`")),
        check("bbr-answer", Outcome.SKIPPED, 0, 1, title="The throughput of BBR is answered", kind="answer",
              told="not judged: it needs “Reno fills the link” first"),
        check("secret-bbr", Outcome.PASS, 2, 2, title="BBR is not hurt by losses", hidden=True,
              expected="at least 900 Mbps", seen="941 Mbps", experiments=("lossy", "tuned"),
              told="expected at least 900 Mbps (BBR ignores losses), saw 941 Mbps."),
        check("secret-loss", Outcome.FAIL, 0, 2, title="Losses stay", hidden=True, expected="0.01 %", seen="none",
              experiments=("lossy",), told="expected 0.01 % (the line has it), but s1-eth2 has no loss."),
    )  # fmt: skip
    made = Report(
        exercise="exercise3", heading="Exercise 3: Tuning TCP and the switch's buffer", student=student, name=name,
        course="Networks 2025", source="exercise3.zip", status=Status.GRADED, score=4.0, max_score=12.0,
        checks=checks, notes=("work.sh ran longer than 60 s and was stopped.",),
        parameters={"rate": "1 Gbps", "rtt": "100 ms", "loss": "0.01 %"}, fault="",
        changes=(("h1.cc", "cubic", "reno"), ("s1-eth2.queue", "2.5 MB", "6.2 MB")),
        experiments={"tuned": "h1 → h2, h3 → h4 for 20 s on your network", "lossy": "h1 → h2 for 20 s with losses"},
        metrics={"tuned": {"throughput": (401e6, 412e6, 420e6), "jain": (0.99, 0.98, 0.99)},
                 "lossy": {"throughput": (941e6,)}},
        words={"why": "Because the buffer of the switch was smaller than the BDP, Reno could not fill it."},
        fingerprint="ab" * 32,
        environment={"engine": "pocket", "tools": {"tc": "6.1", "iperf3": "3.12"}, "seeds": [1, 2, 3]},
        traces=(*traces("tuned"), *traces("lossy", seeds=(1,))),
    )  # fmt: skip
    return replace(made, **changes)


def ungradable(why="the zip holds no topology.mn.", **changes):
    """A report of a submission that could not be graded."""
    made = Report("", "", "", "", "", "x.zip", Status.UNGRADABLE, 0.0, 0.0, notes=(why,))
    return replace(made, **changes)


def say_it_backwards(monkeypatch):
    """From here on every error says its words backwards, to show that nothing is decided by them."""
    begin = LinklabError.__init__

    def backwards(self, what, *, where="", fault=None):
        begin(self, what[::-1], where=where[::-1], fault=fault)

    monkeypatch.setattr(LinklabError, "__init__", backwards)


def compute():
    """Use this thread's processor for as long as it has one, whatever is raised meanwhile."""
    while True:
        with contextlib.suppress(Exception):
            sum(range(10**6))


def for_once(wanted):
    """Raise an error, or kill the process that has us graded, the first time only."""
    if Path(wanted["once"]).exists():
        return
    Path(wanted["once"]).write_text(str(Path.cwd()))
    if wanted["do"] == "break":
        raise RuntimeError("it broke beside another one")
    server = Path(f"/proc/{os.getppid()}/stat").read_text().rpartition(")")[2].split()
    os.kill(int(server[1]), signal.SIGKILL)
    time.sleep(600)


def look_on():
    """Compute as a thread does that looks at a network of thousands of processes, for two seconds."""
    for _ in range(20):
        began_s = time.thread_time()
        with LOOKING.counting():
            while time.thread_time() < began_s + 0.1:
                pass


def grade(  # noqa: PLR0912 - a branch for each thing that can be asked for
    bundle, course, *, seeds=(1,), sandboxed=True, own_users=False, shared=None
):
    """Do what the submitted JSON asks for: give a report, raise, die, hang or print."""
    wanted = json.loads(bundle.read_bytes())
    match wanted["do"]:
        case "raise":
            sys.stderr.write("\x1b]0;owned\x07\n")
            raise RuntimeError("the measuring tool broke")
        case "die":
            os._exit(9)
        case "hang" | "wait":
            time.sleep(float(wanted.get("for", 600)))
        case "kill" | "break":
            for_once(wanted)
        case "stop" if not Path(wanted["once"]).exists():
            Path(wanted["once"]).touch()
            return report(score=1.0, stopped="the network ended while work.sh ran: the pocket kernel has ended")
        case "run out of memory" if not Path(wanted.get("once", "/none")).exists():
            if "once" in wanted:
                Path(wanted["once"]).touch()
            worker.own_oom_kills = lambda: 10**9  # as after the OOM killer has ended one of ours
        case "claim":
            return report("", "", unproven=True, score=wanted["score"])
        case "refuse":
            return ungradable("The file holds no topology.mn.", unproven=True)
        case "swell":
            bytearray(2**33)
        case "oom score":
            return replace(report(), environment={"oom score": Path("/proc/self/oom_score_adj").read_text()})
        case "compute":
            compute()
        case "match":
            re.match(r"(a+)+b", "a" * 40)
        case "compute apart":
            with ThreadPoolExecutor() as pool:
                pool.submit(compute).result()
        case "die working":
            with working_folder("linklab-work-") as folder:
                (folder / "work.sh").touch()
                os.kill(os.getpid(), signal.SIGKILL)
        case "dig":
            for _ in range(1950):
                Path("a").mkdir()
                os.chdir("a")
        case "leave":
            subprocess.Popen(["sleep", wanted["for"]])
            subprocess.run([sys.executable, "-c", "import time\nwhile time.process_time() < 2: pass"], check=True)
        case "look":
            look_on()
        case "take":
            if shared is not None:
                raise RuntimeError("it took what another network answered")
        case "spoil":
            return replace(report(), score="many")
    sys.stderr.write("a message of the grader's own\n")
    secret = course.decode() if course else "no course"
    told = {"seeds": list(seeds), "sandboxed": sandboxed, "course": secret, "bundle": str(bundle)}
    return report(wanted.get("student", "s1"), wanted.get("name", ""), environment=told)


def broken(bundle, course):
    """A grader whose network does not come up."""
    raise EngineError("the pocket kernel did not come up.")
