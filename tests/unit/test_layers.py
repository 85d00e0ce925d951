# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/architecture.md as a test: imports go in one direction."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "linklab"
PURE = ("errors", "units", "topology", "measure", "analysis", "plots", "manual", "lab", "tolerance", "relation")
MAY_IMPORT = {
    "base": set(),
    "errors": set(),
    "units": {"errors"},
    "clone": {"errors"},
    "analysis": {"errors", "units"},
    "impair": {"errors", "units"},
    "topology": {"base", "errors", "units", "impair"},
    "measure": {"errors", "units"},
    "plots": {"base", "errors", "units", "measure", "analysis"},
    "manual": {"errors", "units", "topology", "impair"},
    "agent": set(),
    "warden": {"agent"},
}


def imports(file: Path) -> set[str]:
    """Names of our own first-level modules that a file imports, anywhere in it."""
    names = set()
    for node in ast.walk(ast.parse(file.read_text())):
        found = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and node.module == "linklab":
            found = [f"linklab.{alias.name}" for alias in node.names]
        names |= {name.split(".")[1] for name in found if name.startswith("linklab.")}
    return names


def files(part: str) -> list[Path]:
    """The files of a module or package."""
    return sorted((PACKAGE / part).rglob("*.py")) or [PACKAGE / f"{part}.py"]


@pytest.mark.parametrize("part", sorted(MAY_IMPORT))
def test_a_layer_imports_only_what_lies_below_it(part):
    """Each layer keeps to its row of the table."""
    wrong = {
        file.name: sorted(imports(file) - MAY_IMPORT[part] - {part, "__version__"})
        for file in files(part)
        if imports(file) - MAY_IMPORT[part] - {part, "__version__"}
    }
    assert wrong == {}


@pytest.mark.parametrize("part", PURE)
def test_what_is_right_of_captured_output_never_reaches_an_engine(part):
    """Measurements, plots and verdicts need no network."""
    for file in files(part):
        assert not imports(file) & {"engine", "agent", "runner", "stage", "kernel"}, file


def test_only_the_agent_imports_mininet():
    """One door to Mininet."""
    guilty = [
        file
        for file in PACKAGE.rglob("*.py")
        if "agent" not in file.relative_to(PACKAGE).parts
        and any(
            name.split(".")[0] == "mininet"
            for node in ast.walk(ast.parse(file.read_text()))
            for name in (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom) and not node.level
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
        )
    ]
    assert guilty == []
