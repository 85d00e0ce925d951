# SPDX-License-Identifier: BSD-3-Clause
"""The viewer without its window: which runs are shown, columns, metadata, options, plots, scales, reading and cache."""

import gzip
import json
import sys
import time
from pathlib import Path
from signal import SIGINT, SIGKILL, SIGTERM

import numpy as np
import pytest
from matplotlib.figure import Figure

from linklab.data import Dataset, save
from linklab.errors import InputError
from linklab.experiment.expand import expand
from linklab.experiment.test_file import load_test
from linklab.measure import Quantity, Series
from linklab.plots.named import Loaded, draw
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import to_json
from linklab.viewer import cache, child, columns, hover, metadata, options
from linklab.viewer import runs as runs_of
from linklab.viewer.actions import DIGITS, IN_WINDOW, MENUS, keys_text
from linklab.viewer.columns import FIXED, Column, in_order, text_of
from linklab.viewer.drawable import drawable
from linklab.viewer.reading import Reader, answer_of
from linklab.viewer.runs import Run, Runs, names_of
from linklab.viewer.scale import free, limits_of, moved, take, zoomed
from linklab.viewer.settings import ViewerSettings
from linklab.windows import settings as kept
from linklab.windows.fields import read, texts

ROOT = Path(__file__).parents[2]
TOTALS = PlotSpec(
    "totals", "All of it", PlotKind.TIMESERIES, (PlotLine("TCP upload"), PlotLine("Ping (ms) ICMP", second_axis=True))
)
PING = PlotSpec("ping_cdf", "Ping", PlotKind.CDF, (PlotLine("Ping (ms) ICMP"),))
VOIP = PlotSpec("voip", "VoIP", PlotKind.TIMESERIES, (PlotLine("VoIP delay"),))
CWND = PlotSpec("tcp_cwnd", "Windows", PlotKind.TIMESERIES, (PlotLine("TCP upload", key="tcp_cwnd"),))
BOTH = PlotSpec("both", "Both", PlotKind.META, parts=("totals", "ping_cdf"))
NOTHING = PlotSpec("nothing", "Nothing", PlotKind.META, parts=("voip",))


def made(seed=1, plots=(TOTALS, PING), points=50, **flent):
    """A data set of a test, with its plots."""
    time_s = np.linspace(0, 10, points)
    rng = np.random.default_rng(seed)
    series = {
        "TCP upload": Series("TCP upload", "Mbits/s", time_s, 9.0 + rng.normal(0, 0.1, points), "", {"HOST": "h3"}),
        "Ping (ms) ICMP": Series("Ping (ms) ICMP", "ms", time_s, 50.0 + seed + rng.normal(0, 1, points)),
    }
    known = {"seed": seed, "environment": {"engine": "pocket", "tools": ["iperf3", "irtt"]}}
    if plots:
        known["plots"] = [to_json(spec) for spec in plots]
    about = {"NAME": "tcp_1up", "TITLE": f"run {seed}", "TIME": f"2026-01-0{seed % 9 + 1}T10:00:00.000000Z"}
    return Dataset(known, {"loss": Quantity(0.5, "%")}, series, ("a note",), {**about, **flent})


def opened(*seeds, **more):
    """Runs that are read."""
    runs = Runs()
    runs.add(Path(f"/d/run {seed}.flent.gz") for seed in seeds)
    for run, seed in zip(runs.every, seeds, strict=True):
        run.data = made(seed, **more)
    return runs


# --- runs


def test_names_tell_files_apart():
    """The file's own name, with as many folders as are needed."""
    assert names_of([Path("/a/x.flent.gz"), Path("/a/y.flent")]) == ["x", "y"]
    assert names_of([Path("/a/1/x.flent.gz"), Path("/a/2/x.flent.gz"), Path("/a/2/z.flnt")]) == ["1/x", "2/x", "z"]
    assert names_of([Path("/a/x.flent.gz"), Path("/a/x.flent.bz2")]) == ["x.flent.gz", "x.flent.bz2"]


def test_a_file_is_open_once(tmp_path):
    """By whatever path it is named; one that could not be read is read again."""
    runs = Runs()
    one = tmp_path / "a.flent.gz"
    new, _ = runs.add([one, tmp_path / "." / "a.flent.gz"])
    assert [run.name for run in new] == ["a"]
    assert runs.add([one]) == ([], runs.every)
    runs.failed(runs.every[0], "no such file")
    assert runs.add([one]) == (runs.every, runs.every)
    assert runs.every[0].is_waiting


