# SPDX-License-Identifier: BSD-3-Clause
"""Run > New Test and Run > Batch: which test, with which parameters; how far it is; the result opens itself."""

from __future__ import annotations

import re
import time
import tkinter as tk
from collections.abc import Callable, Sequence
from pathlib import Path
from tkinter import ttk
from typing import Any

from linklab.base.text import excerpt
from linklab.errors import FieldError
from linklab.experiment.entries import NamedTest
from linklab.experiment.test_file import load_test
from linklab.viewer.child import ChildLine, RunningCommand
from linklab.viewer.runs import Runs, results_in
from linklab.viewer.settings import ViewerSettings
from linklab.viewer.test_form import (
    BATCH_PAGE,
    KEPT,
    USUAL_PATH,
    batch_command,
    checked,
    command_of,
    families,
    matches,
    new_folder,
    pages_of,
)
from linklab.windows.chooser import Chooser
from linklab.windows.dialogs import FormDialog
from linklab.windows.theme import Look
from linklab.windows.toplevel import Dialog
from linklab.windows.window import Window
from linklab.windows.words import Phrase

QUIT_WAITS_S = (30.0, 5.0, 5.0)
"""After each signal, when the window is closed."""
ABORTED = 130
"""Exit status of a command that was ended with Ctrl+C."""
ROWS = 14
BATCHES = (".batch", ".ini", ".conf")

Open = Callable[[Sequence[Path], bool], None]
"""Takes files, and whether the first of them is to be shown."""

COUNTED = re.compile(r"(\d+)/(\d+) ")
"""How a line of a batch begins: the trial, and of how many."""

LOOK_S = 0.5


class RunningTests:
    """Runs one test or batch at a time."""

    def __init__(self, window: Window, runs: Runs, settings: ViewerSettings, opened: Open) -> None:
        """`opened` gets the files of results."""
        self.window, self.runs, self.settings, self._opened = window, runs, settings, opened
        self._child: RunningCommand | None = None
        self._what = ""
        self._files: list[Path] = []
        self._results: Path | None = None
        self._looked_s = 0.0

    @property
    def is_on(self) -> bool:
        """Whether something runs."""
        return self._child is not None

    # --- asking

    def ask(self) -> None:
        """Ask which test, and then for its parameters."""
        if self._is_busy():
            return
        last = str(self.settings.test.get("name", ""))
        TestChooser(self.window.root, self.window.look, last, self.ask_about)

    def ask_about(self, test: NamedTest) -> None:
        """Ask for the parameters of a test, and run it."""
        last = self.settings.test
        data = last if last.get("name") == test.name else {key: last[key] for key in KEPT if key in last}
        data = {"path": "" if data.get("topology") else USUAL_PATH, "folder": str(self._folder()), **data}
        title = Phrase("New Test: {test}", test=test.name)

        def take(chosen: dict[str, Any]) -> None:
            checked(test, chosen)
            self.settings.test = {**chosen, "name": test.name}
            folder = Path(chosen.get("folder") or ".").expanduser()
            folder.mkdir(parents=True, exist_ok=True)
            self.start(command_of(test, chosen), test.name, folder)

        form = FormDialog(
            self.window.root, self.window.look, title, pages=pages_of(test), data=data, take=take, modal=True
        )
        form.accept.configure(text=self.window.look.say("Run"))

    def ask_batch(self) -> None:
        """Ask for a batch file, and run it."""
        if self._is_busy():
            return

        title = "Batch File to Run"
        root, look, folder = self.window.root, self.window.look, self._folder()
        Chooser(root, look, title, folder=folder, ending=BATCHES, name="", save=False, take=self.ask_about_batch)

    def ask_about_batch(self, file: Path) -> None:
        """Ask for the path and the folder of a batch, and run it."""

        def take(chosen: dict[str, Any]) -> None:
            if not chosen.get("folder"):
                raise FieldError(Phrase("give a folder"), key="folder")
            self.start(batch_command(file, chosen), file.name, file.absolute().parent, Path(chosen["folder"]))

        title = Phrase("Batch: {file}", file=file.name)
        data = {"folder": str(new_folder(file.absolute()))}
        root, look = self.window.root, self.window.look
        form = FormDialog(root, look, title, pages=(BATCH_PAGE,), data=data, take=take, modal=True)
        form.accept.configure(text=look.say("Run"))

    def _folder(self) -> Path:
        current = self.runs.current
        return current.path.absolute().parent if current is not None else Path.cwd()

    def _is_busy(self) -> bool:
        if self.is_on:
            self.window.say(Phrase("{what} is running; abort it with Ctrl+. first", what=self._what), bad=True)
        return self.is_on

    # --- running

    def start(self, words: Sequence[str], what: str, folder: Path, results: Path | None = None) -> None:
        """Run `linklab` with these words in a folder; data files that appear in `results` are opened as they come."""
        self._child, self._what, self._files = RunningCommand(words, folder), what, []
        self._results, self._looked_s = results, 0.0
        self.window.say(Phrase("{what}: starting", what=what))

    def abort(self) -> None:
        """End the test or batch, and keep what it measured."""
        if self._child is None:
            self.window.say("nothing is running")
        elif self._child.stop():
            self.window.say(Phrase("{what}: ending; what was measured is kept", what=self._what))

    def stop(self) -> None:
        """End it with the window."""
        if self._child is not None:
            self._child.end(QUIT_WAITS_S)

    def take(self) -> bool:
        """Take what it has said since the last time; whether it has ended."""
        child = self._child
        if child is None:
            return False
        for line in child.lines():
            self._tell(line)
        status = child.status
        self._look(at_end=status is not None)
        if status is None:
            return False
        self._child = None
        self._end(status, child.said)
        return True

    def _look(self, *, at_end: bool) -> None:
        """Open the data files that have come since the last look."""
        if self._results is None or (not at_end and time.monotonic() < self._looked_s + LOOK_S):
            return
        self._looked_s = time.monotonic()
        found = [each for each in results_in(self._results.expanduser()) if each not in self._files]
        if found:
            self._opened(found, not self._files)
            self._files += found

    def _tell(self, line: ChildLine) -> None:
        told = line.told
        if "file" in told:
            self._result(Path(str(told["file"])))
        elif "stage" in told:
            stage, done, total = str(told["stage"]), _number(told.get("done_s")), _number(told.get("total_s"))
            words = Phrase("{what}: {stage}", what=self._what, stage=stage)
            if done and total:
                template = "{what}: {stage}, {done:.0f} of {total:.0f} s of network time"
                words = Phrase(template, what=self._what, stage=stage, done=done, total=total)
            self.window.status.share(done / total if total else None)
            self.window.say(words)
        elif line.text:
            self._named(line.text)

    def _named(self, text: str) -> None:
        """Show a line of text; a line of a batch begins with the number of the trial."""
        counted = COUNTED.match(text)
        if counted is not None:
            self.window.status.share(int(counted[1]) / max(1, int(counted[2])))
        self.window.say(Phrase("{what}: {line}", what=self._what, line=excerpt(text, 160)))

    def _result(self, path: Path) -> None:
        if path not in self._files:
            self._files.append(path)
            self._opened([path], True)

    def _end(self, status: int, said: Sequence[str]) -> None:
        self.window.status.share(None)
        text = "\n".join(said)
        if status == 0:
            self.window.say(Phrase("{what}: done", what=self._what))
        elif status == ABORTED and self._files:
            self.window.say(Phrase("{what}: ended early; what was measured is kept", what=self._what))
        elif self._files:
            self.window.show_text(Phrase("{what}: Something Is Missing", what=self._what), text)
        else:
            self.window.say(Phrase("{what}: it was not run", what=self._what), bad=True)
            self.window.show_text(Phrase("{what}: It Was Not Run", what=self._what), text or str(status))


