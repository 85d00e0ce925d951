# SPDX-License-Identifier: BSD-3-Clause
"""Which package may import which: the house of docs/architecture.md as a table that every file is held to."""

import ast
import re
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "linklab"

FLOOR = {"errors", "units", "base"}
"""What any package above may use."""

MAY_IMPORT = {
    # what truly everything uses
    "errors": set(),
    "units": {"errors"},
    "base": {"errors", "units", "tomli", "distributed"},
    "linux": set(),
    "native": set(),
    # what is described
    "tc": FLOOR | {"linux"},
    "topology": FLOOR | {"tc"},
    "exchange": FLOOR | {"topology", "yaml"},
    "state": FLOOR | {"tc", "topology"},
    "manual": FLOOR | {"topology", "tc", "jinja2", "markdown_it", "weasyprint"},
    # what runs
    "agent": {"linux", "native", "mininet"},
    "warden": {"linux"},
    "pocket_kernel": FLOOR,
    "bpf": FLOOR | {"linux"},
    "engine": FLOOR | {"linux", "native", "tc", "topology", "agent", "warden", "pocket_kernel", "bpf"},
    "terminal": FLOOR | {"agent", "engine"},
    "capture": FLOOR | {"linux", "terminal"},
    # what comes out
    "measure": FLOOR | {"numpy", "dpkt"},
    "data": FLOOR | {"measure", "numpy"},
    "analysis": FLOOR | {"measure", "data", "numpy"},
    "plots": FLOOR | {"measure", "data", "analysis", "numpy", "matplotlib"},
    "live": FLOOR
    | {"tc", "topology", "agent", "terminal", "measure", "data", "analysis", "plots", "numpy", "matplotlib"},
    # how it is judged
    "judge": FLOOR | {"analysis"},
    # what people do with it
    "lab": FLOOR | {"topology", "manual", "data", "judge"},
    "run": FLOOR
    | {"tc", "topology", "manual", "engine", "measure", "data", "analysis", "plots", "judge", "lab", "numpy"},
    "exercise": FLOOR | {"tc", "topology", "manual", "judge", "state"},
    "guide": FLOOR | {"tc", "topology", "state", "manual", "engine", "terminal", "judge", "lab", "run", "exercise"},
    "grade": FLOOR
    | {
        "topology",
        "manual",
        "engine",
        "linux",
        "pocket_kernel",
        "measure",
        "data",
        "analysis",
        "plots",
        "judge",
        "exercise",
    }
    | {"state", "guide", "lab", "numpy", "jinja2", "markupsafe", "pyseccomp"},
    "experiment": FLOOR
    | {"linux", "native", "tc", "topology", "engine", "terminal", "measure", "data", "analysis", "plots", "numpy"},
    "netesto": FLOOR
    | {"linux", "tc", "topology", "manual", "measure", "data", "analysis", "plots", "experiment"}
    | {"numpy", "matplotlib", "jinja2", "markupsafe"},
    "documents": FLOOR | {"manual", "lab", "exercise"},
    "figures": FLOOR | {"analysis", "lab"},
    # what people touch
    "page": FLOOR
    | {"linux", "topology", "manual", "engine", "terminal", "capture", "lab", "documents", "guide", "data"}
    | {"judge", "live", "tornado"},
    "classroom": FLOOR
    | {"pocket_kernel", "engine", "lab", "page", "grade", "jinja2", "tornado", "jupyterhub", "nativeauthenticator"}
    | {"traitlets"},
    "doctor": FLOOR
    | {"native", "tc", "topology", "manual", "engine", "pocket_kernel", "lab", "exercise", "grade", "rich"},
    "windows": FLOOR | {"PIL"},
    "editor": FLOOR
    | {"linux", "tc", "topology", "exchange", "engine", "terminal", "live", "capture", "experiment", "viewer"}
    | {"lab", "guide", "windows", "PIL", "weasyprint"},
    "viewer": FLOOR | {"measure", "data", "plots", "live", "experiment", "windows", "numpy", "matplotlib", "PIL"},
    "commands": FLOOR
    | {"topology", "manual", "agent", "warden", "pocket_kernel", "engine", "terminal", "measure", "data", "analysis"}
    | {"plots", "judge", "lab", "run", "exercise", "grade", "documents", "doctor", "windows", "editor", "viewer"}
    | {"exchange", "experiment", "netesto", "capture", "page", "state", "guide", "classroom", "rich"},
    "cli": {"errors", "base", "commands"},
    "__init__": set(),
    "__main__": {"cli"},
}
"""Package → all it may import that is not the standard library: packages of ours, and those of others."""

OTHERS = {
    "tomli",
    "numpy",
    "dpkt",
    "matplotlib",
    "mpl_toolkits",
    "mininet",
    "jinja2",
    "markupsafe",
    "markdown_it",
    "mdit_py_plugins",
} | {"weasyprint", "distributed", "rich", "PIL", "yaml", "tornado", "jupyterhub", "traitlets", "pyseccomp"}

