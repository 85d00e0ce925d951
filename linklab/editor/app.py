# SPDX-License-Identifier: BSD-3-Clause
"""The editor's window: puts its parts together and gives every action of `actions.MENUS` something to do.

What concerns files is in `filing`, a running network in `networking`, dialogs of nodes and links in `properties`; none
of them knows this module. Here are the widgets and the view.
"""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from linklab import __version__
from linklab.editor import actions
from linklab.editor.address_actions import AddressActions
from linklab.editor.asking import Asking
from linklab.editor.bars import ClockBar
from linklab.editor.context import ContextMenus
from linklab.editor.decorating import Decorating
from linklab.editor.document import Document, Key, everyone
from linklab.editor.editing import Editing
from linklab.editor.edits import KINDS
from linklab.editor.exchanging import Exchanging
from linklab.editor.filing import Filing
from linklab.editor.find_bar import FindBar
from linklab.editor.gestures import Gestures, Hooks
from linklab.editor.guiding import Guiding
from linklab.editor.keyboard import Keyboard
from linklab.editor.layout import Callbacks, Layout
from linklab.editor.link_switches import SWITCH_TAG, draw_switches
from linklab.editor.live_plotting import LivePlotting
from linklab.editor.networking import Networking
from linklab.editor.picturing import Picturing
from linklab.editor.properties import Properties
from linklab.editor.running import preload
from linklab.editor.settings import EditorSettings, load_settings, save_settings
from linklab.editor.starting import Starting
from linklab.editor.surface import Rectangle
from linklab.editor.testing import Testing
from linklab.editor.traces import draw_traces
from linklab.editor.tree_marks import TREE_TAG, draw_marks
from linklab.windows.application import Application
from linklab.windows.menus import popup
from linklab.windows.words import Phrase, of_number

PRELOAD_MS = 300
SAY_MISSING_MS = 50
"""After a file is opened, which is said first."""
QUIT_WAIT_S = 8.0
LAYERS = ("names", "addresses", "ports", "rates", "traces", "grid", "minimap")


