# SPDX-License-Identifier: BSD-3-Clause
"""How long named tests take, for tools/bench.py: RRUL at two rates, the self-test of all tests, batches.

Each is the command that a person types, with its start and the writing of its file. Wall-clock seconds; a single test
gets one processor, so that its figure does not depend on how many there are.
"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

LINKLAB = (sys.executable, "-m", "linklab")
AGAIN = 3
BATCH = """
[Batch::rrul]
test_name = rrul
path = 10mbit 50ms ${qdisc}
length = 30
for_qdisc = q_*
repetitions = 25
[Arg::q_fifo]
qdisc = pfifo
[Arg::q_codel]
qdisc = codel
[Arg::q_pie]
qdisc = pie
[Arg::q_fq_codel]
qdisc = fq_codel
"""
"""A hundred trials."""
Row = tuple[str, str, str, bool]


def one_processor() -> None:
    """Before a command begins: it, and all that it starts, have the first of our processors."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def ran(words: Sequence[str], *, alone: bool = False) -> tuple[float, int, str]:
    """Run `linklab`: wall-clock seconds, exit status, what it printed."""
    begun = time.monotonic()
    done = subprocess.run(
        [*LINKLAB, *words],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        preexec_fn=one_processor if alone else None,
    )
    return time.monotonic() - begun, done.returncode, done.stdout


def rrul(path: str, most_s: float) -> list[Row]:
    """RRUL for 60 s of load."""
    walls = []
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
        words = ["test", "run", "rrul", "--path", path, "-o", f"{folder}/rrul.flent.gz"]
        for _ in range(AGAIN):
            wall, status, _ = ran(words, alone=True)
            if status:
                raise RuntimeError(f"linklab {' '.join(words)} ended with {status}")
            walls.append(wall)
    wall = statistics.median(walls)
    return [
        (
            f"`linklab test run rrul --path '{path}'`, 70 s of network time on one processor",
            f"at most {most_s:g} s",
            f"{wall:.1f} s",
            wall <= most_s,
        )
    ]


def selftest() -> list[Row]:
    """Every test of the library, for three seconds of load."""
    wall, status, said = ran(["test", "selftest"])
    counts = re.search(r"(\d+) tests gave all their data, (\d+) did not, (\d+) cannot be had", said)
    if counts is None:
        raise RuntimeError(f"linklab test selftest ended with {status} and no sum")
    good, failed, impossible = map(int, counts.groups())
    return [
        (
            f"`linklab test selftest`, {good + failed} tests, two at once",
            "at most 10 min",
            f"{wall / 60:.1f} min",
            wall <= 600,
        ),
        (
            "of them gave all their data",
            "all",
            f"{good} of {good + failed}; {impossible} more cannot be had",
            status == 0 and failed == 0,
        ),
    ]


def batch() -> list[Row]:
    """A hundred trials in one batch, and how good its first estimate of that was."""
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
        file, out = Path(folder) / "bench.batch", Path(folder) / "out"
        file.write_text(BATCH)
        wall, status, said = ran(["batch", str(file), "--out", str(out)])
        trials = json.loads((out / "trials.json").read_text())["trials"]
    done = sum(trial["state"] == "done" for trial in trials)
    guess = re.search(r"about (?:(\d+) min ?)?(?:(\d+) s)?, ", said)
    guessed_s = 60 * int(guess[1] or 0) + int(guess[2] or 0) if guess else 0
    near = guessed_s > 0 and 1 / 1.5 <= wall / guessed_s <= 1.5
    return [
        (
            f"a batch of {len(trials)} trials of RRUL, 10 Mbit/s, 30 s of load each",
            "at most 6 min",
            f"{wall / 60:.1f} min",
            status == 0 and done == len(trials) == 100 and wall <= 360,
        ),
        ("its estimate before it began", "within a factor of 1.5", f"{guessed_s / 60:.1f} min", near),
    ]


COSTS = (
    ("ping", "10mbit 50ms", 60, {}),
    ("tcp_1up", "10mbit 50ms", 60, {}),
    ("tcp_1up", "100mbit 50ms", 30, {}),
    ("tcp_1up", "1gbit 20ms 1bdp", 30, {}),
    ("rrul", "10mbit 50ms", 60, {}),
    ("rrul", "100mbit 50ms", 15, {}),
    ("rrul", "1gbit 20ms 1bdp", 15, {}),
    ("tcp_nup", "10mbit 50ms", 30, {"upload_streams": "16"}),
    ("rtt_fair4be", "10mbit 20ms,40ms,80ms,160ms", 30, {}),
    ("voip", "10mbit 50ms", 60, {}),
)
"""Tests, paths, lengths, parameters."""


