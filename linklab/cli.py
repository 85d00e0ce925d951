# SPDX-License-Identifier: BSD-3-Clause
"""The command line `linklab`: which command, then its module's parser and `run`.

A command is a module with `add_parser(subparsers, summary) -> ArgumentParser` and `run(args) -> int` (the exit code),
listed in COMMANDS and imported only when it is the one asked for, so that every command starts fast. Here and nowhere
else an error becomes one line on stderr and an exit code.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from linklab import __version__
from linklab.base import installation
from linklab.base.streams import ReaderGoneError, watched
from linklab.base.text import one_line, visible
from linklab.commands import Parser
from linklab.errors import TO_COPY, InputError, LinklabError, MissingError

if TYPE_CHECKING:
    from linklab.commands import Subparsers

COMMANDS = {
    "doctor": ("linklab.commands.doctor", "what this machine can run, and the cure for what is missing"),
    "run": ("linklab.commands.run", "replay a lab and compare what it shows with what it should show"),
    "labs": ("linklab.commands.labs", "list the labs, or check that they hold together"),
    "report": ("linklab.commands.report", "write the page of a finished run again"),
    "compare": ("linklab.commands.compare", "what differs between two runs of a lab, or a run and its reference"),
    "record": ("linklab.commands.record", "make a run of a lab the reference that its manual quotes"),
    "fidelity": ("linklab.commands.fidelity", "what the original series reported beside our references"),
    "set-env": ("linklab.commands.set_env", "print the script that sets a lab up to a section"),
    "edit": ("linklab.commands.edit", "draw a network in a window and run it"),
    "view": ("linklab.commands.view", "show what tests and labs measured in a window"),
    "convert": ("linklab.commands.convert", "networks of containerlab, Kathará and mn --custom to .mn and back"),
    "shell": ("linklab.commands.shell", "build the network of a topology and open the Mininet CLI on it"),
    "lab": ("linklab.commands.lab", "do a lab in the browser: manual, terminals, clock"),
    "step": ("linklab.commands.step", "how far you are in a running lab, what is wrong, and a hint"),
    "attach": ("linklab.commands.attach", "open a node's shell in this terminal"),
    "capture": ("linklab.commands.capture", "packets of a running network to a file or into Wireshark"),
    "extcap": ("linklab.commands.extcap", "running networks in Wireshark's own list of interfaces"),
    "link": (
        "linklab.commands.link",
        "links by departure time in a running network: rate, delay, loss between two nodes",
    ),
    "exercise": ("linklab.commands.exercise", "exercises and problems: list, start, handout, issue, verify"),
    "check": ("linklab.commands.check", "which parts of an exercise are done, and where to look"),
    "submit": ("linklab.commands.submit", "pack an exercise's work to hand it in"),
    "grade": ("linklab.commands.grade", "grade submissions of exercises and problems"),
    "manual": ("linklab.commands.manual", "turn a lab's manual into HTML or PDF, all into a handbook"),
    "plot": (
        "linklab.commands.plot",
        "plot what a run measured, a data file, an iperf3 result, a queue, or packet gaps",
    ),
    "batch": ("linklab.commands.batch", "run the tests of batch files, in the form of Flent's"),
    "sweep": ("linklab.commands.sweep", "run a test over factors, with intervals, and say which factor matters"),
    "fairness": ("linklab.commands.fairness", "Jain's fairness index of the streams of an iperf3 result"),
    "kernel": ("linklab.commands.kernel", "build the pocket kernel, or say where it is"),
    "test": ("linklab.commands.test", "named tests of a network: what there is, run one, numbers, plots"),
    "netesto": ("linklab.commands.netesto", "campaigns of experiments in the script language of Netesto"),
    "clean": ("linklab.commands.clean", "remove what an earlier run left behind"),
}


GO_ON = frozenset(
    {"run", "record", "batch", "sweep", "netesto", "grade", "exercise", "submit", "manual", "plot", "kernel", "clean"}
    | {"capture", "extcap"}
)
"""Commands whose work is done to its end when nobody reads any more what they print; the others end."""


class Command(Protocol):
    """What the module of a command offers."""

    def add_parser(self, subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
        """Add the command's parser: examples, options, and `summary` as its line in the list of commands."""
        ...

    def run(self, args: argparse.Namespace) -> int:
        """Do it and give the exit code."""
        ...


