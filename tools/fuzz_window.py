# SPDX-License-Identifier: BSD-3-Clause
"""Opens damaged drawings in the editor's real window, works with each as a user does, and counts what breaks.

`xvfb-run -a python tools/fuzz_window.py [--count N] [--seed N]`: N drawings, the same for the same seed; 5,000 take
about an hour. Each is opened, its questions are answered (Mend), everything is selected, some dialogs are opened and
closed, it is laid out, saved, undone and exported. An exception in any callback of the window is a fault.
The inputs are those of fuzz_inputs.py, with changes that leave JSON alone, so that most of them open.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import tkinter as tk
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from types import TracebackType

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import fuzz_inputs  # noqa: E402 - found by the line above
from fuzz import faults, fuzz, table  # noqa: E402
from fuzz_targets import Target, drawings  # noqa: E402

from linklab.editor.app import Editor  # noqa: E402
from linklab.editor.settings import EditorSettings  # noqa: E402
from linklab.errors import LinklabError  # noqa: E402

MOST_DIALOGS = 4
"""Opened of each drawing."""
COMMANDS = (
    "select_all",
    "fit",
    "lay_out",
    "mend",
    "undo",
    "redo",
    "copy",
    "paste",
    "duplicate",
    "undo",
    "link_commands",
)


class Window:
    """One editor for all drawings; raises the exceptions of its callbacks."""

    def __init__(self) -> None:
        self.home = tempfile.TemporaryDirectory()
        os.environ |= {"XDG_STATE_HOME": self.home.name, "XDG_CONFIG_HOME": self.home.name}
        self.editor = Editor(None, EditorSettings(scale=1.0, ports=True))
        self.editor.root.report_callback_exception = self._broke
        self.editor.root.geometry("1000x700+0+0")
        self.broken: BaseException | None = None
        self.update()

    def _broke(self, kind: type[BaseException], error: BaseException, at: TracebackType | None) -> None:
        if not isinstance(error, LinklabError):
            self.broken = self.broken or error

    def update(self) -> None:
        """Process the window's pending events; raise the first exception in a callback."""
        self.editor.root.update()
        if self.broken is not None:
            error, self.broken = self.broken, None
            raise error

    def do(self, what: Callable[[], object]) -> None:
        """Do something as a callback of the window would: a LinklabError is shown, any other exception is a fault."""
        try:
            what()
        except LinklabError as error:
            self.editor.window.say(str(error), bad=True)
        self.update()

    def dialogs(self) -> list[tk.Toplevel]:
        """The open dialogs."""
        return [each for each in self.editor.root.winfo_children() if isinstance(each, tk.Toplevel)]

    def close_dialogs(self) -> None:
        """Close every dialog, as Escape does."""
        for dialog in self.dialogs():
            dialog.destroy()
        self.update()

    def press(self, *labels: str) -> None:
        """Press the first button of a dialog that has one of these labels."""
        for dialog in self.dialogs():
            for button in _buttons(dialog):
                if str(button.cget("text")) in labels and "disabled" not in str(button.cget("state")):
                    self.do(button.invoke)
                    break

    def open(self, path: Path, chance: Random) -> None:
        """Open a drawing and work with it."""
        editor, commands = self.editor, self.editor._commands()
        try:
            before = editor.document.topology
            self.do(lambda: editor.filing.open_path(path))
            self.press("Mend", "OK")
            if editor.document.topology is before:
                return
            keys = [node.name for node in editor.document.topology.nodes] + list(
                range(len(editor.document.topology.links))
            )
            for key in chance.sample(keys, min(MOST_DIALOGS, len(keys))):
                self.do(lambda: editor.context.entries(key))  # noqa: B023 - done at once
                self.do(lambda: editor.properties.open(key))  # noqa: B023
                self.press("OK", "Cancel")
                self.close_dialogs()
            self.do(editor.properties.preferences)
            self.press("OK")
            self.close_dialogs()
            for name in chance.sample(COMMANDS, 5):
                self.do(commands[name])
                self.press("Mend", "OK")
                self.close_dialogs()
            self.do(lambda: editor.filing.save_path(path))
            self.do(lambda: editor.filing.export_path(path.with_suffix(".py")))
        finally:
            self.close_dialogs()


def _buttons(widget: tk.Misc) -> list[tk.Misc]:
    found = [child for child in widget.winfo_children() if child.winfo_class() == "TButton"]
    return found + [each for child in widget.winfo_children() for each in _buttons(child)]


class Reader:
    """Reads one input in the window of this process, which is opened for the first."""

    def __init__(self) -> None:
        self.window: Window | None = None

    def __call__(self, data: bytes, folder: Path) -> None:
        """Raise what goes wrong in the window; LinklabError where the file is refused."""
        if self.window is None:
            try:
                self.window = Window()
            except LinklabError as error:  # or every drawing would count as refused
                raise RuntimeError(f"no window: {error}") from error
        path = folder / "a.mn"
        path.write_bytes(data)
        self.window.open(path, Random(len(data)))  # noqa: S311 - chance of a test


def target() -> Target:
    """The window as a target of fuzz.py."""
    return Target("editor-window", drawings, (fuzz_inputs.change_json,), Reader())


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; 1 where anything was found."""
    parser = argparse.ArgumentParser(description="open damaged drawings in the editor's window")
    parser.add_argument("--count", type=int, default=5000, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    found = fuzz(target(), options.count, options.seed, deadline_s=20.0)
    print(table([found]))
    print(faults([found]))
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
