# SPDX-License-Identifier: BSD-3-Clause
"""Submissions graded in processes of their own, so that nothing one does to the grader reaches the others.

There is a report in every case: also where the process dies, hangs or raises.  On a cluster the same happens on
another machine, one submission at a time.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, Any, TypeAlias

from linklab.base import owned
from linklab.base.files import remove_folder
from linklab.base.fork_server import ForkServer, fork_server
from linklab.base.orphans import orphans_end
from linklab.base.processes import FIRST_TO_END, be_ended_before_others, oom_kills, own_oom_kills
from linklab.base.processor_time import own_s
from linklab.base.supervise import Began, Ended, Job, OverdueError, supervised
from linklab.base.text import one_line
from linklab.base.worker import DiedError, StoppedError, Tell
from linklab.engine.api import Engine
from linklab.engine.bytecode import PACKAGE, compile_once
from linklab.errors import LinklabError
from linklab.exercise.places import searching
from linklab.exercise.report import Report, Status, called
from linklab.grade import scope, scratch, subordinate

GRADE = "linklab.grade.worker:grade_in_pocket"
GRACE_S = 120.0
"""Wall-clock seconds that a process has to tear its network down, which takes the machine up to a minute."""
LOOK_S = 0.25
"""Wall-clock seconds after which whoever waits is told that nothing happened."""
MOST_BYTES = 64 * 2**20
"""Largest submitted file that is looked at; an honest one has well below a megabyte."""
MOST_MEMORY_BYTES = 4 * 2**30
"""Memory of the process that grades: what is graded may print or write what takes many times its size to be read."""
PROCESSOR_S = 300.0
"""Processor time of that process alone, which takes a few seconds; that of its networks is counted apart."""
_OOM_SCORE = FIRST_TO_END // 2
"""Where memory runs out, networks are ended first, then the process that grades, and last the one that collects."""
_ORPHANS_S = 300.0
"""Wall-clock seconds that the machine has to take apart what a killed process has left."""
_AGAIN_S = 5.0
_MOST_LOG = 20_000


@dataclass(frozen=True)
class Unit:
    """What is to be graded, as data that can travel.

    label: the submitted file as it was given; content: its bytes; course: those of the course file, or None.
    deadline_s: wall-clock seconds.
    processor_s: of the process that grades, without its networks.
    options: keyword arguments of `grade`, a function named as "module:name"; those of `grade_in_pocket`.
    exercises: where exercises of the instructor's own are (`linklab.exercise.places`), on whatever machine it is.
    """

    label: str
    content: bytes
    course: bytes | None
    deadline_s: float
    options: Mapping[str, Any] = field(default_factory=dict)
    grade: str = GRADE
    exercises: tuple[str, ...] = ()
    processor_s: float = PROCESSOR_S


@dataclass(frozen=True)
class Done:
    """What came of a unit.

    log: what the process printed; it may name paths and is no part of the report.
    out_of_memory: whether the OOM killer has ended processes of the grader meanwhile, perhaps of its networks.
    again: whether it is in doubt, and the unit is graded once more, which then counts.
    """

    report: Report
    log: str = ""
    out_of_memory: bool = False
    again: bool = False


def grading_engine(
    *, sandboxed: bool, container: bool = False, secret: Sequence[Path] = (), own_users: bool = False
) -> Engine:
    """What networks are built with.

    Args:
        sandboxed: whether in a sandbox.
        container: whether the container that we are in is the sandbox.
        secret: files that the student's commands must not be able to read there.
        own_users: whether a network is started only where the sandbox can give it a user of its own.
    """
    if container:
        from linklab.grade.container import ContainerEngine  # noqa: PLC0415 - only in the process that grades

        return ContainerEngine(secret)
    if sandboxed:
        from linklab.grade.sandbox import SandboxEngine  # noqa: PLC0415 - only in the process that grades

        engine: Engine = SandboxEngine(own_users=own_users)
        return engine
    from linklab.engine.pocket import PocketEngine  # noqa: PLC0415 - as above

    return PocketEngine()


def grade_in_pocket(
    bundle: Path,
    course: bytes | None,
    *,
    seeds: Sequence[int] | None = None,
    sandboxed: bool = True,
    container: bool = False,
    own_users: bool = False,
    shared: Path | None = None,
) -> Report:
    """Grade a bundle; raises as `linklab.grade.unit.grade`.

    Args:
        bundle: the .zip.
        course: content of the course file.
        seeds: of the runs that are measured; None takes the course's own.
        sandboxed: False for submissions that are trusted.
        container: True where the container that we are in is the sandbox.
        own_users: whether a network without a user of its own is an error, since this machine gives others one.
        shared: folder of what networks have answered, or None; nothing that a submission runs may reach it.
    """
    from linklab.grade.unit import grade  # noqa: PLC0415 - as above

    engine = grading_engine(sandboxed=sandboxed, container=container, own_users=own_users)
    return grade(bundle, course, engine, seeds, shared)


def failed(why: str, status: Status = Status.ERROR) -> Report:
    """The report of a submission that was not graded."""
    return Report("", "", "", "", "", "", status, 0.0, 0.0, notes=(why,))


# --- processes


Happened: TypeAlias = "tuple[int, Done | None]"
"""Number of a unit, and what came of it; None when it begins."""
Happenings: TypeAlias = "Generator[Happened | None, None, None]"
"""What happens to units, and None a few times a second; closing it ends what runs."""


def run_here(units: Sequence[Callable[[], Unit | Report]], at_once: int) -> Happenings:
    """Grade all on this machine.

    Args:
        units: each is made when it is due, and gives a report where there is nothing to grade.
        at_once: how many at once.
    """
    with orphans_end(_ORPHANS_S), fork_server(_ready) as server, contextlib.ExitStack() as places:
        desk = _Desk(units, places, server)
        with supervised(desk.jobs(), at_once, tick_s=LOOK_S, grace_s=GRACE_S) as events:
            for event in events:
                yield from desk.refused()
                match event:
                    case Began(index):
                        yield index, None
                    case Ended():
                        yield event.key, desk.done(event)
                    case None:
                        yield None
        yield from desk.refused()


def run_unit(unit: Unit) -> Done:
    """Grade one submission in a process of its own; a report in every case."""
    for happened in run_here([lambda: unit], 1):
        if happened is not None and happened[1] is not None:
            return happened[1]
    raise AssertionError("a unit has an end")


@dataclass
class _Desk:
    """The units that are graded, and a folder for each while it is; `places` removes what is left of them.

    server: what the processes that grade are copies of.
    logs: what each process prints, opened here: the process removes its folder when it is stopped.
    killed: how many processes the OOM killer had ended on this machine when each was begun, for a process that dies.
    contained: whether something is graded in a container, which is left empty.
    """

    units: Sequence[Callable[[], Unit | Report]]
    places: contextlib.ExitStack
    server: ForkServer
    ready: list[Happened] = field(default_factory=list)
    logs: dict[int, tuple[Path, IO[bytes]]] = field(default_factory=dict)
    killed: dict[int, int | None] = field(default_factory=dict)
    contained: bool = False

    def jobs(self) -> Iterator[Job[_Graded]]:
        """A job for each unit that needs a process; what came of the others is in `refused`."""
        for index, make in enumerate(self.units):
            try:
                found = self._job(index, make())
            except Exception as error:  # such as a full /tmp: this one is lost, the others go on
                found = failed(f"The grader broke: {type(error).__name__}: {error}")
            if isinstance(found, Report):
                self.ready += [(index, None), (index, Done(found))]
            else:
                yield found

    def refused(self) -> Iterator[Happened]:
        """What has become known without a process, since this was last asked."""
        ready, self.ready = self.ready, []
        yield from ready

    def _job(self, index: int, unit: Unit | Report) -> Job[_Graded] | Report:
        if isinstance(unit, Report):
            return unit
        if len(unit.content) > MOST_BYTES:
            size = f"{len(unit.content) / 2**20:.0f} MiB"
            return failed(f"the file has {size}; a submission has at most {MOST_BYTES >> 20} MiB.", Status.UNGRADABLE)
        if unit.options.get("container", False):
            from linklab.grade.leftovers import begin_empty, leave_empty  # noqa: PLC0415 - only in a container

            begin_empty()  # one is graded at a time there
            if not self.contained:
                self.contained = True
                self.places.callback(leave_empty)  # before orphans are waited for one by one
        folder = owned.make("linklab-unit-")
        self.places.callback(remove_folder, folder)
        work, log = folder / "work", folder / "log"
        work.mkdir()
        bundle = work / (Path(unit.label.replace("\\", "/")).name or "submission.zip")
        bundle.write_bytes(unit.content)
        self.logs[index] = folder, self.places.enter_context(log.open("w+b"))
        self.killed[index] = oom_kills()
        job = partial(_work, replace(unit, content=b""), bundle.name)
        return Job(index, job, unit.deadline_s, server=self.server, folder=work, printed=log)

    def done(self, ended: Ended[_Graded]) -> Done:
        """What came of a unit, and what its process printed."""
        folder, log = self.logs.pop(ended.key)
        with log:
            said = log.read(_MOST_LOG).decode("utf-8", "replace")
        remove_folder(folder)
        killed = self.killed.pop(ended.key)
        if ended.error is None:
            assert isinstance(ended.value, _Graded)
            return Done(ended.value.report, said, ended.value.out_of_memory)
        return Done(failed(_why(ended.error)), said, isinstance(ended.error, DiedError) and oom_kills() != killed)


def _why(error: LinklabError) -> str:
    """Why a unit has no report: whatever befell its process is no fault of the submission's."""
    match error:
        case StoppedError():
            return "Grading was stopped."
        case OverdueError(after_s=after_s):
            return f"Grading took longer than {after_s:g} s and was ended."
        case DiedError(how=how):
            return f"The grading process ended without a word ({how})."
    return f"The grader broke: {error}"


