# SPDX-License-Identifier: BSD-3-Clause
"""A file or folder in any supported format → a drawing, and back; the name decides the format."""

from __future__ import annotations

from pathlib import Path

from linklab.base import files
from linklab.errors import InputError
from linklab.exchange import containerlab, kathara, mininet_topo
from linklab.exchange.carried import Carried, Exported
from linklab.topology import Topology

MOST_BYTES = 4 << 20
KINDS = "a .mn file, a containerlab .yml, a Kathará folder with its lab.conf, or a .py for mn --custom"


def read(path: Path, topo: str = "") -> Carried:
    """The drawing of a file; a .mn keeps its faults.

    topo: which Topo of a .py, as `mn --topo` takes it.

    Raises:
        InputError: it cannot be read, or its format is not supported.
    """
    folder = path if path.is_dir() else path.parent if path.name == kathara.CONF else None
    try:
        if folder is not None:
            texts, others = _scenario(folder)
            return kathara.load(texts, folder.resolve().name, others)
        if path.suffix in containerlab.ENDINGS:
            return containerlab.load(_text(path), path.name.split(".")[0])
        if path.suffix == ".py":
            _text(path)
            return mininet_topo.load(path, topo)
        if path.suffix == ".mn":
            return Carried(Topology.load(path, check=False), ())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    raise InputError(f"{path}: not a network that Linklab can read; give {KINDS}")


def written(topology: Topology, path: Path) -> Exported:
    """The drawing in the format that the name of the file or folder decides.

    Raises:
        InputError: the drawing has faults, or Linklab does not write this format.
    """
    if path.suffix in containerlab.ENDINGS:
        found = containerlab.dump(topology, path.name.split(".")[0])
        (text,) = found.files.values()
        return Exported({path.name: text}, found.notes)
    if path.suffix == ".mn":
        return Exported({path.name: topology.dumps()}, ())
    if not path.suffix and (path.is_dir() or not path.exists()):
        return kathara.dump(topology, path.name)
    raise InputError(f"{path}: cannot be written; give a .mn, a .yml for containerlab, or a folder for Kathará")


def save(topology: Topology, path: Path) -> tuple[str, ...]:
    """Write the drawing; return a sentence for each thing that was not carried over.

    Raises:
        InputError: as `written`, or the file or folder cannot be written.
    """
    found = written(topology, path)
    folder = path.parent if path.name in found.files else path
    try:
        if folder is path:
            path.mkdir(exist_ok=True)
            others = sorted(other.name for other in path.iterdir() if other.name not in found.files)
            if others and not (path / kathara.CONF).is_file():
                raise InputError(f"{path}: holds {others[0]} and is not a Kathará scenario; name another folder")
        for name, text in found.files.items():
            files.write(folder / name, text)
    except OSError as error:
        raise InputError(f"{path}: could not be written: {error.strerror}") from error
    return found.notes


def _scenario(folder: Path) -> tuple[dict[str, str], list[str]]:
    """lab.conf and the startup files of a folder, text by name, and the names of what else is there."""
    if not (folder / kathara.CONF).is_file():
        raise InputError(f"{folder}: not a Kathará scenario: it has no {kathara.CONF}")
    found = {path.name: _text(path) for path in sorted(folder.glob(f"*{kathara.STARTUP}"))}
    others = sorted(
        f"{path.name}/" if path.is_dir() else path.name
        for path in folder.iterdir()
        if path.name not in (kathara.CONF, *found) and not path.name.startswith(".")
    )
    return {kathara.CONF: _text(folder / kathara.CONF), **found}, others


def _text(path: Path) -> str:
    if path.stat().st_size > MOST_BYTES:
        raise InputError(f"{path}: is larger than {MOST_BYTES >> 20} MiB")
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not valid UTF-8") from error
