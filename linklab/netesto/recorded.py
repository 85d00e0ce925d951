# SPDX-License-Identifier: BSD-3-Clause
"""experiment.json → `RecordedExperiment`: what an experiment was, as its folder tells it, and the counters beside it.

Written by whatever runs an experiment, before it runs. A folder may come from somebody else, so whatever the file
holds, the answer is a `RecordedExperiment` or a DataError that names the place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from linklab.base.json_words import why_not_json
from linklab.base.text import file_name, quoted
from linklab.errors import DataError
from linklab.netesto import names

FORMAT = 1
_T = TypeVar("_T")
_CURE = "run the experiment again"
_MOST = 10**15
"""Of any number, but the seed: far more than a script may ask for, and all of them exact as floats."""


@dataclass(frozen=True)
class RecordedGroup:
    """The flows of one DO_CLIENT; texts as the script has them, `instances` >= 1, `dur`, `delay` and `start_s` in s.

    start_s: since the experiment's begin, after the delay.
    """

    group: int
    host: str
    server: str
    test: str
    ca: str
    dur: float
    delay: float
    start_s: float
    instances: int
    req: str
    reply: str
    local_buffer: str
    remote_buffer: str

    @property
    def flows(self) -> list[tuple[int, str]]:
        """Number and series in Mbits/s of each instance."""
        return [(number, names.flow(self.test, self.group, number)) for number in range(1, self.instances + 1)]


@dataclass(frozen=True)
class RecordedSetting:
    """A SET_… command: its word, host and other arguments, as the script has them.

    failed: it could not be made, or not all of it.
    at_s: since the experiment's begin; None if it was made before.
    """

    word: str
    host: str
    arguments: Mapping[str, str]
    failed: bool = False
    at_s: float | None = None


@dataclass(frozen=True)
class RecordedExperiment:
    """An experiment: its number and name, what the script said of it, and its groups by number."""

    folder: Path
    exp: int
    name: str
    seed: int | None
    desc: str
    other: Mapping[str, str]
    settings: tuple[RecordedSetting, ...]
    groups: tuple[RecordedGroup, ...]

    @property
    def end_s(self) -> float:
        """When the last flow ended, s since the experiment's begin."""
        return max((group.start_s + group.dur for group in self.groups), default=0.0)

    def counters(self, when: str, host: str, name: str) -> str:
        """A file of a host's counters; `when`: `names.BEFORE` or `names.AFTER`. "" if there is none.

        Raises:
            DataError: it is there and cannot be read.
        """
        return read_counters(self.folder, when, host, name)


def read_counters(folder: Path, when: str, host: str, name: str) -> str:
    """A file of a host's counters in an experiment's folder; "" if there is none.

    Raises:
        DataError: it is there and cannot be read.
    """
    path = folder / when / host / name
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError) as error:
        raise DataError(f"{file_name(path)}: cannot be read: {getattr(error, 'strerror', None) or error}") from error


def read_experiment(folder: Path) -> RecordedExperiment:
    """What the experiment of a folder was.

    Raises:
        DataError: experiment.json is missing, cannot be read, or is not one.
    """
    path = folder / names.EXPERIMENT
    where = file_name(path)
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{where}: cannot be read: {error.strerror}; give the folder of an experiment") from error
    except json.JSONDecodeError as error:
        raise DataError(f"{where}:{error.lineno}: {why_not_json(error)}; {_CURE}") from None
    except (ValueError, RecursionError):
        raise DataError(f"{where}: this is not the description of an experiment; {_CURE}") from None
    known = _Object(found, where)
    if known.need("format", int) != FORMAT:
        raise DataError(f"{where}: format must be {FORMAT}, not {quoted(found['format'])}; update Linklab")
    listed: list[Any] = known.need("groups", list)
    groups = [_group(_Object(one, f"{where}: groups[{at}]")) for at, one in enumerate(listed)]
    if len({group.group for group in groups}) < len(groups):
        raise DataError(f"{where}: two groups have the same number; {_CURE}")
    return RecordedExperiment(
        folder=folder,
        exp=known.need("exp", int),
        name=known.need("expName", str),
        seed=known.get("seed", int, None, most=1 << 64),
        desc=known.get("desc", str, ""),
        other={str(key): str(value) for key, value in known.get("other", dict, {}).items()},
        settings=tuple(_settings(known.get("settings", list, []), where)),
        groups=tuple(sorted(groups, key=lambda group: group.group)),
    )


def _group(known: _Object) -> RecordedGroup:
    group = RecordedGroup(
        group=known.need("group", int),
        host=_name(known, "host"),
        server=_name(known, "server"),
        test=known.need("test", str),
        ca=known.get("ca", str, ""),
        dur=known.need("dur", float),
        delay=known.get("delay", float, 0.0),
        start_s=known.get("start_s", float, 0.0),
        instances=known.need("instances", int),
        req=known.text("req"),
        reply=known.text("reply"),
        local_buffer=known.text("localBuffer"),
        remote_buffer=known.text("remoteBuffer"),
    )
    if not 0 <= group.instances <= 100_000:
        raise DataError(f"{known.where}: instances must be 0 to 100000, not {group.instances}; {_CURE}")
    return group


def _name(known: _Object, key: str) -> str:
    """The name of a host, which is also that of a folder."""
    found = known.need(key, str)
    if not found or "/" in found or "\0" in found or found in (".", ".."):
        raise DataError(f"{known.where}: {key}: {quoted(found)} cannot be the name of a host; {_CURE}")
    return found


def _settings(found: list[Any], where: str) -> list[RecordedSetting]:
    """The settings that can be understood; others are of no use to a table."""
    return [
        RecordedSetting(
            str(one["word"]),
            str(one.get("host", "")),
            {str(key): str(value) for key, value in one["arguments"].items()},
            bool(one.get("failed")),
            _Object(one, f"{where}: settings[{at}]").get("at_s", float, None),
        )
        for at, one in enumerate(found)
        if isinstance(one, Mapping) and isinstance(one.get("arguments"), Mapping) and "word" in one
    ]


class _Object:
    """A JSON object whose values are asked for by name and type."""

    def __init__(self, found: object, where: str) -> None:
        if not isinstance(found, Mapping):
            raise DataError(f"{where}: must be an object, not {quoted(found)}; {_CURE}")
        self.found, self.where = found, where

    def need(self, key: str, kind: Callable[..., _T], most: int = _MOST) -> _T:
        """The value, which must be there; a number is 0 to `most`."""
        if key not in self.found:
            raise DataError(f"{self.where}: {key} is missing; {_CURE}")
        value = self.found[key]
        right = isinstance(value, int | float) if kind is float else isinstance(value, kind)  # type: ignore[arg-type]
        in_range = not isinstance(value, int | float) or 0 <= value <= most  # a NaN is not
        if not right or isinstance(value, bool) or not in_range:
            raise DataError(f"{self.where}: {key} must not be {quoted(value)}; {_CURE}")
        return kind(value)

    def get(self, key: str, kind: Callable[..., _T], default: Any, most: int = _MOST) -> Any:
        """The value, or the default if it is missing or null."""
        return default if self.found.get(key) is None else self.need(key, kind, most)

    def text(self, key: str) -> str:
        """A text, or a number as text; "" if it is missing or null."""
        value = self.found.get(key)
        return "" if value is None else str(value)
