# SPDX-License-Identifier: BSD-3-Clause
"""An editor and the hand that works it with mouse and keys; for the tests of windows and for tools/screenshots.py."""

import time
import tkinter as tk


class Hand:
    """An editor and the hand that works it."""

    def __init__(self, editor, robot):
        self.editor, self.robot = editor, robot

    @property
    def display(self):
        """The display's name, for pictures."""
        return self.editor.root.winfo_screen()

    def until(self, test, seconds=5.0, what="it"):
        """Let the window live until something holds."""
        end = time.monotonic() + seconds
        while not test():
            if time.monotonic() > end:
                dialog = self.dialog()
                told = self.read(dialog) if hasattr(dialog, "body") else ""
                raise AssertionError(f"{what} did not happen within {seconds} s; {self.editor.status.said}; {told}")
            self.editor.root.update()
            time.sleep(0.005)

    def settle(self, seconds=0.15):
        """Let the window live for a while: in turns too, so a busy machine gives it as many."""
        end, turns = time.monotonic() + seconds, seconds / 0.015
        while time.monotonic() < end or turns > 0:
            self.editor.root.update()
            time.sleep(0.005)
            turns -= 1

    def click(self, widget, button=1, x=None, y=None, times=1):
        """Click into a widget, in its middle or at a place of it."""
        at_x = widget.winfo_rootx() + (widget.winfo_width() // 2 if x is None else x)
        at_y = widget.winfo_rooty() + (widget.winfo_height() // 2 if y is None else y)
        self.robot.move(at_x, at_y)
        self.settle()
        for _ in range(times):
            self.robot.press(button)
            self.robot.release(button)
        self.settle()

    def tool(self, name):
        """Take a tool from the bar."""
        self.click(self.editor.toolbar.tools[name])

    def place(self, x, y, **how):
        """Click on the drawing."""
        self.click(self.editor.drawing, x=x, y=y, **how)

    def spot(self, name):
        """Where a node is in the drawing's window."""
        from linklab.editor import edits  # noqa: PLC0415 - needs tkinter, which may be missing

        drawing = self.editor.drawing
        x, y = drawing.spot(edits.named(self.editor.document.topology)[name])
        return int(x - drawing.canvasx(0)), int(y - drawing.canvasy(0))

    def drag(self, start, end):
        """Press, move in steps, release."""
        drawing = self.editor.drawing
        left, top = drawing.winfo_rootx(), drawing.winfo_rooty()
        self.robot.move(left + start[0], top + start[1])
        self.settle()
        self.robot.press()
        self.settle(0.05)
        for i in range(1, 6):
            x, y = (a + (b - a) * i / 5 for a, b in zip(start, end, strict=True))
            self.robot.move(left + x, top + y)
            self.settle(0.03)
        self.robot.release()
        self.settle()

    def key(self, names):
        """Press a key."""
        self.robot.key(names)
        self.settle()

    def dialog(self, kind="Toplevel"):
        """The window that opened last."""
        found = [w for w in self.editor.root.winfo_children() if w.winfo_class() == kind and w.winfo_viewable()]
        return found[-1] if found else None

    def read(self, dialog):
        """Everything that a dialog says, line by line: labels, and what stands in fields of text."""
        said, widgets = [], [dialog.body]
        while widgets:
            widget = widgets.pop(0)
            widgets[:0] = widget.winfo_children()
            if isinstance(widget, tk.Text):
                said.append(widget.get("1.0", "end-1c"))
            elif widget.winfo_class() in ("Label", "TLabel"):
                said.append(str(widget.cget("text")))
        return "\n".join(said)

    def fill(self, form, key, text):
        """Put a text into a field of a dialog, as a person does."""
        self.click(form.inputs[key].widget)
        self.key("Control+a")
        self.key("Delete")
        self.robot.type(text)
        self.settle()
