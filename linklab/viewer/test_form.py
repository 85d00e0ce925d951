# SPDX-License-Identifier: BSD-3-Clause
"""A test of the library → the fields of a dialog, and what was typed → the command that runs it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path
from typing import Any

from linklab.base.installation import topology_file
from linklab.errors import FieldError, InputError
from linklab.experiment.entries import NamedTest, ParameterEntry, ParameterKind
from linklab.experiment.expand import expand
from linklab.experiment.path import parse_path
from linklab.experiment.test_file import FAMILIES, load_test, test_names
from linklab.windows.fields import Check, Field, Page, digits, number
from linklab.windows.words import Phrase

USUAL_PATH = "10mbit 50ms fq_codel"
PARAMETER = "parameter "
"""Before the names of parameters in the keys of fields."""

KEPT = ("path", "topology", "source", "targets", "seed", "folder")
"""What the next test has as well, if nothing else is typed."""

LONGEST_S = 86_400


def families() -> list[tuple[str, list[NamedTest]]]:
    """The library's tests by family, with the heading of each."""
    tests = [load_test(name) for name in test_names()]
    found = [(heading, [test for test in tests if test.family == family]) for family, heading in FAMILIES.items()]
    return [(heading, members) for heading, members in found if members]


def matches(test: NamedTest, wanted: str) -> bool:
    """Whether every word is in its name, its title or its text."""
    text = f"{test.name} {test.title} {test.text}".casefold()
    return all(word in text for word in wanted.casefold().split())


def pages_of(test: NamedTest) -> tuple[Page, ...]:
    """The dialog of a test."""
    length = number(0.1, LONGEST_S, "a number of seconds above 0")
    what = (
        Field("path", "Path", "rate, round trip time, discipline and buffer of the bottleneck", check=_path),
        Field("length_s", "Length", "seconds of load; the test's own if empty", "s", check=length),
        Field("seed", "Seed", "of all chance; another one is a repetition", default="1", check=_seed()),
        Field("title", "Title", "for figures and the name of the file"),
        Field("note", "Note", "kept in the file"),
        Field("folder", "Folder", "for the data file", check=_folder),
    )
    parameters = parameter_fields(test)
    network = (
        Field("topology", "Topology", "a .mn file or its name instead of the path", check=_topology),
        Field("source", "From", "a host; the first one if empty"),
        Field("targets", "To", "hosts, with commas between them; the last one if empty"),
        Field("step_s", "Step", "between two samples; 0.2 s if empty", "s", check=number(0.001, 60, "0.001 to 60 s")),
    )
    pages = [Page("Test", what, " ".join(test.text.split()) or test.title)]
    if parameters:
        pages.append(Page("Parameters", parameters))
    return (*pages, Page("Network", network))


def parameter_fields(test: NamedTest) -> tuple[Field, ...]:
    """A field for each parameter that can be had here."""
    entries = test.entries.parameters.values()
    return tuple(_parameter_field(entry) for entry in entries if entry.kind is not ParameterKind.REFUSED)


def _parameter_field(entry: ParameterEntry) -> Field:
    """The field for a parameter; its key is `PARAMETER` and the name."""
    default = "" if entry.default.startswith("{") else entry.default
    key = PARAMETER + entry.name
    if entry.kind is ParameterKind.YES_NO:
        is_on = default.casefold() in ("1", "yes", "true", "on")
        label = Phrase("{name}: {text}", name=entry.name, text=Phrase(entry.text))
        return Field(key, label, kind="flag", default="1" if is_on else "0")
    return Field(key, entry.name, entry.text, default=default)


def _path(text: str) -> str:
    parse_path(text)
    return text


def _seed() -> Check:
    return digits(0, 2**64 - 1)


def _folder(text: str) -> str:
    path = Path(text).expanduser()
    if path.exists() and not path.is_dir():
        raise InputError(Phrase("{path} is not a folder", path=path))
    return text


def _new_folder(text: str) -> str:
    path = Path(text).expanduser()
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise InputError(Phrase("{path} is there already; give a new folder", path=path))
    return text


def _topology(text: str) -> str:
    if not topology_file(Path(text).expanduser()).is_file():
        raise InputError(Phrase("there is no file {path}", path=text))
    return text


def _topology_word(text: str) -> str:
    """A file by its whole path, since the command runs in the folder of the results; a lab's topology by its name."""
    path = Path(text).expanduser()
    return str(path.absolute() if path.exists() else path)


def parameters_of(test: NamedTest, data: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that are not as by default."""
    found = {}
    for entry in test.entries.parameters.values():
        value = data.get(PARAMETER + entry.name)
        if value is not None:
            yes_no = {"1": "yes", "0": "no"} if entry.kind is ParameterKind.YES_NO else {}
            found[entry.name] = yes_no.get(str(value), str(value))
    return found


def checked(test: NamedTest, data: Mapping[str, Any]) -> None:
    """Say what is wrong with it before a network is started.

    Raises:
        InputError: there is neither a path nor a topology, or both; or the parameters do not go together.
    """
    if bool(data.get("path")) == bool(data.get("topology")):
        raise FieldError(Phrase("give a path, or a topology on the page Network, not both"), key="path")
    expand(test, parameters_of(test, data), length_s=data.get("length_s"), step_s=data.get("step_s"))


def command_of(test: NamedTest, data: Mapping[str, Any]) -> list[str]:
    """The words after `linklab` that run the test."""
    words = ["test", "run", test.name, "--progress", "lines", "--seed", str(data.get("seed") or "1")]
    for key, option in (
        ("path", "--path"),
        ("topology", "--topology"),
        ("source", "--from"),
        ("targets", "--to"),
        ("length_s", "--length"),
        ("step_s", "--step-size"),
        ("title", "--title"),
        ("note", "--note"),
    ):
        value = data.get(key)
        if value not in (None, ""):
            words += [f"{option}={_topology_word(value) if key == 'topology' else value}"]
    for name, value in parameters_of(test, data).items():
        words += ["-P", f"{name}={value}"]
    return [*words, "--output", f"{Path(data.get('folder') or '.').expanduser().absolute()}/"]


BATCH_PAGE = Page(
    "Batch",
    (
        Field("path", "Path", "for batches that say none", check=_path),
        Field("batches", "Batches", "names with commas between them; all that are not abstract or disabled if empty"),
        Field("folder", "Folder", "a new one for the data files", check=_new_folder),
    ),
)


def batch_command(file: Path, data: Mapping[str, Any]) -> list[str]:
    """The words after `linklab` that run a batch file."""
    words = ["batch", str(file.absolute())]
    if data.get("path"):
        words.append(f"--path={data['path']}")
    for name in str(data.get("batches") or "").split(","):
        if name.strip():
            words.append(f"--batch={name.strip()}")
    return [*words, f"--out={Path(data['folder']).expanduser().absolute()}"]


def new_folder(beside: Path) -> Path:
    """A folder for the results of a batch file that is not there yet."""
    first = beside.with_name(f"{beside.stem}-results")
    others = (first.with_name(f"{first.name}-{number}") for number in count(2))
    return next(path for path in chain([first], others) if not path.exists())
