# SPDX-License-Identifier: BSD-3-Clause
"""`exercises/N-slug/exercise.toml` → `Exercise`, checked: every name in it leads somewhere.

Pure. Messages name the file, the table and the key. Format: docs/writing-an-exercise.md.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from pathlib import Path

from linklab.base import installation, toml
from linklab.base.text import excerpt
from linklab.errors import InputError, MissingError
from linklab.exercise.answers import typed
from linklab.exercise.coherence import check_coherence
from linklab.exercise.model import (
    Answer,
    Band,
    Check,
    Exercise,
    Experiment,
    HiddenChecks,
    Parameter,
    Ping,
    PlantedFault,
    Setting,
    SteadyCase,
    Transfer,
)
from linklab.exercise.packed import unpack
from linklab.exercise.places import HOW, exercise_id, private_folders
from linklab.judge.quantity import parse_value
from linklab.judge.tolerance import around

FORMAT = 1
KINDS = ("exercise", "problem")
ANSWER_KINDS = ("rate", "time", "size", "share", "number", "index", "choice", "words", "text")
CHECK_KINDS = ("state", "measure", "answer", "unchanged", "holds", "observed")
STUDENT = "student"
"""The `part` of an exercise.toml that the instructor's part was left out of."""
BASES = ("submitted", "start", "healthy")
_SUBJECT = {"state": "fact", "measure": "metric", "answer": "answer", "holds": "holds"}
_MOST_WORDS = 600
"""Letters of a message, which may quote from the file."""


def exercise_folders(root: Path | None = None) -> list[Path]:
    """The folders of all exercises of the series, then of all problems, by number.

    Raises:
        MissingError: this is not a clone.
    """
    root = root or installation.ROOT
    installation.need(root / "exercises")
    found = [path.parent for kind in KINDS for path in root.glob(f"{kind}s/[0-9]*-*/exercise.toml")]
    return sorted(found, key=lambda path: (path.parent.name, int(path.name.partition("-")[0])))


def all_exercise_folders() -> list[Path]:
    """Those of the search path (`linklab.exercise.places`), then those of the series that none of them stands for.

    Raises:
        InputError: a place of the search path holds no exercise.
        MissingError: this is not a clone, and there is no search path.
    """
    mine = private_folders()
    ids = {exercise_id(folder) for folder in mine}
    return [*mine, *(folder for folder in _of_series(mine) if exercise_id(folder) not in ids and folder not in mine)]


def is_of_series(folder: Path) -> bool:
    """Whether an exercise's folder is one that every Linklab of this version has."""
    return folder in _of_series([folder])


def _of_series(mine: list[Path]) -> list[Path]:
    """The series' exercises; without a clone none, if there are some of the person's own."""
    try:
        return exercise_folders()
    except MissingError:
        if not mine:
            raise
        return []


def find_exercise(name: str, remembered: Path | None = None) -> Path:
    """The folder of an exercise given as "3", "exercise3", "problem 1", "p1", its slug or a path.

    Args:
        name: as it was typed, or an id.
        remembered: where it was before, for one that is neither on the search path nor of the series.

    Raises:
        InputError: there is none.
    """
    if (Path(name) / "exercise.toml").is_file():
        return Path(name).resolve()
    return known_exercise(name, remembered)


def known_exercise(name: str, remembered: Path | None = None) -> Path:
    """As `find_exercise`, but never a path: for what a stranger's file says, which may lie beside such a folder.

    Raises:
        InputError: there is none.
    """
    given = re.fullmatch(r"(e|ex|exercise|p|problem)?[ _-]*(\d+)", name.strip(), re.IGNORECASE | re.ASCII)
    kind = "problem" if given and (given[1] or "e").lower().startswith("p") else "exercise"
    wanted = f"{kind}{int(given[2])}" if given else ""
    mine = private_folders()
    if remembered is not None and (remembered / "exercise.toml").is_file():
        mine.append(remembered)
    folders = [*mine, *_of_series(mine)]
    for folder in folders:
        if folder.name == name or exercise_id(folder) == wanted:
            return folder
    gone = f"; it was started from {remembered}, which is not there any more" if remembered is not None else ""
    known = ", ".join(map(exercise_id, folders)) or "none"
    raise InputError(f'there is no exercise "{excerpt(name)}"; I have {known}{gone}; {HOW}')


def load_exercise(folder: Path) -> Exercise:
    """Read exercise.toml and look whether it holds together.

    Raises:
        InputError: it is missing or wrong: the file, the table, the key and what is wanted.
    """
    path = folder / "exercise.toml"
    text = toml.read_text(path)
    try:
        exercise = _exercise(toml.parse(text, ""), folder)
        check_coherence(exercise)
    except InputError as error:
        raise InputError(f"{path}: {excerpt(str(error), _MOST_WORDS)}") from error
    return exercise


