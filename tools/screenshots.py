# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the editor and the viewer for docs/pictures and the labs, from the real program on an Xvfb of its own.

`python tools/screenshots.py [NAME…]` for docs/pictures; the running network is a real one, with an iperf3 through Lab
14's bottleneck. `--labs` does the `editor` blocks of the manuals in LAB_SHOTS, with mouse and keys, and takes their
pictures on the way. By hand, when the editor or such a block changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Network
from pathlib import Path
from typing import Any

from PIL import Image, ImageGrab, ImageOps

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / "docs/pictures"
SIZE = (1100, 720)
LAB_SIZE = "880x560"
LAB_COLOURS = 64
FRAME = "#c3ccd5"
LAB_SHOTS: dict[int, dict[str, str]] = {
    1: {
        "editor-drawn": "link h2 s1",
        "editor-host": "set h1 ip 10.0.0.1/8",
        "editor-running": "run",
        "editor-preferences": "preferences ip-base 15.0.0.0/8",
    }
}
"""By lab: names in its figures/, and the line of an editor block, at its first time, that shows each; of a line that
fills in a dialog the dialog is shown."""
BOTTLENECK = (
    "tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms limit 100000",
    "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 100mbit burst 50000 limit 2621440",
)


@contextmanager
def display(screen: str = "2300x1600") -> Iterator[str]:
    """An Xvfb with a screen of that size; its name."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{screen}x24", "-nolisten", "tcp", "-noreset"]
    process = subprocess.Popen(command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as answer:
        name = f":{answer.readline().strip()}"
    os.environ["DISPLAY"] = name
    try:
        yield name
    finally:
        process.terminate()
        process.wait()


class Shot:
    """An editor to take pictures of."""

    def __init__(self, lab: int, theme: str = "light", scale: float = 1.0) -> None:
        from linklab.editor.app import Editor  # noqa: PLC0415 - needs the display
        from linklab.editor.settings import EditorSettings  # noqa: PLC0415

        wide, high = (round(each * scale) for each in SIZE)
        self.editor = Editor(
            ROOT / f"topologies/Lab {lab}.mn", EditorSettings(theme=theme, scale=scale, geometry=f"{wide}x{high}")
        )
        self.editor.root.geometry("+0+0")
        self.live(0.8)

    def live(self, seconds: float = 0.4, until: Callable[[], bool] = lambda: False) -> None:
        """Let the window live."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and not until():
            self.editor.root.update()
            time.sleep(0.01)

    def take(self, name: str, *, dialog: bool = False) -> None:
        """The window, or the dialog that is open, as a picture."""
        self.live()
        window = self.editor.root
        if dialog:
            window = [
                w for w in self.editor.root.winfo_children() if w.winfo_class() == "Toplevel" and w.winfo_viewable()
            ][-1]
        x, y = window.winfo_rootx(), window.winfo_rooty()
        box = (x, y, x + window.winfo_width(), y + window.winfo_height())
        if not dialog:
            box = (0, 0, x + window.winfo_width(), y + window.winfo_height())
        picture = ImageGrab.grab(bbox=box, xdisplay=os.environ["DISPLAY"])
        OUT.mkdir(parents=True, exist_ok=True)
        picture.save(OUT / f"{name}.png", optimize=True)
        if dialog:
            window.destroy()

    def run(self) -> None:
        """Run, and send through the bottleneck."""
        from linklab.editor import orders  # noqa: PLC0415 - needs the display

        net = self.editor.networking
        net.run()
        self.live(60, lambda: net.runner.state == "running")
        lines = [("client", line) for line in BOTTLENECK] + [
            ("h3", "iperf3 -s -D"),
            ("h1", "iperf3 -c 10.0.0.3 -t 60 > /dev/null &"),
        ]
        net.runner.order(lambda session: orders.type_lines(session, lines), print, print)
        self.live(14)
        self.editor.window.say("running; right-click a node for a terminal")

    def end(self) -> None:
        """Close."""
        self.editor.networking.stop()
        self.editor.networking.runner.wait(20)
        self.editor.close()


def main_window(theme: str) -> None:
    """The window with Lab 12, and two selected nodes."""
    shot = Shot(12, theme)
    shot.editor.document.select({"h3", "s1"})
    shot.take(f"editor-{theme}")
    shot.end()


def large() -> None:
    """At twice the size."""
    shot = Shot(17, "light", 2.0)
    shot.take("editor-200")
    shot.end()


