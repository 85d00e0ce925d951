# SPDX-License-Identifier: BSD-3-Clause
"""A stream socket as a stream of messages in both directions, whose sender never waits.

What the socket has no room for is kept and written by the thread that receives, so a reader that has stopped, or an
agent whose time stands still, holds up nobody who has something to say to it. Frames as in `linklab.agent.protocol`.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import socket
import threading
from typing import Any

from linklab.agent import protocol

READ_BYTES = 65536


class FrameStream:
    """Messages over one socket: any thread may send, one receives and closes.

    largest: bytes of a message that is received; a longer one is refused.
    most_values: in it, as of `protocol.Decoder`.
    """

    def __init__(self, stream: socket.socket, largest: int = protocol.LARGEST, most_values: int | None = None) -> None:
        stream.setblocking(False)
        self._stream = stream
        self._decoder = protocol.Decoder(most_values)
        self._largest = largest
        self._lock = threading.Lock()
        self._unsent = bytearray()
        self._waker = io.FileIO(os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC))

    def fileno(self) -> int:
        """The socket's descriptor, for a selector; -1 once it is closed."""
        return self._stream.fileno()

    @property
    def unsent(self) -> int:
        """Bytes that still wait for room."""
        with self._lock:
            return len(self._unsent)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message as far as there is room now; the rest follows when the receiving thread finds room.

        Raises:
            OSError: the other side has gone, or this one has been closed.
        """
        frame = protocol.encode(message)
        with self._lock:
            self._unsent += frame
            self._write()
            if self._unsent:
                os.eventfd_write(self._waker.fileno(), 1)

    def receive(self, timeout_s: float | None = None) -> list[dict[str, Any]] | None:
        """Wait for the next messages, and write meanwhile what there is room for.

        Args:
            timeout_s: wall seconds to wait at most; None waits for as long as it takes.

        Returns:
            The messages; [] if none has come within the time, or something was written first; None when the other
            side has gone, or `end` was called.

        Raises:
            ValueError: what came is not a frame.
        """
        poll = select.poll()
        with self._lock:
            if self._stream.fileno() < 0:
                return None
            events = select.POLLIN | (select.POLLOUT if self._unsent else 0)
            poll.register(self._stream, events)
            poll.register(self._waker, select.POLLIN)
        ready = dict(poll.poll(None if timeout_s is None else max(0.0, timeout_s) * 1000))
        if ready.pop(self._waker.fileno(), 0):
            os.eventfd_read(self._waker.fileno())
        happened = ready.get(self._stream.fileno(), 0)
        if happened & select.POLLOUT:
            with self._lock, contextlib.suppress(OSError):  # that it has gone is learnt by reading
                self._write()
        if happened & ~select.POLLOUT:
            return self._read()
        return []

    def _read(self) -> list[dict[str, Any]] | None:
        try:
            data = self._stream.recv(READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            return None
        messages = self._decoder.feed(data)
        if len(self._decoder.buffer) > self._largest:
            raise ValueError(f"a frame of more than {self._largest} bytes")
        return messages if data else None

    def _write(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._stream.send(self._unsent)]
        except BlockingIOError:
            return
        except OSError:
            self._unsent.clear()  # it would never go
            raise

    def end(self) -> None:
        """Say that nothing more will come or go, to both sides; the thread that waits in `receive` learns it, too."""
        with contextlib.suppress(OSError):
            self._stream.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End it and give its descriptors back; for the thread that receives, or where none does."""
        self.end()
        with self._lock:
            self._unsent.clear()
            self._stream.close()
            self._waker.close()
