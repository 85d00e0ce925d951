# SPDX-License-Identifier: BSD-3-Clause
"""Addresses and routes as a person gives them: the table of all, by keys and from a spreadsheet; Assign; properties."""

import sys
from pathlib import Path

import pytest
from PIL import ImageGrab
from robot import needs_display

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed, drawn

from linklab.editor import address_fields, address_table, edits
from linklab.topology import addressing

pytestmark = needs_display


@pytest.fixture
def routed(hand):
    """A hand with a drawing of two routers, which have no addresses yet."""
    places = {
        "h1": (100, 100),
        "h2": (100, 350),
        "s1": (280, 220),
        "r2": (480, 220),
        "r3": (700, 220),
        "h3": (900, 220),
    }
    hand.editor.document.open(edits.move(drawn(), places), None)
    hand.settle(0.3)
    hand.editor.drawing.focus_set()
    return hand


def table_of(hand):
    """The window of all addresses, opened by its key."""
    hand.key("Control+r")
    hand.until(lambda: hand.editor.addresses.table is not None, what="the table")
    hand.settle(0.3)
    return hand.editor.addresses.table


def cells(hand, column):
    """What the drawing has in a column, by port."""
    return {row.port: row.texts[column] for row in address_table.rows(hand.editor.document.topology)}


def clipboard(hand, text):
    """As if a spreadsheet had copied it."""
    hand.editor.root.clipboard_clear()
    hand.editor.root.clipboard_append(text)
    hand.editor.root.update()


def test_addresses_are_typed_down_a_column_by_keys_alone(routed):
    """Return goes to the next row; the drawing has them at once, and Undo takes back the last."""
    table = table_of(routed)
    for text in ("10.0.1.1/24", "10.0.1.2/24", "10.0.3.1/24", "10.0.1.254/24"):
        routed.key("Control+a")
        routed.robot.type(f"{text}\n")
        routed.settle(0.2)
    assert list(cells(routed, "ipv4").values())[:4] == ["10.0.1.1/24", "10.0.1.2/24", "10.0.3.1/24", "10.0.1.254/24"]
    assert table.focused == ("r2-eth1", "ipv4")
    assert routed.editor.document.undo_label == "Change IPv4 of r2-eth0"
    routed.editor.editing.undo()
    routed.settle(0.2)
    assert table.lines[3].fields["ipv4"].get() == ""


def test_a_wrong_cell_says_so_below_itself_and_keeps_what_was_typed(routed):
    """Until it is mended, or Escape brings back what was there; the drawing never has it."""
    table = table_of(routed)
    field = table.lines[3].fields["ipv4"]
    routed.click(field)
    routed.robot.type("10.0.1.254\t")
    routed.settle(0.2)
    assert cells(routed, "ipv4")["r2-eth0"] == ""
    assert str(field.cget("style")) == "Wrong.TEntry"
    assert table.lines[3].sign.cget("text") == "✗"
    routed.key("Shift+Tab")
    assert table.bubble.winfo_ismapped()
    assert "10.0.1.254" in table.bubble.cget("text")
    assert "prefix length" in table.bubble.cget("text")
    assert table.bubble.winfo_rooty() >= field.winfo_rooty() + field.winfo_height()
    routed.key("End")
    routed.robot.type("/24\t")
    routed.settle(0.2)
    assert cells(routed, "ipv4")["r2-eth0"] == "10.0.1.254/24"
    assert table.lines[3].sign.cget("text") != "✗"
    routed.click(field)
    routed.robot.type("x\t")
    routed.key("Shift+Tab")
    routed.key("Escape")
    assert field.get() == "10.0.1.254/24"
    assert table.winfo_exists()


def test_a_doubtful_cell_shows_the_focus(routed):
    """Regression: its amber frame stayed as it was, and the person did not see where typing goes."""
    table = table_of(routed)
    routed.editor.editing.document.apply("Change", edits.set_opts(drawn(), "h1", {"ip": "10.0.0.2/8"}))
    routed.settle(0.2)
    field = next(line.fields["ipv4"] for line in table.lines if line.row and line.row.port == "h2-eth0")
    assert str(field.cget("style")) == "Doubt.TEntry"
    p = routed.editor.look.palette
    for other, ring in ((table.lines[0].fields["ipv6"], p.warn), (field, p.accent)):
        other.focus_force()
        routed.settle(0.3)
        x, y = field.winfo_rootx(), field.winfo_rooty()
        edge = ImageGrab.grab(bbox=(x + 4, y, x + 40, y + 1), xdisplay=routed.display).convert("RGB")
        assert edge.getcolors() == [(36, tuple(bytes.fromhex(ring[1:])))]


