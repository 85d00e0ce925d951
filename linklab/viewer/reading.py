# SPDX-License-Identifier: BSD-3-Clause
"""Files → data sets, read in processes of their own so that the window stays fluent; each is told as it is ready.

`Reader` starts them and posts what they tell into a queue; the window empties it a few times a second. No tkinter here.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from linklab.base.processes import processors
from linklab.base.supervise import Ended, Job, Told, supervised
from linklab.base.worker import Tell
from linklab.data import Dataset
from linklab.errors import DataError
from linklab.viewer import cache

TICK_S = 0.2
GRACE_S = 2.0
MOST_WORKERS = 4


@dataclass(frozen=True, eq=False)
class ReadAnswer:
    """What came of one file: its data set, or a sentence why there is none."""

    path: Path
    data: Dataset | None
    why: str = ""


def read_files(paths: Sequence[Path], tell: Tell) -> None:
    """In a process of its own: read these files, one after the other, and tell each."""
    for path in paths:
        tell(answer_of(path))
    cache.tidy()


def answer_of(path: Path) -> ReadAnswer:
    """Read one file."""
    try:
        return ReadAnswer(path, cache.read(path))
    except DataError as error:
        return ReadAnswer(path, None, str(error))
    except MemoryError:
        return ReadAnswer(path, None, f"{path}: too large for this machine's memory")


class Reader:
    """Reads files in the background."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[ReadAnswer] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._waiting: set[Path] = set()

    @property
    def left(self) -> int:
        """How many files are still to be read."""
        return len(self._waiting)

    def read(self, paths: Sequence[Path]) -> None:
        """Begin to read these files, the first ones first."""
        new = [path for path in dict.fromkeys(paths) if path not in self._waiting]
        if not new or self._stopped.is_set():
            return
        self._waiting.update(new)
        thread = threading.Thread(target=self._work, args=(new,), daemon=True)
        self._threads.append(thread)
        thread.start()

    def answers(self) -> list[ReadAnswer]:
        """What has been read since the last call."""
        found = []
        while True:
            try:
                found.append(self._answers.get_nowait())
            except queue.Empty:
                break
        self._waiting.difference_update(each.path for each in found)
        return found

    def stop(self) -> None:
        """End all that is being read."""
        self._stopped.set()
        for thread in self._threads:
            thread.join(GRACE_S + 2 * TICK_S)

    def _work(self, paths: Sequence[Path]) -> None:
        """Share the files out among processes; what one that dies leaves behind is told as not read."""
        workers = min(len(paths), processors(), MOST_WORKERS)
        shares = [list(paths[at::workers]) for at in range(workers)]
        here = Path.cwd()  # a new interpreter begins elsewhere, and the files may be named from here
        jobs = [Job(at, partial(read_files, share), fresh=True, folder=here) for at, share in enumerate(shares)]
        left = {at: dict.fromkeys(share) for at, share in enumerate(shares)}
        with supervised(jobs, workers, tick_s=TICK_S, grace_s=GRACE_S) as events:
            for event in events:
                if self._stopped.is_set():
                    return
                match event:
                    case Told(key=key, what=ReadAnswer() as answer):
                        left[key].pop(answer.path, None)
                        self._answers.put(answer)
                    case Ended(key=key):
                        why = str(event.error) if event.error is not None else "it was not read"
                        for path in left.pop(key):
                            self._answers.put(ReadAnswer(path, None, f"{path}: cannot be read: {why}"))
