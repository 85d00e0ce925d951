# SPDX-License-Identifier: BSD-3-Clause
"""The window in Spanish: menus, tools, dialogs and the status line, and back to English while it is open."""

import pytest
from robot import needs_display

pytestmark = needs_display


@pytest.fixture
def spanish(hand):
    """The window, its language chosen as View > Language does."""
    menu = submenu(hand, "language")
    assert [menu.entrycget(at, "label").strip(" •") for at in range(3)] == ["As the system says", "English", "Español"]
    menu.invoke(2)
    hand.until(lambda: menu_titles(hand)[0] == "Archivo", what="the Spanish menus")
    hand.settle(0.4)
    return hand


def menu_titles(hand):
    """Of the menu bar."""
    bar = hand.editor.layout.menus.bar
    return [bar.entrycget(at, "label") for at in range(bar.index("end") + 1)]


def entries(hand):
    """Every entry by its action: its menu and place."""
    return {action.name: (menu, at) for menu, at, action in hand.editor.layout.menus._entries}


def label(hand, name):
    """What the entry of an action says."""
    menu, at = entries(hand)[name]
    return menu.entrycget(at, "label")


def submenu(hand, name):
    """A submenu, filled as when it is opened."""
    menu, at = entries(hand)[name]
    below = menu.nametowidget(menu.entrycget(at, "menu"))
    hand.editor.root.tk.call(*hand.editor.root.tk.splitlist(below.cget("postcommand")))
    return below


def test_a_host_is_drawn_named_and_undone_in_spanish(spanish):
    """Tool, status line, Undo's entry, a dialog with a wrong value, and the key that undoes."""
    hand = spanish
    bar = hand.editor.layout.menus.bar
    keys = [menu_titles(hand)[at][bar.entrycget(at, "underline")] for at in range(6)]
    assert menu_titles(hand) == ["Archivo", "Edición", "Insertar", "Ver", "Ejecutar", "Ayuda"]
    assert keys == ["A", "E", "I", "V", "j", "y"]
    assert hand.editor.toolbar.tools["switch"].caption.cget("text") == "Conmutador"
    hand.tool("host")
    hand.place(200, 200)
    hand.key("Escape")
    status = hand.editor.status
    assert status.said == "h1 añadido"
    assert status.count.cget("text") == "1 nodo, 0 enlaces"
    assert label(hand, "undo") == "Deshacer: Añadir h1"
    hand.place(200, 200)
    hand.key("Return")
    form = hand.dialog()
    assert form.title() == "Host h1"
    assert form.notebook.tab(0, "text") == "Propiedades"
    assert form.accept.cget("text") == "Aceptar"
    assert "Puerta de enlace" in hand.read(form)
    hand.fill(form, "ip", "10.0.0.1/40")
    hand.fill(form, "hostname", "9-")
    hand.fill(form, "defaultRoute", "10.0.0")
    hand.key("Return")
    assert hand.dialog() is form
    hand.key("Escape")
    assert hand.dialog() is None
    hand.key("Control+z")
    assert status.said == "Añadir h1: deshecho"


def test_it_speaks_english_again_at_once(spanish):
    """The drawing, the selection and an open network stay; the choice is in the settings."""
    hand = spanish
    assert hand.editor.settings.language == "es"
    hand.editor.gestures.add_somewhere("host")
    submenu(hand, "language").invoke(1)
    hand.until(lambda: menu_titles(hand)[0] == "File", what="the English menus")
    assert hand.editor.settings.language == "en"
    assert label(hand, "undo") == "Undo Add h1"
    assert [host.name for host in hand.editor.document.topology.hosts] == ["h1"]
