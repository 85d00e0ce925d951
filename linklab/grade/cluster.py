# SPDX-License-Identifier: BSD-3-Clause
"""Units of grading on a Dask cluster: bundles and course file travel as bytes, so workers need no shared folder.

A worker needs the same Linklab with its kernel, and bubblewrap; a thread of it starts the same process for a unit as
this machine would, and waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from linklab import __version__
from linklab.base.cluster import Piece, Sender, WorkerReady, WorkerWords, connected, threads_of
from linklab.base.text import one_line
from linklab.errors import LinklabError
from linklab.exercise.report import Report
from linklab.grade.worker import Done, Happenings, Unit, failed, grading_engine, run_unit

_WORDS = WorkerWords("grading", "grade", "graded")


def run_on_cluster(
    units: Sequence[Callable[[], Unit | Report]], address: str, options: Mapping[str, Any]
) -> Happenings:
    """Have all units graded; (index, what came of it) in the order in which they end, and None while nothing does.

    Args:
        units: each made when it is due.
        address: of the scheduler, such as "tcp://10.0.0.5:8786".
        options: of the units; says what is looked for on the workers.

    Raises:
        MissingError: the extra, the scheduler, a worker, or what a worker needs.
    """
    with connected(address, _WORDS) as client:
        threads = _threads(client, address, sandboxed=bool(options.get("sandboxed", True)))
        sender = Sender(client, [_piece(unit) for unit in units], threads, lambda why: Done(failed(why)), _WORDS)
        for happened in sender.run():
            if happened is None:
                yield None
            elif happened[1] is not None:
                yield happened[0], happened[1].value


def _piece(make: Callable[[], Unit | Report]) -> Piece[Done]:
    def due() -> partial[Done] | WorkerReady[Done]:
        unit = make()
        return WorkerReady(Done(unit)) if isinstance(unit, Report) else partial(run_unit, unit)

    return due


def _threads(client: Any, address: str, *, sandboxed: bool) -> int:
    return threads_of(client, address, _WORDS, partial(examine, sandboxed=sandboxed))


def examine(*, sandboxed: bool) -> tuple[str, str]:
    """On a worker: its version of Linklab, and what keeps it from grading ("" for nothing)."""
    try:
        grading_engine(sandboxed=sandboxed).check()
    except LinklabError as error:
        return __version__, one_line(str(error))
    return __version__, ""
