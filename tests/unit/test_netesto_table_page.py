# SPDX-License-Identifier: BSD-3-Clause
"""The plots and the page of a table script: what is drawn, where links lead, what is written where."""

import json
import math
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from linklab.analysis.statistics import interval
from linklab.cli import main
from linklab.errors import InputError
from linklab.netesto.fields import SHIPPED, read_fields
from linklab.netesto.lines import Where
from linklab.netesto.sources import LIBRARY
from linklab.netesto.table.cells import cell_of, order_in
from linklab.netesto.table.document import PlotItem, TableItem
from linklab.netesto.table.located import Located
from linklab.netesto.table.make import ScriptChoice, document_of, table
from linklab.netesto.table.page import shown
from linklab.netesto.table.selection import holds, selection_of
from linklab.plots import style
from linklab.plots.bar_groups import Bar, BarAxis, BarSeries, GroupedBars
from linklab.plots.grouped_bars import draw_grouped_bars

PAPER = Path(__file__).resolve().parents[1] / "captures" / "netesto"

FAIRNESS = [1.79, 1.64, 1.54, 1.8, 1.74, 1.49, 1.78, 1.57, 2.05, 2.42, 4.8, 3.8]
"""The column of Figure 8, whose program cut digits off."""

REPEATED = """exp,ca,instances,netem,rate,retransPkts%,pingRtt,p99Latency
1.0,cubic,1.0,10,10.0,0.1,20000.0,1500000.0
2.0,cubic,1.0,10,12.0,0.3,30000.0,2500000.0
3.0,bbr,1.0,10,20.0,0.4,10000.0,900000.0
4.0,bbr,1.0,10,26.0,0.4,10000.0,
5.0,cubic,32.0,80,8.0, ,40000.0,100000.0
"""


@pytest.fixture
def campaign(tmp_path):
    """A folder with an exp.csv of repetitions, and the page of its third experiment."""
    (tmp_path / "runs" / "3").mkdir(parents=True)
    (tmp_path / "runs" / "3" / "exp.html").write_text("<p>3", encoding="utf-8")
    (tmp_path / "runs" / "exp.csv").write_text(REPEATED, encoding="utf-8")
    return tmp_path


def chart(folder, text, **choice):
    """The only plot of a script in the folder."""
    script = folder / "t.exp"
    script.write_text(f"File=runs/exp\n{text}\ndoPlot\n", encoding="utf-8")
    (item,) = [item for item in document_of(script, ScriptChoice(**choice)).items if isinstance(item, PlotItem)]
    return item.chart


def page(folder, text, out="out/t.html"):
    """The text of the page of a script in the folder."""
    script = folder / "t.exp"
    script.write_text(f"File=runs/exp\n{text}\n", encoding="utf-8")
    return table(script, folder / out)[0].read_text(encoding="utf-8")


# --- the paper


def test_the_sample_script_of_the_paper_gives_figure_8():
    """Its twelve rows, in order, with the fairness that the figure shows up to the digits that it cut off."""
    first, second = document_of(PAPER / "figure-8.exp").items
    assert isinstance(first, TableItem)
    assert isinstance(second, PlotItem)
    rows = [[shown(row.cells[column], first.decimals.get(column)) for column in first.columns] for row in first.rows]
    lines = [line.split(",") for line in (PAPER / "figure-8.csv").read_text(encoding="utf-8").splitlines()[2:]]
    assert [*first.columns] == [*lines[0], "fairness"]
    assert [row[:-1] for row in rows] == lines[1:]
    assert " ".join(row[-1] for row in rows) == "1.79 1.64 1.54 1.80 1.75 1.50 1.79 1.58 2.05 2.43 4.80 3.80"
    assert all(0 <= float(row[-1]) - old < 0.011 for row, old in zip(rows, FAIRNESS, strict=True))


def test_the_sample_script_of_the_paper_draws_figure_7():
    """Bars of retransmissions and diamonds of fairness, by flows, for CUBIC and BBR."""
    drawing = document_of(PAPER / "figure-8.exp").items[1].chart.drawing
    assert drawing.title == ["Retransmissions and Fairness"]
    assert [name for name, _ in drawing.groups] == ["1", "2", "4", "8", "16", "32"]
    assert [one.name for one in drawing.series] == ["cubic", "bbr"]
    assert [bar.value for bar in drawing.series[0].bars] == [0.03, 0.05, 0.07, 0.19, 0.56, 1.47]
    assert [bar.value for bar in drawing.series[1].bars] == [0.0, 0.13, 0.34, 2.45, 4.73, 14.96]
    assert drawing.series[1].marks[0][4].value == 4.8
    assert (drawing.left.label, drawing.right.label) == ("% Retransmits", "Fairness = Fastest/Slowest BW")
    assert not drawing.left.log
    assert drawing.size_in == (7.5, 3.75)


