# SPDX-License-Identifier: BSD-3-Clause
"""What a person chose for the editor on this machine, kept between starts; a drawing's preferences are in its file.

A file that cannot be read or written is no reason to stop: defaults are taken. Pure but for that file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from linklab.base import files, place

RECENT = 10
LARGEST_SCALE = 16.0


@dataclass
class EditorSettings:
    """Choices; scale 0 follows the display, language "" the system."""

    theme: str = "light"
    scale: float = 0.0
    language: str = ""
    names: bool = True
    addresses: bool = True
    ports: bool = True
    rates: bool = True
    traces: bool = True
    minimap: bool = True
    grid: bool = False
    geometry: str = ""
    recent: list[str] = field(default_factory=list)

    def opened(self, path: Path) -> None:
        """Put a file first among the recent ones."""
        name = str(path.resolve())
        self.recent = [name, *(each for each in self.recent if each != name)][:RECENT]


def settings_file() -> Path:
    """Where they are kept."""
    return place.of_home("XDG_CONFIG_HOME", ".config") / "editor.json"


def load_settings(path: Path | None = None) -> EditorSettings:
    """What was chosen; defaults for what is missing or of another type."""
    try:
        data = json.loads((path or settings_file()).read_text())
    except (OSError, ValueError, RecursionError):
        return EditorSettings()
    return from_data(data) if isinstance(data, Mapping) else EditorSettings()


def from_data(data: Mapping[str, Any]) -> EditorSettings:
    """Settings from JSON, skipping what does not fit."""
    settings = EditorSettings()
    for each in fields(EditorSettings):
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


def save_settings(settings: EditorSettings, path: Path | None = None) -> None:
    """Keep them; silently not where there is no place to write."""
    file = path or settings_file()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        files.write(file, json.dumps(asdict(settings), indent=1))
    except OSError:
        return
