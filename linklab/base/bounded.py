# SPDX-License-Identifier: BSD-3-Clause
"""Limits on the processor time and the memory of one piece of work of this process.

For the reading of files by strangers, of which nobody knows what they cost before they are read.  What is beyond ends
that one piece by an error, and the process goes on.
"""

from __future__ import annotations

import resource
import signal
import threading
from types import FrameType, TracebackType

from linklab.errors import DataError

_AGAIN_S = 0.5
"""Processor seconds after which the error is raised again, where Python lost it, as in a destructor."""


class _OverError(BaseException):
    """It takes the processor too long; no Exception, which somebody on the way might handle."""


class Bounded:
    """A block that ends by DataError where what is done in it takes more; not within another one.

    Only the main thread is bounded, whose signals it uses.
    """

    def __init__(self, most_s: float, most_bytes: int, what: str) -> None:
        """Set the limits.

        Args:
            most_s: of processor time outside of the kernel, of all threads (setitimer(2), ITIMER_VIRTUAL).
            most_bytes: that the whole process may have of its own meanwhile (setrlimit(2), RLIMIT_DATA).
            what: subject of the error message.
        """
        self.most_s, self.most_bytes, self.what = most_s, most_bytes, what
        self._bounds = False
        self._armed = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[0] == 0, "one block is bounded at a time"
        self._bounds = True
        self._limits = resource.getrlimit(resource.RLIMIT_DATA)
        limits = [limit for limit in (self.most_bytes, *self._limits) if limit != resource.RLIM_INFINITY]
        self._before = signal.signal(signal.SIGVTALRM, self._over)
        resource.setrlimit(resource.RLIMIT_DATA, (min(limits), self._limits[1]))
        self._armed = True
        signal.setitimer(signal.ITIMER_VIRTUAL, self.most_s, _AGAIN_S)

    def _over(self, _signal: int, _frame: FrameType | None) -> None:
        if self._armed:
            raise _OverError

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._armed = False  # first of all: from here on the signal changes nothing
        if not self._bounds:
            return
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._before)
        resource.setrlimit(resource.RLIMIT_DATA, self._limits)
        match error:
            case _OverError():
                raise DataError(f"{self.what} takes more than {self.most_s:g} s of processor time") from None
            case RecursionError():
                raise DataError(f"{self.what} goes deeper than Python does") from None
            case MemoryError() | SystemError():  # the latter where a module in C did not say that it got no memory
                raise DataError(f"{self.what} takes more than {self.most_bytes / 2**30:g} GiB of memory") from None