def test_runs_are_laid_over_each_other_and_taken_away():
    """The last one stays; showing one shows no other."""
    runs = opened(1, 2, 3)
    one, two, three = runs.every
    runs.show(one)
    runs.toggle(two)
    assert runs.shown == [one, two] and runs.current is two
    runs.toggle(one)
    runs.toggle(two)
    assert runs.shown == [two]
    runs.show(three)
    assert runs.shown == [three]


def test_flipping_twice_is_as_it_was():
    """Between what is shown and what was; also if that was several."""
    runs = opened(1, 2, 3)
    runs.show_all(runs.every[:2])
    runs.show(runs.every[2])
    runs.flip()
    assert runs.shown == runs.every[:2]
    runs.flip()
    assert runs.shown == runs.every[2:]
    runs.show(runs.every[2])  # no change, so nothing to go back to but the same
    runs.flip()
    assert runs.shown == runs.every[:2]


def test_the_next_run_is_that_of_the_table():
    """In its order, around its end, and past what cannot be read."""
    runs = opened(1, 2, 3, 4)
    order = runs.every[::-1]
    runs.show(order[0])
    runs.failed(order[1], "broken")
    assert runs.next_to(order, 1) is order[2]
    assert runs.next_to(order, -1) is order[3]
    assert Runs().next_to([], 1) is None


def test_closing_the_shown_run_shows_its_neighbour():
    """The one below it, or above it at the end; nothing when all are closed."""
    runs = opened(1, 2, 3)
    one, two, three = runs.every
    runs.show(three)
    runs.close(three, [one, two, three])
    assert runs.shown == [two]
    runs.close(one, [one, two])
    assert runs.shown == [two] and runs.every == [two]
    runs.close(two, [two])
    assert runs.shown == [] and runs.current is None
    runs.flip()
    assert runs.shown == []


# --- columns and metadata


def test_columns_sort_numbers_by_size_and_words_by_their_numbers():
    """Both ways; runs without a value are last in either."""
    runs = [*opened(2, 10, 1).every, Run(Path("/d/new.flent.gz"), "new")]
    seed = Column.of(("LINKLAB", "seed"))
    assert [text_of(run, seed) for run in in_order(runs, seed)] == ["1", "2", "10", ""]
    assert [text_of(run, seed) for run in in_order(runs, seed, backwards=True)] == ["10", "2", "1", ""]
    assert [run.name for run in in_order(runs[:3], FIXED[0])] == ["run 1", "run 2", "run 10"]


def test_the_columns_of_every_table():
    """Name, title, time and test; a test of ours before the name that stock Flent needs."""
    run = opened(1).every[0]
    assert [text_of(run, column) for column in FIXED] == ["run 1", "run 1", "2026-01-02 10:00:00", "tcp_1up"]
    run.data = Dataset({"test": "dslreports_8dn"}, flent={"NAME": "ping"})
    assert text_of(run, FIXED[3]) == "dslreports_8dn"


def test_any_key_is_a_column():
    """Of Flent's metadata, of ours, of a series, of the numbers; none where a file lacks it."""
    run = opened(1).every[0]
    paths = [("LINKLAB", "environment", "tools"), ("SERIES", "TCP upload", "HOST"), ("NUMBERS", "loss"), ("NOTES", "1")]
    assert [text_of(run, Column.of(path)) for path in paths] == ["iperf3, irtt", "h3", "0.5 %", "a note"]
    assert columns.value_of(run, Column.of(("LINKLAB", "nothing"))) is None


def test_the_metadata_are_searched():
    """In keys and values, with what is above and below; every word must be found."""
    tree = metadata.tree_of(made())
    assert "plots" not in tree["LINKLAB"]  # the list of plots has them
    found = metadata.rows_of(tree, "irtt")
    assert [row.path for row in metadata.every(found)] == [
        ("LINKLAB",), ("LINKLAB", "environment"), ("LINKLAB", "environment", "tools")
    ]  # fmt: skip
    assert [row.path for row in metadata.every(metadata.rows_of(tree, "environment ENGINE"))][-1][-1] == "engine"
    assert metadata.rows_of(tree, "no such thing") == []
    assert metadata.value_at(tree, ("LINKLAB", "environment", "tools", "2")) == "irtt"
    assert metadata.to_copy({"a": [1, None]}) == '{\n  "a": [\n    1,\n    null\n  ]\n}'


# --- options


