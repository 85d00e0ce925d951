# SPDX-License-Identifier: BSD-3-Clause
"""No program inside leaves the kernel by the page with which that kernel runs it (tests/hostile/stub.c)."""

import shutil
import subprocess
from pathlib import Path

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

pytestmark = needs_pocket
SOURCE = Path(__file__).parents[1] / "hostile/stub.c"
ENDED = "Segmentation fault"
"""Of the process on the machine, not of the program inside, whose handler would say so."""
TRIALS = {
    "another call": "goes on",
    "its own page unmapped": "made, goes on",
    "memory without a file": ENDED,
    "memory over the stub's data": ENDED,
    "the stub's data unmapped": ENDED,
    "the stub's code unmapped": ENDED,
    "around the end of all addresses": ENDED,
    "another request of arch_prctl": ENDED,
    "a message to the kernel": ENDED,
    "returning by itself": "comes back, goes on",
    "deaf to all signals": f"comes back, hears nothing, {ENDED}",
    "deaf when a signal comes": f"comes back, {ENDED}",
    "deaf while it computes": f"comes back, {ENDED}",
    "a forged munmap": "comes back, faults, goes on",
    "a forged munmap of the next page": "comes back, still there, goes on",
    "a forged fault": f"comes back, {ENDED}",
    "a forged signal": ENDED,
    "a wait without a signal": ENDED,
    "a list of its own": ENDED,
}

DEAF = ("deaf to all signals", "deaf when a signal comes", "deaf while it computes")
"""Where system calls come by a signal, the first one ends such a program."""


@pytest.mark.parametrize("calls", ["by notification", "by signal"])
def test_the_stubs_page_gives_a_program_nothing_that_it_does_not_have(tmp_path, monkeypatch, calls):
    """Regression: a forged fault had the stub receive the kernel's memory, and a forged munmap was left out.

    What only forges the program's own registers goes on; everything else ends the program, and the network goes on.
    """
    if not shutil.which("gcc"):
        pytest.skip("gcc makes the program that tries it")
    program = tmp_path / "stub"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-Wl,-z,now", "-o", program, SOURCE], check=True)
    monkeypatch.setattr("linklab.engine.pocket._filtered", lambda: calls == "by signal")
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, seed=1) as network:
        said = type_(network, "./stub", "h1").output
        assert type_(network, "ping -c 1 10.0.0.2", "h1").exit_status == 0
    expected = TRIALS if calls == "by notification" else TRIALS | dict.fromkeys(DEAF, ENDED)
    assert dict(line.split(": ") for line in said.splitlines()) == expected
