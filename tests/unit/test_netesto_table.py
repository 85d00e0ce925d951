# SPDX-License-Identifier: BSD-3-Clause
"""What each directive of a table script does to the rows of exp.csv, and how it says what it cannot do."""

import contextlib
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.netesto.lines import ScriptError, Where
from linklab.netesto.table import rows
from linklab.netesto.table.cells import CsvRow, cell_of, iteration_of, order_of
from linklab.netesto.table.document import PlotItem, TableItem
from linklab.netesto.table.formula import MOST_DEPTH, formula_of
from linklab.netesto.table.located import Located, lines_of
from linklab.netesto.table.make import ScriptChoice, document_of
from linklab.netesto.table.selection import holds, selection_of

PAPER = Path(__file__).resolve().parents[1] / "captures" / "netesto"

CSV = """exp,expName,group,ca,req,instances,rate,rateMin,rateMax,retransPkts%,client-rx-packets,rx-frames
7.0,1s2c01.fs,0,cubic/bbr,1M,2.0,94.0,20.0,74.0,0.50,1000,44
7.1,1s2c01.fs,1,cubic,1M,1.0,20.0,20.0,20.0,0.10,400,44
7.2,1s2c01.fs,2,bbr,1M,1.0,74.0,74.0,74.0,0.90,600,44
8.0,1s2c02.fs,0,cubic,10K,4.0,90.0,0.0,45.0, ,2000, \n9.0,1s2c01.fs,0,cubic/bbr,1M,2.0,92.0,40.0,52.0,0.70,1100,44
"""


@pytest.fixture
def campaign(tmp_path):
    """A folder with an exp.csv of the original's form: blanks are one space, text is without quotes."""
    (tmp_path / "exp.csv").write_text(CSV, encoding="utf-8")
    return tmp_path


def made(folder, text, **choice):
    """The document of a script in the folder."""
    script = folder / "t.exp"
    script.write_text(text, encoding="utf-8")
    return document_of(script, ScriptChoice(**choice))


def tables(folder, text, **choice):
    """The texts of the cells of each table of a script."""
    return [
        [[row.cells[column].text for column in item.columns] for row in item.rows]
        for item in made(folder, text, **choice).items
        if isinstance(item, TableItem)
    ]


def first_column(folder, text):
    """The experiments of the only table."""
    (found,) = tables(folder, text + "\nCols=exp\ndoTable\n")
    return [row[0] for row in found]


def problems(folder, text, **choice):
    """What is wrong with a script, as people read it, without the folder."""
    with pytest.raises(ScriptError) as error:
        made(folder, text, **choice)
    return [str(each).replace(f"{folder}/", "") for each in error.value.problems]


# --- Select and rows


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("ca==cubic", ["7.1", "8.0"]),
        ("ca!=cubic", ["7.0", "7.2", "9.0"]),
        ("instances==2", ["7.0", "9.0"]),
        ("instances!=2.00", ["7.1", "7.2", "8.0"]),
        ("rate>90", ["7.0", "9.0"]),
        ("rate>=90", ["7.0", "8.0", "9.0"]),
        ("rate<90", ["7.1", "7.2"]),
        ("rate<=74", ["7.1", "7.2"]),
        ("rate<>74:94", ["8.0", "9.0"]),
        ("exp[has].0", ["7.0", "8.0", "9.0"]),
        ("exp[hasnot].0", ["7.1", "7.2"]),
        ("ca[has]^cubic", ["7.0", "7.1", "8.0", "9.0"]),
        ("ca[hasnot]^cubic", ["7.2"]),
        ("ca[HAS]bbr , rate > 80", ["7.0", "9.0"]),
        ("ca==bbr;exp==8;rate>93,rateMin==20", ["7.0", "7.2", "8.0"]),
        ("exp==7", ["7.0"]),
        ("retransPkts%<1", ["7.0", "7.1", "7.2", "9.0"]),
        ("retransPkts%==", ["8.0"]),
        ("client-rx-packets>=1000", ["7.0", "8.0", "9.0"]),
        ("ca=='cubic/bbr'", ["7.0", "9.0"]),
    ],
)
def test_select(campaign, condition, expected):
    """Numbers compare as numbers and words as words; a blank is neither more nor less than anything."""
    assert first_column(campaign, f"select = {condition}") == expected