# --- in the process


def _ready() -> None:
    """Do once what nearly every process that grades needs, before it is copied."""
    for name in ("linklab.grade.unit", "linklab.grade.sandbox"):
        importlib.import_module(name)
    compile_once(PACKAGE)


@dataclass(frozen=True)
class _Graded:
    """What the process says; out_of_memory as of `Done`."""

    report: Report
    out_of_memory: bool


def _work(unit: Unit, bundle: str, _tell: Tell) -> _Graded:
    """Grade one submission in the folder that this process works in."""
    os.umask(0o077)
    be_ended_before_others(_OOM_SCORE)
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = MOST_MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MOST_MEMORY_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    folder = Path.cwd().parent
    try:
        if unit.options.get("container", False):
            from linklab.grade.leftovers import hold_working  # noqa: PLC0415 - only in a container

            hold_working()
        elif unit.options.get("sandboxed", True):
            if why := scope.enter(scope.limits_of(MOST_MEMORY_BYTES)):  # the other limits hold all the same
                sys.stderr.write(f"{why}\n")
            why = subordinate.enter()  # before there are threads; where it cannot be, networks run as ourselves
            if why and os.geteuid() != 0 and unit.options.get("own_users", False):
                sys.stderr.write(f"networks have no subordinate users: {why}\n")
        killed = own_oom_kills()  # in the group that it may have entered
        with searching(map(Path, unit.exercises)), scratch.within(folder):
            try:
                with _processor_time(unit.processor_s):
                    report = graded(unit.grade, Path(bundle), unit.course, unit.options)
            except _OverworkedError:
                traceback.print_exc()
                took = f"Grading took more than {unit.processor_s:g} s of processor time beside its networks"
                why = f"{took} and was ended: look at what its files hold."
                report = _named(failed(why), Path(bundle), unit.course)
        return _Graded(report, own_oom_kills() != killed)
    except KeyboardInterrupt:  # perhaps because whoever started us was killed, and will remove nothing
        os.chdir("/")
        remove_folder(folder)
        raise


