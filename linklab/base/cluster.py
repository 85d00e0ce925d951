# SPDX-License-Identifier: BSD-3-Clause
"""Work on a Dask cluster: what is to be done travels to workers as pickles, and what came of it back.

A worker needs the same Linklab; a thread of it does one piece of work at a time. A pocket wants a processor to itself,
so a worker should have no more threads than processors, which is Dask's default. Needs the extra "cluster"
(https://distributed.dask.org).
"""

from __future__ import annotations

import contextlib
import logging
import queue
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

from linklab import __version__
from linklab.base.text import one_line
from linklab.errors import MissingError

R = TypeVar("R")

CONNECT_S = 20
WORKERS_S = 30
CLOSE_S = 5
_AHEAD = 2
"""Pieces of work that a thread of the cluster has: one that runs and one that waits."""


@dataclass(frozen=True)
class WorkerReady(Generic[R]):
    """What needs no cluster: its outcome."""

    value: R


Piece: TypeAlias = "Callable[[], partial[R] | WorkerReady[R]]"
"""Called when it is due: what a worker is to call, or the outcome."""


@dataclass(frozen=True)
class WorkerWords:
    """What a purpose is called in messages: "grading", "grade", "graded"."""

    doing: str
    do: str
    done: str


@contextlib.contextmanager
def connected(address: str, words: WorkerWords) -> Iterator[Any]:
    """A client of the scheduler at an address such as "tcp://10.0.0.5:8786".

    Raises:
        MissingError: the extra is missing, or no scheduler answers.
    """
    try:
        from distributed import Client  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        raise MissingError(
            f'{words.doing} on a cluster needs the extra "cluster"; install it with: pip install "linklab[cluster]"'
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters of it is told in outcomes
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        why = one_line(str(error))
        raise MissingError(f"no Dask scheduler answers at {address} ({why}); `dask scheduler` starts one") from error
    try:
        yield client
    finally:
        with contextlib.suppress(Exception):  # a client without a scheduler fails in many ways, and all is done
            client.close(timeout=CLOSE_S)


def threads_of(client: Any, address: str, words: WorkerWords, examine: Callable[[], tuple[str, str]]) -> int:
    """How many threads all workers have.

    Args:
        client: connected.
        address: of the scheduler, for messages.
        words: for messages.
        examine: called on each worker: its version of Linklab, and what keeps it from working ("" for nothing).

    Raises:
        MissingError: there is no worker, or one cannot do the work.
    """
    from distributed import TimeoutError as NoWorkersError  # noqa: PLC0415 - an extra

    try:
        client.wait_for_workers(1, timeout=WORKERS_S)
    except (NoWorkersError, TimeoutError) as error:
        raise MissingError(f"no worker has come to {address}; `dask worker {address}` starts one") from error
    for name, found in client.run(examine, on_error="return").items():
        if isinstance(found, BaseException):
            raise MissingError(
                f"the worker {name} cannot {words.do} ({one_line(str(found))}); install Linklab {__version__} there"
            )
        version, missing = found
        if version != __version__:
            raise MissingError(f"the worker {name} has Linklab {version}, and this is {__version__}")
        if missing:
            raise MissingError(f"the worker {name} cannot {words.do}: {missing}")
    return sum(client.nthreads().values())


class Sender(Generic[R]):
    """Keeps a number of pieces of work under way.

    Args:
        client: connected.
        pieces: in the order in which they are due.
        threads: of the cluster.
        failed: the outcome of what could not be done, from the reason in words.
        words: for reasons.
    """

    def __init__(
        self, client: Any, pieces: Sequence[Piece[R]], threads: int, failed: Callable[[str], R], words: WorkerWords
    ) -> None:
        self.client, self.pieces, self.ahead, self.failed, self.words = client, pieces, threads * _AHEAD, failed, words
        self.ended: queue.Queue[tuple[int, Any]] = queue.Queue()
        self.lost = ""

    def run(self) -> Iterator[tuple[int, WorkerReady[R] | None] | None]:
        """(index, None) where a piece is sent, (index, outcome) where it has ended, and None while nothing happens."""
        due = list(range(len(self.pieces)))
        under_way: dict[int, Any] = {}
        try:
            while due or under_way:
                while due and (self.lost or len(under_way) < self.ahead):
                    index = due.pop(0)
                    yield index, None
                    sent = self._send(index)
                    if isinstance(sent, WorkerReady):
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

    def _send(self, index: int) -> WorkerReady[R] | Any:
        """Its future, or what came of it where it needs no worker or cannot be sent."""
        piece = self.pieces[index]()
        if isinstance(piece, WorkerReady):
            return piece
        if self.lost:
            return WorkerReady(self.failed(self.lost))
        try:
            future = self.client.submit(piece, pure=False, retries=1)
            future.add_done_callback(lambda done: self.ended.put((index, done)))
        except Exception as error:  # as in `_result`
            return self._refused(error)
        return future

    def _result(self, future: Any) -> WorkerReady[R]:
        try:
            if future.status == "finished":
                return WorkerReady(future.result(timeout=CONNECT_S))
            if future.status in ("cancelled", "lost"):
                self.lost = f"The connection to the cluster was lost before this was {self.words.done}."
                return WorkerReady(self.failed(self.lost))
            error = future.exception(timeout=CONNECT_S)
        except Exception as failure:  # the library has many, and each costs one piece of work
            error = failure
        return self._refused(error)

    def _refused(self, error: BaseException | None) -> WorkerReady[R]:
        why = f"The cluster could not {self.words.do} this: {type(error).__name__}: {one_line(str(error))}"
        return WorkerReady(self.failed(why))