def test_options_are_what_the_dialog_says():
    """Each field has its effect, is shown again as it was typed, and survives being kept as JSON."""
    typed = dict(texts(options.PAGES, {}))
    typed |= {"cutoff": "5, 2.5", "smoothing": "3", "only": "TCP*; Ping*", "limits_y": "0.5 to 12", "limits_x": ",20"}
    typed |= {"log_y": "10", "zero": "1", "no_title": "1", "legend": "none", "group_by": "groups", "annotation": "0"}
    data, wrong = read(options.PAGES, typed, {})
    assert not wrong
    chosen = options.sound(json.loads(json.dumps(data)))
    assert chosen == data
    found = options.options_of(chosen)
    assert (found.cutoff_s, found.smoothing, found.only) == ((5.0, 2.5), 3, ("TCP*", "Ping*"))
    assert (found.limits_y, found.limits_x) == (((0.5, 12.0), (None, None)), ((None, 20.0),))
    assert (found.log_y, found.zero, found.title, found.legend) == (10, True, "", "none")
    assert (found.group_by, found.annotation) == ("groups", False)
    again = texts(options.PAGES, options.texts_of(chosen))
    assert {key: again[key] for key in ("cutoff", "only", "limits_x")} == {
        "cutoff": "5, 2.5", "only": "TCP*; Ping*", "limits_x": ", 20"
    }  # fmt: skip


def test_no_option_is_as_the_plot_has_it():
    """Nothing chosen is the same as the defaults."""
    assert options.options_of({}) == options.options_of(dict(read(options.PAGES, texts(options.PAGES, {}), {})[0]))


@pytest.mark.parametrize(
    ("key", "text"),
    [("cutoff", "5"), ("cutoff", "a, b"), ("limits_y", "1, 2, 3"), ("scaling", ", 5"), ("smoothing", "-1")],
)
def test_a_wrong_option_is_explained_at_its_field(key, text):
    """And nothing is taken."""
    _, wrong = read(options.PAGES, {**texts(options.PAGES, {}), key: text}, {})
    assert key in wrong


def test_options_that_do_not_go_together_are_refused():
    """By the options themselves, with a sentence."""
    with pytest.raises(InputError, match="logarithmic"):
        options.options_of({"log_y": "10", "limits_y": [0.0, 5.0]})


@pytest.mark.parametrize(
    "file", [{"legend": "nowhere"}, {"cutoff": "x"}, {"log_y": "e"}, {"limits_x": 3}, {"labels": 1}]
)
def test_options_of_a_strange_file_are_forgotten(file):
    """What was kept may be anybody's."""
    assert options.sound(file) == {}
    assert options.sound({"unknown": 1, "note": "n"}) == {"note": "n"}


def test_settings_are_kept(tmp_path, monkeypatch):
    """Columns and options come back; what does not fit is left out."""
    path = tmp_path / "viewer.json"
    settings = ViewerSettings(theme="dark", options={"legend": "none"})
    settings.own_columns = [Column.of(("LINKLAB", "seed"))]
    kept.save(settings, path)
    assert kept.load(ViewerSettings, path) == settings
    assert kept.load(ViewerSettings, path).own_columns == [Column.of(("LINKLAB", "seed"))]
    path.write_text('{"columns": [3, [], ["a", 1], ["a", "b"], ["a", "b"]], "side": "wide", "options": []}')
    strange = kept.load(ViewerSettings, path)
    assert strange.own_columns == [Column.of(("a", "b"))]
    assert (strange.side, strange.options) == (0, {})


# --- plots


def test_plots_that_show_nothing_are_left_out():
    """Of all that a file carries; a plot of several parts if none of them shows anything."""
    data = Loaded("a", made(plots=(TOTALS, VOIP, CWND, PING, BOTH, NOTHING)))
    assert [spec.name for spec in drawable([data]).specs] == ["totals", "ping_cdf", "both"]


def test_files_without_plots_take_those_of_the_library():
    """By the name of the test; an unknown test has a plot for each unit."""
    found = drawable([Loaded("a", made(plots=()))])
    names = {spec.name for spec in found.specs}
    assert {"totals", "ping_cdf", "box_totals"} <= names
    assert found.default is not None and found.default.name == expand(load_test("tcp_1up"), {}).default_plot
    assert (found.why, "mbits_s" in names) == ("", False)
    for name in ("no_such_test", "../../../etc/passwd", "/tmp/x.toml", None, 3):
        found = drawable([Loaded("a", made(plots=(), NAME=name))])
        assert {spec.name for spec in found.specs} >= {"mbits_s", "ms", "ms_cdf"}


def test_a_file_with_broken_plots_is_drawn_all_the_same():
    """With a plot for each unit, and a sentence that names what is wrong."""
    data = made()
    broken = Loaded("b", Dataset({"plots": [{"name": "x", "kind": "pie"}]}, series=data.series))
    found = drawable([broken])
    assert "pie" in found.why and "ms" in {spec.name for spec in found.specs}


