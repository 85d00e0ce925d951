# SPDX-License-Identifier: BSD-3-Clause
"""What `tools/bench.py grading` and `tools/bench.py exercises` measure: a class graded, and every exercise proved.

The submissions are what students hand in who do what `solution/` and `wrong/` say, and some who do nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import write_bundle
from linklab.exercise.load import exercise_folders, find_exercise, load_exercise
from linklab.grade.attempt import Attempt, solution
from linklab.grade.known import known_answers
from linklab.grade.sample import COURSE_FILE, empty, instance_of, sample

Cells = tuple[str, str, str, bool]
SUBMISSIONS = 100
AGAIN = 20
CLASS = ("exercise3", "problem3")


def kinds(name: str) -> Iterator[tuple[str, Attempt | None]]:
    """What the students of an exercise do, over and over: half solve it, one of eight does nothing."""
    exercise = load_exercise(find_exercise(name))
    wrong = [(known.name, known.made) for known in known_answers(exercise)]
    solved = ("model", solution(exercise))
    number = 0
    while True:
        yield solved
        yield ("empty", None) if number % 4 == 3 else wrong[number % len(wrong)]
        number += 1


def right(name: str) -> set[str]:
    """What earns full marks: the model answer, and known answers that are right in another way."""
    exercise = load_exercise(find_exercise(name))
    return {"model"} | {known.name for known in known_answers(exercise) if known.earns[0] == exercise.weight}


def make(name: str, number: int, what: str, source: Attempt | None, out: Path) -> str:
    """Write one submission; its file's name."""
    exercise = load_exercise(find_exercise(name))
    instance = instance_of(exercise, number)
    made = empty(exercise, instance) if source is None else sample(exercise, instance, source, PocketEngine())
    path = out / f"{name}-{instance.student}-{what}.zip"
    write_bundle(path, made.bundle())
    return path.name


