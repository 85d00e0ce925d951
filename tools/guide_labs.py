# SPDX-License-Identifier: BSD-3-Clause
"""Let the guide follow every lab, and write docs/guide.md: each lab with its steps done and its mistakes named.

`python tools/guide_labs.py [LAB]…`; `make guide` takes all labs. Every lab is done three times, and the guide gets what
a student's terminals would give it: as its recording has it; with its settings made in a network whose kernel is asked
after each; and replayed on the virtual clock. That replay's progress is then handed in and graded in the sandbox, with
`linklab submit` and `linklab grade`. `--set` leaves out the replay, and with it the grading, which take most of the
time; `--page` judges the evidence of earlier runs anew, which is kept in build/guide/, and `--grade` hands in what the
earlier replays left. At last the guide is led into ten wrong ways,
which are made up from the manual, and into those of mutants.toml; these need no network. The page is written when all
labs are asked for. Exit 1 if a step of a lab is not done at its end or earns no point, or less than 95 % of the
mistakes are named.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tables import cell, code, row

from linklab.base.files import write
from linklab.base.finish import Background, StopAfter
from linklab.engine.api import Network, Typed
from linklab.engine.choice import load_engine
from linklab.guide.collect import looks_only
from linklab.guide.continuing import starts_network
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import LEAVES, RUN, LabPlan, SettingWant, plan_of, runs_at_once
from linklab.guide.progress import BEGUN, LabProgress
from linklab.guide.recorded import RecordedWork
from linklab.guide.status import GuideStatus
from linklab.guide.wrong_ways import KINDS, NamedWay, known_ways, tried, wrong_ways
from linklab.lab.model import Lab, find_lab, lab_folders, load_lab
from linklab.lab.reference import load_reference
from linklab.lab.sections import chosen_steps
from linklab.manual.chapter import Recorded
from linklab.manual.model import Await, Commands, EditorActions, Interrupt, Step, WriteFile
from linklab.manual.parse import groups
from linklab.run.replay import Replayed, Scene, measure_captures
from linklab.run.stage import Capture, RunSettings, Stage
from linklab.state.model import State
from linklab.terminal.attached import STATE_PROGRAM

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/guide.md"
KEPT = ROOT / "build/guide"
RESULT = "results.json"
ENOUGH = 0.95
RECORDED, SET, REPLAYED, GRADED = "recorded", "set", "replayed", "graded"
WAYS = (RECORDED, SET, REPLAYED, GRADED)
"""How a lab is done; graded is what the replay left, done again by the grader."""
INTRODUCTION = """# How well the guide follows the labs

Written by `make guide`; do not edit.

The guide of a lab ([architecture.md](architecture.md), "The guide") says of each step whether it is open, done, done
differently, or wrong.
It must follow somebody who does a lab as its manual says, and name a mistake where it is made.

The numbers of steps are those that were done at the end of a lab that was done as it is printed:

- *recording*: what the lab shows was taken from its recording, and what lines set was simulated.
- *settings made*: each line that sets something was typed in a network, whose kernel was asked afterwards; the rest is
  that of the recording.
- *replayed*: the whole lab was replayed on the virtual clock.
- *graded*: the progress of that replay, with its times, was handed in by `linklab submit` and graded by
  `linklab grade`, in the sandbox; points of those that can be had, since a step in the editor alone earns none.

*Made up* are ten mistakes for each lab, from its manual: a step is left out, a number or an interface is another one,
or a line is typed on another host.
*Known* are those that each lab's `mutants.toml` describes, written by hand for the lab's expectations.
A mistake counts as named if the first step of which the guide says that something is the matter is the one where it was
made.
What the network would answer to a mistake is simulated, and the same mistakes are made in every run.

