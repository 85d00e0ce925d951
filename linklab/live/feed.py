# SPDX-License-Identifier: BSD-3-Clause
"""Keeps a history up to date while somebody looks: a program inside the network prints readings into a terminal.

Goes through the frames of `linklab.terminal.attach`, so the program that holds the network (`AttachServer.connect`)
and any other of the same user (`attach.connect`) look in the same way. The program inside ends a few seconds after the
last has looked; until then nothing is asked of the network.
"""

from __future__ import annotations

import base64
import codecs
import contextlib
import threading
import time
from collections.abc import Callable, Iterator

from linklab.errors import LinklabError
from linklab.live.history import LiveHistory
from linklab.live.pace import LivePace
from linklab.live.readings import MOST_BYTES, parse
from linklab.terminal.attach import Connection, data_of

PROGRAM = "live_readings"
"""Of those that look on (`linklab.agent.apart`)."""
LINGER_S = 3.0
"""After the last has looked, as while a page is loaded again."""
LOOK_S = 0.2
OPEN = {"op": "open", "node": "client", "rows": 24, "columns": 1000, "term": "dumb", "apart": PROGRAM}


class LiveFeed:
    """Readings of one network into one history.

    connect: gives a connection to the network; called whenever reading begins.
    """

    def __init__(self, connect: Callable[[], Connection], history: LiveHistory) -> None:
        self.history = history
        self.why = ""
        """Why there are no readings, where they have ended by themselves; "" otherwise."""
        self.is_reading = False
        """Whether readings come, or will as soon as time goes on."""
        self.is_open = False
        """Whether the program inside was started, so that nothing is missed from now on."""
        self._connect = connect
        self._lookers = 0
        self._left_s = 0.0
        self._said = ""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    @contextlib.contextmanager
    def looking(self) -> Iterator[LiveHistory]:
        """While somebody looks; several may."""
        self.look()
        try:
            yield self.history
        finally:
            self.leave()

    def look(self) -> None:
        """Somebody begins to look; each ends with `leave`."""
        with self._lock:
            self._lookers += 1
            if self._thread is None:
                self.why, self.is_reading = "", True
                self._thread = threading.Thread(target=self._run, name="live readings", daemon=True)
                self._thread.start()

    def leave(self) -> None:
        """Somebody looks no longer."""
        with self._lock:
            self._lookers -= 1
            self._left_s = time.monotonic()

    def wait(self, seconds: float) -> None:
        """Wait until reading has ended, as it does after the last has left."""
        thread = self._thread
        if thread is not None:
            thread.join(seconds)

    def _is_wanted(self) -> bool:
        """Whether somebody looks; if not, this is the end of reading, and the next who looks begins it anew."""
        with self._lock:
            if self._lookers > 0 or time.monotonic() - self._left_s < LINGER_S:
                return True
            self._thread, self.is_reading, self.is_open = None, False, False
            return False

    def _run(self) -> None:
        self.history.cut()
        try:
            connection = self._connect()
        except (LinklabError, OSError) as error:
            self._ended(str(error))
            return
        try:
            connection.send(OPEN)
            self._listen(connection)
        except (OSError, ValueError) as error:
            self._ended(f"the network has ended ({error})")
        finally:
            connection.close()  # hangs the program up

    def _listen(self, connection: Connection) -> None:
        pace, rest = LivePace(), ""
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while self._is_wanted():
            messages = connection.receive(LOOK_S)
            if messages is None:
                self._ended("the network has ended")
                return
            is_other = False
            for message in messages:
                if message["event"] == "data":
                    *lines, rest = (rest + decoder.decode(data_of(message))).split("\n")
                    rest = rest[: MOST_BYTES + 1]
                    for line in lines:
                        is_other |= self._take(line, pace)
                elif message["event"] == "opened":
                    self.is_open = True
                elif message["event"] == "clock":
                    is_other |= pace.clock(
                        paused=message["paused"], on_way=message["on_way"], speed=message.get("speed")
                    )
                elif message["event"] in ("error", "closed"):
                    said = rest.strip() or self._said
                    self._ended(str(message["text"]) if message["event"] == "error" else f"reading has ended: {said}")
                    return
            if is_other:
                typed = base64.b64encode(f"period {pace.period_s:.9g}\n".encode()).decode()
                connection.send({"op": "input", "data": typed})

    def _take(self, line: str, pace: LivePace) -> bool:
        """Take a line; whether readings should come at another pace."""
        try:
            reading = parse(line)
        except ValueError:  # a word of Python's or of the shell's
            self._said = line.strip() or self._said
            return False
        self.history.see(reading)
        return pace.reading(reading.time_s, time.monotonic())

    def _ended(self, why: str) -> None:
        with self._lock:
            self.why, self._thread = why, None
            self.is_reading = self.is_open = False
        self.history.cut()
