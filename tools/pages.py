#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The parsers of `linklab` → man pages and shell completions.

    python tools/pages.py FOLDER

Called by `make build`.  Writes FOLDER/man1/linklab*.1 (one page a command) and FOLDER/completions/{bash,zsh,fish}.
The text is that of `--help`; nothing is written here twice.  Pages by argparse-manpage, completions by shtab.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import shtab
from argparse_manpage.manpage import Manpage

from linklab import __version__, cli
from linklab.commands import Parser
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.experiment.test_file import FAMILIES, test_names
from linklab.lab.model import lab_folders

SHELLS = ("bash", "zsh", "fish")
HEADINGS = {"examples": "EXAMPLES", "exit codes": "EXIT STATUS"}
"""What an epilog says before indented lines → the section that these become."""


def main(arguments: list[str]) -> int:
    """Write everything below the folder that is named."""
    if len(arguments) != 1:
        print("usage: python tools/pages.py FOLDER", file=sys.stderr)
        return 2
    os.environ["COLUMNS"] = "80"  # argparse breaks lines as wide as the terminal is
    folder = Path(arguments[0])
    parser = cli.build_parser(*cli.COMMANDS)
    commands = _subparsers(parser)
    (folder / "man1").mkdir(parents=True, exist_ok=True)
    others = [f"linklab-{name}" for name in commands]
    short = cli.build_parser()  # names the commands alone; each has its own page
    (folder / "man1/linklab.1").write_text(page(short, "teaching labs for TCP/IP networking", others))
    for name, command in commands.items():
        text = page(command, cli.COMMANDS[name][1], ["linklab"])
        (folder / f"man1/linklab-{name}.1").write_text(text)
    teach_completion(parser)
    (folder / "completions").mkdir(exist_ok=True)
    for shell in SHELLS:
        (folder / "completions" / shell).write_text(shtab.complete(parser, shell))
    return 0


def page(parser: argparse.ArgumentParser, summary: str, see: list[str]) -> str:
    """One man page: what argparse-manpage makes of the parser, with the epilog as sections of its own."""
    epilog, parser.epilog = parser.epilog or "", None
    parser.man_short_description = summary  # type: ignore[attr-defined]  # read by argparse-manpage
    text = str(Manpage(parser, format="pretty"))
    parser.epilog = epilog
    name = parser.prog.replace(" ", "-")
    text = re.sub(r"^\.TH .*$", f'.TH {name.upper()} 1 "" "Linklab {__version__}" "User Commands"', text, flags=re.M)
    text = re.sub(r"(\.SH NAME\n).*", lambda match: f"{match[1]}{name} \\- {_roff(summary)}", text, count=1)
    heading = "COMMANDS" if _subparsers(parser) else "ARGUMENTS"
    text = re.sub(r"^\.SH\s+POSITIONAL ARGUMENTS", f".SH {heading}", text, flags=re.M).rstrip("\n") + "\n"
    text = re.sub(r"^\.SH COMMAND \S+'(.*)'\S+$", r'.SH "\1"', text, flags=re.M)
    text = re.sub(r"^\.SH OPTIONS \S+'.*'\S+$", ".SS Options", text, flags=re.M)
    text = re.sub(r"^usage: ((?:.+\n)+)", r".nf\n\1.fi\n", text, flags=re.M)
    # of a command that has a page of its own only this is known
    text = re.sub(r'^\.SH "(linklab[^"]*)"\n\.nf\n\1 \[\\-h\]\n\.fi\n+', "", text, flags=re.M)
    for heading, body, literal in sections(epilog):
        text += f".SH {heading}\n" + (f".nf\n{_roff(body)}\n.fi\n" if literal else f"{_roff(body)}\n")
    also = ",\n".join(f".BR {_roff(other)} (1)" for other in see)
    return text + f".SH SEE ALSO\n{also}\n"


def sections(epilog: str) -> Iterator[tuple[str, str, bool]]:
    """Heading, text, and whether its lines stay as they are, of each part of an epilog."""
    for part in re.split(r"\n\s*\n", epilog.strip()):
        first, _, rest = part.partition("\n")
        if rest and first.endswith(":") and all(line.startswith(" ") for line in rest.splitlines()):
            told = first.removesuffix(":")
            yield HEADINGS.get(told.lower(), told.upper()), "\n".join(line[2:] for line in rest.splitlines()), True
        elif part:
            yield ("EXIT STATUS" if part.startswith("Exit") else "NOTES"), part, False


def teach_completion(parser: argparse.ArgumentParser) -> None:
    """Say of arguments that are files, folders, labs or exercises that they are; the others have their choices."""
    labs = [str(int(folder.name[:2])) for folder in lab_folders()]
    exercises = [load_exercise(folder).id for folder in exercise_folders()]
    for action in _actions(parser):
        metavar = str(action.metavar or "")
        if metavar == "LAB":
            action.choices = [*labs, "all"]
        elif metavar == "TEST":
            action.choices = test_names()
        elif metavar == "FAMILY":
            action.choices = list(FAMILIES)
        elif action.dest == "exercise":
            action.choices = exercises
        elif metavar in ("DIR", "FOLDER"):
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # read by shtab
        elif action.type is Path or metavar in ("SUBMISSION", "FILE|IFACE"):
            action.complete = shtab.FILE  # type: ignore[attr-defined]


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    yield from (action for action in parser._actions if not isinstance(action, argparse._SubParsersAction))
    for command in _subparsers(parser).values():
        yield from _actions(command)


def _subparsers(parser: argparse.ArgumentParser) -> dict[str, Parser]:
    """Parsers of the commands by name; argparse has no public way to ask."""
    found = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    commands = {name: command for action in found for name, command in action.choices.items()}
    for command in commands.values():
        command.ready()
        _subparsers(command)
    return commands


def _roff(text: str) -> str:
    """Text in which nothing is a request or an escape of roff (groff(7)); hyphens stay hyphens to be copied."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.M)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
