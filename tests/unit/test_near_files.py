# SPDX-License-Identifier: BSD-3-Clause
"""Topology files that are not there but nearly."""

import pytest

from linklab.errors import TopologyError
from linklab.topology import Topology


@pytest.mark.parametrize(
    ("asked", "there"),
    [
        ("Lab14.mn", "Lab 14.mn"),
        ("lab_08.mn", "Lab 8.mn"),
        ("two-routers", "two_routers.mn"),
        ("two_ruoters.mn", "two_routers.mn"),
        ("Lab 9.mn", "topologies/Lab 9.mn"),
        ("Lab 4.mn", None),
        ("Lab 1.mn", None),
        ("other.mn", None),
    ],
)
def test_a_name_that_is_nearly_right_is_answered_with_the_file(tmp_path, asked, there):
    """Blanks, case and a letter or two do not matter, numbers do."""
    (tmp_path / "topologies").mkdir()
    for name in ("Lab 14.mn", "Lab 8.mn", "two_routers.mn", "topologies/Lab 9.mn"):
        (tmp_path / name).touch()
    hint = f'; there is "{tmp_path / there}"' if there else ""
    with pytest.raises(TopologyError) as raised:
        Topology.load(tmp_path / asked)
    assert str(raised.value) == f"{tmp_path / asked}: cannot be read: No such file or directory{hint}"
