# SPDX-License-Identifier: BSD-3-Clause
"""`linklab set-env`: the script that sets a lab up to a section, derived from its manual."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base import installation, lab_script
from linklab.base.files import write
from linklab.engine.pocket import ROOT_INSIDE
from linklab.errors import LabError
from linklab.lab.model import Lab, find_lab, load_lab
from linklab.manual.set_env import set_env_script

if TYPE_CHECKING:
    from linklab.commands import Subparsers

_EPILOG = """examples:
  linklab set-env 14                print the script
  linklab set-env 14 --write        renew labs/14-…/set_env.sh; inside a network, put it into the working folder

linklab shell 14, and the editor's Run of a lab's topology, leave the script in the working folder. In any terminal of
the running network:
  sudo ./set_env.sh 4               undo your changes, then make every setting that stands before Section 4
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `set-env LAB [--write]`."""
    parser = subparsers.add_parser(
        "set-env",
        help=summary,
        description="Print the script that makes a lab's settings up to a section, for whoever starts in the middle.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lab", metavar="LAB", help="number, folder name or path of the lab")
    parser.add_argument("--write", action="store_true", help="write it beside the manual instead of printing it")
    return parser


def run(args: argparse.Namespace) -> int:
    """Print or write the script."""
    inside = os.environ.get("LINKLAB_INSIDE")
    lab = load_lab(find_lab(args.lab, _outside() if inside else None))
    script = set_env_script(lab.manual, f"Lab {lab.number}")
    if not args.write:
        print(script, end="")
        return 0
    path = (Path() if inside else lab.folder) / lab_script.NAME
    if not inside and lab.folder.resolve().parent == installation.ROOT / "labs":
        installation.refuse_installed("set-env --write")
    write(path, script)
    path.chmod(0o755)
    print(path)
    return 0


def _outside() -> Path | None:
    """Where the labs of the machine's Linklab are, seen from a terminal of a network, which has no copy of them."""
    if not ROOT_INSIDE.is_file():
        return None
    root = Path(ROOT_INSIDE.read_text(encoding="utf-8").strip())
    return root if root.is_dir() else None


def check_script(lab: Lab) -> None:
    """Whether `set_env.sh` is what the manual gives.

    Raises:
        LabError: it is missing or differs.
    """
    path = lab.folder / "set_env.sh"
    wanted = set_env_script(lab.manual, f"Lab {lab.number}")
    if not path.is_file() or path.read_text(encoding="utf-8") != wanted:
        raise LabError(f"{path}: is not what the manual gives; renew it with linklab set-env {lab.number} --write")
