# SPDX-License-Identifier: BSD-3-Clause
"""`linklab plot RUN STEP…` and `linklab plot FILE…`: figures of a finished run's steps, or of data files.

What is drawn is looked up in `linklab.plots.catalogue`. It is imported when it is needed: `linklab plot iperf`
runs inside networks, where reading files costs time.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.errors import DataError, InputError

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.lab.saved import SavedRun
    from linklab.plots.catalogue import Part

_EPILOG = """examples:
  linklab plot runs/lab14-20260131-142530-seed1                          lists the steps and their figures
  linklab plot runs/lab14-20260131-142530-seed1 bulk                     every figure of step bulk, as bulk-NAME.pdf
  linklab plot runs/lab14-20260131-142530-seed1 bulk+queue/rtt+backlog   two steps, two panels on one time axis
  linklab plot runs/lab14-20260131-142530-seed1 bulk/rtt --out rtt.svg
  linklab plot runs/lab14-*/data/20-bdp.flent.gz throughput              the same step of several runs
  linklab plot tcp_1up.flent.gz                                          a file of Flent's: a figure for each unit

Figures are written as .pdf into this folder unless --out says otherwise. The names of figures are in
docs/writing-a-lab.md, what is in a data file in docs/data-files.md.
"""


def add_kind(kinds: Subparsers) -> None:
    """Add `plot results`, whose word may be left out."""
    parser = kinds.add_parser(
        "results",
        help="what the steps of a run measured, or data files; the word may be left out",
        description="Plot what the steps of a finished run measured, or what data files hold.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("what", metavar="RUN|FILE", help="folder that linklab run has left, or a data file (.flent.gz)")
    parser.add_argument(
        "figures",
        metavar="FIGURE",
        nargs="*",
        help="of a run: STEP[+STEP][/NAME[+NAME]]; of files: further files, then NAME[+NAME]",
    )
    parser.add_argument(
        "--out",
        metavar="PATH",
        type=Path,
        default=Path(),
        help="figure to write (.pdf, .png, .svg), or a folder (here)",
    )


def run(args: argparse.Namespace) -> int:
    """Write the figures and say where they are; without a figure of a run, list what there is."""
    if not args.what:
        raise InputError("the name of what to plot is empty text; give the folder of a run, or a data file")
    what = Path(args.what)
    if what.is_dir():
        from linklab.lab.saved import load_run

        saved = load_run(what)
        if not args.figures:
            return _list(saved)
        figures = [figure for target in args.figures for figure in _of_run(saved, target)]
    else:
        figures = _of_files([args.what, *args.figures])
    from linklab.plots.style import FORMATS

    single = args.out.suffix.lower() in FORMATS
    if single and len(figures) != 1:
        raise InputError(f"{args.out}: there are {len(figures)} figures to write; give a folder with --out")
    for name, parts, names in figures:
        path = args.out if single else args.out / f"{name.replace('/', '-per-')}.pdf"
        _draw(parts, names, path)
        print(path)
    return 0


Figure = tuple[str, "list[Part]", list[str]]
"""Name of its file, what is drawn in it, and its panels."""


def _list(saved: SavedRun) -> int:
    from linklab.plots import catalogue

    print(f"{saved.heading}, seed {saved.seed}: steps and their figures")
    good = True
    for step in saved.steps.values():
        if not step.data_file:
            continue
        try:
            names = catalogue.available(saved.data(step.id))
        except DataError as error:
            good = False
            print(f"  {step.id}: {error}")
        else:
            if names:
                print(f"  {step.id}: {' '.join(names)}")
    return 0 if good else 1


def _of_run(saved: SavedRun, target: str) -> list[Figure]:
    from linklab.plots import catalogue

    steps, slash, names = target.partition("/")
    parts = [catalogue.part_of(saved.data(step)) for step in steps.split("+")]
    if slash:
        return [(f"{steps}-{names}", parts, names.split("+"))]
    return _all_figures(steps, parts)


def _of_files(words: Sequence[str]) -> list[Figure]:
    from linklab.data import open_file
    from linklab.plots import catalogue

    count = next((number for number, word in enumerate(words) if not Path(word).is_file()), len(words))
    if not count:
        raise InputError(f"{words[0]}: neither the folder of a run nor a data file")
    paths, targets = [Path(word) for word in words[:count]], words[count:]
    stems = [path.name.partition(".")[0] for path in paths]
    names = [stem if stems.count(stem) == 1 else str(path) for stem, path in zip(stems, paths, strict=True)]
    # Each from its own beginning: that two were measured at the same time is known of the steps of one run alone.
    parts = [
        replace(catalogue.part_of(open_file(path), name), start_s=0.0, end_s=0.0)
        for name, path in zip(names, paths, strict=True)
    ]
    stem = "+".join(dict.fromkeys(stems))
    if targets:
        return [(f"{stem}-{target}", parts, target.split("+")) for target in targets]
    return _all_figures(stem, parts)


def _all_figures(stem: str, parts: list[Part]) -> list[Figure]:
    """A figure of each name that a report would show, with the parts that have it."""
    from linklab.plots import catalogue

    names = dict.fromkeys(name for part in parts for name in catalogue.reported(part.data))
    if not names:
        raise InputError(f"{', '.join(part.step for part in parts)}: it has no series to draw")
    having = {name: [part for part in parts if name in catalogue.available(part.data)] for name in names}
    return [(f"{stem}-{name}", having[name], [name]) for name in names]


def _draw(parts: Sequence[Part], names: Sequence[str], path: Path) -> None:
    from linklab.plots import catalogue, style

    with style.context():
        style.save(catalogue.draw_figure(parts, names), path)
