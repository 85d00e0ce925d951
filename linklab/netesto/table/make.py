# SPDX-License-Identifier: BSD-3-Clause
"""A table script and its exp.csv → a page: what the verb `table`, and whoever makes pages by program, calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from linklab.netesto.lines import ScriptError, ScriptProblem
from linklab.netesto.table.document import TablePage
from linklab.netesto.table.session import TableSession


@dataclass(frozen=True)
class ScriptChoice:
    """What a person asks of a script.

    csv: read instead of the file that the script names.
    search: folders in which its files may lie, besides its own.
    variables: of `$name` in it.
    style: screen, print or grey, for plots for which the script asks for none.
    """

    csv: Path | None = None
    search: Sequence[Path] = ()
    variables: Mapping[str, str] | None = None
    style: str = ""


def document_of(script: Path, choice: ScriptChoice | None = None) -> TablePage:
    """Run the script and draw nothing yet.

    Raises:
        ScriptError: something in it cannot be done; it holds every problem.
        InputError: it cannot be read.
    """
    choice = choice or ScriptChoice()
    session = TableSession(script, choice.csv, choice.search, choice.variables or {}, choice.style)
    found = session.run()
    if session.problems:
        found_once = {ScriptProblem(error.at, error.what) for error in session.problems}
        raise ScriptError(sorted(found_once, key=lambda problem: (problem.where, problem.what)))
    return found


def table(script: Path, out: Path, choice: ScriptChoice | None = None) -> Sequence[Path]:
    """Write the page of a script, and the files beside it that it names; gives what was written, the page first.

    Raises:
        ScriptError: something in the script cannot be done; nothing is written then.
        InputError: the script cannot be read, or the page cannot be written.
    """
    from linklab.netesto.table.page import write_page  # noqa: PLC0415 - a check needs no templates

    written = write_page(document_of(script, choice), script, out)
    return [written.page, *written.files]
