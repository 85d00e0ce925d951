# SPDX-License-Identifier: BSD-3-Clause
"""docs/troubleshooting.md has an entry for everything that `linklab doctor` can say, in its own words."""

import re
from pathlib import Path

import pytest

from linklab.doctor import engines, machine
from linklab.doctor.fit import Fit
from linklab.doctor.machine import MemoryPlace
from linklab.grade import bubblewrap

TEXT = (Path(__file__).parents[2] / "docs/troubleshooting.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", TEXT, re.M))
GIB = 1024**3
FULL = MemoryPlace("/tmp", "has only 9 MiB free", "has only 9 MiB free")
FINDINGS = [
    machine.check_architecture("Linux", "aarch64"),
    machine.check_architecture("Darwin", "arm64"),
    machine.check_kernel(None),
    *(machine.check_memory(free) for free in (None, GIB, 0)),
    machine.check_place([FULL]),
    machine.check_place([MemoryPlace("/tmp", "has only 600 MiB free", None)]),
    machine.check_seccomp(None),
    machine.check_compiled([Path("/x/linklab/cli.py")]),
    machine.check_native([Path("/x/linklab/native/iperf3_wait.c")]),
    machine.check_display({}),
]
"""Each finding that is not well and is neither a program, a module nor the sandbox."""


@pytest.mark.parametrize("check", FINDINGS, ids=lambda check: f"{check.name}: {check.status}")
def test_a_finding_has_its_cure_under_its_name(check):
    """The words are the doctor's, so that who searches for them finds them."""
    for cure in check.cure.split("; "):
        assert cure in SECTIONS[check.name]
    assert f"; {check.status}" in SECTIONS[check.name] or f", {check.status}" in SECTIONS[check.name]


@pytest.mark.parametrize(
    "part", [*machine.TOOLS, *machine.MODULES], ids=lambda part: getattr(part, "program", part.use)
)
def test_a_program_or_module_has_its_row(part):
    """With what it is needed for and how it is installed."""
    tool = isinstance(part, machine.Tool)
    check = machine.check_tool(part, None, {}) if tool else machine.check_module(part, False, {})
    row = f"| {check.name} | {check.status} | {part.use} | {check.cure} |"
    assert row in SECTIONS["Programs" if tool else "Python modules"].splitlines()


@pytest.mark.parametrize(
    "why",
    [
        bubblewrap.explain("", {}, installed=False),
        bubblewrap.explain("bwrap: Unknown option --perms", {}),
        *(bubblewrap.explain("", {name: denies}) for name, denies, _ in bubblewrap._SETTINGS),
        bubblewrap.explain("", {}),
    ],
)
def test_a_reason_for_no_sandbox_has_its_row(why):
    """Whatever keeps bubblewrap from starting."""
    assert machine.check_sandbox(why).found in SECTIONS["sandbox"]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in SECTIONS["sandbox"].splitlines()]
    assert [row for row in rows if len(row) == 3 and row[0] in why and row[2] in why]


def test_nothing_that_the_doctor_looks_at_is_left_out():
    """And no entry is of something that it no longer looks at."""
    parts = [*(tool.program for tool in machine.TOOLS), *(f"python: {module.name}" for module in machine.MODULES)]
    others = {check.name for check in machine.examine()} - set(parts)
    assert others == {name for name in SECTIONS if not name.startswith("When ")} - {
        "Programs",
        "Python modules",
        "host engine",
    }


@pytest.mark.parametrize(
    "why",
    [
        "the host engine needs root for one command: sudo: a password is required",
        "there is no sudo here: install sudo",
        "the host engine needs brctl: sudo apt-get install mininet",
        "/x can be written by everybody and would be used by root",
        "/x belongs to bob and would be used by root",
        "what this kernel has cannot be found out, although this is root: Operation not permitted",
    ],
)
def test_a_reason_for_no_host_engine_has_its_row(why):
    """What the warden or its caller refuses; the row's first words are the reason's."""
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", SECTIONS["host engine"], re.M)
    said = re.sub(r"brctl|everybody|bob", "…", why)
    assert [row for row in rows if _bare(row[0]) in said.replace("/x ", "")]


def _bare(cell):
    return re.sub(r" \(or [^)]*\)", "", cell).replace("brctl", "…").replace("everybody", "…").strip()


def test_what_the_doctor_says_of_the_host_engine_has_its_entry(monkeypatch):
    """Not usable, and usable for some."""
    monkeypatch.setattr(engines.os, "uname", lambda: type("U", (), {"release": "…"}))
    fits = [Fit("Lab 1", "", "", ""), Fit("Lab 2", "netem", "", "this kernel lacks netem")]
    unusable, some = engines.check_host("no", []), engines.check_host("", fits)
    assert f"`{unusable.found}`; {unusable.status}" in SECTIONS["host engine"]
    assert f"`{some.found.replace('1 of 2', 'N of M')}`; {some.status}" in SECTIONS["host engine"]
    assert some.cure in SECTIONS["host engine"]
