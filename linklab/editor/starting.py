# SPDX-License-Identifier: BSD-3-Clause
"""File > New from Template: the menu, and the dialog for a template's numbers."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from linklab.editor.document import Document
from linklab.topology import Topology, switching
from linklab.topology.templates import TEMPLATES, Number, Template, draw, numbers_of
from linklab.windows.dialogs import FormDialog
from linklab.windows.fields import Field, Page, digits
from linklab.windows.window import Window
from linklab.windows.words import Phrase


class Starting:
    """Starts drawings from templates."""

    def __init__(self, window: Window, document: Document, safely: Callable[[Callable[[], None]], None]) -> None:
        """`safely` asks about unsaved changes before it does what it is given."""
        self.window, self.document, self.safely = window, document, safely

    def fill(self, menu: tk.Menu) -> None:
        """Fill the menu with every template; those of `mn --topo` come after a separator."""
        for mininet in (False, True):
            if mininet:
                menu.add_separator()
            for one in TEMPLATES:
                if one.mininet is mininet:
                    label = f"mn --topo {one.name}…" if mininet else f"{self.window.look.say(one.label)}…"
                    menu.add_command(label=label, command=partial(self.safely, partial(self.ask, one)))

    def ask(self, one: Template) -> None:
        """Open the dialog for a template's numbers."""
        words = self.window.look.say(one.help)
        page = Page(one.label, tuple(map(_field, numbers_of(one))), f"{words[0].upper()}{words[1:]}.")
        data = {number.name: number.default for number in numbers_of(one)}

        def take(values: dict[str, Any]) -> None:
            self.begin(draw(one, _read(one, values)), one.label)

        title = Phrase("New from Template: {template}", template=Phrase(one.label))
        FormDialog(self.window.root, self.window.look, title, pages=(page,), data=data, take=take, modal=True)

    def begin(self, topology: Topology, what: str) -> None:
        """Open what a template drew as a drawing without a file."""
        self.document.open(topology, None)
        self.document.never_saved()
        plain = "{template}: {nodes} nodes and {links} links"
        broken = "{template}: {nodes} nodes and {links} links; a spanning tree breaks its loops"
        template, counts = Phrase(what), {"nodes": len(topology.nodes), "links": len(topology.links)}
        self.window.say(Phrase(broken if switching.closing_links(topology) else plain, template=template, **counts))


def _field(number: Number) -> Field:
    if (number.least, number.most) == (0, 1):
        return Field(number.name, number.label, kind="flag", default="0")
    check = digits(number.least, number.most, as_text=False)
    return Field(
        number.name,
        number.label,
        Phrase("{least} to {most}", least=number.least, most=number.most),
        number.unit,
        check=check,
    )


def _read(one: Template, values: Mapping[str, Any]) -> dict[str, int]:
    """The numbers typed; an empty field leaves the template's default."""
    return {number.name: int(values[number.name]) for number in numbers_of(one) if number.name in values}