"""


@dataclass(frozen=True)
class Followed:
    """What came of a lab done as it is printed.

    steps, done: how many there are, and how many were done at the end.
    others: what the rest were, each with its story.
    """

    steps: int
    done: int
    others: tuple[str, ...]


@dataclass(frozen=True)
class Misled:
    """What came of a lab's mistakes.

    outcomes: of those made up from the manual; known: of those in mutants.toml.
    """

    lab: Lab
    outcomes: tuple[NamedWay, ...]
    known: tuple[NamedWay, ...]

    @property
    def unnamed(self) -> list[NamedWay]:
        """Those at which the guide named another step, or none."""
        return [one for one in (*self.outcomes, *self.known) if not one.named]


def followed(lab: Lab, how: str) -> Followed:
    """Lead the guide through a lab as it is printed, and keep what networks gave; how: one of WAYS."""
    guide, folder = Guide(lab), _folder(lab, how)
    if how == GRADED:
        return _graded(lab)
    if how == RECORDED:
        for _, evidence in RecordedWork(guide.plan, _recorded(lab)).of(lab.manual.steps):
            guide.see_all(evidence)
        return _judged(guide)
    shutil.rmtree(folder, ignore_errors=True)
    progress = LabProgress.begin(folder, lab)
    if not runs_at_once(lab.manual):
        progress.note(BEGUN, environment={})
    for one in replayed_evidence(lab) if how == REPLAYED else set_evidence(guide.plan, _recorded(lab)):
        if isinstance(one, EditorEvidence) and one.words == RUN:
            progress.note(BEGUN, environment={})
        guide.see(one)
        progress.add(one)
    return _judged(guide)


def kept(lab: Lab, how: str) -> Followed | None:
    """The evidence of an earlier run, judged anew; None if there is none."""
    if how == GRADED:
        return _read_grade(lab) if (_folder(lab, how) / RESULT).is_file() else None
    progress = LabProgress.load(_folder(lab, how))
    if progress is None:
        return None
    guide = Guide(lab)
    guide.see_all(progress.evidence())
    return _judged(guide)


def _graded(lab: Lab) -> Followed:
    """Hand in what the replay left, and have it graded."""
    shutil.rmtree(_folder(lab, GRADED), ignore_errors=True)
    linklab = (sys.executable, "-m", "linklab")
    with tempfile.TemporaryDirectory(prefix="linklab-guide-") as name:
        handed_in, out = Path(name) / f"lab{lab.number}.zip", Path(name) / "graded"
        packed = [*linklab, "submit", "--name", "Guide", "--out", str(handed_in)]
        subprocess.run(packed, cwd=_folder(lab, REPLAYED), check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*linklab, "grade", str(handed_in), "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
        shutil.copytree(out / handed_in.stem, _folder(lab, GRADED))
    return _read_grade(lab)


def _read_grade(lab: Lab) -> Followed:
    report = json.loads((_folder(lab, GRADED) / RESULT).read_text(encoding="utf-8"))["extra_data"]
    lost = [one for one in report["checks"] if one["score"] < one["max_score"]]
    stories = tuple(f"graded {one['id']}: {one['seen']}: {one['story']}" for one in lost)
    return Followed(round(report["max_score"]), round(report["score"]), stories)


def _folder(lab: Lab, how: str) -> Path:
    return KEPT / f"{how}-{lab.number:02d}"


def _judged(guide: Guide) -> Followed:
    states = [state for state in guide.steps() if not state.optional]
    rest = [state for state in states if state.status is not GuideStatus.DONE]
    stories = tuple(f"{state.id}: {state.status.value}: {state.story}" for state in rest)
    return Followed(len(states), len(states) - len(rest), stories)


def misled(lab: Lab) -> Misled:
    """Lead the guide into wrong ways; what a lab shows is what its recording holds."""
    plan, recorded = plan_of(lab), _recorded(lab)
    outcomes = tuple(tried(plan, recorded, way) for way in wrong_ways(plan))
    return Misled(lab, outcomes, tuple(tried(plan, recorded, way) for way in known_ways(lab)))


def _recorded(lab: Lab) -> Recorded:
    reference = load_reference(lab)
    return reference.recorded if reference else Recorded()


# --- a replay as evidence


def replayed_evidence(lab: Lab) -> Iterator[GuideEvidence]:
    """What a student's terminals would give who does a lab as it is printed, on the virtual clock."""
    engine, settings, done = load_engine("pocket"), RunSettings(), Replayed()
    scene = Scene(lab, engine, settings)
    begun: dict[str, TypedEvidence] = {}
    inside: list[TypedEvidence] = []
    with tempfile.TemporaryDirectory(prefix="linklab-guide-") as folder:
        stage = Stage(lab, engine, settings, Path(folder) / "files")
        with stage:
            for group in groups(chosen_steps(lab.manual, None)):
                captures = stage.perform(group)
                measure_captures(scene, stage, captures, done)
                for step in group:
                    yield from _begins(step, stage, begun)
                interrupted = {step.action.of for step in group if isinstance(step.action, Interrupt)}
                ended = [*_left_last(_ends(captures, lab, begun, done, interrupted), inside)]
                yield from ended
                if any(not looks_only(line, ()) for line in ended) or _runs(group):
                    yield StateEvidence(State.loads(stage.ask(" ".join(STATE_PROGRAM))), stage.now_s())


