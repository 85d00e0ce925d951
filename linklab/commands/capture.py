# SPDX-License-Identifier: BSD-3-Clause
"""`linklab capture`: packets of interfaces of a running network, to a file, to standard output, or into Wireshark."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING

from linklab import __version__
from linklab.base.text import one_line
from linklab.errors import InputError
from linklab.terminal import attach
from linklab.terminal.attached import need_outside

if TYPE_CHECKING:
    from linklab.capture.session import CaptureSession
    from linklab.commands import Subparsers

_EPILOG = """examples, while a network runs (linklab shell, the editor, the page of a lab):
  linklab capture h1:h1-eth0                       to h1-eth0.pcapng until Ctrl+C
  linklab capture h1                               the same: h1 has one interface
  linklab capture s1:eth2 --wireshark              live in Wireshark
  linklab capture h1 s1:s1-eth2 -o both.pcapng     several interfaces in one file
  linklab capture h1 -f "tcp port 5201" -c 1000    the first 1,000 packets of iperf3
  linklab capture h1 --seconds 10 -s 128           10 s of network time, 128 bytes of each packet
  linklab capture h1 -o - | tshark -r -            to another program
  linklab capture --list                           the interfaces of the network

The file is pcapng. Its times are network time in nanoseconds: seconds since the network was ready, as `clock` shows it.
A capture costs no network time. It stops when time is paused and ends with the network; the file is whole at any
moment. Each packet shows as it leaves its queue or comes in; docs/captures.md says more.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab capture`."""
    parser = subparsers.add_parser(
        "capture",
        help=summary,
        description="Capture the packets of one or several interfaces of a running network.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("places", metavar="NODE:IF", nargs="*", help="a node and its interface; NODE if it has one")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("-o", "--out", metavar="FILE", help="file to write, - for standard output (default: IF.pcapng)")
    where.add_argument("--wireshark", action="store_true", help="open it live in Wireshark")
    where.add_argument("--list", action="store_true", help="list the interfaces of the network")
    parser.add_argument("-f", "--filter", metavar="FILTER", default="", help='as for tcpdump, such as "icmp"')
    parser.add_argument("-c", "--count", metavar="N", type=_whole, default=0, help="end after this many packets")
    parser.add_argument("--seconds", metavar="S", type=_seconds, default=0.0, help="end after so much network time")
    parser.add_argument("-s", "--snaplen", metavar="BYTES", type=_whole, default=0, help="keep so much of each packet")
    parser.add_argument("--network", metavar="ID", help="which network (default: that of this folder, or the only one)")
    return parser


def _whole(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 2**31:
        raise argparse.ArgumentTypeError(f'must be a whole number from 1, not "{text}"')
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text.removesuffix("s"))
    except ValueError:
        value = 0.0
    if not 0 < value < 1e9:
        raise argparse.ArgumentTypeError(f'must be a number of seconds above 0, not "{text}"')
    return value


def run(args: argparse.Namespace) -> int:
    """Capture until something ends it.

    Raises:
        InputError: no such network, node or interface, or no such filter; names what there is.
        MissingError: Wireshark or libpcap is not installed.
        EngineError: the network could not do it.
    """
    from linklab.capture.copying import summary
    from linklab.capture.session import SNAPLEN, CaptureOrder, CaptureSession, interfaces

    need_outside("linklab capture …")
    entry = attach.chosen(args.network, Path.cwd())
    if args.list:
        there = interfaces(attach.connect(entry["id"]))
        for node, names in there.items():
            print("  ".join(f"{node}:{name}" for name in names))
        return 0
    if not args.places:
        there = interfaces(attach.connect(entry["id"]))
        raise InputError(f"which interface? There are {_listed(there)}")
    order = CaptureOrder(
        args.places,
        filter=args.filter,
        snaplen=args.snaplen or SNAPLEN,
        count=args.count,
        seconds=args.seconds,
        user=f"Linklab {__version__}, {one_line(entry['name'])}",
    )
    folder = Path(entry.get("workdir", "."))
    with (
        _target(args) as (out, name),
        CaptureSession(attach.connect(entry["id"]), folder, order) as session,
        _stops(session),
    ):
        _copy(session, out, name, entry)
    _say(summary(session, name))
    return 0


def _listed(there: dict[str, list[str]]) -> str:
    return ", ".join(f"{node}:{name}" for node, names in there.items() for name in names if name != "lo")


@contextlib.contextmanager
def _target(args: argparse.Namespace) -> Iterator[tuple[IO[bytes], str]]:
    """Where it goes, and what to call that."""
    from linklab.capture import wireshark
    from linklab.capture.copying import free_name

    if args.wireshark:
        window, pipe = wireshark.started()
        try:
            yield pipe, "Wireshark"
        finally:
            with contextlib.suppress(OSError):
                pipe.close()
            window.poll()
    elif args.out == "-":
        if sys.stdout.isatty():
            raise InputError("a capture is not written to a terminal: add `| tshark -r -`, or name a file with -o FILE")
        yield sys.stdout.buffer, "standard output"
    else:
        path = Path(args.out) if args.out else free_name(Path(), args.places[0])
        with path.open("wb") as file:
            try:
                yield file, str(path)
            except BaseException:
                if not path.stat().st_size:  # nothing was captured, as where the interface is wrong
                    path.unlink()
                raise


@contextlib.contextmanager
def _stops(session: CaptureSession) -> Iterator[None]:
    """Ctrl+C and SIGTERM end the capture, not this program, which writes what was captured; a second one does."""
    before: dict[int, object] = {}

    def stop(number: int, _: object) -> None:
        session.stop()
        for each, handler in before.items():
            signal.signal(each, handler)  # type: ignore[arg-type]

    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)  # type: ignore[arg-type]


def _copy(session: CaptureSession, out: IO[bytes], name: str, entry: dict[str, object]) -> None:
    from linklab.capture.copying import copy

    where = f"network {entry['id']} ({one_line(str(entry['name']))})"
    copy(
        session,
        out,
        begun=lambda listens: _say(f"capturing {', '.join(listens)} of {where} to {name}; Ctrl+C ends it"),
        gone=lambda place: _say(f"{place} is no longer there"),
    )


def _say(text: str) -> None:
    print(f"linklab: {text}", file=sys.stderr, flush=True)