READS_FILES_ALONE = ("measure", "data", "analysis", "plots", "judge", "lab", "documents")
"""What is right of a run: it begins with files, so that it works on another machine and years later."""


@cache
def imported(file: Path) -> frozenset[str]:
    """What a file imports anywhere in it, TYPE_CHECKING included: first-level names of ours and of others."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module="linklab", level=0):
                modules = [f"linklab.{alias.name}" for alias in node.names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.ImportFrom():
                raise AssertionError(f"{file}:{node.lineno}: imports by a relative name, which this test does not read")
            case ast.Import():
                modules = [alias.name for alias in node.names]
            case _:
                continue
        for module in modules:
            first, _, rest = module.partition(".")
            if first == "linklab":
                found.add(rest.partition(".")[0])
            elif first not in sys.stdlib_module_names:
                found.add(first)
    return frozenset(found - {"", "__version__"})


def package_of(file: Path) -> str:
    """The package that a file belongs to, or its own name at the top."""
    return file.relative_to(PACKAGE).parts[0].removesuffix(".py")


FILES = sorted(PACKAGE.rglob("*.py"))


def table() -> dict[str, set[str]]:
    """What each package really imports."""
    found: dict[str, set[str]] = defaultdict(set)
    for file in FILES:
        found[package_of(file)] |= imported(file) - {package_of(file)}
    return dict(found)


def test_every_package_has_its_row():
    """A new package says what it may import before it imports anything."""
    assert sorted(table()) == sorted(MAY_IMPORT)


@pytest.mark.parametrize("package", sorted(MAY_IMPORT))
def test_a_package_imports_only_what_its_row_names(package, capsys):
    """Ours and others' packages alike; a file that imports more is named."""
    wrong = {
        str(file.relative_to(PACKAGE)): sorted(imported(file) - MAY_IMPORT[package] - {package})
        for file in FILES
        if package_of(file) == package and imported(file) - MAY_IMPORT[package] - {package}
    }
    assert wrong == {}


def test_a_row_allows_nothing_that_nobody_uses():
    """So that the table says what is, and an arrow that has gone cannot come back unseen."""
    real = table()
    unused = {
        package: sorted(allowed - real.get(package, set()) - FLOOR)
        for package, allowed in MAY_IMPORT.items()
        if allowed - real.get(package, set()) - FLOOR
    }
    assert unused == {}


def test_arrows_go_one_way():
    """No package reaches itself through others."""
    real = {package: {name for name in names if name in MAY_IMPORT} for package, names in table().items()}

    def reached(package: str) -> set[str]:
        found: set[str] = set()
        waiting = [package]
        while waiting:
            new = real[waiting.pop()] - found
            found |= new
            waiting += new
        return found

    real["cli"].discard("commands")  # by name only, when a command is asked for
    real["commands"].discard("cli")  # for the type of its parsers
    assert {package for package in real if package in reached(package)} == set()


@pytest.mark.parametrize("package", READS_FILES_ALONE)
def test_what_is_right_of_a_run_needs_no_network(package):
    """Measurements, data sets, plots, verdicts and documents never reach an engine, directly or through others."""
    real = {name: {other for other in names if other in MAY_IMPORT} for name, names in table().items()}
    found, waiting = set(), [package]
    while waiting:
        new = real[waiting.pop()] - found
        found |= new
        waiting += new
    assert not found & {"engine", "agent", "warden", "run", "pocket_kernel"}


def test_the_table_is_printed(capsys):
    """`pytest -s tests/unit/test_layers.py` shows who imports what; docs/architecture.md draws the same house."""
    lines = [f"{name:14} {' '.join(sorted(found)) or '(standard library only)'}" for name, found in table().items()]
    with capsys.disabled():
        if sys.stdout.isatty() or "-s" in sys.argv:
            sys.stdout.write("\n".join(["", *sorted(lines), ""]))
    assert len(lines) == len(MAY_IMPORT)


def test_the_architecture_draws_the_same_house():
    """The last column of its table names the packages of ours that a row allows, "all above" any."""
    text = (PACKAGE.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|[^|\n]*\| ([^|\n]+) \|[^|\n]*\|([^|\n]*)\|$", text.split("## The house")[1], re.M)
    drawn = {}
    for names, allowed in rows:
        for name in re.findall(r"`(\w+)/?`", names):
            drawn[name] = allowed.strip()
    wrong = {}
    for package, may in MAY_IMPORT.items():
        ours = {name for name in may & set(MAY_IMPORT) if name not in FLOOR}
        said = drawn.get(package, "all above" if package.startswith("__") else "nothing")
        if said != "all above" and package not in FLOOR and set(filter(None, said.split(", "))) != ours:
            wrong[package] = (said, ", ".join(sorted(ours)))
    assert wrong == {}
