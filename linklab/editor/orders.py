# SPDX-License-Identifier: BSD-3-Clause
"""What the window has a running network do, each in a thread of the runner's: terminals, plots, clock, lines typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from linklab.editor.pinging import ADDRESSES, Interface, read_addresses
from linklab.editor.running import Session
from linklab.engine.api import Typed
from linklab.errors import EngineError
from linklab.linux import routes_kept

CLIENT = "client"
"""The root namespace, where the ports of switches are."""
LINK = "linklab link"
"""The command of links by departure time."""
READ_BACK_DEADLINE_S = 30
ENVIRONMENT_DEADLINE_S = 120
PLOT_DEADLINE_S = 30


def open_terminal(session: Session, node: str) -> str:
    """Open the person's terminal program on a node; "" or why not."""
    text, status = session.windows.answer(["terminal", node])
    return text if status else ""


def plot_queue(session: Session, node: str, interface: str) -> None:
    """Open the plot of `plot_q.sh` on an interface."""
    argv = ["plot_q.sh", interface]
    session.follow(node, argv, lambda _: None, what="opening the plot", deadline_s=PLOT_DEADLINE_S)


def obey(session: Session, words: list[str]) -> str:
    """Set the clock; its state as a sentence, or why not."""
    return session.server.obey_clock(words)[0]


def type_lines(session: Session, lines: list[tuple[str, str]]) -> str:
    """Type (terminal, line) pairs one after the other; what they showed.

    Raises:
        EngineError: one of them failed; its words.
    """
    shown = []
    with session.typing:
        for terminal, line in lines:
            (done,) = session.network.run([Typed(f"{terminal}#editor", line)], deadline_s=READ_BACK_DEADLINE_S)
            shown.append(done.output.strip())
            if done.exit_status and " del " not in line:
                raise EngineError(f"{line}: {done.output.strip()}")
    return "\n".join(each for each in shown if each)


def links_at(session: Session, ports: Sequence[str]) -> str:
    """The links by departure time at these ports (NODE:INTERFACE), a line each as `linklab link show` says it.

    Raises:
        EngineError: they cannot be had; the command's words.
    """
    shown = type_lines(session, [(CLIENT, f"{LINK} show")]).split("\n")
    return "".join(f"{line}\n" for line in shown if any(f" at {port}: " in line for port in ports))


def look(session: Session, terminal: str, lines: Sequence[str]) -> str:
    """Type lines into a terminal; each with what it printed, as a terminal shows it, also where one fails."""
    shown = []
    for line in lines:
        with session.typing:
            (done,) = session.network.run([Typed(f"{terminal}#editor", line)], deadline_s=READ_BACK_DEADLINE_S)
        shown.append(f"{terminal}# {line}\n{done.output.rstrip() or '(it prints nothing)'}")
    return "\n\n".join(shown)


def addresses(session: Session, nodes: Sequence[str]) -> dict[str, list[Interface]]:
    """The addresses that nodes have now.

    Raises:
        EngineError: those of a node could not be read; which, and its words.
    """
    return {node: read_addresses(node, type_lines(session, [(node, ADDRESSES)])) for node in nodes}


@dataclass(frozen=True)
class LinkEnd:
    """An interface and the terminal that reaches it; planned: commands that bring its routes back if none are kept."""

    terminal: str
    interface: str
    planned: tuple[str, ...] = ()


def set_link(session: Session, ends: Sequence[LinkEnd], kept: dict[str, list[str]], *, up: bool) -> None:
    """Take a link down or up at both ends; routes that Linux forgets with an interface are kept and come back.

    kept: by interface, the commands that bring them back; changed.

    Raises:
        EngineError: an end could not be changed; its words.
    """
    for end in ends if not up else ():
        if end.terminal != CLIENT:

            def ask(line: str, terminal: str = end.terminal) -> str:
                return type_lines(session, [(terminal, line)])

            kept.setdefault(end.interface, routes_kept.kept(ask, end.interface))
    word = "up" if up else "down"
    type_lines(session, [(end.terminal, f"ip link set {end.interface} {word}") for end in ends])
    for end in ends if up else ():
        lines = kept.pop(end.interface, None) or end.planned
        type_lines(session, [(end.terminal, line) for line in lines])


def set_environment(session: Session) -> str:
    """Type an exercise's ./set_env.sh in the root terminal; what it printed.

    Raises:
        EngineError: it failed; its words.
    """
    with session.typing:
        (done,) = session.network.run([Typed("client#editor", "./set_env.sh")], deadline_s=ENVIRONMENT_DEADLINE_S)
    shown = done.output.strip()
    if done.exit_status:
        raise EngineError(shown.removeprefix("set_env.sh: ") or f"./set_env.sh ended with status {done.exit_status}")
    return shown