@pytest.mark.parametrize("name", ["plotFlowsRetransFairness.exp", "plotFlowsRttCwnd.exp"])
def test_the_library_draws_the_table_of_the_paper(tmp_path, name):
    """Both templates, with their titles filled in."""
    (tmp_path / "exp.csv").write_bytes((PAPER / "figure-8.csv").read_bytes())
    script = tmp_path / "t.exp"
    script.write_text(
        f"newCol=fairness=rateMax/rateMin\nsource={name},\\\n subTitle1=3->1 hosts,\\\n subTitle2=10 ms",
        encoding="utf-8",
    )
    document = document_of(script)
    (item,) = document.items
    assert not document.said
    assert item.chart.drawing.title[1:] == ["3->1 hosts", "10 ms"]
    assert all(len(one.bars) == 6 and len(one.marks) == 1 for one in item.chart.drawing.series)
    draw_grouped_bars(item.chart.drawing)


def test_the_round_trip_times_of_the_paper_are_milliseconds(tmp_path):
    """The unit is chosen from the largest value, 286 ms."""
    (tmp_path / "exp.csv").write_bytes((PAPER / "figure-8.csv").read_bytes())
    script = tmp_path / "t.exp"
    script.write_text("source=plotFlowsRttCwnd.exp,subTitle1=a,subTitle2=b", encoding="utf-8")
    (item,) = document_of(script).items
    assert item.chart.drawing.left.label == "Round-trip time of ping (ms)"
    assert item.chart.drawing.series[1].bars[0].value == 286.15


def test_the_library_is_all_there():
    """Under the names that scripts of others source."""
    assert {"plotFlowsRetransFairness.exp", "plotFlowsRttCwnd.exp"} <= {file.name for file in LIBRARY.iterdir()}


@pytest.mark.parametrize("name", ["basic.exp", "flows.exp"])
def test_scripts_of_the_library_take_our_columns(tmp_path, name):
    """Every column that they name is in the fields.txt that is shipped."""
    columns = [field.name for field in read_fields(SHIPPED)]
    known = {
        "exp": "7.0",
        "ca": "bbr",
        "instances": "4",
        "rateMin": "1.0",
        "rateMax": "2.0",
        "netem": "10",
        "bw": "1gbit",
    }
    rows = [",".join((known | {"exp": exp}).get(column, "1.0") for column in columns) for exp in ("7.0", "7.1", "8.0")]
    (tmp_path / "exp.csv").write_text("\n".join([",".join(columns), *rows]), encoding="utf-8")
    document = document_of(
        LIBRARY / name, ScriptChoice(csv=tmp_path / "exp.csv", variables={"what": "a, b", "where": "c"})
    )
    assert not document.said
    assert len(document.items[0].rows) == (2 if name == "basic.exp" else 1)
    assert len(document.items) == (1 if name == "basic.exp" else 3)
    assert all(item.chart.drawing.title[1:] == ["c", "a, b"] for item in document.items[1:])


def test_the_script_of_the_documentation_works(tmp_path):
    """On the table of the paper, three times over."""
    text = (PAPER.parents[2] / "docs" / "netesto.md").read_text(encoding="utf-8").partition("## Tables and plots")[2]
    (tmp_path / "runs").mkdir()
    lines = (PAPER / "figure-8.csv").read_text(encoding="utf-8").splitlines()[2:]
    rows = [row.replace("15", f"{number}5", 1) for number in (1, 2, 3) for row in lines[1:]]
    (tmp_path / "runs" / "exp.csv").write_text("\n".join([lines[0], *rows]), encoding="utf-8")
    script = tmp_path / "demo.exp"
    script.write_text(text.split("```")[1], encoding="utf-8")
    document = document_of(script)
    assert not document.said
    first, second = document.items
    assert {row.cells["avgCnt"].text for row in first.rows} == {"3"}
    assert second.chart.drawing.title[2] == "10 ms and 100 Mbit/s"


# --- plot variables


BASIC = "plotX=instances\nplotY1=rate\nplotSeries=ca\n"


def test_bars_of_several_rows_are_means_with_intervals(campaign):
    """Student's t over the rows; the same with Average and without, which a note tells."""
    for text in (BASIC, "Average=ca,instances\n" + BASIC):
        drawing = chart(campaign, text).drawing
        first = drawing.series[0].bars[0]
        expected = interval([10.0, 12.0])
        assert expected.low < 0
        assert first == Bar(11.0, 0.0, pytest.approx(expected.high))  # no value is below 0
        assert "One that would reach below 0 is cut there" in drawing.note
        assert math.isnan(drawing.series[0].bars[1].low)
        assert drawing.series[1].bars[1] is None
        assert "95 % interval" in drawing.note
        assert ("the mean of up to 2 rows" in drawing.note) == ("Average" not in text)


