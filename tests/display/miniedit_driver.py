# SPDX-License-Identifier: BSD-3-Clause
"""Works the distribution's own MiniEdit in a process of its own; by that Python which has Mininet.

    python3 miniedit_driver.py open IN OUT     opens a file, prints what it shows as JSON, saves it
    python3 miniedit_driver.py draw OUT        draws a network by its tools, saves it

Its faults with Python 3 are worked around from outside, each with its place in miniedit.py 2.2.0.1; what opens and
saves is MiniEdit's own code.
"""

import json
import sys
from pathlib import Path

from mininet.examples import miniedit


class Items(dict):
    """Preferences; `loadTopology` adds the items of two, which were lists in Python 2."""

    def items(self):
        """As Python 2 had them."""
        return list(super().items())


def as_read(editor, data):
    """In place of `convertJsonUnicode`, which makes bytes of texts that Python 3 has as texts already."""
    return Items({key: as_read(editor, value) for key, value in data.items()}) if isinstance(data, dict) else data


def texts(name, mode="r"):
    """In place of open: `saveTopology` opens for bytes and writes text."""
    return Path(name).open(mode.replace("b", ""))


def shown(editor):
    """Names of the nodes with the kind that is drawn, and both ends of each link."""
    nodes = {
        widget["text"]: [tag for tag in editor.canvas.gettags(item) if tag != "node"][:1]
        for widget, item in editor.widgetToItem.items()
    }
    links = sorted([link["src"]["text"], link["dest"]["text"], link["type"]] for link in editor.links.values())
    return {"nodes": nodes, "links": links, "options": [link.get("linkOpts") for link in editor.links.values()]}


def draw(editor):
    """Two hosts, a switch and a controller, by MiniEdit's own buttons and clicks."""
    canvas = editor.canvas

    def click(tool, x, y):
        editor.buttons[tool].invoke()
        canvas.event_generate("<Button-1>", x=x, y=y)
        canvas.event_generate("<ButtonRelease-1>", x=x, y=y)
        editor.update()

    for tool, x, y in (("Host", 100, 250), ("Host", 300, 250), ("Switch", 200, 150), ("Controller", 200, 50)):
        click(tool, x, y)
    named = {widget["text"]: widget for widget in editor.widgetToItem}
    editor.buttons["NetLink"].invoke()
    for one, other in (("h1", "s1"), ("h2", "s1"), ("s1", "c0")):
        x, y = (int(each) for each in canvas.coords(editor.widgetToItem[named[other]]))
        start, end = named[one], (x - named[one].winfo_x(), y - named[one].winfo_y())
        start.event_generate("<Button-1>", x=5, y=5)
        start.event_generate("<B1-Motion>", x=end[0], y=end[1])
        start.event_generate("<ButtonRelease-1>", x=end[0], y=end[1])
        editor.update()


def main(what, *paths):
    """Do it and print what is shown."""
    miniedit.MiniEdit.convertJsonUnicode = as_read
    miniedit.open = texts
    miniedit.tkFileDialog.askopenfile = lambda **how: Path(paths[0]).open(how["mode"])  # noqa: SIM115 - it closes
    miniedit.tkFileDialog.asksaveasfilename = lambda **how: paths[-1]
    editor = miniedit.MiniEdit()
    editor.appPrefs = Items(editor.appPrefs)
    editor.update()
    if what == "open":
        editor.loadTopology()
    else:
        draw(editor)
    editor.update()
    found = shown(editor)
    editor.saveTopology()
    editor.top.destroy()
    print(json.dumps(found))  # noqa: T201 - a program that answers


if __name__ == "__main__":
    main(*sys.argv[1:])