def test_a_spreadsheet_is_pasted_and_the_table_copied(routed):
    """Everything at once, one step to undo; the copy is the same text."""
    table = table_of(routed)
    text = address_table.to_text(address_table.rows(addressed()))
    clipboard(routed, text)
    routed.click(table.lines[0].fields["ipv4"])
    routed.key("Control+v")
    routed.settle(0.3)
    assert address_table.rows(routed.editor.document.topology) == address_table.rows(addressed())
    assert routed.editor.document.undo_label == "Paste addresses"
    assert "13 cells changed" in table.message.cget("text")
    clipboard(routed, "nothing")
    copy = next(child for child in table.buttons.winfo_children() if child.cget("text") == "Copy All")
    routed.click(copy)
    assert routed.editor.root.clipboard_get() == text
    clipboard(routed, "Port\tIPv4\nr2-eth0\t10.0.1\nr3-eth0\t10.0.2.77/24\n")
    table.paste_at_focus()
    routed.settle(0.2)
    assert table.wrong.keys() == {("r2-eth0", "ipv4")}
    assert cells(routed, "ipv4")["r3-eth0"] == "10.0.2.77/24"


def test_the_table_is_sorted_by_its_headings_and_scrolls(routed):
    """Up, down, and as the file has it; many rows have few widgets."""
    topology = addressed()
    for _ in range(30):
        topology, name = edits.add_node(topology, "host", 0, 0)
        topology = edits.add_link(topology, name, "s1")
    routed.editor.document.open(topology, None)
    table = table_of(routed)
    routed.click(table.headings["port"])
    routed.click(table.headings["port"])
    assert table.lines[0].row.port == "r3-eth1"
    assert "▾" in table.headings["port"].cget("text")
    table.scroll(1000)
    assert table.lines[-1].row.port == "h1-eth0"
    routed.click(table.headings["port"])
    assert table.lines[0].row.port == "h1-eth0"


def test_assign_gives_a_drawing_subnets_gateways_and_routes(routed):
    """By the keys of the menu; nothing is wrong afterwards, and the drawing shows them."""
    routed.key("Control+Shift+r")
    routed.until(lambda: routed.dialog() is not None, what="the dialog")
    routed.key("Return")
    routed.until(lambda: routed.dialog() is None, what="its end")
    assert routed.editor.document.topology.problems() == []
    assert "3 subnets assigned" in routed.editor.status.text.cget("text")
    drawing = routed.editor.drawing
    shown = [drawing.itemcget(item, "text") for item in drawing.find_withtag("port") if drawing.type(item) == "text"]
    assert "r2-eth0\n10.0.1.254/24" in shown
    drawing.focus_force()
    routed.key("F6")
    shown = [drawing.itemcget(item, "text") for item in drawing.find_withtag("port") if drawing.type(item) == "text"]
    assert "r2-eth0" in shown


def test_a_router_has_a_page_of_its_ports(routed):
    """Addresses, gateway and routes beside a new name, in one step."""
    routed.editor.properties.open("r2")
    routed.settle(0.3)
    form = routed.dialog()
    form.notebook.select(1)
    routed.settle(0.2)
    routed.fill(form, "port r2-eth0", "10.0.1.254/24, 2001:db8:1::1/64")
    routed.fill(form, "linklab gateway", "10.0.1.1")
    form.inputs["linklab routes"].widget.insert("1.0", "10.0.3.0/24 via 10.0.1.2\n")
    form.inputs["hostname"].set("edge")
    form.ok()
    routed.settle(0.2)
    topology = routed.editor.document.topology
    found = [port.addresses for port in addressing.ports(topology) if port.node == "edge"]
    assert found == [("10.0.1.254/24", "2001:db8:1::1/64"), ()]
    routes = addressing.routes(edits.named(topology)["edge"])
    assert [str(route) for route in routes] == ["default via 10.0.1.1", "10.0.3.0/24 via 10.0.1.2"]
    routed.editor.properties.open("h1")
    routed.settle(0.3)
    form = routed.dialog()
    form.inputs["defaultRoute"].set("10.0.0.9")
    form.inputs["port h1-eth0"].set("2001:db8:1::5/64")
    form.ok()
    host = edits.named(routed.editor.document.topology)["h1"]
    assert host.opts["defaultRoute"] == "10.0.0.9"
    assert "ip" not in host.opts
    assert cells(routed, "ipv6")["h1-eth0"] == "2001:db8:1::5/64"


