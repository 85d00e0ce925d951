# SPDX-License-Identifier: BSD-3-Clause
"""Data sets and their files: what is written is read back, Flent finds what it asks for, nothing breaks the reader."""

import bz2
import gzip
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linklab.data import Dataset, dump, load, open_file, save
from linklab.data.grid import at_times, common_times
from linklab.errors import DataError, InputError
from linklab.measure import Measurements, Quantity, make_series

FINITE = st.floats(allow_nan=False, allow_infinity=False)
NAMES = st.text(max_size=12)
UNITS = st.sampled_from(["", "bit/s", "bytes", "s", "packets", "ms", "Mbits/s", "°"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | FINITE | NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(NAMES, JSON, max_size=3)
FLENTS = OBJECTS.map(
    lambda found: {key: found[key] for key in found.keys() - {"LINKLAB", "SERIES_META", "TIME", "T0", "BATCH_TIME"}}
)
MOMENTS = st.datetimes().map(lambda moment: moment.isoformat(timespec="microseconds") + "Z")


patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""On a machine that many share, what a test takes says nothing."""


@st.composite
def series(draw, name):
    """A series with gaps, of any length from 0, at any finite times."""
    times = sorted(draw(st.lists(FINITE, max_size=6)))
    values = draw(st.lists(FINITE | st.just(math.nan), min_size=len(times), max_size=len(times)))
    meta = {key: value for key, value in draw(OBJECTS).items() if key != "UNITS"}
    return make_series(name, draw(UNITS), times, values, source=draw(NAMES), meta=meta)


@st.composite
def datasets(draw):
    """Any data set: odd names, huge and tiny numbers, Flent's metadata as they may be."""
    names = draw(st.lists(NAMES, max_size=4, unique=True))
    found = {name: draw(series(name)) for name in names}
    for parent in draw(st.lists(st.sampled_from(names), max_size=2)) if names else ():
        name = f"{parent}::{draw(NAMES | st.sampled_from(['t', 'val', 's', '1', 'tcp_cwnd', 'a::b']))}"
        values = draw(st.lists(FINITE | st.just(math.nan), min_size=len(found[parent]), max_size=len(found[parent])))
        found[name] = make_series(name, draw(UNITS), found[parent].time_s, values, meta={})
    if draw(st.booleans()):
        found = dict(reversed(found.items()))
    own = {"NAME": NAMES | st.none(), "T0": MOMENTS, "TIME": MOMENTS | st.none(), "STEP_SIZE": FINITE | NAMES}
    return Dataset(
        metadata=draw(OBJECTS),
        scalars=draw(st.dictionaries(NAMES, st.builds(Quantity, FINITE, UNITS), max_size=3)),
        series=found,
        notes=tuple(draw(st.lists(NAMES, max_size=2))),
        flent={**draw(FLENTS), **draw(st.fixed_dictionaries({}, optional=own))},
    )


@patient
@given(datasets())
def test_what_was_dumped_is_loaded(data):
    """A data set is the same after it was written and read, to the last bit, in the same order."""
    again = load(dump(data))
    assert again == data
    assert list(again.series) == list(data.series)
    assert list(again.scalars) == list(data.scalars)
    assert dump(again) == dump(data)


@patient
@given(datasets())
def test_flent_finds_all_that_it_asks_for(data):
    """Each file has the fields that Flent's loader and its formatters read, and no token that is not JSON."""

    def refuse(token):
        raise AssertionError(f"{token} is no JSON")

    found = json.loads(dump(data), parse_constant=refuse)
    assert found["version"] == 4
    assert found.keys() == {"version", "metadata", "x_values", "results", "raw_values"}
    inner = {one["name"] for one in found["metadata"]["LINKLAB"]["series"] if "in" in one}
    assert found["results"].keys() == data.series.keys()
    assert found["raw_values"].keys() == data.series.keys() - inner
    assert all(len(values) == len(found["x_values"]) for values in found["results"].values())
    assert all("t" in sample for samples in found["raw_values"].values() for sample in samples)
    meta = found["metadata"]
    assert meta["NAME"] is not None
    assert meta["TOTAL_LENGTH"] is not None
    assert meta["SERIES_META"].keys() == data.series.keys()
    assert {"TITLE", "HOST", "HOSTS", "LENGTH", "STEP_SIZE", "TEST_PARAMETERS", "BATCH_UUID"} <= meta.keys()
    for moment in ("TIME", "T0"):
        assert meta[moment].endswith("Z")


@patient
@given(datasets(), st.data())
def test_a_broken_file_is_one_sentence(data, choose):
    """Whatever is replaced in a file, it is read or refused by a DataError that names the file."""
    found = json.loads(dump(data))
    part = found
    while isinstance(part, (dict, list)) and part:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        key = choose.draw(st.sampled_from(keys))
        if choose.draw(st.booleans()) or not isinstance(part[key], (dict, list)):
            part[key] = choose.draw(JSON | st.just(10**400))
            break
        part = part[key]
    try:
        load(json.dumps(found), "a.flent.gz")
    except DataError as error:
        assert str(error).startswith("a.flent.gz: ")


FILLED = [
    "NAME",
    "TIME",
    "T0",
    "HOST",
    "HOSTS",
    "LOCAL_HOST",
    "NOTE",
    "LENGTH",
    "TOTAL_LENGTH",
    "STEP_SIZE",
    "TEST_PARAMETERS",
    "FLENT_VERSION",
    "IP_VERSION",
    "BATCH_NAME",
    "BATCH_TIME",
    "BATCH_TITLE",
    "BATCH_UUID",
    "DATA_FILENAME",
    "HTTP_GETTER_URLLIST",
    "HTTP_GETTER_DNS",
    "HTTP_GETTER_WORKERS",
]

BULK = Dataset(
    metadata={"lab": 14, "step": "bulk", "seed": 1},
    scalars={"iperf3.throughput.receiver": Quantity(9.5e8, "bit/s")},
    series={
        "iperf3.throughput": make_series("iperf3.throughput", "bit/s", [1, 2, 3], [9e8, math.nan, 9.5e8]),
        "ping.rtt": make_series("ping.rtt", "s", [], []),
    },
    notes=("no RTT",),
    flent={"TITLE": "Lab 14: bulk"},
)


def test_a_file_as_it_is_written():
    """Series stand at their own times, at common times, and with their units; ours is under one key."""
    assert json.loads(dump(BULK)) == {
        "version": 4,
        "x_values": [0.0, 1.0, 2.0, 3.0],
        "results": {"iperf3.throughput": [None, 9e8, None, 9.5e8], "ping.rtt": [None, None, None, None]},
        "raw_values": {
            "iperf3.throughput": [{"t": 1.0, "val": 9e8}, {"t": 2.0}, {"t": 3.0, "val": 9.5e8}],
            "ping.rtt": [],
        },
        "metadata": {
            **dict.fromkeys(FILLED),
            "NAME": "ping",
            "TITLE": "Lab 14: bulk",
            "TIME": "1970-01-01T00:00:00.000000Z",
            "T0": "1970-01-01T00:00:00.000000Z",
            "HOSTS": [],
            "LENGTH": 3,
            "TOTAL_LENGTH": 3.0,
            "STEP_SIZE": 1.0,
            "TEST_PARAMETERS": {},
            "SERIES_META": {"iperf3.throughput": {"UNITS": "bit/s"}, "ping.rtt": {"UNITS": "s"}},
            "LINKLAB": {
                "format": 1,
                "filled": sorted(FILLED),
                "null": [],
                "metadata": {"lab": 14, "step": "bulk", "seed": 1},
                "scalars": [{"name": "iperf3.throughput.receiver", "value": 9.5e8, "unit": "bit/s"}],
                "series": [{"name": "iperf3.throughput", "source": ""}, {"name": "ping.rtt", "source": ""}],
                "notes": ["no RTT"],
            },
        },
    }


def test_further_numbers_stand_in_the_samples_of_their_series():
    """As Flent writes them, so that its plots of cwnd find them; a gap is absent, and other times stand apart."""
    times = [0.2, 0.4]
    data = Dataset(
        series={
            "TCP upload": make_series("TCP upload", "Mbits/s", times, [1.0, math.nan]),
            "TCP upload::tcp_cwnd": make_series("TCP upload::tcp_cwnd", "packets", times, [math.nan, 12]),
            "TCP upload::late": make_series("TCP upload::late", "s", [0.3], [5]),
            "TCP upload::1": make_series("TCP upload::1", "Mbits/s", times, [2, 3]),
        }
    )
    raw = json.loads(dump(data))["raw_values"]
    assert raw == {
        "TCP upload": [{"t": 0.2, "val": 1.0}, {"t": 0.4, "tcp_cwnd": 12.0}],
        "TCP upload::late": [{"t": 0.3, "val": 5.0}],
        "TCP upload::1": [{"t": 0.2, "val": 2.0}, {"t": 0.4, "val": 3.0}],
    }
    assert load(dump(data)) == data


@pytest.mark.parametrize("suffix", [".flent.gz", ".flent.bz2", ".flent", ".json"])
def test_the_suffix_says_how_a_file_is_packed(tmp_path, suffix):
    """gz, bz2 and plain JSON hold the same text, and each is read back."""
    path = tmp_path / f"bulk{suffix}"
    save(BULK, path)
    unpack = {".gz": gzip.decompress, ".bz2": bz2.decompress}.get(path.suffix, bytes)
    assert unpack(path.read_bytes()).decode() == dump(BULK)
    assert open_file(path) == BULK


def test_the_same_data_set_gives_the_same_bytes(tmp_path):
    """Neither the name nor the time of writing is in the file."""
    save(BULK, tmp_path / "a.flent.gz")
    save(BULK, tmp_path / "b" / "other.flent.gz")
    first = (tmp_path / "a.flent.gz").read_bytes()
    assert first == (tmp_path / "b" / "other.flent.gz").read_bytes()
    assert first[3:8] == b"\0\0\0\0\0"  # RFC 1952: no name, no comment, MTIME 0


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    """Something is in the way."""
    (tmp_path / "data").write_text("")
    with pytest.raises(InputError, match=r"data/a\.flent\.gz: cannot be written: File exists"):
        save(BULK, tmp_path / "data" / "a.flent.gz")


def flents(version, **parts):
    """A file as Flent writes it; `raw_values` count from 2020-01-01T10:00:00 UTC."""
    content = {
        "version": version,
        "metadata": {"NAME": "ping", "T0": "2020-01-01T10:00:00.000000Z", "TIME": "2020-01-01T09:59:59.500000Z"},
        "x_values": [0.0, 0.2],
        "results": {},
        "raw_values": {},
    }
    content["metadata"].update(parts.pop("metadata", {}))
    return json.dumps({**content, **parts})


T0_S = 1577872800.0


def points(data, name):
    """The samples of a series, times rounded to a microsecond."""
    found = data.series[name]
    return [(round(t, 6), v) for t, v in zip(found.time_s.tolist(), found.value.tolist(), strict=True)]


def test_a_file_of_flents_version_4():
    """Samples are taken at their own times, their further numbers too, and what was computed from `results`."""
    raw = [{"t": T0_S + 0.25, "val": 21.5, "seq": 2}, {"t": T0_S + 0.05, "val": 20.0, "seq": 1, "owd": {"up": 9.5}}]
    text = flents(
        4,
        results={"Ping (ms) ICMP": [20.1, 20.9], "Ping (ms) avg": [20.1, None]},
        raw_values={"Ping (ms) ICMP": raw},
        metadata={"SERIES_META": {"Ping (ms) ICMP": {"UNITS": "ms", "MEAN_VALUE": 20.75}}, "HOSTS": ["h2"]},
    )
    data = load(text)
    assert points(data, "Ping (ms) ICMP") == [(0.05, 20.0), (0.25, 21.5)]
    assert points(data, "Ping (ms) ICMP::seq") == [(0.05, 1.0), (0.25, 2.0)]
    assert points(data, "Ping (ms) ICMP::owd::up") == [(0.05, 9.5)]
    assert points(data, "Ping (ms) avg")[0] == (0.0, 20.1)
    assert math.isnan(data.series["Ping (ms) avg"].value[1])
    assert (data.series["Ping (ms) ICMP"].unit, data.series["Ping (ms) ICMP::seq"].unit) == ("ms", "")
    assert data.series["Ping (ms) ICMP"].meta == {"MEAN_VALUE": 20.75}
    assert data.series["Ping (ms) ICMP::seq"].meta == {}  # it is no mean of sequence numbers
    assert data.flent["HOSTS"] == ["h2"]
    assert load(dump(data)) == data


def test_the_table_of_a_file_of_flents_is_kept():
    """Its own common times and values, which its tables show, gaps included; a file of ours is computed again."""
    raw = {"a": [{"t": T0_S + 0.1, "val": 4.5, "lost": True}]}
    data = load(flents(4, results={"a": [4.5, None], "b": [math.inf, 2.0]}, raw_values=raw))
    assert data.grid.times.tolist() == [0.0, 0.2]
    assert [str(data.grid.values[name].tolist()) for name in "ab"] == ["[4.5, nan]", "[nan, 2.0]"]
    assert points(data, "a::lost") == [(0.1, 1.0)]
    assert load(dump(data)).grid is None


def test_version_3_is_converted_as_flent_does():
    """UDP round trips were transactions a second, HTTP seconds, drops counted from the start."""
    udp = [{"t": T0_S, "val": 50.0, "dur": 0.2}, {"t": T0_S + 1, "val": 0, "dur": 0.2}]
    stations = [{"t": T0_S + n, "stations": {"a": {"airtime_tx": total}}} for n, total in enumerate([5, 9])]
    text = flents(
        3,
        raw_values={
            "Ping (ms) UDP": udp,
            "UDP flood": [{"t": T0_S, "val": 3.0}],
            "HTTP latency": [{"t": T0_S, "val": 0.0625}],
            "qdisc": [{"t": T0_S + n, "dropped": total} for n, total in enumerate([7, 7, 10])],
            "wifi": stations,
        },
        metadata={"SERIES_META": {"UDP flood": {"UNITS": "bits/s", "MEAN_VALUE": 3e6}}},
    )
    data = load(text)
    assert points(data, "Ping (ms) UDP")[0] == (0.0, 20.0)
    assert math.isnan(data.series["Ping (ms) UDP"].value[1])
    assert points(data, "HTTP latency") == [(0.0, 62.5)]
    assert points(data, "qdisc::dropped") == [(0.0, 0.0), (1.0, 0.0), (2.0, 3.0)]
    assert points(data, "wifi::stations::a::airtime_tx") == [(0.0, 0.0), (1.0, 4.0)]
    assert (data.series["UDP flood"].unit, data.series["UDP flood"].meta) == ("Mbits/s", {"MEAN_VALUE": 3.0})


def test_version_1_kept_raw_values_elsewhere():
    """They stood under SERIES_META; the program was called netperf-wrapper, and times were local."""
    raw = [{"t": T0_S + 0.1, "val": 4.5}]
    content = json.loads(
        flents(
            1,
            results={"TCP upload": [4.4, 4.6], "TCP totals": [4.4, 4.6]},
            metadata={
                "SERIES_META": {"TCP upload": {"RAW_VALUES": raw}},
                "NETPERF_WRAPPER_VERSION": "0.7",
                "T0": "2020-01-01T11:00:00.000000",
                "TIME": "2020-01-01T10:59:59.5",
            },
        )
    )
    del content["version"], content["raw_values"]
    data = load(json.dumps(content))
    assert points(data, "TCP upload") == [(0.1, 4.5)]
    assert points(data, "TCP totals") == [(0.0, 4.4), (0.2, 4.6)]
    assert data.flent["FLENT_VERSION"] == "0.7"
    assert (data.flent["T0"], data.flent["TIME"]) == ("2020-01-01T10:00:00.000000Z", "2020-01-01T09:59:59.500000Z")


def test_version_1_without_raw_values():
    """The values at common times are all that there is."""
    data = load(flents(1, results={"Ping (ms) UDP": [20.0, 21.0]}))
    assert points(data, "Ping (ms) UDP") == [(0.0, 20.0), (0.2, 21.0)]


def test_version_1_with_empty_raw_values_is_read_by_its_common_times():
    """Regression: null under RAW_VALUES ended in a fault of ours."""
    found = json.loads(flents(1, results={"Ping (ms) UDP": [20.0, 21.0]}))
    found.pop("raw_values", None)
    found["metadata"]["SERIES_META"] = {"Ping (ms) UDP": {"RAW_VALUES": None}}
    assert points(load(json.dumps(found)), "Ping (ms) UDP") == [(0.0, 20.0), (0.2, 21.0)]


def test_what_flent_wrote_as_infinite_is_a_gap():
    """NaN and Infinity, which Flent's JSON may hold, are gaps, and of the second the notes say so."""
    data = load(flents(4, results={"a": [math.nan, math.inf]}))
    assert np.isnan(data.series["a"].value).all()
    assert data.notes == ("a: infinite values are left out",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "x:1: no data file: the file is empty; give a file that Linklab or Flent wrote"),
        ("{\n,", "x:2: no data file: a name in double quotes must stand here; give"),
        ('{"a": 1', "x:1: no data file: the JSON breaks off; give"),
        ('{"a": "b', "x:1: no data file: the JSON breaks off; give"),
        ("garbage\n", "x: this is not a data file; give"),
        ('title = "a test"\n', "x: this is not a data file; give"),
        ('{"a": }', "x:1: no data file: a value is missing here; give"),
        ('{"a": 1\n"b"}', 'x:2: no data file: a "," or a closing bracket is missing here; give'),
        ('{"a" 1}', 'x:1: no data file: a ":" is missing here; give'),
        ("{}\n{}", "x:2: no data file: further text follows the end of the JSON; give"),
        ('["\\q"]', "x:1: no data file: a text in quotes holds a backslash that JSON does not know; give"),
        ("[" * 100_000, "x: no data file: its JSON is nested too deeply"),
        ("9" * 5000, "x: no data file: a number in it has thousands of digits; give"),
        ("[]", "x: no data file: it has no metadata and results"),
        (flents(5), "x: version 5 is newer than 4, the newest I read; use a newer Linklab"),
        (flents("four"), "x: version must be a whole number from 1 to 4, not 'four'"),
        (flents(4, results={"a": [1.0]}), "x: results: a: it has 1 values for 2 x_values"),
        (flents(4, results={"a": [1.0, "2"]}), "x: results: a: number 2: must be a number, not '2'"),
        (flents(4, raw_values={"a": [{"t": "now"}]}), "x: raw_values: a: sample 1: t: must be a number, not 'now'"),
        (flents(4, raw_values={"a": {}}), "x: raw_values: a: must be a list of objects"),
        (
            flents(4, metadata={"T0": "noon"}),
            "x: metadata: T0: 'noon' is no moment such as 1970-01-01T00:00:00.000000Z",
        ),
        (flents(4, metadata={"SERIES_META": {"a": 1}}), "x: metadata: SERIES_META: a: must be an object, not 1"),
        (flents(4, metadata={"LINKLAB": {"format": 2}}), "x: metadata: LINKLAB: format 2 is not the one I read, 1"),
        (
            flents(4, metadata={"LINKLAB": {"scalars": [{"name": "a", "value": None}]}}),
            "x: scalar a: must be finite, not nan; leave out what was not measured",
        ),
    ],
)
def test_what_is_no_data_file_is_refused(text, said):
    """The sentence names the file and the place, and what to do about a newer version."""
    with pytest.raises(DataError) as refused:
        load(text, "x")
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "a.flent.gz",
            b"no gzip",
            "cannot be unpacked: it is not a gzip file; give a file that Linklab or Flent wrote",
        ),
        ("a.flent.gz", gzip.compress(b"{}" * 50, mtime=0)[:-9], "cannot be unpacked: the file breaks off; give"),
        (
            "a.flent.gz",
            gzip.compress(b"{}", mtime=0)[:10] + b"\xff" * 8,
            "cannot be unpacked: its contents are damaged; give",
        ),
        ("a.flent.bz2", b"no bzip2", "cannot be unpacked: it is not a bzip2 file, or damaged; give"),
        ("a.flent", b'{"a": "\xff"}', "byte 8 is no UTF-8 text"),
    ],
)
def test_what_cannot_be_unpacked_is_refused(tmp_path, name, content, said):
    """A file that is cut off, of another kind or no text is one sentence with its name."""
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError) as refused:
        open_file(path)
    assert str(refused.value).startswith(f"{path}: {said}")