class Editor(Application):
    """The window and what it edits."""

    settings: EditorSettings

    def __init__(self, path: Path | None = None, settings: EditorSettings | None = None, language: str = "") -> None:
        """Open the window, with a file if one is named; `language` comes before that of the settings.

        Raises:
            MissingError: there is no display.
            InputError: the language's catalogue cannot be read.
        """
        chosen = settings if settings is not None else load_settings()
        super().__init__("Linklab", chosen, language, f'`linklab shell "{path or "FILE.mn"}"` needs none')
        self.settings = chosen
        self.document = Document()
        self.tool = "select"
        self._seen: Rectangle | None = None
        """What of the drawing was in the window when its traces were last placed."""
        self.networking = Networking(self.window, self.document, self)
        self.editing = Editing(
            self.document, lambda: self.networking.is_on, self.window.say, lambda keys: self.drawing.reveal(*keys)
        )
        self.filing = Filing(self.window, self.document, self.settings, self.leave, lambda: self.networking.is_on)
        self.starting = Starting(self.window, self.document, self.filing.safely)
        self.exchanging = Exchanging(self.window, self.document, self.filing)
        self.properties = Properties(self.window, self.document, self.networking)
        self.addresses = AddressActions(self.window, self.document, lambda: self.networking.is_on)
        self.decorating = Decorating(self.window, self.document, lambda: self.networking.is_on, self._free_spot)
        self.properties.open_decoration = self.decorating.open
        self.picturing = Picturing(self.window, self.document, self.settings)
        self.asking = Asking(self.window, self.document, self.networking)
        self.guiding = Guiding(self.window, self.document, self.networking)
        self.testing = Testing(self.window, self.document, self.networking, self.asking)
        self.live_plotting = LivePlotting(self.window, self.document, self.networking)
        self.context = ContextMenus(
            self.document, self.properties, self.editing, self.networking, self.decorating, asking=self.asking
        )
        self.root.protocol("WM_DELETE_WINDOW", self.filing.quit)
        self._build()
        self.document.on_change = self.refresh
        self.document.on_open = self._opened
        if path is not None:
            self.filing.open_path(path, first=True)
        self.refresh()
        self.appear()
        self.drawing.focus_set()
        self._fit_when_seen()
        self.root.after_idle(self.filing.begin)
        self.root.after(PRELOAD_MS, preload)

    def _fit_when_seen(self) -> None:
        """Fit once the drawing has its size."""

        def sized(event: tk.Event[tk.Misc]) -> None:
            if event.width > 100:
                self.drawing.unbind("<Configure>")
                self._zoomed(self.drawing.fit)

        self.drawing.bind("<Configure>", sized)

    # --- the window

    def _build(self) -> None:
        """Make every widget, in the theme and size of the settings; called again when those change."""
        self.clear()
        self.ticks = {name: tk.BooleanVar(self.root, getattr(self.settings, name)) for name in LAYERS}
        self.ticks["dark"] = tk.BooleanVar(self.root, self.look.theme == "dark")
        net = self.networking
        callbacks = Callbacks(
            self._commands(), self._submenus(), self.choose, net.run, net.stop, net.clock, self._cancel
        )
        self.layout = Layout(self.root, self.look, self.settings, self.ticks, callbacks)
        self.layout.on_view = self._viewed
        self.drawing, self.status = self.layout.drawing, self.layout.status
        self.toolbar, self.clock_bar = self.layout.toolbar, self.layout.clock_bar
        self.window.dress(self.look, self.status)
        hooks = Hooks(
            tool=lambda: self.tool,
            set_tool=self.choose,
            locked=lambda: self.networking.is_on,
            say=self.window.say,
            open_properties=self.properties.open,
            open_menu=self._open_menu,
        )
        self.gestures = Gestures(self.drawing, self.document, hooks)
        self.find_bar = FindBar(self.drawing.master, self.look, self.document, self.drawing, self.window.say)
        self.keyboard = Keyboard(self.drawing, self.document, hooks, self.properties.open_selected)
        self.root.bind("<Escape>", lambda _: self.drawing.focus_set())
        for name, _, key in actions.TOOLS:
            self.drawing.bind(f"<Key-{key}>", partial(_without_event, partial(self.choose, name)))
        for sign, kind in zip(("at", "numbersign", "dollar", "percent", "ampersand"), KINDS, strict=True):
            self.drawing.bind(f"<Key-{sign}>", partial(_without_event, partial(self.gestures.add_somewhere, kind)))

    def rebuild(self) -> None:
        """Take a changed scale or language: the widgets are made anew, the view stays where it was."""
        before = self.drawing
        middle = before.to_drawing(before.winfo_width() / 2, before.winfo_height() / 2)
        self.settings.geometry = ""
        self.look.resize(self.root, self.settings.scale)
        self._build()
        self.networking.rebuilt()
        self.testing.rebuilt()
        self.drawing.zoom = before.zoom
        self.refresh()
        self.root.update_idletasks()
        self.drawing.centre(middle)
        self.drawing.focus_set()

    def _cancel(self) -> None:
        """The button beside what is going on: a test is aborted, and the network runs on."""
        if self.testing.is_on:
            self.testing.abort()
        else:
            self.networking.stop()

    def _commands(self) -> dict[str, Callable[[], None]]:
        """What each action does."""
        net, files, edit = self.networking, self.filing, self.editing
        commands: dict[str, Callable[[], None]] = {
            "new": files.new,
            "open": files.open,
            "save": files.save,
            "save_as": files.save_as,
            "import": self.exchanging.open,
            "export": files.export,
            "export_containerlab": self.exchanging.export_containerlab,
            "export_kathara": self.exchanging.export_kathara,
            "picture": self.picturing.export,
            "print": self.picturing.print,
            "quit": files.quit,
            "undo": edit.undo,
            "redo": edit.redo,
            "cut": edit.cut,
            "copy": edit.copy,
            "paste": edit.paste,
            "duplicate": edit.duplicate,
            "delete": edit.delete,
            "select_all": edit.select_all,
            "link_selected": lambda: edit.unlocked(self.gestures.link_selected),
            "lay_out": files.tidying.lay_out,
            "mend": files.tidying.mend,
            "properties": self.properties.open_selected,
            "preferences": self.properties.preferences,
            "address_table": self.addresses.open_table,
            "assign_addresses": self.addresses.assign,
            "find": self._open_find,
            "find_next": lambda: self._find(1),
            "find_previous": lambda: self._find(-1),
            "note": self.decorating.add_note,
            "group": self.decorating.add_group,
            "background": self.decorating.choose_background,
            "zoom_in": lambda: self._zoomed(lambda: self.drawing.zoom_step(1)),
            "zoom_out": lambda: self._zoomed(lambda: self.drawing.zoom_step(-1)),
            "zoom_one": lambda: self._zoomed(lambda: self.drawing.set_zoom(1.0)),
            "fit": lambda: self._zoomed(self.drawing.fit),
            "dark": self.set_theme,
            "run": net.run,
            "stop": net.stop,
            "toggle_link": net.toggle_links,
            "state": net.show_state,
            "ping": self.asking.ping_selected,
            "ping_all": self.asking.ping_all,
            "guide": self.guiding.show,
            "test": self.testing.ask,
            "abort_test": self.testing.abort,
            "live_plots": self.live_plotting.open,
            "ovs_summary": net.ovs_summary,
            "root_terminal": lambda: net.terminal("client"),
            "console": lambda: net.terminal("mininet"),
            "environment": net.show_environment,
            "link_commands": self.properties.show_all_commands,
            "pause": lambda: self._clock_key(ClockBar.toggle),
            "step": lambda: self._clock_key(ClockBar.step),
            "slower": lambda: self._clock_key(lambda bar: bar.change_speed(-1)),
            "faster": lambda: self._clock_key(lambda bar: bar.change_speed(1)),
            "until": lambda: self._clock_key(ClockBar.go),
            "manual": files.open_manual,
            "messages": self.window.show_said,
            "keys": lambda: self.window.show_text("Keys", actions.keys_text(self.look.say)),
            "about": self._about,
        }
        commands |= {name: partial(self._set_layer, name) for name in LAYERS}
        return commands | {f"key:{name}": partial(self.turn, name, commands[name]) for name in self.ticks}

    def _submenus(self) -> dict[str, Callable[[tk.Menu], None]]:
        def align(menu: tk.Menu) -> None:
            for how, label in actions.ALIGNMENTS:
                menu.add_command(label=self.look.say(label), command=partial(self.editing.align, how))

        return {
            "recent": self.filing.fill_recent,
            "labs": self.filing.fill_labs,
            "templates": self.starting.fill,
            "align": align,
            "scale": self.fill_scales,
            "language": self.fill_languages,
        }

    def refresh(self) -> None:
        """Show the document as it is now."""
        self.window.outdate(self.document.topology)
        self.drawing.node_states = self.networking.node_states
        self.drawing.down = self.networking.down
        self.drawing.folder = self.decorating.folder
        self.drawing.show(self.document.state)
        mark = "• " if self.document.is_changed else ""
        self.root.title(f"{mark}{self.look.say(self.document.title)} – Linklab")
        running = self.networking.is_on
        self.toolbar.show(self.tool, self.networking.runner.state)
        self.layout.menus.show_state(running=running, undo=self.document.undo_label, redo=self.document.redo_label)
        topology = self.document.topology
        nodes, links = len(everyone(topology)), len(topology.links)
        counts = (of_number(nodes, "{count} node", "{count} nodes"), of_number(links, "{count} link", "{count} links"))
        self.status.count.configure(text=", ".join(map(self.look.say, counts)))
        self.status.zoom.configure(text=f"{self.drawing.zoom * 100:.0f} %")
        self.drawing.configure(cursor="crosshair" if self.tool != "select" else "")
        self.show_traces()
        draw_switches(self.drawing, self.networking)
        draw_marks(self.drawing, self.networking.waiting_links())
        self.networking.tell_selected()
        self.addresses.follow()
        self.keyboard.show()
        self.properties.follow()
        self.decorating.follow()

    def show_traces(self) -> None:
        """Show what passes the links, if that is wanted."""
        wanted = self.settings.traces and self.networking.is_running
        busy = self.networking.meter.busy() if wanted else {}
        flows = {place: link.flows for place, link in self.networking.watch.state.links.items()}
        down = self.networking.down
        draw_traces(self.drawing, {place: kept for place, kept in busy.items() if place not in down}, flows)
        self.drawing.tag_raise(SWITCH_TAG)
        self.drawing.tag_raise(TREE_TAG)

    def _viewed(self) -> None:
        """Show the traces of links that have come into view, once the window has nothing else to do."""
        if self._seen != self.drawing.seen:
            self._seen = self.drawing.seen
            if self.networking.is_running:
                self.root.after_idle(self.show_traces)

    def show_clock(self, state: dict[str, Any] | None) -> None:
        """Show the clock of a network that has one to set; None takes it away."""
        self.layout.show_clock(state)

    def lock(self) -> None:
        """Put away the tools while the network runs."""
        self.tool = "select"

    def _opened(self) -> None:
        """Show another file."""
        self.tool = "select"
        self.properties.close_all()
        self.decorating.close_all()
        self.addresses.close_all()
        self.drawing.folder = self.decorating.folder
        self.window.after(SAY_MISSING_MS, self.decorating.say_missing)
        if self.root.winfo_viewable():
            self.drawing.state = self.document.state
            self.drawing.fit()
        self.refresh()

    def _free_spot(self) -> tuple[float, float]:
        """Where the view has room; the drawing is made anew with the theme, so it is looked up now."""
        return self.gestures.free_spot()

    def _open_find(self) -> None:
        self.find_bar.open()

    def _find(self, direction: int) -> None:
        """The next or previous of what was looked for; the bar is made anew with the theme, so it is looked up now."""
        self.find_bar.step(direction)

    def choose(self, tool: str) -> None:
        """Take a tool."""
        if tool != "select" and self.networking.is_on:
            self.window.say("the network is running: stop it to change the drawing")
            tool = "select"
        self.tool = tool
        self.gestures.link_from = None
        self.drawing.delete("preview")
        self.refresh()

    def _clock_key(self, order: Callable[[ClockBar], None]) -> None:
        """A key of the clock; the bar is made anew with the theme, so it is looked up now."""
        if self.networking.is_running:
            order(self.clock_bar)

    # --- telling

    def tell_fault(self, detail: str) -> None:
        """Keep the drawing, and tell the person of a fault of ours."""
        self.filing.autosave.keep(self.document.topology, self.document.path)
        note = "The editor made a mistake. The drawing is safe; save it. What follows helps to mend the mistake."
        self.window.show_text("A fault in the editor", detail, note)

    # --- the view

    def _zoomed(self, change: Callable[[], None]) -> None:
        change()
        self.refresh()

    def _set_layer(self, name: str) -> None:
        setattr(self.settings, name, self.ticks[name].get())
        self.drawing.redraw()
        self.refresh()

    def leave(self) -> None:
        """End the network and the window, and remember the settings for the next start."""
        self.settings.geometry = self.root.geometry().split("+")[0]
        save_settings(self.settings)
        runner = self.networking.runner
        runner.stop()
        self.root.withdraw()
        self.root.update_idletasks()
        runner.wait(QUIT_WAIT_S)
        self.close()

    def _open_menu(self, key: Key | None, x: int, y: int) -> None:
        at = self.drawing.to_drawing(x - self.drawing.winfo_rootx(), y - self.drawing.winfo_rooty())
        popup(self.root, self.context.entries(key, at), x, y, self.look.say)

    def _about(self) -> None:
        text = Phrase(
            "Version {version}. Draws networks and runs them in a Linux kernel of their own, built by Mininet.\n\n"
            "Opens and saves the files of MiniEdit. Licence: BSD-3-Clause.",
            version=__version__,
        )
        self.window.tell("Linklab", text)


def _without_event(do: Callable[[], None], _: tk.Event[tk.Misc]) -> None:
    """What a key does, whatever the event says beside that it was pressed."""
    do()
