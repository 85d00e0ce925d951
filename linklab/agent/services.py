# SPDX-License-Identifier: BSD-3-Clause
"""Makes the folders below /run that daemons expect, as systemd would before it starts them.

The agent calls `make_folders` once per pocket, whose /run is an empty file system.
Each daemon's package says what it expects: tmpfiles.d(5), and RuntimeDirectory= of systemd.exec(5).
"""

from __future__ import annotations

import configparser
import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN = Path("/run")
TMPFILES = ("/usr/lib/tmpfiles.d", "/etc/tmpfiles.d")
UNITS = ("/lib/systemd/system", "/usr/lib/systemd/system", "/etc/systemd/system")
MAKES_A_FOLDER = ("d", "D")
ALWAYS = {"lock": 0o1777, "sshd": 0o755, "dbus": 0o755, "user": 0o755, "user/0": 0o700}
"""Folders that programs look for even if no package on this machine asks for them, with their modes."""
FILES = ("utmp",)
"""Empty files that login(1), who(1), and uptime(1) read."""
OF_SYSTEMD = "systemd"
"""Left out, because a program that finds /run/systemd/system takes systemd to be running (sd_booted(3))."""


@dataclass(frozen=True)
class Folder:
    """A folder below /run: its relative path, mode, and owners; an empty owner is root."""

    path: str
    mode: int = 0o755
    user: str = ""
    group: str = ""


def make_folders(run: Path = RUN) -> None:
    """Make all of them; root owns those whose owner does not exist on this machine."""
    for path, mode in ALWAYS.items():
        _make(run, Folder(path, mode))
    for name in FILES:
        (run / name).touch()
        (run / name).chmod(0o664)
    for folder in [*_of_tmpfiles(), *_of_units()]:
        _make(run, folder)


def _of_tmpfiles(places: tuple[str, ...] = TMPFILES) -> Iterator[Folder]:
    """The folders that tmpfiles.d asks for: `d /run/frr 0755 frr frr`."""
    for text in _texts(places, ".conf"):
        for line in text.splitlines():
            words = [*line.split(), "-", "-", "-"]
            if words[0].rstrip("!-=") not in MAKES_A_FOLDER or "%" in words[1]:
                continue
            path = Path(words[1].replace("/var/run/", "/run/", 1))
            if path.is_relative_to(RUN) and path != RUN:
                mode, user, group = ("" if word == "-" else word for word in words[2:5])
                yield Folder(str(path.relative_to(RUN)), _mode(mode), user, group)


def _of_units(places: tuple[str, ...] = UNITS) -> Iterator[Folder]:
    """The folders that services ask for: `RuntimeDirectory=sshd`."""
    for text in _texts(places, ".service"):
        if "RuntimeDirectory=" not in text:
            continue
        unit = configparser.RawConfigParser(strict=False, interpolation=None, delimiters=("=",))
        unit.optionxform = str  # type: ignore[assignment,method-assign] # the documented way to keep capitals
        with contextlib.suppress(configparser.Error):  # a damaged unit asks for what could be read of it
            unit.read_string(text)
        if not unit.has_section("Service"):
            continue
        service = unit["Service"]
        mode = _mode(service.get("RuntimeDirectoryMode", ""))
        for path in service.get("RuntimeDirectory", "").split():
            if "%" not in path:
                yield Folder(path, mode, service.get("User", ""), service.get("Group", ""))


def _mode(text: str) -> int:
    """An octal mode; 755, the default of both kinds of file, where none is given or it cannot be read."""
    digits = text.lstrip("~:")
    return int(digits, 8) if re.fullmatch("[0-7]+", digits) else Folder.mode


def _texts(places: tuple[str, ...], ending: str) -> Iterator[str]:
    """The text of each file with this ending; one that cannot be read, and a folder that was read, are left out."""
    seen = set()
    for place in map(os.path.realpath, places):
        if place in seen or not os.path.isdir(place):  # noqa: PTH112 - a dozen calls before anything runs
            continue
        seen.add(place)
        for name in sorted(os.listdir(place)):  # noqa: PTH208 - as above
            if name.endswith(ending):
                with contextlib.suppress(OSError, UnicodeDecodeError):
                    yield Path(place, name).read_text()


def _make(run: Path, folder: Folder) -> None:
    path = run / folder.path
    if ".." in path.parts or folder.path.split("/")[0] == OF_SYSTEMD:
        return
    path.mkdir(parents=True, exist_ok=True)
    path.chmod(folder.mode)
    for kind, owner in (("user", folder.user), ("group", folder.group)):
        if owner:
            with contextlib.suppress(LookupError, PermissionError):
                shutil.chown(path, **{kind: owner})
