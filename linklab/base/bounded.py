# SPDX-License-Identifier: BSD-3-Clause
"""A piece of work of this process that may take so much of the processor and of memory, and no more.

For the reading of files by strangers, of which nobody knows what they cost before they are read. What is beyond ends
that one piece by an error, and the process goes on.
"""

from __future__ import annotations

import contextlib
import resource
import signal
import threading
from collections.abc import Iterator
from typing import NoReturn

from linklab.errors import DataError

_AGAIN_S = 0.5
"""Processor seconds after which it is said again, where Python lost the error, as in a destructor."""


class _OverError(BaseException):
    """It takes the processor too long; no Exception, which somebody on the way might handle."""


@contextlib.contextmanager
def bounded(most_s: float, most_bytes: int, what: str) -> Iterator[None]:
    """Raise DataError where what is done inside takes more; only in the main thread, whose signals it uses.

    Args:
        most_s: of processor time outside of the kernel, of all threads (setitimer(2), ITIMER_VIRTUAL).
        most_bytes: that the whole process has of its own (setrlimit(2), RLIMIT_DATA).
        what: is done, for the error.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(*_: object) -> NoReturn:
        raise _OverError

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    least = min(limit for limit in (most_bytes, soft, hard) if limit != resource.RLIM_INFINITY)
    before = signal.signal(signal.SIGVTALRM, over)
    resource.setrlimit(resource.RLIMIT_DATA, (least, hard))
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, most_s, _AGAIN_S)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _OverError:
        raise DataError(f"{what} takes more than {most_s:g} s of processor time") from None
    except RecursionError:
        raise DataError(f"{what} goes deeper than Python does") from None
    except (MemoryError, SystemError):  # the latter where a module in C did not say that it got no memory
        raise DataError(f"{what} takes more than {most_bytes / 2**30:g} GiB of memory") from None
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        signal.signal(signal.SIGVTALRM, before)
