# SPDX-License-Identifier: BSD-3-Clause
"""`linklab submit`: pack a student's work, with the running network's state read back, into one .zip to hand in."""

from __future__ import annotations

import argparse
import hashlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.files import write_asked
from linklab.base.text import visible
from linklab.commands import lab_submit
from linklab.commands.options import add_exercises_option
from linklab.errors import InputError
from linklab.exercise.answers import read_answers
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.exercise.folder import collect, repeated
from linklab.exercise.instance import PRACTICE
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.places import searching
from linklab.exercise.textfile import read_text
from linklab.topology import Topology

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab submit                       the folder you are in, with the network that runs in it
  linklab submit exercise-3 -o mine.zip
  linklab submit --work                what work.sh leads to counts, though a network runs
  linklab submit --repeat-recorded     no network runs any more: the commands you typed become work.sh
  linklab submit --student s1234       in the folder of a lab: its progress, answers, results, and report

The .zip of an exercise holds the topology, what your network is set to, your answers, the files you made and what you
typed in the terminals, and a list of hashes. Nothing is sent: hand it in as your course says.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `submit [FOLDER] [-o FILE.zip]` and what counts."""
    parser = subparsers.add_parser(
        "submit",
        help=summary,
        description="Pack what you did for an exercise or in a lab into one .zip to hand in.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folder", metavar="FOLDER", nargs="?", type=Path, default=Path(), help="default: this one")
    parser.add_argument(
        "-o", "--out", metavar="FILE.zip", type=Path, help="default: EXERCISE-STUDENT.zip in the folder"
    )
    parser.add_argument("--student", metavar="ID", default="", help="of a lab: how your course knows you")
    parser.add_argument("--name", metavar="NAME", default="", help="of a lab: your name (default: that of the notes)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--work", action="store_true", help="work.sh counts, also where a network runs")
    what.add_argument(
        "--repeat-recorded",
        action="store_true",
        help="write the configuring commands of the recorded terminals to work.sh, and let that count",
    )
    what.add_argument("--answers-only", action="store_true", help="hand in without a network: the answers count alone")
    add_exercises_option(parser)
    return parser


@dataclass
class _Packed:
    """What goes into the bundle, and what the student is told."""

    files: dict[str, bytes]
    said: list[str] = field(default_factory=list)


def run(args: argparse.Namespace) -> int:
    """Pack it; 0 if it was written."""
    with searching(args.exercises):
        return _run(args)


def _run(args: argparse.Namespace) -> int:
    from linklab.grade.drawing import need_gradable
    from linklab.grade.own_folder import own_instance, topology_file
    from linklab.grade.unit import handed_out
    from linklab.terminal import attached

    attached.need_outside("linklab submit")
    folder: Path = args.folder
    if lab_submit.is_lab(folder):
        return lab_submit.submit_lab(args)
    _need_work(folder)
    instance, exercise = own_instance(folder)
    path = topology_file(folder, exercise)
    topology = Topology.load(path)
    topology.check()
    need_gradable(topology, handed_out(exercise))
    packed = _Packed({"instance.json": (folder / "instance.json").read_bytes(), "topology.mn": path.read_bytes()})
    _network(args, exercise, instance, topology, packed)
    _answers(folder, exercise, packed)
    out = args.out or folder / f"{exercise.id}-{instance.student}.zip"
    found = collect(folder, skip=[out, path])
    packed.files |= found.results | found.terminals
    try:
        write_bundle(out, Bundle(exercise.id, instance.student, packed.files))
    except OSError as error:
        raise InputError(f"{out}: cannot be written: {error.strerror}") from error
    for sentence in (*packed.said, *found.notes):
        print(visible(sentence))
    size = out.stat().st_size
    digest = hashlib.sha256(out.read_bytes()).hexdigest()
    print(f"{out}: {len(packed.files) + 1} files, {size / 1000:.1f} kB, SHA-256 {digest[:16]}…")
    print(f"Hand in this file. {_whose(exercise, instance)}")
    return 0


def _need_work(folder: Path) -> None:
    """Raise InputError where the folder holds neither an exercise nor the progress of a lab."""
    if folder.is_dir() and not (folder / "instance.json").exists():
        raise InputError(
            f"{_named(folder)} holds nothing to hand in: neither an exercise (instance.json) nor the progress of a "
            "lab. Go to the folder of your work, or name it. “linklab exercise start” begins an exercise. "
            "“linklab lab 8”, “linklab shell 8 --guide”, and the editor keep a lab's progress; “linklab shell 8” alone "
            "does not"
        )


def _whose(exercise: Exercise, instance: Instance) -> str:
    kind = f"{exercise.kind.title()} {exercise.number}"
    if instance.signature == PRACTICE:
        return (
            f"It is of the practice instance of {kind}, which is nobody's: where your course sent you a file of your "
            "own, start from that one."
        )
    return f"It is the work of {instance.name or instance.student} on {kind}, {exercise.title}."


def _network(
    args: argparse.Namespace, exercise: Exercise, instance: Instance, topology: Topology, packed: _Packed
) -> None:
    """The state of the running network, or work.sh: one of the two counts, and the student is told which."""
    from linklab.commands.student import not_set, tried
    from linklab.state.model import State
    from linklab.terminal import attached

    work = args.folder / "work.sh"
    no_network = "" if args.work or args.repeat_recorded else "No network runs in this folder, so "
    if args.repeat_recorded:
        packed.said += _write_recorded(work, exercise, instance, topology)
    elif args.answers_only:
        packed.said.append("Without a network: your answers count alone.")
        return
    elif not args.work and (network := attached.running_in(args.folder)):
        text = attached.read_state(network)
        State.loads(text, "the network's state")
        packed.files["state.json"] = text.encode()
        packed.said.append(f"Network {network['id']} ({network['name']}), as it is set now, counts.")
        if why := not_set(text, exercise, instance):
            packed.said.append(f"Note: {why}.")
        if work.is_file():
            packed.said.append("work.sh is left out, since a network runs; with --work it counts instead.")
        return
    if work.is_file():
        packed.files["work.sh"] = work.read_bytes()
        packed.said.append(f"{no_network}work.sh counts: the grader does it on a fresh network.")
        packed.said += tried(read_text(work), exercise, instance, topology)
    elif exercise.topology:
        raise InputError(
            f"no network runs in {_named(args.folder)} and there is no work.sh, so nothing that you set would be "
            "handed in: run the network, or --repeat-recorded, or --answers-only"
        )


def _named(folder: Path) -> str:
    """A folder in a sentence."""
    return "this folder" if folder.resolve() == Path.cwd() else str(folder)


def _write_recorded(work: Path, exercise: Exercise, instance: Instance, topology: Topology) -> list[str]:
    """Make work.sh of the recorded terminals; what the student is told of it."""
    from linklab.agent.exercise_env import Line, shaped
    from linklab.exercise.instance import environment

    if work.exists():
        raise InputError(f"{work} exists already: remove it to have it written anew, or let it count with --work")
    cleared = shaped([Line(*entry) for entry in environment(exercise, instance)])
    script, notes = repeated(work.parent, [node.name for node in topology.nodes], cleared)
    write_asked(work, script)
    return [
        f"{work} was written from the recorded terminals: look at it, and try it with linklab check --work.",
        *notes,
    ]


def _answers(folder: Path, exercise: Exercise, packed: _Packed) -> None:
    """answers.toml, read as the grader reads it; what cannot be used is told now.

    Raises:
        InputError: an answer that is there and cannot be used.
    """
    path = folder / "answers.toml"
    if not path.is_file():
        if exercise.answers:
            packed.said.append(f"There is no answers.toml: {len(exercise.answers)} questions are not answered.")
        return
    found = read_answers(read_text(path), exercise)
    if found.unreadable:
        raise InputError(f"{path}: {found.unreadable}")
    wrong = {name: why for name, why in found.problems.items() if name not in found.missing}
    if wrong:
        raise InputError(
            f"{path}: {'; '.join(f'{name}: {why}' for name, why in wrong.items())}; mend it, or leave it empty"
        )
    packed.files["answers.toml"] = path.read_bytes()
    packed.said += list(found.notes)
    if found.missing:
        packed.said.append(f"Not answered: {', '.join(found.missing)}.")
