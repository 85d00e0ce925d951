# SPDX-License-Identifier: BSD-3-Clause
"""A platform, Linklab's package, and a course → a .zip that is uploaded to the platform and grades there.

What stands in it is in `platforms/` beside this module; what it does there is `linklab.grade.platform`.  The same input
gives the same bytes.  Formats: docs/harness.md names each platform's documentation.
"""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from linklab.base import toml
from linklab.errors import InputError
from linklab.grade.platform import ASSIGNMENT

PLATFORMS = ("gradescope", "inginious", "github")
STUDENTS = "linklab-student"
_HERE = Path(__file__).parent / "platforms"
_DATE = (1980, 1, 1, 0, 0, 0)
_PROGRAM, _FILE = 0o755, 0o644
_PLACES = re.compile(r"^exercises\s*=\s*\[[^\]]*\][^\n]*\n?", re.MULTILINE)
_AR = b"!<arch>\n"
_AR_HEAD = 60


@dataclass(frozen=True)
class UploadParts:
    """What goes into a harness.

    package: the Debian package's bytes; course: those of the course file, or None.
    exercises: folder's name → files of an exercise of the instructor's own.
    title: of the task, where the platform has one.
    assignment: id of the exercise that alone counts there, "" where any does.
    """

    package: bytes
    course: bytes | None = None
    exercises: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    title: str = "Linklab"
    assignment: str = ""


def harness(platform: str, parts: UploadParts) -> bytes:
    """The archive's bytes.

    Raises:
        InputError: the package is none of Linklab's, or the wrong one of the two for this platform.
    """
    name = package_name(parts.package)
    if platform == "github":
        if name != STUDENTS:
            raise InputError(
                f"the package is {name}: on GitHub students can read what is in their repository, so it must be "
                f"{STUDENTS} (make student-deb)"
            )
        if parts.assignment:
            raise InputError("--assignment goes with gradescope and inginious: on GitHub nothing is a mark")
        if parts.course is not None or parts.exercises:
            raise InputError(
                "on GitHub students can read what is in their repository: --course and --exercises stay with you"
            )
        files = {".github/linklab/linklab-student.deb": parts.package}
        return _archive({".github/workflows/classroom.yml": _template("github", "classroom.yml"), **files})
    if name != "linklab":
        raise InputError(f"the package is {name}: grading needs the whole one, linklab (make deb)")
    secret = _secret(parts)
    if platform == "gradescope":
        files = {file: _template("gradescope", file) for file in ("setup.sh", "run_autograder")}
        return _archive({**files, "linklab.deb": parts.package, **secret})
    title = parts.title.replace("\\", "\\\\").replace('"', '\\"').encode()
    return _archive(
        {
            "task/task.yaml": _template("inginious", "task.yaml").replace(b"@TITLE@", title),
            "task/run": _template("inginious", "run"),
            "environment/Dockerfile": _template("inginious", "Dockerfile"),
            "environment/linklab.deb": parts.package,
            "environment/secret/.keep": b"",
            **{f"environment/secret/{file}": content for file, content in secret.items()},
        }
    )


def read_folder(folder: Path) -> dict[str, bytes]:
    """The plain files of an exercise's folder, by their path in it; InputError if one cannot be read."""
    try:
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
    except OSError as error:
        raise InputError(f"{error.filename}: cannot be read: {error.strerror}") from error


def package_name(content: bytes) -> str:
    """The name of a Debian package, from its bytes (deb(5)).

    Raises:
        InputError: they are no package.
    """
    try:
        return _name(content)
    except (KeyError, ValueError, IndexError, EOFError, tarfile.TarError, OSError) as error:
        raise InputError(f"--package is no Debian package ({error}); make deb builds one") from error


def _name(content: bytes) -> str:
    if not content.startswith(_AR):
        raise ValueError("it does not begin as one")
    members = dict(_members(content))
    control = next((data for name, data in members.items() if name.startswith("control.tar")), None)
    if control is None or not any(name.startswith("data.tar") for name in members):
        raise ValueError("it is not whole")  # as while dpkg-deb still writes it
    with tarfile.open(fileobj=io.BytesIO(control)) as archive:
        file = archive.extractfile("./control")
        lines = file.read().decode().splitlines() if file else []
    return {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines}["Package"]


def _members(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each member of an archive of ar(5), as deb(5) has them; ValueError if the last is cut off."""
    at = len(_AR)
    while at < len(content):
        head = content[at : at + _AR_HEAD]
        size = int(head[48:58])
        data = content[at + _AR_HEAD : at + _AR_HEAD + size]
        if len(data) < size:
            raise ValueError("it is cut off")
        yield head[:16].decode().strip(), data
        at += _AR_HEAD + size + size % 2


def _secret(parts: UploadParts) -> dict[str, bytes]:
    """What is for root alone there."""
    files = {} if parts.course is None else {"course.toml": without_places(parts.course)}
    for folder, contents in parts.exercises.items():
        files |= {f"exercises/{folder}/{name}": content for name, content in contents.items()}
    if parts.assignment:
        files[ASSIGNMENT] = f"{parts.assignment}\n".encode()
    return files


def without_places(course: bytes) -> bytes:
    """The course file without its `exercises`, which are paths of the instructor's machine.

    Raises:
        InputError: the key stands where it cannot be found.
    """
    text = _PLACES.sub("", course.decode())
    if "exercises" in toml.loads(text):
        raise InputError('the course file: write exercises = ["…"] on lines of its own, to be left out there')
    return text.encode()


def _template(platform: str, name: str) -> bytes:
    return (_HERE / platform / name).read_bytes()


def _archive(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # 3 is Unix
            entry.external_attr = (0o100000 | (_PROGRAM if files[name].startswith(b"#!") else _FILE)) << 16
            archive.writestr(entry, files[name])
    return packed.getvalue()
