# SPDX-License-Identifier: BSD-3-Clause
"""docs/fidelity.md: what the original series reported beside what the recorded runs gave, lab by lab.

Made from lab.toml, reference/ and, for what needs words, a lab's own fidelity.md; nothing in it is typed by hand.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from linklab.base import files, installation
from linklab.errors import LabError, LinklabError
from linklab.judge.expectation import ExpectationVerdict
from linklab.lab.model import Lab, lab_folders, load_lab
from linklab.lab.reference import Reference, judged, load_reference

PATH = installation.ROOT / "docs" / "fidelity.md"

_HEAD = """# Fidelity

What the original series reported, what the recorded run of each lab gave, and what is expected of any run.
The expected range comes from theory or from the spread over several seeds (how many stands in the reason), never from the series; its reason is the `why` in the lab's `lab.toml`.
Where ours and the series differ, the notes below the table say why and name a run that shows the cause.

Written by `linklab fidelity --write` from `labs/*/lab.toml`, `labs/*/reference/` and `labs/*/fidelity.md`; edit those.
"""  # noqa: E501 - a sentence a line


def fidelity_text(labs: Sequence[Lab]) -> str:
    """The whole file.

    Raises:
        LabError: a reference or a fidelity.md is there and cannot be read.
    """
    return "\n".join([_HEAD, *(_chapter(lab) for lab in labs)])


def readable_labs() -> list[Lab]:
    """The labs that can be read; the others are named by `linklab labs --check`."""
    labs = []
    for folder in lab_folders():
        try:
            lab = load_lab(folder)
            load_reference(lab)
        except LinklabError:
            continue
        labs.append(lab)
    return labs


def write_fidelity(path: Path = PATH) -> bool:
    """Renew the file; whether anything changed."""
    text = fidelity_text(readable_labs())
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    files.write(path, text)
    return True


def check_fidelity(path: Path = PATH) -> None:
    """Whether the file is what the references give.

    Raises:
        LabError: it is missing or differs, with its first line that does.
    """
    wanted = fidelity_text(readable_labs()).splitlines()
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    if lines != wanted:
        same = next((n for n, (a, b) in enumerate(zip(lines, wanted, strict=False)) if a != b), len(lines))
        where = f"{os.path.relpath(path)}:{same + 1}"
        raise LabError(f"{where}: is not what the references give; renew it with linklab fidelity --write")


def _chapter(lab: Lab) -> str:
    reference = load_reference(lab)
    parts = [f"## {lab.heading}", "", _source(reference), ""]
    if reference and lab.expectations:
        parts += ["| what | series reported | ours | expected | verdict |", "|---|---|---|---|---|"]
        parts += [_row(verdict) for verdict in judged(lab, reference)] + [""]
    notes = lab.folder / "fidelity.md"
    if notes.is_file():
        try:
            parts += [notes.read_text(encoding="utf-8").strip(), ""]
        except (OSError, UnicodeDecodeError) as error:
            raise LabError(f"{notes}: cannot be read: {error}") from error
    return "\n".join(parts)


def _source(reference: Reference | None) -> str:
    if reference is None:
        return "Not recorded yet."
    data, environment = reference.data, reference.data["environment"]
    tools = environment.get("tools", {})
    made = [f"seed {data['seed']}", f"{data['clock']} clock", f"profile {data['profile']}"]
    made += [f"Linux {environment['kernel']}"] if "kernel" in environment else []
    made += [tools["iperf3"].partition(" (")[0]] if "iperf3" in tools else []
    return f"Ours: {', '.join(made)}."


def _row(verdict: ExpectationVerdict) -> str:
    expectation = verdict.expectation
    if expectation.relation:
        what = f"`{expectation.relation}`"
    elif expectation.shows:
        what = f"{expectation.step}: shows `{expectation.shows.pattern}`"
    else:
        what = f"{expectation.step}: {expectation.what}"
    measured = " ".join(verdict.seen.split()) or "–"
    cells = (what, expectation.series or "–", measured, verdict.expected, verdict.outcome.value)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
