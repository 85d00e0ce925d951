# SPDX-License-Identifier: BSD-3-Clause
"""Files of the viewer: opened in the background, saved as figures, exported as numbers."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from linklab.base.files import write_asked
from linklab.data.suffixes import SUFFIXES, data_files, stem_of
from linklab.errors import InputError
from linklab.plots.named import save
from linklab.viewer.numbers import EXPORTS, WRITERS
from linklab.viewer.reading import Reader
from linklab.viewer.runs import Run, Runs
from linklab.viewer.settings import ViewerSettings
from linklab.viewer.showing import Showing
from linklab.windows.chooser import Chooser
from linklab.windows.window import Window
from linklab.windows.words import Phrase, of_number

FIGURES = (".svg", ".pdf", ".png")


class OpenAndSave:
    """Opens and writes files."""

    def __init__(
        self,
        window: Window,
        runs: Runs,
        showing: Showing,
        settings: ViewerSettings,
        changed: Callable[[], None],
        *,
        reader: Reader,
    ) -> None:
        """`reader` may have begun to read the first files already."""
        self.window, self.runs, self.showing, self.settings = window, runs, showing, settings
        self._changed = changed
        self.on_shown: Callable[[Run], None] = lambda run: None
        self._reader = reader
        self._wanted: Run | None = None
        self._opening = 0

    @property
    def left(self) -> int:
        """How many files are still to be read."""
        return self._reader.left

    def open(self, paths: Sequence[Path], *, show: bool = True) -> None:
        """Begin to read files, and those of folders; the first file is shown as soon as it is read."""
        new, named = self.runs.add(each for path in paths for each in data_files(path))
        self._opening += len(new)
        self._reader.read([run.path for run in new])
        if show and named:
            self.settings.opened(named[0].path)
            self._wanted = named[0]
            self._show_wanted()

    def _show_wanted(self) -> None:
        """Show the run that was asked for, once it is read; until then what is seen stays."""
        run = self._wanted
        if run is not None and not run.why and (run.data is not None or not self.runs.shown):
            self.runs.show(run)
            self.on_shown(run)
        if run is not None and not run.is_waiting:
            self._wanted = None

    def take(self) -> bool:
        """Take the files that have been read; return whether there were any."""
        answers = self._reader.answers()
        by_path = {run.path: run for run in self.runs.every}
        for answer in answers:
            run = by_path.get(answer.path)
            if run is None:  # closed meanwhile
                continue
            if answer.data is None:
                self.runs.failed(run, answer.why)
                self.window.say(answer.why, bad=True)
            else:
                run.data, run.why = answer.data, ""
        self._show_wanted()
        if answers and not self.runs.shown:  # what was to be shown cannot be read
            for run in [run for run in self.runs.every if run.data is not None][:1]:
                self.runs.show(run)
                self.on_shown(run)
        if answers and not self.left:
            self._say_read()
        return bool(answers)

    def _say_read(self) -> None:
        failed = [run for run in self.runs.every if run.why]
        if self._opening > 1 and not failed:
            self.window.say(of_number(self._opening, "{count} file is read", "{count} files are read"))
        self._opening = 0

    def stop(self) -> None:
        """End all reading."""
        self._reader.stop()

    def cancel(self) -> None:
        """Stop reading; files that were not read stay in the list with that reason."""
        self._reader.stop()
        self.take()
        self._reader = Reader()
        for run in self.runs.every:
            if run.is_waiting:
                self.runs.failed(run, self.window.look.say(Phrase("{path}: reading was cancelled", path=run.path)))

    def ask(self) -> None:
        """Ask for a file to open, or a folder."""
        current = self.runs.current
        folder = current.path.absolute().parent if current is not None else self._last_folder()
        root, look = self.window.root, self.window.look
        endings = tuple(dict.fromkeys(f".{suffix.rpartition('.')[2]}" for suffix in SUFFIXES))
        Chooser(root, look, "Open", folder=folder, ending=endings, name="", save=False, take=self._open_one)

    def _last_folder(self) -> Path:
        recent = [Path(name).parent for name in self.settings.recent]
        return next((folder for folder in recent if folder.is_dir()), Path.cwd())

    def _open_one(self, path: Path) -> None:
        self.open([path])
        self._changed()

    def fill_recent(self, menu: tk.Menu) -> None:
        """Fill the menu with the files that were opened last."""
        for name in self.settings.recent:
            menu.add_command(label=Path(name).name, command=partial(self._open_one, Path(name)))
        if not self.settings.recent:
            menu.add_command(label=self.window.look.say("None yet"), state="disabled")

    def save(self) -> None:
        """Ask for a name and save the figure in the format of its ending."""
        spec, current = self.showing.spec, self.runs.current
        if spec is None or current is None:
            self.window.say("there is no figure to save")
            return
        name = f"{stem_of(current.path.name)}-{spec.name}{FIGURES[0]}"
        root, look, folder = self.window.root, self.window.look, current.path.absolute().parent
        title = "Save the Figure (.svg, .pdf or .png)"
        Chooser(root, look, title, folder=folder, ending=FIGURES, name=name, save=True, take=self.save_as)

    def save_as(self, path: Path) -> None:
        """Save the figure that is shown, with its options; zooming does not change it.

        Raises:
            InputError: it cannot be drawn or written.
        """
        spec = self.showing.spec
        if spec is None:
            raise InputError("there is no figure to save")
        save(spec, self.showing.loaded, self.showing.options, path, self.showing.specs)
        self.window.say(Phrase("wrote {path}", path=path))

    def export(self) -> None:
        """Ask which numbers of what is shown, and for a name, and write them."""
        if self.showing.spec is None:
            self.window.say("there are no numbers to export")
            return
        answers = [(label, partial(self._export, *which)) for label, which in EXPORTS.items()]
        self.window.ask("Export Numbers", "Which numbers of the plot that is seen?", answers)

    def _export(self, which: str, name: str) -> None:
        spec, current = self.showing.spec, self.runs.current
        if spec is None or current is None:
            return
        root, look, folder = self.window.root, self.window.look, current.path.absolute().parent
        take = partial(self.export_as, which)
        name = f"{stem_of(current.path.name)}-{spec.name}-{name}.csv"
        Chooser(root, look, "Export Numbers", folder=folder, ending=".csv", name=name, save=True, take=take)

    def export_as(self, which: str, path: Path) -> None:
        """Write a table of numbers.

        Raises:
            InputError: the file cannot be written.
        """
        show = self.showing
        if show.spec is None:
            raise InputError("there are no numbers to export")
        write_asked(path, WRITERS[which](show.spec, show.loaded, show.options, show.specs))
        self.window.say(Phrase("wrote {path}", path=path))
