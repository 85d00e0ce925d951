# SPDX-License-Identifier: BSD-3-Clause
"""Trials on a Dask cluster: a trial with its files travels to a worker, its data file back, so no folder is shared.

On a worker a trial has a process of its own, as on this machine. Commands for the host are not run there.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from linklab import __version__, native
from linklab.base.cluster import Piece, Sender, WorkerReady, WorkerWords, connected, threads_of
from linklab.base.supervise import Ended, Job, supervised
from linklab.base.text import one_line
from linklab.engine.choice import load_engine
from linklab.errors import EngineError, LinklabError
from linklab.experiment.runner import Deal, Happened
from linklab.experiment.trial_list import ListedTrial
from linklab.experiment.trial_work import Made, TrialOrder, TrialSettings, bundled, work

_WORDS = WorkerWords("running trials", "run trials", "run")


@dataclass(frozen=True)
class Sent:
    """What came of a trial elsewhere.

    content: of its data file; empty where `why` says why there is none.
    made: what else is known of it.
    log: what its process printed.
    """

    content: bytes = b""
    made: Made | None = None
    why: str = ""
    log: bytes = b""
    wall_s: float = 0.0


@contextlib.contextmanager
def cluster(address: str, how: TrialSettings) -> Iterator[tuple[Deal, int]]:
    """A cluster that does trials, and how many at once.

    Args:
        address: of the scheduler, such as "tcp://10.0.0.5:8786".
        how: its functions are of modules that the workers have too.

    Raises:
        MissingError: the extra, the scheduler, a worker, or what a worker needs.
    """
    with connected(address, _WORDS) as client:
        threads = threads_of(client, address, _WORDS, examine)
        yield partial(_deal, client, threads, how), threads


def examine() -> tuple[str, str]:
    """On a worker: its version of Linklab, and what keeps it from giving the bytes of this machine ("" for nothing)."""
    try:
        load_engine("pocket").check()
    except LinklabError as error:
        return __version__, one_line(str(error))
    return __version__, "; ".join(native.build())


def run_away(bundle: TrialOrder, how: TrialSettings) -> Sent:
    """Do a trial in a process of its own and in a folder that goes again."""
    with tempfile.TemporaryDirectory(prefix="linklab-trial-") as name:
        place = Path(name) / "work"
        place.mkdir()
        log = Path(name) / "log"
        task = partial(work, bundle, place, how)
        ended: Ended[Made] | None = None
        with supervised([Job(0, task, fresh=True, folder=place, printed=log)], 1) as events:
            for event in events:
                ended = event if isinstance(event, Ended) else ended
        assert ended is not None
        printed = log.read_bytes() if log.exists() else b""
        if ended.value is None:
            return Sent(why=one_line(str(ended.error)), log=printed, wall_s=ended.wall_s)
        return Sent(ended.value.file.read_bytes(), ended.value, "", printed, ended.wall_s)


def _deal(
    client: Any, threads: int, how: TrialSettings, entries: Sequence[tuple[int, ListedTrial]], scratch: Path
) -> Iterator[Happened]:
    pieces = [_piece(entry, how) for _, entry in entries]
    sender = Sender(client, pieces, threads, lambda why: Sent(why=why), _WORDS)
    for happened in sender.run():
        if happened is None:
            yield None
            continue
        index, came = happened
        number, entry = entries[index]
        if came is None:
            yield "began", number, None
        else:
            yield "ended", number, (_unpacked(entry, came.value, scratch / str(number)), came.value.wall_s)


def _piece(entry: ListedTrial, how: TrialSettings) -> Piece[Sent]:
    def due() -> partial[Sent] | WorkerReady[Sent]:
        try:
            return partial(run_away, bundled(entry), how)
        except LinklabError as error:
            return WorkerReady(Sent(why=str(error)))

    return due


def _unpacked(entry: ListedTrial, sent: Sent, place: Path) -> Made | LinklabError:
    """What came back, as if it had been made here."""
    place.mkdir()
    (place / "log").write_bytes(sent.log)
    if sent.made is None:
        return EngineError(sent.why)
    file = place / Path(entry.file).name
    file.write_bytes(sent.content)
    return replace(sent.made, file=file)
