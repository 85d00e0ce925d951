# SPDX-License-Identifier: BSD-3-Clause
"""`linklab plot RUN STEP…` and `linklab plot FILE…`: figures of a finished run's steps, or of data files.

What is drawn is looked up in `linklab.plots.catalogue`. It is imported when it is needed: `linklab plot iperf`
runs inside networks, where reading files costs time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import excerpt, file_name, one_line, visible
from linklab.errors import DataError, InputError

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.data import Dataset
    from linklab.lab.saved import SavedRun
    from linklab.plots.catalogue import Part

_EPILOG = """examples:
  linklab plot runs/lab14-20260131-142530-seed1                lists the steps and their figures
  linklab plot runs/lab14-20260131-142530-seed1 bloat          every figure of step bloat, as bloat-NAME.pdf
  linklab plot runs/lab14-20260131-142530-seed1 bloat+bloat-queue/rtt+backlog
                                                               two steps, two panels on one time axis
  linklab plot runs/lab14-20260131-142530-seed1 bloat/rtt --out rtt.svg
  linklab plot runs/lab14-*/data/23-bdp.flent.gz throughput    the same step of several runs
  linklab plot tcp_1up.flent.gz                                a file of Flent's: a figure for each unit
  linklab plot ./-x.flent.gz                                   a file whose name begins with "-" needs "./"

Figures are written as .pdf into this folder unless --out says otherwise. The names of figures are in
docs/writing-a-lab.md, what is in a data file in docs/data-files.md.
"""

_MOST_NAMES = 12
"""Steps that a message names; of a lab with more, the command that lists them."""

_MOST_LETTERS = 30
"""Of a line's label in a legend: with the algorithm after it, it is as wide as the figure."""


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
        print(shown(path))
    return 0


Figure = tuple[str, "list[Part]", list[str]]
"""Name of its file, what is drawn in it, and its panels."""


def shown(path: Path) -> str:
    """Return the path as a result: spelt out for a terminal, which would obey it, and as it is for a program."""
    return file_name(path) if sys.stdout.isatty() else str(path)


def _list(saved: SavedRun) -> int:
    """Print the steps and their figures; 2 if a data file is damaged, after those of all the others."""
    print(one_line(f"{saved.heading}, seed {saved.seed}: steps and their figures"))
    damaged = []
    for step, found in _figures(saved):
        if isinstance(found, DataError):
            damaged.append(found)
        else:
            print(f"  {one_line(f'{step}: ' + ' '.join(found))}")
    for error in damaged:
        print(f"linklab: {one_line(str(error))}", file=sys.stderr)
    return DataError.exit_code if damaged else 0


def _figures(saved: SavedRun) -> Iterator[tuple[str, list[str] | DataError]]:
    """Each step that has figures, with their names, or with what is wrong with its data file."""
    from linklab.plots import catalogue

    for step in saved.steps.values():
        if step.data_file:
            try:
                names = catalogue.available(saved.data(step.id))
            except DataError as error:
                yield step.id, error
            else:
                if names:
                    yield step.id, names


def _of_run(saved: SavedRun, target: str) -> list[Figure]:
    from linklab.plots import catalogue

    steps, slash, names = target.partition("/")
    parts = []
    for step in steps.split("+"):
        if step not in saved.steps:
            raise InputError(f'{saved.folder}: there is no step "{excerpt(step)}"; {_choice(saved)}')
        if not saved.steps[step].data_file:
            raise InputError(f"{saved.folder}: step {step} measured nothing to draw; {_choice(saved)}")
        parts.append(catalogue.part_of(saved.data(step)))
    if slash:
        return [(f"{steps}-{names}", parts, names.split("+"))]
    return _all_figures(steps, parts)


def _choice(saved: SavedRun) -> str:
    """What can be drawn instead, in words."""
    having = [step for step, found in _figures(saved) if not isinstance(found, DataError)]
    if not having:
        return "no step of this run has a figure"
    if len(having) > _MOST_NAMES:
        return f"linklab plot {file_name(saved.folder)} lists the {len(having)} steps that have figures"
    return f"the steps with figures are {', '.join(having)}"


def _of_files(words: Sequence[str]) -> list[Figure]:
    from linklab.data import open_file
    from linklab.plots import catalogue

    count = next((number for number, word in enumerate(words) if not Path(word).is_file()), len(words))
    if not count:
        raise InputError(f"{words[0]}: neither the folder of a run nor a data file")
    paths, targets = [Path(word) for word in words[:count]], words[count:]
    found = [open_file(path) for path in paths]
    # Each from its own beginning: that two were measured at the same time is known of the steps of one run alone.
    parts = [
        replace(catalogue.part_of(data, str(path)), label=label, start_s=0.0, end_s=0.0)
        for data, path, label in zip(found, paths, _labels(paths, found), strict=True)
    ]
    stem = "+".join(dict.fromkeys(_stem(path) for path in paths))
    if targets:
        return [(f"{stem}-{target}", parts, target.split("+")) for target in targets]
    return _all_figures(stem, parts)


def _stem(path: Path) -> str:
    return path.name.partition(".")[0] or path.name


def _labels(paths: Sequence[Path], found: Sequence[Dataset]) -> list[str]:
    """Return short names that tell the files apart, one for each.

    That is the first of these in which all differ: their names, what they say of their lab, step and seed, and the
    parts of their paths between those that all have in common.
    """
    candidates = [[_stem(path) for path in paths], _described(found), _different_parts(paths)]
    labels = next((labels for labels in candidates if len(set(labels)) == len(labels)), candidates[-1])
    short = [_shortened(visible(label, keep="")) for label in labels]
    if len(set(short)) == len(short):
        return short
    return [f"{number}: {label}" for number, label in enumerate(short, 1)]


def _described(found: Sequence[Dataset]) -> list[str]:
    """What the data sets say of themselves, as far as they differ: "seed 1"."""
    keys = {"lab": "Lab {}", "step": "{}", "seed": "seed {}"}
    told = [[words.format(data.metadata.get(key, "?")) for key, words in keys.items()] for data in found]
    differ = [column for column in zip(*told, strict=True) if len(set(column)) > 1]
    return [", ".join(row) for row in zip(*differ, strict=True)] if differ else [""] * len(found)


def _different_parts(paths: Sequence[Path]) -> list[str]:
    """The paths without the parts at their beginnings and ends that all have in common."""
    parts = [path.parts for path in paths]
    while all(parts) and len({each[-1] for each in parts}) == 1:
        parts = [each[:-1] for each in parts]
    while all(parts) and len({each[0] for each in parts}) == 1:
        parts = [each[1:] for each in parts]
    return [str(Path(*each)) if each else "." for each in parts]


def _shortened(label: str) -> str:
    """The label with an ellipsis for its middle where it is long: runs differ at their ends, in time and seed."""
    if len(label) <= _MOST_LETTERS:
        return label
    return f"{label[: _MOST_LETTERS // 3]}…{label[-(_MOST_LETTERS - _MOST_LETTERS // 3 - 1) :]}"


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
