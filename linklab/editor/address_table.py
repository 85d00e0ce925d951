# SPDX-License-Identifier: BSD-3-Clause
"""All addresses and routes of a drawing as a table of texts: a row for each port, cells that are read, sorted, pasted.

A cell is named by the port of its row and its column. Gateway and routes belong to a node and stand in the row of its
first port. `address_window` shows it. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_interface
from typing import Any, TypeAlias

from linklab.editor import address_edits
from linklab.errors import InputError
from linklab.topology import Topology, address_words, addressing
from linklab.topology.addressing import DEFAULT, StaticRoute
from linklab.topology.problem import Problem

TITLES = {
    "node": "Node",
    "port": "Port",
    "peer": "Linked to",
    "ipv4": "IPv4",
    "ipv6": "IPv6",
    "gateway": "Default Gateway",
    "routes": "Routes",
}
EARLIER_TITLES = {"gateway": "gateway"}
"""Of tables that were copied before a column had its present title, in small letters."""
COLUMNS = tuple(TITLES)
EDITABLE = ("ipv4", "ipv6", "gateway", "routes")
OF_NODE = ("gateway", "routes")
OF_HOST = ("ip", "nodeNum")
"""Options of a host that give the address of its first port."""

Cell: TypeAlias = tuple[str, str]
"""The name of a port, and a column."""


@dataclass(frozen=True)
class PortRow:
    """One port; texts: of each column. first: of its node. automatic: its IPv4 address is counted, not in the file."""

    texts: Mapping[str, str]
    first: bool
    automatic: bool

    @property
    def port(self) -> str:
        """The name of the interface."""
        return self.texts["port"]

    def editable(self, column: str) -> bool:
        """Whether this cell can be changed."""
        return column in EDITABLE and (self.first or column not in OF_NODE)


def rows(topology: Topology) -> list[PortRow]:
    """The table, node by node in the order of the file; for a topology whose addresses can be read."""
    nodes = {node.name: node for node in topology.nodes}
    found: list[PortRow] = []
    seen: set[str] = set()
    for port in addressing.ports(topology):
        first = port.node not in seen
        seen.add(port.node)
        routes = addressing.routes(nodes[port.node]) if first else ()
        gateways = [route for route in routes if route.is_default and route.version == 4][:1]
        texts = {
            "node": port.node,
            "port": port.interface,
            "peer": port.peer,
            "ipv4": ", ".join(a for a in port.addresses if ":" not in a),
            "ipv6": ", ".join(a for a in port.addresses if ":" in a),
            "gateway": gateways[0].via if gateways else "",
            "routes": ", ".join(str(route) for route in routes if route not in gateways),
        }
        found.append(PortRow(texts, first, port.automatic))
    return found


def ordered(table: Sequence[PortRow], column: str, *, descending: bool = False) -> list[PortRow]:
    """Sorted by a column as people count: h2 before h10, addresses by number, empty cells last."""
    full = [row for row in table if row.texts[column]]
    empty = [row for row in table if not row.texts[column]]
    return [*sorted(full, key=lambda row: _key(row.texts[column]), reverse=descending), *empty]


def _key(text: str) -> Any:
    try:
        first = ip_interface(re.split(r"[,\s]", text)[0])
    except ValueError:
        parts = re.split(r"(\d+)", text)
        return (0, [(part.isdecimal(), int(part) if part.isdecimal() else 0, part.lower()) for part in parts])
    return (1, [(first.version, int(first.ip), "")])


# --- changes


def changed(topology: Topology, changes: Mapping[Cell, str]) -> tuple[Topology, dict[Cell, str]]:
    """Take texts into cells; the topology with all that are right, and a sentence for each that is wrong."""
    table = {row.port: row for row in rows(topology)}
    addresses: dict[str, list[str]] = {}
    routes: dict[str, list[StaticRoute]] = {}
    wrong: dict[Cell, str] = {}
    for port in {port: None for port, _ in changes}:
        if port not in table:
            wrong |= {cell: f"there is no port {port} here" for cell in changes if cell[0] == port}
            continue
        row = table[port]
        texts = {column: changes.get((port, column), row.texts[column]) for column in EDITABLE}
        of_row: dict[str, list[Any]] = {}
        for column in EDITABLE:
            if (port, column) in changes and not row.editable(column):
                if texts[column].strip() != row.texts[column]:
                    node = row.texts["node"]
                    wrong[port, column] = f"{node} has one {TITLES[column].lower()} cell, in the row of its first port"
                continue
            try:
                of_row[column] = read_cell(column, texts[column])
            except InputError as error:
                if (port, column) in changes:
                    wrong[port, column] = str(error)
                of_row[column] = read_cell(column, row.texts[column])
        if row.automatic and ", ".join(of_row["ipv4"]) == row.texts["ipv4"]:
            of_row["ipv4"] = []  # it stays counted
        if {(port, "ipv4"), (port, "ipv6")} & set(changes):
            addresses[port] = [*of_row["ipv4"], *of_row["ipv6"]]
        if row.first and {(port, "gateway"), (port, "routes")} & set(changes):
            routes[row.texts["node"]] = [*of_row["gateway"], *of_row["routes"]]
    return address_edits.set_routes(address_edits.set_addresses(topology, addresses), routes), wrong


def read_cell(column: str, text: str) -> list[Any]:
    """The addresses (texts) or routes of a cell; InputError, for its place, where it is wrong."""
    words = [address_words.with_prefixes(word.strip()) for word in re.split(r"[,;\n]", text) if word.strip()]
    if column == "gateway":
        if not words:
            return []
        if len(words) > 1 or " " in words[0]:
            raise InputError("one address, such as 10.0.1.254; what leads elsewhere belongs to Routes")
        route = addressing.read_route({"to": DEFAULT, "via": words[0]})
        if route.version != 4:
            raise InputError(f"an IPv4 address; write an IPv6 gateway to Routes: default via {route.via}")
        return [route]
    if column == "routes":
        return [_route(word) for word in words]
    found = []
    for word in (each for words_ in words for each in words_.split()):
        address = addressing.read_address(word)
        if (":" in address) is not (column == "ipv6"):
            raise InputError(f"{word} is an IPv{6 if ':' in address else 4} address, which has a column of its own")
        if address in found:
            raise InputError(f"{word} stands there twice")
        found.append(address)
    return found


def _route(text: str) -> StaticRoute:
    words = text.split()
    if len(words) != 3 or words[1] != "via":
        raise InputError(f'"{text}" must be a network and its next router: 10.0.3.0/24 via 10.0.2.2')
    return addressing.read_route({"to": words[0], "via": words[2]})


# --- tab-separated text, as spreadsheets have it


def to_text(table: Sequence[PortRow]) -> str:
    """The table with its titles."""
    lines = ["\t".join(TITLES.values())]
    lines += ["\t".join(row.texts[column] for column in COLUMNS) for row in table]
    return "\n".join(lines) + "\n"


def pasted(table: Sequence[PortRow], at: Cell, text: str) -> tuple[dict[Cell, str], list[str]]:
    """What a pasted text puts into which cell, and a sentence for each part that has no place.

    A text whose first line has our titles goes where its Port column says, whatever its order; any other fills the
    table, as it is sorted, from the cell `at` on.
    """
    grid = [line.split("\t") for line in text.replace("\r\n", "\n").rstrip("\n").split("\n")]
    grid = [[_unquoted(cell) for cell in line] for line in grid]
    names = {title.lower(): column for column, title in TITLES.items()} | EARLIER_TITLES
    head = [names.get(cell.strip().lower()) for cell in grid[0]]
    if "port" in head:
        return _by_port(table, head, grid[1:])
    start_row = next(i for i, row in enumerate(table) if row.port == at[0])
    start = COLUMNS.index(at[1])
    changes: dict[Cell, str] = {}
    said: list[str] = []
    for i, line in enumerate(grid):
        if start_row + i >= len(table):
            said.append(f"{len(grid) - i} lines of the text are below the table's end and were left out")
            break
        row = table[start_row + i]
        for column, cell in zip(COLUMNS[start:], line, strict=False):
            _put(row, column, cell, changes, said)
        if len(line) > len(COLUMNS) - start:
            said.append(f"line {i + 1} of the text has more cells than the table; the rest was left out")
    return changes, said


def _by_port(
    table: Sequence[PortRow], head: Sequence[str | None], grid: Sequence[Sequence[str]]
) -> tuple[dict[Cell, str], list[str]]:
    by_name = {row.port: row for row in table}
    changes: dict[Cell, str] = {}
    said: list[str] = []
    for i, line in enumerate(grid):
        cells = {column: cell for column, cell in zip(head, line, strict=False) if column is not None}
        row = by_name.get(cells.get("port", "").strip())
        if row is None:
            said.append(f"line {i + 2} of the text names the port {cells.get('port', '')!r}, which is not here")
            continue
        for column, cell in cells.items():
            _put(row, column, cell, changes, said)
    return changes, said


def _put(row: PortRow, column: str, text: str, changes: dict[Cell, str], said: list[str]) -> None:
    if row.editable(column):
        if text.strip() != row.texts[column]:
            changes[row.port, column] = text.strip()
    elif text.strip() not in ("", row.texts[column]):
        what = "names of nodes and ports" if column not in EDITABLE else f"{TITLES[column]} of a node's further ports"
        said.append(f"{row.port}, {TITLES[column]}: {text.strip()!r} was left out; {what} cannot be changed here")


def _unquoted(cell: str) -> str:
    """A spreadsheet quotes a cell that holds a comma or a quote."""
    if len(cell) >= 2 and cell[0] == cell[-1] == '"':
        return cell[1:-1].replace('""', '"')
    return cell


# --- what the checks say, at its cell


def findings(table: Sequence[PortRow], problems: Sequence[Problem]) -> dict[Cell, Problem]:
    """The first problem of each cell."""
    first = {row.texts["node"]: row.port for row in table if row.first}
    by_port = {row.port for row in table}
    found: dict[Cell, Problem] = {}
    for problem in problems:
        if problem.at in OF_NODE:
            port = first.get(problem.where.partition(" ")[2])
            if port is not None:
                found.setdefault((port, problem.at), problem)
        elif problem.key in OF_HOST and (port := first.get(problem.where.partition(" ")[2])) is not None:
            found.setdefault((port, "ipv4"), problem)
        elif problem.at in by_port:
            found.setdefault((problem.at, f"ipv{problem.version}"), problem)
    return found
