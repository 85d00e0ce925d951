# SPDX-License-Identifier: BSD-3-Clause
"""Units of grading on a Dask cluster: bundles and course file travel as bytes, so workers need no shared folder.

A worker needs the same Linklab with its kernel, and bubblewrap; a thread of it starts the same process for a unit as
this machine would, and waits for it. A pocket wants a processor to itself, so a worker should have no more threads than
processors, which is Dask's default. Needs the extra "cluster" (https://distributed.dask.org).
"""

from __future__ import annotations

import contextlib
import logging
import queue
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linklab import __version__
from linklab.base.text import one_line
from linklab.errors import LinklabError, MissingError
from linklab.exercise.report import Report
from linklab.grade.worker import Done, Happenings, Unit, failed, grading_engine, run_unit

CONNECT_S = 20
WORKERS_S = 30
CLOSE_S = 5
_AHEAD = 2
"""Units that a thread of the cluster has: one that runs and one that waits."""


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
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingError(
            'grading on a cluster needs the extra "cluster"; install it with: pip install "linklab[cluster]"'
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is told in reports
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        why = one_line(str(error))
        raise MissingError(f"no Dask scheduler answers at {address} ({why}); `dask scheduler` starts one") from error
    try:
        threads = _workers(client, address, sandboxed=bool(options.get("sandboxed", True)))
        yield from _Sender(client, units, threads * _AHEAD).run()
    finally:
        with contextlib.suppress(Exception):  # as in `_Sender.run`
            client.close(timeout=CLOSE_S)


class _Sender:
    """Keeps a number of units under way."""

    def __init__(self, client: Any, units: Sequence[Callable[[], Unit | Report]], ahead: int) -> None:
        self.client, self.units, self.ahead = client, units, ahead
        self.ended: queue.Queue[tuple[int, Any]] = queue.Queue()
        self.lost = ""

    def run(self) -> Iterator[tuple[int, Done] | None]:
        due = list(range(len(self.units)))
        under_way: dict[int, Any] = {}
        try:
            while due or under_way:
                while due and (self.lost or len(under_way) < self.ahead):
                    index = due.pop(0)
                    sent = self._send(index)
                    if isinstance(sent, Done):
                        yield index, sent
                    else:
                        under_way[index] = sent
                if not under_way:
                    continue
                try:
                    index, future = self.ended.get(timeout=0.25)
                except queue.Empty:
                    yield None
                    continue
                del under_way[index]
                yield index, self._result(future)
        finally:
            with contextlib.suppress(Exception):  # a client without a scheduler fails in many ways, and all is done
                self.client.cancel(list(under_way.values()))

    def _send(self, index: int) -> Done | Any:
        """Its future, or what came of it where it needs no grading or cannot be sent."""
        unit = self.units[index]()
        if isinstance(unit, Report):
            return Done(unit)
        if self.lost:
            return Done(failed(self.lost))
        try:
            future = self.client.submit(run_unit, unit, pure=False, retries=1)
            future.add_done_callback(lambda done: self.ended.put((index, done)))
        except Exception as error:  # as in `_result`
            return Done(_refused(error))
        return future

    def _result(self, future: Any) -> Done:
        try:
            if future.status == "finished":
                done = future.result(timeout=CONNECT_S)
                assert isinstance(done, Done)
                return done
            if future.status in ("cancelled", "lost"):
                self.lost = "The connection to the cluster was lost before this was graded."
                return Done(failed(self.lost))
            error = future.exception(timeout=CONNECT_S)
        except Exception as failure:  # the library has many, and each costs one submission
            error = failure
        return Done(_refused(error))


def examine(*, sandboxed: bool) -> tuple[str, str]:
    """On a worker: its version of Linklab, and what keeps it from grading ("" for nothing)."""
    try:
        grading_engine(sandboxed=sandboxed).check()
    except LinklabError as error:
        return __version__, one_line(str(error))
    return __version__, ""


def _workers(client: Any, address: str, *, sandboxed: bool) -> int:
    """How many threads all workers have; MissingError if there is none or one cannot grade."""
    from distributed import TimeoutError as NoWorkersError  # noqa: PLC0415 - an extra

    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except (NoWorkersError, TimeoutError) as error:
        raise MissingError(f"no worker has come to {address}; `dask worker {address}` starts one") from error
    for name, found in client.run(examine, sandboxed=sandboxed, on_error="return").items():
        if isinstance(found, BaseException):
            raise MissingError(
                f"the worker {name} cannot grade ({one_line(str(found))}); install Linklab {__version__} there"
            )
        version, missing = found
        if version != __version__:
            raise MissingError(f"the worker {name} has Linklab {version}, and this is {__version__}")
        if missing:
            raise MissingError(f"the worker {name} cannot grade: {missing}")
    return sum(client.nthreads().values())


def _refused(error: BaseException | None) -> Report:
    return failed(f"The cluster could not grade this: {type(error).__name__}: {one_line(str(error))}")
