# SPDX-License-Identifier: BSD-3-Clause
"""A student's working folder: what `linklab exercise start` puts into it, and what `linklab submit` takes out of it.

Pure but for reading and writing that folder.  Nothing of the student's is ever overwritten.
"""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from linklab.errors import InputError
from linklab.exercise.answers import template
from linklab.exercise.fill import fill
from linklab.exercise.handout import handout_html, topology_name
from linklab.exercise.instance import decode_environment, instance_text, parse_instance, quantities
from linklab.exercise.model import Exercise, Instance
from linklab.exercise.terminals import last_network, work_script

SCRIPT = Path(__file__).resolve().parent / "set_env.sh"
MOST_FILES = 300
MOST_LOG_BYTES = 2**21
MOST_NAME = 180
MOST_BYTES = 30 * 2**20
"""Of results; of a log; of a name: a bundle holds 500 files, 50 MiB, texts of 2 MiB (`linklab.exercise.bundle`)."""

_OURS = frozenset({"instance.json", "set_env.sh", "handout.html", "handout.pdf", "answers.toml", "work.sh"})
_SKIPPED_ENDS = (".zip", ".mn", ".pyc")


def folder_name(exercise: Exercise) -> str:
    """The name of the folder: "exercise-3"."""
    return f"{exercise.kind}-{exercise.number}"


def start(folder: Path, exercise: Exercise, instance: Instance, text: str = "") -> bool:
    """Make the folder, or find it made already.

    Args:
        folder: where.
        exercise: its files are copied from the exercise's folder.
        instance: whose values are filled in.
        text: of the instance's file, as it was sent; "" writes it.

    Returns:
        Whether it was made; False if it holds this instance already, and is left as it is.

    Raises:
        InputError: it holds something else, or cannot be written.
    """
    text = text or instance_text(exercise, instance)
    own = folder / "instance.json"
    if own.is_file():
        there = parse_instance(own.read_text(encoding="utf-8"), str(own))
        if there == parse_instance(text, "the instance"):
            return False
        raise InputError(
            f"{folder}: {there.exercise} of {there.student} was started here; give another folder with --folder"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: there is something in it already; give another folder with --folder")
    files: dict[str, bytes] = {
        topology_name(exercise): (exercise.folder / exercise.topology).read_bytes() if exercise.topology else b"",
        "handout.html": handout_html(exercise, instance).encode(),
        "answers.toml": fill(template(exercise), quantities(exercise, instance)).encode() if exercise.answers else b"",
        "set_env.sh": SCRIPT.read_bytes() if _environment(text) else b"",
        "instance.json": text.encode(),  # the last: with it the folder is a started one
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            if content:
                (folder / name).write_bytes(content)
        if files["set_env.sh"]:
            (folder / "set_env.sh").chmod(0o755)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written: {error.strerror}") from error
    return True


def environment_files(exercise: Exercise, instance: Instance) -> dict[str, str]:
    """The files of a started exercise that `sudo ./set_env.sh` needs, by name; none where it has no environment."""
    text = instance_text(exercise, instance)
    return {"set_env.sh": SCRIPT.read_text(encoding="utf-8"), "instance.json": text} if _environment(text) else {}


def _environment(text: str) -> list[tuple[str, str, str]]:
    return decode_environment(str(json.loads(text).get("environment", "")))


@dataclass
class Collected:
    """Files for a bundle: path in it → content; which of the results are programs; sentences on what was left out.

    places: path in the bundle → path in the folder, of results whose own folder there is called results.
    """

    results: dict[str, bytes] = field(default_factory=dict)
    terminals: dict[str, bytes] = field(default_factory=dict)
    executable: list[str] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def collect(folder: Path, skip: Sequence[Path] = (), ours: Collection[str] = _OURS) -> Collected:
    """Result files and recorded terminals of a folder.

    Result files are all that the student made, below `results/`; hidden files, links and programs' caches are not.

    ours: names of files in the folder that the student did not make.
    """
    found = Collected()
    budget = MOST_BYTES
    left_out: list[str] = []
    skipped = {path.resolve() for path in skip}
    for path in _files(folder):
        inside = path.relative_to(folder)
        if str(inside) in ours or path.suffix in _SKIPPED_ENDS or path.resolve() in skipped:
            continue
        size = path.stat().st_size
        is_log = inside.parts[0] == "terminals" and len(inside.parts) == 2 and path.suffix == ".log"
        fits = size <= min(budget, MOST_LOG_BYTES if is_log else budget) and len(str(inside)) <= MOST_NAME
        if not fits or len(found.results) + len(found.terminals) >= MOST_FILES or not str(inside).isprintable():
            left_out.append(f"{ascii(str(inside))[1:-1][:60]} ({size / 1e6:.1f} MB)")
            continue
        budget -= size
        if is_log:
            found.terminals[str(inside)] = path.read_bytes()
        else:
            name = str(inside) if inside.parts[0] == "results" else f"results/{inside}"
            name = name if name not in found.results else f"results/other/{inside}"
            while name in found.results:
                name = f"results/other/{name.removeprefix('results/')}"
            found.results[name] = path.read_bytes()
            found.places |= {name: str(inside)} if name != f"results/{inside}" else {}
            found.executable += [name] if path.stat().st_mode & stat.S_IXUSR else []
    if left_out:
        more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
        found.notes.append(f"left out, since there is no room for them: {', '.join(left_out[:5])}{more}")
    return found


def repeated(folder: Path, nodes: Sequence[str], shaped: Sequence[tuple[str, str]]) -> tuple[str, list[str]]:
    """What configured the network, from the recorded terminals, as a work.sh; and sentences on it.

    Raises:
        InputError: nothing was recorded, or nothing of it configures a network.
    """
    script, notes = work_script(last_network(recorded_logs(folder)), nodes, shaped)
    if not re.search(r"^[^#\s]", script, re.MULTILINE):
        raise InputError(f"{folder}/terminals: no command was recorded there that configures a network")
    return script, notes


def recorded_logs(folder: Path) -> dict[str, str]:
    """The recorded terminals of a folder: node → text of its log."""
    logs = sorted(path for path in (folder / "terminals").glob("*.log") if path.is_file() and not path.is_symlink())
    return {path.stem: path.read_text(encoding="utf-8", errors="replace") for path in logs}


def _files(folder: Path) -> list[Path]:
    found = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        for name in sorted(names):
            path = Path(where, name)
            if not name.startswith(".") and stat.S_ISREG(path.lstat().st_mode):
                found.append(path)
    return found