def dialogs(theme: str = "light") -> None:
    """Host, switch, preferences, link, its directions and commands."""
    shot = Shot(14, theme)
    editor = shot.editor
    editor.properties.open("h1")
    shot.live()
    form = [w for w in editor.root.winfo_children() if w.winfo_class() == "Toplevel"][-1]
    form.inputs["ip"].set("10.0.0.300")
    form.ok()
    shot.take("editor-host", dialog=True)
    editor.properties.preferences()
    shot.take("editor-preferences", dialog=True)
    for name, tab in (("link", 0), ("direction", 2), ("commands", 3)):
        editor.properties.open(1)
        shot.live()
        dialog = [w for w in editor.root.winfo_children() if w.winfo_class() == "Toplevel"][-1]
        side = dialog.directions[1]
        if tab:
            side.own.set("1")
            side._switched()
            for key, text in (("rate", "1gbit"), ("queue", "2621440"), ("delay", "20ms"), ("loss", "0.01%")):
                side.inputs[key].set(text)
            side.kind.set("fq_codel")
            side._chose({"discipline.target": "5ms", "discipline.interval": "100ms", "discipline.limit": "17476p"})
        dialog._show_tab(tab)
        shot.take(f"editor-{name}", dialog=True)
    shot.end()


def running(theme: str) -> None:
    """A network that runs, with the clock and traces."""
    shot = Shot(14, theme)
    shot.run()
    shot.take(f"editor-running-{theme}")
    shot.end()


def addresses() -> None:
    """Two routers with the table of all addresses, one of them doubtful."""
    from linklab.editor import address_edits, address_table, edits  # noqa: PLC0415 - as above

    shot = Shot(1)
    topology = shot.editor.document.topology.__class__()
    places = {"host": ((150, 120), (150, 380), (900, 250)), "legacySwitch": ((330, 250),)}
    places["legacyRouter"] = ((520, 250), (720, 250))
    for kind, spots in places.items():
        for spot in spots:
            topology, _ = edits.add_node(topology, kind, *spot)
    for pair in (("h1", "s1"), ("h2", "s1"), ("r2", "s1"), ("r2", "r3"), ("h3", "r3")):
        topology = edits.add_link(topology, *pair)
    topology = address_edits.assign(topology, address_edits.AddressPlan(IPv4Network("10.0.0.0/8")))
    topology, _ = address_table.changed(topology, {("r3-eth0", "ipv4"): "10.0.2.254/24"})
    shot.editor.document.open(topology, None)
    shot.editor.addresses.open_table()
    shot.live()
    table = shot.editor.addresses.table
    assert table is not None
    next(line for line in table.lines if line.row and line.row.port == "r3-eth0").fields["ipv4"].focus_force()
    shot.take("editor-addresses", dialog=True)
    shot.end()


def lab_shots(number: int) -> None:
    """Do a lab's editor blocks until all of its pictures are taken."""
    sys.path.insert(0, str(ROOT / "tests/display"))
    from hand import Hand  # noqa: PLC0415 - as above, and what only tests need otherwise
    from robot import Robot  # noqa: PLC0415
    from verbs import Person  # noqa: PLC0415

    from linklab.editor.app import Editor  # noqa: PLC0415
    from linklab.editor.settings import EditorSettings  # noqa: PLC0415
    from linklab.lab.model import load_lab  # noqa: PLC0415
    from linklab.manual.model import EditorActions, EditorVerb  # noqa: PLC0415

    (folder,) = (ROOT / "labs").glob(f"{number:02d}-*")
    wanted = {line: name for name, line in LAB_SHOTS[number].items()}
    editor = Editor(None, EditorSettings(theme="light", scale=1.0, geometry=LAB_SIZE))
    editor.root.geometry("+0+0")
    robot = Robot(os.environ["DISPLAY"])
    hand = Hand(editor, robot)
    hand.settle(0.8)

    def take(verb: EditorVerb, window: Any) -> None:
        name = wanted.pop(" ".join(verb.words), None)
        if name is None:
            return
        if window is editor.root:
            robot.move(editor.root.winfo_width() + 400, editor.root.winfo_height() + 400)  # no tip, nothing lit
        hand.settle(2 if editor.networking.is_on else 0.5)  # a running network has traces to show
        x, y = window.winfo_rootx(), window.winfo_rooty()
        left, top = (0, 0) if window is editor.root else (x, y)  # the menu bar is above the window's own corner
        picture = ImageGrab.grab(
            bbox=(left, top, x + window.winfo_width(), y + window.winfo_height()), xdisplay=os.environ["DISPLAY"]
        )
        if window is editor.root:  # as a dialog has: on a page the window's white would have no end
            picture = ImageOps.expand(picture, 1, FRAME)
        path = folder / "figures" / f"{name}.png"
        picture.quantize(LAB_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"screenshots: {path.relative_to(ROOT)}, {path.stat().st_size / 1000:.0f} kB", flush=True)

    with tempfile.TemporaryDirectory(prefix="linklab-shots-") as files:
        person = Person(hand, Path(files), take)
        os.chdir(files)
        for step in load_lab(folder).manual.steps:
            if isinstance(step.action, EditorActions) and not step.optional:
                for verb in step.action.verbs:
                    person.do(verb)
                    take(verb, editor.root)
        os.chdir(ROOT)
    editor.close()
    robot.close()
    if wanted:
        raise SystemExit(f"screenshots: lab {number} has no {', '.join(wanted)}")


