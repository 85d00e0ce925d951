# SPDX-License-Identifier: BSD-3-Clause
"""Everything that can be done, once: its name in the menu, its key, and which menu holds it.

`MENUS` is what the menu bar, the key bindings and Help > Keys are made from. Pure; `linklab.windows.menus` draws it.
"""

from __future__ import annotations

from linklab.base.catalogue import Say, unchanged
from linklab.windows.actions import LINE, Action, Menu, as_table, in_dialogs, rows_of


def _a(name: str, label: str, key: str = "", *events: str, when: str = "", toggles: bool = False) -> Action:
    return Action(name, label, key, events, when, toggles)


MENUS: dict[str, Menu] = {  # Alt with the letter behind & opens the menu
    "&File": (
        _a("new", "New", "Ctrl+N", "<Control-n>", when="stopped"),
        _a("templates", "New from Template", when="stopped"),
        _a("open", "Open…", "Ctrl+O", "<Control-o>", when="stopped"),
        _a("recent", "Open Recent", when="stopped"),
        _a("labs", "Labs", when="stopped"),
        LINE,
        _a("save", "Save", "Ctrl+S", "<Control-s>"),
        _a("save_as", "Save As…", "Ctrl+Shift+S", "<Control-Shift-S>"),
        LINE,
        _a("import", "Import…", when="stopped"),
        _a("export", "Export Level 2 Script (Mininet)…", "Ctrl+E", "<Control-e>"),
        _a("export_containerlab", "Export for containerlab…"),
        _a("export_kathara", "Export for Kathará…"),
        _a("picture", "Export Picture…", "Ctrl+Shift+E", "<Control-Shift-E>"),
        _a("print", "Print…", "Ctrl+Shift+P", "<Control-Shift-P>"),
        LINE,
        _a("quit", "Quit", "Ctrl+Q", "<Control-q>"),
    ),
    "&Edit": (
        _a("undo", "Undo", "Ctrl+Z", "<Control-z>", when="stopped"),
        _a("redo", "Redo", "Ctrl+Y", "<Control-y>", "<Control-Shift-Z>", when="stopped"),
        LINE,
        _a("cut", "Cut", "Ctrl+X", "<Control-x>", when="stopped"),
        _a("copy", "Copy", "Ctrl+C", "<Control-c>"),
        _a("paste", "Paste", "Ctrl+V", "<Control-v>", when="stopped"),
        _a("duplicate", "Duplicate", "Ctrl+D", "<Control-d>", when="stopped"),
        _a("delete", "Delete", "Del", "<Delete>", "<BackSpace>", when="stopped"),
        LINE,
        _a("select_all", "Select All", "Ctrl+A", "<Control-a>"),
        _a("link_selected", "Link Selected Nodes", "Ctrl+L", "<Control-l>", when="stopped"),
        _a("align", "Align", when="stopped"),
        _a("lay_out", "Lay Out", "Ctrl+Shift+L", "<Control-Shift-L>", when="stopped"),
        _a("mend", "Mend…", when="stopped"),
        _a("properties", "Properties…", "Return"),
        LINE,
        _a("address_table", "Addresses and Routes…", "Ctrl+R", "<Control-r>"),
        _a("assign_addresses", "Assign Addresses…", "Ctrl+Shift+R", "<Control-Shift-R>", when="stopped"),
        LINE,
        _a("find", "Find…", "Ctrl+F", "<Control-f>"),
        _a("find_next", "Find Next", "F3", "<F3>"),
        _a("find_previous", "Find Previous", "Shift+F3", "<Shift-F3>"),
        LINE,
        _a("preferences", "Preferences…", "Ctrl+,", "<Control-comma>"),
    ),
    "&Insert": (
        _a("note", "Note…", "Ctrl+Shift+N", "<Control-Shift-N>", when="stopped"),
        _a("group", "Group around the Selected", "Ctrl+Shift+G", "<Control-Shift-G>", when="stopped"),
        _a("background", "Background Picture…", "Ctrl+Shift+B", "<Control-Shift-B>", when="stopped"),
    ),
    "&View": (
        _a("zoom_in", "Zoom In", "Ctrl++", "<Control-plus>", "<Control-equal>", "<Control-KP_Add>"),
        _a("zoom_out", "Zoom Out", "Ctrl+-", "<Control-minus>", "<Control-KP_Subtract>"),
        _a("zoom_one", "Actual Size", "Ctrl+0", "<Control-Key-0>"),
        _a("fit", "Fit", "Ctrl+9", "<Control-Key-9>"),
        LINE,
        _a("names", "Names", toggles=True),
        _a("addresses", "Addresses", "F6", "<F6>", toggles=True),
        _a("ports", "Port Names", "F7", "<F7>", toggles=True),
        _a("rates", "Rates and Delays", "Shift+F7", "<Shift-F7>", toggles=True),
        _a("traces", "Live Traces", "F8", "<F8>", toggles=True),
        _a("grid", "Grid", "Ctrl+G", "<Control-g>", toggles=True),
        _a("minimap", "Mini-Map", "F4", "<F4>", toggles=True),
        LINE,
        _a("dark", "Dark Theme", "F9", "<F9>", toggles=True),
        _a("scale", "Size of Everything"),
        _a("language", "Language"),
    ),
    "&Run": (
        _a("run", "Run", "F5", "<F5>", when="stopped"),
        _a("stop", "Stop", "Shift+F5", "<Shift-F5>", when="running"),
        LINE,
        _a("toggle_link", "Take the Selected Link Down or Up", "Ctrl+U", "<Control-u>", when="running"),
        _a("state", "State of the Network", "Ctrl+I", "<Control-i>", when="running"),
        _a("ping", "Ping…", "Ctrl+K", "<Control-k>", when="running"),
        _a("ping_all", "Ping All", "Ctrl+Shift+K", "<Control-Shift-K>", when="running"),
        LINE,
        _a("guide", "Guide", when="running"),
        LINE,
        _a("test", "Test…", "Ctrl+Shift+T", "<Control-Shift-T>", when="running"),
        _a("abort_test", "Abort the Test", "Ctrl+Shift+A", "<Control-Shift-A>", when="running"),
        _a("live_plots", "Live Plots", "Shift+F8", "<Shift-F8>", when="running"),
        LINE,
        _a("ovs_summary", "Show OVS Summary", when="running"),
        _a("root_terminal", "Root Terminal", "Ctrl+T", "<Control-t>", when="running"),
        _a("console", "Mininet CLI", "Ctrl+M", "<Control-m>", when="running"),
        _a("environment", "Show the Exercise's Environment", when="running"),
        _a("link_commands", "Show the Commands of All Links"),
        LINE,
        _a("pause", "Pause or Resume Time", "Ctrl+P", "<Control-p>", when="running"),
        _a("step", "Step 10 ms", "Ctrl+.", "<Control-period>", when="running"),
        _a("slower", "Slower", "Ctrl+[", "<Control-bracketleft>", when="running"),
        _a("faster", "Faster", "Ctrl+]", "<Control-bracketright>", when="running"),
        _a("until", "Fast-Forward to…", "Ctrl+J", "<Control-j>", when="running"),
    ),
    "&Help": (
        _a("manual", "The Manual or Handout", "F1", "<F1>"),
        _a("keys", "Keys", "Ctrl+/", "<Control-slash>"),
        _a("messages", "Messages", "Shift+F1", "<Shift-F1>"),
        _a("about", "About Linklab"),
    ),
}

