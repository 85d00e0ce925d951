# SPDX-License-Identifier: BSD-3-Clause
"""`linklab manual`: a lab's manual as one HTML file."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import InputError
from linklab.lab import ROOT, Lab, find_lab, load_lab
from linklab.manual.html import Recorded, render_manual
from linklab.manual.picture import topology_parts, topology_svg
from linklab.record import load_reference

if TYPE_CHECKING:
    from linklab.cli import Subparsers

_EPILOG = """examples:
  linklab manual 14
  linklab manual 14 --open
  linklab manual 8 --out lab8.html
"""


def add_parser(subparsers: Subparsers) -> argparse.ArgumentParser:
    """Add `manual LAB [--open] [--out FILE]`."""
    parser = subparsers.add_parser(
        "manual",
        help="a lab's manual as HTML",
        description="Write the manual of a lab as one HTML file that works offline.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("lab", metavar="LAB", help="number, folder name or path of the lab")
    parser.add_argument("--out", metavar="FILE", type=Path, help="default: build/manuals/NN-slug.html")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the file and print its name."""
    lab = load_lab(find_lab(args.lab))
    path: Path = args.out or ROOT / "build" / "manuals" / f"{lab.slug}.html"
    html = manual_html(lab)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(html, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
    print(path)
    if args.open:
        webbrowser.open(path.resolve().as_uri())
    return 0


def manual_html(lab: Lab) -> str:
    """The page of a lab, with what its reference recorded."""
    reference = load_reference(lab)
    topology = lab.load_topology()
    picture = topology_svg(*topology_parts(topology), title=f"Topology of {lab.heading}") if topology else ""
    return render_manual(
        lab.manual,
        heading=lab.heading,
        objectives=lab.objectives,
        fields={"title": lab.title, "number": str(lab.number)},
        recorded=reference.recorded if reference else Recorded(),
        picture=picture,
    )