def _exercise(table: toml.Table, folder: Path) -> Exercise:
    if (found := table.take("format", int)) != FORMAT:
        raise InputError(f'"format" is {found}; I know {FORMAT}')
    kind = table.take("kind", str)
    if kind not in KINDS:
        raise InputError(f'"kind" is "{kind}"; use {" or ".join(KINDS)}')
    withheld = _withheld(table)
    exercise = Exercise(
        folder=folder,
        kind=kind,
        number=table.take("number", int),
        title=table.take("title", str),
        version=table.take("version", int),
        minutes=table.take("minutes", int),
        after=table.take("after", str, ""),
        topology=table.take("topology", str, ""),
        parameters=tuple(map(_parameter, table.tables("parameter"))),
        derived={key: str(value) for key, value in table.take("derived", dict, {}).items()},
        settings=tuple(map(_setting, table.tables("setting"))),
        faults=tuple(map(_fault, table.tables("fault"))),
        experiments=tuple(map(_experiment, table.tables("experiment"))),
        answers=tuple(map(_answer, table.tables("answer"))),
        checks=tuple(map(_one_check, table.tables("check"))),
        withheld=withheld,
    )
    table.end()
    return exercise


def _withheld(table: toml.Table) -> HiddenChecks | None:
    """What a student's part says it leaves out (`linklab.exercise.student_part`), and its faults back in the table."""
    if "part" not in table.data:
        return None
    if (part := table.take("part", str)) != STUDENT:
        raise InputError(f'"part" is "{part}"; the only part is "{STUDENT}"')
    hidden = toml.Table(table.take("hidden", dict), "hidden")
    found = HiddenChecks(hidden.take("checks", int), float(hidden.take("points", (int, float))))
    hidden.end()
    try:
        faults = unpack(table.take("planted", str))
        table.data["fault"] = [{**fault, "key": "", "seen": ""} for fault in faults]
    except (ValueError, TypeError, zlib.error) as error:
        raise InputError(f'"planted" is damaged ({error}); install the package again') from error
    return found


def _parameter(table: toml.Table) -> Parameter:
    found = Parameter(table.take("name", str), table.texts("values"), table.text("series"))
    table.end()
    if found.series not in found.values:
        raise InputError(f'parameter {found.name}: the series\' value "{found.series}" is not among "values"')
    return found


def _lines(table: toml.Table) -> Setting:
    return Setting(table.take("on", str), table.texts("lines"), table.take("says", str, ""))


def _setting(table: toml.Table) -> Setting:
    found = _lines(table)
    table.end()
    return found


def _fault(table: toml.Table) -> PlantedFault:
    name, key, seen = table.take("id", str), table.take("key", str), table.take("seen", str)
    settings = [_lines(part) for part in table.tables("and")]
    if "lines" in table.data:
        settings.insert(0, Setting(table.take("on", str), table.texts("lines")))
    derived = {key: str(value) for key, value in table.take("derived", dict, {}).items()}
    seconds = toml.Table(table.take("seconds", dict, {}), f"{table.where} seconds")
    lasting = {key: float(seconds.take(key, (int, float))) for key in list(seconds.data)}
    table.end()
    return PlantedFault(name, tuple(settings), key, seen, derived, lasting)


def _steady(table: toml.Table, of: Experiment) -> SteadyCase:
    where = {key: str(value) for key, value in table.take("where", dict).items()}
    spread = {key: str(value) for key, value in table.take("spread", dict, {}).items()}
    seconds = float(table.take("seconds", (int, float), of.seconds))
    omit_s = float(table.take("omit", (int, float), of.omit_s))
    found = SteadyCase(where, seconds, omit_s, spread, table.take("why", str))
    table.end()
    return found


