# SPDX-License-Identifier: BSD-3-Clause
"""Framed JSON between an engine and the agent: 4 bytes of length, big endian, then that many bytes of UTF-8.

Requests to the agent: {"id": n, "op": ..., ...}, answered by {"id": n, "ok": ...} or {"id": n, "error": "sentence"}.

    op         fields                                        answer
    build      plan (linklab.topology.plan) or null,         {"nodes": [...], "environment": {...},
               env {name: value},                           "ready_clock_s": the kernel's clock at network time 0}
               files {path: text} written when it is built   and, where start commands failed,
                                                             "failed_commands": [{node, command, status?, output}];
                                                             where something else is amiss, "warnings": [sentence]
    run        actions [{terminal, text, finish, kill_s?}],  {"done": [completed, ...]}; kill_s: after a Ctrl+C
               within_s: several are typed within this time
    computed   -                                             {"computed": [{program, from_s, s, ...}, ...]}:
                                                             see linklab.agent.own_kernel; from_s: network time
    stop       terminal, suspend? true                       one of those: Ctrl+C to what runs in the background,
                                                             or Ctrl+Z
    finished   terminal, within_s?                           one of those, when it has ended by itself; Ctrl+C after
                                                             so much network time
    now        -                                             {"now_s": ..., "clock_s": the kernel's clock}
    state      -                                             {"state": the JSON text of linklab.agent.node_state}
    date       date_ns: since the epoch                      {}: its date, on the paced clock
    resting    terminal                                      what is in its foreground (linklab.agent.resting)
    open       node, rows, columns, argv?, apart?            {"terminal": "t1"}; then events data and closed;
                                                             apart: name of what looks on (linklab.agent.apart)
    input      terminal, data (base64)                       {}
    resize     terminal, rows, columns                       {}
    flow       terminal, on: bool                            {}: whether what it shows is read (and sent) or left there
    hangup     terminal                                      {}
    keep       terminal                                      {}: what is typed there is recorded, in a folder that
                                                             keeps records (linklab.agent.recording)
    answers    -                                             {}: from now on the host answers what programs ask
    answer     ask, text, status                             {}
    shutdown   -                                             {}, then the agent ends

completed: {terminal, text, output, exit_status, start_s, end_s}
finish: {"kind": "prompt"} | {"kind": "background"} | {"kind": "after", "seconds": s, "pattern": r or ""}
      | {"kind": "shows", "pattern": r}
Events from the agent: {"event": "hello", "python": version}, {"event": "output", "terminal", "text"},
{"event": "data", "terminal", "data"}, {"event": "closed", "terminal", "status": exit status, -n for signal n},
{"event": "ask", "ask": n, "argv": [...], "cwd"} (a program inside wants something of the host, see linklab.agent.asks).
"""

from __future__ import annotations

import json
import struct
from typing import Any

LENGTH = struct.Struct(">I")
LARGEST = 64 * 2**20


def encode(message: dict[str, Any]) -> bytes:
    """A message as a frame."""
    body = json.dumps(message, separators=(",", ":")).encode()
    return LENGTH.pack(len(body)) + body


class Decoder:
    """Bytes as they come → whole messages.

    most_values: of one message, None for any number.  Counts `[`, `{`, and `,`, also inside texts.  Python takes
        half a second at worst to read a million values, and no other thread runs meanwhile.
    """

    def __init__(self, most_values: int | None = None) -> None:
        self.buffer = bytearray()
        self._most_values = most_values

    def feed(self, data: bytes) -> list[dict[str, Any]]:
        """The messages that `data` completes.

        Raises:
            ValueError: a frame longer than 64 MiB, with too many values or too deep for Python's reader, or not JSON.
        """
        self.buffer += data
        messages = []
        at = 0
        while len(self.buffer) >= at + LENGTH.size:
            (size,) = LENGTH.unpack_from(self.buffer, at)
            if size > LARGEST:
                raise ValueError(f"a frame of {size} bytes")
            end = at + LENGTH.size + size
            if len(self.buffer) < end:
                break
            body = self.buffer[at + LENGTH.size : end]
            if self._most_values is not None and sum(map(body.count, b"[{,")) > self._most_values:
                raise ValueError(
                    f"a frame with more than {self._most_values:,} values, or brackets and commas in texts"
                )
            try:
                messages.append(json.loads(body))
            except RecursionError:
                raise ValueError("a frame with too many values within each other") from None
            at = end
        del self.buffer[:at]
        return messages
