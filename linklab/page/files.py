# SPDX-License-Identifier: BSD-3-Clause
"""`POST steps/ID/write {replace}`: write the file of a step into the working folder, as the manual has it.

Only the manual's own text is written, and only where the manual says; nothing of it comes from the request. A file of
the student's that is there is replaced only if they say so (409 asks), and is kept under its name with a ~.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tornado.web import RequestHandler

from linklab.base.files import write_asked
from linklab.errors import InputError
from linklab.manual.model import WriteFile
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, RequestError
from linklab.page.step_facts import place_in_folder


class FileThereError(InputError):
    """A file of the student's is where the manual's would be written."""


class WriteHandler(PageHandler):
    """Writes files of the manual."""

    async def post(self, step_id: str) -> None:
        """Write it, and answer with the name."""
        step = self.context.manual.step(step_id)
        if step is None or not isinstance(step.action, WriteFile):
            raise RequestError(404, "No step of this name writes a file.")
        replace = self.request.body != b"" and self.fields(replace=bool)["replace"]
        try:
            path, written = await self.context.in_thread(write_file, self.context.folder, step.action, replace)
        except FileThereError as error:
            raise RequestError(409, str(error)) from None
        self.answer(text=_told(path, step.action, written))


def _told(path: Path, action: WriteFile, written: bool) -> str:
    if not written:
        is_there = "ends with these lines" if action.append else "has this text"
        return f"{path.name} in {path.parent} {is_there} already; it is left as it is."
    return f"{path.name} is {'added to' if action.append else 'written'} in {path.parent}."


def write_file(folder: Path, action: WriteFile, replace: bool = False) -> tuple[Path, bool]:
    """Write what a step writes; where it is now, and whether it had to be written.

    What is to be at the end of a file is not put there twice.

    replace: a file that is there and says something else is kept as NAME~.

    Raises:
        FileThereError: such a file is there, and `replace` is not said.
        InputError: the file would not lie in the folder, or cannot be read or written.
    """
    named = place_in_folder(action.path)
    if named is None or folder.resolve() not in (folder / named).resolve().parents:
        raise InputError(f"{action.path}: this file does not lie in {folder}; write it in a terminal")
    path, text = folder / named, action.text.encode()
    try:
        before = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    if before.endswith(text) if action.append else path.exists() and before == text:
        return path, False
    if action.append:
        return write_asked(path, before + text), True
    if before:
        if not replace:
            raise FileThereError(f"{path.name} is there already, with another text than the manual’s.")
        write_asked(path.with_name(f"{path.name}~"), before)
    return write_asked(path, text), True


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    return [(f"{context.prefix}steps/([a-z0-9-]+)/write", WriteHandler, {"context": context})]