def test_an_interval_of_values_below_zero_stays_as_it_is(campaign):
    """So does one that ends above 0."""
    for low, high in ((-3, 9), (99, 101)):
        text = f"exp,ca,rate\n1.0,bbr,{low}\n2.0,bbr,{high}\n"
        (campaign / "runs" / "exp.csv").write_text(text, encoding="utf-8")
        drawing = chart(campaign, "plotX=ca\nplotY1=rate").drawing
        assert drawing.series[0].bars[0].low == pytest.approx(interval([low, high]).low)
        assert "is cut there" not in drawing.note


def test_intervals_can_be_switched_off(campaign):
    """By a line of the script."""
    drawing = chart(campaign, BASIC + "plotIntervals=off").drawing
    assert math.isnan(drawing.series[0].bars[0].low)
    assert "interval" not in drawing.note


def test_a_note_says_what_rows_of_a_bar_differ_in(campaign):
    """Somebody forgot to select one delay."""
    assert "up to 3 rows, which differ in instances, netem." in chart(campaign, "plotX=ca\nplotY1=rate").drawing.note
    assert "differ in" not in chart(campaign, "Select=netem==10\nplotX=ca\nplotY1=rate").drawing.note


def test_a_note_says_that_groups_of_an_experiment_are_no_repetitions(campaign):
    """They share a bottleneck, so an interval over them is too narrow."""
    (campaign / "runs" / "exp.csv").write_text("exp,ca,rate\n1.1,bbr,1\n1.2,bbr,2\n2.1,bbr,4\n", encoding="utf-8")
    for average in ("", "Average=ca\n"):
        assert "depend on each other" in chart(campaign, f"{average}plotX=ca\nplotY1=rate").drawing.note
        text = f"rows=1.1,2.1\n{average}plotX=ca\nplotY1=rate"
        assert "depend on each other" not in chart(campaign, text).drawing.note


def test_an_unknown_value_is_no_bar(campaign):
    """Neither 0 nor anything else."""
    drawing = chart(campaign, "plotX=instances\nplotY1=rate\nplotY2=retransPkts%").drawing
    assert drawing.series[0].bars[1].value == 8.0
    assert drawing.series[0].marks[0][1] is None


def test_bars_are_grouped_by_number(campaign):
    """Regression: 1 and 1.0 were two groups and two series, as they are not for Average."""
    text = "exp,ca,n,rate\n1.0,a,1,2\n2.0,a,1.0,4\n3.0,b,2,8\n"
    (campaign / "runs" / "exp.csv").write_text(text, encoding="utf-8")
    drawing = chart(campaign, "plotX=n\nplotY1=rate").drawing
    assert ([name for name, _ in drawing.groups], drawing.series[0].bars[0].value) == (["1", "2"], 3.0)
    drawing = chart(campaign, "plotX=ca\nplotY1=rate\nplotSeries=n").drawing
    assert [one.name for one in drawing.series] == ["1", "2"]
    assert drawing.series[0].bars[0].value == 3.0


def test_experiments_are_groups_of_their_own(campaign):
    """Regression: 7.1 and 7.10 were both labelled 7.1, and 7.10 stood before 7.2."""
    text = "exp,rate\n7.1,1\n7.10,2\n7.2,3\n"
    (campaign / "runs" / "exp.csv").write_text(text, encoding="utf-8")
    drawing = chart(campaign, "plotX=exp\nplotY1=rate").drawing
    assert [name for name, _ in drawing.groups] == ["7.1", "7.2", "7.10"]
    assert [bar.value for bar in drawing.series[0].bars] == [1.0, 3.0, 2.0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("plotX=exp\nplotY1=rate\ndoPlot=first\nplotX=n\nplotY1=rate\ndoPlot", "5:7: 1,501 bars are more than"),
        ("rows=2\nplotX=exp\nplotY1=empty\nplotY2=rate\ndoPlot", '4:8: no selected row has a number in "empty"'),
    ],
)
def test_what_cannot_be_drawn_is_a_problem_of_its_line(campaign, text, says, capsys):
    """Regression: --check found nothing, and the plots before it were left behind."""
    rows = "".join(f"2.0,{number},1,\n" for number in range(1501))
    (campaign / "runs" / "exp.csv").write_text(f"exp,n,rate,empty\n{rows}", encoding="utf-8")
    (campaign / "t.exp").write_text(f"File=runs/exp\n{text}\n", encoding="utf-8")
    assert main(["netesto", "table", str(campaign / "t.exp"), "--check"]) == 2
    assert says in capsys.readouterr().err


