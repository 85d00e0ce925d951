# SPDX-License-Identifier: BSD-3-Clause
"""The command line of `flent` inside a network: Flent's options by Flent's names, with what they mean here.

What cannot mean anything in a network of one machine is refused by a sentence that says what to do instead. The names
of the options are those of Flent 2.3 (flent(1)); `linklab.commands.flent` does what they ask for.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from linklab.errors import InputError

FORMATS = ("summary", "stats", "stats_csv", "csv", "org_table", "metadata", "plot", "null")

_EPILOG = """examples, in a terminal of h1:
  flent rrul -p all_scaled -l 60 -H 10.0.0.2 -t text-to-be-included-in-plot -o file.png
  flent tcp_nup -H h3 --test-parameter upload_streams=2 --test-parameter cc_algos=cubic,bbr
  flent rtt_fair -H h2 -H h3 -l 30        two targets
  flent --list-plots rrul                 what can be drawn of it
  flent rrul-*.flent.gz -p ping_cdf -o cdf.png
  flent rrul-*.flent.gz -f stats_csv
  flent -B lab.batch -b rrul              the batches of a file, on this network

A test is measured in the network that runs, from this terminal's node to the node that owns the address; no server has
to be started there. The data file lies in the working folder. Ctrl+C and SIGUSR1 end a test early and keep what was
measured. docs/tests.md, "On a running network", says more.
"""


class Refused(argparse.Action):
    """An option of Flent's that has no meaning here; `const` says what to do instead."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> NoReturn:
        """Say so."""
        raise InputError(f"{option_string}: {self.const}")


class FlentParser(argparse.ArgumentParser):
    """Errors as everywhere in Linklab: one sentence, and where the options are listed."""

    def error(self, message: str) -> NoReturn:
        """Raise it."""
        raise InputError(f"{message}; flent --help lists the options")


def read(words: Sequence[str]) -> argparse.Namespace:
    """The options of a command line; `words` are those that belong to none.

    Raises:
        InputError: an option does not exist, lacks its value, or cannot be had here.
    """
    return parser().parse_intermixed_args(list(words))


def parser() -> FlentParser:
    """All options, in Flent's groups."""
    made = FlentParser(
        prog="flent",
        usage="flent [OPTION]… [TEST] [-H HOST]… [FILE.flent.gz]…",
        description="Flent's command line on the network that runs here, by Linklab's named tests.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "words", metavar="TEST|HOST|FILE", nargs="*", help="a test, a host or a data file: whichever it is"
    )
    made.add_argument("-V", "--version", action="store_true", help="say which version of Linklab this is")
    made.add_argument("-v", "--verbose", action="store_true", help="say which way packets take and what is run")
    made.add_argument("-q", "--quiet", action="store_true", help="say nothing but what was asked for, and errors")
    _add_test(made)
    _add_output(made)
    _add_batch(made)
    _add_plot(made)
    _add_refused(made)
    return made


def _add_test(made: argparse.ArgumentParser) -> None:
    test = made.add_argument_group("the test")
    test.add_argument(
        "-H", "--host", dest="hosts", metavar="HOST", action="append", default=[],
        help="address or name of the node at the other end; again for further targets",
    )  # fmt: skip
    test.add_argument("-l", "--length", metavar="S", type=float, help="seconds of load (60)")
    test.add_argument("-s", "--step-size", metavar="S", type=float, help="between two samples (0.2)")
    test.add_argument("-d", "--delay", metavar="S", type=float, help="before the load begins and after it ends (5)")
    version = test.add_mutually_exclusive_group()
    version.add_argument("-4", "--ipv4", dest="version_ip", action="store_const", const=4, help="use IPv4")
    version.add_argument("-6", "--ipv6", dest="version_ip", action="store_const", const=6, help="use IPv6")
    test.add_argument(
        "--test-parameter", dest="parameters", metavar="KEY=VALUE", action="append", default=[],
        help="a parameter of the test (linklab test show TEST lists them) or a word for the metadata; may be repeated",
    )  # fmt: skip
    test.add_argument("--swap-up-down", action="store_true", help="uploads become downloads and the other way round")
    test.add_argument(
        "--send-size", metavar="BYTES", action="append", default=[], help="of each write of TCP; again for each stream"
    )
    test.add_argument(
        "--local-bind", metavar="ADDRESS", action="append", default=[],
        help="address or name of the node that sends; by default that of this terminal",
    )  # fmt: skip
    test.add_argument("--marking-name", metavar="NAME=HEX", action="append", default=[], help="a marking of your own")
    test.add_argument("--irtt-sampling-interval", metavar="MS", type=float, help="between two packets of UDP probes")
    test.add_argument("--socket-stats", action="store_true", help="always on here: sockets of both ends are sampled")
    test.add_argument("-t", "--title-extra", metavar="TEXT", default="", help="in the plot and in the name of the file")
    test.add_argument("-n", "--note", metavar="TEXT", default="", help="kept in the data file")
    test.add_argument(
        "-x", "--extended-metadata", action="store_true", help="keep addresses of the source, too, in the data file"
    )
    test.add_argument(
        "--remote-metadata", metavar="NODE", action="append", default=[],
        help="always on for the nodes on the path; another node is an error",
    )  # fmt: skip
    test.add_argument("--list-tests", action="store_true", help="list the tests")
    test.add_argument("--list-plots", action="store_true", help="list the plots of a test or a data file")


