# SPDX-License-Identifier: BSD-3-Clause
"""A program that runs on a node for a window, which sees its lines as they come and can end it at any moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from linklab.editor.running import Runner, Session

BEGIN_DEADLINE_S = 30


class Program:
    """`take` gets each line, `ended` its end, `failed` why it could not start; all in the window's thread.

    After `stop` nothing is heard of it any more.
    """

    def __init__(
        self,
        runner: Runner,
        node: str,
        argv: Sequence[str],
        *,
        take: Callable[[str], None],
        ended: Callable[[], None],
        failed: Callable[[str], None],
    ) -> None:
        self.is_over = False
        self._runner, self._node, self._argv = runner, node, argv
        self._take, self._ended, self._failed = take, ended, failed
        self._hang_up: Callable[[], None] | None = None
        runner.order(self._start, self._started, self._refused)

    def stop(self) -> None:
        """End it, also if it has yet to start."""
        if not self.is_over:
            self.is_over = True
            if self._hang_up is not None:
                self._hang_up()

    def _start(self, session: Session) -> Callable[[], None]:
        """In a thread of the runner's; what ends the program."""
        terminal = session.follow(
            self._node,
            self._argv,
            lambda line: self._runner.post(partial(self._took, line)),
            what=f"starting {self._argv[0]} on {self._node}",
            deadline_s=BEGIN_DEADLINE_S,
            ended=lambda: self._runner.post(self._over),
        )
        return partial(session.server.terminals.hang_up, terminal)

    def _started(self, hang_up: Callable[[], None]) -> None:
        if self.is_over:
            hang_up()
        self._hang_up = hang_up

    def _took(self, line: str) -> None:
        if not self.is_over:
            self._take(line)

    def _over(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._ended()

    def _refused(self, why: str) -> None:
        if not self.is_over:
            self.is_over = True
            self._failed(why)
