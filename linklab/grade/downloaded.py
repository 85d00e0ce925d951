# SPDX-License-Identifier: BSD-3-Clause
"""What Moodle and Canvas call the files of a class on download, and whose a file is by that.

Only the beginning of a path counts: what follows a platform's words is the student's own, and may be called as a
platform would call it.  Sources: Moodle's mod/assign/locallib.php, download_submissions; Canvas's
lib/content_zipper.rb.
"""

from __future__ import annotations

import re

_FOLDER = re.compile(r"([^/]+)_\d+_assignsubmission_[^/_]+_?")
"""Moodle's for a student; the name may contain the same words, so the last match counts."""
_FILE = re.compile(r"([^/]+?)_\d+_assignsubmission_[^/]*")
"""Of Moodle's download without folders: the student's own name of the file follows, so the first match counts."""
_CANVAS = re.compile(r"([^\W_]+)_(?:LATE_)?\d+_\d+_[^/]*")
"""The name in small letters without blanks and signs, of any alphabet."""


def is_moodles(folder: str) -> bool:
    """Whether Moodle names a student's folder like that."""
    return bool(_FOLDER.fullmatch(folder))


def moodles_folder(label: str) -> str:
    """The folder that Moodle named for a student, in which a file lies; "" if it lies in none."""
    folder, inside, _ = label.partition("/")
    return folder if inside and is_moodles(folder) else ""


def handed_in_by(label: str) -> str:
    """Who handed a file in, from the name that Moodle or Canvas gave it on download; else the label."""
    if folder := _FOLDER.fullmatch(moodles_folder(label)):
        return folder[1]
    found = _CANVAS.fullmatch(label) or _FILE.fullmatch(label)
    return found[1] if found else label


def without_moodles_number(path: str) -> str:
    """A path with nothing but the student's name of a folder that Moodle named at its beginning."""
    folder, inside, rest = path.partition("/")
    found = _FOLDER.fullmatch(folder)
    return f"{found[1]}{inside}{rest}" if found else path
