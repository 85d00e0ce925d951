# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `linklab link`, as far as it needs no network."""

import pytest

from linklab.cli import main


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["set", "h1"], "type it as linklab link set h1 h2 rate 10mbit delay 20ms"),
        (["del"], "type it as linklab link del h1 h2"),
        (["show", "h1"], "type it as linklab link show, or linklab link show h1 h2"),
        (["load"], "type it as linklab link load mesh.csv at s1:s1-eth2"),
        (["clear", "h1"], "type it as linklab link clear"),
        (["set", "h1", "h2", "delay", "2ms", "at"], '"at" needs a value, such as at s1:s1-eth2'),
        (["set", "h1", "h2", "entries", "5"], "entries is for load alone"),
        (["load", "x.csv", "entries", "many"], "entries is for load alone"),
        (["show", "--json"], "only stats has --json, not show"),
        (["set", "h1", "h2", "delay", "2ms"], "this is no terminal of a network"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(words, says, capsys, monkeypatch):
    """Exit code 2, on the error output."""
    monkeypatch.delenv("LINKLAB_INSIDE", raising=False)
    assert main(["link", *words]) == 2
    assert says in capsys.readouterr().err
