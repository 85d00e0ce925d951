# SPDX-License-Identifier: BSD-3-Clause
"""The one tree of errors; each message is a sentence: where, what was found, what to do.

    LinklabError
    ├── InputError        a file or argument the person gave           exit 2
    │   ├── TopologyError     a .mn file
    │   ├── ManualError       a manual.md
    │   ├── LabError          a lab.toml, or a lab that does not exist
    │   ├── BundleError       a submission's .zip
    │   ├── DataError         captured output that cannot be read
    │   └── StateError        settings of a network that cannot be repeated
    ├── EngineError       the network could not be run                 exit 3
    │   ├── BootError         the kernel did not come up
    │   ├── AgentError        the agent reported a failure
    │   └── DeadlineError     something did not end in time
    └── MissingError      a package, tool, kernel or space is missing  exit 4

Exit 1 is for a run that worked but did not meet its expectations; 130 for Ctrl+C.
"""

TO_COPY = "\n    "
"""Stands in a message before its end that is to be copied, which is shown on a line of its own."""


class LinklabError(Exception):
    """Base of all errors a person can be shown as one line, and at most one to copy."""

    exit_code = 1


class InputError(LinklabError):
    """A file or argument that a person gave is wrong."""

    exit_code = 2


class TopologyError(InputError):
    """A topology file cannot be used."""


class ManualError(InputError):
    """A manual cannot be parsed."""


class LabError(InputError):
    """A lab's description is wrong, or there is no such lab."""


class BundleError(InputError):
    """A submission's archive cannot be read, or is no submission."""


class DataError(InputError):
    """Captured output holds no measurement, or not a whole one."""


class StateError(InputError):
    """A network's settings hold something that cannot be repeated or changed."""


class EngineError(LinklabError):
    """The network could not be built or run."""

    exit_code = 3


class BootError(EngineError):
    """The pocket kernel did not come up."""


class AgentError(EngineError):
    """The agent inside reported a failure."""


class DeadlineError(EngineError):
    """Something did not end within its wall-clock deadline."""


class MissingError(LinklabError):
    """A package, a tool, the kernel or disk space is missing on this machine."""

    exit_code = 4
