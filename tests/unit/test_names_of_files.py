# SPDX-License-Identifier: BSD-3-Clause
"""Documents and docstrings that name a file or a module of ours name one that is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    *sorted(ROOT.glob("*.md")),
    *sorted(ROOT.glob("docs/**/*.md")),
    ROOT / "kernel/README.md",
    ROOT / "vm/README.md",
]
SOURCES = [*sorted(ROOT.glob("linklab/**/*.py")), *sorted(ROOT.glob("tools/*.py")), *sorted(ROOT.glob("vm/*.py"))]

PATH = re.compile(r"(?<![\w/.~-])((?:linklab|tests|tools|docs|scripts|kernel|vm)/[\w/.-]*\w)")
MODULE = re.compile(r"`linklab((?:\.(?!ova\b|qcow2\b|spdx\b)[a-z_][a-z0-9_]*)+)`")  # the image has such names too
HISTORY = {"CHANGELOG.md"}
"""Tells what was, by the names of then."""

MADE = ("vm/build", "kernel/linux", "kernel/VERSION", "linklab/agent`")
"""Not in a clone: made, or a place for the reader to fill in."""


def is_there(name: str) -> bool:
    """Whether a path of the text is a file or folder of ours; what holds a pattern is no name."""
    return (ROOT / name).exists() or any(ROOT.glob(f"{name}*")) or name.startswith(MADE)


def is_module(dotted: str) -> bool:
    """Whether a dotted name is a module of ours, or something in one."""
    parts = dotted.strip(".").split(".")
    for depth in range(len(parts), 0, -1):
        path = ROOT.joinpath("linklab", *parts[:depth])
        if path.with_suffix(".py").is_file() or (path / "__init__.py").is_file():
            source = path.with_suffix(".py") if path.with_suffix(".py").is_file() else path / "__init__.py"
            rest = parts[depth:]
            return not rest or re.search(rf"^\s*(?:def|class)?\s*{rest[0]}\b", source.read_text(), re.M) is not None
    return False


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path.name not in HISTORY], ids=lambda path: path.name)
def test_a_document_names_files_that_are_there(path):
    """A moved file takes its name in the documents along."""
    text = path.read_text(encoding="utf-8")
    assert [name for name in PATH.findall(text) if not is_there(name)] == []
    assert [name for name in MODULE.findall(text) if not is_module(name)] == []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_docstring_names_modules_that_are_there(path):
    """So does a docstring or a comment."""
    assert [name for name in MODULE.findall(path.read_text(encoding="utf-8")) if not is_module(name)] == []


def test_no_two_files_of_tests_have_one_name():
    """Regression, twice: pytest imports them by their bare names, and collects nothing at all if one comes again."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))
