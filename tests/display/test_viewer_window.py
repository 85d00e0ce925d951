# SPDX-License-Identifier: BSD-3-Clause
"""The viewer by mouse and keys: files that open and one that does not, overlay, plots, scale, figures, a test."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hand import Hand
from PIL import Image
from robot import Robot, needs_display

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from test_viewer import BOTH, PING, TOTALS, made

from linklab.data import save

pytestmark = needs_display

CHILD = """
import json, sys, time
for done in (1.0, 2.0):
    print(json.dumps({"stage": "measuring", "done_s": done, "total_s": 4.0}), file=sys.stderr, flush=True)
    time.sleep(0.1)
print(json.dumps({"file": sys.argv[1]}), file=sys.stderr, flush=True)
"""


class ViewerHand(Hand):
    """A viewer and the hand that works it."""

    def __init__(self, viewer, robot):
        super().__init__(SimpleNamespace(root=viewer.root, status=viewer.layout.status), robot)
        self.viewer = viewer

    @property
    def shown(self):
        """Names of the runs that are shown."""
        return [run.name for run in self.viewer.runs.shown]

    @property
    def chart(self):
        """The plot."""
        return self.viewer.layout.chart

    @property
    def values(self):
        """What is said of the point under the pointer."""
        return self.viewer.layout.values.cget("text")

    def asked(self, kind):
        """The dialog of a class, once it is open, with the keys that a window manager gives it."""
        self.until(lambda: type(self.dialog()).__name__ == kind, 20, f"a {kind}")
        self.settle(0.3)
        self.robot.focus(self.robot.window(self.dialog().title()))
        self.settle(0.3)
        return self.dialog()

    def back(self):
        """Wait until no dialog is open, and give the keys to the window, as a window manager does."""
        self.until(lambda: self.dialog() is None, 20, "the window without a dialog")
        self.robot.focus(self.robot.window(self.shown[-1]))
        self.settle(0.3)

    def cell(self, name, column="#0"):
        """Where a cell of the table of runs is, in the table."""
        tree = self.viewer.layout.runs.tree
        run = next(run for run in self.viewer.runs.every if run.name == name)
        x, y, wide, high = tree.bbox(f"run{id(run)}", column)
        return {"widget": tree, "x": x + wide // 2, "y": y + high // 2}

    def at(self, name, number):
        """Where a point of the first line that shows such a series is on the canvas."""
        line = next(each for each in self.chart.figure.axes[name].lines if len(each.get_xdata()) > 2)
        x, y = line.get_transform().transform((line.get_xdata()[number], line.get_ydata()[number]))
        return round(x), round(self.chart.widget.winfo_height() - y)


@pytest.fixture
def folder(tmp_path):
    """Three runs, and a file that is none."""
    for seed in (1, 2, 3):
        save(made(seed, plots=(TOTALS, PING, BOTH)), tmp_path / f"run-{seed}.flent.gz")
    (tmp_path / "run-4.flent.gz").write_bytes(b"nothing of the kind")
    return tmp_path


@pytest.fixture
def viewing(display, folder, monkeypatch):
    """A viewer of these files, with nothing of the person's, once they are read."""
    for variable in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(variable, str(folder / "home"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(folder)
    from linklab.viewer.app import Viewer  # noqa: PLC0415 - needs tkinter, which may be missing
    from linklab.viewer.settings import ViewerSettings  # noqa: PLC0415

    viewer = Viewer([folder], ViewerSettings(scale=1.0))
    viewer.root.geometry("1180x700+0+0")
    robot = Robot(display)
    hand = ViewerHand(viewer, robot)
    hand.until(lambda: not viewer.filing.left, 90, "reading the files")
    hand.settle(0.5)
    yield hand
    viewer.close()
    robot.close()


def test_a_file_that_cannot_be_read_leaves_the_plot_to_the_next(viewing, folder):
    """Also the only one that was asked for: the window says why, and shows what it can."""
    table = viewing.viewer.layout.runs
    viewing.viewer.filing.open([folder / "missing.flent.gz"])
    viewing.until(lambda: not viewing.viewer.filing.left, 30, "reading the file")
    viewing.settle(0.5)
    assert viewing.shown == ["run-1"]
    runs = viewing.viewer.runs
    runs.close(runs.shown[0], [run for run in runs.every if run.name in ("run-1", "run-4")])
    assert viewing.shown == []
    viewing.viewer.filing.open([folder / "run-4.flent.gz"])
    table.go_to(next(run for run in runs.every if run.name == "run-4"))
    viewing.until(lambda: not viewing.viewer.filing.left, 30, "reading the file again")
    viewing.settle(0.5)
    assert viewing.shown == ["run-2"]
    assert table.here.name == "run-2"  # the chosen row is the ticked one


def test_files_open_and_lie_over_each_other(viewing):
    """A click shows one, one at its box or Space lays it over; a file that cannot be read is one sentence."""
    hand = viewing
    assert hand.shown == ["run-1"] and hand.viewer.showing.spec.name == "totals"
    assert any("run-4.flent.gz: cannot be unpacked: it is not a gzip file" in said for said in hand.viewer.window.said)
    hand.click(**hand.cell("run-2", "name"))
    assert hand.shown == ["run-2"]
    hand.click(**hand.cell("run-3"))
    assert hand.shown == ["run-2", "run-3"]
    hand.key("F2")
    hand.key("Up")
    hand.key("Up")
    hand.key("space")
    assert hand.shown == ["run-2", "run-3", "run-1"]
    hand.key("space")
    assert hand.shown == ["run-2", "run-3"]
    hand.click(**hand.cell("run-4", "name"))
    assert hand.shown == ["run-2", "run-3"] and "run-4.flent.gz" in hand.viewer.layout.status.said
    hand.key("Control+a")
    assert hand.shown == ["run-1", "run-2", "run-3"]


def test_plots_are_switched_by_keys_and_list(viewing):
    """Next and previous, digits, and the list itself; options by their letters stay for the next plot."""
    hand = viewing
    showing = hand.viewer.showing
    hand.key("Control+Right")
    assert showing.spec.name == "ping_cdf"
    hand.key("3")
    assert showing.spec.name == "both" and len(hand.chart.figure.axes) == 3
    hand.key("Control+Right")
    assert showing.spec.name == "totals"
    hand.key("F3")
    hand.key("Down")
    assert showing.spec.name == "ping_cdf"
    hand.key("l")
    hand.key("t")
    assert hand.chart.figure.axes[0].get_legend() is None and hand.chart.figure._suptitle is None
    hand.key("1")
    hand.key("g")
    assert hand.chart.figure.axes[0].get_yscale() == "log"
    hand.key("g")
    assert hand.chart.figure.axes[0].get_yscale() == "linear" and hand.chart.figure.axes[0].get_legend() is None


def test_a_flip_keeps_the_scale(viewing):
    """What was zoomed to with the mouse is seen of the next run, too, and again after flipping back."""
    hand = viewing
    canvas = hand.chart.widget
    whole = hand.chart.limits
    left, top = canvas.winfo_rootx(), canvas.winfo_rooty()
    hand.robot.move(left + 300, top + 200)
    hand.settle()
    hand.robot.press()
    for at in (320, 400, 500):
        hand.robot.move(left + at, top + 200 + (at - 300) // 2)
        hand.settle(0.05)
    hand.robot.release()
    hand.settle(0.3)
    zoomed = hand.chart.limits
    assert zoomed != whole and zoomed[0].x[1] - zoomed[0].x[0] < 0.5 * (whole[0].x[1] - whole[0].x[0])
    hand.key("Control+Down")
    assert (hand.shown, hand.chart.limits) == (["run-2"], zoomed)
    hand.key("f")
    assert (hand.shown, hand.chart.limits) == (["run-1"], zoomed)
    hand.key("Home")
    assert hand.chart.limits == whole
    hand.key("x")
    assert hand.chart.limits[0].y == whole[0].y and hand.chart.limits[0].x != whole[0].x


def test_a_scale_is_kept_over_runs_and_plots(viewing):
    """With K on, a click on another run and a plot that was left keep what was zoomed to; off, all of it is seen."""
    hand = viewing
    hand.key("k")
    hand.key("x")
    zoomed = hand.chart.limits
    hand.click(**hand.cell("run-2", "name"))
    assert (hand.shown, hand.chart.limits) == (["run-2"], zoomed)
    hand.key("2")
    assert hand.viewer.showing.spec.name == "ping_cdf"
    hand.key("1")
    assert hand.chart.limits == zoomed
    hand.key("k")
    hand.click(**hand.cell("run-3", "name"))
    assert hand.chart.limits != zoomed and not hand.chart.is_zoomed


def test_what_is_enlarged_stays_so_while_words_come_and_go(viewing):
    """Title and legend do not change what is seen, the Y axis from zero does; in and out again is as at first."""
    hand = viewing
    for key in ("t", "l"):
        hand.key("plus")
        seen = hand.chart.limits
        hand.key(key)
        assert hand.chart.limits == seen and hand.chart.is_zoomed
        assert hand.viewer.layout.status.zoom.cget("text") == "enlarged"
        hand.key("minus")
        assert not hand.chart.is_zoomed
    hand.key("plus")
    hand.key("z")
    assert not hand.chart.is_zoomed and hand.chart.limits[0].y[0] == 0


def test_values_are_said_under_the_pointer_and_by_keys(viewing):
    """The nearest series with its values; Right goes on to the next point, Down to another series."""
    hand = viewing
    data = hand.viewer.runs.current.data.series
    x, y = hand.at(0, 20)
    hand.robot.move(hand.chart.widget.winfo_rootx() + x, hand.chart.widget.winfo_rooty() + y)
    hand.settle(0.3)
    assert hand.values.startswith(f"TCP upload:  Time (s) {data['TCP upload'].time_s[20]:.6g}")
    assert f"{data['TCP upload'].value[20]:.6g}" in hand.values
    hand.robot.move(5, 5)
    hand.settle(0.3)
    assert hand.values == ""
    hand.key("F6")
    for _ in range(3):
        hand.key("Right")
    assert f"Time (s) {data['TCP upload'].time_s[2]:.6g}" in hand.values
    hand.key("Down")
    assert hand.values.startswith(f"Ping (ms) ICMP:  Time (s) {data['TCP upload'].time_s[2]:.6g}")


def test_a_key_of_the_metadata_becomes_a_column(viewing):
    """Found by typing, made by a key; the table sorts by it, and the choice is kept."""
    hand = viewing
    hand.key("F4")
    hand.robot.type("/")
    hand.robot.type("seed")
    hand.settle(0.3)
    hand.key("Down")
    hand.key("Down")
    hand.key("Control+c")
    assert hand.viewer.root.clipboard_get() == "1"
    hand.key("c")
    hand.key("F2")
    table = hand.viewer.layout.runs
    assert [column.key for column in table.columns][-1] == "LINKLAB › seed"
    seed = table.columns[-1]
    table.sort(seed)
    table.sort(seed)
    hand.settle(0.3)
    assert [run.name for run in table.order] == ["run-3", "run-2", "run-1", "run-4"]
    assert hand.viewer.settings.columns == [["LINKLAB", "seed"]]


def test_figures_and_numbers_are_saved(viewing, folder):
    """The figure as it is asked for, the numbers as a table; both through the dialogs."""
    hand = viewing
    hand.key("Control+s")
    chooser = hand.asked("Chooser")
    assert chooser.name.get() == "run-1-totals.svg"
    chooser.name.set("figure.png")
    hand.key("Return")
    hand.until((folder / "figure.png").is_file, 20, "the figure")
    assert Image.open(folder / "figure.png").size[0] > 600
    hand.back()
    hand.key("Control+e")
    hand.asked("Dialog")
    hand.key("Return")
    hand.asked("Chooser")
    hand.key("Return")
    hand.until((folder / "run-1-totals-stats.csv").is_file, 20, "the numbers")
    text = (folder / "run-1-totals-stats.csv").read_text()
    assert text.startswith("run,series,unit,n,") and "TCP upload,Mbits/s,50," in text
    hand.back()
    hand.key("Control+i")
    assert "Ping (ms) ICMP" in hand.read(hand.asked("Dialog"))


def test_theme_and_size_change_while_it_is_open(viewing):
    """The plot follows, what is shown stays, and words that were black are seen on the dark ground."""
    hand = viewing
    hand.key("Control+a")
    hand.key("F9")
    assert hand.viewer.look.theme == "dark"
    title = hand.chart.figure._suptitle.get_color()
    assert title == hand.viewer.look.palette.ink
    hand.viewer.set_scale(2.0)
    hand.settle(1.0)
    assert hand.shown == ["run-1", "run-2", "run-3"] and hand.chart.figure.axes
    hand.key("F9")
    assert hand.viewer.look.theme == "light"


def test_a_narrow_window_has_room_for_the_plot(viewing):
    """The tables give way when the window becomes narrow, and the list of plots is still seen."""
    hand = viewing
    hand.viewer.root.geometry("640x400")
    hand.settle(1.0)
    assert hand.chart.winfo_width() >= 300
    assert hand.viewer.layout.bar.which.winfo_width() >= 60


def test_a_test_runs_from_inside(viewing, folder, monkeypatch):
    """Chosen by typing, with parameters that are checked; how far it is; its file opens itself."""
    hand = viewing
    from linklab.viewer import child  # noqa: PLC0415 - beside what it is about

    result = folder / "result.flent.gz"
    save(made(9, plots=(TOTALS, PING)), result)
    words = []

    class Pretended(child.RunningCommand):
        """A child that says what a test says; the pocket's own tests run real ones."""

        def __init__(self, asked, where):
            words.extend(asked)
            (where / "linklab").mkdir()
            (where / "linklab/__init__.py").touch()
            (where / "linklab/__main__.py").write_text(CHILD)
            monkeypatch.setattr(child, "ROOT", where)
            super().__init__([str(result)], where)

    monkeypatch.setattr("linklab.viewer.testing.RunningCommand", Pretended)
    hand.key("F5")
    chooser = hand.asked("TestChooser")
    hand.robot.type("tcp_nup")
    hand.settle(0.4)
    hand.until(lambda: chooser._chosen is not None and chooser._chosen.name == "tcp_nup", what="finding the test")
    hand.click(chooser.accept)
    form = hand.asked("FormDialog")
    form.inputs["path"].set("10mbit 50ms nonsense")
    hand.click(form.accept)
    hand.until(lambda: "nonsense" in form.inputs["path"]._note.cget("text"), what="the sentence at the path")
    form.inputs["path"].set("10mbit 50ms fq_codel")
    form.inputs["parameter upload_streams"].set("3")
    form.inputs["folder"].set(str(folder / "out"))
    hand.click(form.accept)
    hand.until(lambda: hand.shown == ["result"], 30, "the result")
    assert words[:3] == ["test", "run", "tcp_nup"] and "upload_streams=3" in words
    assert any("measuring, 2 of 4 s of network time" in said for said in hand.viewer.window.said)
    hand.until(lambda: not hand.viewer.testing.is_on, 10, "the end of the child")


def test_what_is_chosen_is_kept(viewing):
    """Theme, options and the room of the tables come back with the next window."""
    from linklab.viewer.settings import load_settings, save_settings  # noqa: PLC0415 - needs tkinter

    hand = viewing
    hand.key("l")
    hand.key("F9")
    hand.key("Control+b")
    save_settings(hand.viewer.settings)
    kept = load_settings()
    assert (kept.theme, kept.options, kept.shows_side) == ("dark", {"legend": "none"}, False)
    assert kept.recent[0].endswith("run-1.flent.gz")