@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("ca==bbr instances==2", 16),
        ("ca==bbr  rate>90", 17),
        ("rate>1,ca[has]bbr expName[hasnot]fs", 26),
        ("exp==7 retransPkts%<1", 15),
    ],
)
def test_a_missing_comma_is_told(campaign, condition, column):
    """Regression: the value was "bbr instances==2", which no cell is equal to, so the table was empty."""
    second = condition[column - 9 :].lstrip()
    (told,) = problems(campaign, f"Select={condition}\ndoTable\n")
    assert told == f't.exp:1:{column}: before "{second}" a comma (and) or a semicolon (or) is missing'


def test_a_value_may_look_like_a_condition(campaign):
    """In quotes, or where no column stands before the operator."""
    assert first_column(campaign, "Select=ca!='bbr instances==2'") == ["7.0", "7.1", "7.2", "8.0", "9.0"]
    assert first_column(campaign, "Select=ca!=a > b") == ["7.0", "7.1", "7.2", "8.0", "9.0"]


def test_a_file_beside_the_script_is_named_from_there(campaign):
    """A name counts from the script's folder, which people who start it elsewhere put before it once more."""
    (told,) = problems(campaign, "File=runs/exp\ndoTable\n")
    assert told.endswith("; exp.csv is beside the script, and names count from its folder")


def test_select_works_on_what_is_selected_until_all(campaign):
    """Selections narrow each other, and `all` begins anew."""
    assert first_column(campaign, "Select=exp[has].0\nSELECT=ca==cubic") == ["8.0"]
    assert first_column(campaign, "Select=ca==cubic\nselect=ALL") == ["7.0", "7.1", "7.2", "8.0", "9.0"]


def test_the_tenth_group_is_not_the_first(tmp_path):
    """7.1 and 7.10 are equal as numbers, but two groups."""
    (tmp_path / "exp.csv").write_text("exp,ca\n7.1,a\n7.10,b\n", encoding="utf-8")
    assert first_column(tmp_path, "Select=exp==7.10") == ["7.10"]
    assert first_column(tmp_path, "rows=7.1") == ["7.1"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("7.0", ["7.0"]),
        ("7", ["7.0", "7.1", "7.2"]),
        ("8..9", ["8.0", "9.0"]),
        ("7..8", ["7.0", "7.1", "7.2", "8.0"]),
        ("7.1..8.0", ["7.1", "7.2", "8.0"]),
        ("9.0, 7.2", ["9.0", "7.2"]),
        ("7..9,7.0", ["7.0", "7.1", "7.2", "8.0", "9.0"]),
        ("all", ["7.0", "7.1", "7.2", "8.0", "9.0"]),
    ],
)
@pytest.mark.parametrize("word", ["rows", "selectRows", "SelectExp"])
def test_rows_take_ranges(campaign, word, rows, expected):
    """Experiments are named one by one or from one to another, with their groups where no group is named."""
    assert first_column(campaign, f"{word}={rows}") == expected


def test_sort(campaign):
    """Sorted by the first column first; blanks come last in both directions."""
    assert first_column(campaign, "Sort=req,-rate") == ["8.0", "7.0", "9.0", "7.2", "7.1"]
    assert first_column(campaign, "Sort=-retransPkts%") == ["7.2", "9.0", "7.0", "7.1", "8.0"]


# --- columns