def costs() -> list[Row]:
    """What trials take beside what `linklab.experiment.cost` thinks; each in a process of its own, as in a batch."""
    from linklab.experiment.cost import wall_s  # noqa: PLC0415 - the other measures need none of it
    from linklab.experiment.model import Trial  # noqa: PLC0415
    from linklab.experiment.prepared import prepare  # noqa: PLC0415
    from linklab.experiment.trial import run_trial  # noqa: PLC0415

    rows = []
    for test, path, length_s, parameters in COSTS:
        trial = Trial(test, path=path, length_s=length_s, parameters=parameters)
        guess = wall_s(prepare(trial))
        with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
            begun = time.monotonic()
            process = multiprocessing.get_context("fork").Process(
                target=run_trial, args=(trial, Path(folder) / "x.flent.gz")
            )
            process.start()
            process.join()
        wall = time.monotonic() - begun
        near = process.exitcode == 0 and 1 / 1.5 <= wall / guess <= 1.5
        what = f"a trial of {test} on {path}, {length_s} s of load {parameters or ''}".strip()
        rows.append((what, f"{guess:.1f} s within a factor of 1.5", f"{wall:.1f} s", near))
    return rows


KILLS = 20
SMALL = """
[Batch::up]
test_name = tcp_1up
path = 10mbit 50ms ${qdisc}
length = 2
for_qdisc = q_*
repetitions = 16
[Arg::q_fifo]
qdisc = pfifo
[Arg::q_codel]
qdisc = codel
"""
"""Trials of a few seconds, so many that killed runs do not come to their end."""


def killed() -> list[Row]:
    """A batch that SIGKILL ends again and again, and that is resumed each time."""
    rng = random.Random(18)  # noqa: S311 - moments, no secret
    moments, left = 0, 0
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
        file, out = Path(folder) / "small.batch", Path(folder) / "killed"
        file.write_text(SMALL)
        wall, whole, _ = ran(["batch", str(file), "-q", "--out", f"{folder}/whole"])
        within_s = 0.1 * wall  # so that the twentieth one finds something to do
        for _ in range(KILLS):
            where = ["--resume", str(out)] if (out / "trials.json").exists() else ["--out", str(out)]
            begun = time.time()
            process = subprocess.Popen([*LINKLAB, "batch", str(file), "-q", *where])
            while process.poll() is None and not runs(out, begun):
                time.sleep(0.01)  # its start is the same each time
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(rng.uniform(0, within_s))
            moments += process.poll() is None
            process.kill()
            process.wait()
        done = len(list(out.glob("*.gz")))
        _, resumed, _ = ran(["batch", str(file), "-q", "--resume", str(out)])
        same = contents(out) == contents(Path(folder) / "whole")
        left = sum(str(folder) in command for command in command_lines())
    return [
        (
            f"a batch killed at {moments} random moments and resumed ({done} of 32 trials were done by then)",
            "the same folder, byte for byte, and no process left",
            f"{'the same' if same else 'another one'}, {left} processes",
            same and whole == resumed == 0 and moments == KILLS and left == 0,
        )
    ]


def runs(out: Path, begun: float) -> bool:
    """Whether a trial of a run that began then is under way."""
    with contextlib.suppress(OSError):  # gone while it is looked at
        return any(log.stat().st_mtime > begun for log in out.glob(".work/*/log"))
    return False


def contents(folder: Path) -> dict[str, bytes]:
    """All files in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def command_lines() -> Iterator[str]:
    """Of all processes."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            yield path.read_bytes().decode("utf-8", "replace")


MEASURES: dict[str, Callable[[], list[Row]]] = {
    "rrul-10mbit": lambda: rrul("10mbit 50ms", 6),
    "rrul-1gbit": lambda: rrul("1gbit 20ms 1bdp", 20),
}
LONG: dict[str, Callable[[], list[Row]]] = {
    "selftest": selftest,
    "batch": batch,
    "batch-killed": killed,
    "trial-costs": costs,
}
"""Measured when asked for by name."""
