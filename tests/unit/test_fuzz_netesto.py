# SPDX-License-Identifier: BSD-3-Clause
"""A short run of tools/fuzz_netesto.py, and that the tool sees what it is to see."""

import importlib
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[2] / "tools"
COUNT = 100
"""Damaged scripts; `make fuzz` tries 1,000."""


@pytest.fixture(scope="module")
def fuzz():
    """The tool as a module."""
    before = list(sys.path)
    sys.path.insert(0, str(TOOLS))
    yield importlib.import_module("fuzz_netesto")
    sys.path[:] = before


def test_a_damaged_script_is_planned_or_refused(fuzz):
    """With the line of each problem, no traceback, and an end; both happen."""
    seen, faults = fuzz.fuzz(COUNT, seed=1)
    assert faults == []
    assert sum(seen.values()) == COUNT
    assert seen["refused"] > COUNT / 5
    assert seen["planned"] > COUNT / 20


def test_the_same_seed_damages_alike(fuzz):
    """Another seed, and another number, differ."""
    assert fuzz.damaged(1, 3) == fuzz.damaged(1, 3)
    assert len({fuzz.damaged(1, 3), fuzz.damaged(1, 4), fuzz.damaged(2, 3)}) == 3


def test_only_short_scripts_are_run(fuzz, tmp_path, monkeypatch):
    """By the commands that people type; one that ends with another code than it may is a fault."""
    script = tmp_path / "script"
    flow = "DO_SERVER host=a exp=COUNTER start=1\nDO_CLIENT host=b server=a ca=reno dur={}\n"
    script.write_text(flow.format(100))
    assert fuzz.ran(script, tmp_path / "out") is None
    script.write_text(flow.format(1))
    asked = []
    monkeypatch.setattr(fuzz, "linklab", lambda words: asked.append(words[1]) or 0)
    assert fuzz.ran(script, tmp_path / "out") == ("ran", "")
    assert asked == ["run", "csv", "page", "table"]
    monkeypatch.setattr(fuzz, "linklab", lambda words: {"run": 1, "csv": 0, "page": 2}[words[1]])
    assert fuzz.ran(script, tmp_path / "out")[0] == "status"
    monkeypatch.setattr(fuzz, "linklab", lambda words: {}[words[1]])
    assert fuzz.ran(script, tmp_path / "out")[0] == "traceback"


@pytest.mark.parametrize(
    ("do", "kind"),
    [
        (lambda path: {}[path], "traceback"),
        (lambda path: [None for _ in iter(int, 1)], "slow"),
    ],
)
def test_a_fault_is_found(fuzz, tmp_path, monkeypatch, do, kind):
    """An exception of ours, and what does not end."""
    monkeypatch.setattr(fuzz, "expand", do)
    assert fuzz.judged(tmp_path / "x", deadline_s=0.2)[0] == kind