def test_a_script_writes_over_its_own_files_only(campaign):
    """A picture of somebody else, or a link to another folder, stays as it is; what the script made is made anew."""
    text = BASIC + "doPlot=a\ndoPlot=b\nlog=what"
    page(campaign, text)
    page(campaign, text)
    out = campaign / "out"
    for name, make in (
        ("c.svg", lambda path: path.write_text("mine")),
        ("d.svg", lambda path: path.symlink_to(campaign / "elsewhere")),
    ):
        make(out / name)
        before = {path.name: path.read_bytes() for path in out.iterdir() if not path.is_symlink()}
        with pytest.raises(InputError, match=name):
            page(campaign, text + f"\ndoPlot={name}")
        assert {path.name: path.read_bytes() for path in out.iterdir() if not path.is_symlink()} == before
    assert not (campaign / "elsewhere").exists()


def test_series_are_chosen_and_named(campaign):
    """`col;value=Label,…`, in the order of the script; a number is the same however it is written."""
    drawing = chart(campaign, "plotX=instances\nplotY1=rate\nplotSeries=ca;bbr=BBR v1,cubic").drawing
    assert [one.name for one in drawing.series] == ["BBR v1", "cubic"]
    drawing = chart(campaign, "plotX=ca\nplotY1=rate\nplotSeries=instances;32=many").drawing
    assert [one.name for one in drawing.series] == ["many"]
    assert [name for name, _ in drawing.groups] == ["cubic"]


def test_two_columns_on_the_second_axis(campaign):
    """And no third."""
    drawing = chart(campaign, BASIC + "plotY2=pingRtt,p99Latency\nY2Units=1=us,1000=ms,1000000=s").drawing
    assert drawing.marks == ["pingRtt", "p99Latency"]
    assert drawing.right.label == "pingRtt and p99Latency (s)"
    assert drawing.series[0].marks[1][0].value == 2.0
    assert drawing.series[0].marks[0][0].value == 0.025


@pytest.mark.parametrize(
    ("lines", "label", "first"),
    [
        ("Y1Units=1=us,1000=ms,1000000=s", "pingRtt (ms)", 25.0),
        ("Y1Units=1=us", "pingRtt (us)", 25000.0),
        ("Y1div=1000", "pingRtt / 1000", 25.0),
        ("Y1div=1000\nplotY1Title=RTT (ms)", "RTT (ms)", 25.0),
        ("Y1div=1000\nY1Units=1=ms,1000=s", "pingRtt (ms)", 25.0),
        ("Y1Units=1000000=s,100000000=big", "pingRtt (s)", 0.025),
        ("Y1Units=1000=ms\nY1Units=", "pingRtt", 25000.0),
        ("plotY1Title=RTT\nY1Units=1000=ms", "RTT (ms)", 25.0),
    ],
)
def test_units_and_divisors(campaign, lines, label, first):
    """The largest unit that is less than the largest value; the smallest where all are more."""
    drawing = chart(campaign, f"plotX=instances\nplotY1=pingRtt\nplotSeries=ca\n{lines}").drawing
    assert drawing.left.label == label
    assert drawing.series[0].bars[0].value == pytest.approx(first)


def test_the_second_divisor_is_its_own(campaign):
    """Netesto divides both by the first."""
    drawing = chart(campaign, BASIC + "plotY2=pingRtt\nY1div=2\nY2div=1000").drawing
    assert drawing.series[0].bars[0].value == 5.5
    assert drawing.series[0].marks[0][0].value == 25.0


@pytest.mark.parametrize(
    ("lines", "places"),
    [("", [1.0, 32.0]), ("xUniform=off", [1.0, 32.0]), ("xUniform=0", [1.0, 32.0]), ("xUniform=on", [0.0, 1.0])],
)
def test_places_of_groups(campaign, lines, places):
    """At their numbers, or at even distances."""
    assert [place for _, place in chart(campaign, BASIC + lines).drawing.groups] == places


def test_words_stand_at_even_distances(campaign):
    """Whatever xUniform says, since a word has no place."""
    drawing = chart(campaign, "plotX=ca\nplotY1=rate\nxUniform=off").drawing
    assert list(drawing.groups) == [("bbr", 0.0), ("cubic", 1.0)]


@pytest.mark.parametrize(
    ("lines", "log"),
    [("", False), ("Y1LogScale=on", True), ("Y1LogScale=Auto", False), ("Y1LogScale=off", False), ("Y1min=0.01", True)],
)
def test_logarithmic_axes(campaign, lines, log):
    """Auto: where the largest value is more than 100 times the least, or than the minimum that is asked for."""
    assert chart(campaign, BASIC + lines).drawing.left.log is log