# --- scale


def drawn(spec, *seeds):
    """A figure of runs."""
    figure = Figure(figsize=(6, 4), dpi=100)
    data = [Loaded(f"run {seed}", made(seed)) for seed in seeds]
    draw(figure, spec, data, options.options_of({}))
    figure.canvas.draw()
    return figure


def test_a_flip_keeps_the_scale():
    """Both axes of a plot with two, as they were zoomed."""
    before, after = drawn(TOTALS, 1), drawn(TOTALS, 40)
    before.axes[0].set_xlim(2, 3)
    wanted = limits_of(before)
    assert limits_of(after) != wanted
    assert take(after, wanted)
    assert limits_of(after) == wanted


def test_axes_of_another_kind_keep_their_own_scale():
    """Another number of axes, or a logarithmic one."""
    two, one = drawn(TOTALS, 1), drawn(PING, 1)
    own = limits_of(one)
    assert not take(one, limits_of(two)) and limits_of(one) == own
    log = drawn(PING, 1)
    log.axes[0].set_xscale("log")
    assert not take(one, limits_of(log)) and limits_of(one) == own


def test_zooming_and_moving():
    """Around a place; on a logarithmic axis by factors; never below what a number can tell apart."""
    assert zoomed((0.0, 10.0), 0.5) == (2.5, 7.5)
    assert zoomed((0.0, 10.0), 0.5, 0.0) == (0.0, 5.0)
    assert zoomed((1.0, 100.0), 0.5, log=True) == pytest.approx((10**0.5, 10**1.5))
    assert zoomed((10.0, 0.0), 0.5) == (7.5, 2.5)  # an axis the other way round
    assert zoomed((1.0, 1.0 + 1e-9), 0.5) == (1.0, 1.0 + 1e-9)
    assert moved((0.0, 10.0), 0.1) == (1.0, 11.0)
    assert moved((1.0, 100.0), 0.5, log=True) == pytest.approx((10.0, 1000.0))


def test_a_shared_axis_moves_once():
    """The second axis of a plot with two shares its time with the first."""
    figure = drawn(TOTALS, 1)
    left, right = free(figure.axes)
    assert (left.moves_x, right.moves_x, right.moves_y) == (True, False, True)
    before = figure.axes[0].get_xlim()
    for one in (left, right):
        one.change(lambda axis, share: moved(axis.limits, share, log=axis.log), (0.1, 0.0))
    assert figure.axes[0].get_xlim() == pytest.approx(moved(before, 0.1))


# --- values under the pointer


def test_the_nearest_point_is_found():
    """Of the nearest series, with the words of its axes; nothing where nothing is near."""
    figure = drawn(TOTALS, 1)
    upload, ping = hover.shown_lines(figure)
    x, y = ping.get_transform().transform((ping.get_xdata()[20], ping.get_ydata()[20]))
    found = hover.nearest(figure, x + 2, y + 1, ["run 1"], within=40)
    assert found.artist is ping and found.at == 20
    assert found.words.startswith("Ping (ms) ICMP:  Time (s) 4.08163,  Latency (ms) 5")
    assert hover.nearest(figure, 1, 1, ["run 1"]) is None
    assert upload in hover.shown_lines(figure)


def test_several_runs_are_named():
    """The data set behind the series, if there are several."""
    figure = drawn(PING, 1, 2)
    assert [hover.name_of(line, ["a", "b"]) for line in hover.shown_lines(figure)] == [
        "Ping (ms) ICMP – a", "Ping (ms) ICMP – b"
    ]  # fmt: skip


def test_keys_go_from_point_to_point():
    """One pixel at least, within what is seen, and no further than its ends."""
    figure = drawn(TOTALS, 1)
    line = hover.shown_lines(figure)[0]
    assert hover.step(line, 5, 1) == 6
    assert hover.step(line, 0, -1) == 0
    line.axes.set_xlim(4.0, 6.0)
    seen = hover.seen_points(line)
    assert line.get_xdata()[seen].min() >= 3.99 and line.get_xdata()[seen].max() <= 6.01
    assert hover.step(line, int(seen[-1]), 1) == seen[-1]


def test_a_box_says_its_numbers():
    """Mean, median, quartiles and how many."""
    figure = drawn(PlotSpec("box", "Box", PlotKind.BOX, (PlotLine("Ping (ms) ICMP"),)), 1)
    patch = next(patch for axes in figure.axes for patch in axes.patches)
    known = made(1).series["Ping (ms) ICMP"].value
    words = hover.summary_of(patch, ["run 1"])
    assert f"median {np.median(known):.6g}" in words and "n 50" in words


