# SPDX-License-Identifier: BSD-3-Clause
"""What `flent` makes of data files: tables, metadata and plots, as its options ask for them."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.base.text import excerpt
from linklab.errors import InputError

if TYPE_CHECKING:
    from linklab.plots.named import Loaded, Options
    from linklab.plots.named.options import Limits
    from linklab.plots.spec import PlotSpec

TABLES = {
    "summary": ("linklab.commands.test_summary", ()),
    "stats": ("linklab.commands.test_stats", ()),
    "stats_csv": ("linklab.commands.test_stats", ("--format", "csv")),
    "csv": ("linklab.commands.test_csv", ()),
    "org_table": ("linklab.commands.test_csv", ("--format", "org")),
}
"""Flent's format → the verb of `linklab test` that prints it, and its options."""
PICTURES = (".png", ".svg", ".pdf")
STDOUT = "-"


def format_of(args: argparse.Namespace) -> str:
    """Which of Flent's formats is meant; a figure is, too, where its file is named."""
    if args.format:
        return str(args.format)
    return "plot" if args.plot or Path(args.output).suffix.lower() in PICTURES else "summary"


def check(args: argparse.Namespace) -> None:
    """Refuse, before anything is measured, what could not be written afterwards.

    Raises:
        InputError: the kind of figure is not known, an option of the plot is wrong, or a file cannot be written.
    """
    from linklab.experiment.out_file import refuse_file

    for name in filter(None, (args.output if args.output != STDOUT else "", args.log_file)):
        refuse_file(Path(name))
    if format_of(args) != "plot":
        return
    suffix = Path(args.output).suffix.lower()
    if args.output != STDOUT and suffix not in PICTURES:
        raise InputError(f"-o {excerpt(args.output)}: a plot can be written as {', '.join(PICTURES)}")
    options_of(args, 0.0)


def write(args: argparse.Namespace, files: Sequence[Path]) -> Path | None:
    """Write what was asked for of the files; the figure, where it is one."""
    match format_of(args):
        case "null":
            return None
        case "plot":
            return _plot(args, files)
        case name:
            with _output(args.output):
                _table(name, args, files)
            return None


@contextlib.contextmanager
def _output(name: str) -> Iterator[None]:
    """Standard output, which is a file where one is named."""
    if name == STDOUT:
        yield
        return
    try:
        with open(name, "w", encoding="utf-8") as file, contextlib.redirect_stdout(file):  # noqa: PTH123
            yield
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}") from error


def _table(name: str, args: argparse.Namespace, files: Sequence[Path]) -> None:
    if name == "metadata":
        from linklab.data import open_file

        print(json.dumps([dict(open_file(file).flent) for file in files], indent=2, sort_keys=True, default=str))
        return
    module_name, options = TABLES[name]
    module = importlib.import_module(module_name)
    parser = argparse.ArgumentParser(prog="flent")
    module.add_arguments(parser)
    cut = ["--cutoff", ",".join(map(str, _pair("--data-cutoff", args.data_cutoff)))] if args.data_cutoff else []
    module.run(parser.parse_args([*map(str, files), *options, *cut]))


# --- plots


def _plot(args: argparse.Namespace, files: Sequence[Path]) -> Path:
    from linklab.plots.named import save

    loaded = [load(file, shown=number == 0 or not args.scale_mode) for number, file in enumerate(files)]
    loaded += [load(Path(file), shown=False) for file in args.scale_data]
    specs = plots_of(loaded)
    spec = chosen(args.plot, specs, loaded)
    path = Path(f"{_stem(files[0])}.{spec.name}.png" if args.output == STDOUT else args.output)
    save(spec, loaded, options_of(args, max(one.length_s for one in loaded)), path, specs)
    return path


def load(file: Path, *, shown: bool = True) -> Loaded:
    """A data file with its derived series."""
    from linklab.data import open_file
    from linklab.experiment.derive import completed
    from linklab.plots.named import Loaded

    return Loaded(file.name, completed(open_file(file)), shown)


def _stem(file: Path) -> str:
    from linklab.data.suffixes import stem_of

    return str(file.with_name(stem_of(file.name)))


def plots_of(loaded: Sequence[Loaded]) -> list[PlotSpec]:
    """The plots that the files carry; of a file of Flent's own, those of the library's test of that name."""
    from linklab.experiment import plots_of

    return plots_of.plots_of(loaded)[0]


