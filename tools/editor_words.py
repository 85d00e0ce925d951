# SPDX-License-Identifier: BSD-3-Clause
"""What the editor says, found in its source: the keys of po/editor.LANGUAGE.po, each with the files that have it.

A text counts if it is given to something that shows it (`SHOWN_BY`), if it is bound to a name that holds such texts
(`HELD_BY`), or if it is a template, "{count} nodes". Nothing is imported: the source is read as a tree.
"""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

from linklab.base import installation
from linklab.experiment.entries import ParameterKind
from linklab.experiment.test_file import FAMILIES, load_test, test_names

ROOT = installation.ROOT
ALL = tuple(range(9))
SHOWN_BY = {
    "say": (0,),
    "Phrase": (0,),
    "of_number": (1, 2),
    "_a": (1,),
    "Field": (1, 2, 3),
    "Page": (0, 2),
    "Number": (1, 5),
    "Template": (1, 2),
    "Lookup": (1, 4),
    "Drawn": (1,),
    "Tip": (2,),
    "ToolButton": (),  # label=
    "FormDialog": (2,),
    "__init__": ALL,
    "Chooser": (2,),
    "choose": (0,),
    "button": (0,),
    "again": (0,),
    "_button": (0, 2),
    "scrolled_page": (3,),
    "ask": ALL,
    "tell": ALL,
    "show_text": ALL,
    "_offer": (0,),
    "_show": (1,),
    "_browse": (1,),
    "_tell": (0,),
    "_form": (0,),
    "_change": (0, 1),
    "_export": (0,),
    "_say": (0,),
    "on_stage": (0,),
    "partial": (1,),
    "apply": (0,),
    "take_all": (1,),
    "follow": (0,),
    "number": (2,),
    "pattern": (1,),
    "InputError": (0,),
    "FieldError": (0,),
}
"""Which arguments of a call are texts, by the name of what is called."""
KEYWORDS = ("label", "help", "unit", "note", "columns", "choices", "text")
_HELD = """
AS_THE_SYSTEM ALIGNMENTS BETWEEN ELSEWHERE ENGINES EVERYONE HELP IN_DIALOGS LOCKED MENUS ON_CANVAS READ_ONLY SCALES
EXPORTS IN_WINDOW
SHORT_HELP SWITCH_TYPES TITLES TOOLS _COLOUR_NAMES answers entries label note over rows text title told what words
"""
HELD_BY = frozenset(_HELD.split())
"""Names of constants and variables that hold texts."""
NOT_SAID = ("export.py", "svg.py", "lettering.py", "theme.py", "words.py")
"""Modules whose templates are parts of a script or a drawing."""
PACKAGES = ("editor", "windows", "viewer")
BESIDE = ("topology/templates.py", "engine/pocket.py", "engine/host.py", "tc/*.py")
"""What else gives the editor texts to show."""
TEMPLATE = re.compile(r"\{[a-z_]+(:[^}]*)?\}")
LETTERS = re.compile(r"[A-Za-z]{2}")
READ_AS_TEXT = re.compile(r"^&?[A-Z×]|\s")
"""What tells a text from the name of something, "host" or "ovs", where both may stand."""
ALWAYS = ("say", "Phrase", "of_number", "Field", "Number", "Template", "Drawn", "on_stage")
"""Calls whose arguments are texts even if they are one small word."""
PROFILES = ROOT / "linklab/engine/profiles.json"
UNITS = ("px", "ms", "Mbit/s")


def editor_words() -> dict[str, list[str]]:
    """Each text with the files that have it, in the order of the files."""
    found: dict[str, list[str]] = {}
    files = [path for path in _modules() if path.name not in NOT_SAID]
    for path in [*files, *(path for names in BESIDE for path in sorted((ROOT / "linklab").glob(names)))]:
        place = str(path.relative_to(ROOT))
        for text in words_of(path.read_text(encoding="utf-8")):
            if place not in found.setdefault(text, []):
                found[text].append(place)
    for text in _of_the_library():
        found.setdefault(text, []).append("linklab/experiment/library")
    found["English"] = ["linklab/windows/words.py"]
    for profile in json.loads(PROFILES.read_text(encoding="utf-8")).values():
        found[profile["words"]] = [str(PROFILES.relative_to(ROOT))]
    return found


@cache
def _of_the_library() -> list[str]:
    """What dialogs show of the named tests: their families and parameters; titles and paragraphs stay English."""
    entries = [entry for name in test_names() for entry in load_test(name).entries.parameters.values()]
    texts = [entry.text for entry in entries if entry.kind is not ParameterKind.REFUSED]
    return [text for text in dict.fromkeys([*FAMILIES.values(), *texts]) if LETTERS.search(text)]


def _modules() -> list[Path]:
    """Those of the windows, of one package after the other."""
    return [path for package in PACKAGES for path in sorted((ROOT / "linklab" / package).glob("*.py"))]


def words_of(source: str) -> list[str]:
    """The texts in one module, in the order in which they stand there."""
    tree = ast.parse(source)
    apart = {id(each) for node in ast.walk(tree) for each in _no_texts(node)}
    found: dict[int, ast.Constant] = {}
    for node in ast.walk(tree):
        literals: list[ast.Constant] = []
        if isinstance(node, ast.Call):
            literals = _shown(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(each, ast.Name) and each.id in HELD_BY for each in targets):
                literals = [each for each in _literals(node.value) if READ_AS_TEXT.search(each.value.strip())]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and TEMPLATE.search(node.value):
            literals = [node]
        found |= {id(each): each for each in literals if id(each) not in apart and LETTERS.search(each.value)}
    placed = sorted(found.values(), key=lambda each: (each.lineno, each.col_offset))
    return list(dict.fromkeys(str(each.value) for each in placed if each.value not in UNITS))


def _no_texts(node: ast.AST) -> list[ast.AST]:
    """Strings that no one is shown: documentation, and the pieces of a formatted string."""
    if isinstance(node, ast.Expr):
        return [node.value]
    return list(ast.walk(node)) if isinstance(node, ast.JoinedStr) else []


def _shown(call: ast.Call) -> list[ast.Constant]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name not in SHOWN_BY:
        return []
    given = [each for at, part in enumerate(call.args) if at in SHOWN_BY[name] for each in _literals(part)]
    named = [each for part in call.keywords if part.arg in KEYWORDS for each in _literals(part.value)]
    every = name in ALWAYS
    return [each for each in given if every or READ_AS_TEXT.search(each.value.strip())] + [
        each for each in named if READ_AS_TEXT.search(each.value.strip())
    ]


def _literals(part: ast.AST) -> list[ast.Constant]:
    """The strings in an expression, but not in what it calls or compares with."""
    if isinstance(part, ast.Constant):
        return [part] if isinstance(part.value, str) else []
    if isinstance(part, ast.Call | ast.Lambda | ast.JoinedStr | ast.Compare | ast.Subscript):
        return []
    return [each for child in ast.iter_child_nodes(part) for each in _literals(child)]