def test_titles_sizes_and_looks(campaign):
    """Lines of a title, pixels and inches, background, changes against the first bar."""
    lines = (
        "plotTitle='A|B||C'\nplotSize=1200x600\nplotXLen=9\nBkgLevel=0.8\nPlotPercent=Vertical\nY1eqY2=on\nplotY2=rate"
    )
    found = chart(campaign, BASIC + lines)
    drawing = found.drawing
    assert drawing.title == ["A", "B", "C"]
    assert found.pixels == (1200, 600)
    assert drawing.size_in == (10.0, 5.0)
    assert drawing.background == 0.8
    assert (drawing.change, drawing.upright) == ("percent", True)
    assert drawing.same_axes
    assert chart(campaign, BASIC + "PlotRatio=horizontal").drawing.change == "ratio"
    assert chart(campaign, BASIC + "PlotRatio=on\nPlotPercent=on").drawing.change == "percent"
    assert chart(campaign, BASIC + "plotXSize=1000\nplotYSize=900").pixels == (1000, 900)
    assert chart(campaign, BASIC, style="grey").drawing.style == "grey"
    assert chart(campaign, BASIC + "plotStyle=print", style="grey").drawing.style == "print"


def test_variables_keep_their_values_for_the_next_plot(campaign):
    """As in Netesto; a name of a file is for one plot."""
    script = campaign / "t.exp"
    script.write_text(
        f"File=runs/exp\n{BASIC}plotTitle=One\nplotFilename=a\ndoPlot\nplotY1=pingRtt\ndoPlot\n", encoding="utf-8"
    )
    first, second = document_of(script).items
    assert (first.name, second.name) == ("a.svg", "")
    assert first.chart.drawing.title == second.chart.drawing.title == ["One"]
    assert second.chart.drawing.left.label == "pingRtt"


# --- drawing


def bars(*series, **more):
    """A drawing with these values of each series."""
    groups = [(str(number), float(number)) for number in range(len(series[0]))]
    made = [BarSeries(f"s{index}", values) for index, values in enumerate(series)]
    return GroupedBars(["t"], "x", groups, made, BarAxis("y", log=more.pop("log", False)), **more)


def heights(figure):
    """The tops of the bars."""
    return [round(patch.get_y() + patch.get_height(), 6) for patch in figure.axes[0].patches]


def test_bars_begin_at_zero_and_unknown_ones_are_left_out():
    """Their height is their value."""
    figure = draw_grouped_bars(bars([Bar(5.0), None], [Bar(100.0), Bar(-2.0)]))
    assert heights(figure) == [5.0, 100.0, -2.0]
    assert figure.axes[0].get_ylim()[0] < -2


def test_bars_of_a_logarithmic_axis():
    """0 has no place on it; the axis begins at a power of ten."""
    figure = draw_grouped_bars(bars([Bar(5.0), Bar(0.0), Bar(500.0)], log=True))
    assert figure.axes[0].get_yscale() == "log"
    assert heights(figure) == [5.0, 500.0]
    assert figure.axes[0].get_ylim()[0] == 1.0


@pytest.mark.parametrize(
    ("change", "expected"), [("percent", ["+100 %", "−50 %"]), ("ratio", ["×2.00", "×0.50"]), ("", [])]
)
def test_changes_are_written_at_the_other_bars(change, expected):
    """Against the first bar of the group; none where that is 0."""
    figure = draw_grouped_bars(bars([Bar(5.0), Bar(0.0)], [Bar(10.0), Bar(3.0)], [Bar(2.5), None], change=change))
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert texts == expected


def test_single_bars_stand_at_their_groups():
    """As where the series is the column of the groups, and each group has one bar."""
    figure = draw_grouped_bars(bars([Bar(5.0), None], [None, Bar(3.0)]))
    middles = [round(patch.get_x() + patch.get_width() / 2, 6) for patch in figure.axes[0].patches]
    assert middles == [0.0, 1.0]


def test_a_letter_that_the_font_lacks_is_no_warning(tmp_path, recwarn):
    """It is drawn as a box."""
    figure = draw_grouped_bars(bars([Bar(5.0)], series_title="日本"))
    figure.suptitle("日本")
    style.save(figure, tmp_path / "a.svg")
    assert not recwarn.list


def test_an_interval_below_zero_does_not_lower_the_axis():
    """There are no fewer than 0 segments."""
    figure = draw_grouped_bars(bars([Bar(5.0, -3.0, 13.0)]))
    assert figure.axes[0].get_ylim()[0] == 0.0


def test_looks_differ_without_colour():
    """By their hatch, and in grey by their grey, too."""
    for look in ("screen", "grey", "print"):
        figure = draw_grouped_bars(bars([Bar(1.0)], [Bar(2.0)], [Bar(3.0)], style=look))
        patches = figure.axes[0].patches
        assert len({patch.get_hatch() for patch in patches}) == 3
        assert len({patch.get_facecolor() for patch in patches}) == 3


