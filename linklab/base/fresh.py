# SPDX-License-Identifier: BSD-3-Clause
"""A worker with an interpreter of its own: `python -m linklab.base.fresh CHANNEL PARENT`, started by `worker.fresh`.

Its task comes as a pickle on standard input, from its parent alone.
"""

from __future__ import annotations

import os
import pickle
import sys
from multiprocessing.connection import Connection
from pathlib import Path

from linklab.base.worker import Task, live


def _task() -> Task:
    task: Task = pickle.load(sys.stdin.buffer)  # noqa: S301 - our parent wrote it
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    return task


if __name__ == "__main__":
    live(int(sys.argv[2]), Connection(int(sys.argv[1]), readable=False), _task)
