# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test plot FILE…`: a test's plots of one or several data files, as figures."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import excerpt, file_name, one_line
from linklab.commands.plot_options import add_plot_options, options_of
from linklab.commands.plot_results import shown
from linklab.commands.test_tables import with_folders
from linklab.errors import InputError

if TYPE_CHECKING:
    from linklab.plots.named import Loaded, Options
    from linklab.plots.spec import PlotSpec

_EPILOG = """examples:
  linklab test plot rrul.flent.gz                          the test's own plot, as NAME.pdf
  linklab test plot rrul.flent.gz --list-plots             all plots of the test
  linklab test plot rrul.flent.gz -p ping_cdf -o ping.svg
  linklab test plot runs/*.flent.gz -p box_combine -o box.png
  linklab test plot runs/*.flent.gz -p bar_combine --group-by meta:rate --error sd
  linklab test plot a.flent.gz -p totals --cutoff 5,-5 --limits-y 0,12 --style grey

Figures are written into this folder unless -o says otherwise. docs/tests.md, "Plots", describes kinds and options.
"""

_MOST_NAMES = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add `FILE… [-p NAME] [-o FILE]` and the options of a figure."""
    parser.add_argument(
        "files", metavar="FILE", type=Path, nargs="+", help="data file of Linklab or Flent, or a folder of them"
    )
    parser.add_argument(
        "-p",
        "--plot",
        metavar="NAME",
        action="append",
        default=[],
        help="which plot; the test's own; may be given again",
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=Path, default=Path(), help=".pdf, .png or .svg, or a folder (here)"
    )
    parser.add_argument("--list-plots", action="store_true", help="print the plots of these files")
    add_plot_options(parser)
    parser.epilog = _EPILOG


def run(args: argparse.Namespace) -> int:
    """Write the figures and say where they are."""
    from linklab.experiment.plots_of import plots_of
    from linklab.plots.named import crowded, lacking, refuse_empty, save
    from linklab.plots.style import FORMATS

    options = options_of(args)
    data = [*_opened(args.files), *(replace(one, shown=False) for one in _opened(args.scale_with))]
    specs, default = plots_of(data)
    if args.list_plots:
        return _list(specs, default)
    if default is None:
        raise InputError(f"{file_name(args.files[0])}: there is no series to draw in it")
    chosen = [_named(name, specs) for name in args.plot] or [default]
    single = args.output.suffix.lower() in FORMATS
    if single and len(chosen) > 1:
        raise InputError(f"{args.output}: there are {len(chosen)} figures to write; give a folder with -o")
    if args.output.suffix and not single and not args.output.is_dir():
        raise InputError(f"{args.output}: a figure can be written as {', '.join(FORMATS)}")
    for spec in chosen:
        refuse_empty(spec, data, options, specs)
    for spec in chosen:
        path = args.output if single else args.output / f"{_slug(spec.name)}.pdf"
        save(spec, data, options, path, specs)
        print(shown(path))
        for sentence in filter(None, (*lacking(spec, data, options, specs), crowded(spec, data, options, specs))):
            print(f"linklab: {sentence}", file=sys.stderr)
        if args.save_combined is not None:
            _save_combined(spec, data, options, args.save_combined)
    return 0


def _opened(files: Sequence[Path]) -> list[Loaded]:
    """The data sets, with the derived series that a file of Flent's lacks."""
    from linklab.data import open_file
    from linklab.experiment.derive import completed
    from linklab.plots.named import Loaded

    return [Loaded(str(file), completed(open_file(file))) for file in with_folders(files)]


def _list(specs: Sequence[PlotSpec], default: PlotSpec | None) -> int:
    width = max((len(spec.name) for spec in specs), default=0)
    for spec in specs:
        mark = "*" if spec is default else " "
        print(f"{mark} {one_line(spec.name):{width}}  {one_line(spec.description)} ({spec.kind.value})")
    if default is not None:
        print("* is drawn if no plot is named")
    return 0


def _named(name: str, specs: Sequence[PlotSpec]) -> PlotSpec:
    by_name = {spec.name: spec for spec in specs}
    if name in by_name:
        return by_name[name]
    near = difflib.get_close_matches(name, by_name, _MOST_NAMES, 0.5) or list(by_name)[:_MOST_NAMES]
    some = ", ".join(one_line(each) for each in near)
    raise InputError(f'there is no plot "{excerpt(name)}"; there is {some}; --list-plots prints all {len(by_name)}')


def _save_combined(spec: PlotSpec, data: Sequence[Loaded], options: Options, folder: Path) -> None:
    """Write each group of a combining plot as a data file, which is drawn like any other."""
    from linklab.data import save
    from linklab.plots.named.combine import COMBINING, combined
    from linklab.plots.spec_json import METADATA_KEY, to_json

    if spec.kind not in COMBINING:
        raise InputError(f"--save-combined: the plot {excerpt(spec.name)} combines nothing; choose one that does")
    made = combined(spec, data, options)
    for one in made.data:
        known = {
            **one.data.metadata,
            METADATA_KEY: [to_json(made.spec)],
            "combined_from": [other.stem for other in data if other.shown],
        }
        path = folder / f"{_slug(spec.name)}-{_slug(one.name)}.flent.gz"
        save(replace(one.data, metadata=known, flent={"TITLE": one.label}), path)
        print(shown(path))


def _slug(name: str) -> str:
    """The name as that of a file."""
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name).strip(".") or "plot"
