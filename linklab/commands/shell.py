# SPDX-License-Identifier: BSD-3-Clause
"""`linklab shell`: build the network of a topology on the paced clock and give the Mininet CLI in this terminal.

Holds the network for as long as the CLI is open, and serves its other terminals to `linklab attach` and to windows.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation, lab_script
from linklab.commands.options import add_network_options
from linklab.engine.api import Clock, Network, Typed
from linklab.engine.choice import TYPING_CLOCK, clock_of, load_engine
from linklab.errors import InputError
from linklab.guide.progress import LabProgress
from linklab.lab.model import find_lab, load_lab
from linklab.terminal.attach import networks
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.attached import running_in
from linklab.terminal.clock import ClockWords, parse_speed
from linklab.terminal.screen import Screen, ends_orderly
from linklab.terminal.windows import Windows, display_usable
from linklab.topology import Topology, switching

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.guide.session import GuideSession

_EPILOG = """examples:
  linklab shell 8                               the network of Lab 8, with the lab's set_env.sh beside you
  linklab shell "topologies/Lab 8.mn"           the same by its file; a space in a name needs the quotes
  linklab shell 8 --guide                       and `linklab step` says how far you are, what is wrong, and gives hints
  linklab shell mine.mn --speed 0.1             everything ten times as slow
  linklab shell mine.mn --speed max             as fast as it goes; nothing waits for you
  linklab shell mine.mn --clock wall            what this machine itself can do
  linklab shell mine.mn --engine host           on this machine's own kernel; asks sudo by itself
  linklab shell                                 no network: the Client's terminal, for sudo mn

at the CLI:
  h1 ping -c 3 h2            as in Mininet; help lists more
  clock                      where the clock is; clock pause | resume | speed 8 | step 10ms | until 90s
  test rrul h1 h3            a named test from h1 to h3, with the options of flent, such as -l 30 (docs/tests.md)
  xterm h1                   a window on h1 where there is a display, else: linklab attach h1 in another terminal
  exit, Ctrl+D               end the network

While time is paused nothing inside can run, not even the CLI, so this terminal listens itself: r resumes, s steps
10 ms, if nothing follows within half a second. A line shows after paused>; if it begins with clock it is obeyed, any
other waits for the CLI. Ctrl+] opens a prompt for the clock at any moment: pause, resume, speed 8, step 10ms,
until 90s, help, quit.

Without a terminal (linklab shell mine.mn < commands) each line is typed when the one before has ended.

