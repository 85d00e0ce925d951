# SPDX-License-Identifier: BSD-3-Clause
"""One submission graded in a process of its own, so that nothing it does to the grader reaches the others.

`run_unit` starts the process, waits and gives a report in every case: also where the process dies, hangs or raises.
`python -m linklab.grade.worker` is that process.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import linklab
from linklab.base.processes import settle_in
from linklab.engine.api import Engine
from linklab.errors import LinklabError
from linklab.exercise.report import Report, Status

GRADE = "linklab.grade.worker:grade_in_pocket"
GRACE_S = 10.0
"""Wall-clock seconds that a process has to tear its network down."""
MOST_BYTES = 64 * 2**20
"""Largest submitted file that is looked at; an honest one has well below a megabyte."""
_MOST_LOG = 20_000


@dataclass(frozen=True)
class Unit:
    """What is to be graded, as data that can travel.

    label: the submitted file as it was given; content: its bytes; course: those of the course file, or None.
    deadline_s: wall-clock seconds.
    options: keyword arguments of `grade`, a function named as "module:name"; those of `grade_in_pocket`.
    """

    label: str
    content: bytes
    course: bytes | None
    deadline_s: float
    options: Mapping[str, Any] = field(default_factory=dict)
    grade: str = GRADE


@dataclass(frozen=True)
class Done:
    """What came of a unit. log: what the process printed; it may name paths and is no part of the report."""

    report: Report
    log: str = ""


def load_engine(*, sandboxed: bool) -> Engine:
    """What networks are built with."""
    if sandboxed:
        from linklab.grade.sandbox import SandboxEngine  # noqa: PLC0415 - only in the process that grades

        engine: Engine = SandboxEngine()
        return engine
    from linklab.engine.pocket import PocketEngine  # noqa: PLC0415 - as above

    return PocketEngine()


def grade_in_pocket(
    bundle: Path, course: bytes | None, *, seeds: Sequence[int] | None = None, sandboxed: bool = True
) -> Report:
    """Grade a bundle; raises as `linklab.grade.unit.grade`.

    Args:
        bundle: the .zip.
        course: content of the course file.
        seeds: of the runs that are measured; None takes the grader's own.
        sandboxed: False for submissions that are trusted.
    """
    from linklab.grade.unit import SEEDS, grade  # noqa: PLC0415 - as above

    return grade(bundle, course, load_engine(sandboxed=sandboxed), SEEDS if seeds is None else seeds)


def failed(why: str, status: Status = Status.ERROR) -> Report:
    """The report of a submission that was not graded."""
    return Report("", "", "", "", "", "", status, 0.0, 0.0, notes=(why,))


def run_unit(unit: Unit, stop: threading.Event | None = None) -> Done:
    """Grade one submission in a process of its own.

    Args:
        unit: what is to be graded.
        stop: set by whoever wants it ended; the report then says so.
    """
    if len(unit.content) > MOST_BYTES:
        why = f"the file has {len(unit.content) / 2**20:.0f} MiB; a submission has at most {MOST_BYTES >> 20} MiB."
        return Done(failed(why, Status.UNGRADABLE))
    with tempfile.TemporaryDirectory(prefix="linklab-unit-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        bundle = folder / (Path(unit.label.replace("\\", "/")).name or "submission.zip")
        bundle.write_bytes(unit.content)
        with (folder / "log").open("w+b") as log:
            report = _watched(unit, bundle.name, folder, log.fileno(), stop or threading.Event())
            log.seek(0)
            said = log.read(_MOST_LOG).decode("utf-8", "replace")
    return Done(report, said)


def _watched(unit: Unit, bundle: str, folder: Path, log: int, stop: threading.Event) -> Report:
    """The process from start to end."""
    ours, theirs = Pipe()
    command = [sys.executable, "-m", "linklab.grade.worker", str(theirs.fileno()), str(os.getpid()), str(folder)]
    process = subprocess.Popen(
        command,
        cwd=Path(linklab.__file__).parent.parent,  # `-m` puts this folder first on the module path: ours, not theirs
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=[theirs.fileno()],
    )
    theirs.close()
    until = time.monotonic() + unit.deadline_s
    found = None
    try:
        ours.send((unit.grade, bundle, unit.course, dict(unit.options)))
        while not ours.poll(0.2):
            if stop.is_set():
                return failed("Grading was stopped.")
            if time.monotonic() > until:
                return failed(f"Grading took longer than {unit.deadline_s:g} s and was ended.")
        found = ours.recv()
    except (EOFError, OSError):
        return failed(f"The grading process ended without a word ({_ending(process)}).")
    finally:
        ours.close()
        _end(process, answered=found is not None)
    assert isinstance(found, Report)
    return found


def _ending(process: subprocess.Popen[bytes]) -> str:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    code = process.returncode
    if code is None:
        return "it still runs"
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _end(process: subprocess.Popen[bytes], *, answered: bool) -> None:
    """Let a process that has answered end; any other is interrupted, so that it tears down, and then killed."""
    for number in ([None] if answered else []) + [signal.SIGINT, signal.SIGKILL]:
        if number is not None:
            process.send_signal(number)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            continue
        break
    with contextlib.suppress(ProcessLookupError):  # what it left behind in its group
        os.killpg(process.pid, signal.SIGKILL)


# --- in the process


def main(channel: int, parent: int, folder: Path) -> None:
    """Grade what the parent asks for and send the report."""
    os.umask(0o077)
    connection = Connection(channel)
    if not settle_in(parent):
        return
    try:
        name, bundle, course, options = connection.recv()
        os.chdir(folder)
        report = _graded(name, Path(bundle), course, options)
        with contextlib.suppress(BrokenPipeError):  # the parent has gone
            connection.send(report)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # where the parent was killed nobody else does


def _graded(name: str, bundle: Path, course: bytes | None, options: Mapping[str, Any]) -> Report:
    try:
        module, _, function = name.partition(":")
        report = getattr(importlib.import_module(module), function)(bundle, course, **options)
        assert isinstance(report, Report)
    except KeyboardInterrupt:
        return failed("Grading was stopped.")
    except LinklabError as error:
        return _named(failed(" ".join(str(error).split())), bundle)
    except Exception as error:  # the batch goes on, and the log has the rest
        traceback.print_exc()
        return _named(failed(f"The grader broke: {type(error).__name__}: {' '.join(str(error).split())}"), bundle)
    return report


def _named(report: Report, bundle: Path) -> Report:
    """The report with what the submission says of itself, which nobody has proved: whom to ask, and no points."""
    from linklab.exercise.bundle import read_bundle  # noqa: PLC0415 - only where something broke
    from linklab.exercise.instance import parse_instance  # noqa: PLC0415 - as above

    with contextlib.suppress(LinklabError):
        says = parse_instance(read_bundle(bundle).text("instance.json") or "", bundle.name)
        return replace(report, exercise=says.exercise, student=says.student, name=says.name, course=says.course)
    return report


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
