# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test plot`: figures of data files from a shell."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from linklab import cli
from linklab.commands import Parser
from linklab.commands.plot_options import add_plot_options, options_of
from linklab.data import Dataset, open_file, save
from linklab.errors import InputError
from linklab.experiment.plots_of import plots_of
from linklab.experiment.plots_of import test_of as library_test
from linklab.measure import make_series
from linklab.plots.named import Loaded, Options, draw, lacking
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec
from linklab.plots.spec_json import to_json

PLOTS = [
    PlotSpec("ping", "Round trips", PlotKind.TIMESERIES, (PlotLine("Ping (ms) ICMP"),)),
    PlotSpec("bars", "Means", PlotKind.BAR_COMBINE, (PlotLine("Ping (ms) ICMP", "Ping"),)),
]


def written(path: Path, value: float = 50.0, **flent: object) -> str:
    """A data file with two plots, or one of Flent's where `flent` names its test."""
    series = {"Ping (ms) ICMP": make_series("Ping (ms) ICMP", "ms", [0, 1, 2], [value, value + 1, value + 2])}
    known = {} if flent else {"plots": [to_json(spec) for spec in PLOTS], "default_plot": "ping"}
    save(Dataset(known, {}, series, (), flent), path)
    return str(path)


def asked(*words: str) -> Options:
    """The options of these words."""
    parser = Parser()
    add_plot_options(parser)
    return options_of(parser.parse_args(words))


def test_default_plot_and_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a name the test's own plot is drawn, into this folder; the list marks it."""
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path / "a.flent.gz")
    assert cli.main(["test", "plot", file]) == 0
    assert capsys.readouterr().out == "ping.pdf\n" and (tmp_path / "ping.pdf").read_bytes().startswith(b"%PDF")
    assert cli.main(["test", "plot", file, "--list-plots"]) == 0
    assert capsys.readouterr().out == (
        "* ping  Round trips (timeseries)\n  bars  Means (bar_combine)\n* is drawn if no plot is named\n"
    )


def test_groups_are_written_and_drawn_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What was combined can be kept as data files, which have their plot and the numbers of the runs."""
    names = ("t-red-01", "t-red-02", "t-pie-01")
    files = [written(tmp_path / f"{name}.flent.gz", value) for name, value in zip(names, (50, 60, 70), strict=True)]
    out, kept = tmp_path / "x.svg", tmp_path / "kept"
    assert cli.main(["test", "plot", *files, "-p", "bars", "-o", str(out), "--save-combined", str(kept)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        str(out),
        str(kept / "bars-red.flent.gz"),
        str(kept / "bars-pie.flent.gz"),
    ]
    again = open_file(kept / "bars-red.flent.gz")
    assert again.series["Ping (ms) ICMP"].value.tolist() == [51, 61] and again.flent["TITLE"] == "red (n=2)"
    (spec,), _ = plots_of([Loaded("x", again)])
    assert (spec.name, spec.kind) == ("bars", PlotKind.BAR)
    figure = Figure()
    draw(figure, spec, [Loaded("x", again)], Options())
    assert [patch.get_height() for patch in figure.axes[0].patches] == [56]
    assert figure._supxlabel.get_text() == "Mean; line: 95 % interval of the mean of the runs."


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", "pong"], 'there is no plot "pong"; there is ping; --list-plots prints all 2'),
        (["-o", "x.gif"], "x.gif: a figure can be written as .pdf, .png, .svg"),
        (["-p", "ping", "-p", "bars", "-o", "x.svg"], "x.svg: there are 2 figures to write; give a folder with -o"),
        (["--save-combined", "k"], "--save-combined: the plot ping combines nothing; choose one that does"),
        (["--log-y", "3"], "log_y: must be 2 or 10, or 0 for a linear axis, not 3"),
        (["-p", "bars", "--group-by", "x"], 'group_by: there is no mode "x"; I know groups, groups_points'),
        (["--filter", "("], "filters: '(' is not a regular expression: "),
    ],
)
def test_wrong_words_get_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    """What cannot be drawn is said in one line."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["test", "plot", written(tmp_path / "a.flent.gz"), *words]) == 2
    assert capsys.readouterr().err.startswith(f"linklab: {message}")