# --- the page


class Reader(HTMLParser):
    """Checks that elements end in the order in which they began, and keeps what a test asks for."""

    VOID = ("meta", "img", "input", "br")

    def __init__(self):
        super().__init__()
        self.open = []
        self.links = []
        self.images = []
        self.cells = []

    def handle_starttag(self, tag, attrs):
        """An element begins."""
        attributes = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "img":
            self.images.append(attributes)
        if tag == "td":
            self.cells.append("")

    def handle_endtag(self, tag):
        """The last element that began must be the one that ends."""
        assert self.open.pop() == tag

    def handle_data(self, data):
        """Text of cells."""
        if "td" in self.open:
            self.cells[-1] += data


def read(html):
    """The page, read to its end."""
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_the_page_needs_nothing_else(campaign):
    """Scripts, styles and pictures are in it; nothing is fetched."""
    html = page(campaign, BASIC + "doTable\ndoPlot")
    reader = read(html)
    assert all(image["src"].startswith("data:image/svg+xml;base64,") for image in reader.images)
    assert reader.images[0]["alt"].startswith(
        "rate by instances. Bars: rate by instances, a bar for each of cubic, bbr"
    )
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", html)
    assert "@import" not in html


def test_the_same_script_gives_the_same_bytes(campaign):
    """Also the plots."""
    text = BASIC + "doTable\ndoPlot=a\ndoPlot=b.png\ndoPlot=c.pdf"
    first = {name: (campaign / "one" / name).read_bytes() for name in _written(campaign, text, "one")}
    second = {name: (campaign / "two" / name).read_bytes() for name in _written(campaign, text, "two")}
    assert first == second
    assert sorted(first) == ["a.svg", "b.png", "c.pdf", "t.html"]
    assert ElementTree.parse(campaign / "one" / "a.svg").getroot().tag.endswith("svg")  # noqa: S314 - written above


def _written(folder, text, out):
    page(folder, text, f"{out}/t.html")
    return sorted(file.name for file in (folder / out).iterdir())


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", "../runs/3/exp.html"),
        ("relPath=runs", "../runs/3/exp.html"),
        ("relPath=../runs/\nIterFile=exp.html", "../runs/3/exp.html"),
        ("Path=../out/../runs", "../out/../runs/3/exp.html"),
        ("relPath=https://example.org/a b", "https://example.org/a%20b/3/exp.html"),
    ],
)
def test_cells_lead_to_their_experiment(campaign, lines, expected):
    """With a path from the page; only where there is a page to lead to, or a web server that may have it."""
    if "https" in lines:
        (campaign / "runs" / "3" / "exp.html").unlink()
    reader = read(page(campaign, f"{lines}\nSelect=exp==3\ndoTable"))
    assert reader.links[1:] == [expected]  # the first leads past the head of the page


def test_cells_without_a_page_lead_nowhere(campaign):
    """A link that does not work is worse than none."""
    assert read(page(campaign, "Select=exp==1\ndoTable")).links[1:] == []


def test_cells_of_an_appended_file_lead_to_their_own_number(campaign):
    """Though it shows another."""
    other = campaign / "other" / "3"
    other.mkdir(parents=True)
    (other / "exp.html").write_text("", encoding="utf-8")
    (campaign / "other" / "exp.csv").write_text("exp,ca\n3.0,nv\n", encoding="utf-8")
    html = page(campaign, "relPath=../runs\nappend=other/exp\nrows=3,103\ndoTable")
    assert read(html).links[1:] == ["../runs/3/exp.html", "../other/3/exp.html"]


def test_hostile_text_is_only_text(campaign):
    """In cells, titles, names of columns, labels and links."""
    bad = "<script>alert(1)</script>"
    content = f'exp,ca,{bad},rate\n3.0,{bad},"a""><b>",1\n'
    (campaign / "runs" / "exp.csv").write_text(content, encoding="utf-8")
    html = page(campaign, f'IterFile="><b>.html\nplotX=ca\nplotY1=rate\nplotTitle={bad}|$x$y_\ndoTable\ndoPlot')
    reader = read(html)
    assert bad in reader.cells
    assert html.count("<script>") == 1
    assert "<b>" not in html


