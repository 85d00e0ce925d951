# SPDX-License-Identifier: BSD-3-Clause
"""`exercises/N-slug/exercise.toml` → `Exercise`, checked: every name in it leads somewhere.

Pure. Messages name the file, the table and the key. Format: docs/writing-an-exercise.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from linklab.base import installation, toml
from linklab.errors import InputError
from linklab.exercise.expression import names
from linklab.exercise.fill import placeholders
from linklab.exercise.model import Answer, Band, Check, Exercise, Experiment, Fault, Flow, Parameter, Ping, Setting
from linklab.exercise.quantity import parse_value

FORMAT = 1
KINDS = ("exercise", "problem")
ANSWER_KINDS = ("rate", "time", "size", "share", "number", "index", "choice", "words", "text")
CHECK_KINDS = ("state", "measure", "answer", "unchanged", "holds")
BASES = ("submitted", "start", "healthy")
_SUBJECT = {"state": "fact", "measure": "metric", "answer": "answer", "holds": "holds"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_ID = re.compile(r"[a-z][a-z0-9-]*")
_METRIC = re.compile(r"throughput(\.\w+)?|jain|retransmits|ping\.(mean|max|loss)|backlog\.max")


def exercise_folders(root: Path | None = None) -> list[Path]:
    """The folders of all exercises, then of all problems, by number.

    Raises:
        MissingError: this is not a clone.
    """
    root = root or installation.ROOT
    installation.need(root / "exercises")
    found = [path.parent for kind in KINDS for path in root.glob(f"{kind}s/[0-9]*-*/exercise.toml")]
    return sorted(found, key=lambda path: (path.parent.name, int(path.name.partition("-")[0])))


def find_exercise(name: str, root: Path | None = None) -> Path:
    """The folder of an exercise given as "3", "exercise3", "problem 1", "p1", its slug or a path.

    Raises:
        InputError: there is none.
    """
    if (Path(name) / "exercise.toml").is_file():
        return Path(name).resolve()
    folders = exercise_folders(root)
    given = re.fullmatch(r"(e|ex|exercise|p|problem)?[ _-]*(\d+)", name.strip(), re.IGNORECASE | re.ASCII)
    kind = "problems" if given and (given[1] or "e").lower().startswith("p") else "exercises"
    for folder in folders:
        number = int(folder.name.partition("-")[0])
        if folder.name == name or (given and folder.parent.name == kind and number == int(given[2])):
            return folder
    known = ", ".join(f"{path.parent.name[:-1]}{path.name.partition('-')[0]}" for path in folders) or "none"
    raise InputError(f'there is no exercise "{name}"; I have {known}')


def load_exercise(folder: Path) -> Exercise:
    """Read exercise.toml and look whether it holds together.

    Raises:
        InputError: it is missing or wrong: the file, the table, the key and what is wanted.
    """
    path = folder / "exercise.toml"
    try:
        table = toml.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise InputError(f"{path}: {error}") from error
    try:
        exercise = _exercise(_Table(table, ""), folder)
        _check(exercise)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return exercise


class _Table:
    """Takes typed keys out of a table; what is left over is a mistake."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, dict):
            raise InputError(f"{where} is a table, found {data!r}")
        self.data, self.where = dict(data), where

    def take(self, key: str, kind: type | tuple[type, ...], default: Any = ...) -> Any:
        if key not in self.data:
            if default is ...:
                raise InputError(f'{self.where}: "{key}" is missing'.removeprefix(": "))
            return default
        value = self.data.pop(key)
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            wanted = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
            raise InputError(f'{self.where}: "{key}" is {value!r}, where {wanted} is wanted'.removeprefix(": "))
        return value

    def text(self, key: str, default: Any = ...) -> str:
        return str(self.take(key, (str, int, float), default))

    def texts(self, key: str) -> tuple[str, ...]:
        values = self.take(key, list, [])
        if not all(isinstance(value, (str, int, float)) for value in values):
            raise InputError(f'{self.where}: "{key}" is a list of texts')
        return tuple(str(value) for value in values)

    def tables(self, key: str) -> list[_Table]:
        found = self.take(key, list, [])
        name = f"{self.where} {key}".strip()
        return [_Table(item, f"{name}[{number}]") for number, item in enumerate(found)]

    def end(self) -> None:
        if self.data:
            raise InputError(f'{self.where}: "{next(iter(self.data))}" is no key I know'.removeprefix(": "))


