# SPDX-License-Identifier: BSD-3-Clause
"""No module imports, even for its types alone, a module that imports it, directly or through others."""

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODULES = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file
    for file in sorted((ROOT / "linklab").rglob("*.py"))
}


def imported(name: str) -> set[str]:
    """Modules of ours that a module imports at its top, under TYPE_CHECKING too.

    What a function imports when it is called is left out: that is how an engine or a command is chosen by name.
    """
    tree = ast.parse(MODULES[name].read_text())
    late = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    found = set()
    for node in ast.walk(tree):
        if id(node) in late:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                found.add(whole if whole in MODULES else node.module)
    return {module for module in found if module in MODULES} - {name}


def circle(imports: dict[str, set[str]]) -> list[str]:
    """The modules of one circle in the order in which they import each other; empty if there is none."""
    done: set[str] = set()

    def visit(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(imports[name]):
            if found := visit(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(imports) if (found := visit(name, []))), [])


def test_a_circle_is_found_and_named():
    """A made one of three modules is found, and a fourth that only looks at it is no part of it."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a", "b", "c", "a"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_modules_import_each_other():
    """Every module can be read without one that needs it."""
    assert circle({name: imported(name) for name in MODULES}) == []