def test_a_small_file_that_unpacks_to_much_is_refused(tmp_path, monkeypatch):
    """No more is unpacked than the limit."""
    monkeypatch.setattr("linklab.data.files.MOST_BYTES", 2**20)
    path = tmp_path / "bomb.flent.gz"
    path.write_bytes(gzip.compress(b" " * (2**20 + 1)))
    with pytest.raises(DataError, match="unpacks to more than 1 MiB"):
        open_file(path)


def test_a_missing_file_is_named(tmp_path):
    """As any program says it."""
    with pytest.raises(DataError, match=r"none\.flent\.gz: cannot be read: No such file or directory"):
        open_file(tmp_path / "none.flent.gz")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"scalars": {"a": Quantity(math.nan, "s")}}, "scalar a: must be finite"),
        ({"series": {"a": make_series("a", "s", [0], [math.inf])}}, "series a: a value is infinite"),
        ({"series": {"a": make_series("a", "s", [1, 0], [0, 0])}}, "series a: its times must be finite and"),
        ({"series": {"a": make_series("b", "s", [], [])}}, "series a: is called b"),
        ({"series": {"a": make_series("a", "s", [], [], meta={"UNITS": "s"})}}, "series a: meta: the key UNITS"),
        ({"metadata": {"a": {"b": [object()]}}}, r"metadata\.a\.b\[0\]: a object cannot be stored"),
        ({"metadata": {1: 2}}, "metadata: the key 1 must be text"),
        ({"flent": {"LINKLAB": {}}}, "flent: LINKLAB is written by Linklab"),
        ({"flent": {"TIME": "noon"}}, "flent: TIME: 'noon' is no moment"),
    ],
)
def test_a_data_set_that_could_not_be_written_is_not_made(parts, said):
    """What no file can hold is refused where it comes from."""
    with pytest.raises(DataError, match=said):
        Dataset(**parts)