# --- reading


def test_a_cached_file_is_the_file(tmp_path, monkeypatch):
    """All of it; a file that changed is read anew, and so is one whose entry is damaged."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "a.flent.gz"
    data = made(points=cache.LEAST_POINTS)
    save(data, path)
    first = cache.read(path)
    (entry,) = cache.folder().glob("*.npz")
    assert cache._load(entry) == first == cache.read(path) == data
    entry.write_bytes(entry.read_bytes()[:500])
    assert cache.read(path) == data
    save(made(2, points=cache.LEAST_POINTS), path)
    assert cache.read(path) == made(2, points=cache.LEAST_POINTS)


def test_the_cache_takes_no_more_room_than_it_may(tmp_path, monkeypatch):
    """What was used longest ago goes first."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for seed in (1, 2, 3):
        save(made(seed, points=cache.LEAST_POINTS), tmp_path / f"{seed}.flent.gz")
        cache.read(tmp_path / f"{seed}.flent.gz")
        time.sleep(0.02)
    sizes = [path.stat().st_size for path in cache.folder().glob("*.npz")]
    oldest = cache._place_of(tmp_path / "1.flent.gz")
    cache.tidy(sum(sizes) - 1)
    assert len(list(cache.folder().glob("*.npz"))) == 2 and not oldest.exists()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("cut.flent.gz", gzip.compress(b'{"version": 4}', mtime=0)[:-9], "breaks off"),
        ("other.flent.gz", b"not packed", "not a gzip file"),
        ("new.flent", b'{"version": 99, "metadata": {}, "results": {}}', "version"),
        ("list.flent", b"[]", "no data file"),
        ("deep.flent", b"[" * 100_000, "nested too deeply"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path, monkeypatch, name, content, why):
    """Which names it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / name
    path.write_bytes(content)
    answer = answer_of(path)
    assert answer.data is None and why in answer.why and name in answer.why and "\n" not in answer.why


def test_files_are_read_in_the_background(tmp_path, monkeypatch):
    """In processes of their own; each answer comes as soon as it is there, also that of a file that does not exist."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    paths = [Path(f"{seed}.flent.gz") for seed in (1, 2, 3)]  # as they are typed
    for seed, path in zip((1, 2), paths, strict=False):
        save(made(seed), path)
    reader = Reader()
    reader.read(paths)
    found = {}
    until = time.monotonic() + 60
    while reader.left and time.monotonic() < until:
        found |= {answer.path: answer for answer in reader.answers()}
        time.sleep(0.02)
    reader.stop()
    assert found[paths[0]].data == made(1) and found[paths[1]].data == made(2)
    assert "No such file" in found[paths[2]].why


# --- keys


def test_every_key_does_one_thing():
    """No event is bound twice, and Help > Keys names every action that has a key."""
    actions = [action for menu in MENUS.values() for action in menu if action] + list(DIGITS)
    events = [event for action in actions for event in action.events]
    assert len(events) == len(set(events))
    text = keys_text()
    for action in actions[: -len(DIGITS)]:
        assert not action.key or action.label.rstrip("…") in text
    assert all(key in text for key, _ in IN_WINDOW)
    letters = [title[title.index("&") + 1] for title in MENUS]
    assert len(letters) == len(set(letters))


# --- running tests


def test_results_of_a_batch_are_found_in_folders_below(tmp_path):
    """`output_path` makes them; what a trial works on is not a result yet."""
    for name in ("b.flent.gz", "cubic/a.flent.gz", ".work/1/a.flent.gz", "cubic/a.log", ".c.flent.gz.x1.part"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = runs_of.results_in(tmp_path)
    assert found == [tmp_path / "b.flent.gz", tmp_path / "cubic/a.flent.gz"]
    assert runs_of.results_in(tmp_path / "not-yet") == []


@pytest.mark.parametrize(("deaf_to", "end"), [("", SIGINT), ("INT", SIGTERM), ("INT TERM", SIGKILL)])
def test_a_window_that_closes_leaves_no_test_behind(tmp_path, monkeypatch, deaf_to, end):
    """One signal after the other, until it has ended."""
    program = tmp_path / "deaf"
    heard = "".join(f"trap '' {name}\n" for name in deaf_to.split())
    program.write_text(f"#!/bin/bash\n{heard}echo ready\nexec sleep 100\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    running = child.RunningCommand([], tmp_path)
    while not [line for line in running.lines() if line.text == "ready"]:
        time.sleep(0.01)
    running.end((0.5, 0.5, 10.0))
    assert running._process.poll() == -end
    assert not running.stop()
