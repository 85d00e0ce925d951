# SPDX-License-Identifier: BSD-3-Clause
"""The profiles of what computing costs have one home, linklab/engine/profiles.json."""

import argparse

import pytest

from linklab.commands import run, shell
from linklab.editor import preference_fields
from linklab.engine.profiles import PROFILES, Costs


def cpu_choices(parser):
    """What --cpu takes."""
    (option,) = (action for action in parser._actions if "--cpu" in action.option_strings)
    return option.choices


def test_the_profiles_are_those_of_the_file():
    """In its order, which is that of the dialogs."""
    assert list(PROFILES) == ["desktop", "ideal", "slow-vm"]
    assert PROFILES["desktop"] == Costs(300000, 48, 1000000, "a desktop")


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
