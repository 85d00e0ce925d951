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
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from PIL import ImageGrab
from screenshots import ROOT, display

OUT = ROOT / "build/pictures"
SCREEN = "1024x600"
THEMES, SCALES = ("light", "dark"), (1.0, 2.0)
BAD_FILE = '{"version": "2", "hosts": [], "links": [{"src": "h1", "dest": "s7", "opts": {}}], "switches": []}'


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


def tabs(open_it: Callable[[Gallery], object], gallery: Gallery, name: str) -> None:
    """Every tab of a dialog, and the end of each that scrolls."""
    from linklab.editor.scrolled import Scrolled  # noqa: PLC0415 - needs the display

    open_it(gallery)
    gallery.live(0.4)
    form = gallery.dialog()
    book = getattr(form, "notebook", None)
    for at, tab in enumerate(book.tabs() if book is not None else [""]):
        if tab:
            book.select(at)
        gallery.take(f"{name}-{at + 1}")
        page = form.nametowidget(tab) if tab else None
        if isinstance(page, Scrolled) and page.canvas.yview()[1] < 1:
            page.canvas.yview_moveto(1.0)
            gallery.take(f"{name}-{at + 1}-end")
    gallery.close()


def one(open_it: Callable[[Gallery], object], gallery: Gallery, name: str) -> None:
    """A dialog without tabs."""
    open_it(gallery)
    gallery.live(0.4)
    gallery.take(name)
    gallery.close()


def menu(open_it: Callable[[Gallery], Any], gallery: Gallery, name: str) -> None:
    """A menu that is open."""
    shown = open_it(gallery)
    gallery.live()
    gallery.take(name)
    shown.unpost()
    gallery.live()


def of_bar(title: str, gallery: Gallery) -> Any:
    """Post a menu of the bar."""
    from linklab.editor.actions import MENUS  # noqa: PLC0415

    bar = gallery.editor.layout.menus.bar
    chosen = bar.winfo_children()[list(MENUS).index(title)]
    chosen.post(40, round(30 * gallery.scale))
    return chosen


def of_thing(key: str | int | None, gallery: Gallery) -> Any:
    """Post the menu of a thing."""
    from linklab.editor.menus import popup  # noqa: PLC0415

    return popup(gallery.editor.root, gallery.editor.context.entries(key), 300, 100)


def wrong_host(gallery: Gallery) -> None:
    """A wrong value, told at its field."""
    gallery.editor.properties.open("h1")
    form = gallery.dialog()
    form.inputs["ip"].set("10.0.0.300")
    form.ok()


def wrong_link(gallery: Gallery) -> None:
    """A wrong value of a direction."""
    gallery.editor.properties.open(1)
    form = gallery.dialog()
    form.directions[1].inputs["delay"].set("20 apples")
    form.ok()


def several(gallery: Gallery) -> None:
    """Properties of everything."""
    gallery.editor.editing.select_all()
    gallery.editor.properties.open_selected()
    at = ("host", "defaultRoute")
    gallery.dialog().inputs[at].set("10.0.0.254")


def faulty(gallery: Gallery) -> None:
    """The question about a file with faults."""
    path = gallery.folder / "faulty.mn"
    path.write_text(BAD_FILE)
    gallery.editor.document.saved(gallery.editor.document.path)
    gallery.editor.filing.open_path(path)


def changed_meanwhile(gallery: Gallery) -> None:
    """The question of the second save."""
    path = gallery.folder / "Drawing.mn"
    path.write_text(path.read_text() + "\n")
    gallery.editor.filing.save()


def save_over(gallery: Gallery) -> None:
    """Saving on a file that exists, once pressed."""
    gallery.editor.filing.save_as()
    gallery.live()
    gallery.dialog().choose()


def refused(gallery: Gallery) -> None:
    """What cannot run."""
    from linklab.editor import edits  # noqa: PLC0415 - needs the display

    topology = edits.set_opts(gallery.editor.document.topology, "s2", {"switchType": "ivs"})
    gallery.editor.document.apply("Change", topology)
    gallery.editor.networking.run()
    gallery.editor.document.undo()


def no_file(gallery: Gallery) -> None:
    """A file that cannot be read."""
    path = gallery.folder / "broken.mn"
    path.write_text('{"hosts": [')
    gallery.editor.filing.open_path(path)


def leaving(gallery: Gallery) -> None:
    """Quitting while the network runs; as far as the files know it does."""
    gallery.editor.filing.runs = lambda: True
    gallery.editor.filing.quit()


def long_answer(gallery: Gallery) -> None:
    """A line at the bottom that is too long."""
    gallery.editor.window.say("h1-s1 changed; the kernel has: " + "netem 10: root refcnt 2 limit 1000 delay 20ms; " * 5)


def cursor(gallery: Gallery) -> None:
    """The frame of the keyboard's cursor, beside what is selected."""
    gallery.editor.document.select({"h1"})
    gallery.editor.keyboard._go_on(1)
    gallery.editor.keyboard._go_on(1)


def opens(name: str | int) -> Callable[[Gallery], None]:
    """The dialog of a node or a link."""
    return lambda gallery: gallery.editor.properties.open(name)


Picture = Callable[[Gallery, str], None]
PICTURES: dict[str, Picture] = {
    "window": partial(one, lambda gallery: gallery.editor.document.select({"h1", "s1"})),
    "cursor": partial(one, cursor),
    "host": partial(tabs, opens("h1")),
    "switch": partial(tabs, opens("s2")),
    "legacy-switch": partial(tabs, opens("s1")),
    "router": partial(tabs, opens("r3")),
    "controller": partial(tabs, opens("c0")),
    "link": partial(tabs, opens(0)),
    "link-one-way": partial(tabs, opens(1)),
    "several": partial(tabs, several),
    "preferences": partial(tabs, lambda gallery: gallery.editor.properties.preferences()),
    "host-wrong": partial(one, wrong_host),
    "link-wrong": partial(one, wrong_link),
    "open": partial(one, lambda gallery: gallery.editor.filing.choose("Open", print)),
    "save-over": partial(one, save_over),
    "unsaved": partial(one, lambda gallery: gallery.editor.filing.new()),
    "changed-meanwhile": partial(one, changed_meanwhile),
    "refused": partial(one, refused),
    "broken": partial(one, no_file),
    "leaving": partial(one, leaving),
    "keys": partial(one, lambda gallery: gallery.editor._commands()["keys"]()),
    "about": partial(one, lambda gallery: gallery.editor._about()),
    "messages": partial(one, lambda gallery: gallery.editor.window.show_said()),
    "commands": partial(one, lambda gallery: gallery.editor.properties.show_all_commands()),
    "long-answer": partial(one, long_answer),
    **{f"menu-{title.lower()}": partial(menu, partial(of_bar, title)) for title in ("File", "Edit", "View", "Run")},
    "menu-of-host": partial(menu, partial(of_thing, "h1")),
    "menu-of-link": partial(menu, partial(of_thing, 0)),
    "menu-of-drawing": partial(menu, partial(of_thing, None)),
    "faulty": partial(one, faulty),
}


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
