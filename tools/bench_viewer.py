# SPDX-License-Identifier: BSD-3-Clause
"""The viewer's figures for `make bench`: 200 data files of 100,000 points each, opened, switched and overlaid.

It runs in a program of its own on an Xvfb of its own. `python tools/bench_viewer.py` prints the rows; `MEASURES` gives
them (what, asked, found, ok) to tools/bench.py. The files are made once, in build/bench-viewer: twenty different ones,
and copies of them under other names, which the viewer cannot know to be copies.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build/bench-viewer"
FILES, DIFFERENT, POINTS = 200, 20, 100_000
OVERLAID = 10
AGAIN = 8
LONGEST_S = 900
Row = tuple[str, str, str, bool]

SERIES = (
    ("TCP upload::1", "Mbits/s"),
    ("TCP upload::2", "Mbits/s"),
    ("TCP upload sum", "Mbits/s"),
    ("Ping (ms) ICMP", "ms"),
    ("Ping (ms) UDP", "ms"),
    ("TCP upload::1::tcp_cwnd", ""),
    ("TCP upload::1::tcp_rtt", "ms"),
    ("TCP upload::2::tcp_cwnd", ""),
)


def files() -> list[Path]:
    """The files, made if they are not there."""
    from linklab.data import Dataset, save  # noqa: PLC0415 - the parent of the measure needs none of it
    from linklab.measure import Series  # noqa: PLC0415

    FOLDER.mkdir(parents=True, exist_ok=True)
    for number in range(FILES):
        path = FOLDER / f"tcp_nup-{number:03d}.flent.gz"
        if path.is_file():
            continue
        if number >= DIFFERENT:
            shutil.copy(FOLDER / f"tcp_nup-{number % DIFFERENT:03d}.flent.gz", path)
            continue
        rng = np.random.default_rng(number)
        time_s = np.linspace(0, 70, POINTS // len(SERIES))
        series = {
            name: Series(name, unit, time_s, 50 + 20 * np.sin(time_s / 3 + number) + rng.normal(0, 5, time_s.size))
            for name, unit in SERIES
        }
        flent = {"NAME": "tcp_nup", "TITLE": f"run {number}", "TEST_PARAMETERS": {"upload_streams": "2"}}
        save(Dataset({"seed": number}, series=series, flent={**flent, "TOTAL_LENGTH": 70.0, "LENGTH": 60}), path)
    return sorted(FOLDER.glob("*.flent.gz"))


class Bench:
    """A viewer with all the files."""

    def __init__(self, paths: Sequence[Path], started: float) -> None:
        """`started`: when this program was, by the monotonic clock."""
        from linklab.commands.view import opened  # noqa: PLC0415 - loading it is part of what is measured

        self.found: dict[str, float] = {}
        began = time.monotonic()
        self.viewer = opened(paths)
        self._until_first(started)
        self._until_read(began)

    def _until_first(self, started: float) -> None:
        """Until the first file is drawn; what is measured begins when its data set is there."""
        viewer, read_at, worked = self.viewer, 0.0, 0.0
        end = time.monotonic() + LONGEST_S
        first = viewer.runs.every[0]
        while viewer.showing.spec is None or not viewer.layout.chart.figure.axes:
            assert time.monotonic() < end
            before, before_cpu = time.monotonic(), time.process_time()
            viewer.root.update()
            if first.data is not None and not read_at:
                read_at, worked = before, before_cpu  # it came in this turn, at whose end it is on the screen
            time.sleep(0.002)
        self.found["started_s"] = time.monotonic() - started
        self.found["started_s_cpu"] = time.process_time()
        self.found["first_plot_s"] = time.monotonic() - read_at
        self.found["first_plot_s_cpu"] = time.process_time() - worked

    def _until_read(self, began: float) -> None:
        """Until all files are read; the longest time in which the window did not answer."""
        longest, end = 0.0, time.monotonic() + LONGEST_S
        while self.viewer.filing.left:
            assert time.monotonic() < end
            before = time.monotonic()
            self.viewer.root.update()
            longest = max(longest, time.monotonic() - before)
            time.sleep(0.002)
        self.found["read_all_s"] = time.monotonic() - began
        self.found["longest_pause_s"] = longest

    def timed(self, name: str, do: Callable[[], object], times: int = AGAIN) -> None:
        """The middle one of several times that it takes, with all that the window has to do for it."""
        took, busy = [], []
        for _ in range(times):
            began, worked = time.monotonic(), time.process_time()
            do()
            self.viewer.root.update()
            took.append(time.monotonic() - began)
            busy.append(time.process_time() - worked)
        self.found[name], self.found[f"{name}_cpu"] = statistics.median(took), statistics.median(busy)
        self.found[f"{name}_most"] = max(busy)

    def measure(self) -> dict[str, float]:
        """All of it."""
        viewer, commands = self.viewer, self.viewer._commands()
        self.timed("switch_run_s", commands["next_run"])
        self.timed("switch_plot_s", commands["next_plot"], len(viewer.showing.specs))
        viewer.showing.choose(viewer.showing.specs[0])
        self.timed("zoom_s", commands["zoom_in"])
        commands["whole"]()
        widget = viewer.layout.chart.widget
        x, y = widget.winfo_width() // 2, widget.winfo_height() // 2
        self.timed("hover_s", lambda: widget.event_generate("<Motion>", x=x, y=y), 30)
        viewer.runs.show_all(viewer.runs.every[:OVERLAID])
        self.timed("overlay_some_s", viewer.refresh, 1)
        self.timed("switch_overlay_s", commands["next_plot"], len(viewer.showing.specs))
        commands["overlay_all"]()
        self.timed("overlay_all_s", lambda: (viewer.showing.forget(), viewer.refresh()), 1)
        self.timed("sort_s", lambda: viewer.layout.runs.sort(viewer.layout.runs.columns[0]), 4)
        self.found["memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        viewer.close()
        return self.found


def child(started: float) -> None:
    """The measure, in a fresh program; prints JSON."""
    paths = sorted(FOLDER.glob("*.flent.gz"))
    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
        for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
            os.environ[variable] = folder
        chosen = Path(folder) / "linklab/viewer.json"
        chosen.parent.mkdir()
        chosen.write_text('{"scale": 1.0, "geometry": "1180x740"}', encoding="utf-8")
        print(json.dumps(Bench(paths, started).measure()))


def measured() -> dict[str, Any]:
    """What the child found."""
    files()
    read, write = os.pipe()
    size = "1280x900x24"
    xvfb = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", size, "-nolisten", "tcp", "-noreset"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            display = f":{answer.readline().strip()}"
        env = {**os.environ, "DISPLAY": display}
        done = subprocess.run(
            [sys.executable, __file__, "--child", repr(time.monotonic())],
            env=env,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return found
    finally:
        xvfb.terminate()
        xvfb.wait()


def rows() -> list[Row]:
    """What, asked, found, ok."""
    if shutil.which("Xvfb") is None:
        return [("viewer", "", "not measured: Xvfb is not installed", False)]
    found = measured()
    asked = [
        ("started_s", "first plot after the program was started", 2.0),
        ("first_plot_s", "first plot after its file is read", 1.0),
        ("switch_run_s", "switching to another run", 0.2),
        ("switch_plot_s", "switching to another plot", 0.2),
        ("zoom_s", "zooming in", 0.2),
        ("hover_s", "values under the pointer", 0.05),
        ("overlay_some_s", f"laying {OVERLAID} over each other", 1.0),
        ("switch_overlay_s", f"switching the plot of these {OVERLAID}", 1.0),
        ("overlay_all_s", f"laying all {FILES} over each other", 10.0),
        ("sort_s", "sorting the table", 0.2),
        ("longest_pause_s", "longest pause while files are read", 1.0),
    ]
    table: list[Row] = []
    for name, what, most in asked:
        busy = f" ({found[f'{name}_cpu']:.3f} s of processor time" if f"{name}_cpu" in found else ""
        busy += f", at most {found[f'{name}_most']:.3f} s)" if f"{name}_most" in found else ")" if busy else ""
        table.append((f"viewer, {what}", f"under {most:g} s", f"{found[name]:.3f} s{busy}", found[name] < most))
    words = f"{found['read_all_s']:.0f} s, {found['memory_mib']:.0f} MiB"
    return [
        *table,
        (f"viewer, reading {FILES} files of {POINTS:,} points", "under 240 s", words, found["read_all_s"] < 240),
    ]


MEASURES: dict[str, Callable[[], list[Row]]] = {"viewer": rows}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(float(sys.argv[2]))
    else:
        for what, asked, found, ok in rows():
            print(f"{'ok ' if ok else 'NO '} {what}: {found} (asked: {asked})", flush=True)