def _add_output(made: argparse.ArgumentParser) -> None:
    output = made.add_argument_group("what comes of it")
    output.add_argument("-f", "--format", metavar="F", choices=FORMATS, default="", help=", ".join(FORMATS))
    output.add_argument("-p", "--plot", metavar="PLOT", default="", help="draw this plot")
    output.add_argument("-o", "--output", metavar="FILE", default="-", help="where to: .png, .svg or .pdf for a plot")
    output.add_argument("-D", "--data-dir", metavar="FOLDER", type=Path, default=Path(), help="for data files (.)")
    output.add_argument(
        "-i", "--input", dest="inputs", metavar="FILE", action="append", default=[], help="a data file to read"
    )
    output.add_argument("-L", "--log-file", metavar="FILE", nargs="?", const="", help="keep what is said in a file")


def _add_batch(made: argparse.ArgumentParser) -> None:
    batch = made.add_argument_group("batches")
    batch.add_argument(
        "-B", "--batch-file", dest="batch_files", metavar="FILE", action="append", type=Path, default=[],
        help="a batch file; a section of a later file replaces the one of the same name",
    )  # fmt: skip
    batch.add_argument(
        "-b",
        "--batch",
        dest="batches",
        metavar="NAME",
        action="append",
        default=[],
        help="which of its batches; or ALL",
    )
    batch.add_argument("--batch-override", metavar="KEY=VALUE", action="append", default=[], help="for every batch")
    batch.add_argument("--batch-repetitions", metavar="N", type=int, help="as --batch-override repetitions=N")
    batch.add_argument("--batch-title", metavar="TEXT", help="as --batch-override batch_title=TEXT")
    batch.add_argument("--batch-dry-run", action="store_true", help="say what would be run")
    batch.add_argument("--batch-verbose", action="store_true", help="say which commands are run")
    batch.add_argument("--batch-no-shuffle", action="store_true", help="keep the order of the file")
    batch.add_argument(
        "--batch-no-timestamp", action="store_true", help="nothing to do: names of data files have no time"
    )
    batch.add_argument("--batch-resume", metavar="FOLDER", type=Path, help="go on where an interrupted run ended")


def _add_plot(made: argparse.ArgumentParser) -> None:
    plot = made.add_argument_group("the plot")
    plot.add_argument("--label-x", metavar="TEXT", action="append", default=[], help="words of the x axis")
    plot.add_argument("--label-y", metavar="TEXT", action="append", default=[], help="words of the y axes")
    plot.add_argument("-I", "--invert-latency-y", action="store_true", help="better is up, for latency too")
    plot.add_argument("-z", "--zero-y", action="store_true", help="the y axes begin at 0")
    plot.add_argument("--log-scale-y", choices=("log2", "log10"), help="a logarithmic axis")
    plot.add_argument("--norm-factor", metavar="F", type=float, action="append", default=[], help="divide values by it")
    plot.add_argument("--data-cutoff", metavar="FROM,TO", help="leave out what lies outside, s")
    plot.add_argument("--bounds-x", metavar="LOW,HIGH", action="append", default=[], help="limits of the x axis")
    plot.add_argument("--bounds-y", metavar="LOW,HIGH", action="append", default=[], help="limits of a y axis")
    plot.add_argument("-S", "--scale-mode", action="store_true", help="further files count for the limits alone")
    plot.add_argument("--scale-data", metavar="FILE", action="append", default=[], help="counts for the limits alone")
    plot.add_argument("--concatenate", action="store_true", help="the files follow each other in time")
    plot.add_argument("--absolute-time", action="store_true", help="moments instead of seconds")
    plot.add_argument("--subplot-combine", action="store_true", help="each file in a panel of its own")
    plot.add_argument("--skip-missing-series", action="store_true", help="no room for bars that are missing")
    plot.add_argument("--no-print-n", action="store_true", help="without the number of runs")
    plot.add_argument("--no-annotation", action="store_true", help="without the lines at the bottom")
    plot.add_argument("--figure-note", "--fig-note", metavar="TEXT", default="", help="a sentence at the bottom")
    plot.add_argument("--no-title", action="store_true", help="without a title")
    plot.add_argument("--override-title", metavar="TEXT", help="another title")
    plot.add_argument("--no-labels", action="store_true", help="without words at boxes and bars")
    plot.add_argument("--no-markers", action="store_true", help="without markers on lines")
    plot.add_argument("--no-legend", action="store_true", help="without a legend")
    plot.add_argument("--horizontal-legend", action="store_true", help="the legend below the plot")
    plot.add_argument("--legend-title", metavar="TEXT", help="another title of the legend")
    plot.add_argument("--legend-placement", metavar="PLACE", help='in the plot, such as "upper right" or "best"')
    plot.add_argument("--legend-columns", metavar="N", type=int, default=0, help="of the legend")
    plot.add_argument("--reverse-legend", action="store_true", help="the last first")
    plot.add_argument("--filter-legend", action="store_true", help="leave out what all labels have in common")
    plot.add_argument("--replace-legend", metavar="OLD=NEW", action="append", default=[], help="other words")
    plot.add_argument("--filter-regexp", metavar="RE", action="append", default=[], help="delete from labels")
    plot.add_argument("--override-label", metavar="TEXT", action="append", default=[], help="label of each file")
    plot.add_argument("--filter-series", metavar="SERIES", action="append", default=[], help="leave a series out")
    plot.add_argument("--split-group", metavar="NAME", action="append", default=[], help="divide files into groups")
    plot.add_argument("--colours", metavar="COLOUR,…", default="", help="by name or #rrggbb")
    plot.add_argument("--override-colour-mode", metavar="MODE", choices=("groups", "series"), help="groups or series")
    plot.add_argument("--override-group-by", metavar="GROUP", default="", help="how files are combined")
    plot.add_argument("--figure-width", "--fig-width", metavar="INCHES", type=float, help="of the figure")
    plot.add_argument("--figure-height", "--fig-height", metavar="INCHES", type=float, help="of the figure")
    plot.add_argument("--figure-dpi", "--fig-dpi", metavar="N", type=int, help="pixels an inch, of PNG")


