# SPDX-License-Identifier: BSD-3-Clause
"""One word for one thing: no two public classes have one name, but for the few that two trades call the same."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TWICE = {
    "Line": {"linux/tc_line.py", "agent/exercise_env.py"},
    "Node": {"topology/parts.py", "state/node.py"},
    "Parameter": {"tc/option.py", "exercise/model.py"},
    "Switch": {"topology/parts.py", "tc/option.py"},
}
"""Name → the modules that share it; a row goes when one of them finds another word."""


def test_a_class_name_means_one_thing():
    """A second class of a name is a second meaning, which a reader must tell from the first at every use."""
    homes = defaultdict(set)
    for file in sorted((ROOT / "linklab").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].add(str(file.relative_to(ROOT / "linklab")))
    assert {name: files for name, files in homes.items() if len(files) > 1} == TWICE
