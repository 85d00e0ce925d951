# SPDX-License-Identifier: BSD-3-Clause
"""Specs of plots as JSON, which stands in files that anybody may have written."""

import json
from dataclasses import fields

import pytest

from linklab.errors import DataError
from linklab.plots import spec_json
from linklab.plots.spec import PlotKind, PlotLine, PlotSpec

FULL = PlotSpec(
    "totals",
    "Both directions and the round trip",
    PlotKind.TIMESERIES,
    (PlotLine("TCP upload sum", "Upload", smoothing=10), PlotLine("Ping (ms)*", "", "", True, 0, "mean_span", True)),
    ("a", "b"),
    ("Throughput", "Latency"),
    (5.0, 95.0),
    (5.0, 5.0),
    "groups",
    "median",
    True,
    True,
    "Flows",
)


def test_round_trip() -> None:
    """A spec with every field set survives the way through JSON text."""
    assert all(getattr(FULL, each.name) != each.default for each in fields(PlotSpec))
    text = json.dumps(spec_json.to_json(FULL))
    assert spec_json.from_json(json.loads(text)) == FULL


def test_defaults_are_left_out() -> None:
    """What a spec has by default takes no room in the file."""
    spec = PlotSpec("ping", "Round trips", PlotKind.CDF, (PlotLine("Ping (ms) ICMP"),))
    assert spec_json.to_json(spec) == {
        "name": "ping",
        "description": "Round trips",
        "kind": "cdf",
        "lines": [{"series": "Ping (ms) ICMP"}],
    }


def test_every_field_has_a_reader() -> None:
    """A field that is added to a spec cannot be forgotten here."""
    assert list(spec_json._PLOT) == [each.name for each in fields(PlotSpec)]
    assert list(spec_json._LINE) == [each.name for each in fields(PlotLine)]


PLAIN = {"name": "p", "kind": "cdf"}


@pytest.mark.parametrize(
    ("found", "message"),
    [
        ([], "plot: must be an object, not []"),
        ({"kind": "cdf"}, "plot: name is missing"),
        ({"name": "", "kind": "cdf"}, "plot: name must not be empty"),
        ({"name": "p"}, "plot: kind is missing"),
        (PLAIN | {"kind": "pie"}, 'plot: kind: "pie" is no kind of plot; I know timeseries, '),
        (PLAIN | {"kind": ["cdf"]}, 'plot: kind: ["cdf"] is no kind of plot'),
        (PLAIN | {"code": "x"}, 'plot: there is no key "code"; I know name, '),
        (PLAIN | {"lines": [{}]}, "plot: lines: number 1: series is missing"),
        (PLAIN | {"lines": [{"series": 3}]}, "plot: lines: number 1: series: must be text, not 3"),
        (PLAIN | {"lines": [{"series": "x", "smoothing": True}]}, "smoothing: must be a whole number from 0 to"),
        (PLAIN | {"lines": [{"series": "x", "bold": 1}]}, "bold: must be true or false, not 1"),
        (PLAIN | {"lines": [{"series": "x"}] * 1001}, "plot: lines: 1001 are too many; at most 1000"),
        (PLAIN | {"description": "a" * 1001}, "plot: description: 1001 characters are too many"),
        (PLAIN | {"scaling": [95, 5]}, "plot: scaling: the first percentile must be less than the second"),
        (PLAIN | {"scaling": [0, 101]}, "plot: scaling: must be numbers from 0 to 100, not 101"),
        (PLAIN | {"cutoff_s": [float("nan"), 0]}, "plot: cutoff_s: must be numbers from 0 to 1e+09, not NaN"),
        (PLAIN | {"cutoff_s": [1]}, "plot: cutoff_s: must be two numbers, not 1"),
        (PLAIN | {"axis_labels": ["a"]}, "plot: axis_labels: must be two texts"),
        (PLAIN | {"parts": "ab"}, 'plot: parts: must be a list, not "ab"'),
    ],
)
def test_a_wrong_spec_gets_a_sentence(found: object, message: str) -> None:
    """Whatever a file holds instead of a spec, the message names the place."""
    with pytest.raises(DataError) as error:
        spec_json.from_json(found)
    assert str(error.value).startswith(message) or message in str(error.value)


def test_two_plots_of_one_name() -> None:
    """A list in which a name is not unique is refused, since plots are asked for by name."""
    with pytest.raises(DataError, match='plots: number 2: there is already a plot named "p"'):
        spec_json.read_specs([PLAIN, PLAIN])
    with pytest.raises(DataError, match="plots: 501 are too many"):
        spec_json.read_specs([{"name": str(number), "kind": "cdf"} for number in range(501)])