def test_columns_are_chosen_in_order_and_removed(campaign):
    """Cols says which and in which order; removeCols takes some away; ALL brings all back."""
    document = made(
        campaign,
        "Cols=rate,exp,'retransPkts%'\ndoTable\nremoveCols=exp\ndoTable\nselectCols=ALL\ndeleteCols=exp,group\ndoTable",
    )
    columns = [list(item.columns) for item in document.items]
    assert columns[0] == ["rate", "exp", "retransPkts%"]
    assert columns[1] == ["rate", "retransPkts%"]
    assert columns[2] == CSV.splitlines()[0].split(",")[1:2] + CSV.splitlines()[0].split(",")[3:]


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        ("rateMax / rateMin", ["3.7", "1", "1", "00", "1.3"]),
        ("rateMax*2+1", ["149", "41", "149", "91", "105"]),
        ("1+rateMax*2", ["149", "41", "149", "91", "105"]),
        ("(1+rateMax)*2", ["150", "42", "150", "92", "106"]),
        ("rateMax-rateMin-1", ["53", "-1", "-1", "44", "11"]),
        ("-rateMin + 0.5e2", ["30", "30", "-24", "50", "10"]),
        ("rate / rateMin * 0", ["0", "0", "0", "00", "0"]),
        ("req & '/' & instances", ["1M/2.0", "1M/1.0", "1M/1.0", "10K/4.0", "1M/2.0"]),
        ("rate+1 & ca", ["95cubic/bbr", "21cubic", "75bbr", "91cubic", "93cubic/bbr"]),
        ("req * 2", ["*", "*", "*", "*", "*"]),
        ("retransPkts% * 100", ["50", "10", "90", "*", "70"]),
        ("client-rx-packets-rx-frames", ["956", "356", "556", "*", "1056"]),
        ("'client-rx-packets' / 100", ["10", "4", "6", "20", "11"]),
    ],
)
def test_new_column(campaign, formula, expected):
    """Products bind more than sums, joining binds least; what cannot be computed is `*`, a division by zero `00`."""
    (found,) = tables(campaign, f"newCol = made = {formula}\nCols=made\ndoTable")
    assert [row[0] for row in found] == expected


def test_what_cannot_be_computed_is_no_number(campaign):
    """`00` looks like 0, and must be neither 0 in a comparison nor left out of a mean that looks better without it."""
    text = "newCol=f=rateMax/rateMin\n"
    assert first_column(campaign, text + "Select=f<1") == []
    assert first_column(campaign, text + "Select=f!=00") == ["7.0", "7.1", "7.2", "9.0"]
    assert tables(campaign, text + "Select=exp[has].0\nAverage=group\nCols=f\ndoTable") == [[["..."]]]
    assert tables(campaign, text + "Select=ca[has]/\nAverage=group\nCols=f\ndoTable") == [[["2.5"]]]


@pytest.mark.parametrize(
    ("operator", "expected"),
    [("NewColDiv", "3.7"), ("/", "3.7"), ("newcolmult", "1480"), ("NewColAdd", "94"), ("NewColSub", "54")],
)
def test_new_column_in_four_lines(campaign, operator, expected):
    """The form of the paper, in any order of its lines."""
    lines = ["NewColField1=rateMax", f"NewColOp={operator}", "NewColField2=rateMin", "NewColName=made"]
    for order in (lines, lines[::-1]):
        (found,) = tables(campaign, "\n".join([*order, "Cols=made", "rows=7.0", "doTable"]))
        assert found == [[expected]]


def test_new_column_of_words_in_four_lines(campaign):
    """It joins with a line between, and a number may stand for a column."""
    text = "NewColField1=ca\nNewColOp=NewColConcat\nNewColField2=req\nNewColName=made\nrows=7.1\nCols=made\ndoTable"
    assert tables(campaign, text) == [[["cubic_1M"]]]
    text = "NewColField1=rate\nNewColOp=NewColMult\nNewColField2=1000\nNewColName=made\nrows=7.1\nCols=made\ndoTable"
    assert tables(campaign, text) == [[["20000"]]]


def test_a_column_is_made_for_rows_that_are_not_selected(campaign):
    """So that another selection has it, too."""
    text = "Select=exp==7.1\nnewCol=twice=rate*2\nSelect=all\nrows=9.0\nCols=twice\ndoTable"
    assert tables(campaign, text) == [[["184"]]]


def test_scaled_columns(campaign):
    """A factor for several columns; blanks stay blank."""
    text = "ScaleFactor=0.1\nScaleColumns=rate,retransPkts%\nCols=rate,retransPkts%\nrows=7.0,8.0\ndoTable"
    assert tables(campaign, text) == [[["9.4", "0.05"], ["9", ""]]]


# --- Average


def test_average(campaign):
    """A row for each combination; words that differ are `...`; the first experiment names the row."""
    text = "Select=exp[has].0\nAverage=ca\nCols=exp,expName,ca,req,rate,retransPkts%,avgCnt\ndoTable"
    assert tables(campaign, text) == [
        [
            ["7.0", "1s2c01.fs", "cubic/bbr", "1M", "93", "0.6", "2"],
            ["8.0", "1s2c02.fs", "cubic", "10K", "90.0", "", "1"],
        ]
    ]


