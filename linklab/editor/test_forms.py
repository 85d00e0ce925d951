# SPDX-License-Identifier: BSD-3-Clause
"""A test of the library on a running network → the fields of a dialog, and what was typed → the command that runs it.

With what the editor takes from the viewer: the list of tests, and a command as a child process. Pure otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linklab.editor import pinging
from linklab.errors import FieldError
from linklab.experiment.entries import NamedTest
from linklab.experiment.expand import expand
from linklab.viewer.child import RunningCommand
from linklab.viewer.test_form import parameter_fields, parameters_of
from linklab.viewer.testing import TestChooser
from linklab.windows.fields import Field, Page, number
from linklab.windows.words import Phrase

__all__ = ["RunningCommand", "TestChooser", "checked", "command", "pages", "parameters_of", "split"]

LONGEST_S = 86_400


def pages(test: NamedTest, names: Sequence[str]) -> tuple[Page, ...]:
    """The dialog of a test on a running network whose hosts and routers are these."""
    seconds = number(0.1, LONGEST_S, "a number of seconds above 0")
    what = (
        Field("source", "From", kind="choice", choices=tuple((name, name) for name in names)),
        Field("targets", "To", "one or several, such as h2, h3"),
        Field("length_s", "Length", "seconds of load; the test's own if empty", "s", check=seconds),
        Field("title", "Title", "for figures and the name of the file"),
    )
    found = [Page("Test", what, " ".join(test.text.split()) or test.title)]
    parameters = parameter_fields(test)
    return (*found, Page("Parameters", parameters)) if parameters else tuple(found)


def checked(test: NamedTest, asked: Mapping[str, Any], names: Sequence[str]) -> None:
    """Refuse what cannot be before anything is started.

    Raises:
        FieldError: no target, an unknown node, or the source itself.
        InputError: the parameters do not go together.
    """
    targets = split(str(asked.get("targets", "")))
    if not targets:
        raise FieldError("name the node at the other end", key="targets")
    for target in targets:
        if target == asked.get("source"):
            raise FieldError(Phrase("{node} is where the test starts", node=target), key="targets")
        if target not in names and not pinging.is_address(target):
            raise FieldError(Phrase("there is no host or router {node}", node=target), key="targets")
    expand(test, parameters_of(test, asked), hosts=targets, length_s=asked.get("length_s"))


def split(text: str) -> list[str]:
    """Split "h2, h3" into its words."""
    return [word.strip() for word in text.replace(";", ",").split(",") if word.strip()]


def command(name: str, network: str, asked: Mapping[str, Any], given: Mapping[str, str], folder: Path) -> list[str]:
    """The words after `linklab` that run a test on the network of that id; its file goes to the folder."""
    words = ["test", "run", name, f"--attach={network}", "--progress", "lines", f"--from={asked['source']}"]
    words.append(f"--to={','.join(split(str(asked['targets'])))}")
    for key, option in (("length_s", "--length"), ("title", "--title")):
        if asked.get(key) not in (None, ""):
            words.append(f"{option}={asked[key]}")
    for parameter, value in given.items():
        words += ["-P", f"{parameter}={value}"]
    return [*words, f"--output={folder.absolute()}/"]
