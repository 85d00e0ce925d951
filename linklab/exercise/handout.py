# SPDX-License-Identifier: BSD-3-Clause
"""handout.md with one instance's values → what the student reads, as HTML or PDF, in the manuals' style.

Pure. Written as docs/writing-an-exercise.md says; the sections that are the same everywhere, and those that
exercise.toml already knows, are added here.
"""

from __future__ import annotations

from collections.abc import Sequence

from linklab.base import installation
from linklab.errors import InputError
from linklab.exercise.answers import example
from linklab.exercise.fill import fill
from linklab.exercise.instance import PRACTICE, practice_instance, quantities
from linklab.exercise.model import Exercise, Instance
from linklab.manual.chapter import Chapter
from linklab.manual.html import render_manual
from linklab.manual.paper import paper_html, to_pdf
from linklab.manual.parse import parse_manual
from linklab.manual.picture import topology_parts, topology_svg
from linklab.topology import Topology

GUIDE = installation.ROOT / "docs" / "exercises.md"


def handout_html(exercise: Exercise, instance: Instance) -> str:
    """The handout as one page; InputError as `chapter`."""
    return render_manual(chapter(exercise, instance))


def handout_pdf(exercise: Exercise, instance: Instance) -> bytes:
    """The handout as PDF; MissingError without WeasyPrint."""
    return to_pdf(paper_html([chapter(exercise, instance)], title=exercise.heading))


def general(exercise: Exercise) -> Chapter:
    """The handout with the values of the practice instance, as it is printed for all."""
    return chapter(exercise, practice_instance(exercise))


def book_chapters(exercises: Sequence[Exercise]) -> list[Chapter]:
    """The handouts as they stand in the handbook: how to work on them once, before all."""
    text = GUIDE.read_text(encoding="utf-8")
    guide = parse_manual(text, GUIDE)
    handouts = [chapter(exercise, practice_instance(exercise), in_book=True) for exercise in exercises]
    return [Chapter(guide, guide.title, fields={"number": "E"}), *handouts]


def chapter(exercise: Exercise, instance: Instance, *, in_book: bool = False) -> Chapter:
    """The handout for an instance; in a book without what is the same in all.

    Raises:
        InputError: handout.md cannot be read, a placeholder names nothing, or as `parse_manual`.
    """
    path = exercise.folder / "handout.md"
    try:
        source = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error
    lookup = quantities(exercise, instance)
    try:
        own = fill(source, lookup)
        added = fill(_sections(exercise, in_book=in_book), lookup)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    topology = Topology.load(exercise.folder / exercise.topology) if exercise.topology else None
    return Chapter(
        manual=parse_manual(f"{own.rstrip()}\n\n{added}", path, _nodes(topology)),
        heading=exercise.heading,
        fields={"title": exercise.title, "number": f"{exercise.kind[0].upper()}{exercise.number}"},
        picture=topology_svg(*topology_parts(topology), title=f"Topology of {exercise.heading}") if topology else "",
        minutes=exercise.minutes,
        note=whose(instance),
    )


def whose(instance: Instance) -> str:
    """Whose values these are, for the line under the title."""
    if instance.signature != PRACTICE:
        of = f"{instance.name} ({instance.student})" if instance.name else instance.student
        return f"For {of}, {instance.course}. Other students have other values."
    if instance.student == PRACTICE:
        return "With the values of the practice instance; in a course you work with those of the file sent to you."
    variant = instance.student.partition("-")[2]
    return f"With the values of practice variant {variant}."


def topology_name(exercise: Exercise) -> str:
    """The topology's file name, also where the student draws it: "Exercise 1.mn"."""
    return exercise.topology or f"{exercise.kind.title()} {exercise.number}.mn"


def _nodes(topology: Topology | None) -> list[str] | None:
    return [node.name for node in topology.nodes] if topology else None


# --- sections that nobody writes by hand; placeholders in them are filled


def _sections(exercise: Exercise, *, in_book: bool) -> str:
    parts = [] if in_book else [_how(exercise)]
    if exercise.answers:
        parts.append(_questions(exercise))
    return "\n\n".join([*parts, _checked(exercise)]) + "\n"


def _how(exercise: Exercise) -> str:
    name = topology_name(exercise)
    short = f"{exercise.number}" if exercise.kind == "exercise" else f"problem{exercise.number}"
    lines = [
        "## How you work",
        "",
        f"`linklab exercise start {short}`, or `start` with the file that you were sent, makes a folder and opens the "
        "editor.",
        "Work in that folder: everything that belongs to your solution is in it.",
        "",
        "| file | what it is |",
        "|---|---|",
        f"| `{name}` | the topology{'' if exercise.topology else ', which you draw and save under this name'} |",
        "| `instance.json` | your values; leave it as it is |",
    ]
    if exercise.settings or exercise.faults:
        lines.append("| `set_env.sh` | sets the environment; the editor runs it when the network is ready |")
    if exercise.answers:
        lines.append("| `answers.toml` | your answers; the questions stand in it |")
    lines += [
        "| `work.sh` | if you write one: the commands that lead to your solution |",
        "| `terminals/` | what you typed, recorded by itself |",
        "",
    ]
    if exercise.settings or exercise.faults:
        lines += [
            f'Without a display, `linklab shell "{name}"` in that folder runs the topology; there set the environment '
            "yourself:",
            "",
            "```mininet",
            "sh ./set_env.sh",
            "```",
            "",
            "In the *Client's terminal* the same is `sudo ./set_env.sh`.",
            "Run again, it undoes what you changed on the interfaces it sets.",
        ]
    lines += [
        "",
        "While your network runs, type in another terminal of your machine, in the same folder:",
        "",
        "```text",
        "linklab check              says what is met, and for the rest where to look",
        "linklab check --hint 2     says what is wrong; with 3, what to do",
        "linklab submit             packs what you hand in into one .zip",
        "```",
        "",
        "What counts is what your network is set to when you submit, and your answers; how you got there does not.",
        "If no network runs, `work.sh` counts: a line that begins with the name of a host runs there, "
        "as in `h1 sysctl -w net.ipv4.tcp_congestion_control=reno`, any other in the Client's terminal.",
        "The grader builds the same network again, sets it as yours is set, and measures it with its own tools.",
    ]
    return "\n".join(lines)


def _questions(exercise: Exercise) -> str:
    rows = [f"| **{answer.name}** | {_cell(answer.asks)} | {_cell(example(answer))} |" for answer in exercise.answers]
    return "\n".join(
        [
            "## Your answers",
            "",
            "Write them into `answers.toml`, between quotation marks and with their unit:",
            "",
            "| name | question | written as |",
            "|---|---|---|",
            *rows,
        ]
    )


def _checked(exercise: Exercise) -> str:
    shown = [check for check in exercise.checks if not check.hidden]
    hidden = exercise.hidden
    lines = ["## What is checked", "", "| check | points |", "|---|---|"]
    lines += [
        f"| {_cell(check.title)} | {f'{check.weight:g}' if check.weight else 'others need it'} |" for check in shown
    ]
    if hidden.count:
        count = "one hidden check" if hidden.count == 1 else f"{hidden.count} hidden checks"
        lines.append(f"| {count}, judged when you hand in | {hidden.points:g} |")
    lines.append(f"| **together** | **{exercise.weight:g}** |")
    return "\n".join(lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())