def test_average_leaves_blanks_out(campaign):
    """A value that is not known is not 0."""
    text = "Select=exp[has].0\nAverage=group\nCols=ca,rate,retransPkts%,rx-frames,avgCnt\ndoTable"
    assert tables(campaign, text) == [[["...", "92", "0.6", "44", "3"]]]


def test_average_of_the_whole_number(campaign):
    """exp[int] joins an experiment with its groups."""
    text = "Average=exp[int]\nCols=exp,rate,avgCnt\ndoTable"
    assert tables(campaign, text) == [[["7.0", "62.66666667", "3"], ["8.0", "90.0", "1"], ["9.0", "92.0", "1"]]]


def test_average_by_what_a_cell_has(campaign):
    """COLUMN[has:x] tells rows apart by whether x occurs."""
    text = "Average=ca[has:bbr]\nCols=exp,rate,avgCnt\ndoTable\nSelect=all\nAverage=ca[has:^bbr]\ndoTable"
    first, second = tables(campaign, text)
    assert first == [["7.0", "86.66666667", "3"], ["7.1", "55", "2"]]
    assert [row[2] for row in second] == ["4", "1"]


def test_all_rows_come_back_after_an_average(campaign):
    """Netesto's own program fails here; the columns that were made stay."""
    text = "newCol=f=rate*2\nSelect=exp[has].0\nAverage=ca\nSelect=all\nCols=exp,f,avgCnt\nrows=7\ndoTable"
    assert tables(campaign, text) == [[["7.0", "188", "1"], ["7.1", "40", "1"], ["7.2", "148", "1"]]]


def test_averages_of_averages_count_all_rows(campaign):
    """avgCnt says how many rows of the file are in it."""
    text = "Average=exp[int]\nAverage=ca\nCols=ca,avgCnt\ndoTable"
    assert tables(campaign, text) == [[["...", "3"], ["cubic", "1"], ["cubic/bbr", "1"]]]
    text = "Average=exp[int]\nAverage=expName\nCols=expName,avgCnt\ndoTable"
    assert tables(campaign, text) == [[["1s2c01.fs", "4"], ["1s2c02.fs", "1"]]]


def test_averages_keep_the_values_they_are_of(campaign):
    """For intervals in plots."""
    (item,) = made(campaign, "rows=7.0,9.0\nAverage=ca\ndoTable").items
    (row,) = item.rows
    assert row.cells["rate"].samples == (94.0, 92.0)
    assert row.cells["expName"].samples == ()


# --- files


def test_append_gives_other_numbers(campaign):
    """From the next hundred on, groups included; columns that one file lacks are blank."""
    (campaign / "more.csv").write_text("exp,ca,rate,new\n3.0,nv,1.5,x\n3.1,nv,0.5,y\n", encoding="utf-8")
    text = "File=exp\nnewCol=twice=rate*2\nSelect=ca==bbr\nappend=more\nCols=exp,ca,req,twice,new\ndoTable"
    assert tables(campaign, text) == [
        [["7.2", "bbr", "1M", "148", ""], ["103.0", "nv", "", "3", "x"], ["103.1", "nv", "", "1", "y"]]
    ]


def test_appended_rows_count(campaign):
    """Regression: rows without avgCnt counted as 0 in the next average."""
    (campaign / "more.csv").write_text("exp,ca,rate\n3.0,cubic,1.5\n3.1,cubic,0.5\n", encoding="utf-8")
    text = "Average=ca\nSelect=all\nappend=more\nAverage=exp[has:.]\nCols=avgCnt\ndoTable"
    assert tables(campaign, text) == [[["7"]]]
    (campaign / "exp.csv").write_text("exp,avgCnt\n3.0,2\n4.0,\n", encoding="utf-8")
    assert tables(campaign, "Average=exp[has:.]\nCols=avgCnt\ndoTable") == [[[""]]]


def test_what_files_hold_together_is_bounded(campaign, monkeypatch):
    """Regression: only each file was; to append is work, too."""
    (campaign / "exp.csv").write_text("exp,a\n" + "1.0,2\n" * 100, encoding="utf-8")
    monkeypatch.setattr(rows, "MOST_CELLS", 900)
    assert "5:8: with this file there are more than 900 cells" in problems(campaign, "append=exp\n" * 5 + "doTable")[-1]
    monkeypatch.setattr(rows, "MOST_WORK", 1500)
    assert "looked at more cells" in problems(campaign, "read=exp\n" * 12 + "doTable")[0]