def _experiment(table: toml.Table) -> Experiment:
    table.where = f"experiment {table.data.get('id', table.where)}"
    ping = table.take("ping", dict, None)
    found = Experiment(
        id=table.take("id", str),
        base=table.take("base", str),
        changes={key: str(value) for key, value in table.take("set", dict, {}).items()},
        flows=tuple(map(_flow, table.tables("flows"))),
        seconds=float(table.take("seconds", (int, float))),
        omit_s=float(table.take("omit", (int, float), 0)),
        ping=_ping(toml.Table(ping, f"{table.where} ping")) if ping is not None else None,
        queue=table.take("queue", str, ""),
        why=table.take("why", str),
        runs=table.take("runs", int, 3),
        spread={key: str(value) for key, value in table.take("spread", dict, {}).items()},
        apart=table.take("apart", bool, False),
    )
    found = replace(found, steady=tuple(_steady(each, found) for each in table.tables("steady")))
    table.end()
    if found.runs < 1:
        raise InputError(f"experiment {found.id}: {found.runs} runs measure nothing")
    if found.base not in BASES:
        raise InputError(f'experiment {found.id}: base "{found.base}"; use {", ".join(BASES)}')
    if found.apart and found.base == "submitted":
        raise InputError(f"experiment {found.id}: apart shares a network, and what is submitted is each student's own")
    if not 0 <= found.omit_s < found.seconds:
        raise InputError(f"experiment {found.id}: omit {found.omit_s:g} s is not within its {found.seconds:g} seconds")
    if not found.flows and found.ping is None:
        raise InputError(f"experiment {found.id}: it has neither flows nor a ping")
    return found


def _flow(table: toml.Table) -> Transfer:
    found = Transfer(
        table.take("from", str), table.take("to", str), table.text("streams", "1"), table.take("args", str, "")
    )
    table.end()
    return found


def _ping(table: toml.Table) -> Ping:
    interval = parse_value(table.text("interval", "0.2 s"))
    found = Ping(table.take("from", str), table.take("to", str), interval.number)
    table.end()
    if interval.unit != "s" or not found.interval_s > 0:
        raise table.wrong(f'interval "{interval.text}" is no time above 0')
    return found


def _answer(table: toml.Table) -> Answer:
    name, kind, asks = table.take("name", str), table.take("kind", str), table.take("asks", str)
    found = Answer(
        name,
        kind,
        asks,
        table.texts("choices"),
        table.text("default", ""),
        tuple(map(str.casefold, table.texts("beside"))),
    )
    table.end()
    if found.kind not in ANSWER_KINDS:
        raise InputError(f'answer {found.name}: kind "{found.kind}"; use {", ".join(ANSWER_KINDS)}')
    if (found.kind == "choice") != bool(found.choices):
        raise InputError(f"answer {found.name}: choices go with kind choice, and it needs them")
    if found.beside and found.kind != "words":
        raise InputError(f"answer {found.name}: beside goes with kind words")
    if found.default:
        try:
            typed(found, found.default)
        except InputError as error:
            raise InputError(f"answer {found.name}: default: {error}") from error
    return found


def _one_check(table: toml.Table) -> Check:
    name = table.take("id", str)
    table.where = f"check {name}"
    kind = table.take("kind", str)
    if kind not in CHECK_KINDS:
        raise InputError(f'check {name}: kind "{kind}"; use {", ".join(CHECK_KINDS)}')
    subject = table.take(_SUBJECT[kind], str) if kind in _SUBJECT else ""
    bands = () if kind in ("unchanged", "holds", "observed") else _bands(table)
    found = Check(
        id=name,
        title=table.take("title", str),
        kind=kind,
        weight=float(table.take("weight", (int, float))),
        subject=subject,
        bands=bands,
        needs=table.texts("needs"),
        needs_any=table.texts("needs_any"),
        needs_least=table.take("needs_least", int, 1),
        hidden=table.take("hidden", bool, False),
        why=table.take("why", str),
        hints=table.texts("hints"),
        reference=table.take("reference", str) if kind == "unchanged" else "",
        only=table.texts("only") if kind == "unchanged" else (),
        excepted=table.texts("except") if kind == "unchanged" else (),
        along=table.texts("along") if kind == "unchanged" else (),
    )
    table.end()
    if len(found.hints) != 3 and not (found.hidden and not found.hints):
        raise InputError(f"check {name}: three hints are wanted (where, what, how), found {len(found.hints)}")
    if found.weight < 0:
        raise InputError(f"check {name}: a weight of {found.weight:g} would take points away")
    return found


def _bands(table: toml.Table) -> tuple[Band, ...]:
    full = _band(table)
    partial = tuple(_band(part, share=float(part.take("share", (int, float)))) for part in table.tables("partial"))
    if any(not 0 < band.share < 1 for band in partial):
        raise table.wrong("a partial band earns a share between 0 and 1")
    return (full, *partial)


def _band(table: toml.Table, share: float = 1.0) -> Band:
    low, high, exactly = table.text("low", ""), table.text("high", ""), table.text("is", "")
    if value := table.text("value", ""):
        try:
            low, high = around(value, table.text("within"))
        except InputError as error:
            raise table.wrong(str(error)) from error
    if share < 1:
        table.end()
    if not (low or high or exactly):
        raise table.wrong("give low, high, both, value with within, or is")
    return Band(low, high, exactly, share)
