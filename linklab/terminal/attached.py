# SPDX-License-Identifier: BSD-3-Clause
"""A program run in a network that somebody else holds, and its output: how `linklab check` reads a student's network.

Goes through the sockets of `linklab.terminal.attach`, as a person's terminal does; the network goes on meanwhile.
"""

from __future__ import annotations

import base64
import codecs
import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from linklab.errors import AgentError, DeadlineError, EngineError, InputError
from linklab.terminal import attach

COLUMNS = 1000
STATE_PROGRAM = ("env", "PYTHONSAFEPATH=1", "python3", "-S", "-m", "linklab.agent.node_state")
"""As `linklab.state.model.READ_STATE`, which says why; not for free, since no run on the paced clock is repeated."""
STATE_DEADLINE_S = 20.0
CTRL_C = b"\x03"
LOOK_S = 0.2
"""Wall seconds between two looks whether a program is to end."""


def need_outside(command: str) -> None:
    """InputError where this is typed in a terminal of a network: running networks are not seen there."""
    if os.environ.get("LINKLAB_INSIDE"):
        raise InputError(f"this terminal is inside a network; type `{command}` in another terminal of your machine")


def running_in(folder: Path) -> dict[str, Any] | None:
    """The running network whose terminals are in this folder, as `attach.networks` has it; the newest of several."""
    return attach.in_folder(attach.networks(), folder)


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
    status, text = ended_in(network, argv, what=what, node=node, deadline_s=deadline_s)
    if status:
        last = " ".join(text.strip().split("\n")[-1:])
        raise AgentError(f"{what}: {last or 'no output'} (status {status})")
    return text


def ended_in(
    network: dict[str, Any], argv: Sequence[str], *, what: str, node: str = "client", deadline_s: float = 20.0
) -> tuple[int, str]:
    """As `output_of`, for a program that may fail: its exit status and what it printed."""
    with _opened(network, argv, what, node) as connection:
        return _output(connection, what, time.monotonic() + deadline_s, deadline_s)


def listen_to(
    network: dict[str, Any],
    argv: Sequence[str],
    said: Callable[[str], None],
    *,
    what: str,
    node: str = "client",
    stopped: Callable[[], bool] = lambda: False,
) -> int:
    """Run a program on a node to its end, however long that takes; its exit status.

    Args:
        network: an entry of `attach.networks`.
        argv: the program and its arguments.
        said: gets each line that it prints.
        what: this is, for messages.
        node: where.
        stopped: whether it is to end; Ctrl+C is typed for it then, once.

    Raises:
        InputError, AgentError, EngineError: as `output_of`.
    """
    rest, is_stopped = "", False
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    with _opened(network, argv, what, node) as connection:
        while True:
            messages = connection.receive(LOOK_S)
            if messages is None:
                raise EngineError(f"{what}: the network has ended")
            for message in messages:
                if message["event"] == "data":
                    *lines, rest = (rest + decoder.decode(attach.data_of(message)).replace("\r", "")).split("\n")
                    for line in lines:
                        said(line)
                elif message["event"] == "error":
                    raise AgentError(f"{what}: {message['text']}")
                elif message["event"] == "closed":
                    if rest:
                        said(rest)
                    return int(message["status"])
            if stopped() and not is_stopped:
                is_stopped = True
                connection.send({"op": "input", "data": base64.b64encode(CTRL_C).decode()})


@contextlib.contextmanager
def _opened(network: dict[str, Any], argv: Sequence[str], what: str, node: str) -> Iterator[attach.Connection]:
    """A terminal in which a program runs; its end hangs the program up."""
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
        yield connection
    except OSError as error:
        raise EngineError(f"{what}: the network has ended ({error.strerror})") from error
    finally:
        connection.close()


def _output(connection: attach.Connection, what: str, until_s: float, deadline_s: float) -> tuple[int, str]:
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
                return int(message["status"]), shown.decode("utf-8", errors="replace").replace("\r\n", "\n")


def _late(what: str, deadline_s: float) -> str:
    return f"{what} did not end within {deadline_s:g} s; if the network's clock is slowed down, speed it up"
