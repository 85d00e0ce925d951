# SPDX-License-Identifier: BSD-3-Clause
"""Tables of campaigns as measurements of a lab's step."""

import pytest

from linklab.errors import DataError
from linklab.measure import Quantity
from linklab.run.campaign_tables import is_campaign_table, measure_campaign_table

TABLE = (
    "exp,expName,ca,rate,rateMin,rateMax,retransPkts%,pingRtt\n"
    "1.0,late,cubic,20,5,15,1.5,40000\n"
    "1.1,late,cubic,15,15,15,,\n"
    "1.2,late,cubic,5,5,5,,\n"
    "2.0,late,cubic,18,9,9,0.5,60000\n"
    "3.0,late,bbr,19,0,19,,\n"
)


def written(folder, text=TABLE):
    """A campaign's folder with this table."""
    (folder / "trials.json").write_text("{}")
    (folder / "exp.csv").write_text(text)
    return folder / "exp.csv"


def test_experiments_of_one_name_are_repetitions(tmp_path):
    """Mean, interval, extremes and number, in the units of labs; groups have names of their own."""
    found = measure_campaign_table(written(tmp_path)).scalars
    assert found["netesto.late-cubic.rate.mean"] == Quantity(19e6, "bit/s")
    half = 12.706204736 * 2**0.5 / 2**0.5  # t of one degree of freedom, s = √2
    assert found["netesto.late-cubic.rate.high"].value == pytest.approx((19 + half) * 1e6)
    assert found["netesto.late-cubic.rate.n"] == Quantity(2.0, "")
    assert found["netesto.late-cubic.retranspkts.mean"].value == pytest.approx(0.01)
    assert found["netesto.late-cubic.pingrtt.min"].value == pytest.approx(0.04)
    assert found["netesto.late-cubic.fairness.max"] == Quantity(3.0, "")
    assert found["netesto.late-cubic.group-2.rate.mean"] == Quantity(5e6, "bit/s")


def test_what_is_not_known_is_left_out(tmp_path):
    """No interval of a single run, no fairness beside a flow that got nothing, no empty cell."""
    found = measure_campaign_table(written(tmp_path)).scalars
    assert sorted(name for name in found if name.startswith("netesto.late-bbr.rate.")) == [
        f"netesto.late-bbr.rate.{what}" for what in ("max", "mean", "min", "n")
    ]
    assert not [name for name in found if "late-bbr.fairness" in name or "late-bbr.retrans" in name]


def test_only_the_table_beside_a_journal_counts(tmp_path):
    """An exp.csv of other programs is left alone."""
    table = written(tmp_path)
    assert is_campaign_table(table)
    (tmp_path / "trials.json").unlink()
    assert not is_campaign_table(table)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "exp,expName,ca,rate\n1.0,x,cubic\n",
        "exp,expName,ca,rate\n1.0,x,cubic,fast\n",
        "exp,expName,ca,rate\n1.0,x,cubic,1e308\n",
        f"exp,expName,ca,rate\n1.0,x,cubic,{'9' * 200_000}\n",
    ],
)
def test_a_table_that_was_changed_is_said_to_be(tmp_path, text):
    """A DataError, whatever stands there."""
    with pytest.raises(DataError):
        measure_campaign_table(written(tmp_path, text))
