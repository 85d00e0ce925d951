# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed of table scripts and exp.csv: a page, or every problem with a place in the script that has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from random import Random

from linklab.netesto.lines import ScriptError
from linklab.netesto.sources import LIBRARY
from linklab.netesto.table.document import PlotItem
from linklab.netesto.table.make import ScriptChoice, document_of, table
from linklab.netesto.table.words import WORDS

PAPER = Path(__file__).resolve().parents[1] / "tests" / "captures" / "netesto"
MOST_PLOTS = 1
"""A page is made where it has so few; more would only take longer."""

_ALL = b"""format = 2
log = what
File = figure-8
Select = exp[has].0,testType==3Stream1,netem==10;ca==bbr,rate>93
rows = 1514..1520, 1525.0, 1523
NewCol = fairness = (rateMax + 0) / rateMin * 1.0 - 0
newCol = words = ca & "/" & bw
NewColField1=rate
NewColOp=NewColMult
NewColField2=8
NewColName=twice
Average = ca,exp[int],expName[has:1s3c0]
Sort = -rate,ca
ScaleColumns = pingRtt
ScaleFactor = 0.001
Cols = exp,ca,instances,rate,retransPkts%,fairness,pingRtt
rowColorChange = ca
removeCols = exp
relPath = .
doTable
select = all
source=plotFlowsRetransFairness.exp,\\
  subTitle1=3->1 hosts,\\
  subTitle2=10 ms
Y1Units=1=us,1000=ms,1000000=secs
Y2Units=
Y2div=10
Y1min=0
Y1LogScale=auto
Y2LogScale=on
plotSize=900x450
plotXLen=6.5
PlotPercent=Vertical
BkgLevel=0.8
plotX=ca
plotY1=pingRtt
plotY2='cwnd,rate'
plotSeries=instances;1=one,2,4=four
plotTitle='a|b|c'
doPlot=name
"""


def scripts() -> Sequence[bytes]:
    """Good table scripts."""
    return [(PAPER / "figure-8.exp").read_bytes(), _ALL]


def tables() -> Sequence[bytes]:
    """Good files exp.csv."""
    return [(PAPER / "figure-8.csv").read_bytes()]


def change_directive(chance: Random, text: str) -> str:
    """Another word at the beginning of a line, another value behind it, or lines in another order."""
    lines = text.split("\n")
    number = chance.randrange(len(lines))
    word, equals, value = lines[number].partition("=")
    kind = chance.randrange(4)
    if kind == 0:
        lines[number] = chance.choice(WORDS) + equals + value
    elif kind == 1:
        lines[number] = word + "=" + chance.choice(lines).partition("=")[2]
    elif kind == 2:
        lines.insert(number, chance.choice(lines))
    else:
        lines[number : number + 2] = reversed(lines[number : number + 2])
    return "\n".join(lines)


def read_script(data: bytes, folder: Path) -> None:
    """A script beside the table of the paper."""
    (folder / "figure-8.csv").write_bytes((PAPER / "figure-8.csv").read_bytes())
    (folder / "exp.csv").write_bytes((PAPER / "figure-8.csv").read_bytes())
    _run(data, folder)


def read_table(data: bytes, folder: Path) -> None:
    """A table below a script that uses all of it."""
    (folder / "figure-8.csv").write_bytes(data)
    _run(_ALL, folder)


def _run(data: bytes, folder: Path) -> None:
    script = folder / "t.exp"
    script.write_bytes(data)
    lines = {"t.exp": data.count(b"\n") + data.count(b"\r") + 20}
    try:
        document = document_of(script, ScriptChoice())
    except ScriptError as error:
        for problem in error.problems:
            where = problem.where
            name = Path(where.file).name
            if name not in lines:
                lines[name] = (LIBRARY / name).read_text(encoding="utf-8").count("\n")
            assert 1 <= where.line <= lines[name], f"a line that is not there: {where.line}"
            assert where.column >= 1
            assert re.search(r"\w", problem.what)
        raise
    before = {file.name for file in folder.iterdir()}
    if sum(isinstance(item, PlotItem) for item in document.items) <= MOST_PLOTS:
        written = table(script, folder / "out" / "t.html", ScriptChoice())
        assert all(path.parent == folder / "out" for path in written), "a file outside the output's folder"
        assert {file.name for file in folder.iterdir()} == before | {"out"}, "a file outside the output's folder"
