# SPDX-License-Identifier: BSD-3-Clause
"""The editor's figures for `make bench`: first paint, a large drawing, dragging many nodes, Run until ready.

Each measure runs in a program of its own on an Xvfb of its own, so that nothing is warm. `python tools/bench_editor.py
[NAME]` prints them; `MEASURES` gives rows (what, asked, found, ok) to tools/bench.py.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NODES, LINKS, DRAGGED, FRAMES = 500, 1000, 100, 60
HUGE, HUGE_LINKS = 2000, 4000
TRACED = 12
Row = tuple[str, str, str, bool]


def large() -> str:
    """Text of a topology of 400 hosts and 100 switches with 1,000 links."""
    hosts = [
        {
            "number": str(i),
            "x": str(40.0 * (i % 40)),
            "y": str(60.0 * (i // 40)),
            "opts": {"hostname": f"h{i}", "nodeNum": i},
        }
        for i in range(1, 401)
    ]
    switches = [
        {
            "number": str(i),
            "x": str(60.0 * (i % 25)),
            "y": str(700.0 + 80 * (i // 25)),
            "opts": {"hostname": f"s{i}", "nodeNum": i, "switchType": "legacySwitch", "controllers": []},
        }
        for i in range(1, 101)
    ]
    links = [{"src": f"h{i}", "dest": f"s{i % 100 + 1}", "opts": {}} for i in range(1, 401)]
    links += [
        {"src": f"s{i % 100 + 1}", "dest": f"s{(i * 7 + i // 100 + 1) % 100 + 1}", "opts": {}} for i in range(700)
    ]
    links = [link for link in links if link["src"] != link["dest"]][:LINKS]
    return json.dumps({"version": "2", "hosts": hosts, "switches": switches, "links": links, "controllers": []})


def huge() -> str:
    """Text of a topology of 1,600 hosts and 400 switches with 4,000 links."""
    hosts = [
        {
            "number": str(i),
            "x": str(60.0 * (i % 60)),
            "y": str(70.0 * (i // 60)),
            "opts": {"hostname": f"h{i}", "nodeNum": i},
        }
        for i in range(1, HUGE * 4 // 5 + 1)
    ]
    count = HUGE - len(hosts)
    switches = [
        {
            "number": str(i),
            "x": str(90.0 * (i % 40)),
            "y": str(2100.0 + 90 * (i // 40)),
            "opts": {"hostname": f"s{i}", "nodeNum": i, "switchType": "legacySwitch", "controllers": []},
        }
        for i in range(1, count + 1)
    ]
    links = [{"src": f"h{i}", "dest": f"s{i % count + 1}", "opts": {}} for i in range(1, len(hosts) + 1)]
    links += [
        {"src": f"s{i % count + 1}", "dest": f"s{(i * 7 + i // count + 1) % count + 1}", "opts": {}}
        for i in range(2 * HUGE_LINKS)
        if i % count != (i * 7 + i // count + 1) % count
    ]
    return json.dumps(
        {"version": "2", "hosts": hosts, "switches": switches, "links": links[:HUGE_LINKS], "controllers": []}
    )


def child(what: str) -> None:
    """One measure, in a fresh program; prints seconds or frames a second."""
    start = time.monotonic()
    from linklab.editor.app import Editor  # noqa: PLC0415 - loading it is part of what is measured
    from linklab.editor.settings import EditorSettings  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="linklab-bench-") as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        path = Path(folder) / "large.mn"
        path.write_text(large())
        editor = Editor(None, EditorSettings(scale=1.0))
        editor.root.update()
        first_s = time.monotonic() - start
        found = {"first": lambda: first_s, "open": lambda: opened(editor, path)}
        found["drag"] = lambda: dragged(editor, path)
        found["ready"] = lambda: ready(editor)
        found["traces"] = lambda: traced(editor, path)
        if what.startswith("huge"):
            path.write_text(huge())
            found["huge-open"] = lambda: opened(editor, path, HUGE_LINKS)
            found["huge-drag"] = lambda: dragged(editor, path, HUGE_LINKS, 20)
            found["huge-zoom"] = lambda: zoomed(editor, path)
            found["huge-select"] = lambda: all_selected(editor, path)
        print(found[what]())
        editor.close()


def opened(editor: Any, path: Path, links: int = LINKS) -> float:
    """Seconds to open and draw."""
    start = time.monotonic()
    editor.filing.open_path(path)
    editor.root.update()
    assert len(editor.document.topology.links) == links
    return time.monotonic() - start


def zoomed(editor: Any, path: Path) -> float:
    """Seconds to draw it at its own size, with all labels."""
    opened(editor, path, HUGE_LINKS)
    start = time.monotonic()
    editor.drawing.set_zoom(1.0)
    editor.root.update()
    return time.monotonic() - start


def all_selected(editor: Any, path: Path) -> float:
    """Seconds to select everything."""
    opened(editor, path, HUGE_LINKS)
    start = time.monotonic()
    editor.editing.select_all()
    editor.root.update()
    return time.monotonic() - start


def dragged(editor: Any, path: Path, links: int = LINKS, frames: int = FRAMES) -> float:
    """Frames a second while 100 selected nodes are dragged."""
    opened(editor, path, links)
    names = [node.name for node in editor.document.topology.nodes][:DRAGGED]
    editor.document.select(names)
    editor.root.update()
    gestures = editor.gestures
    from linklab.editor.gestures import Press  # noqa: PLC0415 - as above

    gestures.press = Press(100, 100, names[0])
    gestures._begin_drag()
    start = time.monotonic()
    for frame in range(frames):
        gestures._drag_to(2 * frame, frame)
        editor.root.update()
    return frames / (time.monotonic() - start)


def traced(editor: Any, path: Path) -> float:
    """Frames a second while all links are busy; a running network sends four samples a second."""
    from linklab.editor.meter import Reading  # noqa: PLC0415 - as above
    from linklab.editor.traces import draw_traces  # noqa: PLC0415

    opened(editor, path)
    editor.drawing.set_zoom(1.0)
    editor.root.update()
    start = time.monotonic()
    for frame in range(TRACED):
        readings = [Reading(0.25 * i, 1e6 * (i + frame), 1000 * i) for i in range(40)]
        draw_traces(editor.drawing, dict.fromkeys(range(LINKS), readings))
        editor.root.update()
    return TRACED / (time.monotonic() - start)


def ready(editor: Any) -> float:
    """Seconds from Run to ready for Lab 14."""
    editor.filing.open_path(ROOT / "topologies/Lab 14.mn")
    looked_at = time.monotonic() + 1.5  # nobody presses Run sooner
    while time.monotonic() < looked_at:
        editor.root.update()
        time.sleep(0.005)
    start = time.monotonic()
    editor.networking.run()
    while editor.networking.runner.state == "starting":
        editor.root.update()
        time.sleep(0.005)
    took = time.monotonic() - start
    editor.networking.stop()
    while editor.networking.runner.state != "stopped":
        editor.root.update()
        time.sleep(0.005)
    return took


def measured(what: str, times: int = 3) -> float:
    """The middle one of several runs."""
    read, write = os.pipe()
    xvfb = subprocess.Popen(
        ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"],
        pass_fds=[write],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(write)
    try:
        with os.fdopen(read) as answer:
            display = f":{answer.readline().strip()}"
        command = [sys.executable, __file__, "--child", what]
        env = {**os.environ, "DISPLAY": display}
        runs = [subprocess.run(command, env=env, capture_output=True, text=True, check=True) for _ in range(times)]
        return statistics.median(float(run.stdout) for run in runs)
    finally:
        xvfb.terminate()
        xvfb.wait()


def _row(what: str, asked: str, unit: str, measure: str, good: Callable[[float], bool]) -> list[Row]:
    if shutil.which("Xvfb") is None:
        return [(what, asked, "not measured: Xvfb is not installed", False)]
    found = measured(measure)
    return [(what, asked, f"{found:.2f} {unit}" if unit == "s" else f"{found:.0f} {unit}", good(found))]


MEASURES: dict[str, Callable[[], list[Row]]] = {
    "editor-first": lambda: _row("editor, start to first paint", "under 0.7 s", "s", "first", lambda s: s < 0.7),
    "editor-open": lambda: _row(
        f"editor, open and draw {NODES} nodes, {LINKS} links", "under 1 s", "s", "open", lambda s: s < 1
    ),
    "editor-drag": lambda: _row(
        f"editor, dragging {DRAGGED} of them", "over 30 frames/s", "frames/s", "drag", lambda f: f > 30
    ),
    "editor-traces": lambda: _row(
        f"editor, traces of {LINKS} busy links", "over 4 frames/s", "frames/s", "traces", lambda f: f > 4
    ),
    "editor-huge": lambda: [
        *_row(
            f"editor, open and draw {HUGE} nodes, {HUGE_LINKS} links", "under 3 s", "s", "huge-open", lambda s: s < 3
        ),
        *_row("editor, zoom in on them, with all labels", "under 3 s", "s", "huge-zoom", lambda s: s < 3),
        *_row("editor, select all of them", "under 1 s", "s", "huge-select", lambda s: s < 1),
        *_row(f"editor, dragging {DRAGGED} of them", "over 5 frames/s", "frames/s", "huge-drag", lambda f: f > 5),
    ],
    "editor-ready": lambda: _row("editor, Run to ready, Lab 14", "under 3 s", "s", "ready", lambda s: s < 3),
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2])
    else:
        for name in sys.argv[1:] or MEASURES:
            for what, asked, found, ok in MEASURES[name]():
                print(f"{'ok ' if ok else 'NO '} {what}: {found} (asked: {asked})", flush=True)