def test_read_takes_another_file(campaign):
    """And what was selected and made of the first is forgotten."""
    (campaign / "more.csv").write_text("exp,ca\n3.0,nv\n", encoding="utf-8")
    text = "File=exp\nSelect=ca==bbr\nread=more.csv\nCols=exp,ca\ndoTable"
    assert tables(campaign, text) == [[["3.0", "nv"]]]


def test_without_a_file_exp_csv_is_read(campaign):
    """The usual name needs no line."""
    assert len(tables(campaign, "doTable")[0]) == 5


def test_csv_of_the_command_line_wins(campaign):
    """The same script for several campaigns."""
    other = campaign / "sub" / "other.csv"
    other.parent.mkdir()
    other.write_text("exp,ca\n1.0,dctcp\n", encoding="utf-8")
    assert tables(campaign, "File=not/there\ndoTable", csv=other) == [[["1.0", "dctcp"]]]


def test_decimals_of_the_first_line(campaign):
    """A column may ask for its decimals, as in `rate:1`; the name is what stands before."""
    (campaign / "exp.csv").write_text("#Path: .\nexp,rate:1,cwnd\n1.0,2.25,3\n", encoding="utf-8")
    (item,) = made(campaign, "format=3\ndoTable").items
    assert list(item.columns) == ["exp", "rate", "cwnd"]
    assert item.decimals == {"exp": 3, "rate": 1, "cwnd": 3}


def test_a_comma_in_quotes_is_part_of_the_value(campaign):
    """A description may have one."""
    (campaign / "exp.csv").write_text('exp,desc,rate\n1.0,"a, b",3\n', encoding="utf-8")
    assert tables(campaign, "doTable\n") == [[["1.0", "a, b", "3"]]]


# --- source


def test_source_fills_in_variables_and_continues_lines(campaign):
    """With variables behind the name; blanks do not matter; `$$` is a dollar sign."""
    (campaign / "part.inc").write_text(
        "# comment\nSelect = ca==$ca\n  Cols= exp, \\\n ${col}\n\ndoTable\n", encoding="utf-8"
    )
    assert tables(campaign, "source=part.inc,\\\n  ca=bbr,\\\n  col=rate") == [[["7.2", "74.0"]]]
    assert tables(campaign, "source=part.inc,ca=cubic,col=req\nCols=exp\nrows=9.0\ndoTable") == [
        [["7.1", "1M"], ["8.0", "10K"]],
        [["9.0"]],
    ]


def test_a_variable_without_a_value_is_told_once(campaign):
    """The text is left out, and the person hears of it."""
    document = made(campaign, "plotX=ca\nplotY1=rate\nplotTitle=A|$sub|$sub\ndoPlot")
    (item,) = document.items
    assert isinstance(item, PlotItem)
    assert item.chart.drawing.title == ["A"]
    assert [str(each).split("t.exp")[1] for each in document.said] == [
        ":3:13: $sub has no value and is left out; give it with -D sub=…"
    ]


def test_variables_of_the_command_line(campaign):
    """-D gives the script's own variables."""
    assert tables(campaign, "Select=ca==$ca\nCols=exp\ndoTable", variables={"ca": "bbr"}) == [[["7.2"]]]


def test_end_ends(campaign):
    """What follows is not looked at, also from a file that source reads."""
    (campaign / "part").write_text("doTable\nEnd\n", encoding="utf-8")
    assert len(tables(campaign, "source=part\nnonsense")) == 1


