# SPDX-License-Identifier: BSD-3-Clause
"""Names that a script may give to what is written, and where its links may lead."""

from __future__ import annotations

import re

from linklab.base.text import excerpt
from linklab.netesto.table.located import Located

SUFFIXES = (".svg", ".png", ".pdf")
MOST_CHARACTERS = 100

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_. +-]*", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def output_name(value: Located, suffixes: tuple[str, ...]) -> str:
    """The name of a file beside the page, with the first of the suffixes if it has none of them.

    Raises:
        TableError: it would lie in another folder, or has characters that such a name must not have.
    """
    name = value.text
    if "/" in name or "\\" in name or name.startswith("."):
        raise value.error(f'"{excerpt(name)}" must be a name without a folder: files are written beside the page only')
    if len(name) > MOST_CHARACTERS or not _NAME.fullmatch(name):
        raise value.error(f'"{excerpt(name)}" must be letters, digits, and . _ - +, at most {MOST_CHARACTERS} of them')
    return name if name.lower().endswith(suffixes) else name + suffixes[0]


def link_folder(value: Located) -> str:
    """The folder that links begin with, relative to the page or at a web server.

    Raises:
        TableError: a link to it would do something else than open a page.
    """
    text = value.text
    if _SCHEME.match(text) and not text.lower().startswith(("http://", "https://")):
        raise value.error(f'"{excerpt(text)}" must be a folder, or begin with http:// or https://')
    if "\0" in text or len(text) > 1000:
        raise value.error("the name of a folder must have at most 1000 characters, and no NUL among them")
    if text.startswith("/"):  # two slashes would begin the name of a server
        return "/" + text.strip("/") if text.strip("/") else "/."
    return text.rstrip("/") or "."


def link_file(value: Located) -> str:
    """The file of an experiment that links lead to.

    Raises:
        TableError: it is not in the experiment's folder.
    """
    text = value.text
    if not text or _SCHEME.match(text) or text.startswith(("/", "\\")) or ".." in text.split("/"):
        raise value.error(f'"{excerpt(text)}" must be a file in the folder of each experiment, such as exp.html')
    return text
