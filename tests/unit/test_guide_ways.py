# SPDX-License-Identifier: BSD-3-Clause
"""Wrong ways through labs, made up from their manuals: the guide names the step where the mistake was made."""

from pathlib import Path

import pytest

from linklab.guide.plan import plan_of
from linklab.guide.wrong_ways import KINDS, known_ways, tried, wrong_ways
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("number", ["3", "8", "14", "20"])
def test_ten_mistakes_in_a_lab_are_named_where_they_are_made(number):
    """Left out, another number, another interface, another host; docs/guide.md has the table of all labs."""
    lab = load_lab(find_lab(number, ROOT))
    reference = load_reference(lab)
    plan = plan_of(lab)
    ways = wrong_ways(plan)
    assert len(ways) == 10
    assert {way.kind for way in ways} == set(KINDS)
    outcomes = [tried(plan, reference.recorded, way) for way in ways]
    assert [(one.way.kind, one.way.step, one.at) for one in outcomes if not one.named] == []


def test_the_same_mistakes_are_made_in_every_run():
    """They are drawn from the lab's number."""
    plan = plan_of(load_lab(find_lab("14", ROOT)))
    assert wrong_ways(plan) == wrong_ways(plan)


@pytest.mark.parametrize("number", ["3", "15", "17"])
def test_the_known_mistakes_of_a_lab_are_named(number):
    """Those of mutants.toml, which were written for the lab's expectations and not for the guide."""
    lab = load_lab(find_lab(number, ROOT))
    reference, plan = load_reference(lab), plan_of(lab)
    outcomes = [tried(plan, reference.recorded, way) for way in known_ways(lab)]
    assert outcomes
    assert [(one.way.step, one.at) for one in outcomes if not one.named] == []
