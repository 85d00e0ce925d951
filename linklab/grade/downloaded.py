# SPDX-License-Identifier: BSD-3-Clause
"""The names that Moodle and Canvas give to downloaded files, and whose file each is.

Only the beginning of a path counts, because a student may name what follows like a platform's folder.
Sources: Moodle's mod/assign/locallib.php, download_submissions; Canvas's lib/content_zipper.rb.
"""

from __future__ import annotations

import re

_FOLDER = re.compile(r"([^/]+)_\d+_assignsubmission_[^/_]+_?")
"""Moodle's for a student; the name may contain the same words, so the last match counts."""
_FILE = re.compile(r"([^/]+?)_\d+_assignsubmission_[^/]*")
"""Of Moodle's download without folders: the student's own name of the file follows, so the first match counts."""
_CANVAS = re.compile(r"([^\W_]+)_(?:LATE_)?\d+_\d+_[^/]*")
"""The name in small letters without blanks and signs, of any alphabet."""


def is_moodle_folder(folder: str) -> bool:
    """Whether a folder has a name that Moodle gives to a student's folder."""
    return bool(_FOLDER.fullmatch(folder))


def moodle_folder(label: str) -> str:
    """The first folder of a label if Moodle named it for a student, else ""."""
    folder, inside, _ = label.partition("/")
    return folder if inside and is_moodle_folder(folder) else ""


def handed_in_by(label: str) -> str:
    """Who handed a file in, from the name that Moodle or Canvas gave it on download; else the label."""
    folder, inside, _ = label.partition("/")
    if inside and (moodles := _FOLDER.fullmatch(folder)):
        return moodles[1]
    found = _CANVAS.fullmatch(label) or _FILE.fullmatch(label)
    return found[1] if found else label


def with_plain_folders(path: str) -> str:
    """The path, in which folders that are called as Moodle calls them have the student's name alone.

    It names results and proves nothing, so any folder of the path may be one.
    """
    return "/".join(found[1] if (found := _FOLDER.fullmatch(part)) else part for part in path.split("/"))