def _exercise(table: _Table, folder: Path) -> Exercise:
    if (found := table.take("format", int)) != FORMAT:
        raise InputError(f'"format" is {found}; I know {FORMAT}')
    kind = table.take("kind", str)
    if kind not in KINDS:
        raise InputError(f'"kind" is "{kind}"; use {" or ".join(KINDS)}')
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
    )
    table.end()
    return exercise


def _parameter(table: _Table) -> Parameter:
    found = Parameter(table.take("name", str), table.texts("values"), table.text("series"))
    table.end()
    if found.series not in found.values:
        raise InputError(f'parameter {found.name}: the series\' value "{found.series}" is not among "values"')
    return found


def _lines(table: _Table) -> Setting:
    return Setting(table.take("on", str), table.texts("lines"), table.take("says", str, ""))


def _setting(table: _Table) -> Setting:
    found = _lines(table)
    table.end()
    return found


def _fault(table: _Table) -> Fault:
    name, key, seen = table.take("id", str), table.take("key", str), table.take("seen", str)
    settings = [_lines(part) for part in table.tables("and")]
    if "lines" in table.data:
        settings.insert(0, Setting(table.take("on", str), table.texts("lines")))
    table.end()
    return Fault(name, tuple(settings), key, seen)


def _experiment(table: _Table) -> Experiment:
    table.where = f"experiment {table.data.get('id', table.where)}"
    ping = table.take("ping", dict, None)
    found = Experiment(
        id=table.take("id", str),
        base=table.take("base", str),
        changes={key: str(value) for key, value in table.take("set", dict, {}).items()},
        flows=tuple(map(_flow, table.tables("flows"))),
        seconds=float(table.take("seconds", (int, float))),
        omit_s=float(table.take("omit", (int, float), 0)),
        ping=_ping(_Table(ping, f"{table.where} ping")) if ping is not None else None,
        queue=table.take("queue", str, ""),
        why=table.take("why", str),
        runs=table.take("runs", int, 3),
    )
    table.end()
    if found.runs < 1:
        raise InputError(f"experiment {found.id}: {found.runs} runs measure nothing")
    if found.base not in BASES:
        raise InputError(f'experiment {found.id}: base "{found.base}"; use {", ".join(BASES)}')
    if not 0 <= found.omit_s < found.seconds:
        raise InputError(f"experiment {found.id}: omit {found.omit_s:g} s is not within its {found.seconds:g} seconds")
    if not found.flows and found.ping is None:
        raise InputError(f"experiment {found.id}: it has neither flows nor a ping")
    return found


def _flow(table: _Table) -> Flow:
    found = Flow(
        table.take("from", str), table.take("to", str), table.text("streams", "1"), table.take("args", str, "")
    )
    table.end()
    return found


def _ping(table: _Table) -> Ping:
    interval = parse_value(table.text("interval", "0.2 s"))
    found = Ping(table.take("from", str), table.take("to", str), interval.number)
    table.end()
    if interval.unit != "s" or not found.interval_s > 0:
        raise InputError(f'{table.where}: interval "{interval.text}" is no time above 0')
    return found


def _answer(table: _Table) -> Answer:
    found = Answer(table.take("name", str), table.take("kind", str), table.take("asks", str), table.texts("choices"))
    table.end()
    if found.kind not in ANSWER_KINDS:
        raise InputError(f'answer {found.name}: kind "{found.kind}"; use {", ".join(ANSWER_KINDS)}')
    if (found.kind == "choice") != bool(found.choices):
        raise InputError(f"answer {found.name}: choices go with kind choice, and it needs them")
    return found


def _one_check(table: _Table) -> Check:
    name = table.take("id", str)
    table.where = f"check {name}"
    kind = table.take("kind", str)
    if kind not in CHECK_KINDS:
        raise InputError(f'check {name}: kind "{kind}"; use {", ".join(CHECK_KINDS)}')
    subject = table.take(_SUBJECT[kind], str) if kind in _SUBJECT else ""
    bands = () if kind in ("unchanged", "holds") else _bands(table)
    found = Check(
        id=name,
        title=table.take("title", str),
        kind=kind,
        weight=float(table.take("weight", (int, float))),
        subject=subject,
        bands=bands,
        needs=table.texts("needs"),
        hidden=table.take("hidden", bool, False),
        why=table.take("why", str),
        hints=table.texts("hints"),
        reference=table.take("reference", str) if kind == "unchanged" else "",
        only=table.texts("only") if kind == "unchanged" else (),
        excepted=table.texts("except") if kind == "unchanged" else (),
    )
    table.end()
    if len(found.hints) != 3 and not (found.hidden and not found.hints):
        raise InputError(f"check {name}: three hints are wanted (where, what, how), found {len(found.hints)}")
    if found.weight < 0:
        raise InputError(f"check {name}: a weight of {found.weight:g} would take points away")
    return found