_EPILOG = """examples:
  linklab doctor                   can labs run here?
  linklab run 14                   replay Lab 14 and compare
  linklab shell "topologies/Lab 8.mn"
  linklab COMMAND --help           options and examples of one command

exit codes:
  0    done, and everything as expected
  1    the run worked but did not meet its expectations
  2    a file or an argument is wrong
  3    the network could not be run
  4    a package, a tool, the kernel or space is missing (linklab doctor says which)
  130  stopped with Ctrl+C
  141  nobody reads the output any more, as in linklab labs | head -1
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    chosen = next((word for word in arguments if not word.startswith("-")), None)
    try:
        with watched(goes_on=chosen in GO_ON):
            return _run(chosen, arguments)
    except ReaderGoneError:
        return 128 + signal.SIGPIPE
    except OSError as error:  # of writing the last output
        return _complain_of(error)


def _run(chosen: str | None, arguments: Sequence[str]) -> int:
    begun = False
    try:
        parser = build_parser(chosen)
        args, more = parser.parse_known_args(arguments)
        if more:
            if named := _split_by_a_space(arguments):
                raise InputError(f'"{named}" has a space in it, so write it in quotes: linklab {chosen} "{named}"')
            raise InputError(_unknown(args, more))
        _need_working_directory()
        begun = True
        return _command(args.command).run(args)
    except LinklabError as error:
        sentence, mark, to_copy = str(error).partition(TO_COPY)
        print(f"linklab: {one_line(sentence)}{mark}{visible(to_copy)}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        if not begun:  # a command says itself what it leaves
            print("linklab: stopped with Ctrl+C before anything had begun", file=sys.stderr)
        return 128 + signal.SIGINT
    except BrokenPipeError as error:
        if chosen in GO_ON:  # then it is none of standard output
            return _complain_of(error)
        raise ReaderGoneError from error
    except OSError as error:
        return _complain_of(error)


def _unknown(args: argparse.Namespace, words: Sequence[str]) -> str:
    """What to say of options that the command does not have; its module may know what is meant (`INSTEAD`)."""
    said = " ".join(["linklab", args.command, *filter(None, [getattr(args, "verb", "")])])
    module = importlib.import_module(getattr(args, "verb_module", COMMANDS[args.command][0]))
    instead = getattr(module, "INSTEAD", {})
    for option in (word.partition("=")[0] for word in words):
        if option in instead:
            return f"{said} has no {option}; here it is {instead[option]}"
    return f"{said}: unrecognized arguments: {' '.join(words)}; {said} --help lists what there is"


def _split_by_a_space(words: Sequence[str]) -> str:
    """The file whose name the shell has split into several of these words; "" if there is none."""
    for first in range(len(words)):
        for last in range(first + 2, len(words) + 1):
            named = " ".join(words[first:last])
            if installation.topology_file(Path(named)).is_file():
                return named
    return ""


def _need_working_directory() -> None:
    """InputError where it has been deleted: what comes of that elsewhere names no file."""
    try:
        Path.cwd()
    except FileNotFoundError as error:
        here = os.environ.get("PWD", "")
        raise InputError(
            f"{here or '.'}: this working directory has been deleted; go to another one with cd"
        ) from error


def _complain_of(error: OSError) -> int:
    files = " -> ".join(_named(name) for name in (error.filename, error.filename2) if name is not None)
    print(f"linklab: {files}{': ' if files else ''}{one_line(error.strerror or str(error))}", file=sys.stderr)
    return MissingError.exit_code if error.errno in (errno.ENOSPC, errno.EDQUOT) else InputError.exit_code


def _named(file: object) -> str:
    return one_line(os.fsdecode(file) if isinstance(file, str | bytes | os.PathLike) else str(file))


def build_parser(*chosen: str | None) -> argparse.ArgumentParser:
    """Parser that knows all commands by name and the `chosen` ones with their options."""
    parser = Parser(
        prog="linklab",
        description="Teaching labs for TCP/IP networking on a Linux kernel of their own.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"linklab {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (_, summary) in COMMANDS.items():
        if name in chosen:
            _command(name).add_parser(subparsers, summary)
        else:
            subparsers.add_parser(name, help=summary)
    return parser


def _command(name: str) -> Command:
    module = COMMANDS[name][0]
    try:
        return cast(Command, importlib.import_module(module))
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise InputError(f'the command "{name}" is not part of this version of Linklab') from error