def groups() -> None:
    """Notes, groups around clients and servers, two links side by side, and one of them with a rate and a delay."""
    from linklab.editor import decorations, edits  # noqa: PLC0415 - as the editor
    from linklab.topology import Topology  # noqa: PLC0415

    topology, switch = edits.add_node(Topology(), "legacySwitch", 340, 110)
    for i in range(6):
        topology, host = edits.add_node(topology, "host", 40 + 120 * i, 330)
        topology = edits.add_link(topology, host, switch)
    topology, router = edits.add_node(topology, "legacyRouter", 640, 70)
    for _ in range(2):
        topology = edits.add_link(topology, switch, router)
    topology = edits.set_link(topology, 6, {"bw": 100, "delay": "20ms"}, {})
    for title, colour, x in (("Clients", "host", -30.0), ("Servers", "router", 335.0)):
        topology, _ = decorations.add_frame(topology, (x, 270.0), (350.0, 140.0), title, colour)
    topology, _ = decorations.add_note(topology, 20, 60, "Two links to the router:\none is the bottleneck")
    shot = Shot(12)
    shot.editor.document.open(topology, None)
    shot.take("editor-groups")
    shot.end()


def viewer(theme: str) -> None:
    """Three runs of one test over each other, of real networks."""
    from linklab.viewer.app import Viewer  # noqa: PLC0415 - needs the display
    from linklab.viewer.settings import ViewerSettings  # noqa: PLC0415

    with tempfile.TemporaryDirectory(prefix="linklab-shots-") as folder:
        for title in ("fifo", "codel", "fq_codel"):
            words = ["test", "run", "tcp_nup", "-P", "upload_streams=2", "--path", f"10mbit 50ms {title}", "-l", "20"]
            command = [sys.executable, "-m", "linklab", *words, "-t", title, "-o", f"{folder}/"]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        window = Viewer([Path(folder)], ViewerSettings(theme=theme, scale=1.0, geometry=f"{SIZE[0]}x{SIZE[1]}"))
        window.root.geometry("+0+0")
        end = time.monotonic() + 60
        while window.filing.left and time.monotonic() < end:
            window.root.update()
        window.showing.choose(next(spec for spec in window.showing.specs if spec.name == "ping"))
        window.layout.runs.sort(window.layout.runs.columns[1])
        window._commands()["overlay_all"]()
        end = time.monotonic() + 2
        while time.monotonic() < end:
            window.root.update()
        x, y = window.root.winfo_rootx(), window.root.winfo_rooty()
        box = (0, 0, x + window.root.winfo_width(), y + window.root.winfo_height())
        picture = ImageGrab.grab(box, xdisplay=os.environ["DISPLAY"])
        ImageOps.expand(picture, 1, FRAME).quantize(256).save(OUT / f"viewer-{theme}.png", optimize=True)
        window.close()


SHOTS: dict[str, Callable[[], None]] = {
    "light": lambda: main_window("light"),
    "dark": lambda: main_window("dark"),
    "large": large,
    "groups": groups,
    "dialogs": dialogs,
    "addresses": addresses,
    "running-light": lambda: running("light"),
    "running-dark": lambda: running("dark"),
    "viewer": lambda: viewer("light"),
}


def main(names: list[str]) -> int:
    """Take those named, or all of docs/pictures."""
    with display(), tempfile.TemporaryDirectory(prefix="linklab-shots-") as folder:
        os.environ["XDG_STATE_HOME"] = os.environ["XDG_CONFIG_HOME"] = folder
        if names == ["--labs"]:
            for number in LAB_SHOTS:
                lab_shots(number)
            return 0
        for name in names or SHOTS:
            print(f"screenshots: {name} …", flush=True)
            SHOTS[name]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
