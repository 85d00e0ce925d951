# SPDX-License-Identifier: BSD-3-Clause
"""What is to happen when, in one thread: times of the kernel's clock, ends of children, signals that end the test.

Signals are blocked and taken by sigtimedwait(2), so none comes in the middle of something, and none is lost. What is
due at one instant happens in the order FIRST to LAST.
"""

from __future__ import annotations

import heapq
import signal
import time
from collections.abc import Callable

FIRST, SECOND, THIRD, LAST = range(4)
ENDING = (signal.SIGINT, signal.SIGUSR1, signal.SIGTERM, signal.SIGHUP)
TAKEN = (signal.SIGCHLD, *ENDING)
NS = 1_000_000_000
FOREVER_NS = 3600 * NS


class Loop:
    """`notice` takes note of children that have ended, `interrupted` is called for a signal to end."""

    def __init__(self, notice: Callable[[], object], interrupted: Callable[[], None]) -> None:
        self.notice, self.interrupted = notice, interrupted
        self.agenda: list[tuple[int, int, int, Callable[[], None]]] = []
        self.count = 0
        signal.signal(signal.SIGCHLD, lambda *_: None)  # one that is ignored is not taken either
        signal.pthread_sigmask(signal.SIG_BLOCK, TAKEN)

    def at(self, due_ns: int, order: int, action: Callable[[], None]) -> None:
        """Do it then."""
        self.count += 1
        heapq.heappush(self.agenda, (due_ns, order, self.count, action))

    def every(self, first_ns: int, period_ns: int, order: int, action: Callable[[], None]) -> None:
        """Do it then and at whole periods from then on; one that is missed is made up for at once, once."""

        def again(due_ns: int) -> None:
            action()
            missed = max(0, time.monotonic_ns() - due_ns) // period_ns
            later = due_ns + (missed + 1) * period_ns
            self.at(later, order, lambda: again(later))

        self.at(first_ns, order, lambda: again(first_ns))

    def forget(self) -> None:
        """Do nothing of what was to be done."""
        self.agenda.clear()

    def run(self, until: Callable[[], bool], deadline_ns: int | None = None) -> None:
        """Until that is so, or its time is over."""
        while not until():
            now = time.monotonic_ns()
            if deadline_ns is not None and now >= deadline_ns:
                return
            if self.agenda and self.agenda[0][0] <= now:
                heapq.heappop(self.agenda)[3]()
                continue
            due = min([FOREVER_NS + now, *[d for d in (deadline_ns,) if d], *[entry[0] for entry in self.agenda[:1]]])
            taken = signal.sigtimedwait(TAKEN, (due - now) / NS)
            if taken is None:
                continue
            if taken.si_signo == signal.SIGCHLD:
                self.notice()
            else:
                self.interrupted()
