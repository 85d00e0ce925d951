# SPDX-License-Identifier: BSD-3-Clause
"""What the menu does with addresses: the table of all, and addresses for a whole drawing."""

from __future__ import annotations

import tkinter as tk
from collections.abc import Callable
from ipaddress import IPv4Network
from typing import Any

from linklab.editor import address_edits
from linklab.editor.address_edits import USUAL_PREFIX, AddressPlan
from linklab.editor.address_window import AddressWindow
from linklab.editor.document import Document
from linklab.editor.name_checks import network
from linklab.topology import Topology, addressing
from linklab.windows.dialogs import FormDialog
from linklab.windows.fields import Field, Page, digits
from linklab.windows.window import Window
from linklab.windows.words import Phrase, of_number

LOCKED = "The network is running: stop it to change this."


def plan_pages(base: str) -> tuple[Page, ...]:
    """The fields of Assign Addresses; base: the ipBase of the drawing."""
    longest = digits(1, 30, as_text=False)
    return (
        Page(
            "Assign addresses",
            (
                Field("base", "Network", "the subnets are cut from it", check=network, default=base),
                Field(
                    "prefix", "Prefix length", "of each subnet; 24 holds 254", check=longest, default=str(USUAL_PREFIX)
                ),
                Field("gateways", "Hosts get the nearest router as default gateway", kind="flag", default="1"),
                Field("routes", "Routers get static routes by the shortest paths", kind="flag", default="1"),
                Field("ipv6", "IPv6 addresses as well, from 2001:db8::/32", kind="flag", default="0"),
            ),
            "Each link, or group of links joined by switches, becomes a subnet. Hosts count up from 1, routers down "
            "from the end. Addresses and routes that are there are replaced; Undo takes it back.",
        ),
    )


def read_plan(data: dict[str, Any], base: str) -> AddressPlan:
    """What was chosen; a field left as it was is not in `data`."""
    return AddressPlan(
        IPv4Network(data.get("base", base), strict=False),
        data.get("prefix", USUAL_PREFIX),
        gateways=data.get("gateways", "1") == "1",
        routes=data.get("routes", "1") == "1",
        ipv6=data.get("ipv6", "0") == "1",
    )


class AddressActions:
    """Of one document; `locked` says whether its network runs."""

    def __init__(self, window: Window, document: Document, locked: Callable[[], bool]) -> None:
        self.window, self.document, self.locked = window, document, locked
        self.table: AddressWindow | None = None
        self._form: FormDialog | None = None

    def open_table(self) -> None:
        """Open the table, or bring it to the front."""
        if not self._is_open():
            self.table = AddressWindow(
                self.window.root, self.window.look, self.document, locked=self.locked, assign=self.assign
            )
        elif self.table is not None:
            self.table.lift()
            self.table.focus_set()

    def follow(self) -> None:
        """The document has changed."""
        if self._is_open() and self.table is not None:
            self.table.follow()
        if self._form is not None and self._form.winfo_exists():
            self._form.lock(LOCKED if self.locked() else "")

    def close_all(self) -> None:
        """Another file is open: nothing of this one can be changed any more."""
        for opened in (self.table, self._form):
            if opened is not None:
                opened.destroy()
        self.table = self._form = None

    def _is_open(self) -> bool:
        try:
            return self.table is not None and bool(self.table.winfo_exists())
        except tk.TclError:
            return False

    def assign(self) -> None:
        """Ask how, and give every link its subnet."""
        topology = self.document.topology
        errors = [problem for problem in topology.problems() if problem.severity == "error"]
        faults = [error for error in errors if not error.at]  # gateways and routes are replaced
        if faults:
            self.window.tell(
                "Addresses cannot be assigned", Phrase("The drawing has a fault:\n\n{fault}", fault=faults[0])
            )
        elif not addressing.ports(topology):
            self.window.say("link a host or a router first: there is no port to give an address to")
        else:
            self._ask(topology)

    def _ask(self, topology: Topology) -> None:
        base = topology.preferences.ip_base

        def take(data: dict[str, Any]) -> None:
            after = address_edits.assign(self.document.topology, read_plan(data, base))
            self.document.apply("Assign addresses", after)
            count = len([segment for segment in addressing.segments(after) if segment.ports])
            one = "{count} subnet assigned; Edit > Addresses and Routes lists it"
            many = "{count} subnets assigned; Edit > Addresses and Routes lists them"
            self.window.say(of_number(count, one, many))

        locked = LOCKED if self.locked() else ""
        pages = plan_pages(base)
        look = self.window.look
        if self._form is not None:
            self._form.destroy()
        self._form = FormDialog(
            self.window.root, look, "Assign Addresses", pages=pages, data={}, take=take, locked=locked
        )
