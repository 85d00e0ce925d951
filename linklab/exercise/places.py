# SPDX-License-Identifier: BSD-3-Clause
"""Folders that hold exercises of somebody's own → the folders of those exercises.

The search path is the environment variable LINKLAB_EXERCISES, so that processes which a command starts find what it
finds; the option --exercises and a course file's `exercises` are put before it (`searching`). Only exercise.toml's kind
and number are read here. Documented in docs/writing-an-exercise.md, "Exercises of your own".
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from linklab.base import toml
from linklab.errors import InputError

VARIABLE = "LINKLAB_EXERCISES"
HOW = f"name the folder of an exercise of your own with --exercises DIR, {VARIABLE}, or in the course file"
"""What to do where an exercise is not found."""
PLACE_FILE = ".exercise-folder"
"""In a started folder: where its exercise is, if it is none of the series."""


def private_folders() -> list[Path]:
    """The folders of the exercises on the search path, in its order.

    Raises:
        InputError: a place is not there or holds no exercise, or two exercises of one place have the same id.
    """
    return list(dict.fromkeys(folder for place in _search_path() for folder in folders_in(place)))


def folders_in(place: Path) -> list[Path]:
    """The exercises of one place: itself, or what it holds as N-slug, exercises/N-slug and problems/N-slug.

    Raises:
        InputError: as `private_folders`.
    """
    if not place.is_dir():
        raise InputError(f"{place}: there is no such folder; {HOW}")
    if (place / "exercise.toml").is_file():
        return [place.resolve()]
    patterns = ("[0-9]*-*", "exercises/[0-9]*-*", "problems/[0-9]*-*")
    found = sorted(path.parent.resolve() for each in patterns for path in place.glob(f"{each}/exercise.toml"))
    if not found:
        raise InputError(f"{place}: there is no exercise in it: a folder such as 9-mine with an exercise.toml")
    known: dict[str, Path] = {}
    for folder in found:
        first = known.setdefault(exercise_id(folder), folder)
        if first != folder:
            raise InputError(f"{first} and {folder} are both {exercise_id(folder)}; give one of them another number")
    return found


def exercise_id(folder: Path) -> str:
    """The id of an exercise, such as "exercise9", by its exercise.toml; by its folders' names where that is broken."""
    with contextlib.suppress(InputError, toml.TOMLDecodeError):
        table = toml.loads(toml.read_text(folder / "exercise.toml"))
        if table.get("kind") in ("exercise", "problem") and isinstance(table.get("number"), int):
            return f"{table['kind']}{table['number']}"
    kind = "problem" if folder.parent.name == "problems" else "exercise"
    return f"{kind}{folder.name.partition('-')[0].lstrip('0')}"


@contextlib.contextmanager
def searching(places: Iterable[Path]) -> Iterator[None]:
    """Within, exercises are looked for in these places first, also by processes that are started.

    Raises:
        InputError: as `private_folders`.
    """
    before = os.environ.get(VARIABLE)
    wanted = [str(place.resolve()) for place in places]
    if wanted:
        os.environ[VARIABLE] = os.pathsep.join([*wanted, *([before] if before else [])])
    try:
        private_folders()
        yield
    finally:
        if wanted and before is None:
            del os.environ[VARIABLE]
        elif wanted and before is not None:
            os.environ[VARIABLE] = before


def search_path() -> tuple[str, ...]:
    """The places as they are now, for a process that does not inherit the environment."""
    return tuple(str(place.resolve()) for place in _search_path())


def _search_path() -> list[Path]:
    return [Path(place).expanduser() for place in os.environ.get(VARIABLE, "").split(os.pathsep) if place.strip()]


def course_places(course: Path) -> list[Path]:
    """The places that a course file names, as paths from the current folder; none where it is not there.

    Raises:
        InputError: its `exercises` is no list of folders.
    """
    try:
        given = toml.loads(course.read_text(encoding="utf-8")).get("exercises", [])
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError):
        return []  # which whoever reads the course's secret says
    if not isinstance(given, list) or not all(isinstance(place, str) and place for place in given):
        raise InputError(f'{course}: "exercises" must be a list of folders, as in ["my"]')
    return [course.absolute().parent / place for place in given]


def place_of(folder: Path, course: Path) -> str:
    """How a course file names the place that an exercise's folder is in: relative to itself where that is below it."""
    place, beside = folder.resolve().parent, course.resolve().parent
    return place.relative_to(beside).as_posix() if place.is_relative_to(beside) else place.as_posix()


# --- a started folder


def beside_instance(path: Path) -> list[Path]:
    """The places near an instance's file that hold exercises: its folder and the one above, as a class folder has."""
    near = (path.absolute().parent, path.absolute().parent.parent)
    layout = ("exercises", "problems")
    return [place for place in near if any(any(place.glob(f"{each}/[0-9]*-*/exercise.toml")) for each in layout)]


def remember(folder: Path, exercise: Path) -> None:
    """Write into a started folder where its exercise is; OSError as it comes."""
    (folder / PLACE_FILE).write_text(f"{exercise.resolve()}\n", encoding="utf-8")


def remembered(folder: Path) -> Path | None:
    """Where the exercise of a started folder was when it was started; None for one of the series."""
    try:
        text = (folder / PLACE_FILE).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return Path(text) if text and not re.search(r"[\0\n]", text) else None
