# SPDX-License-Identifier: BSD-3-Clause
"""`linklab grade --harness NAME OUT.zip` makes what a platform takes; `--run-harness NAME` is what that runs there."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from linklab.base import installation
from linklab.base.files import write, write_asked
from linklab.errors import InputError, MissingError
from linklab.exercise.course import parse_course
from linklab.exercise.places import private_folders
from linklab.grade.accounts import readable
from linklab.grade.class_lists import exercise_named
from linklab.grade.harness import PLATFORMS, UploadParts, harness, read_folder
from linklab.grade.platform import (
    ASSIGNMENT,
    GRADESCOPE,
    INGINIOUS,
    counting,
    github_report,
    gradescope_metadata,
    gradescope_results,
    inginious_feedback,
    inginious_time,
    packed,
)

Grade = Callable[[Sequence[str]], int]


def make(args: argparse.Namespace) -> int:
    """Write the archive of --harness; 0 when it is written.

    Raises:
        InputError: an option is missing or does not fit.
    """
    platform, out = args.harness[0], Path(args.harness[1])
    if platform not in PLATFORMS:
        raise InputError(f'"{platform}" is no platform that is known; there are {", ".join(PLATFORMS)}')
    if args.submissions:
        raise InputError("--harness makes what grades later, so no submission goes with it")
    if args.package is None:
        which = "make student-deb" if platform == "github" else "make deb"
        raise InputError(f"--harness needs Linklab's package: --package FILE.deb ({which} builds it)")
    course = _content(args.course) if args.course else None
    name = parse_course(course, str(args.course)).name if course is not None else "Linklab"
    own = {folder.name: read_folder(folder) for folder in private_folders()}
    assignment = exercise_named(args.assignment, "--assignment") if args.assignment else ""
    content = harness(platform, UploadParts(_content(args.package), course, own, name, assignment))
    write_asked(out, content, private=course is not None)
    print(f"{out}: {len(content) / 1e6:.1f} MB for {platform}; docs/harness.md says where it goes")
    if platform != "github" and not assignment:
        print(f"{out}: takes a submission of any exercise for points; --assignment EXERCISE takes those of one alone")
    if course is not None:
        print(f"{out}: holds the course's secret; give it to nobody but the platform")
    return 0


def run_there(platform: str, grade: Grade) -> int:
    """Grade what the platform handed over, and tell it; 0 if it was told.

    Args:
        platform: one of PLATFORMS.
        grade: what `linklab grade` does with arguments.
    """
    if platform == "gradescope":
        return _gradescope(grade)
    return _inginious(grade) if platform == "inginious" else _github()


def _gradescope(grade: Grade) -> int:
    source = GRADESCOPE / "source"
    when = ""
    people: list[str] = []
    worth = None
    with contextlib.suppress(FileNotFoundError):
        when, people, worth = gradescope_metadata((GRADESCOPE / "submission_metadata.json").read_text(encoding="utf-8"))
    name, content = packed(GRADESCOPE / "submission")
    with _for_root_alone(GRADESCOPE):  # its metadata hold the results of earlier submissions, with hidden checks
        results = _graded(grade, source, name, content, when)
    whose = results["extra_data"]
    print(f"handed in by {', '.join(people) or 'nobody whom the platform names'}; the instance is of "
          f"{whose['student'] or whose['claims'] or 'nobody'}")  # fmt: skip
    full = whose["max_score"]
    if worth is not None and full and worth != full:
        told = f"the assignment is worth {worth:g} points there, and the exercise {full:g}"
        print(f"{told}: the score is in the points of the exercise, so set the assignment's autograder points to them")
    (GRADESCOPE / "results").mkdir(exist_ok=True)
    write(GRADESCOPE / "results/results.json", gradescope_results(results))
    return 0


@contextlib.contextmanager
def _for_root_alone(folder: Path) -> Iterator[None]:
    """Within the block, the student's commands read nothing in a folder of the platform's.

    Raises:
        MissingError: they could all the same.
    """
    before = stat.S_IMODE(folder.stat().st_mode)
    with contextlib.suppress(OSError):  # what cannot be closed is found to be open
        folder.chmod(0o700)
    try:
        if readable([folder]):
            raise MissingError(
                f"the student's commands could read {folder}, where the platform keeps what it knows of earlier "
                f"submissions, and root cannot close it: chmod 700 {folder}"
            )
        yield
    finally:
        with contextlib.suppress(OSError):
            folder.chmod(before)


def _inginious(grade: Grade) -> int:
    name = "submission.zip"
    content = subprocess.run(["getinput", "submission:value"], check=True, capture_output=True).stdout
    asked = subprocess.run(["getinput", "@time"], check=False, capture_output=True, text=True)
    course = INGINIOUS / "course.toml"
    zone = parse_course(_content(course), str(course)).zone if course.is_file() else None
    when = inginious_time(asked.stdout if asked.returncode == 0 else "", zoned=zone is not None)
    if not when:
        print("getinput @time does not say when this was handed in, or in which zone; no deadline holds")
    results = _graded(grade, INGINIOUS, name, content, when)
    full = results["extra_data"]["max_score"]
    state, share, text = inginious_feedback(results, full)
    subprocess.run(["feedback-result", state], check=True)
    if share is not None:
        subprocess.run(["feedback-grade", f"{share:g}"], check=True)
    subprocess.run(["feedback-msg"], input=text, text=True, check=True)
    return 0


def _github() -> int:
    found = sorted(Path().rglob("instance.json"))
    if len(found) != 1:
        what = "no folder that `linklab exercise start` made" if not found else "more than one such folder"
        raise InputError(f"{Path.cwd()}: holds {what}; a repository is of one exercise")
    command = installation.command("check", str(found[0].parent), "--work", "--json")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        return done.returncode
    lines, summary = github_report(json.loads(done.stdout))
    print("\n".join(lines))
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8") as file:
            file.write(summary)
    return done.returncode


def _graded(grade: Grade, secret: Path, name: str, content: bytes, when: str) -> Mapping[str, Any]:
    """What results.json of a submission holds, graded in this container, as it counts for the assignment.

    Args:
        grade: as in `run_there`.
        secret: folder of the course file, of exercises of the instructor's own, and of what the assignment is.
        name: of the file.
        content: of the file.
        when: it was handed in, ISO 8601, or "".
    """
    with tempfile.TemporaryDirectory(prefix="linklab-harness-") as place:
        path = Path(place) / Path(name).name
        path.write_bytes(content)
        arguments = [str(path), "--in-container", "--out", f"{place}/graded"]
        if (secret / "course.toml").is_file():
            arguments += ["--course", str(secret / "course.toml")]
        if (secret / "exercises").is_dir():
            arguments += ["--exercises", str(secret / "exercises")]
        if when:
            (Path(place) / "times.csv").write_text(f"file,time\n{path.name},{when}\n", encoding="utf-8")
            arguments += ["--times", f"{place}/times.csv"]
        log = io.StringIO()
        with contextlib.redirect_stdout(log):
            grade(arguments)
        print(log.getvalue())
        (found,) = Path(place).glob("graded/*/results.json")
        data = json.loads(found.read_text(encoding="utf-8"))
    assignment = secret / ASSIGNMENT
    wanted = assignment.read_text(encoding="utf-8").strip() if assignment.is_file() else ""
    return counting(data, wanted, issued=(secret / "course.toml").is_file())


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