# --- what is wrong


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Select=rat>1\ndoTable", 't.exp:1:8: there is no column "rat"; the nearest are rate, rateMin, rateMax'),
        (
            "  Cols=exp,\\\n    retransPkts\ndoTable",
            't.exp:2:5: there is no column "retransPkts"; the nearest is retransPkts%',
        ),
        ("Select=ca=bbr\ndoTable", 't.exp:1:8: "ca=bbr" has one "="; write == to compare'),
        (
            "Select=rate>fast\ndoTable",
            't.exp:1:13: "fast" must be a number, since only numbers are more or less than another',
        ),
        (
            "Select=rate<>3\ndoTable",
            't.exp:1:14: "3" must be two numbers with ":" between them, such as exp<>5000:5100',
        ),
        (
            "newCol=f=rate/ratMin\ndoTable",
            't.exp:1:15: there is no column "ratMin"; the nearest are rateMin, rateMax, rate',
        ),
        ("newCol=f=(rate\ndoTable", 't.exp:1:10: this "(" has no ")"'),
        (
            "newCol=f=rate rate\ndoTable",
            't.exp:1:15: "r" cannot stand here; an operator + - * / & is missing before it',
        ),
        ("newCol=f=rate+\ndoTable", "t.exp:1:15: the formula ends here; a column or a number is missing"),
        ("newCol=rate=1\ndoTable", 't.exp:1:8: there is a column "rate" already; choose another name'),
        ("Averag=ca\ndoTable", 't.exp:1:1: there is no directive "Averag"; the nearest is Average'),
        ("doTabel", 't.exp:1:1: there is no directive "doTabel"; the nearest is doTable'),
        ("Select\ndoTable", 't.exp:1:1: "Select" needs a value: Select=…'),
        ("rows=12\ndoTable", 't.exp:1:6: no row has the experiment "12"; there are 7.0 to 9.0'),
        ("format=x\ndoTable", 't.exp:1:8: "x" must be the number of decimals, from 0 to 9'),
        ("doTable\nFile=exp", "t.exp:2:6: File must stand before the first directive that uses rows"),
        ("plotX=ca\ndoPlot", "t.exp:2:7: plotY1 is missing: write plotY1=COLUMN on a line before doPlot"),
        ("plotX=ca\nplotY1=req\ndoPlot", 't.exp:2:8: no selected row has a number in "req" and a value in "ca"'),
        ("plotX=ca\nplotY1=rat\ndoPlot", 't.exp:2:8: there is no column "rat"; the nearest are rate, rateMin, rateMax'),
        ("Y1Units=1-us\ndoTable", 't.exp:1:9: "1-us" must be FACTOR=UNIT, such as 1000=ms'),
        ("Y2div=0\ndoTable", "t.exp:1:7: nothing can be divided by 0; leave the value empty to divide by nothing"),
        (
            "NewColField1=rate\ndoTable",
            "t.exp:1:14: this column is never made, because NewColOp, NewColField2, NewColName are missing",
        ),
        ("source=gone.inc\ndoTable", 't.exp:1:8: there is no file "gone.inc" in the search path: '),
        ("Average=ca[max]\ndoTable", 't.exp:1:9: "ca[max]" must be a column, or COLUMN[int] or COLUMN[has:TEXT]'),
        ("Average=xy[int]\ndoTable", 't.exp:1:9: there is no column "xy"; '),
        ("Average=ca[has:^]\ndoTable", "t.exp:1:9: [has:] needs the letters to look for, such as expName[has:fs]"),
        ("plotX=ca", "t.exp:1:1: the script makes no table and no plot; end it with doTable or doPlot"),
        ("doPlot=../x", 't.exp:1:8: "../x" must be a name without a folder: files are written beside the page only'),
        (
            "log=/tmp/x\ndoTable",
            't.exp:1:5: "/tmp/x" must be a name without a folder: files are written beside the page only',
        ),
        (
            "relPath=javascript:x\ndoTable",
            't.exp:1:9: "javascript:x" must be a folder, or begin with http:// or https://',
        ),
    ],
)
def test_a_problem_has_its_place_and_its_cure(campaign, text, expected):
    """File, line and column, also where a line is made of several."""
    (found,) = problems(campaign, text)
    assert found.startswith(expected)


def test_every_problem_is_told_at_once(campaign):
    """And one that follows from another is not."""
    text = "newCol=f=rat*2\nSelect=f>1\nCols=exp,f,x\nbkgLevel=2\ndoTable"
    assert [each.split(": ")[0] for each in problems(campaign, text)] == ["t.exp:1:10", "t.exp:3:12", "t.exp:4:10"]