TOOLS = (
    ("select", "Select", "1"),
    ("host", "Host", "2"),
    ("switch", "Switch", "3"),
    ("legacySwitch", "Legacy Switch", "4"),
    ("legacyRouter", "Legacy Router", "5"),
    ("link", "Link", "6"),
    ("controller", "Controller", "7"),
)
"""Tools of the bar, top to bottom as in MiniEdit: name, label, key."""

ALIGNMENTS = (
    ("left", "Left"),
    ("centre", "Centre"),
    ("right", "Right"),
    ("top", "Top"),
    ("middle", "Middle"),
    ("bottom", "Bottom"),
    ("across", "Spread Across"),
    ("down", "Spread Down"),
)

ON_CANVAS = (
    ("1 … 7", "choose a tool"),
    ("Shift+2 … Shift+7", "add a node where there is room"),
    ("Tab, Shift+Tab", "select the next or previous node, link, note or group"),
    ("Ctrl+Tab, Ctrl+Shift+Tab", "go to the next or previous one, leaving what is selected"),
    ("Ctrl+Arrows", "go to the nearest node in that direction, leaving what is selected"),
    ("Space", "add the thing there to what is selected, or take it out"),
    ("Arrows, Shift+Arrows", "move what is selected by 25 or by 1; with nothing selected, the view"),
    ("Return", "properties, of everything that is selected"),
    ("Menu, Shift+F10", "the menu of what is selected"),
    ("Escape", "drop what is half done; the Select tool"),
    ("Shift+click, drag over", "select several"),
    ("Middle button", "move the view"),
    ("Ctrl+wheel", "zoom"),
)


def keys_text(say: Say = unchanged) -> str:
    """All keys as a table, for Help > Keys."""
    rows = rows_of(MENUS, say)
    rows += [(say(key), say(what)) for key, what in ON_CANVAS]
    return as_table([*rows, *in_dialogs(say)])
