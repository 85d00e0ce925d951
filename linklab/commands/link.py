# SPDX-License-Identifier: BSD-3-Clause
"""`linklab link`: links by earliest departure time in a running network; what each word does is in docs/links.md."""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import EngineError, InputError

if TYPE_CHECKING:
    from linklab.commands import Subparsers

VERBS = ("set", "change", "show", "del", "stats", "load", "play", "clear")
_EPILOG = """examples, typed in any terminal of a running network:
  linklab link set h1 h2 rate 10mbit delay 20ms
  linklab link set h1 h2 delay 20ms jitter 2ms distribution normal loss 1%
  linklab link set any h2 rate 10mbit at r1:r1-eth2     from every source, held at that interface
  linklab link change h1 h2 rate 20mbit                 the rest stays, and so do packets on their way
  linklab link show                                     linklab link show h1 h2
  linklab link stats --json                             linklab link stats h1 h2
  linklab link del h1 h2
  linklab link load mesh.csv at s1:s1-eth2              columns from,to,rate,delay,…
  linklab link play pass.csv                            columns time,from,to,rate,delay,…: times in s from now
  linklab link clear                                    take everything away

A link has a direction. Properties: rate 10mbit, delay 20ms, jitter 2ms,
distribution normal|pareto|paretonormal|uniform, loss 1% or loss gemodel P R 1-H 1-K, duplicate 1%, reorder 1%,
corrupt 0.1%, queue 100ms or 64kb, ecn 5ms. Take one away with none: linklab link change h1 h2 loss none.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `link VERB …`."""
    parser = subparsers.add_parser(
        "link",
        help=summary,
        description="Give the packets from one node to another a rate, a delay, loss and more, without a queueing "
        "discipline for each link: an eBPF program gives each packet its time of departure.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=VERBS, help="what to do")
    parser.add_argument("words", nargs="*", metavar="WORD", help="the two ends, and what the link does")
    parser.add_argument("--json", action="store_true", help="stats as JSON")
    return parser


def run(args: argparse.Namespace) -> int:
    """Do it in the network whose terminal this is."""
    if args.json and args.verb != "stats":
        raise InputError(f"only stats has --json, not {args.verb}")
    words, at = _without(args.words, "at")
    words, entries = _without(words, "entries")
    ends, words = _ends(args.verb, words)
    if entries and (args.verb != "load" or not entries.isdecimal() or not int(entries)):
        raise InputError("entries is for load alone, with the number of links to have room for, such as entries 100000")
    if not os.environ.get("LINKLAB_INSIDE"):
        raise InputError(
            "this is no terminal of a network: start one with linklab shell or in the editor, then type this there"
        )
    from linklab.agent import edt_command

    gc.disable()  # what thousands of links are made of stays until the end; looking through it took half of the time
    try:
        _do(args.verb, ends, words, at=at, entries=int(entries or 0), as_json=args.json)
    except edt_command.GIVEN as error:
        raise InputError(str(error)) from error
    except (*edt_command.NETWORK, OSError) as error:
        raise EngineError(str(error)) from error
    return 0


def _do(verb: str, ends: Sequence[str], words: Sequence[str], *, at: str, entries: int, as_json: bool) -> None:
    from linklab.agent import edt_many
    from linklab.agent.edt_command import LinkCommand
    from linklab.agent.edt_place import enter_root

    command = LinkCommand()
    if verb in ("load", "play"):
        file = edt_many.LinkFile.read(Path(ends[0]))
        enter_root()
        if verb == "load":
            edt_many.load(file, command.places, at, entries)
        else:
            there = {(link.source, link.target): link.state.spec for link in command.links()}
            edt_many.play(file, command.places, there, at)
        return
    enter_root()
    if verb in ("set", "change"):
        source, target = ends
        command.put(source, target, words, at, change=verb == "change")
    elif verb == "del":
        source, target = ends
        command.delete(source, target, at)
    elif verb == "clear":
        command.clear(at)
    else:
        source, target = ends or ("", "")
        command.show(source, target) if verb == "show" else command.stats(source, target, as_json=as_json)


def _without(words: Sequence[str], name: str) -> tuple[list[str], str]:
    """The words without `name VALUE`, and that value; "" where it is not among them."""
    rest = list(words)
    if name not in rest:
        return rest, ""
    at = rest.index(name)
    if at + 1 == len(rest):
        raise InputError(f'"{name}" needs a value, such as {_VALUES[name]}')
    value = rest[at + 1]
    del rest[at : at + 2]
    return rest, value


_VALUES = {"at": "at s1:s1-eth2", "entries": "entries 100000"}
_ENDS = {
    "set": (2,),
    "change": (2,),
    "del": (2,),
    "show": (0, 2),
    "stats": (0, 2),
    "load": (1,),
    "play": (1,),
    "clear": (0,),
}
_USAGE = {
    "set": "linklab link set h1 h2 rate 10mbit delay 20ms",
    "change": "linklab link change h1 h2 rate 20mbit",
    "del": "linklab link del h1 h2",
    "show": "linklab link show, or linklab link show h1 h2",
    "stats": "linklab link stats, or linklab link stats h1 h2 --json",
    "load": "linklab link load mesh.csv at s1:s1-eth2",
    "play": "linklab link play pass.csv",
    "clear": "linklab link clear, or linklab link clear at s1:s1-eth2",
}


def _ends(verb: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The ends (or the file) that come first, and the words after them, which set and change alone have."""
    takes_more = verb in ("set", "change")
    if (takes_more and len(words) < 2) or (not takes_more and len(words) not in _ENDS[verb]):
        raise InputError(f"type it as {_USAGE[verb]}")
    count = 2 if takes_more else len(words)
    return list(words[:count]), list(words[count:])
