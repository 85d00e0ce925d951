# SPDX-License-Identifier: BSD-3-Clause
"""A file or folder of any kind that we know → a drawing, and back; the kind is told by the name."""

from __future__ import annotations

from pathlib import Path

from linklab.base import files
from linklab.errors import InputError
from linklab.exchange import containerlab, kathara, mininet_topo
from linklab.exchange.carried import Carried, Exported
from linklab.topology import Topology

MOST_BYTES = 4 << 20
KINDS = "a .mn, a .yml of containerlab, a folder of Kathará's with its lab.conf, or a .py for mn --custom"


def read(path: Path, topo: str = "") -> Carried:
    """The drawing of a file; faults of a .mn are left in it.

    topo: which Topo of a .py, as `mn --topo` takes it.

    Raises:
        InputError: it cannot be read, or is of no kind that we know.
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
    raise InputError(f"{path}: no kind of network that I know; give {KINDS}")


def written(topology: Topology, path: Path) -> Exported:
    """What a drawing is there, by the name of the file or folder to be written.

    Raises:
        InputError: the drawing has faults, or the name is of no kind that we write.
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
    """Write it; what is not carried over, a sentence each.

    Raises:
        InputError: as `written`, or there is no writing there.
    """
    found = written(topology, path)
    folder = path.parent if path.name in found.files else path
    try:
        if folder is path:
            path.mkdir(exist_ok=True)
            others = sorted(other.name for other in path.iterdir() if other.name not in found.files)
            if others and not (path / kathara.CONF).is_file():
                raise InputError(f"{path}: holds {others[0]} and is no scenario of Kathará's; name another folder")
        for name, text in found.files.items():
            files.write(folder / name, text)
    except OSError as error:
        raise InputError(f"{path}: could not be written: {error.strerror}") from error
    return found.notes


def _scenario(folder: Path) -> tuple[dict[str, str], list[str]]:
    """lab.conf and the startup files of a folder, text by name, and the names of what else is there."""
    if not (folder / kathara.CONF).is_file():
        raise InputError(f"{folder}: no scenario of Kathará's: there is no {kathara.CONF}")
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
        raise InputError(f"{path}: byte {error.start} is no UTF-8 text") from error