def test_a_folder_stands_for_its_data_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As in the viewer; one without data files is refused."""
    assert cli.main(["test", "plot", str(tmp_path)]) == 2
    assert "there is no data file in this folder" in capsys.readouterr().err
    written(tmp_path / "a.flent.gz")
    (tmp_path / "notes.txt").write_text("no data file")
    assert cli.main(["test", "plot", str(tmp_path), "--list-plots"]) == 0


def test_options() -> None:
    """Words of a shell become what a figure is asked."""
    found = asked(
        *["--limits-y", "0,12", "--limits-y", ",300", "--cutoff", "5,-5", "--smooth", "9", "--no-title", "--log-x"],
        *["--label", "FIFO", "--label", "CoDel", "--replace", "a=b=c", "--colours", "red,#00ff00", "--no-zero"],
        *["--size", "3.5,2.4", "--sigmas", "1", "-I", "--scaling", "5,95", "--hide", "TCP*", "--error", "sd", "--no-n"],
    )
    assert found == Options(
        limits_y=((0, 12), (None, 300)),
        between_s=(5, -5),
        smoothing=9,
        title="",
        log_x=10,
        labels=("FIFO", "CoDel"),
        replace={"a": "b=c"},
        colours=("red", "#00ff00"),
        zero=False,
        size_in=(3.5, 2.4),
        sigmas=(1,),
        invert=True,
        scaling=(5, 95),
        hide=("TCP*",),
        error="sd",
        print_n=False,
    )
    assert asked() == Options()


@pytest.mark.parametrize(
    "words",
    [
        ["--legend", "nowhere"],
        ["--limits-x", "5,1"],
        ["--limits-y", "0,1", "--log-y"],
        ["--colours", "no-such"],
        ["--scaling", "95,5"],
        ["--cutoff", "9,3"],
        ["--normalise", "0"],
        ["--size", "100,100", "--dpi", "2400"],
        ["--sigmas", "0"],
        ["--smooth", "-1"],
        ["--legend-columns", "99"],
        ["--absolute-time", "--concatenate"],
        ["--limits-x", "1,2", "--limits-x", "1,2", "--limits-x", "1,2"],
    ],
)
def test_impossible_options(words: list[str]) -> None:
    """Options that cannot be are refused when they are read."""
    with pytest.raises(InputError):
        asked(*words)


def test_flents_own_files_have_the_plots_of_the_library(tmp_path: Path) -> None:
    """A file of Flent's has the plots of its test, with its parameters; one that names a path has none of it."""
    flents = open_file(Path(written(tmp_path / "a.flent.gz", NAME="rrul")))
    specs, default = plots_of([Loaded("a", flents)])
    assert default is not None and default.name == "all_scaled"
    assert {"ping_cdf", "box_totals", "ellipsis", "qq_icmp"} <= {spec.name for spec in specs}
    for name in ("/etc/passwd", "../rrul", "no_such_test", 7):
        assert library_test(Dataset({}, {}, {}, (), {"NAME": name})) is None
    specs, default = plots_of([Loaded("a", Dataset(flents.metadata, {}, flents.series, (), {"NAME": "/etc/passwd"}))])
    assert [spec.name for spec in specs] == ["ms", "ms_cdf", "ms_box"] and default == specs[0]


@pytest.mark.parametrize("words", [("--only", "Nope*"), ("--hide", "**")])
def test_a_figure_of_which_nothing_is_left_is_refused(
    words: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Regression: an empty one was written, which said that the file had no such series."""
    out = tmp_path / "x.png"
    assert cli.main(["test", "plot", written(tmp_path / "a.flent.gz"), "-o", str(out), *words]) == 2
    assert not out.exists()
    assert words[1] in (said := capsys.readouterr().err) and said.count("\n") == 1
    assert said.endswith('it shows "Ping (ms) ICMP"\n')


def test_what_a_plot_does_not_draw_of_a_file_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Regression: a file without the series of the plot was dropped without a word."""
    one, other = tmp_path / "a.flent.gz", tmp_path / "b.flent.gz"
    written(one)
    save(Dataset({}, {}, {"Up": make_series("Up", "Mbits/s", [0, 1], [1, 2])}, (), {}), other)
    assert cli.main(["test", "plot", str(one), str(other), "-p", "ping", "-o", str(tmp_path / "x.svg")]) == 0
    assert capsys.readouterr().err == 'linklab: b: nothing of it is drawn, because it has no "Ping (ms) ICMP"\n'
    spec = PlotSpec("both", "", PlotKind.TIMESERIES, (PlotLine("Ping (ms) ICMP"), PlotLine("Up")))
    ping, up = Loaded("a", open_file(one)), Loaded("b", open_file(other))
    assert list(lacking(spec, [ping, up], Options(), [])) == [
        'a: it has no "Up", which the plot both shows of others',
        'b: it has no "Ping (ms) ICMP", which the plot both shows of others',
    ]
    assert not list(lacking(spec, [ping, ping], Options(), []))


def test_many_lines_over_time_get_a_hint(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """How to tell nine files apart; not where that is asked for already."""
    files = [written(tmp_path / f"{number}.flent.gz") for number in range(9)]
    words = ["test", "plot", *files, "-o", str(tmp_path / "x.svg")]
    hint = (
        "linklab: ping: it has 9 lines; --colour-by file gives each file a colour, "
        "-p bars makes one of each group of runs\n"
    )
    for more, said in (([], hint), (["--colour-by", "file"], ""), (["-p", "bars"], ""), (["--subplots"], "")):
        assert cli.main([*words, *more]) == 0
        assert capsys.readouterr().err == said
    assert cli.main(["test", "plot", *files[:8], "-o", str(tmp_path / "x.svg")]) == 0
    assert capsys.readouterr().err == ""
