# SPDX-License-Identifier: BSD-3-Clause
"""List the expectations of labs that leave too much room, beside what the seeds gave and the range they support.

`python tools/ranges.py 3,5-7` reads lab.toml and seeds.toml of these labs, and runs nothing. What is too much, and how
a range is proposed: `linklab.judge.room`. Without seeds.toml the lab's recording stands for one seed, and nothing is
proposed. Exit 1 if an expectation has more room than it needs by the seeds.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from linklab.base.numbers import format_number
from linklab.commands.several import chosen as chosen_labs
from linklab.errors import InputError
from linklab.judge.dimension import canonical
from linklab.judge.evaluation import Lookup, NoValueError
from linklab.judge.expectation import Expectation
from linklab.judge.quantity import Value
from linklab.judge.room import ONE_SIDED, RELATION, bound_room, outward, proposal, relation_room, too_wide
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.lab.mutants import names_of
from linklab.lab.reference import load_reference
from linklab.lab.seeds import Spread, load_spread, stale

FEW = 5
"""Fewer seeds propose nothing."""
NARROWER = 0.8
"""A range is wider than it needs to be if the proposed one has at most this share of its width."""


@dataclass(frozen=True)
class Loose:
    """An expectation that leaves too much room.

    saw: least and greatest value; proposed: what the seeds support, "" if no more than is there.
    """

    expectation: Expectation
    saw: str
    proposed: str


def loose(lab: Lab, spread: Spread) -> Iterator[Loose]:
    """The expectations of a lab that leave too much room."""
    for expectation in lab.expectations:
        if expectation.relation:
            yield from _loose_relation(expectation, spread)
        elif expectation.tolerance:
            yield from _loose_range(expectation, spread)


def _loose_range(expectation: Expectation, spread: Spread) -> Iterator[Loose]:
    tolerance, values = expectation.tolerance, spread.values(expectation.step, expectation.what)
    if tolerance is None or not values or not too_wide(tolerance, values):
        return
    saw = f"{_shown(min(values), tolerance.unit)} – {_shown(max(values), tolerance.unit)}"
    proposed = ""
    if len(values) >= FEW:
        low, high = outward(*proposal(values))
        if tolerance.high - tolerance.low == float("inf"):
            better = bound_room(tolerance, values) >= ONE_SIDED
        else:
            better = high - low <= NARROWER * (tolerance.high - tolerance.low)
        proposed = f"{_shown(low, tolerance.unit)} – {_shown(high, tolerance.unit)}" if better else ""
    yield Loose(expectation, saw, proposed)


def _shown(value: float, unit: str) -> str:
    return format_number(value, unit, significant=3)


def _loose_relation(expectation: Expectation, spread: Spread) -> Iterator[Loose]:
    def of(seed: int) -> Lookup:
        def lookup(name: str) -> Value | None:
            step, _, metric = name.partition(".")
            found = spread.runs[seed].get(step, {}).get(metric)
            return found and Value(found[0], canonical(found[1]))

        return lookup

    try:
        room = relation_room(expectation.relation, [of(seed) for seed in spread.runs])
    except (NoValueError, InputError):
        return
    if room >= RELATION:
        enough = len(spread.runs) >= FEW
        yield Loose(expectation, f"holds {room:.3g} times over", f"up to {room:.3g} times closer" if enough else "")


def spread_of(lab: Lab) -> tuple[Spread | None, str]:
    """A lab's table, or its recording in place of one, and what is to be said of it."""
    spread = load_spread(lab)
    if spread is None:
        reference = load_reference(lab)
        if reference is None:
            return None, "neither seeds nor recording"
        return Spread("", "", {reference.data["seed"]: reference.recorded.scalars}), "no seeds, the recording alone"
    why = stale(lab, spread)
    return spread, f"{len(spread.runs)} seeds" + (f"; stale: {why}" if why else "")


def main() -> int:
    """Print the list; 1 if a range could be tighter."""
    parser = argparse.ArgumentParser(description="List expectations that leave too much room, and propose ranges.")
    parser.add_argument("labs", nargs="?", default="all", help='such as "10,11,17-20"; default: all')
    chosen = parser.parse_args()
    tighter = 0
    for lab in [load_lab(folder) for folder in chosen_labs(chosen.labs) or [find_lab(chosen.labs)]]:
        spread, words = spread_of(lab)
        print(f"Lab {lab.number} ({words})")
        for one in loose(lab, spread) if spread else ():
            tighter += bool(one.proposed)
            expected = one.expectation.expected
            print(f"  {one.expectation.where.rpartition('/')[2]} {names_of(one.expectation)}: {expected}; {one.saw}")
            if one.proposed:
                print(f"    the seeds support {one.proposed}")
    print(f"{tighter} expectations could be tighter by their seeds.")
    return 1 if tighter else 0


if __name__ == "__main__":
    sys.exit(main())