def test_decimals_of_cells(campaign):
    """As written; as format says, less for whole numbers; as made."""
    cells = read(page(campaign, "Select=exp<3\nCols=exp,instances,rate,pingRtt\ndoTable")).cells
    assert cells[:4] == ["1.0", "1.0", "10.0", "20000.0"]
    cells = read(page(campaign, "format=2\nSelect=exp<3\nCols=exp,instances,retransPkts%\ndoTable")).cells
    assert cells[:3] == ["1.0", "1", "0.10"]
    cells = read(page(campaign, "newCol=f=rate/7\nrows=1.0\nCols=f\ndoTable")).cells
    assert cells == ["1.43"]
    cells = read(page(campaign, "Average=ca\nCols=ca,rate,avgCnt\ndoTable")).cells
    assert cells == ["cubic", "10", "3", "bbr", "23", "2"]
    cells = read(page(campaign, "Average=ca\nCols=ca,retransPkts%,avgCnt\ndoTable")).cells
    assert cells == ["cubic", "0.200", "3", "bbr", "0.400", "2"]


def test_rows_change_colour_with_a_column(campaign):
    """rowColorChange marks where its value changes; without it, congestion controls have colours."""
    rows = re.findall(r"<tr( class=[^>]*)?>\n?<td", page(campaign, "rowColorChange=netem\ndoTable"))
    assert [("turn" in row, row[-3:-1]) for row in rows] == [(False, "-5")] * 4 + [(True, "-0")]
    rows = re.findall(r"<tr class=\"(tint-\d)\">", page(campaign, "doTable"))
    assert rows == ["tint-0", "tint-0", "tint-1", "tint-1", "tint-0"]


def test_the_log_tells_what_each_line_did(campaign):
    """Beside the page."""
    page(campaign, "log = what\nSelect=ca==bbr\nCols=exp\ndoTable")
    lines = (campaign / "out" / "what.log").read_text(encoding="utf-8").splitlines()
    assert [line.split("t.exp:")[1] for line in lines[1:4]] == [
        "3:1: Select=ca==bbr: 2 of 5 rows, 8 of 8 columns",
        "4:1: Cols=exp: 2 of 5 rows, 1 of 8 columns",
        "5:1: doTable: 2 of 5 rows, 1 of 8 columns",
    ]


# --- the command


def test_the_command_writes_a_page(campaign, capsys, monkeypatch):
    """And says where it is; -o takes a folder or a page."""
    monkeypatch.chdir(campaign)
    Path("t.exp").write_text("File=runs/exp\ndoTable\n", encoding="utf-8")
    assert main(["netesto", "table", "t.exp"]) == 0
    assert main(["netesto", "table", "t.exp", "-o", "some"]) == 0
    assert main(["netesto", "table", "t.exp", "-o", "some/page.html"]) == 0
    assert capsys.readouterr().out.split() == ["t.html", "some/t.html", "some/page.html"]
    assert "../runs/3/exp.html" in Path("some/page.html").read_text(encoding="utf-8")
    assert main(["netesto", "table", "t.exp", "-o", "mistyped/page.html"]) == 2
    assert "there is no folder mistyped" in capsys.readouterr().err
    assert main(["netesto", "table", "t.exp", "-o", "page.pdf"]) == 2
    assert "must end with .html" in capsys.readouterr().err


def test_the_command_finds_scripts_of_the_library(campaign, capsys, monkeypatch):
    """By their names; the page is called after the whole name, which has no ending."""
    monkeypatch.chdir(campaign)
    assert main(["netesto", "table", "plotFlowsRttCwnd.exp", "--csv", "runs/exp.csv"]) == 2
    assert "library/plotFlowsRttCwnd.exp:" in capsys.readouterr().err
    assert main(["netesto", "table", "basic.exp", "--csv", str(PAPER / "figure-8.csv")]) == 2
    assert 'there is no column "req"' in capsys.readouterr().err


def test_the_command_tells_every_problem_and_writes_nothing(campaign, capsys, monkeypatch):
    """A line each, and exit code 2."""
    monkeypatch.chdir(campaign)
    Path("t.exp").write_text("File=runs/exp\nCols=x\nBkgLevel=7\ndoTable\n", encoding="utf-8")
    assert main(["netesto", "table", "t.exp", "-o", "out.html"]) == 2
    told = capsys.readouterr().err.splitlines()
    assert [line.split(" ")[1] for line in told] == ["t.exp:2:6:", "t.exp:3:10:"]
    assert not Path("out.html").exists()


def test_the_command_checks(campaign, capsys, monkeypatch):
    """Without writing anything; what is only odd is told, too."""
    monkeypatch.chdir(campaign)
    Path("t.exp").write_text("File=runs/exp\nSavePage=x\ndoTable\n", encoding="utf-8")
    assert main(["netesto", "table", "t.exp", "--check"]) == 0
    told = capsys.readouterr()
    assert 't.exp:2:1: "SavePage" does nothing in a script' in told.err
    assert "t.exp: no problem" in told.out
    assert not Path("t.html").exists()


# --- the program in the page

NODE = shutil.which("node")
GRID = LIBRARY.parent / "grid.js"