class _OverworkedError(BaseException):
    """What is graded takes this process too long to read; no Exception, which somebody on the way might handle."""


@contextlib.contextmanager
def _processor_time(most_s: float) -> Iterator[None]:
    """Raise _OverworkedError in the main thread where all threads together take more.

    Neither children count nor looks, which a network can ask for with processes that only wait, and which rest ten
    times as long as they take.

    It takes a timer and a thread. The timer's signal goes to whichever thread computes (setitimer(2)), which wakes no
    main thread that waits for that one. The thread does not run while C code such as `re` holds the interpreter's lock;
    but that code looks for signals.
    """

    def over(*_: object) -> None:
        if (left_s := until_s - own_s()) <= 0:
            raise _OverworkedError
        signal.setitimer(signal.ITIMER_PROF, max(left_s, LOOK_S), _AGAIN_S)

    def watch() -> None:
        while not ended.wait(LOOK_S):
            if own_s() > until_s:
                signal.pthread_kill(main, signal.SIGPROF)
                ended.wait(_AGAIN_S)

    ended, main, until_s = threading.Event(), threading.get_ident(), own_s() + most_s
    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, most_s, _AGAIN_S)
    watcher = threading.Thread(target=watch, name="processor time", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        ended.set()
        watcher.join()
        signal.signal(signal.SIGPROF, before)


def graded(name: str, bundle: Path, course: bytes | None, options: Mapping[str, Any]) -> Report:
    """What came of a submission, whatever happens: an error of ours costs no points.

    Args:
        name: of the function that grades, "module:name".
        bundle: the submitted file.
        course: content of the course file.
        options: keyword arguments of the function.
    """
    try:
        module, _, function = name.partition(":")
        report = getattr(importlib.import_module(module), function)(bundle, course, **options)
        assert isinstance(report, Report)
    except LinklabError as error:
        return _named(failed(one_line(str(error))), bundle, course)
    except MemoryError:
        traceback.print_exc()
        gib = MOST_MEMORY_BYTES >> 30
        why = f"Grading took more than {gib} GiB of memory and was ended: look at what its commands print and write."
        return _named(failed(why), bundle, course)
    except Exception as error:  # the batch goes on, and the log has the rest
        traceback.print_exc()
        return _named(failed(f"The grader broke: {type(error).__name__}: {one_line(str(error))}"), bundle, course)
    return report


def _named(report: Report, bundle: Path, course: bytes | None) -> Report:
    """The report with whose it is, so that the instructor knows whom it concerns: proven, or by its own word."""
    from linklab.exercise.bundle import LAB, read_bundle  # noqa: PLC0415 - only where something broke
    from linklab.exercise.course import parse_course  # noqa: PLC0415 - as above
    from linklab.exercise.instance import parse_instance, proven  # noqa: PLC0415 - as above
    from linklab.exercise.load import known_exercise, load_exercise  # noqa: PLC0415 - as above
    from linklab.grade.lab_unit import claimed_in  # noqa: PLC0415 - as above

    report = replace(report, unproven=True)
    with contextlib.suppress(LinklabError):
        found = read_bundle(bundle)
        if LAB in found.files:
            lab, claims = claimed_in(found)
            return replace(report, exercise=lab, claims=claims)
        says = parse_instance(found.text("instance.json") or "", bundle.name)
        report = replace(report, exercise=says.exercise, claims=called(says.student, says.name))
        secret = parse_course(course, "the course file") if course is not None else None
        known = proven(says, load_exercise(known_exercise(says.exercise)), secret)
        who, name, course_name = known.student, known.name, known.course
        return replace(report, student=who, name=name, course=course_name, unproven=False, claims="")
    return report
