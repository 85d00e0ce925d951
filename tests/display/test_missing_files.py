# SPDX-License-Identifier: BSD-3-Clause
"""What the editor says of a file that is not there."""

from robot import needs_display

from linklab.topology import Topology

pytestmark = needs_display


def said(hand):
    """The line at the bottom."""
    return hand.editor.status.said


def test_a_file_that_is_not_there_is_said_to_be_made_by_saving(hand, tmp_path):
    """Regression: an empty drawing opened as if the file had been empty."""
    hand.editor.filing.open_path(tmp_path / "mine.mn", first=True)
    hand.settle()
    assert said(hand) == f"{tmp_path}/mine.mn does not exist yet; saving makes it"
    assert str(hand.editor.status.text.cget("foreground")) == hand.editor.look.palette.bad
    assert hand.dialog() is None
    hand.editor.filing.save()
    assert Topology.load(tmp_path / "mine.mn").nodes == ()
    hand.editor.filing.open_path(tmp_path / "no/mine.mn", first=True)
    assert said(hand) == f"{tmp_path}/no/mine.mn does not exist yet; nor does its folder, so save it elsewhere"


def test_a_file_that_is_nearly_called_so_is_offered(hand, tmp_path):
    """Return opens it."""
    (tmp_path / "Lab 14.mn").write_text(Topology(name="x").dumps())
    hand.editor.filing.open_path(tmp_path / "Lab14.mn", first=True)
    hand.until(lambda: hand.dialog() is not None, what="the question")
    hand.key("Return")
    hand.until(lambda: hand.editor.document.path == tmp_path / "Lab 14.mn", what="the file")
    assert said(hand) == "opened Lab 14.mn"
