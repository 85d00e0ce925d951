# SPDX-License-Identifier: BSD-3-Clause
"""What the measuring tools share: a second attempt at starting a pocket, processor time, and cells of tables."""

import contextlib
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from linklab.errors import BootError, DeadlineError

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def tool(monkeypatch):
    """A module of tools/ by name."""
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module


@pytest.fixture
def engine(tool, monkeypatch):
    """An engine whose pocket comes up after so many BootErrors; `attempts` says how often it was started."""

    class Engine:
        failures = 0
        attempts = 0

        @contextlib.contextmanager
        def start(self, topology, **options):
            Engine.attempts += 1
            if Engine.attempts <= Engine.failures:
                raise BootError(f"attempt {Engine.attempts}")
            yield (topology, options)

    monkeypatch.setattr(tool("in_pocket"), "PocketEngine", Engine)
    return Engine


def test_a_pocket_that_comes_up_late_is_started_again(tool, engine):
    """The caller gets the pocket of the first attempt that succeeds, with its own options."""
    engine.failures = 3
    with tool("in_pocket").started(None, seed=5) as network:
        assert network == (None, {"seed": 5})
    assert engine.attempts == 4


def test_a_pocket_that_never_comes_up_is_an_error(tool, engine):
    """The error of the last attempt is raised, not that of the first, and no fifth attempt is made."""
    engine.failures = 99
    with pytest.raises(BootError, match="attempt 4"), tool("in_pocket").started(None):
        pass
    assert engine.attempts == 4


def test_an_error_in_the_block_is_not_taken_for_one_of_the_start(tool, engine):
    """Work that fails in a running pocket is not repeated."""
    with pytest.raises(DeadlineError), tool("in_pocket").started(None):
        raise DeadlineError("no end")
    assert engine.attempts == 1


def test_processor_time_includes_children_that_run_and_that_have_ended(tool):
    """Beside this process, a child that ended and one that still runs, each after 0.2 s of work, count."""
    work = "import time\nwhile time.process_time() < 0.2: pass\nprint(flush=True)\n"
    before = tool("in_pocket").processor_s(os.getpid())
    subprocess.run([sys.executable, "-c", work], check=True, stdout=subprocess.DEVNULL)
    one = tool("in_pocket").processor_s(os.getpid())
    assert one - before >= 0.19
    with subprocess.Popen([sys.executable, "-c", f"{work}input()"], stdin=-1, stdout=-1) as child:
        child.stdout.readline()
        assert tool("in_pocket").processor_s(os.getpid()) - one >= 0.19
        child.communicate(b"\n")


def test_text_that_would_break_a_table_is_escaped(tool):
    """A bar ends a cell, a line break ends the row, and `<` begins an element outside of code."""
    tables = tool("tables")
    assert tables.row(tables.cell("a | b\nc <d>"), tables.code("x | y <z")) == "| a \\| b c &lt;d> | `x \\| y <z` |"
