# SPDX-License-Identifier: BSD-3-Clause
"""Terminals of a running network for other programs of the same user, over a Unix socket.

Where the sockets lie, and the side that wants a terminal: `networks` and `connect`; the side that holds the network is
`linklab.terminal.attach_server`. Frames as in `linklab.agent.protocol`:
client: {"op": "info"} | {"op": "open", "node", "rows", "columns", "term", "argv"?, "apart"?} | {"op": "input",
"data"} | {"op": "resize", "rows", "columns"} | {"op": "clock", "words"}; one terminal a connection, whose end is its
hangup; apart: the name of a program that only looks on (linklab.agent.apart).
server: {"event": "info" | "opened" (name: the agent's, of the terminal) | "data" | "typed" (bytes) | "closed" (status)
| "clock" (paused, on_way, speed, text) | "answer" | "error"}; "typed" says how much of the input the network has taken.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import socket
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from linklab.base import place
from linklab.engine.frames import FrameStream
from linklab.errors import EngineError, InputError

ANSWER_DEADLINE_S = 5.0


# --- where the sockets lie


def folder() -> Path:
    """The private folder of the sockets, made if it is not there.

    Raises:
        EngineError: there is no place for it that belongs to this user.
    """
    return place.for_sockets()


@contextlib.contextmanager
def alone() -> Iterator[Path]:
    """The folder, while nobody else adds or removes sockets."""
    here = folder()
    with (here / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield here


def remove_stale(*, dry_run: bool = False) -> list[Path]:
    """Remove the sockets that nobody serves any more; which they were."""
    with alone() as here:
        return remove_stale_in(here, dry_run=dry_run)


def remove_stale_in(here: Path, *, dry_run: bool = False) -> list[Path]:
    """Remove them from the folder, which the caller has to itself (`alone`)."""
    stale = [path for path in sorted(here.glob("*.sock")) if not _served(path)]
    for path in [] if dry_run else stale:
        path.unlink(missing_ok=True)
    return stale


def _served(path: Path) -> bool:
    """Whether somebody answers at this socket."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(ANSWER_DEADLINE_S)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # busy, so somebody is there
    return True


# --- the side that wants a terminal


class Connection(FrameStream):
    """A client's side: messages to the program that holds a network, and from it."""

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        """Ask on a connection without a terminal and wait for the one answer.

        Raises:
            EngineError: none within 5 s.
            OSError: the other side has gone.
        """
        until_s = time.monotonic() + ANSWER_DEADLINE_S
        self.send(message)
        while (left_s := until_s - time.monotonic()) > 0 and (more := self.receive(left_s)) is not None:
            for answer in more:
                if answer["event"] in ("info", "answer", "error"):
                    return answer
        raise EngineError("the network does not answer")


def networks() -> list[dict[str, Any]]:
    """The running networks of this user: id, name, nodes, pid, started (s since the epoch), workdir, clock, paused."""
    remove_stale()
    found = []
    for path in sorted(folder().glob("*.sock"), key=lambda path: (len(path.name), path.name)):
        connection: Connection | None = None
        try:
            connection = _connect(path)
            answer = connection.ask({"op": "info"})
            if answer["event"] == "info":  # else it is just ending, and says so
                found.append({**answer, "id": path.stem})
        except (OSError, EngineError):
            continue  # ended meanwhile
        finally:
            if connection is not None:
                connection.close()
    return found


def in_folder(there: Sequence[dict[str, Any]], folder: Path) -> dict[str, Any] | None:
    """Return the network whose terminals are in this folder, the newest of several; None if there is none."""
    wanted = str(folder.resolve())
    mine = [entry for entry in there if entry.get("workdir") == wanted]
    return max(mine, key=lambda entry: float(entry["started"]), default=None)


def chosen(network: str | None, folder: Path | None = None) -> dict[str, Any]:
    """Return the network of that id, as `networks` has it; without an id the only one, or of several this folder's.

    Raises:
        InputError: there is none, or there are several and none was named or is in the folder.
    """
    there = networks()
    ids = [str(entry["id"]) for entry in there]
    if network is None and len(ids) > 1:
        if folder is not None and (mine := in_folder(there, folder)) is not None:
            return mine
        where = f", none of them in {folder.resolve()}" if folder is not None else ""
        known = ", ".join(f"{each['id']} ({each['name']} in {each.get('workdir', 'no folder')})" for each in there)
        raise InputError(
            f"several networks are running{where}: choose one by --network {'|'.join(ids)}; there is {known}"
        )
    if not ids or (network is not None and network not in ids):
        which = f"network {network} is not running" if network is not None else "no network is running"
        raise InputError(f"{which}: start one with `linklab shell FILE.mn`")
    return there[ids.index(network or ids[0])]


def connect(network: str | None, near: Path | None = None) -> Connection:
    """Return a connection to the network that `chosen` gives for an id and a folder; InputError as there."""
    return _connect(folder() / f"{chosen(network, near)['id']}.sock")


def _connect(path: Path) -> Connection:
    stream = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        stream.settimeout(ANSWER_DEADLINE_S)  # a program that is stopped accepts nobody once its queue is full
        stream.connect(str(path))
    except OSError:
        stream.close()
        raise
    return Connection(stream)


def data_of(message: dict[str, Any]) -> bytes:
    """The bytes of an event `data`."""
    return base64.b64decode(message["data"])