def plots_of_test(name: str, parameters: dict[str, str]) -> list[PlotSpec]:
    """The plots of a test of the library, or of a file."""
    from linklab.experiment.expand import expand
    from linklab.experiment.test_file import load_test

    return list(expand(load_test(name), parameters).plots)


def chosen(name: str, specs: Sequence[PlotSpec], loaded: Sequence[Loaded]) -> PlotSpec:
    """The plot of a name, or the one that is drawn if nobody asks for one.

    Raises:
        InputError: there is no such plot; the sentence lists those there are.
    """
    from linklab.experiment.places import nearest
    from linklab.plots.named import default_plot

    found = next((spec for spec in specs if spec.name == name), None) if name else default_plot(loaded, specs)
    if found is None:
        raise InputError(f"-p {excerpt(name)}: there is no such plot; {nearest(name, [one.name for one in specs])}")
    return found


def options_of(args: argparse.Namespace, length_s: float) -> Options:
    """What the options of Flent ask of a figure.

    Args:
        args: the options.
        length_s: of the data, for a part of it that is kept.
    """
    from linklab.plots.named import Options

    cutoff = None
    if args.data_cutoff:
        first, last = _pair("--data-cutoff", args.data_cutoff)
        cutoff = (first, max(0.0, length_s - last) if last > 0 else -last)
    width, height = args.figure_width, args.figure_height
    size = None if width is None and height is None else (width or height * 1.5, height or width / 1.5)
    title = args.override_title if args.override_title is not None else "" if args.no_title else None
    legend = "none" if args.no_legend else args.legend_placement or ("below" if args.horizontal_legend else "auto")
    return Options(
        title=title,
        labels=tuple(args.override_label),
        label_x=next(iter(args.label_x), ""),
        labels_y=tuple(args.label_y),
        legend=legend,
        legend_columns=args.legend_columns,
        legend_reverse=args.reverse_legend,
        legend_title=args.legend_title,
        filters=tuple(args.filter_regexp),
        replace=dict(_equal("--replace-legend", word) for word in args.replace_legend),
        hide=tuple(args.filter_series),
        limits_x=tuple(_bounds("--bounds-x", word) for word in args.bounds_x),
        limits_y=tuple(_bounds("--bounds-y", word) for word in args.bounds_y),
        log_y=int(args.log_scale_y.removeprefix("log")) if args.log_scale_y and not args.zero_y else 0,
        zero=True if args.zero_y else None,
        invert=args.invert_latency_y,
        cutoff_s=cutoff,
        absolute_time=args.absolute_time,
        concatenate=args.concatenate,
        normalise=tuple(args.norm_factor),
        group_by=args.override_group_by,
        print_n=not args.no_print_n,
        split=tuple(args.split_group),
        subplots=args.subplot_combine,
        skip_missing=args.skip_missing_series,
        colours=tuple(colour.strip() for colour in args.colours.split(",") if colour.strip()),
        colour_by={"series": "series", "groups": "file", None: "auto"}[args.override_colour_mode],
        markers=False if args.no_markers else None,
        size_in=size,
        annotation=not args.no_annotation,
        note=args.figure_note,
        tick_labels=not args.no_labels,
        **({} if args.figure_dpi is None else {"dpi": args.figure_dpi}),
    )


def _pair(option: str, text: str) -> tuple[float, float]:
    low, high = _bounds(option, text)
    return low or 0.0, high or 0.0


def _bounds(option: str, text: str) -> Limits:
    """Lower and upper bound of "2,10"; "10" is an upper one, "2," a lower one."""
    low, _, high = text.rpartition(",")
    try:
        return (float(low) if low.strip() else None, float(high) if high.strip() else None)
    except ValueError:
        raise InputError(f'{option} {excerpt(text)}: give numbers, such as "10", "2,10" or "2,"') from None


def _equal(option: str, text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old:
        raise InputError(f"{option} {excerpt(text)}: write OLD=NEW")
    return old, new


def open_outside(figure: Path) -> None:
    """Have the host show a figure, where it has a display; a person without one finds the file."""
    if os.environ.get("LINKLAB_DISPLAY") and sys.stdout.isatty():
        subprocess.run(["xdg-open", str(figure)], stdout=subprocess.DEVNULL, check=False)
