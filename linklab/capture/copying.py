# SPDX-License-Identifier: BSD-3-Clause
"""A capture into a file, a pipe or Wireshark: copied in the caller's thread or in one of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

from linklab.capture.session import CaptureOrder, CaptureSession
from linklab.errors import LinklabError
from linklab.terminal.attach import Connection

MOST_NAMES = 10_000
END_S = 5.0


def copy(
    session: CaptureSession,
    out: IO[bytes],
    begun: Callable[[list[str]], None] = lambda _: None,
    gone: Callable[[str], None] = lambda _: None,
) -> None:
    """Copy a capture until its end; each batch of packets is passed on at once.

    Args:
        session: the capture.
        out: where to; where nobody reads any more, the capture ends.
        begun: called with the interfaces once they are listened to.
        gone: called with each interface that is deleted meanwhile.

    Raises:
        LinklabError: as `CaptureSession.stream`.
        OSError: it cannot be written.
    """
    has_begun = False
    for blocks in session.stream():
        if session.listens and not has_begun:
            has_begun = True
            begun(session.listens)
        while session.gone:
            gone(session.gone.pop(0))
        try:
            out.write(b"".join(block for _, block in blocks))
            out.flush()
        except BrokenPipeError:  # Wireshark was closed, or the program behind the pipe has ended
            session.stop()
            return


def summary(session: CaptureSession, name: str) -> str:
    """Return what a capture has come to, as a sentence; `name` says where it went."""
    packets = f"{session.captured:,} packet{'' if session.captured == 1 else 's'}"
    lost = f"{session.dropped:,} {'was' if session.dropped == 1 else 'were'}"
    dropped = f"; {lost} dropped because what reads the capture was too slow" if session.dropped else ""
    ended = {"network": "the network has ended: ", "gone": "the interface is gone: "}.get(session.ended, "")
    return f"{ended}{packets} to {name}{dropped}"


def free_name(folder: Path, place: str) -> Path:
    """Return a name after an interface, such as h1-eth0.pcapng, that no file of the folder has yet."""
    node, _, name = place.partition(":")
    stem = "".join(letter if letter.isalnum() or letter in "-." else "_" for letter in name or node) or "capture"
    names = (folder / f"{stem}{f'-{number}' if number > 1 else ''}.pcapng" for number in range(1, MOST_NAMES))
    return next(path for path in names if not path.exists())


class BackgroundCapture:
    """A capture that a thread copies.

    Args:
        connection: to the network's terminals, for this capture alone.
        workdir: the network's working folder.
        order: what to capture.
        out: where to; it is closed at the end.
        name: of that, for the summary.
        begun: called in that thread when it listens.
        ended: called in that thread at the end, with the summary, or why it could not go on, and whether that is bad.

    Raises:
        LinklabError: as `CaptureSession`.
    """

    def __init__(
        self,
        connection: Connection,
        workdir: Path,
        order: CaptureOrder,
        out: IO[bytes],
        name: str,
        *,
        begun: Callable[[list[str]], None] = lambda _: None,
        ended: Callable[[str, bool], None] = lambda _, __: None,
    ) -> None:
        self.session = CaptureSession(connection, workdir, order)
        self._out, self._name, self._begun, self._ended = out, name, begun, ended
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        said, is_bad = "", False
        try:
            with self.session:
                copy(self.session, self._out, self._begun)
            said = summary(self.session, self._name)
        except (LinklabError, OSError) as error:
            said, is_bad = str(error), True
        with contextlib.suppress(OSError):
            self._out.close()
        self._ended(said, is_bad)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """Ask it to end; `ended` follows."""
        self.session.stop()

    def wait(self, seconds: float = END_S) -> None:
        """Wait for its end."""
        self._thread.join(seconds)