The folder you are in is /lab inside; only what is written there stays.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab shell`."""
    parser = subparsers.add_parser(
        "shell",
        help=summary,
        description="Build the network of a topology and open the Mininet CLI on it in this terminal.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file",
        metavar="FILE.mn",
        type=Path,
        nargs="?",
        help="topology, as MiniEdit saves it, or the number of a lab; without one there is only the root shell, for "
        "sudo mn",
    )
    parser.add_argument("--speed", metavar="X", default="1", help="network seconds a wall second, or max (default: 1)")
    parser.add_argument(
        "--clock", choices=["paced", "wall"], help="default: paced; on the host engine wall, its only one"
    )
    parser.add_argument("--stp", action="store_true", help="a spanning tree on all switches, which breaks loops")
    parser.add_argument("--guide", action="store_true", help="follow the lab's steps, for `linklab step`")
    add_network_options(parser)
    return parser


def run(args: argparse.Namespace) -> int:
    """Hold the network until the CLI is left."""
    if args.file:
        args.file = installation.topology_file(args.file)
    session = _session(args)
    script = _leave_script(args.file)
    name, terminal = (args.file.stem, "mininet") if args.file else ("no network", "client")
    if session is not None and not session.begins_with_network and sys.stdin.isatty():  # as Lab 1: the reader builds it
        args.file, terminal = None, "client"
    topology = Topology.load(args.file) if args.file else None
    if topology is not None and args.stp:
        topology = switching.with_spanning_tree(topology)
    elif (
        topology is not None and not switching.has_spanning_tree(topology) and (words := switching.loop_words(topology))
    ):
        _note(f"{words}: broadcasts circle in it for ever, and the network may never be ready; --stp breaks it")
    clock = clock_of(args.clock, args.engine, TYPING_CLOCK)
    speed = parse_speed(args.speed) if clock is Clock.PACED else None
    display = display_usable()
    with ends_orderly(), contextlib.ExitStack() as stack:
        with _progress(f"building {name}" if topology else "starting"):
            network = stack.enter_context(
                load_engine(args.engine).start(
                    topology,
                    workdir=Path.cwd(),
                    clock=clock,
                    seed=args.seed,
                    profile=args.cpu,
                    display=display,
                )
            )
        for failed in network.failed_commands:
            _note(f"a start command failed; the network runs without: {failed}")
        for warning in network.warnings:
            _note(warning)
        paced = network.paced
        if paced is not None and speed is not None:
            paced.set_speed(speed)
        server = stack.enter_context(
            AttachServer(
                network.link,
                network.nodes,
                name,
                partial(ClockWords, paced) if paced is not None else None,
                Path.cwd(),
            )
        )
        if session is not None:
            stack.enter_context(session.collecting(network, server, args.file.name if args.file else None))
        stack.enter_context(Windows(network.link, server, Path.cwd(), display=display))
        if not sys.stdin.isatty():
            return _typed(network, terminal, session)
        _say("\n".join([_welcome(args, clock, server.id, script), *_goes_on(session)]))
        connection = server.connect()
        stack.callback(connection.close)
        status = Screen(connection, terminal).show()
        with _progress("ending the network"):
            stack.close()
    return status


def _session(args: argparse.Namespace) -> GuideSession | None:
    """The guide of a lab, for `linklab step`; None where it was not asked for.

    Raises:
        InputError: this is no lab's network, or the folder has the progress of another lab.
    """
    if not args.guide:
        _note_progress(args.file)
        return None
    from linklab.guide.session import GuideSession

    if args.file is None or not lab_script.is_known(args.file):
        raise InputError("--guide is for the network of a lab, as in linklab shell 8 --guide")
    session = GuideSession(load_lab(find_lab(args.file.stem)), Path.cwd())
    if session.trouble:
        _say(f"linklab: {session.trouble}.")
    return session


def _goes_on(session: GuideSession | None) -> Iterator[str]:
    """Where somebody is in a lab that was begun before, and what this network lacks."""
    if session is None or (following := session.next_step()) is None:
        return
    counted = [state for state in session.steps() if state.counts]
    if not (done := [state for state in counted if state.status.good]):
        return
    yield f"You go on: {len(done)} of {len(counted)} steps are done. Your settings ended with the last network."
    step = session.guide.plan.step(following.id)
    number, before = step.step.section, session.guide.plan.steps[: step.number]
    if number and any(one.step.setup and one.step.section != number for one in before):
        yield f"sudo ~/set_env.sh {number} makes those of earlier sections; repeat those of {number} yourself."


def _note_progress(file: Path | None) -> None:
    """Say that a lab that was begun in this folder is not followed now."""
    if file is None or not lab_script.is_known(file):
        return
    with contextlib.suppress(InputError):  # a damaged progress is reported when the lab is continued
        progress = LabProgress.load(Path.cwd())
        if progress is None or find_lab(file.stem) != find_lab(str(progress.lab)):
            return
        _note(
            f"Lab {progress.lab} was begun in this folder, but what you type now is not added to your progress; to "
            f"continue the lab, end this network and run linklab shell {progress.lab} --guide"
        )


def _typed(network: Network, terminal: str, session: GuideSession | None) -> int:
    """Type the lines of standard input one after the other, each when the one before has ended; they are recorded."""
    network.link.send("keep", terminal=terminal)
    for line in sys.stdin:
        text = line.strip()
        if text in ("exit", "quit"):
            break
        if not text:
            continue
        _say(f"{'mininet>' if terminal == 'mininet' else '#'} {text}")
        begun_s = network.now_s()
        if session is not None:
            session.typed(terminal, text, begun_s)
        (done,) = network.run([Typed(terminal, text)], on_output=_show)
        if session is not None:
            session.typed(terminal, text, begun_s, done)
    return 0


def _show(_: object, output: str) -> None:
    print(output, end="", flush=True)


def _leave_script(file: Path | None) -> Path | None:
    """Leave the lab's set_env.sh in this folder, unless another lab's network that runs here needs its own."""
    other = running_in(Path.cwd()) if lab_script.is_known(file) else None
    if file is not None and other is not None and other["name"] != file.stem:
        _note(
            f"{other['name']} runs in this folder, so set_env.sh here stays that lab's; open {file.stem} in a folder "
            "of its own to have its set_env.sh there"
        )
        return None
    return lab_script.leave(file, Path.cwd())


def _welcome(args: argparse.Namespace, clock: Clock, number: str, script: Path | None) -> str:
    if args.file:
        lines = [f"Network {number}, {args.file.name}, on the {clock.value} clock. exit or Ctrl+D ends it."]
        several = f" --network {number}" if len(networks()) > 1 else ""
        lines.append(f"linklab attach{several} h1 in another terminal opens a shell on h1; this folder is /lab inside.")
        if Path("instance.json").is_file() and Path("set_env.sh").is_file():
            lines.append("sh ./set_env.sh sets the environment of this exercise.")
        elif script is not None:
            lines.append(
                "sudo ~/set_env.sh 4 in a terminal, or sh ./set_env.sh 4 at mininet>, makes the settings of the "
                "sections before Section 4 of the manual."
            )
        elif lab_script.is_edited(args.file, Path.cwd()):
            lines.append(
                "set_env.sh was edited, or is of another version, so it stays; delete it to get a new one next time."
            )
    else:
        lines = [f"The Client's terminal, on the {clock.value} clock, with no network yet. exit or Ctrl+D ends it."]
        lines.append("sudo mn starts Mininet; this folder is /lab inside.")
    if args.guide:
        lines.insert(1, "linklab step in any terminal says how far you are in the lab, and gives hints.")
    if clock is Clock.PACED and args.file:
        lines.append("clock shows and sets the clock; Ctrl+] opens its prompt, which also works while time is paused.")
    elif clock is Clock.PACED:
        lines.append("Ctrl+] opens the prompt of the clock, which shows and sets it.")
    return "\n".join(lines)


@contextlib.contextmanager
def _progress(what: str) -> Iterator[None]:
    """A line while something takes its time, on a terminal; gone when it is done."""
    live = sys.stderr.isatty()
    if live:
        print(f"{what} …", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _note(text: str) -> None:
    print(f"linklab: {text}", file=sys.stderr, flush=True)


def _say(text: str) -> None:
    print(text, flush=True)
