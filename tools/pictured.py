# SPDX-License-Identifier: BSD-3-Clause
"""What `dialog_pictures` takes pictures of: each name, and what opens or brings about what it shows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dialog_pictures import Gallery

BAD_FILE = '{"version": "2", "hosts": [], "links": [{"src": "h1", "dest": "s7", "opts": {}}], "switches": []}'


Picture = Callable[["Gallery", str], None]


def tabs(open_it: Callable[[Gallery], object], gallery: Gallery, name: str) -> None:
    """Every tab of a dialog, and the end of each that scrolls."""
    from linklab.windows.scrolled import Scrolled  # noqa: PLC0415 - needs the display

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
    chosen = bar.winfo_children()[list(MENUS).index(f"&{title}")]
    chosen.post(40, round(30 * gallery.scale))
    return chosen


def of_thing(key: str | int | None, gallery: Gallery) -> Any:
    """Post the menu of a thing."""
    from linklab.windows.menus import popup  # noqa: PLC0415

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


def addresses(gallery: Gallery) -> None:
    """The table of all addresses."""
    gallery.editor.addresses.open_table()
    gallery.live(0.3)


def addresses_wrong(gallery: Gallery) -> None:
    """A wrong cell of the last column, with its bubble, and a doubtful one."""
    addresses(gallery)
    table = gallery.dialog()
    port = table.table[0].port
    table.take_all({(port, "ipv4"): "10.0.0.300/8", (port, "routes"): "10.9.0.0/16 via 10.0.2"}, "Change")
    table.lines[0].fields["routes"].focus_force()


def addresses_doubtful(gallery: Gallery) -> None:
    """Two ports of one address, the focus on one of them."""
    addresses(gallery)
    table = gallery.dialog()
    rows = [row.port for row in table.table][:2]
    table.take_all(dict.fromkeys([(port, "ipv4") for port in rows], "10.0.0.77/8"), "Change")
    gallery.live()
    line = table.lines[1]
    line.fields["ipv4"].focus_force()


def running(gallery: Gallery) -> None:
    """The clock and the line below while a network runs, as far as the window knows."""
    gallery.editor.networking.runner.state = "running"
    gallery.editor.refresh()
    state = {"paused": False, "speed": 1.0, "now_s": 12.345, "until_ns": None, "behind_s": 1.25}
    gallery.editor.show_clock(state)
    gallery.editor.status.busy(True)
    gallery.editor.window.say("s1: no controller answers at 127.0.0.1:6653; it forwards nothing until one does")


def stopped(gallery: Gallery) -> None:
    """As it was before `running`."""
    gallery.editor.networking.runner.state = "stopped"
    gallery.editor.status.busy(False)
    gallery.editor.show_clock(None)
    gallery.editor.refresh()


def larger_than_seen(gallery: Gallery) -> None:
    """More drawn than is seen: the small map in the corner."""
    gallery.editor._zoomed(lambda: gallery.editor.drawing.set_zoom(2.0))


def pasted(gallery: Gallery) -> None:
    """Everything pasted beside itself."""
    gallery.editor.editing.select_all()
    gallery.editor.editing.copy()
    gallery.editor.editing.paste()


def fitted(gallery: Gallery) -> None:
    """As the window was before those two."""
    while gallery.editor.document.undo_label in ("Paste", "Change"):
        gallery.editor.document.undo()
    gallery.editor._zoomed(gallery.editor.drawing.fit)


def program(gallery: Gallery) -> None:
    """The question about a program to be imported."""
    from linklab.editor.exchanging import open_foreign  # noqa: PLC0415 - needs the display

    path = gallery.folder / "program.py"
    path.write_text("from mininet.topo import Topo\n\nclass One( Topo ):\n    pass\n")
    open_foreign(gallery.editor.window, gallery.editor.document, path)


def program_wrong(gallery: Gallery) -> None:
    """A topology that the program does not have."""
    program(gallery)
    gallery.dialog().inputs["topo"].set("mytopo,3")
    gallery.dialog().ok()


def restore(gallery: Gallery) -> None:
    """What an editor that crashed left behind."""
    from linklab.editor.files import Lost  # noqa: PLC0415 - needs the display

    path = gallery.folder / "lost.json"
    gallery.editor.filing._offer(Lost(path, gallery.folder / "Lost.mn", gallery.editor.document.topology, 0.0))


def hovered(gallery: Gallery) -> None:
    """The pointer on OK, without the focus."""
    gallery.editor.properties.open("h1")
    gallery.live(0.3)
    gallery.dialog().accept.state(["active"])


def ticked(gallery: Gallery) -> None:
    """The focus on a check box."""
    gallery.editor.properties.preferences()
    gallery.live(0.3)
    gallery.dialog().inputs["startCLI"].widget.focus_force()


def group(gallery: Gallery) -> None:
    """A group's dialog."""
    gallery.editor.decorating.add_group()
    gallery.editor.decorating.open(next(iter(gallery.editor.document.selection)))


def then(picture: Picture, after: Callable[[Gallery], None]) -> Picture:
    """A picture, and what makes good again what it left."""

    def take(gallery: Gallery, name: str) -> None:
        picture(gallery, name)
        after(gallery)

    return take


def cursor(gallery: Gallery) -> None:
    """The frame of the keyboard's cursor, beside what is selected."""
    gallery.editor.document.select({"h1"})
    gallery.editor.keyboard._go_on(1)
    gallery.editor.keyboard._go_on(1)


def opens(name: str | int) -> Callable[[Gallery], None]:
    """The dialog of a node or a link."""
    return lambda gallery: gallery.editor.properties.open(name)


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
    "addresses": partial(one, addresses),
    "addresses-wrong": partial(one, addresses_wrong),
    "addresses-doubtful": then(partial(one, addresses_doubtful), fitted),
    "assign": partial(one, lambda gallery: gallery.editor.addresses.assign()),
    "running": then(partial(one, running), stopped),
    "minimap": then(partial(one, larger_than_seen), fitted),
    "pasted": then(partial(one, pasted), fitted),
    "find": then(partial(one, lambda gallery: gallery.editor._open_find()), lambda g: g.editor.find_bar.close()),
    "import": partial(one, lambda gallery: gallery.editor.exchanging.open()),
    "program": partial(one, program),
    "program-wrong": partial(one, program_wrong),
    "restore": partial(one, restore),
    "hovered": partial(one, hovered),
    "ticked": partial(one, ticked),
    "note": partial(one, lambda gallery: gallery.editor.decorating.add_note()),
    "background": partial(one, lambda gallery: gallery.editor.decorating.choose_background()),
    "picture": partial(one, lambda gallery: gallery.editor.picturing.export()),
    "group": partial(one, group),
    "faulty": partial(one, faulty),
}