def test_a_missing_file_is_one_problem(campaign):
    """The directives that need its rows add nothing to it."""
    found = problems(campaign, "File=gone\nSelect=x==1\nCols=y\ndoTable\nformat=x")
    assert len(found) == 2
    assert found[0].startswith('t.exp:1:6: there is no file "gone.csv" in the search path: ')
    assert found[1].startswith("t.exp:5:8:")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "exp.csv: is empty"),
        ("a,b\n1,2\n", 'exp.csv:1: there is no column "exp"'),
        ("exp,a,a\n", 'exp.csv:1: there are two columns "a"'),
        ("exp,a\n1.0,2\n2.0\n", "exp.csv:3: the row has 1 values, but the first line names 2 columns"),
        ("exp,a\nx,2\n", 'exp.csv:2: the experiment "x" must be a number such as 7.0'),
        ('exp,a\n1.0,"2\n', "exp.csv:2: quotes do not fit together"),
    ],
)
def test_a_wrong_exp_csv_is_told_with_its_line(tmp_path, content, expected):
    """At the place of the script that reads it."""
    (tmp_path / "exp.csv").write_text(content, encoding="utf-8")
    (found,) = problems(tmp_path, "File=exp\ndoTable")
    assert found.startswith(f"t.exp:1:6: {expected}")


# --- what a script may not do


def test_it_reads_nothing_outside_its_search_path(campaign):
    """Neither by a path nor by a link; --search allows a folder."""
    inside = campaign / "scripts"
    inside.mkdir()
    (campaign / "secret.inc").write_text("Cols=exp\n", encoding="utf-8")
    (inside / "link.inc").symlink_to(campaign / "secret.inc")
    (inside / "exp.csv").symlink_to(campaign / "exp.csv")
    for name in ("../secret.inc", "link.inc", str(campaign / "secret.inc"), "/etc/passwd"):
        (found,) = problems(inside, f"source={name}\nend")
        assert "is outside the search path" in found, name
        assert "--search" in found
    (found,) = problems(inside, "File=exp\ndoTable")
    assert "is outside the search path" in found
    assert len(tables(inside, "File=../exp\nsource=../secret.inc\ndoTable", search=[campaign])[0]) == 5


def test_the_search_path_is_named_without_repetition(campaign, monkeypatch):
    """The script's folder is often the working directory."""
    monkeypatch.chdir(campaign)
    Path("t.exp").write_text("File=../exp\ndoTable\n", encoding="utf-8")
    with pytest.raises(ScriptError, match=r"is outside the search path \(this folder\)"):
        document_of(Path("t.exp"))


def test_it_reads_ordinary_files_only(campaign):
    """A pipe would never end."""
    os.mkfifo(campaign / "pipe.csv")
    (found,) = problems(campaign, "File=pipe\ndoTable")
    assert "is not an ordinary file" in found


def test_it_cannot_read_itself_for_ever(campaign):
    """Not by one file, nor by two that read each other."""
    (campaign / "a").write_text("source=b\n", encoding="utf-8")
    (campaign / "b").write_text("source=a\n", encoding="utf-8")
    (found,) = problems(campaign, "source=a\ndoTable")
    assert "is already being read, so it would never end" in found
    (found,) = problems(campaign, "source=t.exp\ndoTable")
    assert "is already being read" in found


def test_it_cannot_multiply_its_lines(campaign):
    """Files that read the next one ten times each would be a million lines."""
    for number in range(7):
        (campaign / f"f{number}").write_text(f"source=f{number + 1}\n" * 10, encoding="utf-8")
    (campaign / "f7").write_text("format=2\n" * 10, encoding="utf-8")
    found = problems(campaign, "source=f0\ndoTable")
    assert "more than 20,000 lines" in found[0]
    assert len(found) <= 50


def test_it_cannot_double_a_text_without_end(campaign):
    """A text that is too long is `*`."""
    text = "newCol=c0=ca&ca\n" + "".join(f"newCol=c{n}=c{n - 1}&c{n - 1}\n" for n in range(1, 60)) + "Cols=c59\ndoTable"
    (found,) = tables(campaign, text)
    assert all(len(row[0]) <= 1000 for row in found)


def test_depth_of_parentheses_is_bounded(campaign):
    """Deep ones are an error, and no crash."""
    (found,) = problems(campaign, f"newCol=f={'(' * 5000}rate{')' * 5000}\ndoTable")
    assert f"nested more than {MOST_DEPTH} deep" in found
    assert tables(campaign, f"newCol=f={'+'.join(['1'] * 2000)}\nCols=f\nrows=7.0\ndoTable") == [[["2000"]]]