_PAGES = "pages come from a server that Linklab starts; its parameters are in linklab test show http"
REFUSED = {
    "--remote-host NODE": "flows start on the nodes that they belong to; --local-bind chooses the one that sends",
    "--gui": "windows belong to your machine: open the data file there with linklab view FILE",
    "--new-gui-instance": "windows belong to your machine: open the data file there with linklab view FILE",
    "--gui-no-defer": "windows belong to your machine: open the data file there with linklab view FILE",
    "--rcfile -r FILE": "options are read from the command line alone; put a command that you use often into a script",
    "--cache-file FILE": "there is no cache; leave the option out",
    "--debug-error": "use -v, which says what is run",
    "--control-host HOST": "Linklab starts the servers itself, without a control connection; leave the option out",
    "--control-local-bind IP": "Linklab starts the servers itself, without a control connection; leave the option out",
    "--netperf-control-port PORT": "TCP is sent by iperf3, which Linklab starts; leave the option out",
    "--ditg-control-port PORT": "VoIP is sent by irtt, which Linklab starts; leave the option out",
    "--ditg-control-secret SECRET": "VoIP is sent by irtt, which Linklab starts; leave the option out",
    "--socket-timeout S": "UDP probes are sent by irtt, which does not stall on a loss; leave the option out",
    "--test-payload FILE": "nothing in this network compresses, so what is sent does not matter; leave the option out",
    "--http-getter-urllist FILE": _PAGES,
    "--http-getter-dns-servers LIST": "pages are fetched by address; leave the option out",
    "--http-getter-timeout MS": _PAGES,
    "--http-getter-workers N": _PAGES,
    "--combine-save-dir FOLDER": "files are read fast enough without; linklab test csv writes what is behind a figure",
}
"""Option (and its value) → what to do instead."""
USELESS = ("--fallback-layout", "--no-matplotlibrc", "--no-hover-highlight")
"""Options that would change nothing: figures are laid out and styled by Linklab."""


def _add_refused(made: argparse.ArgumentParser) -> None:
    """Known, so that they are told apart from what is spelt wrong; not listed."""
    for words, instead in REFUSED.items():
        names = [word for word in words.split() if word.startswith("-")]
        takes = 1 if len(words.split()) > len(names) else 0
        made.add_argument(*names, action=Refused, nargs=takes, const=instead, help=argparse.SUPPRESS)
    for name in USELESS:
        made.add_argument(name, action="store_true", help=argparse.SUPPRESS)


def batch_overrides(args: argparse.Namespace) -> dict[str, str]:
    """What is laid over every batch: the options that Flent has for it, and those of the test that are keys of one."""
    found: dict[str, str] = {}
    for word in args.batch_override:
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f'--batch-override "{word}" must be KEY=VALUE')
        found[key.strip().lower()] = value.strip()
    if args.batch_repetitions is not None:
        found["repetitions"] = str(args.batch_repetitions)
    if args.batch_title is not None:
        found["batch_title"] = args.batch_title
    if args.length is not None:
        found["length"] = f"{args.length:g}"
    if args.step_size is not None:
        found["step_size"] = f"{args.step_size:g}"
    if args.title_extra:
        found["title"] = args.title_extra
    if args.note:
        found["note"] = args.note
    return found
