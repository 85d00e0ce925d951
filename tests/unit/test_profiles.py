# SPDX-License-Identifier: BSD-3-Clause
"""The profiles of what computing costs have one home, linklab/engine/profiles.json."""

import argparse
from itertools import pairwise

import pytest

from linklab.commands import run, shell
from linklab.editor import preference_fields
from linklab.engine.profiles import PROFILES


def cpu_choices(parser):
    """What --cpu takes."""
    (option,) = (action for action in parser._actions if "--cpu" in action.option_strings)
    return option.choices


def test_the_profiles_are_those_of_the_file():
    """In its order, which is that of the dialogs."""
    assert list(PROFILES) == ["desktop", "ideal", "slow-vm"]
    desktop = PROFILES["desktop"]
    assert (desktop.words, desktop.start_ms) == ("a desktop", 100)
    assert desktop.prices["packet_ps"] == "1000000"
    assert desktop.prices["wake_ns"].startswith("1000,") and desktop.prices["wake_ns"].endswith(",50000")


def test_only_the_ideal_computer_has_no_chance():
    """There prices do not vary, sleepers wake on time, and commands typed together begin together."""
    for name, profile in PROFILES.items():
        quantiles = {key: list(map(int, profile.prices[key].split(","))) for key in ("spread_permille", "wake_ns")}
        if name == "ideal":
            assert (quantiles, profile.start_ms) == ({"spread_permille": [1000], "wake_ns": [0]}, 0)
            continue
        for key, knots in quantiles.items():
            assert len(knots) == 17 and knots == sorted(knots), (name, key)
        knots = quantiles["spread_permille"]
        mean = sum((low + high) / 2 for low, high in pairwise(knots)) / 16
        assert mean == pytest.approx(1000, abs=5)  # the price stays what it says


@pytest.mark.parametrize("command", [run, shell])
def test_commands_offer_every_profile(command):
    """Regression: the names were written out in each."""
    parser = command.add_parser(argparse.ArgumentParser().add_subparsers(), "")
    assert cpu_choices(parser) == list(PROFILES)


def test_preferences_offer_every_profile_in_words():
    """What the file gets is the name."""
    fields = [field for page in preference_fields.pages(("pocket",)) for field in page.fields]
    (found,) = (field.choices for field in fields if field.key == "profile")
    assert found == (("desktop", "a desktop"), ("ideal", "nothing"), ("slow-vm", "a slow virtual machine"))
