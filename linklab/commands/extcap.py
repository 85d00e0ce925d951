# SPDX-License-Identifier: BSD-3-Clause
"""`linklab extcap`: running networks as interfaces of Wireshark, which runs this to list them and to capture."""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from linklab import __version__
from linklab.base.text import one_line
from linklab.errors import InputError, LinklabError
from linklab.terminal import attach

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab extcap --install            from now on Wireshark's list of interfaces has those of running networks
  sudo linklab extcap --install --system          for all users, and for Wireshark before 4.2
  linklab extcap --remove

The other options are Wireshark's (its manual page extcap(4)); tshark works with them as well:
  tshark -D                           lists, for example, linklab:1:h1:h1-eth0
  tshark -i linklab:1:h1:h1-eth0 -f icmp
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab extcap`."""
    parser = subparsers.add_parser(
        "extcap",
        help=summary,
        description="Show the interfaces of running networks in Wireshark's own list.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--install", action="store_true", help="put a link to this into Wireshark's folder")
    parser.add_argument("--remove", action="store_true", help="remove it")
    parser.add_argument("--system", action="store_true", help="for all users; as root")
    asked = parser.add_argument_group("asked by Wireshark")
    asked.add_argument("--extcap-interfaces", action="store_true", help="list the interfaces")
    asked.add_argument("--extcap-interface", metavar="IF", help="the interface that is meant")
    asked.add_argument("--extcap-dlts", action="store_true", help="its link types")
    asked.add_argument("--extcap-config", action="store_true", help="its options")
    asked.add_argument("--extcap-capture-filter", metavar="FILTER", default="", help="a capture filter")
    asked.add_argument("--extcap-version", metavar="V", help="Wireshark's version")
    asked.add_argument("--extcap-reload-option", metavar="OPTION", help=argparse.SUPPRESS)
    asked.add_argument("--extcap-control-in", metavar="PIPE", help=argparse.SUPPRESS)
    asked.add_argument("--extcap-control-out", metavar="PIPE", help=argparse.SUPPRESS)
    asked.add_argument("--capture", action="store_true", help="capture")
    asked.add_argument("--fifo", metavar="PIPE", type=Path, help="where to")
    asked.add_argument("--snaplen", metavar="BYTES", type=int, default=0, help="bytes to keep of each packet")
    return parser


def run(args: argparse.Namespace) -> int:
    """Answer, or capture.

    Raises:
        InputError: no such interface or network, or no such filter.
        LinklabError: as `linklab capture`.
    """
    if args.install or args.remove:
        return _install(args)
    if args.extcap_interfaces:
        _list()
        return 0
    if not args.extcap_interface:
        raise InputError("type linklab extcap --install; the other options are for Wireshark (linklab extcap --help)")
    return _about(args)


def _install(args: argparse.Namespace) -> int:
    from linklab.capture import extcap

    if args.remove:
        removed = extcap.remove(for_all=args.system)
        print(f"removed {removed}" if removed else f"{extcap.target(for_all=args.system)} is not there")
        return 0
    path, advice = extcap.install(for_all=args.system)
    print(f"{path} is there: Wireshark lists the interfaces of running networks when it starts, and on F5.")
    if advice:
        print(advice)
    return 0


def _list() -> None:
    """The interfaces of all networks; one that does not answer, as with paused time, is left out."""
    from linklab.capture import extcap
    from linklab.capture.session import interfaces

    print(extcap.greeting())
    if os.environ.get("LINKLAB_INSIDE"):
        return
    for network in attach.networks():
        if network.get("paused"):
            continue
        with contextlib.suppress(LinklabError, OSError):
            there = interfaces(attach.connect(str(network["id"])), deadline_s=5.0)
            print("\n".join(extcap.interface_sentences(network, there)))


def _about(args: argparse.Namespace) -> int:
    from linklab.capture import extcap
    from linklab.capture.filters import compiled

    network, place = extcap.parse(args.extcap_interface)
    if args.extcap_dlts:
        print(extcap.link_type_sentence())
    elif args.extcap_config:
        print("\n".join(extcap.option_sentences()))
    elif args.capture:
        if args.fifo is None:
            raise InputError("--capture needs --fifo PIPE, as Wireshark gives it")
        _capture(args, network, place)
    elif args.extcap_capture_filter:  # Wireshark colours the field by whether anything is printed
        try:
            compiled(args.extcap_capture_filter)
        except InputError as error:
            print(one_line(str(error)))
    return 0


def _capture(args: argparse.Namespace, network: str, place: str) -> None:
    from linklab.capture import extcap
    from linklab.capture.session import SNAPLEN, CaptureOrder, CaptureSession, interfaces

    entry = attach.chosen(network)
    places = [place]
    if place == extcap.ALL:
        there = interfaces(attach.connect(network))
        places = [f"{node}:{name}" for node, names in there.items() for name in names if name != "lo"]
    order = CaptureOrder(
        places,
        filter=args.extcap_capture_filter,
        snaplen=min(args.snaplen, SNAPLEN) or SNAPLEN,
        user=f"Linklab {__version__}, {one_line(entry['name'])}",
    )
    folder = Path(entry.get("workdir", "."))
    with CaptureSession(attach.connect(network), folder, order) as session:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: session.stop())
        with contextlib.suppress(BrokenPipeError), args.fifo.open("wb") as pipe:
            for blocks in session.stream():
                if blocks:
                    pipe.write(b"".join(block for _, block in blocks))
                    pipe.flush()
