# SPDX-License-Identifier: BSD-3-Clause
"""Into which terminal a line is typed when a lab is done once more."""

from linklab.guide.redo_shells import RedoShells


def free(shells, taken=(), *, about_jobs=False, terminal="h1"):
    """A terminal of h1."""
    return shells.free(terminal, taken, about_jobs=about_jobs)


def test_the_first_terminal_of_a_node_in_which_nothing_runs():
    """For the variables that were set there."""
    shells = RedoShells()
    assert [free(shells), free(shells, {"h1"}), free(shells, {"h1", "h1#2"})] == ["h1", "h1#2", "h1#3"]
    assert free(shells, {"h2"}, terminal="h2") == "h2#2"


def test_after_its_terminals_were_closed_a_node_has_others():
    """Until another network begins."""
    shells = RedoShells()
    shells.closed(["h1"])
    assert [free(shells), free(shells, {"h1#21"}), free(shells, terminal="h2")] == ["h1#21", "h1#22", "h2"]
    shells.closed(["h1", "h2"])
    assert [free(shells), free(shells, terminal="h2")] == ["h1#41", "h2#21"]
    shells.begin()
    assert free(shells) == "h1"


def test_what_is_about_jobs_is_typed_where_one_was_suspended():
    """Unless something runs there, or its terminal was closed, or its network has ended."""
    shells = RedoShells()
    shells.suspended("h1#2")
    assert [free(shells), free(shells, about_jobs=True)] == ["h1", "h1#2"]
    assert free(shells, {"h1#2"}, about_jobs=True) == "h1"
    assert free(shells, about_jobs=True, terminal="h2") == "h2"
    shells.closed(["h1"])
    assert free(shells, about_jobs=True) == "h1#21"
    shells.suspended("h1#21")
    shells.begin()
    assert free(shells, about_jobs=True) == "h1"
