# SPDX-License-Identifier: BSD-3-Clause
"""A program run in a network that somebody else holds, and its output: how `linklab check` reads a student's network.

Goes through the sockets of `linklab.terminal.attach`, as a person's terminal does; the network goes on meanwhile.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from linklab.errors import AgentError, DeadlineError, EngineError, InputError
from linklab.terminal import attach

COLUMNS = 1000
STATE_PROGRAM = ("env", "PYTHONSAFEPATH=1", "python3", "-m", "linklab.agent.node_state")
"""What lies in the working folder is not ours: no json.py there may stand in for the standard one (Python 3.11)."""
STATE_DEADLINE_S = 20.0


def need_outside(command: str) -> None:
    """InputError where this is typed in a terminal of a network: running networks are not seen there."""
    if os.environ.get("LINKLAB_INSIDE"):
        raise InputError(f"this terminal is inside a network; type `{command}` in another terminal of your machine")


def running_in(folder: Path) -> dict[str, Any] | None:
    """The running network whose terminals are in this folder, as `attach.networks` has it; the newest of several."""
    wanted = str(folder.resolve())
    there = [entry for entry in attach.networks() if entry.get("workdir") == wanted]
    return max(there, key=lambda entry: float(entry["started"]), default=None)


def read_state(network: dict[str, Any]) -> str:
    """What the kernel says of every node and interface of a running network (`linklab.agent.node_state`), JSON.

    Raises:
        InputError: its time is paused.
        DeadlineError, AgentError: as `output_of`.
    """
    return output_of(network, STATE_PROGRAM, what="reading the network's state", deadline_s=STATE_DEADLINE_S)


def output_of(
    network: dict[str, Any], argv: Sequence[str], *, what: str, node: str = "client", deadline_s: float = 20.0
) -> str:
    """Run a program on a node and give what it printed.

    Args:
        network: an entry of `attach.networks`.
        argv: the program and its arguments.
        what: this is, for messages.
        node: where.
        deadline_s: wall-clock seconds.

    Raises:
        InputError: the network's time is paused, so that nothing runs in it.
        AgentError: it ended with another status than 0; its words.
        DeadlineError: it did not end in time.
        EngineError: the network ended meanwhile.
    """
    if network.get("paused"):
        raise InputError(
            f"the time of network {network['id']} ({network['name']}) is paused, so nothing in it can answer: "
            "let it go on (the Pause button, or `clock resume` at its prompt) and try again"
        )
    connection = attach.connect(str(network["id"]))
    try:
        connection.send(
            {"op": "open", "node": node, "rows": 24, "columns": COLUMNS, "term": "dumb", "argv": list(argv)}
        )
        return _output(connection, what, time.monotonic() + deadline_s, deadline_s)
    except OSError as error:
        raise EngineError(f"{what}: the network has ended ({error.strerror})") from error
    finally:
        connection.close()


def _output(connection: attach.Connection, what: str, until_s: float, deadline_s: float) -> str:
    shown = b""
    while True:
        left_s = until_s - time.monotonic()
        if left_s <= 0:
            raise DeadlineError(_late(what, deadline_s))
        messages = connection.receive(left_s)
        if messages is None:
            raise EngineError(f"{what}: the network has ended")
        for message in messages:
            if message["event"] == "data":
                shown += attach.data_of(message)
            elif message["event"] == "error":
                raise AgentError(f"{what}: {message['text']}")
            elif message["event"] == "closed":
                text = shown.decode("utf-8", errors="replace").replace("\r\n", "\n")
                if message["status"]:
                    last = " ".join(text.strip().split("\n")[-1:])
                    raise AgentError(f"{what}: {last or 'no output'} (status {message['status']})")
                return text


def _late(what: str, deadline_s: float) -> str:
    return f"{what} did not end within {deadline_s:g} s; if the network's clock is slowed down, speed it up"
