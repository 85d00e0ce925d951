#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a student's package holds in place of the whole exercises and answers, and a look for what it must not hold.

    python tools/student_files.py write FOLDER                 exercises/, problems/, labs/SLUG/answers.md, po/SLUG.*.po
    python tools/student_files.py check FILE.deb|FOLDER        exit 1 and a line for each thing of the instructor's

Called by `make build` and `make student-deb`. The first is made of `linklab.exercise.student_part`; the second reads
every file of the package, compressed ones too, and knows nothing of how the first works.
"""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from linklab.errors import LinklabError
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.exercise.model import Check
from linklab.exercise.student_part import student_part
from linklab.lab.model import lab_folders
from linklab.manual.predict import load_answers, predictions_alone

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("solution", "wrong", "template")
"""Names of folders of an exercise that are the instructor's; a template is one with its solution."""
FILES = ("key.md", "marks.toml")
LONG = 40
"""Letters of a line from which on it is unlikely to stand in another text by chance."""


def main(arguments: list[str]) -> int:
    """Do what the first argument says."""
    match arguments:
        case ["write", folder]:
            write(Path(folder))
            return 0
        case ["check", package]:
            return check(Path(package))
    print((__doc__ or "").split("\n\n")[1], file=sys.stderr)
    return 2


def write(out: Path) -> None:
    """Write the students' part of every exercise, and of every lab's answers."""
    for folder in exercise_folders(ROOT):
        for name, content in student_part(folder).items():
            path = out / folder.parent.name / folder.name / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for lab in lab_folders(ROOT):
        answers = lab.resolve() / "answers.md"
        if answers.is_file():
            path = out / "labs" / lab.name / "answers.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(predictions_alone(answers.read_text(encoding="utf-8")), encoding="utf-8")
            if load_answers(path).keys() != load_answers(answers).keys():
                raise LinklabError(f"{answers}: the students' part has other answers to predictions")
            for catalogue in (ROOT / "po").glob(f"{lab.name}.*.po"):
                told = _without_answers(catalogue.read_text(encoding="utf-8"), path.read_text(encoding="utf-8"))
                (out / "po").mkdir(exist_ok=True)
                (out / "po" / catalogue.name).write_text(told, encoding="utf-8")


def _without_answers(catalogue: str, shown: str) -> str:
    """A lab's catalogue without the entries of its answers.md that students are not shown."""
    blank = " ".join(shown.split())

    def is_kept(entry: str) -> bool:
        references = re.findall(r"^#: (.*)", entry, re.MULTILINE)
        if not references or not all(word.startswith("answers.md:") for line in references for word in line.split()):
            return True
        english = "".join(
            json.loads(line) for line in re.findall(r'^(?:msgid )?(".*")$', _english(entry), re.MULTILINE)
        )
        return " ".join(english.split()) in blank

    return "\n\n".join(filter(is_kept, catalogue.split("\n\n")))


def _english(entry: str) -> str:
    return entry[entry.index("msgid ") : entry.index("\nmsgstr")]


def check(package: Path) -> int:
    """Say what a package, or the folder it was unpacked into, holds of the instructor's; 0 if it holds nothing."""
    with tempfile.TemporaryDirectory() as name:
        root = package
        if package.is_file():
            root = Path(name)
            subprocess.run(["dpkg-deb", "-x", str(package), name], check=True)
        found = list(leaks(root))
        exercises = len(list(root.rglob("exercise.toml")))
    for line in found:
        print(f"{package}: {line}", file=sys.stderr)
    if not exercises:
        print(f"{package}: there is no exercise in it at all", file=sys.stderr)
        return 1
    if not found:
        print(f"{package}: {exercises} exercises, without the instructor's part")
    return 1 if found else 0


def leaks(root: Path) -> Iterator[str]:
    """A line for each file of the instructor's below a folder, and for each text of the instructor's in a file."""
    secrets = [(what, text.encode()) for what, text in _secrets()]
    for path in sorted(root.rglob("*")):
        inside = path.relative_to(root)
        if path.is_symlink() or not path.is_file():
            continue
        of_exercise = {"exercises", "problems"} & set(inside.parts)
        if path.name in FILES or (of_exercise and set(FOLDERS) & set(inside.parts)):
            yield f"{inside}: this file is the instructor's"
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        told = {what for what, text in secrets if text in content}
        yield from (f"{inside}: holds {what}" for what in sorted(told))


def _secrets() -> Iterator[tuple[str, str]]:
    """(what it is, text) of all that students must not get.

    A hidden check may be called as a visible one of another exercise is, and a hint names single commands of a
    solution; so the one is left out, and of the other the whole file is looked for.
    """
    exercises = [load_exercise(folder) for folder in exercise_folders(ROOT)]
    visible = {text for each in exercises for check in each.checks if not check.hidden for text in _words(check)}
    for exercise in exercises:
        for check in exercise.checks:
            texts = _words(check) if check.hidden else []
            yield from ((f"the hidden check {exercise.id}/{check.id}", text) for text in texts if text not in visible)
        for fault in exercise.faults:
            yield f"the key of the fault {exercise.id}/{fault.id}", fault.key
        for path in [*exercise.folder.glob("solution/*"), *exercise.folder.glob("wrong/*/*")]:
            if (whole := path.read_text(encoding="utf-8").strip()) and len(whole) >= LONG:
                yield str(path.relative_to(ROOT)), whole
        key = (exercise.folder / "key.md").read_text(encoding="utf-8")
        yield from ((f"the key of {exercise.id}", line) for line in _long_lines(key))
    for lab in lab_folders(ROOT):
        answers = lab.resolve() / "answers.md"
        if answers.is_file():
            text = answers.read_text(encoding="utf-8")
            shown = predictions_alone(text)
            what = f"an answer of labs/{lab.name}/answers.md"
            yield from ((what, line) for line in _long_lines(text) if line not in shown)


def _words(check: Check) -> tuple[str, str]:
    return check.title, check.why


def _long_lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if len(line.strip()) >= LONG)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
