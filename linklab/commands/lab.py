# SPDX-License-Identifier: BSD-3-Clause
"""`linklab lab`: a lab in the browser; its network runs on the paced clock for as long as this command does.

The page is served before the network is ready. The network and its other terminals are as those of `linklab shell`.
"""

from __future__ import annotations

import argparse
import contextlib
import threading
import webbrowser
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import lab_script, place
from linklab.base.files import write_asked
from linklab.base.text import one_line
from linklab.commands import lab_continue
from linklab.commands.options import add_network_options
from linklab.engine.api import Clock, Network
from linklab.engine.choice import TYPING_CLOCK, clock_of, load_engine
from linklab.errors import EngineError, InputError
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.attached import running_in
from linklab.terminal.clock import ClockWords, parse_speed
from linklab.terminal.screen import ends_orderly
from linklab.terminal.windows import Windows, display_usable

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.guide.continuing import LeftLab
    from linklab.page.context import PageContext
    from linklab.page.server import PageServer

LARGEST_PORT = 65535
MOST_MINUTES = 100_000

_EPILOG = """examples:
  linklab lab 14                          Lab 14 in the browser, working in this folder
  linklab lab 14 --no-browser             only print the address, as on a machine without a display
  linklab lab 8 --speed 0.1               everything ten times as slow
  linklab lab 3 --name "Ada Lovelace"     the name that stands on the lab's report
  linklab lab 3 --report report.pdf       the report of what you did in this folder; also .html
  linklab lab 3 --continue                go on where you were in this folder, without being asked
  linklab lab --jupyterhub                what a JupyterHub starts for each student (docs/class-server.md)

The page is served to you alone, on this machine: the address that is printed carries a key. From another machine,
forward the port with ssh, as the command says, and open the address there. Ctrl+C ends the network and the page.

The folder you are in is /lab inside; only what is written there stays.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab lab`."""
    parser = subparsers.add_parser(
        "lab",
        help=summary,
        description="Start the network of a lab and a page with its manual, terminals, and clock.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lab", metavar="LAB", nargs="?", help="number, folder name or path of the lab")
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="port of the page (default: any free one)")
    parser.add_argument("--speed", metavar="X", default="1", help="network seconds a wall second, or max (default: 1)")
    parser.add_argument("--name", metavar="STUDENT", default="", help="your name, for the lab's report")
    lab_continue.add_options(parser)
    parser.add_argument(
        "--report",
        type=Path,
        metavar="FILE",
        help="write the report of what was done in this folder, as FILE.html or FILE.pdf, and start nothing",
    )
    parser.add_argument(
        "--jupyterhub", action="store_true", help="serve all labs to the student for whom JupyterHub starts this"
    )
    parser.add_argument(
        "--idle-minutes",
        type=_minutes,
        default=30.0,
        metavar="N",
        help="with --jupyterhub, end after so long without typing or a running command; 0 for never (default: 30)",
    )
    add_network_options(parser)
    return parser


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = -1.0
    if not 0 <= minutes <= MOST_MINUTES:
        raise argparse.ArgumentTypeError(f"{text!r} is no time; use minutes from 0 to {MOST_MINUTES:,}")
    return minutes


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > LARGEST_PORT:
        raise argparse.ArgumentTypeError(f"{text!r} is no port; use a whole number from 1 to {LARGEST_PORT}")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Serve the page until Ctrl+C, or until the network ends."""
    from linklab.page.context import PageContext
    from linklab.page.server import PageServer

    if args.jupyterhub:
        from linklab.commands.lab_hub import run_for_hub

        return run_for_hub(args)
    if args.lab is None:
        raise InputError("which lab? As in: linklab lab 14; linklab labs lists them")
    lab = load_lab(find_lab(args.lab))
    if args.report is not None:
        return _write_report(lab, args.report, one_line(args.name))
    speed = parse_speed(args.speed)
    here = Path.cwd()
    if (other := running_in(here)) is not None:
        print(f"linklab: {other['name']} runs in this folder too; both share its files", flush=True)
    left = lab_continue.left_here(lab, here, args)
    context = PageContext(lab, lab.load_topology(), here, name=one_line(args.name))
    ended = threading.Event()
    with ends_orderly(), contextlib.ExitStack() as stack:
        server = stack.enter_context(PageServer(context, args.port))
        stack.enter_context(_introduced(server, browser=not args.no_browser))
        _say_where(lab, server)
        try:
            network = start_network(context, stack, args=args, speed=speed, left=left)
        except BaseException as error:
            context.has_ended(_why(error))
            raise
        network.link.on("end", lambda _: ended.set())
        print("The network runs. Ctrl+C ends it.", flush=True)
        try:
            ended.wait()
        except KeyboardInterrupt as error:
            context.has_ended(_why(error))
            print("\nending the network", flush=True)
            return 0
        except SystemExit as error:
            context.has_ended(_why(error))
            raise
        raise EngineError(f"{lab.heading}: {context.ended}")


def _why(error: BaseException) -> str:
    """Why the network ends, as the page says it behind "The network has ended"."""
    match error:
        case KeyboardInterrupt():
            return "it was ended with Ctrl+C"
        case SystemExit():
            return "linklab lab was stopped"
        case _:
            return str(error) or type(error).__name__


def _write_report(lab: Lab, path: Path, name: str) -> int:
    """Write the report of this folder."""
    from linklab.manual.paper import to_pdf
    from linklab.page.reporting import report_of_folder

    if path.suffix not in (".html", ".pdf"):
        raise InputError(f"{path}: a report is written as .html or .pdf; give the file one of these endings")
    html = report_of_folder(lab, Path.cwd(), name)
    write_asked(path, html if path.suffix == ".html" else to_pdf(html))
    print(path)
    return 0


def start_network(
    context: PageContext,
    stack: contextlib.ExitStack,
    *,
    args: argparse.Namespace,
    speed: float,
    left: LeftLab | None = None,
) -> Network:
    """Build the network and give it to the page; all of it ends with the stack. `left`: how it is to be set."""
    from linklab.guide.plan import runs_at_once

    lab, here, display = context.lab, context.folder, display_usable()
    topology = context.topology if runs_at_once(lab.manual) else None
    context.topology = topology
    clock = clock_of(None, args.engine, TYPING_CLOCK)
    context.events.publish("stage", text="The network is starting.")
    lab_script.leave(lab.topology, here)
    network = stack.enter_context(
        load_engine(args.engine).start(
            topology,
            workdir=here,
            clock=clock,
            seed=args.seed,
            profile=args.cpu,
            display=display,
            on_stage=lambda stage, _: context.events.publish("stage", text=f"The network is starting: {stage}."),
        )
    )
    for problem in (*map(str, network.failed_commands), *network.warnings):
        print(f"linklab: {problem}", flush=True)
    if left is not None:
        context.events.publish("stage", text="The network is being set as you left it.")
        context.continues(lab_continue.bring_network_back(network, left))
    paced = network.paced
    if paced is not None and clock is Clock.PACED:
        paced.set_speed(speed)
    name = lab.topology.stem if lab.topology else lab.heading
    words = partial(ClockWords, paced) if paced is not None else None
    attach = stack.enter_context(AttachServer(network.link, network.nodes, name, words, here))
    stack.enter_context(Windows(network.link, attach, here, display=display))
    stack.callback(context.close)  # before what it uses ends
    context.started(network, attach)
    return network


def _say_where(lab: Lab, server: PageServer) -> None:
    print(f"{lab.heading}: open this address in a browser on this machine; it works until the network ends.")
    print(f"\n    {server.address}\n")
    print("From another machine, first forward the port, then open the same address there:")
    print(f"    ssh -L {server.port}:127.0.0.1:{server.port} this-machine", flush=True)


@contextlib.contextmanager
def _introduced(server: PageServer, *, browser: bool) -> Iterator[None]:
    """Open the browser by a private file that leads to the address: other users see the words of its command."""
    if not browser or not display_usable():
        yield
        return
    page = place.for_sockets() / f"lab-{server.port}.html"
    page.touch(mode=0o600)
    page.write_text(
        f'<!DOCTYPE html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={server.address}">'
        f'<title>Linklab</title><a href="{server.address}">Open the lab</a>',
        encoding="utf-8",
    )
    try:
        webbrowser.open(page.as_uri())
        yield
    finally:
        page.unlink(missing_ok=True)
