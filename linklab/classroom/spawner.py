# SPDX-License-Identifier: BSD-3-Clause
"""Starts each student's server under bubblewrap, as the Hub's own user: no root, and no accounts on the machine.

A server sees the system's programs, Linklab, and the folder of its student; not the folders of others, not the Hub's
files, and no process but its own. JupyterHub's name for it: `linklab.classroom.spawner.BubblewrapSpawner`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from jupyterhub.spawner import LocalProcessSpawner
from traitlets import Bool, Int, List, Unicode, default

from linklab.base import installation
from linklab.classroom.confinement import HOME, confinement, folder_name, own_paths, plain_copies, refuse_shown
from linklab.lab.model import lab_folders, load_card


class BubblewrapSpawner(LocalProcessSpawner):  # type: ignore[misc] # JupyterHub has no types
    """One student's server."""

    students_folder = Unicode("students", config=True, help="Folder that holds a folder for each student.")
    shown_paths = List(
        Unicode(), config=True, help="More files and folders that servers may read, where Linklab lies in its own."
    )
    ask_lab = Bool(False, config=True, help="Ask for the lab before a server starts, not by the list afterwards.")
    memory_mib = Int(2048, config=True, help="Size of the file system that holds the memory of a student's network.")

    def make_preexec_fn(self, name: str) -> Callable[[], None]:
        """Nothing: the server keeps the Hub's user."""
        return lambda: None

    def user_env(self, env: dict[str, str]) -> dict[str, str]:
        """The student's environment, where the machine has no account of that name."""
        # Python looks for no module in the student's folder, where a network may write
        safe = {"PYTHONSAFEPATH": "1", "PYTHONNOUSERSITE": "1"}
        inside = {"USER": self.user.name, "LOGNAME": self.user.name, "HOME": str(HOME), "SHELL": "/bin/bash"}
        path = f"{Path(sys.prefix, 'bin')}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
        return {**env, **safe, **inside, "PATH": path}

    async def start(self) -> Any:
        """Start the server; the address where it will answer."""
        students = Path(self.students_folder).resolve()
        folder = students / folder_name(self.user.name)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        plain = plain_copies(students / ".programs")
        shown = [*own_paths(), *map(Path, self.shown_paths)]
        for private in (students, Path.cwd()):
            refuse_shown(private, shown)
        self.cmd = [*confinement(folder, shown, plain, self.memory_mib), *self.lab_command()]
        return await super().start()

    def lab_command(self) -> list[str]:
        """The command that is confined; with the lab that was asked for, which a request to the Hub may name too."""
        lab = str(self.user_options.get("lab", ""))
        return installation.command("lab", *([lab] if is_lab(lab) else []), "--jupyterhub")

    @default("options_form")  # type: ignore[untyped-decorator] # traitlets is not read
    def _form(self) -> str:
        """What the Hub asks before it starts a server."""
        return lab_form() if self.ask_lab else ""

    @default("options_from_form")  # type: ignore[untyped-decorator] # traitlets is not read
    def _chosen(self) -> Callable[[Mapping[str, Sequence[str]]], dict[str, str]]:
        """What becomes of the answer."""
        return chosen_lab


def lab_form() -> str:
    """The part of the Hub's form that asks for the lab."""
    cards = [load_card(folder) for folder in lab_folders()]
    options = "".join(
        f'<option value="{card.number}">Lab {card.number}: {escape(card.title)}</option>' for card in cards
    )
    return (
        '<label for="lab">Lab</label> <select id="lab" name="lab" class="form-control">'
        f'<option value="">The list of all labs</option>{options}</select>'
    )


def chosen_lab(form: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The lab that was chosen in the form; none of them is the list of all."""
    chosen = (form.get("lab") or [""])[0]
    return {"lab": chosen} if is_lab(chosen) else {}


def is_lab(number: str) -> bool:
    """Whether there is a lab of that number, so that nothing else gets into the command."""
    return number.isascii() and number.isdecimal() and any(int(f.name[:2]) == int(number) for f in lab_folders())
