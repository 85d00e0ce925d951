# SPDX-License-Identifier: BSD-3-Clause
"""`POST steps/ID/write`: write the file of a step into the working folder, as the manual has it.

Only the manual's own text is written, and only where the manual says; nothing of it comes from the request.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from tornado.web import RequestHandler

from linklab.base.files import write_asked
from linklab.errors import InputError
from linklab.manual.model import WriteFile
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, RequestError

INSIDE = PurePosixPath("/lab")


class WriteHandler(PageHandler):
    """Writes files of the manual."""

    async def post(self, step_id: str) -> None:
        """Write it, and answer with the name."""
        step = self.context.manual.step(step_id)
        if step is None or not isinstance(step.action, WriteFile):
            raise RequestError(404, "No step of this name writes a file.")
        path = await self.context.in_thread(write_file, self.context.folder, step.action)
        self.answer(text=f"{path.name} is written in {path.parent}.")


def write_file(folder: Path, action: WriteFile) -> Path:
    """Write what a step writes; where it is now.

    Raises:
        InputError: the file would not lie in the folder, or cannot be written.
    """
    named = PurePosixPath(action.path)
    if named.is_absolute() and INSIDE in named.parents:
        named = named.relative_to(INSIDE)
    path = folder / named
    if named.is_absolute() or folder.resolve() not in path.resolve().parents:
        raise InputError(f"{action.path}: this file does not lie in {folder}; write it in a terminal")
    before = path.read_text(encoding="utf-8") if action.append and path.exists() else ""
    return write_asked(path, before + action.text)


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    return [(f"{context.prefix}steps/([a-z0-9-]+)/write", WriteHandler, {"context": context})]