def _number(found: object) -> float:
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else 0.0


class TestChooser(Dialog):
    """The tests of the library by family, with a line to search in them."""

    def __init__(self, master: tk.Misc, look: Look, last: str, take: Callable[[NamedTest], None]) -> None:
        super().__init__(master, look, "New Test", modal=True)
        self._take = take
        top = ttk.Frame(self.body)
        top.pack(side="top", fill="x")
        ttk.Label(top, text=look.say("Search")).pack(side="left", padx=(0, look.px(8)))
        self.wanted = tk.StringVar(self)
        self.entry = ttk.Entry(top, textvariable=self.wanted)
        self.entry.pack(side="left", fill="x", expand=True)
        wrap = min(look.px(560), self.maxsize()[0] - look.px(40))
        self.words = ttk.Label(self.body, text="", style="Muted.TLabel", wraplength=wrap, justify="left")
        self.words.pack(side="bottom", fill="x")
        middle = ttk.Frame(self.body)
        middle.pack(side="top", fill="both", expand=True, pady=look.px(8))
        rows = 5 if look.is_narrow else ROWS
        self.tree = ttk.Treeview(middle, columns=("title",), show="tree", selectmode="browse", height=rows)
        self.tree.column("#0", width=look.px(210))
        self.tree.column("title", width=look.px(360))
        bar = ttk.Scrollbar(middle, orient="vertical", command=self.tree.yview)
        self.tree.configure(yscrollcommand=bar.set)
        self.tree.pack(side="left", fill="both", expand=True)
        bar.pack(side="right", fill="y")
        self.accept = self.button("Next", self.choose, style="Accent.TButton")
        self.button("Cancel", self.destroy)
        self.wanted.trace_add("write", lambda *_: self._fill())
        self.tree.bind("<<TreeviewSelect>>", lambda _: self._describe())
        self.tree.bind("<Double-Button-1>", lambda _: self.choose())
        self.bind("<Return>", lambda _: self.choose())
        self.entry.bind("<Down>", lambda _: self.tree.focus_set())
        self._fill(last)
        self.open(self.entry)

    def _fill(self, chosen: str = "") -> None:
        """Show the tests that match; the first of them is chosen if none else is."""
        self.tree.delete(*self.tree.get_children())
        first = ""
        for heading, tests in families():
            found = [test for test in tests if matches(test, self.wanted.get())]
            if not found:
                continue
            above = self.tree.insert("", "end", text=self.look.say(heading), open=True)
            for test in found:
                title = Phrase("cannot be run here") if test.impossible else test.title
                self.tree.insert(above, "end", iid=test.name, text=test.name, values=(self.look.say(title),))
                first = first or test.name
        named = self.wanted.get().strip()
        which = next((name for name in (chosen, named) if name and self.tree.exists(name)), first)
        if which:
            self.tree.selection_set(which)
            self.tree.focus(which)
            self.tree.see(which)
        self._describe()

    @property
    def _chosen(self) -> NamedTest | None:
        rows = self.tree.selection()
        return load_test(rows[0]) if rows and self.tree.parent(rows[0]) else None

    def _describe(self) -> None:
        """Say what the chosen test shows, or why it cannot be run."""
        test = self._chosen
        words = "" if self.tree.get_children() else self.look.say("No test has all of these words.")
        if test is not None:
            words = " ".join((test.impossible or test.text or test.title).split())
        self.words.configure(text=words)
        self.grow()

    def choose(self) -> None:
        """Go on with the chosen test, if it can be run."""
        test = self._chosen
        if test is not None and not test.impossible:
            self.destroy()
            self._take(test)
