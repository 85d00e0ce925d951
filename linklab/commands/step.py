# SPDX-License-Identifier: BSD-3-Clause
"""`linklab step`: how far you are in the lab that runs here, what is wrong, what comes next, and a hint for it.

Reads what the program that holds the network has judged (`linklab.guide.session`), so it works in a terminal of the
network as well as in one of the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab.base.text import visible
from linklab.errors import InputError
from linklab.guide.listing import GOOD, is_flagged, listing, summary
from linklab.guide.progress import FOLDER, LabProgress
from linklab.guide.session import next_hint, read_steps
from linklab.terminal import attach

if TYPE_CHECKING:
    from linklab.commands import Subparsers

INSIDE = Path("/lab")
"""The working folder inside a network."""
WAIT_S, LOOK_S = 5.0, 0.1

_EPILOG = """examples:
  linklab step                     what is wrong or left out, and what comes next
  linklab step --hint              a hint for the next step; each time a plainer one
  linklab step --check             is everything right so far? Ends with 1 if not
  linklab step delay-h1 --check    is this step done?
  linklab step 12                  the twelfth step of the manual
  linklab step --all               every step
  linklab step --json              the same for programs

In a terminal of the network this works while the lab goes on; in a terminal of your machine, in the folder of the lab
or with --network. The lab must have been started by `linklab lab LAB` or `linklab shell LAB --guide`. A step counts by
what it does, whatever the words: tc qdisc replace for add, ip for ifconfig, 0.1s for 100ms.

✓ done   ≈ done differently   ✗ wrong   · open
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add the parser of `linklab step`."""
    parser = subparsers.add_parser(
        "step",
        help=summary,
        description="Say how far you are in the lab that runs here.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("step", metavar="STEP", nargs="?", default="", help="a step by its number or name")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--hint", action="store_true", help="give the next hint for the step")
    what.add_argument("--check", action="store_true", help="end with 1 if something is wrong, or the step is not done")
    what.add_argument("--all", action="store_true", help="list every step")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--network", metavar="ID", help="which running network, where several run")
    return parser


def run(args: argparse.Namespace) -> int:
    """Tell; with --check the exit status says whether all is well.

    Raises:
        InputError: no lab runs here, or it has no such step.
    """
    folder = _folder(args.network)
    data = _settled(folder)
    steps: list[dict[str, Any]] = data["steps"]
    chosen = _chosen(steps, args.step) if args.step else None
    if args.hint:
        return _hint(folder, data, chosen)
    told = [chosen] if chosen else steps if args.all else _telling(data)
    bad = chosen["status"] not in GOOD if chosen else any(map(is_flagged, steps))
    if args.json:
        print(json.dumps({**data, "steps": told}, ensure_ascii=False, indent=2))
    else:
        _tell(data, told, whole=chosen is None)
    return 1 if args.check and bad else 0


def _folder(network: str | None) -> Path:
    """The folder of the lab: this one or one above it, else that of the running network."""
    here = Path.cwd()
    if network is None:
        candidates = [here, *here.parents, *([INSIDE] if os.environ.get("LINKLAB_INSIDE") else [])]
        found = next((folder for folder in candidates if (folder / FOLDER / "steps.json").is_file()), None)
        if found is not None:
            return found
    if os.environ.get("LINKLAB_INSIDE"):
        raise InputError(
            "this network was not started as a lab; start one with `linklab shell LAB --guide` on your machine"
        )
    running = [entry for entry in attach.networks() if network in (None, entry["id"])]
    folders = [Path(str(entry["workdir"])) for entry in running if "workdir" in entry]
    labs = [folder for folder in folders if (folder / FOLDER / "steps.json").is_file()]
    if len(labs) != 1:
        what = "several labs are running: choose one with --network" if labs else "no lab runs here"
        raise InputError(
            f"{what}; start one with `linklab lab LAB` or `linklab shell LAB --guide`, or go to its folder"
        )
    return labs[0]


def _settled(folder: Path) -> dict[str, Any]:
    """What is judged, once all that was typed has been; after a few seconds what there is."""
    until_s = time.monotonic() + WAIT_S
    while True:
        data = read_steps(folder)
        if data is None:
            raise InputError(
                f"{folder}: no lab was begun here; start one with `linklab lab LAB` or `linklab shell LAB --guide`"
            )
        if not data["busy"] or time.monotonic() > until_s:
            return data
        time.sleep(LOOK_S)


def _chosen(steps: list[dict[str, Any]], name: str) -> dict[str, Any]:
    if name.isdecimal() and 0 < int(name) <= len(steps):
        return steps[int(name) - 1]
    for one in steps:
        if one["id"] == name:
            return one
    raise InputError(f'this lab has no step "{name}"; it has 1 to {len(steps)}, which `linklab step --all` lists')


def _telling(data: dict[str, Any]) -> list[dict[str, Any]]:
    """What is the matter, and the next step."""
    return [one for one in data["steps"] if is_flagged(one) or one["id"] == data["next"]]


_EVERY_STEP = (
    "Every step is done. To write predictions and answers, run linklab lab {lab} --continue in this folder; to pack "
    "your work, run linklab submit there. Run both on your own machine, not inside the network."
)


def _hint(folder: Path, data: dict[str, Any], chosen: dict[str, Any] | None) -> int:
    name = chosen["id"] if chosen else data["next"]
    if name is None:
        print(_EVERY_STEP.format(lab=data["lab"]))
        return 0
    progress = LabProgress.load(folder)
    one = chosen or _chosen(data["steps"], name)
    print(next_hint(progress, name, one["hints"]) if progress else one["hints"][0])
    return 0


def _tell(data: dict[str, Any], told: list[dict[str, Any]], *, whole: bool) -> None:
    if whole:
        print(summary(data["heading"], data["steps"]))
        if data.get("trouble"):
            print(f"{visible(data['trouble'])}.")
    print("\n".join(listing(data["steps"], told, data["next"] if whole else None)).removeprefix("" if whole else "\n"))
    if data["next"] is None:
        print(_EVERY_STEP.format(lab=data["lab"]))
    elif whole:
        print("\nlinklab step --hint gives a hint; linklab step --all lists every step.")
