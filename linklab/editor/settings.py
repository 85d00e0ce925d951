# SPDX-License-Identifier: BSD-3-Clause
"""What a person chose for the editor on this machine, kept between starts; a drawing's preferences are in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linklab.windows import settings
from linklab.windows.settings import WindowSettings


@dataclass
class EditorSettings(WindowSettings):
    """The choices of every window, and what the drawing shows."""

    names: bool = True
    addresses: bool = True
    ports: bool = True
    rates: bool = True
    traces: bool = True
    minimap: bool = True
    grid: bool = False


def settings_file() -> Path:
    """Where they are kept."""
    return settings.settings_file("editor")


def load_settings(path: Path | None = None) -> EditorSettings:
    """What was chosen; defaults for what is missing or of another type."""
    return settings.load(EditorSettings, path or settings_file())


def from_data(data: Mapping[str, Any]) -> EditorSettings:
    """Settings from JSON, skipping what does not fit."""
    return settings.from_data(EditorSettings, data)


def save_settings(chosen: EditorSettings, path: Path | None = None) -> None:
    """Keep them; silently not where there is no place to write."""
    settings.save(chosen, path or settings_file())
