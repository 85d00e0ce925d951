# SPDX-License-Identifier: BSD-3-Clause
"""libcgroup's tools inside a pocket, whose kernel has no cpusets."""

import pytest

from linklab.agent import control_groups


@pytest.fixture
def pocket(tmp_path, monkeypatch):
    """Folders in place of the kernel's; the real tool is noted and not started."""
    monkeypatch.setattr(control_groups, "SETS", tmp_path / "cpuset")
    monkeypatch.setattr(control_groups, "FREE", tmp_path / "free")
    monkeypatch.delenv("LINKLAB_ENGINE", raising=False)
    (tmp_path / "free").write_text("1")
    became = []
    monkeypatch.setattr(
        control_groups.os, "execv", lambda path, argv: became.append((argv, (tmp_path / "free").read_text()))
    )
    return became


def test_the_real_tool_gets_the_rest_and_has_its_price(pocket, tmp_path):
    """Regression: the real tool inherited from the shim that it costs no network time."""
    assert control_groups.main("cgcreate", ["-g", "cpu,cpuset:/h1"]) == 0
    assert pocket == [(["cgcreate", "-g", "cpu:/h1"], "0")]
    assert (tmp_path / "cpuset/h1/cpuset.cpus").read_text() == "0\n"


def test_what_asks_for_cpusets_alone_starts_no_other_tool(pocket, capsys):
    """Processor 0 is given; another one is refused with the reason."""
    assert control_groups.main("cgset", ["-r", "cpuset.cpus=0", "/h1"]) == 0
    assert control_groups.main("cgset", ["-r", "cpuset.cpus=1", "/h1"]) == 1
    assert "a pocket has one processor" in capsys.readouterr().err
    assert pocket == []