def _bands(table: _Table) -> tuple[Band, ...]:
    full = _band(table)
    partial = tuple(_band(part, share=float(part.take("share", (int, float)))) for part in table.tables("partial"))
    if any(not 0 < band.share < 1 for band in partial):
        raise InputError(f"{table.where}: a partial band earns a share between 0 and 1")
    return (full, *partial)


def _band(table: _Table, share: float = 1.0) -> Band:
    low, high, exactly = table.text("low", ""), table.text("high", ""), table.text("is", "")
    if value := table.text("value", ""):
        within = table.text("within")
        reach = f"({value}) * {parse_value(within).number!r}" if within.endswith("%") else f'"{within}"'
        low, high = f"({value}) - {reach}", f"({value}) + {reach}"
    if share < 1:
        table.end()
    if not (low or high or exactly):
        raise InputError(f"{table.where}: give low, high, both, value with within, or is")
    return Band(low, high, exactly, share)


# --- whether it holds together


def _check(exercise: Exercise) -> None:
    _unique("parameter", [p.name for p in exercise.parameters] + list(exercise.derived), _NAME)
    _unique("experiment", [e.id for e in exercise.experiments], _NAME)
    _unique("answer", [a.name for a in exercise.answers], _NAME)
    _unique("fault", [f.id for f in exercise.faults], _ID)
    _unique("check", [c.id for c in exercise.checks], _ID)
    if (exercise.kind == "problem") != bool(exercise.faults):
        raise InputError("a problem has faults, an exercise none")
    given = {p.name for p in exercise.parameters}
    for name, text in exercise.derived.items():
        _known(f"derived {name}", text, given)
        given.add(name)
    settings = [*exercise.settings, *(setting for fault in exercise.faults for setting in fault.settings)]
    for setting in settings:
        for text in (*setting.lines, setting.says):
            for expression in placeholders(text):
                _known(f'setting "{text}"', expression, given)
    _check_measured(exercise, given)
    _check_needs(exercise.checks)


def _check_measured(exercise: Exercise, given: set[str]) -> None:
    experiments = {e.id for e in exercise.experiments}
    answers = {f"answer.{a.name}" for a in exercise.answers}
    for experiment in exercise.experiments:
        for flow in experiment.flows:
            _known(f"experiment {experiment.id}", flow.streams, given | answers)
    for fault in exercise.faults:
        _known(f"fault {fault.id}", fault.seen, given, experiments)
    for check in exercise.checks:
        where = f"check {check.id}"
        if check.kind == "measure":
            _known(where, check.subject, set(), experiments)
        if check.kind == "answer" and f"answer.{check.subject}" not in answers:
            raise InputError(f'{where}: there is no answer "{check.subject}"')
        if check.kind == "unchanged" and check.reference not in ("start", "healthy"):
            raise InputError(f'{where}: reference "{check.reference}"; use start or healthy')
        texts = [check.subject] if check.kind == "holds" else []
        for text in (*texts, *(end for band in check.bands for end in (band.low, band.high) if end)):
            _known(where, text, given | answers, experiments)
        for band in check.bands:
            for expression in placeholders(band.exactly):
                _known(where, expression, given | {"fault"})


def _check_needs(checks: Sequence[Check]) -> None:
    before: dict[str, Check] = {}
    for check in checks:
        for need in check.needs:
            if need not in before:
                raise InputError(f'check {check.id}: it needs "{need}", which is no check before it')
            if before[need].hidden and not check.hidden:
                why = "which is hidden: its title would be told to students"
                raise InputError(f'check {check.id}: it needs "{need}", {why}')
        before[check.id] = check


def _unique(what: str, found: Sequence[str], pattern: re.Pattern[str]) -> None:
    for name in found:
        if not pattern.fullmatch(name):
            raise InputError(f'{what} "{name}": a name is {pattern.pattern}')
        if found.count(name) > 1:
            raise InputError(f'{what} "{name}" is there twice')


def _known(where: str, expression: str, given: Collection[str], experiments: Collection[str] = ()) -> None:
    for name in names(expression):
        experiment, _, metric = name.partition(".")
        if name in given or (experiment in experiments and _METRIC.fullmatch(metric)):
            continue
        raise InputError(f'{where}: "{expression}" speaks of {name}, which is not there')
