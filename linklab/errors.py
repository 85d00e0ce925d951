# SPDX-License-Identifier: BSD-3-Clause
"""The one tree of errors; each message is a sentence: where, what was found, what to do.

    LinklabError
    ├── InputError        a file or argument the person gave           exit 2
    │   ├── FieldError        one value of a table or a form
    │   ├── TopologyError     a .mn file
    │   ├── ManualError       a manual.md
    │   ├── LabError          a lab.toml, or a lab that does not exist
    │   ├── BundleError       a submission's .zip
    │   ├── DataError         captured output that cannot be read
    │   │   └── NothingMeasuredError  a tool's own word that it measured nothing
    │   └── StateError        settings of a network that cannot be repeated
    ├── EngineError       the network could not be run                 exit 3
    │   ├── BootError         the kernel did not come up
    │   ├── AgentError        the agent reported a failure
    │   └── DeadlineError     something did not end in time
    └── MissingError      a package, tool, kernel or space is missing  exit 4

What follows from an error is decided by its class and its `fault`, never by its words.
Exit 1 is for a run that worked but did not meet its expectations; 130 for Ctrl+C.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import Enum

TO_COPY = "\n    "
"""Stands in a message before its end that is to be copied, which is shown on a line of its own."""


class Fault(Enum):
    """Whose fault an error is: what has to change before the same thing works.

    TOOL: Linklab, or a program that it runs.
    MACHINE: this machine, which lacks something or is too busy.
    GIVEN: an argument, a file or a command, as somebody wrote it.
    TOPOLOGY: the description of a network, which cannot be built.
    NETWORK: a network that was built, and does not carry or hold what was asked of it.
    SUBMISSION: what a student handed in.
    """

    TOOL = "tool"
    MACHINE = "machine"
    GIVEN = "given"
    TOPOLOGY = "topology"
    NETWORK = "network"
    SUBMISSION = "submission"


class LinklabError(Exception):
    """Base of all errors a person can be shown as one line, and at most one to copy.

    Args:
        what: the sentence, without the place where that is given as `where`.
        where: the place, such as a file's name; the whole message is "where: what".
        fault: whose fault it is, where that is not what the class says.
    """

    exit_code = 1
    fault = Fault.TOOL

    def __init__(self, what: str, *, where: str = "", fault: Fault | None = None) -> None:
        super().__init__(f"{where}: {what}" if where else what)
        self.what = what
        self.where = where
        if fault is not None:
            self.fault = fault


@contextlib.contextmanager
def blame(fault: Fault) -> Iterator[None]:
    """Whatever is wrong with what is read within (`InputError`) is `fault`'s: the caller knows who wrote it."""
    try:
        yield
    except InputError as error:
        error.fault = fault
        raise


class InputError(LinklabError):
    """A file or argument that a person gave is wrong."""

    exit_code = 2
    fault = Fault.GIVEN


class FieldError(InputError):
    """One value of a table or a form cannot be; key: which, "discipline.target" where it is in a table of its own."""

    def __init__(self, what: str, *, key: str = "", where: str = "", fault: Fault | None = None) -> None:
        super().__init__(what, where=where, fault=fault)
        self.key = key


class TopologyError(InputError):
    """A topology file cannot be used."""

    fault = Fault.TOPOLOGY


class ManualError(InputError):
    """A manual cannot be parsed."""


class LabError(InputError):
    """A lab's description is wrong, or there is no such lab."""


class BundleError(InputError):
    """A submission's archive cannot be read, or is no submission."""

    fault = Fault.SUBMISSION


class DataError(InputError):
    """Captured output holds no measurement, or not a whole one."""


class NothingMeasuredError(DataError):
    """The tool that measures did its work, and says that nothing got through; `what` ends with its words."""

    fault = Fault.NETWORK


class StateError(InputError):
    """A network's settings hold something that cannot be repeated or changed."""

    fault = Fault.NETWORK


class EngineError(LinklabError):
    """The network could not be built or run."""

    exit_code = 3


class BootError(EngineError):
    """The pocket kernel did not come up."""

    fault = Fault.MACHINE


class ShortageError(EngineError):
    """The machine lacks what a network needs of it while it runs: room on its disk, memory, open files."""

    fault = Fault.MACHINE


class AgentError(EngineError):
    """The agent inside reported a failure, and whose fault it is."""


class DeadlineError(EngineError):
    """Something did not end within its wall-clock deadline."""


class OverusedError(EngineError):
    """A network was stopped because it took more of this machine than it may."""


class MissingError(LinklabError):
    """A package, a tool, the kernel or disk space is missing on this machine."""

    exit_code = 4
    fault = Fault.MACHINE
