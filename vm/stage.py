# SPDX-License-Identifier: BSD-3-Clause
"""vm/files/, topologies, practice exercises and manuals → a tar that is unpacked over the image.

Called by `vm/build.py`. Owners, modes and times are set here and not taken from the clone, so that every clone makes
the same tar: root's, but for what is in admin's home.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from linklab.exercise.load import exercise_folders

ROOT = Path(__file__).resolve().parent.parent
HOME = "home/admin"
ADMIN = 1000
"""The first user's number (adduser.conf, FIRST_UID); vm/customize.sh gives it to admin."""
MANUALS = "usr/local/share/linklab/manuals"


def write_stage(tar_file: Path, manuals: Path, epoch: int) -> None:
    """Write the tar; every file of it has the date `epoch`, seconds since 1970."""
    with tempfile.TemporaryDirectory(dir=tar_file.parent, prefix="stage-") as folder:
        files = _files(ROOT / "vm/files", "")
        files |= _files(ROOT / "topologies", f"{HOME}/lab_topologies")
        files |= _files(manuals, MANUALS)
        for exercise in exercise_folders():
            files |= _practice(exercise, Path(folder))
        with tarfile.open(tar_file, "w", format=tarfile.PAX_FORMAT) as tar:
            pack(tar, files, epoch)


def _files(folder: Path, where: str) -> dict[str, Path]:
    """The files below a folder, by the name that they get in the image."""
    return {
        f"{where}/{file.relative_to(folder).as_posix()}".lstrip("/"): file
        for file in folder.rglob("*")
        if file.is_file()
    }


def _practice(exercise: Path, scratch: Path) -> dict[str, Path]:
    """A practice folder as a student makes one: ~/NTP_Exercises/Exercise3, ~/NTP_Problems/Problem1."""
    kind = exercise.parent.name.removesuffix("s")  # "exercise" or "problem"
    number = exercise.name.partition("-")[0]
    name = f"{kind.capitalize()}{number}"
    folder = scratch / name
    command = [sys.executable, "-m", "linklab", "exercise", "start", f"{kind}{number}"]
    subprocess.run(
        [*command, "--no-editor", "--pdf", "--folder", str(folder)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    return _files(folder, f"{HOME}/NTP_{kind.capitalize()}s/{name}")


def pack(tar: tarfile.TarFile, files: dict[str, Path], epoch: int) -> None:
    """Pack files by the names they get, with the folders above them."""
    folders = {str(parent) for name in files for parent in Path(name).parents if str(parent) != "."}
    for name in sorted(folders | set(files)):
        member = tarfile.TarInfo(name)
        member.mtime = epoch
        if name == HOME or name.startswith(f"{HOME}/"):
            member.uid = member.gid = ADMIN
        if name not in files:
            member.type, member.mode = tarfile.DIRTYPE, 0o755
            tar.addfile(member)
            continue
        data = files[name].read_bytes()
        member.size = len(data)
        member.mode = 0o755 if os.access(files[name], os.X_OK) else 0o644
        tar.addfile(member, io.BytesIO(data))
