# SPDX-License-Identifier: BSD-3-Clause
"""docs/when-tc-complains.md: each message is what the pocket prints for the command above it, and each cure works."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/when-tc-complains.md").read_text(encoding="utf-8")
TYPED = re.compile(r"(client|h1)\$ (.*)")
INTERFACES = {"client": ("s1-eth1", "s1-eth2"), "h1": ("h1-eth0",)}


@dataclass
class Typed:
    """A command of the page, its terminal, and the lines below it; `…` stands for any number of others."""

    terminal: str
    command: str
    printed: list[str]

    def fits(self, output):
        """Whether an output is what the page shows."""
        parts = [re.escape(line) if line != "…" else r"(?:.*\n?)*?" for line in self.printed]
        lines = [line.rstrip() for line in output.rstrip().splitlines()]
        return re.fullmatch(r"\n?".join(parts), "\n".join(lines)) is not None


def entries():
    """Heading → the commands of its examples, in order."""
    for part in re.split(r"^### ", PAGE, flags=re.M)[1:]:
        found = []
        for line in "\n".join(re.findall(r"^```text\n(.*?)\n```", part, re.M | re.S)).splitlines():
            if typed := TYPED.fullmatch(line):
                found.append(Typed(*typed.groups(), []))
            else:
                found[-1].printed.append(line)
        yield part.partition("\n")[0], found


ENTRIES = list(entries())


@pytest.mark.parametrize(("heading", "typed"), ENTRIES, ids=[heading.strip("`")[:40] for heading, _ in ENTRIES])
def test_a_message_stands_in_its_example(heading, typed):
    """Who searches for a message finds it where it was printed; what is no message is no code."""
    message = re.fullmatch("`(.*)`", heading)
    assert typed
    assert message is None or message[1] in [line for each in typed for line in each.printed]


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """The network of Lab 5."""
    with PocketEngine().start(
        Topology.load(ROOT / "topologies/Lab 5.mn"), workdir=tmp_path_factory.mktemp("work")
    ) as running:
        yield running


@pytest.mark.parametrize(("heading", "typed"), ENTRIES, ids=[heading.strip("`")[:40] for heading, _ in ENTRIES])
def test_what_the_page_shows_is_what_is_printed(network, heading, typed):
    """Every command is typed on interfaces on which nothing is set; what fails, and what a cure prints, is compared."""
    for terminal, names in INTERFACES.items():
        for name in names:
            type_(network, f"tc qdisc del dev {name} root 2>/dev/null", terminal)
    for each in typed:
        done = type_(network, each.command, each.terminal)
        assert each.fits(done.output), f"{each.command}\nprinted {done.output}"
