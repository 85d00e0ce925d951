# SPDX-License-Identifier: BSD-3-Clause
"""A display of its own, and a hand on mouse and keys that no program can tell from a person's (X's XTEST extension)."""

import ctypes
import os
import shutil
import subprocess
import time

import pytest

try:
    X11 = ctypes.CDLL("libX11.so.6")
    XTST = ctypes.CDLL("libXtst.so.6")
except OSError:
    XTST = None

needs_display = [
    pytest.mark.display,
    pytest.mark.skipif(shutil.which("Xvfb") is None, reason="Xvfb is not installed (apt install xvfb)"),
    pytest.mark.skipif(XTST is None, reason="libXtst is not installed (apt install libxtst6)"),
]
NAMES = {
    " ": "space", "\n": "Return", "/": "slash", ".": "period", "-": "minus", ">": "greater", "_": "underscore",
    "|": "bar", "\t": "Tab", ",": "comma", ":": "colon", ";": "semicolon", "=": "equal",
}  # fmt: skip


def start_xvfb(size="1280x900"):
    """A process and the name of its display.

    Without -noreset, Xvfb starts anew when its last window closes, and a window that opens meanwhile fails or hangs.
    """
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{size}x24", "-nolisten", "tcp", "-noreset"]
    process = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        number = answer.readline().strip()
    return process, f":{number}"


class Robot:
    """Moves the pointer and presses keys."""

    def __init__(self, display):
        X11.XOpenDisplay.restype = ctypes.c_void_p
        X11.XStringToKeysym.restype = ctypes.c_ulong
        X11.XkbKeycodeToKeysym.restype = ctypes.c_ulong
        X11.XDefaultRootWindow.restype = ctypes.c_ulong
        self.display = ctypes.c_void_p(X11.XOpenDisplay(display.encode()))

    def close(self):
        """Let go of the display."""
        X11.XCloseDisplay(self.display)

    def move(self, x, y):
        """Put the pointer there."""
        XTST.XTestFakeMotionEvent(self.display, -1, int(x), int(y), 0)
        self._sync()

    def press(self, button=1):
        """Push a button down."""
        XTST.XTestFakeButtonEvent(self.display, button, 1, 0)
        self._sync()

    def release(self, button=1):
        """Let it go."""
        XTST.XTestFakeButtonEvent(self.display, button, 0, 0)
        self._sync()

    def key(self, names):
        """Press keys together: "Control+s"."""
        *held, last = names.split("+") if names != "+" else ["plus"]
        codes = [self._code({"Control": "Control_L", "Shift": "Shift_L", "Alt": "Alt_L"}[name])[0] for name in held]
        code, shifted = self._code(last)
        if shifted and "Shift" not in held:
            codes.append(self._code("Shift_L")[0])
        for each in [*codes, code]:
            XTST.XTestFakeKeyEvent(self.display, each, 1, 0)
        for each in [code, *reversed(codes)]:
            XTST.XTestFakeKeyEvent(self.display, each, 0, 0)
        self._sync()

    def type(self, text, pause_s=0.01):
        """Type a text."""
        for letter in text:
            self.key(NAMES.get(letter, letter))
            time.sleep(pause_s)

    def window(self, title):
        """The window whose title begins so; None if there is none."""
        root, parent, children, count = (
            ctypes.c_ulong(),
            ctypes.c_ulong(),
            ctypes.POINTER(ctypes.c_ulong)(),
            ctypes.c_uint(),
        )
        top = ctypes.c_ulong(X11.XDefaultRootWindow(self.display))
        refs = [ctypes.byref(each) for each in (root, parent, children, count)]
        X11.XQueryTree(self.display, top, *refs)
        found = None
        for each in children[: count.value]:
            name = ctypes.c_char_p()
            X11.XFetchName(self.display, ctypes.c_ulong(each), ctypes.byref(name))
            if (name.value or b"").decode(errors="replace").startswith(title):
                found = each
        return found

    def lift(self, window):
        """Put a window above all others."""
        X11.XRaiseWindow(self.display, ctypes.c_ulong(window))
        X11.XSync(self.display, 0)

    def focus(self, window):
        """Give a window the keyboard, as a window manager does."""
        to_parent, now = 2, 0
        X11.XSetInputFocus(self.display, ctypes.c_ulong(window), to_parent, ctypes.c_ulong(now))
        X11.XSync(self.display, 0)

    def _sync(self):
        """Wait until the display has taken what was asked: its events are then on their way to the window."""
        X11.XSync(self.display, 0)

    def _code(self, name):
        symbol = X11.XStringToKeysym(name.encode())
        assert symbol, name
        code = X11.XKeysymToKeycode(self.display, ctypes.c_ulong(symbol))
        shifted = X11.XkbKeycodeToKeysym(self.display, code, 0, 0) != symbol
        return code, shifted
