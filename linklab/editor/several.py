# SPDX-License-Identifier: BSD-3-Clause
"""Properties of several things at once: one tab for each kind, and in each what can be the same for all of that kind.

Names, addresses and numbers are left out, since two things with one of them are no network. Pure; the dialog is
`several_dialog`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from linklab.editor import edits, node_fields
from linklab.editor.document import AnyNode, Key, everyone
from linklab.topology import Link, Topology
from linklab.windows import fields
from linklab.windows.fields import Field, Page
from linklab.windows.words import Phrase, joined, of_number

TITLES = {
    "host": (Phrase("{count} host"), Phrase("{count} hosts")),
    "switch": (Phrase("{count} switch"), Phrase("{count} switches")),
    "legacySwitch": (Phrase("{count} legacy switch"), Phrase("{count} legacy switches")),
    "legacyRouter": (Phrase("{count} legacy router"), Phrase("{count} legacy routers")),
    "controller": (Phrase("{count} controller"), Phrase("{count} controllers")),
    "link": (Phrase("{count} link"), Phrase("{count} links")),
}
OWN = frozenset(("hostname", "ip", "dpid", "switchIP", "dpctl"))
"""Keys that each thing has for itself."""
MOST_SHOWN = 3
Ticked = Mapping[str, Mapping[str, str]]
"""By kind: by key what is typed, of the fields that are to be the same for all."""


@dataclass(frozen=True)
class Group:
    """The chosen things of one kind."""

    kind: str
    keys: tuple[Key, ...]
    page: Page

    @property
    def title(self) -> str:
        """How many of what: "1 host", "3 hosts"."""
        return of_number(len(self.keys), *TITLES[self.kind])


def groups(topology: Topology, keys: Sequence[Key]) -> list[Group]:
    """What of these has a dialog, by kind, in the order of MiniEdit's tools."""
    nodes = edits.named(topology)
    by_kind: dict[str, list[Key]] = {}
    for key in keys:
        kind = "link" if isinstance(key, int) else edits.kind_of(nodes[key]) if key in nodes else ""
        by_kind.setdefault(kind, []).append(key)
    return [Group(kind, tuple(by_kind[kind]), _page(topology, kind)) for kind in TITLES if kind in by_kind]


def _page(topology: Topology, kind: str) -> Page:
    pages: dict[str, Callable[[], Sequence[Page]]] = {
        "host": lambda: node_fields.host_pages(topology),
        "switch": node_fields.switch_pages,
        "legacySwitch": lambda: node_fields.legacy_pages(router=False),
        "legacyRouter": lambda: node_fields.legacy_pages(router=True),
        "controller": node_fields.controller_pages,
        "link": lambda: [node_fields.LINK_PAGE],
    }
    first = pages[kind]()[0]
    shared = tuple(field for field in first.fields if field.key not in OWN and field.kind not in ("lines", "rows"))
    return Page(first.title, shared, "Tick what is to be the same for all; the rest stays as it is.")


def shown(topology: Topology, group: Group) -> dict[str, tuple[str, str]]:
    """By key: the text that all have ("" where they differ), and what they have in words."""
    every = [fields.texts([group.page], opts) for opts in _opts(topology, group)]
    found = {}
    for field in group.page.fields:
        texts = list(dict.fromkeys(each[field.key] for each in every))
        words = [_word(field, text) for text in texts[:MOST_SHOWN]] + (["…"] if len(texts) > MOST_SHOWN else [])
        found[field.key] = (
            (texts[0], "") if len(texts) == 1 else ("", Phrase("now {values}", values=joined(", ", words)))
        )
    return found


def _word(field: Field, text: str) -> str:
    if field.kind == "flag":
        return Phrase("on") if text == "1" else Phrase("off")
    return Phrase(dict(field.choices).get(text, text)) or Phrase("nothing")


def _opts(topology: Topology, group: Group) -> list[Mapping[str, Any]]:
    if group.kind == "link":
        return [topology.links[key].opts for key in group.keys if isinstance(key, int)]
    nodes = edits.named(topology)
    return [nodes[str(key)].opts for key in group.keys]


def changed(topology: Topology, chosen: Sequence[Group], ticked: Ticked) -> tuple[Topology, dict[tuple[str, str], str]]:
    """The topology in which every thing of a group has what is ticked; and by (kind, key) a sentence where it is wrong.

    An empty text takes the key away, as it does in the dialog of one thing. Where anything is wrong nothing is changed.
    """
    wrong: dict[tuple[str, str], str] = {}
    nodes: dict[str, AnyNode] = {}
    links: dict[int, Link] = {}
    named = edits.named(topology)
    for group in chosen:
        typed = ticked.get(group.kind, {})
        page = Page(group.page.title, tuple(field for field in group.page.fields if field.key in typed))
        for key, opts in zip(group.keys, _opts(topology, group), strict=True):
            new, complaints = fields.read([page], typed, opts)
            wrong.update({(group.kind, name): words for name, words in complaints.items()})
            if isinstance(key, int):
                links[key] = replace(topology.links[key], opts=new)
            elif new != opts:
                nodes[key] = replace(named[key], opts=new)
    if wrong:
        return topology, wrong
    return _with(topology, nodes, links), {}


def _with(topology: Topology, nodes: Mapping[str, Any], links: Mapping[int, Link]) -> Topology:
    """The topology with these in place of those of their names and places; ports stay, since no key here has any."""
    filed = topology.controllers
    return replace(
        topology,
        hosts=tuple(nodes.get(host.name, host) for host in topology.hosts),
        switches=tuple(nodes.get(switch.name, switch) for switch in topology.switches),
        controllers=filed if filed is None else tuple(nodes.get(each.name, each) for each in filed),
        links=tuple(links.get(place, link) for place, link in enumerate(topology.links)),
    )


def own_directions(topology: Topology, group: Group) -> list[str]:
    """Names of the links that have settings of their own in a direction, which what is set for both leaves alone."""
    chosen = [topology.links[key] for key in group.keys if isinstance(key, int)]
    return [link.name for link in chosen if link.own.get("forward") is not None or link.own.get("backward") is not None]


def all_keys(topology: Topology) -> list[Key]:
    """Everything that has a dialog."""
    return [*(node.name for node in everyone(topology)), *range(len(topology.links))]