def _left_last(ended: Iterable[TypedEvidence], inside: list[TypedEvidence]) -> Iterator[TypedEvidence]:
    """What has ended; a line that has started Mininet's own command line ends with the line that leaves it.

    inside: the line that has started it, if it runs.
    """
    for line in ended:
        if starts_network(line):
            inside.append(line)
            continue
        yield line
        if line.text in LEAVES:
            yield from (replace(one, end_s=line.end_s, status=0) for one in inside)
            inside.clear()


def set_evidence(plan: LabPlan, recorded: Recorded) -> Iterator[GuideEvidence]:
    """As the recording gives it, but with every setting made in a network, and what its kernel says afterwards."""
    texts = {want.text for step in plan.steps for want in step.wants if isinstance(want, SettingWant)}
    work, lab = RecordedWork(plan, recorded), plan.lab
    with (
        tempfile.TemporaryDirectory(prefix="linklab-guide-") as folder,
        load_engine("pocket").start(lab.load_topology(), workdir=Path(folder)) as network,
    ):
        yield _state(network)
        for one in (each for _, evidence in work.of(lab.manual.steps) for each in evidence):
            if isinstance(one, TypedEvidence) and one.ended and one.text in texts:
                (done,) = network.run([Typed(one.terminal, one.text)])
                yield replace(one, output=done.output, status=done.exit_status)
                yield _state(network)
            else:
                yield one


def _state(network: Network) -> StateEvidence:
    (shown,) = network.run([Typed("client#asked", " ".join(STATE_PROGRAM))])
    return StateEvidence(State.loads(shown.output), shown.end_s)


def _runs(group: Sequence[Step]) -> bool:
    return any(
        isinstance(step.action, EditorActions) and any(verb.words == RUN for verb in step.action.verbs)
        for step in group
    )


def _begins(step: Step, stage: Stage, begun: dict[str, TypedEvidence]) -> Iterator[GuideEvidence]:
    match step.action:
        case Commands(lines=lines, finish=finish):
            capture = stage.captures[step.id]
            for number, line in enumerate(lines, 1):
                typed = TypedEvidence(step.terminal, line, capture.start_s + number * 1e-6)
                yield typed
                if number == len(lines):
                    begun[step.id] = typed
                    continue
                yield TypedEvidence(step.terminal, line, typed.start_s, capture.end_s, "", 0)
            if isinstance(finish, Background):
                return
        case WriteFile(path=path, text=text):
            yield FileEvidence(path, text)
        case EditorActions(verbs=verbs):
            for verb in verbs:
                yield EditorEvidence(verb.words)


def _ends(
    captures: Sequence[Capture],
    lab: Lab,
    begun: dict[str, TypedEvidence],
    done: Replayed,
    interrupted: Collection[str],
) -> Iterator[TypedEvidence]:
    """interrupted: steps that Ctrl+C has ended, which a terminal shows."""
    for capture in captures:
        step = lab.manual.step(capture.step)
        if step is None or isinstance(step.action, Interrupt | Await) or capture.step not in begun:
            continue
        line = begun.pop(capture.step)
        measured = done.measured.get(capture.step)
        by_key = capture.step in interrupted or isinstance(getattr(step.action, "finish", None), StopAfter)
        yield TypedEvidence(
            line.terminal,
            line.text,
            line.start_s,
            capture.end_s,
            f"{capture.output}^C\n" if by_key else capture.output,
            capture.exit_status,
            {name: (one.value, one.unit) for name, one in measured.scalars.items()} if measured else {},
            done.broken.get(capture.step, ""),
            capture.files,
        )


# --- the page


