# SPDX-License-Identifier: BSD-3-Clause
"""What a person chose for the viewer on this machine, kept between starts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from linklab.viewer.columns import Column
from linklab.windows.settings import WindowSettings, load, save, settings_file


@dataclass
class ViewerSettings(WindowSettings):
    """The choices of every window, and those of this one.

    side: width of the tables at the left in pixels of a plain display, 0 for the usual; shows_side: whether they are
    there. columns: paths of metadata that are columns. options: of plots, as `options` keeps them. plot: the name of
    the plot seen last. test: the fields of the last test that was run.
    """

    side: int = 0
    shows_side: bool = True
    columns: list[Any] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    plot: str = ""
    test: dict[str, Any] = field(default_factory=dict)

    @property
    def own_columns(self) -> list[Column]:
        """The columns that were made of metadata."""
        paths = [tuple(path) for path in self.columns if isinstance(path, list)]
        return [Column.of(path) for path in dict.fromkeys(paths) if path and all(isinstance(key, str) for key in path)]

    @own_columns.setter
    def own_columns(self, columns: list[Column]) -> None:
        self.columns = [list(column.path) for column in columns]


def load_settings() -> ViewerSettings:
    """Read the settings; what is missing or of another type has its default."""
    return load(ViewerSettings, settings_file("viewer"))


def save_settings(chosen: ViewerSettings) -> None:
    """Write the settings; a read-only home folder is not an error."""
    save(chosen, settings_file("viewer"))
