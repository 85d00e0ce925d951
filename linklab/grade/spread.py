# SPDX-License-Identifier: BSD-3-Clause
"""Work spread over processes that end with this one; what each gives comes as soon as it is there.

For `linklab exercise verify`, whose tasks are ours: a task that raises ends the whole.  Submissions are spread by
`linklab.grade.batch`, which goes on whatever happens to one.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from typing import Any, TypeVar

from linklab.base.processes import end, settle_in
from linklab.errors import LinklabError

T = TypeVar("T")


class SpreadError(LinklabError):
    """A process of ours broke; its sentence."""

    exit_code = 3


def spread(tasks: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """What the tasks give, in the order in which they end.

    Args:
        tasks: each runs in a process of its own, a copy of this one.
        jobs: how many at once.

    Raises:
        SpreadError: one raised, or its process ended without a word; the others are ended.
    """
    context = multiprocessing.get_context("fork")
    due = list(tasks)
    running: dict[Connection, ForkProcess] = {}
    try:
        while due or running:
            while due and len(running) < jobs:
                ours, theirs = context.Pipe(duplex=False)
                process = context.Process(target=_work, args=(os.getpid(), theirs, due.pop(0)))
                process.start()
                theirs.close()
                running[ours] = process
            for connection in wait(list(running)):
                assert isinstance(connection, Connection)
                good, found = _received(connection)
                running.pop(connection).join()
                connection.close()
                if not good:
                    raise SpreadError(str(found))
                yield found
    finally:
        end(list(running.values()))


def _received(connection: Connection) -> tuple[bool, Any]:
    try:
        good, found = connection.recv()
    except (EOFError, OSError):
        return False, "a process of ours ended without a word"
    return good, found


def _work(parent: int, report: Connection, task: Callable[[], Any]) -> None:
    """The life of one process."""
    try:
        if settle_in(parent):
            report.send((True, task()))
    except KeyboardInterrupt:
        pass
    except LinklabError as error:
        report.send((False, str(error)))
    except Exception as error:  # the parent says it; a traceback would go through its progress display
        report.send((False, f"{type(error).__name__}: {error}"))