@pytest.mark.parametrize("piece", ["a ", " ", "[", "'", "=", "a&", "$", "(", ",", "<>", "\\"])
@pytest.mark.parametrize("word", ["Average", "Select", "newCol=f", "rows", "Cols", "source", "Y1Units", "plotSeries"])
def test_a_long_line_is_refused_or_read_at_once(campaign, word, piece):
    """Patterns that try again from every letter would take a minute."""
    start = time.process_time()
    for count in (19_000 // len(piece), 100_000):
        with contextlib.suppress(ScriptError):
            made(campaign, f"{word}=ca{piece * count}b\nplotX=ca\nplotY1=rate\ndoPlot")
    assert time.process_time() - start < 5


# --- properties


def located(text):
    """The text as the only line of a script."""
    return Located(text, [Where("s", 1, 1 + index) for index in range(len(text) + 1)])


CELLS = st.one_of(
    st.floats(-1e6, 1e6).map(lambda number: f"{number:.3f}"),
    st.integers(-5, 5).map(str),
    st.sampled_from(["", "bbr", "cubic", "1M", "*", "00x"]),
)


@given(CELLS, CELLS, st.sampled_from(["==", "!=", ">", ">=", "<", "<="]))
def test_conditions_and_their_opposites(left, right, sign):
    """A condition and its opposite never both hold, and of numbers exactly one does."""
    opposite = {"==": "!=", "!=": "==", ">": "<=", "<=": ">", ">=": "<", "<": ">="}[sign]
    row = CsvRow({"a": cell_of(left)}, Path(), "1")
    number = cell_of(right).number
    if number is None and sign not in ("==", "!="):
        return
    first, second = (holds(selection_of(located(f"a{each}{right}"), ["a"]), row.cells) for each in (sign, opposite))
    if sign in ("==", "!=") or row.cells["a"].number is not None:
        assert first != second
    else:
        assert not first
        assert not second


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 3)), min_size=1, max_size=3), min_size=1, max_size=3
    )
)
def test_and_binds_more_than_or(alternatives):
    """As any() of all() over every row of small numbers."""
    text = ";".join(",".join(f"{column}=={value}" for column, value in every) for every in alternatives)
    selection = selection_of(located(text), ["a", "b"])
    for a in range(4):
        for b in range(4):
            values = {"a": a, "b": b}
            expected = any(all(values[column] == value for column, value in every) for every in alternatives)
            assert holds(selection, {"a": cell_of(str(a)), "b": cell_of(str(b))}) == expected


EXPRESSIONS = st.recursive(
    st.one_of(st.integers(0, 99).map(str), st.sampled_from(["a", "b-c", "d%"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"-{text}"),
    ),
    max_leaves=12,
)


@given(EXPRESSIONS, st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_formulas_are_arithmetic(text, a, b, d):
    """The same value as Python's own arithmetic, and `00` where that divides by zero."""
    python = text.replace("b-c", "bc").replace("d%", "dd")
    cells = {"a": cell_of(str(a)), "b-c": cell_of(str(b)), "d%": cell_of(str(d))}
    found = formula_of(located(text), list(cells))(cells)
    try:
        expected = eval(python, {"a": a, "bc": b, "dd": d})  # noqa: S307 - made above of digits and signs
    except ZeroDivisionError:
        assert found.text == "00"
        assert found.number is None
        return
    assert found.number == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.text(alphabet="ab \\#\n'=,", max_size=60))
def test_every_letter_knows_where_it_comes_from(text):
    """Joined lines too: the letter at the place that is told is the letter."""
    physical = text.splitlines()
    for line in lines_of(text, "s"):
        for letter, where in zip(line.text, line.at, strict=False):
            assert physical[where.line - 1][where.column - 1] == letter


@given(st.lists(st.sampled_from(["1", "2.5", "10K", "1M", "8M", "50K", "bbr", "cubic", "100mbit", "1gbit"])))
def test_sizes_sort_by_size(texts):
    """50K before 1M before 8M, and words behind numbers."""
    order = ["1", "2.5", "10K", "50K", "1M", "8M", "100mbit", "1gbit", "bbr", "cubic"]
    assert sorted(texts, key=order_of) == sorted(texts, key=order.index)


def test_iterations():
    """7 is 7.0, and 7.10 is not 7.1."""
    assert iteration_of("7") == iteration_of("7.0") == ("7", "0")
    assert iteration_of("7.10") != iteration_of("7.1")
