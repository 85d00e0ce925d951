# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of every dialog, tab and menu of the editor on a screen of 1024 × 600, to be looked at.

`python tools/dialog_pictures.py [NAME…]` writes build/pictures/THEME-SCALE/NAME.png for both themes at 100 % and 200 %,
from the real program on an Xvfb of its own. To be run, and looked at, whenever a dialog or the theme changed.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pictured import PICTURES
from PIL import ImageGrab
from screenshots import ROOT, display

OUT = ROOT / "build/pictures"
SCREEN = "1024x600"
THEMES, SCALES = ("light", "dark"), (1.0, 2.0)


class Gallery:
    """An editor with a drawing that has one of everything."""

    def __init__(self, theme: str, scale: float, folder: Path) -> None:
        from linklab.editor import edits  # noqa: PLC0415 - needs the display
        from linklab.editor.app import Editor  # noqa: PLC0415
        from linklab.editor.settings import EditorSettings  # noqa: PLC0415

        self.theme, self.scale, self.folder = theme, scale, folder
        path = folder / "Drawing.mn"
        path.write_text((ROOT / "topologies/Lab 14.mn").read_text())
        self.editor = Editor(path, EditorSettings(theme=theme, scale=scale, recent=[]))
        self.editor.root.geometry("+0+0")
        self.live(0.6)
        topology = self.editor.document.topology
        for kind, x, y in (("switch", 250, 60), ("legacyRouter", 400, 60), ("controller", 400, 340)):
            topology, _ = edits.add_node(topology, kind, x, y)
        fair = {"kind": "red", "limit": "1000000", "min": "90000", "max": "270000", "avpkt": "1500"}
        one_way = {"rate": "1gbit", "queue": "2621440", "delay": "20ms", "loss": "0.01%", "discipline": fair}
        topology = edits.set_link(topology, 0, {"bw": 10, "delay": "5ms", "max_queue_size": 100}, {})
        topology = edits.set_link(topology, 1, {}, {"backward": one_way})
        self.editor.document.apply("Draw", topology)
        self.editor._zoomed(self.editor.drawing.fit)

    def live(self, seconds: float = 0.25) -> None:
        """Let the window live."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.editor.root.update()
            time.sleep(0.01)

    def dialog(self) -> Any:
        """The dialog that opened last."""
        children = self.editor.root.winfo_children()
        return [w for w in children if w.winfo_class() == "Toplevel" and w.winfo_viewable()][-1]

    def take(self, name: str) -> None:
        """The whole screen."""
        self.live()
        folder = OUT / f"{self.theme}-{self.scale * 100:.0f}"
        folder.mkdir(parents=True, exist_ok=True)
        picture = ImageGrab.grab(xdisplay=os.environ["DISPLAY"])
        picture.save(folder / f"{name}.png")

    def close(self) -> None:
        """Close whatever is open above the window."""
        for child in self.editor.root.winfo_children():
            if child.winfo_class() == "Toplevel":
                child.destroy()
        self.live()


def take(theme: str, scale: float, names: list[str]) -> None:
    """Those pictures in one theme and size."""
    with display(SCREEN), tempfile.TemporaryDirectory(prefix="linklab-pictures-") as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        gallery = Gallery(theme, scale, Path(folder))
        for name in names:
            PICTURES[name](gallery, name)
        gallery.editor.close()
    print(f"dialog_pictures: {theme}, {scale * 100:.0f} %", flush=True)


def main(names: list[str]) -> int:
    """Take those named, or all."""
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        raise SystemExit(f"dialog_pictures: there is no {', '.join(unknown)}; there are {', '.join(PICTURES)}")
    for theme in THEMES:
        for scale in SCALES:
            # a process each: Tk keeps its connection to a display, and dies with it
            taking = multiprocessing.get_context("spawn").Process(
                target=take, args=(theme, scale, names or [*PICTURES])
            )
            taking.start()
            taking.join()
            if taking.exitcode:
                raise SystemExit(f"dialog_pictures: {theme}, {scale * 100:.0f} %: ended with {taking.exitcode}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