def page(results: Mapping[int, Mapping[str, Followed | None]], ways: Sequence[Misled]) -> str:
    """docs/guide.md."""
    lines = [
        INTRODUCTION,
        row("lab", "steps", "recording", "settings made", "replayed", "graded", "made up, named", "known, named"),
    ]
    lines.append(row("---", *["---:"] * 7))
    for one in ways:
        found = results[one.lab.number]
        steps = next((str(result.steps) for result in found.values() if result), "")
        done = [str(result.done) if (result := found[how]) else "–" for how in WAYS if how != GRADED]
        done.append(_points(found[GRADED]))
        lines.append(row(cell(f"{one.lab.number} {one.lab.title}"), steps, *done, _of(one.outcomes), _of(one.known)))
    outcomes = [each for one in ways for each in one.outcomes]
    totals = []
    for how in WAYS:
        known = [result for found in results.values() if (result := found[how])]
        totals.append(f"{sum(result.done for result in known)} of {sum(result.steps for result in known)}")
    lines.append(row("all", "", *totals, _of(outcomes), _of([each for one in ways for each in one.known])))
    lines += ["", "Mistakes that are made up, by kind:", ""]
    lines += [f"- {kind}: {_of([each for each in outcomes if each.way.kind == kind])}" for kind in KINDS]
    if any(None in found.values() for found in results.values()):
        lines += ["", "A dash: not done for this page."]
    rest = [
        (lab, f"{how}: {text}")
        for lab, found in results.items()
        for how in WAYS
        if (result := found[how])
        for text in result.others
    ]
    rest += [(one.lab.number, told(each)) for one in ways for each in one.unnamed]
    if rest:
        lines += ["", "What was not done, or not named:", ""]
        lines += [f"- Lab {lab}: {code(text)}" for lab, text in rest]
    return "\n".join(lines) + "\n"


def _points(graded: Followed | None) -> str:
    return f"{graded.done} of {graded.steps}" if graded else "–"


def _of(outcomes: Sequence[NamedWay]) -> str:
    return f"{sum(each.named for each in outcomes)} of {len(outcomes)}"


def told(one: NamedWay) -> str:
    """A mistake that was not named."""
    return f"{one.way.kind} in {one.way.step} ({one.way.typed}): named {one.at or 'nothing'}"


def main() -> int:
    """Follow the labs that are asked for, and write the page when all are."""
    parser = argparse.ArgumentParser(description="Let the guide follow labs, for docs/guide.md.")
    parser.add_argument("labs", metavar="LAB", nargs="*", help="which labs (default: all)")
    parser.add_argument("--set", action="store_true", help="only make the settings in networks, and replay nothing")
    parser.add_argument("--page", action="store_true", help="judge the evidence that is kept, and run nothing")
    parser.add_argument("--grade", action="store_true", help="the same, and grade the replays that are kept")
    args = parser.parse_args()
    run = [RECORDED, GRADED] if args.grade else [RECORDED] if args.page else [RECORDED, SET] if args.set else list(WAYS)
    results: dict[int, dict[str, Followed | None]] = {}
    ways = []
    for lab in (load_lab(folder) for folder in [find_lab(name, ROOT) for name in args.labs] or lab_folders(ROOT)):
        started = time.perf_counter()
        found = {how: followed(lab, how) if how in run else kept(lab, how) for how in WAYS}
        mistakes = misled(lab)
        results[lab.number] = found
        ways.append(mistakes)
        done = ", ".join(f"{how}: {one.done} of {one.steps}" for how, one in found.items() if one)
        counts = f"{_of(mistakes.outcomes)} and {_of(mistakes.known)} mistakes"
        print(f"Lab {lab.number}: {done}; {counts}; {time.perf_counter() - started:.1f} s", flush=True)
        for text in (*(text for one in found.values() if one for text in one.others), *map(told, mistakes.unnamed)):
            print(f"    {text}", flush=True)
    if not args.labs:
        write(PAGE, page(results, ways))
    outcomes = [each for one in ways for each in (*one.outcomes, *one.known)]
    named = sum(each.named for each in outcomes) / max(len(outcomes), 1)
    whole = all(one.done == one.steps for found in results.values() for one in found.values() if one)
    return 0 if named >= ENOUGH and whole else 1


if __name__ == "__main__":
    sys.exit(main())
