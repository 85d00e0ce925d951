# SPDX-License-Identifier: BSD-3-Clause
"""What a manual's `editor` blocks say, done by the keyboard alone; the same verbs with the mouse: `verbs.Person`.

There is no window manager here, so what one does is done for it: a new window gets the focus, and Alt+Tab gives it to
another (`_turn_to`, `_back`).
"""

from pathlib import Path

from verbs import TERMINAL_S, Person

from linklab.editor import edits
from linklab.manual.model import EditorVerb

ADD = {"host": "at", "switch": "numbersign", "legacySwitch": "dollar", "legacyRouter": "percent"}
"""Shift+2 to Shift+5, as an American keyboard names them."""
STEP = 25
MOST_TABS = 80


class Typist(Person):
    """One who reads the manual beside the editor and has no mouse."""

    def do(self, verb: EditorVerb) -> None:
        """Do one line of a block.

        Raises:
            AssertionError: the editor does not do it, or not in time.
        """
        self._back()
        match verb.words:
            case ("link", one, other):
                self._select(one, other)
                self.hand.key("Control+l")
            case ("set", name, "ip", *address):
                self._select(name)
                self.hand.key("Return")
                self._fill(verb, "ip", "".join(address))
            case ("delete", *names):
                self._select_link(*names) if len(names) == 2 else self._select(*names)
                self.hand.key("Delete")
            case ("run",):
                self.hand.key("F5")
                self._until(lambda: self.editor.networking.runner.state == "running", 60, "the network")
                self.terminals = {}
            case ("stop",):
                self.hand.key("Shift+F5")
                self._until(lambda: self.editor.networking.runner.state == "stopped", 60, "its end")
            case _:
                super().do(verb)

    # --- where the keys go

    def _rest(self) -> None:
        """A hand without a mouse has none to be put away."""

    def _back(self) -> None:
        """Alt+Tab to the editor, as a window manager does it."""
        self.editor.drawing.focus_force()
        self.hand.settle()

    def _turn_to(self, node: str) -> None:
        """Alt+Tab to the terminal of a node."""
        self.hand.robot.lift(self._titled(node))
        self.hand.robot.focus(self._titled(node))
        self.hand.settle(0.3)

    def _select(self, *names: str) -> None:
        """Tab to the first, Ctrl+Tab to each other one, which Space adds."""
        first, *others = names
        self._press_until("Tab", lambda: self.editor.document.selection == {first})
        for name in others:
            self._press_until("Control+Tab", lambda name=name: self.editor.keyboard.cursor == name)
            self.hand.key("space")
        assert self.editor.document.selection == set(names)

    def _select_link(self, one: str, other: str) -> None:
        """Tab to the link between two nodes."""
        links = self.editor.document.topology.links
        place = next(i for i, link in enumerate(links) if {link.src, link.dest} == {one, other})
        self._press_until("Tab", lambda: self.editor.document.selection == {place})

    def _press_until(self, key, test) -> None:
        for _ in range(MOST_TABS):
            if test():
                return
            self.hand.key(key)
        raise AssertionError(f"{key} did not lead there")

    # --- the parts of the verbs that a mouse does otherwise

    def _new(self) -> None:
        self.hand.key("Control+n")
        if self.hand.dialog() is not None:
            self._press_button("Do not save")
        assert not self.editor.document.topology.nodes

    def _press_button(self, label: str) -> None:
        """Tab to a button of the dialog, and Return."""
        self._press_until("Tab", lambda: getattr(self._focus(), "cget", lambda _: "")("text") == label)
        self.hand.key("Return")

    def _focus(self):
        return self.editor.root.focus_get()

    def _file(self, key: str, path: Path) -> None:
        self.hand.key(key)
        self._until(lambda: self.hand.dialog() is not None, 5, "the dialog")
        chooser = self.hand.dialog()
        self.hand.key("Control+a")
        self.hand.robot.type(f"{path}\n")
        self.hand.settle()
        if chooser.winfo_exists() and "write over" in chooser.message.cget("text"):
            self.hand.key("Return")
        self._until(lambda: self.hand.dialog() is None, 5, "the end of the dialog")
        assert self.editor.document.path == path

    def _place(self, kind: str, name: str, x: float, y: float) -> None:
        self.hand.key(ADD[kind])
        assert self.editor.document.selection == {name}
        node = edits.named(self.editor.document.topology)[name]
        for by, back, on in (
            (x - edits.position(node)[0], "Left", "Right"),
            (y - edits.position(node)[1], "Up", "Down"),
        ):
            key = on if by > 0 else back
            steps, pixels = divmod(round(abs(by)), STEP)
            for _ in range(steps):
                self.hand.robot.key(key)
            for _ in range(pixels):
                self.hand.robot.key(f"Shift+{key}")
            self.hand.settle(0.3)
        assert edits.position(edits.named(self.editor.document.topology)[name]) == (x, y)

    def _fill(self, verb: EditorVerb, key: str, value: str) -> None:
        self._until(lambda: self.hand.dialog() is not None, 5, "the dialog")
        form = self.hand.dialog()
        self._press_until("Tab", lambda: self._focus() is form.inputs[key].widget)
        if form.inputs[key].field.kind == "flag":
            if form.inputs[key].get() != {"on": "1", "off": "0"}[value]:
                self.hand.key("space")
        else:
            self.hand.key("Control+a")
            self.hand.key("Delete")
            self.hand.robot.type(value)
            self.hand.settle()
        self.before_ok(verb, form)
        self.hand.key("Return")
        self._until(lambda: self.hand.dialog() is None, 5, "the end of the dialog")

    def _open_terminal(self, node: str) -> None:
        before = self._attached()
        if node in ("client", "mininet"):
            self.hand.key({"client": "Control+t", "mininet": "Control+m"}[node])
        else:
            self._select(node)
            self.hand.key("Shift+F10")
            self.hand.key("Down")
            self.hand.key("Return")
        self._until(lambda: bool(self._attached() - before), TERMINAL_S, f"the terminal of {node}")
        (self.terminals[node],) = self._attached() - before
        self._until(lambda: self._titled(node) is not None, TERMINAL_S, f"the window of {node}")

    def _close_terminal(self, node: str) -> None:
        gone = self.terminals.pop(node)
        self._turn_to(node)
        self.hand.robot.key("Control+d")
        self._until(lambda: gone not in self._attached(), TERMINAL_S, f"the end of {node}'s terminal")
        self._until(lambda: self._titled(node) is None, TERMINAL_S, f"the end of {node}'s window")

    def type(self, node: str, text: str) -> None:
        """Type into the terminal of a node."""
        self._turn_to(node)
        self.hand.robot.type(text)

    def interrupt(self, node: str) -> None:
        """Ctrl+C in the terminal of a node."""
        self._turn_to(node)
        self.hand.robot.key("Control+c")
        self.hand.settle()
