# SPDX-License-Identifier: BSD-3-Clause
"""What a platform hands a grading container → a submission's file and when it came; a result → what the platform reads.

The places and forms are the platforms' own (docs/harness.md).  What students must not learn is left out here: on a
platform they see more than on a page of ours.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import json
import os
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from linklab.base.text import one_line
from linklab.errors import InputError
from linklab.exercise.bundle import MAX_BYTES
from linklab.exercise.instance import is_practice
from linklab.grade.handed_in import DEEPEST

GRADESCOPE = Path("/autograder")
INGINIOUS = Path("/opt/linklab-course")
ASSIGNMENT = "assignment"
"""File beside the course file with the id of the exercise that the platform's assignment is."""
_MOST_FILES = 1000
_PLAIN = re.compile(r"\w[\w.@+-]{0,99}\.zip", re.ASCII | re.IGNORECASE)


def packed(folder: Path) -> tuple[str, bytes]:
    """The submission in a platform's folder: the one .zip in it, or a .zip of what a platform unpacked there.

    Returns:
        Its name and its bytes; of an empty folder an archive of nothing, which the grader refuses with a reason, and of
        more than a submission may hold as much as it needs to refuse that.
        The name is the student's, so one that a list of times would not hold as it is becomes "submission.zip".
    """
    found = []
    for where, folders, names in os.walk(folder):
        found += [Path(where, name) for name in names]
        if len(Path(where).relative_to(folder).parts) == DEEPEST:
            folders.clear()
    files = [path for path in sorted(found)[:_MOST_FILES] if path.is_file() and not path.is_symlink()]
    if len(files) == 1 and files[0].suffix.casefold() == ".zip":
        name = files[0].name
        return name if _PLAIN.fullmatch(name) else "submission.zip", _start(files[0], MAX_BYTES + 1)
    made, room = io.BytesIO(), MAX_BYTES + 1
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in files:
            name = os.fsencode(path.relative_to(folder)).decode("utf-8", "replace")
            content = _start(path, room)
            room -= len(content)
            archive.writestr(zipfile.ZipInfo(name), content)
    return "submission.zip", made.getvalue()


def _start(path: Path, most: int) -> bytes:
    """A file's first bytes, at most that many: what was unpacked may be a thousand times what was handed in."""
    with path.open("rb") as file:
        return file.read(most)


def gradescope_metadata(text: str) -> tuple[str, list[str], float | None]:
    """When a submission came, ISO 8601, who handed it in, and the points of the assignment, if it names them.

    From submission_metadata.json.

    Raises:
        InputError: it does not say so in the form that is documented.
    """
    try:
        data = json.loads(text)
        when = dt.datetime.fromisoformat(str(data["created_at"]).replace("Z", "+00:00"))
        if when.tzinfo is None:
            raise ValueError("the time has no offset")
        people = [f"{user.get('name') or ''} <{user.get('email') or ''}>" for user in data.get("users") or []]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"submission_metadata.json does not say when the submission came: {error}") from error
    full = None
    with contextlib.suppress(ValueError, KeyError, TypeError):  # nothing rests on it
        full = float(data["assignment"]["total_points"])
    return when.isoformat(), [one_line(each) for each in people], full


def inginious_time(said: str, *, zoned: bool) -> str:
    """What `getinput @time` printed, as a list of times takes it; "" where this INGInious does not say it.

    Python's str of a datetime, with an offset in newer versions (frontend/submission_manager.py).

    Args:
        said: the output.
        zoned: whether the course file has a zone, in which a time without an offset is read.
    """
    try:
        when = dt.datetime.fromisoformat(said.strip())
    except ValueError:
        return ""
    return when.isoformat(timespec="seconds") if zoned or when.tzinfo is not None else ""


def counting(results: Mapping[str, Any], assignment: str, *, issued: bool) -> Mapping[str, Any]:
    """A result as it counts on a platform, where the assignment is one exercise and each student has an own instance.

    Args:
        results: what results.json holds.
        assignment: id of the exercise, the problem, or the lab that the assignment is; "" where any counts.
        issued: whether there is a course, so that work on the public practice instance is nobody's.

    Returns:
        The same, or one without points and checks that says why.
    """
    report = results["extra_data"]
    if assignment and report["exercise"] not in ("", assignment):
        why = (
            f"This assignment is {assignment}, and what was handed in is of {report['exercise']}: hand in {assignment}."
        )
    elif issued and is_practice(report["student"]):
        why = (
            "This was done on the public practice instance, which is nobody's, so it earns no points: "
            "start the exercise with the instance that was made for you, and hand that in."
        )
    else:
        return results
    return {**results, "output": why, "score": 0.0, "tests": []}


def gradescope_results(results: Mapping[str, Any]) -> str:
    """results.json as Gradescope gets it: without what only the instructor's own copy may hold."""
    shown = {key: value for key, value in results.items() if key != "extra_data"}
    shown["tests"] = [
        {key: value for key, value in test.items() if key != "extra_data"} for test in results.get("tests", [])
    ]
    if "tests" not in results:
        del shown["tests"]
    return json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def inginious_feedback(results: Mapping[str, Any], full: float) -> tuple[str, float | None, str]:
    """A result as INGInious's commands take it.

    Args:
        results: what results.json holds.
        full: the full points.

    Returns:
        The state ("success", "failed", or "crash" where our tool broke), the grade in percent (None for a crash), and
        the text for the student, in reStructuredText.
    """
    lines = [str(results["output"]), ""]
    for test in results.get("tests", []):
        if test["visibility"] == "visible":
            lines += [f"{test['status']}: {test['name']} ({test['score']:g} of {test['max_score']:g} points)"]
            lines += [f"    {line}" for line in str(test["output"]).splitlines()] + [""]
    text = "::\n\n" + "\n".join(f"    {line}" for line in "\n".join(lines).rstrip().splitlines()) + "\n"
    if "score" not in results:
        return "crash", None, text
    share = 100 * results["score"] / full if full else 0.0
    return ("success" if full and results["score"] >= full else "failed"), round(share, 2), text


def github_report(report: Mapping[str, Any]) -> tuple[list[str], str]:
    """A report of `linklab check --json` for GitHub Actions.

    Returns:
        Lines for the log, of which the workflow commands become annotations of the run, and a summary in Markdown.
    """
    checks = report["checks"]
    score, full = sum(each["score"] for each in checks), sum(each["max_score"] for each in checks)
    lines = [f"{each['outcome']}: {each['title']} ({each['score']:g} of {each['max_score']:g})" for each in checks]
    total = json.dumps({"totalPoints": score, "maxPoints": full})
    lines += [f"::notice title=Autograding complete::Points {score:g}/{full:g}"]
    lines += [f"::notice title=Autograding report::{total}"]
    rows = [
        f"| {_cell(each['title'])} | {each['outcome']} | {each['score']:g} / {each['max_score']:g} |" for each in checks
    ]
    hidden = report["hidden"]
    count, worth = hidden["checks"], f"worth {hidden['points']:g} points"
    told = f"{count} hidden check, {worth}, is" if count == 1 else f"{count} hidden checks, {worth}, are"
    more = [f"\n{told} judged when you hand in.\n"]
    head = [f"### {_cell(report['heading'])}: {score:g} of {full:g} points of the visible checks\n"]
    table = ["| Check | Outcome | Points |", "|---|---|---|", *rows]
    return lines, "\n".join([*head, *table, *(more if hidden["checks"] else []), ""])


def _cell(text: str) -> str:
    """Text that stays text in a table of Markdown."""
    return "".join(f"&#{ord(each)};" if each in "|<>&`*_[]\\" else each for each in one_line(text))
