# SPDX-License-Identifier: BSD-3-Clause
"""Tables of sweeps as measurements of a lab's step."""

import pytest
from scripted import ScriptedEngine
from test_runner import Silent, make_lab

from linklab.engine import api
from linklab.errors import DataError
from linklab.measure import Quantity
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings
from linklab.run.sweep_tables import is_sweep_table, measure_sweep_table

HEAD = "buffer,flows,rate n,rate mean,rate low,rate high,rate distinct,rate unit,lost n,lost mean,lost low,lost high,"
TABLE = (
    f"{HEAD}lost distinct,lost unit\n"
    "0.5bdp,4,3,9.5,9.25,9.75,3,Mbits/s,3,0.25,0.2,0.3,1,\n"
    "1bdp,4,1,9.5,,,1,Mbits/s,0,,,,0,\n"
)


def written(folder, text=TABLE):
    """A sweep's folder with this table."""
    (folder / "trials").mkdir()
    (folder / "trials.json").write_text("{}")
    (folder / "table.csv").write_text(text)
    return folder / "table.csv"


def test_each_cell_and_measure_has_its_numbers(tmp_path):
    """In the units of labs; what is not known is left out, such as the interval of a single run."""
    found = measure_sweep_table(written(tmp_path))
    assert found.tool == "sweep"
    assert {name: quantity for name, quantity in found.scalars.items() if "0-5bdp" in name and "rate" in name} == {
        "sweep.buffer-0-5bdp-flows-4.rate.n": Quantity(3.0, ""),
        "sweep.buffer-0-5bdp-flows-4.rate.mean": Quantity(9.5e6, "bit/s"),
        "sweep.buffer-0-5bdp-flows-4.rate.low": Quantity(9.25e6, "bit/s"),
        "sweep.buffer-0-5bdp-flows-4.rate.high": Quantity(9.75e6, "bit/s"),
        "sweep.buffer-0-5bdp-flows-4.rate.distinct": Quantity(3.0, ""),
    }
    assert found.scalars["sweep.buffer-0-5bdp-flows-4.lost.mean"] == Quantity(0.25, "")
    assert sorted(name.partition("1bdp-flows-4.")[2] for name in found.scalars if "1bdp-f" in name) == [
        "lost.distinct",
        "lost.n",
        "rate.distinct",
        "rate.mean",
        "rate.n",
    ]


def test_a_table_of_that_name_elsewhere_is_none(tmp_path):
    """The journal of the sweep lies beside its table."""
    table = written(tmp_path)
    assert is_sweep_table(table)
    (tmp_path / "trials.json").unlink()
    assert not is_sweep_table(table)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "this is not the table of a sweep"),
        ("a,b\n1,2\n", "this is not the table of a sweep"),
        (TABLE.replace("9.25", "9,25"), "a row has 15 cells, and the head 14"),
        (TABLE.replace("9.25", "much"), '"much" is not a number'),
        (TABLE.replace("9.25", "inf"), '"inf" is not a number'),
        (TABLE.replace("9.25", "1e308"), '"1e308" is not a number'),
        (TABLE.replace("9.25", "9" * 200_000), "no CSV that Linklab writes: field larger than field limit"),
    ],
)
def test_what_was_changed_is_said(tmp_path, text, why):
    """One sentence, with the file's name."""
    with pytest.raises(DataError) as caught:
        measure_sweep_table(written(tmp_path, text))
    assert "table.csv: " in str(caught.value)
    assert why in str(caught.value)


MANUAL = "## Sweeping\n\nStep. Sweep.\n\n```h1 id=sweep\nlinklab sweep x.toml\n```\n"
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "sweep"
what = "sweep.buffer-0-5bdp-flows-4.rate.mean"
value = "9.5 Mbps"
within = "1 %"
why = "as the table has it"
"""


def a_sweep(workdir):
    """What `linklab sweep` leaves and prints; its measure "ping" is no program's message."""
    folder = workdir / "sweep-x"
    folder.mkdir()
    written(folder)
    (folder / "findings.txt").write_text("ping: buffer matters most\n")
    (folder / "trials" / "a.flent.gz").write_text("no data file, and not looked at")
    return "ping: buffer matters most\n"


def test_a_step_that_sweeps_is_measured_by_its_table_alone(tmp_path):
    """Not by what it printed, nor by the other files of the sweep."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    engine = ScriptedEngine({"linklab sweep x.toml": a_sweep})
    run = run_lab(lab, engine, RunSettings(api.Clock.VIRTUAL, 3, "ideal"), tmp_path / "run", Silent())
    assert run.broken == {}
    assert [verdict.outcome.value for verdict in run.verdicts] == ["pass"]
    assert all(name.startswith("sweep.") for name in run.scalars["sweep"])
