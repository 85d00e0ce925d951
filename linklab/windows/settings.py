# SPDX-License-Identifier: BSD-3-Clause
"""What a person chose for a window on this machine, kept between starts as JSON.

A file that cannot be read or written is no reason to stop: defaults are taken. Pure but for that file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from linklab.base import files, place

RECENT = 10
LARGEST_SCALE = 16.0


@dataclass
class WindowSettings:
    """Choices of every window; scale 0 follows the display, language "" the system."""

    theme: str = "light"
    scale: float = 0.0
    language: str = ""
    geometry: str = ""
    recent: list[str] = field(default_factory=list)

    def opened(self, path: Path) -> None:
        """Put a file first among the recent ones."""
        name = str(path.resolve())
        self.recent = [name, *(each for each in self.recent if each != name)][:RECENT]


S = TypeVar("S", bound=WindowSettings)


def settings_file(window: str) -> Path:
    """Where those of a window, "editor" or "viewer", are kept."""
    return place.of_home("XDG_CONFIG_HOME", ".config") / f"{window}.json"


def load(kind: type[S], path: Path) -> S:
    """What was chosen; defaults for what is missing or of another type."""
    try:
        data = json.loads(path.read_text())
    except (OSError, ValueError, RecursionError):
        return kind()
    return from_data(kind, data) if isinstance(data, Mapping) else kind()


def from_data(kind: type[S], data: Mapping[str, Any]) -> S:
    """Settings from JSON, skipping what does not fit."""
    settings = kind()
    for each in fields(kind):
        value: Any = data.get(each.name)
        if each.name == "scale":
            value = _scale(value)
        if isinstance(value, type(getattr(settings, each.name))):
            setattr(settings, each.name, value)
    settings.recent = [name for name in settings.recent if isinstance(name, str)]
    return settings


def _scale(value: Any) -> float | None:
    """A scale that a display can have; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST_SCALE:
        return None
    return float(value)


def save(settings: WindowSettings, path: Path) -> None:
    """Keep them; silently not where there is no place to write."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write(path, json.dumps(asdict(settings), indent=1))
    except OSError:
        return