def node(program):
    """What a program prints that uses grid.js."""
    text = f"const grid = require({json.dumps(str(GRID))});\n{program}"
    done = subprocess.run([NODE, "-e", text], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
def test_the_filter_of_the_page_selects_what_select_does():
    """The same language in both: every operator on numbers, words and blanks."""
    values = ["", "bbr", "cubic", "cubic/bbr", "0", "1", "1.0", "2.5", "-3", "1e1", "10", "*", "00"]
    conditions = [f"a{sign}{value}" for sign in ("==", "!=") for value in values]
    conditions += [f"a{sign}{value}" for sign in (">", ">=", "<", "<=") for value in ("0", "1", "2.5", "-3")]
    conditions += ["a<>0:2.5", "a[has]bbr", "a[has]^cubic", "a[hasnot]b", "a[HASNOT]^b", "a=='bbr'", "'a'>1,a<5;a==bbr"]
    cells = [cell_of(value) for value in values]
    cells[-1] = cell_of("00")._replace(number=None)  # a division by zero
    agrees(conditions, cells, "a")


def agrees(conditions, cells, column):
    """The page chooses the cells that Select chooses."""
    expected = []
    for text in conditions:
        located = Located(text, [Where("s", 1, 1)] * (len(text) + 1))
        selection = selection_of(located, [column])
        expected.append([holds(selection, {column: cell}) for cell in cells])
    data = json.dumps([{"text": cell.text, "number": cell.number} for cell in cells])
    found = node(
        f"const cells = {data}; const conditions = {json.dumps(conditions)};\n"
        "console.log(JSON.stringify(conditions.map((text) => {"
        f" const test = grid.filterOf(text, ['{column}']); return cells.map((cell) => test([cell])); }})));"
    )
    assert dict(zip(conditions, found, strict=True)) == dict(zip(conditions, expected, strict=True))


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
def test_the_filter_of_the_page_reads_experiments_and_quotes_as_select_does():
    """Regression: exp==7.1 took 7.10, and a comma in quotes ended a condition."""
    values = ["7.0", "7", "7.1", "7.10", "7.2", "17.1"]
    conditions = [f"exp{sign}{value}" for sign in ("==", "!=", ">", "<=") for value in (*values, "7.01")]
    agrees(conditions, [cell_of(value) for value in values], "exp")
    values = ["a, b", "a", "don't", "x;y", "10K", "10000", "a==b", ""]
    conditions = ['desc=="a, b"', "desc=='a, b';desc==a", "desc!='x;y',desc[has]'", "desc==don't", "desc=='a==b'"]
    conditions += ["desc[has]'x;y'", "desc==10K", "desc[hasnot]'a, '", "desc=='a,desc==a"]
    agrees(conditions, [cell_of(value) for value in values], "desc")


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
def test_the_page_sorts_experiments_and_sizes_as_a_script_does():
    """Regression: 7.10 stood before 7.2, and 10mbit behind 100mbit."""
    for column, values in (
        ("exp", ["7.10", "7.2", "7.1", "17.0", "7.11", "7.0"]),
        ("bw", ["100mbit", "10mbit", "1gbit", "5", "8M", "50K", "none"]),
    ):
        data = json.dumps([{"text": cell.text, "number": cell.number} for cell in map(cell_of, values)])
        isid = "true" if column == "exp" else "false"
        found = node(
            f"console.log(JSON.stringify({data}.sort((x, y) => grid.compare(x, y, false, {isid}))"
            ".map((cell) => cell.text)));"
        )
        assert found == sorted(values, key=lambda value, column=column: order_in(column, value))
    assert order_in("exp", "7.2") < order_in("exp", "7.10") < order_in("exp", "17.0")


@pytest.mark.skipif(NODE is None, reason="needs Node.js")
def test_the_page_sorts_and_scales():
    """Numbers by value before words, blanks last in both directions; differences from the first row."""
    program = (
        "const cells = ['10', '9', '', 'b', 'a', '-1'].map((text) => "
        "({text, number: /\\d/.test(text) ? Number(text) : null}));\n"
        "const sorted = (down) => [...cells].sort((x, y) => grid.compare(x, y, down)).map((cell) => cell.text);\n"
        "console.log(JSON.stringify([sorted(false), sorted(true), grid.valueOf(1500, 0.001, null),"
        " grid.valueOf(15, 1, 10), grid.valueOf(5, 1, 10), grid.valueOf(5, 2, 0)]));"
    )
    up, down, scaled, more, less, zero = node(program)
    assert up == ["-1", "9", "10", "a", "b", ""]
    assert down == ["b", "a", "10", "9", "-1", ""]
    assert (scaled, more, less, zero) == ("1.5", "+50.0 %", "−50.0 %", "10")