def test_a_data_set_cannot_be_changed():
    """Its series are its own and read-only; what it was made from stays as it was."""
    given_ = make_series("a", "s", [0.0], [1.0], meta={"interval_s": (1.0, math.nan)})
    data = Dataset(series={"a": given_})
    given_.value[0] = 2.0
    assert data.series["a"].value.tolist() == [1.0]
    assert data.series["a"].meta == {"interval_s": [1.0, None]}
    with pytest.raises(ValueError, match="read-only"):
        data.series["a"].value[0] = 3.0


def test_a_data_set_of_measurements():
    """Tool, source and notes are kept, and the title is Flent's."""
    measured = Measurements({"ping.rtt.mean": Quantity(0.02, "s")}, dict(BULK.series), "ping", "step a", ("lost 1",))
    data = Dataset.of(measured, {"step": "a"}, title="Lab 3: a")
    assert data.metadata == {"step": "a", "tool": "ping", "source": "step a"}
    assert data.flent == {"TITLE": "Lab 3: a"}
    assert (data.scalars, data.series, data.tool, data.notes) == (
        measured.scalars,
        measured.series,
        "ping",
        ("lost 1",),
    )


def test_common_times_leave_gaps_where_nothing_is_known():
    """Between samples on the line, beside a gap and outside the series nothing; rare samples are not gaps."""
    often = make_series("often", "", [0.0, 0.1, 0.2, 0.3, 2.0, 2.1], [0, 1, math.nan, 3, 4, 5])
    rare = make_series("rare", "", [0.5, 1.5], [0, 10])
    times, step_s = common_times([often, rare])
    assert (step_s, len(times), times[0], round(times[-1], 6)) == (0.1, 22, 0.0, 2.1)
    values = at_times(often, times, step_s)
    assert values[[0, 1, 21]].tolist() == [0, 1, 5]
    assert np.isnan(values[[2, 4, 10, 19]]).all()
    assert np.isnan(at_times(rare, times, step_s)[[4, 16]]).all()
    assert at_times(rare, times, step_s)[10] == pytest.approx(5)
