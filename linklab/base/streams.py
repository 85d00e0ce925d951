# SPDX-License-Identifier: BSD-3-Clause
"""Standard output and standard error of a command whose reader may leave, as that of `linklab … | head -1` does.

A command that only prints ends then; one that does work goes on, says the rest to nobody, and keeps its exit code.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Iterator
from typing import TextIO

GONE = (errno.EPIPE, errno.EIO)
"""What writing gives where the reader of a pipe, or a terminal, has gone."""


class ReaderGoneError(Exception):
    """Nobody reads standard output any more. No OSError, so that no library takes it for one of its own."""


class _Watched(io.TextIOWrapper):
    """The same stream for text; once its reader has gone, what is written goes nowhere."""

    def __init__(self, stream: io.TextIOWrapper, *, goes_on: bool) -> None:
        stream.flush()
        super().__init__(
            stream.buffer, stream.encoding, stream.errors, newline="\n", line_buffering=stream.line_buffering
        )
        self._goes_on = goes_on

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except OSError as error:
            self._failed(error)
        return len(text)

    def flush(self) -> None:
        try:
            super().flush()
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        # What waits in the buffer goes there too, so that there is no second complaint when the program ends.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self.fileno())
        os.close(nowhere)
        if error.errno not in GONE:
            raise error
        if not self._goes_on:
            raise ReaderGoneError from error


@contextlib.contextmanager
def watched(*, goes_on: bool) -> Iterator[None]:
    """Watch standard output and standard error within the block; both have been written when it ends.

    Args:
        goes_on: whether the block goes on when nobody reads its output any more. Nobody has to read its errors.

    Raises:
        ReaderGoneError: nobody does, and it does not.
        OSError: the output cannot be written for another reason, such as a full disk.
    """
    _open_all()
    before = (sys.stdout, sys.stderr)
    sys.stdout, sys.stderr = _watch(sys.stdout, goes_on=goes_on), _watch(sys.stderr, goes_on=True)
    ours = (sys.stdout, sys.stderr)
    try:
        try:
            yield
        finally:
            for stream in ours:
                stream.flush()
    finally:
        sys.stdout, sys.stderr = before
        for stream in ours:
            if isinstance(stream, _Watched):
                stream.detach()  # or the end of this object would close what is below it


def _watch(stream: TextIO, *, goes_on: bool) -> TextIO:
    return _Watched(stream, goes_on=goes_on) if isinstance(stream, io.TextIOWrapper) else stream


def _open_all() -> None:
    """Put /dev/null where a standard stream is closed (`>&-`), or the next file that is opened would take its place."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole program
    if sys.stderr is None:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole program