def make_class(out: Path, count: int) -> None:
    """`count` submissions, half of them of each exercise."""
    with ProcessPoolExecutor(2) as pool:
        waiting = []
        for name in CLASS:
            for number, (what, source) in zip(range(1, count // len(CLASS) + 1), kinds(name), strict=False):
                waiting.append(pool.submit(make, name, number, what, source, out))
        for future in waiting:
            print(f"bench: {future.result()}", file=sys.stderr)


@dataclass(frozen=True)
class Took:
    """What a grading took: wall-clock seconds, and seconds of processor time of all its processes; NaN without perf."""

    wall_s: float
    processor_s: float


def grade(folder: Path, out: Path, *options: str) -> Took:
    """Grade a folder with `linklab grade`.

    perf stat counts processor time, since what ends in a sandbox leaves none to whoever waits for it.
    """
    course = folder.parent / "course.toml"
    course.touch(mode=0o600)
    course.write_text(COURSE_FILE)
    argv = [
        sys.executable,
        "-m",
        "linklab",
        "grade",
        str(folder),
        "--course",
        str(course),
        "--out",
        str(out),
        "--jobs",
        "2",
        *options,
    ]
    counted = folder.parent / "perf.csv"
    perf = ["perf", "stat", "-x", ";", "-e", "task-clock", "-o", str(counted)] if shutil.which("perf") else []
    started = time.perf_counter()
    subprocess.run([*perf, *argv], check=True, stdout=subprocess.DEVNULL)
    wall_s = time.perf_counter() - started
    if not perf:
        return Took(wall_s, math.nan)
    line = next(line for line in counted.read_text().splitlines() if "task-clock" in line)
    return Took(wall_s, float(line.partition(";")[0]) / 1000)  # perf-stat(1), CSV FORMAT: value, unit, event; in ms


def digest(out: Path, like: Path) -> str:
    """Of the results.json in `out` that are also in `like`, in order."""
    names = sorted(path.parent.name for path in like.glob("*/results.json"))
    return hashlib.sha256(b"".join((out / name / "results.json").read_bytes() for name in names)).hexdigest()[:12]


def grading() -> list[Cells]:
    """A hundred mixed submissions graded, and some of them again, each measured by itself.

    LINKLAB_BENCH_CLASS names a folder that keeps the submissions, so that another grading need not make them again.
    """
    with tempfile.TemporaryDirectory() as name:
        kept = Path(os.environ.get("LINKLAB_BENCH_CLASS", str(Path(name) / "made")))
        folder, again = Path(name) / "submissions", Path(name) / "again"
        again.mkdir()
        kept.mkdir(parents=True, exist_ok=True)
        there = len(list(kept.iterdir()))
        if there not in (0, SUBMISSIONS):
            raise SystemExit(f"bench: {kept} holds {there} files; a class is none or {SUBMISSIONS}: empty the folder")
        if not there:
            make_class(kept, SUBMISSIONS)
        shutil.copytree(kept, folder)
        first, second = Path(name) / "first", Path(name) / "second"
        took = grade(folder, first)
        summary = [json.loads(path.read_text()) for path in sorted(first.glob("*/results.json"))]
        wanted = {name: right(name) for name in CLASS}
        made = [path.stem.split("-", 2) for path in sorted(folder.glob("*.zip"))]
        expected = [what in wanted[name] for name, _, what in made]
        for path in sorted(folder.glob("*.zip"))[:: len(expected) // AGAIN]:
            path.rename(again / path.name)
        alone = grade(again, second, "--no-sharing")
        same = digest(second, second) == digest(first, second)
        full = [result["score"] == result.get("max_score", 100) for result in summary]
    what = f"{SUBMISSIONS} mixed submissions of Exercise 3 and Problem 3 graded, sandboxed, 2 at once"
    each_s, alone_s = took.processor_s / SUBMISSIONS, alone.processor_s / AGAIN
    again_what = f"{AGAIN} of them graded again, each by itself (--no-sharing)"
    rows = [
        (what, "at most 5 min", f"{took.wall_s / 60:.1f} min", took.wall_s <= 300 and len(summary) == SUBMISSIONS),
        ("of them full marks", f"{sum(expected)}, whatever way is right", str(sum(full)), full == expected),
        (f"{again_what}: results.json", "the same bytes", "the same" if same else "other bytes", same),
    ]
    if not math.isnan(each_s):
        found = f"{each_s:.1f} s; by itself {alone_s:.1f} s"
        rows.append(("processor time of a submission, mean", "less than by itself", found, each_s < alone_s))
    return rows


def exercises(students: int = 20, mutants: int = 4) -> list[Cells]:
    """Every exercise proved on the instances of many students, with generated wrong variants."""
    rows: list[Cells] = []
    caught = total = 0
    for folder in exercise_folders():
        exercise = load_exercise(folder)
        argv = [sys.executable, "-m", "linklab", "exercise", "verify", str(folder), "--students", str(students)]
        done = subprocess.run(
            [*argv, "--wrong", "2", "--mutants", str(mutants), "--json"], check=False, capture_output=True, text=True
        )
        proofs = json.loads(done.stdout)["proofs"]
        plain = [proof for proof in proofs if not proof["what"].startswith("mutant")]
        good = sum(proof["holds"] for proof in plain)
        rows.append(
            (
                f"{exercise.heading}: proofs over {students} students",
                "all hold",
                f"{good} of {len(plain)}",
                good == len(plain),
            )
        )
        caught += sum(proof["holds"] for proof in proofs if proof["what"].startswith("mutant"))
        total += len(proofs) - len(plain)
    rows.append(
        (
            "generated wrong variants of the model answers caught",
            "at least 38 of 40",
            f"{caught} of {total}",
            caught >= 0.95 * total,
        )
    )
    return rows


LONG: dict[str, Callable[[], list[Cells]]] = {"grading": grading, "exercises": exercises}
