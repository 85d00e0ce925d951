# SPDX-License-Identifier: BSD-3-Clause
"""Files of the editor: opening, saving, the drawing kept after a crash, recent files, the topologies of the labs.

Opening shows what is wrong instead of refusing it, as far as a file can be held at all. Nothing here opens a window.
Places: XDG Base Directory Specification (`$XDG_STATE_HOME/linklab`).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from linklab.base import files, installation, place
from linklab.errors import InputError
from linklab.topology import Topology

ENDING = ".mn"
LABS = installation.ROOT / "topologies"


def open_file(path: Path) -> Topology:
    """The topology of a file, faults and all.

    Raises:
        TopologyError: it cannot be held at all; the sentence says where and why.
    """
    return Topology.load(path, check=False)


def save_file(topology: Topology, path: Path) -> None:
    """Write the file whole, or leave what is there.

    Raises:
        InputError: it cannot be written; why, and that the drawing is still there.
    """
    try:
        topology.save(path)
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path} could not be saved: {why}. The drawing is unchanged; save it elsewhere.") from error


def fingerprint(path: Path) -> str | None:
    """What tells whether a file is the one that was read or written before; None where there is none to be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return None


def lab_files() -> list[tuple[int, Path]]:
    """The labs' topologies in order of their numbers."""
    found = [(int(m[1]), path) for path in LABS.glob("Lab *.mn") if (m := re.fullmatch(r"Lab (\d+)", path.stem))]
    return sorted(found)


def state_folder() -> Path:
    """Where the editor keeps what is no file of the person's."""
    return place.of_home("XDG_STATE_HOME", ".local/state")


@dataclass(frozen=True)
class Lost:
    """A drawing that an editor which ended badly left behind."""

    file: Path
    path: Path | None
    topology: Topology
    when: float


class Autosave:
    """Keeps the drawing of one editor; `done` at a proper end."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or state_folder() / "unsaved"
        self.file = self.folder / f"{os.getpid()}-{id(self):x}.json"
        self.failed: str | None = None

    def keep(self, topology: Topology, path: Path | None) -> None:
        """Write the drawing down; `failed` says why it could not."""
        data = {"path": str(path) if path else None, "when": time.time(), "pid": os.getpid(), "text": topology.dumps()}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            files.write(self.file, json.dumps(data), durable=True)
            self.failed = None
        except OSError as error:
            self.failed = error.strerror or str(error)

    def done(self) -> None:
        """Nothing is left to be rescued."""
        try:
            self.file.unlink(missing_ok=True)
        except OSError as error:
            self.failed = error.strerror or str(error)

    def lost(self) -> list[Lost]:
        """What editors that no longer run left behind, newest first."""
        found = []
        for file in self.folder.glob("*.json") if self.folder.is_dir() else ():
            try:
                data = json.loads(file.read_text())
                if _runs(int(data["pid"])):
                    continue
                path = Path(data["path"]) if data["path"] else None
                topology = Topology.loads(data["text"], str(path or "Untitled"), check=False)
                when = float(data["when"])
                if math.isfinite(when):
                    found.append(Lost(file, path, topology, when))
            except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError, InputError):
                continue  # half written, or by another version: nothing to offer
        return sorted(found, key=lambda lost: -lost.when)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def sets_environment(path: Path | None) -> bool:
    """Whether the file lies in the folder of a started exercise that has an environment to be set."""
    return path is not None and all((path.parent / name).is_file() for name in ("instance.json", "set_env.sh"))


def handout(path: Path | None) -> Path | None:
    """The handout of the exercise in whose folder the file lies; None where there is none."""
    page = path.parent / "handout.html" if path else None
    return page if page is not None and page.is_file() else None


def lab_number(path: Path | None) -> int | None:
    """The number of the lab whose topology a file is, by its name."""
    match = re.fullmatch(r"Lab (\d+)", path.stem) if path else None
    return int(match[1]) if match else None


def lab_title(number: int) -> str:
    """As the menu names a lab: "Lab 14: Router's bufferbloat", or the number alone where there is no manual yet."""
    for folder in (LABS.parent / "labs").glob(f"{number:02d}-*"):
        try:
            match = re.search(r'^title\s*=\s*"(.*)"', (folder / "lab.toml").read_text(), re.MULTILINE)
        except OSError:
            continue
        if match:
            return f"Lab {number}: {match[1]}"
    return f"Lab {number}"
