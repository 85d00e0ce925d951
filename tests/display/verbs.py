# SPDX-License-Identifier: BSD-3-Clause
"""What a manual's `editor` blocks say, done in the real editor with mouse and keys; verbs: docs/writing-a-lab.md.

The other way to do them is `linklab.manual.editing`, without a window; tests/display/test_editor_blocks.py compares the
two, and tools/screenshots.py takes the manuals' pictures on the way.
"""

from collections.abc import Callable
from pathlib import Path

from linklab.base import installation
from linklab.base.installation import ROOT
from linklab.editor import edits
from linklab.manual.model import EditorVerb
from linklab.windows.dialogs import Dialog

RUN_S, TERMINAL_S = 60, 30
IN_TERMINAL = (100, 100)
"""A place in a terminal's window: without a window manager it opens at the corner of the display."""


class Person:
    """One who reads the manual beside the editor.

    folder: where files are saved, and looked for before the labs' own.
    before_ok: sees each dialog of the drawing when it is filled in.
    """

    def __init__(
        self, hand, folder: Path, before_ok: Callable[[EditorVerb, Dialog], None] = lambda verb, dialog: None
    ) -> None:
        self.hand, self.folder, self.before_ok = hand, folder, before_ok
        self.editor = hand.editor
        self.terminals: dict[str, str] = {}
        """By node: the name of its terminal in the network."""

    def do(self, verb: EditorVerb) -> None:  # noqa: PLR0912 - one a verb
        """Do one line of a block.

        Raises:
            AssertionError: the editor does not do it, or not in time.
        """
        self.editor.root.lift()
        self._rest()
        match verb.words:
            case ("new",):
                self._new()
            case ("open", name):
                own = self.folder / name
                self._file("Control+o", own if own.is_file() else installation.need(ROOT / "topologies") / name)
            case ("save", name):
                self._file("Control+Shift+S", self.folder / name)
            case ("host" | "switch" as kind, name, "at", x, y):
                self._place(kind, name, float(x), float(y))
            case ("link", one, other):
                self.hand.tool("link")
                self.hand.drag(self.hand.spot(one), self.hand.spot(other))
            case ("set", name, "ip", *address):
                self.hand.tool("select")
                self.hand.place(*self.hand.spot(name), button=3)
                self.hand.key("Down")
                self.hand.key("Return")
                self._fill(verb, "ip", "".join(address))
            case ("delete", *names):
                self._delete(*names)
            case ("preferences", key, value):
                self.hand.key("Control+comma")
                self._fill(verb, {"ip-base": "ipBase", "start-cli": "startCLI"}[key], value)
            case ("run",):
                self.hand.click(self.editor.toolbar.run)
                self._until(lambda: self.editor.networking.runner.state == "running", RUN_S, "the network")
                self.terminals = {}
            case ("stop",):
                self.hand.click(self.editor.toolbar.stop)
                self._until(lambda: self.editor.networking.runner.state == "stopped", RUN_S, "its end")
            case ("terminal", node):
                self._open_terminal(node)
            case ("close", node):
                self._close_terminal(node)
            case words:
                raise AssertionError(f"line {verb.line}: nobody showed me how to {' '.join(words)}")

    def _until(self, test: Callable[[], bool], seconds: float, what: str) -> None:
        self.hand.until(test, seconds, what)
        self.hand.settle()

    def _rest(self) -> None:
        """The pointer on an empty corner of the drawing: keys go to the window below it."""
        drawing = self.editor.drawing
        self.hand.robot.move(
            drawing.winfo_rootx() + drawing.winfo_width() - 8, drawing.winfo_rooty() + drawing.winfo_height() - 8
        )
        self.hand.settle(0.05)

    # --- files

    def _new(self) -> None:
        self.hand.key("Control+n")
        question = self.hand.dialog()
        if question is not None:
            throw_away = next(b for b in question.buttons.winfo_children() if b.cget("text") == "Do not save")
            self.hand.click(throw_away)
        assert not self.editor.document.topology.nodes

    def _file(self, key: str, path: Path) -> None:
        self.hand.key(key)
        self._until(lambda: self.hand.dialog() is not None, 5, "the dialog")
        chooser = self.hand.dialog()
        self.hand.robot.move(chooser.winfo_rootx() + 100, chooser.winfo_rooty() + 100)
        self.hand.settle()
        self.hand.key("Control+a")
        self.hand.robot.type(f"{path}\n")
        self.hand.settle()
        if chooser.winfo_exists() and "write over" in chooser.message.cget("text"):
            self.hand.key("Return")
        self._until(lambda: self.hand.dialog() is None, 5, "the end of the dialog")
        assert self.editor.document.path == path

    # --- the drawing

    def _place(self, kind: str, name: str, x: float, y: float) -> None:
        drawing = self.editor.drawing
        self.hand.tool(kind)
        self.hand.place(round(x * drawing.factor - drawing.canvasx(0)), round(y * drawing.factor - drawing.canvasy(0)))
        placed = self.editor.document.selection
        assert placed == {name}, f"the editor placed {', '.join(map(str, placed))}, not {name}"

    def _delete(self, one: str, other: str = "") -> None:
        drawing, links = self.editor.drawing, self.editor.document.topology.links
        self.hand.tool("select")
        if other:
            x, y = drawing.middle_of(next(i for i, link in enumerate(links) if {link.src, link.dest} == {one, other}))
            self.hand.place(int(x - drawing.canvasx(0)), int(y - drawing.canvasy(0)))
        else:
            self.hand.place(*self.hand.spot(one))
        self.hand.key("Delete")
        assert one not in edits.named(self.editor.document.topology) or other

    def _fill(self, verb: EditorVerb, key: str, value: str) -> None:
        """Put a value into the dialog that just opened, and OK."""
        self._until(lambda: self.hand.dialog() is not None, 5, "the dialog")
        form = self.hand.dialog()
        if form.inputs[key].field.kind == "flag":
            if form.inputs[key].get() != {"on": "1", "off": "0"}[value]:
                self.hand.click(form.inputs[key].widget, x=10)
        else:
            self.hand.fill(form, key, value)
        self.before_ok(verb, form)
        self.hand.key("Return")
        self._until(lambda: self.hand.dialog() is None, 5, "the end of the dialog")

    # --- terminals

    def _open_terminal(self, node: str) -> None:
        before = self._attached()
        if node in ("client", "mininet"):
            self.hand.key({"client": "Control+t", "mininet": "Control+m"}[node])
        else:
            self.hand.place(*self.hand.spot(node), button=3)
            self.hand.key("Down")
            self.hand.key("Return")
        self._until(lambda: bool(self._attached() - before), TERMINAL_S, f"the terminal of {node}")
        (self.terminals[node],) = self._attached() - before
        self._until(lambda: self._titled(node) is not None, TERMINAL_S, f"the window of {node}")

    def _close_terminal(self, node: str) -> None:
        """Ctrl+D at its prompt, as the window's own button is a window manager's."""
        gone = self.terminals.pop(node)
        self.hand.robot.lift(self._titled(node))
        self.hand.robot.move(*IN_TERMINAL)
        self.hand.settle(0.3)
        self.hand.robot.key("Control+d")
        self._until(lambda: gone not in self._attached(), TERMINAL_S, f"the end of {node}'s terminal")
        self._until(lambda: self._titled(node) is None, TERMINAL_S, f"the end of {node}'s window")

    def type(self, node: str, text: str) -> None:
        """Type into the terminal of a node."""
        self.hand.robot.lift(self._titled(node))
        self.hand.robot.move(*IN_TERMINAL)
        self.hand.settle(0.3)
        self.hand.robot.type(text)

    def _attached(self) -> set[str]:
        server = self.editor.networking.runner.session.server
        return {client.terminal for client in server._clients if client.terminal}

    def _titled(self, node: str) -> int | None:
        return self.hand.robot.window(f"{node}: ")
