# SPDX-License-Identifier: BSD-3-Clause
"""`linklab plot`: figures of a run, of data files, of a tool's results, or of an interface that is sampled.

It must not know formats: reading is `linklab.measure`'s, drawing `linklab.plots`'s, sampling the agent's sampler's.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import linklab
from linklab.base.text import one_line
from linklab.commands import plot_results
from linklab.commands.plot_results import shown
from linklab.errors import EngineError, InputError, MissingError
from linklab.units import parse_size_bytes

if TYPE_CHECKING:
    from linklab.commands import Subparsers
    from linklab.measure import Measurements

_SAMPLER = Path(linklab.__file__).parent / "agent" / "sampler.py"
_INTERFACES = Path("/sys/class/net")
_PERIOD_S = 0.01
_START_DEADLINE_S = 10.0
_STOP_DEADLINE_S = 5.0

_EPILOG = """examples:
  linklab plot runs/lab14-20260131-142530-seed1            what can be drawn
  linklab plot runs/lab14-20260131-142530-seed1 bloat/rtt  writes bloat-rtt.pdf
  linklab plot tcp_1up.flent.gz                            a data file of Linklab or Flent
  linklab plot results --help                              more of these; the word "results" may be left out
"""

_IPERF_EPILOG = """examples:
  iperf3 -c 10.0.0.2 -t 30 -J > out.json
  linklab plot iperf out.json                 writes results/*.pdf and results/1.dat
  linklab plot iperf reno.json bbr.json       both in each figure
  linklab plot iperf --partial killed.json    what a killed client measured
"""

_QUEUE_EPILOG = """examples:
  linklab plot queue s1-eth2                            a window; the key s stops and saves it
  linklab plot queue s1-eth2 --out q.pdf --seconds 90   no window
  linklab plot queue q.jsonl --out q.png                from samples taken before
  linklab plot queue q.jsonl --follow                   a window on samples that are still being taken
  linklab plot queue s1-eth2 --qdisc 2: --limit 2621440 another discipline; a line at its limit

What is drawn is the backlog of the innermost queueing discipline of the interface, never that of netem, which holds
packets in flight; below it, what CoDel, FQ-CoDel, PIE, or RED tells of its own state. An interface without a queue is
refused at once. The average is over the whole time of the sampling; in a terminal it is also given without the
readings at which the queue was empty. The samples are kept beside the figure, with the suffix .jsonl.
"""

_SPACING_EPILOG = """examples:
  tcpdump -i h1-eth0 -s 96 -c 1000 -w a.pcap 'tcp and dst port 5201'
  linklab plot spacing a.pcap                        writes spacing.pdf
  linklab plot spacing bursts.pcap paced.pcap --out both.png

Counted are packets with TCP data; a gap lies between two of the same connection in the same direction. The variation is
the standard deviation of the gaps over their mean: 0 for an even pace, 1 for chance alone, more for bursts.
"""


def add_parser(subparsers: Subparsers, summary: str) -> argparse.ArgumentParser:
    """Add `plot iperf`, `plot queue`, `plot spacing`, and `plot` of a run or of data files."""
    parser = subparsers.add_parser(
        "plot",
        help=summary,
        description="Plot what the steps of a run measured, data files of Linklab and Flent, an iperf3 result, the "
        "queue of an interface, or the gaps between packets of a capture.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    kinds = parser.add_subparsers(dest="kind", metavar="KIND", required=True)
    plot_results.add_kind(kinds)
    iperf = kinds.add_parser(
        "iperf",
        help="every field of iperf3's output over time",
        description="Plot every field of iperf3's output over time, a line for each stream.",
        epilog=_IPERF_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    iperf.add_argument("files", metavar="FILE", nargs="+", type=Path, help="output of iperf3 -J, or its text")
    iperf.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("results"), help="folder for figures and tables (results)"
    )
    iperf.add_argument("--partial", action="store_true", help="take the whole intervals of a test that was cut off")
    queue = kinds.add_parser(
        "queue",
        help="how full the queue of an interface is",
        description="Plot how full the queue of an interface is, live or from samples.",
        epilog=_QUEUE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    queue.add_argument("what", metavar="FILE|IFACE", help="a file of samples, or an interface to be sampled")
    queue.add_argument("--out", metavar="FILE", type=Path, help="figure to write: .pdf, .png or .svg; opens no window")
    queue.add_argument("--seconds", metavar="N", type=float, help="stop sampling after N seconds")
    queue.add_argument("--qdisc", metavar="HANDLE", help="the discipline to draw, as tc names it: 2:")
    queue.add_argument("--limit", metavar="SIZE", help="draw a line at this size: 2621440, 25MiB")
    queue.add_argument("--follow", action="store_true", help="FILE is still being written: show it in a window")
    spacing = kinds.add_parser(
        "spacing",
        help="the gaps between the packets of a capture",
        description="Plot how large a share of the gaps between packets is how long, a line for each capture.",
        epilog=_SPACING_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    spacing.add_argument("files", metavar="FILE", nargs="+", type=Path, help="what tcpdump -w wrote")
    spacing.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("spacing.pdf"), help="figure to write: .pdf, .png or .svg"
    )
    parser.kinds, parser.unnamed = kinds.choices, "results"
    return parser


def run(args: argparse.Namespace) -> int:
    """Write the figures and say where they are."""
    kinds = {"results": plot_results.run, "iperf": _plot_iperf, "queue": _plot_queue, "spacing": _plot_spacing}
    return kinds[args.kind](args)


def _plot_iperf(args: argparse.Namespace) -> int:
    from linklab.plots.iperf import plot_files

    written = plot_files(args.files, args.out, partial=args.partial)
    for note in written.notes:
        _say(f"note: {one_line(note)}")
    _say(f"{shown(args.out)}/: {' '.join(path.name for path in written.files)}")
    return 0


def _plot_spacing(args: argparse.Namespace) -> int:
    from linklab.plots.spacing import plot_files

    _check_suffix(args.out)
    for path, found in zip(args.files, plot_files(args.files, args.out), strict=True):
        value = {name.removeprefix("capture."): quantity.value for name, quantity in found.scalars.items()}
        rate = f", {value['rate'] / 1e6:.1f} Mbit/s" if "rate" in value else ""
        _say(
            f"{shown(path)}: {value['packets']:.0f} packets of {value['size.mean']:.0f} bytes of data on average{rate}"
        )
        varied = f", variation {value['gap.variation']:.2f}" if "gap.variation" in value else ""
        gaps = [f"{name} {value[f'gap.{name}'] * 1e6:.1f} us" for name in ("median", "mean", "max")]
        _say(f"  gaps: {', '.join(gaps)}{varied}")
    _say(shown(args.out))
    return 0


def _plot_queue(args: argparse.Namespace) -> int:
    if args.seconds is not None and not 0 < args.seconds < math.inf:
        raise InputError(f"--seconds {args.seconds:g}: must be a number above 0")
    limit_bytes = None if args.limit is None else parse_size_bytes(args.limit)
    path = Path(args.what)
    if path.is_file() or (args.follow and not _is_interface(args.what)):
        if args.follow:
            return _show(path, args.out or path.with_suffix(".pdf"), args.qdisc, limit_bytes)
        return _draw(path, args.out or path.with_suffix(".pdf"), args.qdisc, limit_bytes)
    if not _is_interface(args.what):
        here = ", ".join(sorted(entry.name for entry in _INTERFACES.iterdir())) if _INTERFACES.is_dir() else "none"
        raise InputError(f"{args.what}: neither a file nor an interface here (interfaces: {here})")
    return _sample(args, limit_bytes)


def _is_interface(name: str) -> bool:
    return name not in {"", ".", ".."} and "/" not in name and (_INTERFACES / name).exists()


def _sample(args: argparse.Namespace, limit_bytes: float | None) -> int:
    """Sample the interface and plot it, in a window or after the sampling."""
    from linklab.plots.queue import has_display

    out = args.out or Path(f"queue-{args.what}.pdf")
    _check_suffix(out)
    samples = out.with_suffix(".jsonl")
    if not os.access(out.parent, os.W_OK | os.X_OK):
        raise InputError(f"{out}: {out.parent} is no folder that can be written")
    outside = args.out is None and bool(os.environ.get("LINKLAB_DISPLAY"))
    live = outside or (args.out is None and has_display())
    with _sampler(args.what, samples, args.seconds, thin=live) as sampler:
        if outside:
            _await_samples(args.what, sampler, samples)
            if _stopped_outside(_window_outside(samples, args), sampler):
                _say(shown(out))
                return 0
        elif live:
            _await_samples(args.what, sampler, samples)
            _show(samples, out, args.qdisc, limit_bytes, sampler)
        else:
            until = "Ctrl+C" if args.seconds is None else f"{args.seconds:g} s have passed, or Ctrl+C"
            _say(f"sampling {args.what} until {until}")
            with suppress(KeyboardInterrupt):
                _check(args.what, sampler.wait())
    return _draw(samples, out, args.qdisc, limit_bytes)


def _window_outside(samples: Path, args: argparse.Namespace) -> socket.socket:
    """Ask the host for a live window on these samples; it answers when the person has stopped it (agent/asks.py)."""
    options = ["--qdisc", args.qdisc] if args.qdisc else []
    options += ["--limit", args.limit] if args.limit else []
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.connect(os.environ["LINKLAB_SOCKET"])
    question = {"argv": ["queue", str(samples.resolve()), *options], "cwd": str(Path.cwd())}
    connection.sendall(json.dumps(question).encode() + b"\n")
    return connection


def _stopped_outside(window: socket.socket, sampler: subprocess.Popen[bytes]) -> bool:
    """Sample until s in the window outside (then it has saved the figure), Ctrl+C here, or the end of the sampling."""
    _say("sampling; s in the window, or Ctrl+C here, stops and saves")
    stopped = False
    with window, suppress(KeyboardInterrupt):
        watched = [window]
        while sampler.poll() is None and not stopped:
            if select.select(watched, [], [], 0.2)[0]:
                answer = json.loads(window.makefile().readline() or "{}")
                stopped, watched = answer.get("status") == 0, []
                if not stopped:
                    _say(f"{answer.get('text', 'the window has gone')}; Ctrl+C stops and saves")
    _stop(sampler)
    return stopped


def _await_samples(interface: str, sampler: subprocess.Popen[bytes], samples: Path) -> None:
    """Return when the sampler writes; a window on a sampler that failed would wait for ever."""
    deadline = time.monotonic() + _START_DEADLINE_S
    while not (samples.is_file() and samples.stat().st_size):
        if (status := sampler.poll()) is not None:
            _check(interface, status)
            return
        if time.monotonic() > deadline:
            raise EngineError(f"the sampler wrote nothing to {samples} within {_START_DEADLINE_S:g} s")
        time.sleep(0.05)


def _check(interface: str, status: int) -> None:
    # Imported here, so that a saved run is plotted without the agent.
    from linklab.agent.sampler import EXIT_NO_QUEUE

    if status == EXIT_NO_QUEUE:
        raise InputError(
            f"{interface} has no queue: no queueing discipline holds packets there. Set one first, as in `tc qdisc add "
            f"dev {interface} root …`, or name the interface that has one; `tc qdisc show` lists them"
        )
    if status != 0:
        raise EngineError(f"{interface}: the sampler ended with status {status}; its message is above")


@contextmanager
def _sampler(interface: str, samples: Path, seconds: float | None, *, thin: bool) -> Iterator[subprocess.Popen[bytes]]:
    """The agent's sampler on an interface of this namespace; stopped on every exit.

    thin: what a live plot shows is all that is wanted; a measurement keeps every reading.
    """
    if not _SAMPLER.is_file():
        raise MissingError(f"{_SAMPLER.name} of the agent is missing from this installation of Linklab")
    # Or samples of an earlier call would be taken for these.
    samples.unlink(missing_ok=True)
    command = [sys.executable, str(_SAMPLER), interface, "--out", str(samples), "--period", str(_PERIOD_S)]
    command.append("--needs-queue")
    if thin:
        command.append("--thin")
    if seconds is not None:
        command += ["--seconds", f"{seconds:g}"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the sampler with its last line written; kill it if it does not."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(timeout=_STOP_DEADLINE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _show(
    samples: Path,
    out: Path,
    handle: str | None,
    limit_bytes: float | None,
    sampler: subprocess.Popen[bytes] | None = None,
) -> int:
    try:
        from linklab.plots.queue_window import QueueWindow
    except ImportError as error:
        raise MissingError(f"a live plot needs python3-tk ({error}); or give --out FILE and --seconds N") from error

    def stop_sampling() -> None:
        if sampler is not None:
            _stop(sampler)
        else:
            _say("stopped")  # whoever samples elsewhere may stop (terminal/windows.py)

    window = QueueWindow(samples, out, handle=handle, limit_bytes=limit_bytes, stop_sampling=stop_sampling)
    window.show()
    return 0


def _draw(samples: Path, out: Path, handle: str | None, limit_bytes: float | None) -> int:
    from linklab.plots.queue import plot_file, title

    _check_suffix(out)
    measured = plot_file(samples, out, handle=handle, limit_bytes=limit_bytes)
    for note in measured.notes:
        _say(f"note: {one_line(note)}")
    peak = measured.scalars["queue.backlog.max"].value
    mean = measured.scalars["queue.backlog.mean"].value
    drops = measured.scalars.get("queue.drops")
    dropped = f", {drops.value:.0f} packets dropped" if drops else ""
    _say(f"{one_line(title(measured))}: at most {peak:.0f} bytes, on average {mean:.0f}{dropped}")
    # What a replay records is read by expectations and manuals, so more than that is only said to a person.
    if sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and (words := _idle(measured)):
        _say(words)
    _say(shown(out))
    return 0


def _idle(measured: Measurements) -> str:
    """What the average counts besides the queue in use: the readings at which it was empty; "" if there are none."""
    backlog = measured.series["queue.backlog"].known
    used = backlog[backlog > 0]
    if used.size == backlog.size:
        return ""
    rest = f"; without them the average is {used.mean():.0f}" if used.size else ""
    return f"the average counts the readings with an empty queue, {1 - used.size / backlog.size:.0%} of all{rest}"


def _check_suffix(out: Path) -> None:
    from linklab.plots.style import FORMATS

    if out.suffix.lower() not in FORMATS:
        raise InputError(f"{out}: a figure can be written as {', '.join(FORMATS)}")


def _say(text: str) -> None:
    print(text, flush=True)
