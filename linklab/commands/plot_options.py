# SPDX-License-Identifier: BSD-3-Clause
"""Options of a command that draws named plots → `linklab.plots.named.Options`."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linklab.base.text import excerpt

if TYPE_CHECKING:
    from linklab.plots.named import Options


def add_plot_options(parser: argparse.ArgumentParser) -> None:
    """Add all of them, in groups."""
    _add_words(parser.add_argument_group("words"))
    _add_legend(parser.add_argument_group("legend"))
    _add_data(parser.add_argument_group("what is drawn"))
    _add_axes(parser.add_argument_group("axes"))
    _add_groups(parser.add_argument_group("several files"))
    _add_looks(parser.add_argument_group("looks"))


def options_of(args: argparse.Namespace) -> Options:
    """What the arguments ask for.

    Raises:
        InputError: one of them cannot be, or not together with another.
    """
    from linklab.plots.named import Options  # Matplotlib takes a second to load

    given: dict[str, Any] = {each.name: getattr(args, each.name) for each in fields(Options) if each.name in args}
    several = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
    return Options(**{**given, **several, "replace": dict(args.replace)})


def _add_words(group: Any) -> None:
    group.add_argument("--title", metavar="TEXT", help="instead of the plot's and the file's")
    group.add_argument("--no-title", dest="title", action="store_const", const="", help="no title")
    group.add_argument("--label-x", metavar="TEXT", default="", help="words of the x axis")
    group.add_argument(
        "--label-y",
        dest="labels_y",
        metavar="TEXT",
        action="append",
        default=[],
        help="of the y axis; again: the right",
    )
    group.add_argument(
        "--label",
        dest="labels",
        metavar="TEXT",
        action="append",
        default=[],
        help="of the first file, or of the first series where there is one file; again for the next",
    )
    group.add_argument(
        "--filter",
        dest="filters",
        metavar="REGEX",
        action="append",
        default=[],
        help="delete what this regular expression matches from labels and names of groups",
    )
    group.add_argument(
        "--replace", metavar="OLD=NEW", type=_replacement, action="append", default=[], help="words of labels"
    )
    group.add_argument(
        "--no-shorten", dest="shorten", action="store_false", help="keep the words that all files' names share"
    )
    group.add_argument("--note", metavar="TEXT", default="", help="a sentence at the bottom")
    group.add_argument("--no-annotation", dest="annotation", action="store_false", help="nothing else at the bottom")
    group.add_argument("--no-tick-labels", dest="tick_labels", action="store_false", help="no words at boxes and bars")


def _add_legend(group: Any) -> None:
    group.add_argument(
        "--legend", metavar="PLACE", default="auto", help="above, right, below, best, 'upper left', none, …"
    )
    group.add_argument("--legend-columns", metavar="N", type=int, default=0)
    group.add_argument("--legend-reverse", action="store_true", help="the last first")
    group.add_argument("--legend-title", metavar="TEXT")


def _add_data(group: Any) -> None:
    group.add_argument("--only", metavar="PATTERN", action="append", default=[], help="draw these series only")
    group.add_argument("--hide", metavar="PATTERN", action="append", default=[], help="leave out these series")
    group.add_argument(
        "--cutoff",
        dest="between_s",
        metavar="A,B",
        type=_pair(float),
        help="keep what lies between A and B, seconds; a B of 0 or less counts from the end",
    )
    group.add_argument(
        "--smooth", dest="smoothing", metavar="N", type=int, help="running mean of N samples; 0 for none"
    )
    group.add_argument(
        "--normalise", metavar="F", type=float, action="append", default=[], help="divide series by F; again: the next"
    )
    group.add_argument("--absolute-time", action="store_true", help="the time of day instead of seconds")
    group.add_argument("--concatenate", action="store_true", help="files follow each other in time")
    group.add_argument("--skip-missing", action="store_true", help="no room for series that a file lacks (box, bar)")
    group.add_argument("--subplots", action="store_true", help="each file in a panel of its own, at the same scale")


def _add_axes(group: Any) -> None:
    for axis, more in (("x", ""), ("y", "; again: of the right axis")):
        group.add_argument(
            f"--limits-{axis}",
            metavar="A,B",
            type=_limits,
            action="append",
            default=[],
            help=f"from A to B in the unit of the {axis} axis; either may be left out{more}",
        )
        group.add_argument(
            f"--log-{axis}", metavar="BASE", nargs="?", type=int, const=10, default=0, help="logarithmic; base 10 or 2"
        )
    group.add_argument(
        "-z", "--zero", action=argparse.BooleanOptionalAction, default=None, help="y axes begin at 0, or need not"
    )
    group.add_argument("-I", "--invert", action="store_true", help="turn axes of latency: better is up or right")
    group.add_argument(
        "--scaling", metavar="LOW,HIGH", type=_pair(float), help="percentiles of the values that y axes show: 5,95"
    )


def _add_groups(group: Any) -> None:
    group.add_argument("--group-by", metavar="MODE", default="", help="groups, series, batch, meta:KEY, …")
    group.add_argument(
        "--reduce", metavar="NAME", default="", help="one number of each file: mean, median, mean_span, …"
    )
    group.add_argument(
        "--error", choices=("auto", "interval", "sd", "none"), default="auto", help="on bars: the 95 %% interval, or sd"
    )
    group.add_argument("--no-n", dest="print_n", action="store_false", help="do not say how many files a group has")
    group.add_argument(
        "--split", metavar="NAME", action="append", default=[], help="divide files evenly into groups (box, bar); again"
    )
    group.add_argument(
        "--scale-with",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="not drawn, but counts for the axes",
    )
    group.add_argument("--save-combined", metavar="FOLDER", type=Path, help="write each group as a data file, too")


def _add_looks(group: Any) -> None:
    group.add_argument("--style", choices=("screen", "print", "grey"), default="screen")
    group.add_argument(
        "--colours", metavar="A,B,…", type=lambda text: text.split(","), default=(), help="in their order"
    )
    group.add_argument("--colour-by", choices=("auto", "series", "file"), default="auto")
    group.add_argument("--line-width", metavar="POINTS", type=float, default=0.0)
    group.add_argument("--markers", action=argparse.BooleanOptionalAction, default=None)
    group.add_argument("--marker-size", metavar="POINTS", type=float, default=0.0)
    group.add_argument("--size", dest="size_in", metavar="W,H", type=_pair(float), help="inches")
    group.add_argument("--dpi", type=int, default=200, help="pixels an inch of a .png; 200")
    group.add_argument(
        "--sigmas", metavar="A,B", type=_numbers, default=(1.0, 2.0), help="radii of ellipses, standard deviations: 1,2"
    )


def _pair(kind: Callable[[str], float]) -> Callable[[str], tuple[float, float]]:
    """A reader of two numbers with a comma between them."""

    def read(text: str) -> tuple[float, float]:
        found = _numbers(text)
        if len(found) != 2:
            raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be two numbers, such as 5,95')
        return kind(str(found[0])), kind(str(found[1]))

    return read


def _numbers(text: str) -> Sequence[float]:
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = (math.nan,)
    if not all(map(math.isfinite, found)):
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be numbers with commas between them')
    return found


def _limits(text: str) -> tuple[float | None, float | None]:
    low, _, high = text.partition(",") if "," in text else ("", "", text)
    try:
        return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        message = f'"{excerpt(text)}" must be two numbers, such as 0,100; either may be left out'
        raise argparse.ArgumentTypeError(message) from None


def _replacement(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise argparse.ArgumentTypeError(f'"{excerpt(text)}" must be OLD=NEW')
    return old, new
