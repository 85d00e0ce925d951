# SPDX-License-Identifier: BSD-3-Clause
"""`linklab attach` typed into a terminal of a network."""

import pytest

from linklab.cli import main


@pytest.mark.parametrize("words", [["--list"], ["h2"]])
def test_attach_inside_a_network_says_where_it_works(monkeypatch, capsys, words):
    """Regression: it said that no network is running."""
    monkeypatch.setenv("LINKLAB_INSIDE", "1")
    monkeypatch.setenv("LINKLAB_NODE", "h1")
    assert main(["attach", *words]) == 2
    assert capsys.readouterr().err == (
        "linklab: this terminal (h1) is inside a network already; "
        f"type `linklab attach {words[0]}` in another terminal of your machine\n"
    )