def properties_of(hand, name, topology):
    """A node's dialog in this drawing."""
    hand.editor.document.open(topology, None)
    hand.editor.properties.open(name)
    hand.settle()
    return hand.dialog()


@pytest.mark.parametrize(
    ("name", "key", "text"),
    [("h1", "defaultRoute", "192.168.7.1"), ("r2", "linklab gateway", "10.9.9.9")],
)
def test_a_gateway_out_of_reach_keeps_the_dialog(hand, name, key, text):
    """Regression: OK took it without a word, and Run refused it. It stands below its field, and nothing is changed."""
    form = properties_of(hand, name, addressed())
    before = hand.editor.document.topology
    form.inputs[key].set(text)
    form.ok()
    hand.settle()
    assert form.winfo_exists()
    assert f"{text} is in none of its subnets (10.0.1.0/24" in form.inputs[key]._note.cget("text")
    assert hand.editor.document.topology is before
    form.inputs[key].set("10.0.1.253")
    assert "subnets" not in form.inputs[key]._note.cget("text")
    form.ok()
    assert not form.winfo_exists()


def test_a_warning_that_a_dialog_causes_is_said_at_the_bottom(hand):
    """Regression: the same address on two ports was taken without a word."""
    form = properties_of(hand, "h1", addressed())
    hand.fill(form, "ip", "10.0.1.2/24")
    form.ok()
    hand.settle()
    assert not form.winfo_exists()
    assert hand.editor.status.said.startswith("host h2: has the address 10.0.1.2 ")


def test_a_red_text_goes_once_the_value_is_right(hand):
    """Regression: it stayed until OK. A value that is wrong otherwise says so."""
    form = properties_of(hand, "r2", addressed())
    for key, wrong, other, right in (
        ("port r2-eth0", "10.0.1.300/24", "10.0.1.254/33", "10.0.1.254/24"),
        ("linklab routes", ["10.0.3.0/24"], ["10.0.3.0/24 via 10.0.2"], ["10.0.3.0/24 via 10.0.2.2"]),
    ):
        field = form.inputs[key]
        field.set(wrong)
        form.ok()
        said = [field._note.cget("text")]
        for value in (other, right):
            field.set(value)
            hand.settle()
            said.append(field._note.cget("text"))
        assert said[0] != said[1] != field.field.help == said[2]
        assert str(field._note.cget("style")) == "Muted.TLabel"


def test_the_tab_of_ports_shows_the_address_that_is_set_elsewhere(hand):
    """Regression: h1-eth0 looked as if it had none. A further one does not take the place of a counted one either."""
    topology = edits.set_opts(addressed(), "h2", {}, ["ip"])
    hand.editor.document.open(topology, None)
    for name, shown in (("h1", "10.0.1.1/24"), ("h2", "10.0.0.2/8 (counted)")):
        hand.editor.properties.open(name)
        hand.settle(0.3)
        form = hand.dialog()
        form.notebook.select(1)
        own = form.inputs[address_fields.OWN]
        assert own.get() == shown
        assert str(own.widget.cget("state")) == "disabled"
        hand.fill(form, f"port {name}-eth0", "10.9.0.1 255.255.0.0")
        hand.key("Return")
        assert hand.dialog() is None
        after = hand.editor.document.topology
        assert next(host for host in after.hosts if host.name == name).opts["ip"] == shown.partition(" ")[0]
        assert ("10.9.0.1/16",) in [ends[0] for ends in map(addressing.link_addresses, after.links)]
        hand.editor.editing.undo()
