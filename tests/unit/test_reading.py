# SPDX-License-Identifier: BSD-3-Clause
"""Outputs that no tool wrote: each is refused in one sentence with its place, in little time and memory."""

import json
import math
import resource
import struct
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.base.text import file_name
from linklab.errors import DataError
from linklab.measure import make_series, measure
from linklab.measure.iperf3 import read_json, read_output
from linklab.measure.ping import MOST_PROBES, read_pings
from linklab.measure.qdisc import QueueSamples, measure_samples, read_samples
from linklab.measure.reading import LARGEST, MOST_BYTES, decimal, read_text
from linklab.measure.series import per_second
from linklab.measure.tc import read_tc

CAPTURES = Path(__file__).parents[1] / "captures"
TEXT = (CAPTURES / "iperf3-3.12-tcp-text.txt").read_text()
JSON = json.loads((CAPTURES / "iperf3-3.12-tcp.json").read_text())
PING = (CAPTURES / "ping-20221126-plain.txt").read_text()
SAMPLES = (CAPTURES / "queue-samples-6.1.0-red.jsonl").read_text()
BULK = set(read_output("[  5]   0.00-1.00   sec  1 MBytes  9 Mbits/sec")[0].measurements().scalars)
GOOD_S = 5.0
"""Wall-clock seconds that 200 kB of any kind may take; what takes quadratic time takes minutes."""


@pytest.fixture
def bounded():
    """At most 256 MiB more memory than now, and the time it took."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (256 << 20), before[1]))
    begun = time.perf_counter()
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.perf_counter() - begun < GOOD_S


def changed(data: object, path: str, value: object) -> str:
    """JSON text of the data with one value, at "a.0.b", replaced."""
    copy = json.loads(json.dumps(data))
    *keys, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    place = copy
    for key in keys:
        place = place[key]
    place[last] = value
    return json.dumps(copy)


def test_a_rate_with_two_points_is_named_with_its_line():
    """A row of iperf3 whose rate is "9.2.1" is refused; as a gap it would make every total a wrong one."""
    lines = TEXT.splitlines()
    at = next(number for number, line in enumerate(lines) if "Mbits/sec" in line or "Gbits/sec" in line)
    rate = lines[at].split("Bytes")[1].split()[0]
    lines[at] = lines[at].replace(f" {rate} ", " 9.2.1 ")
    with pytest.raises(DataError, match=rf'^step bulk: line {at + 1}: "9\.2\.1" is not a number that a tool prints'):
        measure("\n".join(lines), (), "step bulk")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("intervals", {"a": 1}, "intervals must be a list, found an object"),
        ("intervals.1", 7, r"intervals\[1\] must be an object, found a number"),
        ("intervals.1.streams", "x", r"intervals\[1\]\.streams must be a list, found a text"),
        ("intervals.1.streams.0.socket", None, r"intervals\[1\]\.streams: a stream has no socket"),
        ("intervals.1.streams.0.end", None, r"intervals\[1\]: an interval has no start or no end"),
        ("intervals.1.sum", [], r"intervals\[1\]\.sum must be an object, found a list"),
        ("start", [], "start must be an object"),
        ("start.connected", 3, r"start\.connected must be a list"),
        ("end.streams", [[]], r"end\.streams\[0\] must be an object"),
        ("end.sum_sent", True, r"end\.sum_sent must be an object, found true or false"),
    ],
)
def test_json_of_another_shape_is_refused_with_its_place(path, value, said):
    """The place in the document is named, not an exception of Python."""
    with pytest.raises(DataError, match=f"^out.json: {said}"):
        read_json(changed(JSON, path, value), "out.json")


@pytest.mark.parametrize("value", [1e308, -1e308, 10**30, 10**400, math.inf, math.nan])
def test_a_number_beyond_any_measurement_is_unknown(value):
    """Of a rate that no link has there is no scalar, and the others stay."""
    (test,) = read_json(changed(JSON, "end.sum_received.bits_per_second", value), "out.json")
    scalars = test.measurements().scalars
    assert all(math.isfinite(quantity.value) for quantity in scalars.values())
    assert scalars["iperf3.throughput.sender"].value == JSON["end"]["sum_sent"]["bits_per_second"]


@pytest.mark.parametrize("begin", ['{"start": ', '{"start": {"a": '])
@pytest.mark.parametrize("value", ["9" * 5000, "[" * 100_000, '{"a":' * 100_000])
def test_json_beyond_the_reader_is_refused(bounded, begin, value):
    """Numbers of 5,000 digits and 100,000 levels are no iperf3's."""
    with pytest.raises(DataError, match=r"^out\.json: line 1: no JSON that a tool writes"):
        read_json(begin + value, "out.json")


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 200_000,
        "{" + "\n" * 200_000,
        "[  5] " + "9" * 200_000,
        "[  5]   0.00-1.00   sec  1.0 MBytes  9 Mbits/sec  " + "9" * 200_000,
        "Accepted connection from \n[  5]   0.00-1.00   sec  1 MBytes  9 Mbits/sec  " + "1 ms " * 40_000,
        "64 bytes from " + "icmp_seq=1 " * 20_000,
        "PING a\n64 bytes from " + "icmp_seq=1 time=" * 12_000,
        "PING a\nFrom " + "a" * 200_000,
        "PING a\nFrom " + "icmp_seq= " * 20_000,
        "1 " + "icmp_seq=1 =1,1 " * 12_000,
        "qdisc red 1: root \n " + "a" * 200_000,
        "qdisc red 1: root \n " + "a_" * 100_000,
        "#kernel\n" * 25_000,
        "#kernel\n" + "A" * 200_000,
        "ESTAB 0 0 a b\n mss:1" + " rtt:" * 40_000,
        "fairness index: 0.50000\ncoefficient of variation: " + ", " * 100_000,
    ],
    ids=range(16),
)
def test_long_runs_take_linear_time(bounded, text):
    """200 kB of what makes a pattern try again and again are read, or refused, at once."""
    try:
        scalars = measure(text, (), "step a", partial=True).scalars
    except DataError as error:
        assert "is not a number" in str(error) or "with a comma" in str(error)
    else:
        assert set(scalars) <= {*BULK, "ss.mss", "fairness.index"}


def test_a_sequence_number_beyond_16_bits_is_refused(bounded):
    """icmp_seq=2000000000 would be an array of 16 GB."""
    text = PING.replace("icmp_seq=3 ", "icmp_seq=2000000000 ")
    with pytest.raises(DataError, match=r"^step p: line 4: icmp_seq=2000000000 is not a number that ping prints"):
        read_pings(text, "step p")


def test_sequence_numbers_that_run_away_are_refused(bounded):
    """Replies that seem to pass 65535 again and again are no ping of an hour."""
    replies = "".join(f"64 bytes from b: icmp_seq={n * 30_000 % 2**16} ttl=64 time=1 ms\n" for n in range(50))
    with pytest.raises(DataError, match=f"the ping of b has 1470001 probes; {MOST_PROBES} are read"):
        read_pings("PING b\n" + replies, "step p")


def test_a_summary_of_more_probes_than_can_be_is_refused(bounded):
    """The number in the summary makes no array either."""
    text = PING.replace("5 packets transmitted", f"{10**15} packets transmitted")
    with pytest.raises(DataError, match="1000000000000000 probes"):
        read_pings(text, "step p")


def test_more_replies_than_probes_are_refused():
    """The loss would be negative."""
    with pytest.raises(DataError, match="has more replies than probes"):
        read_pings(PING.replace("5 received", "50 received"), "step p")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"t": 1000000, "qdiscs": 5}', r"qdiscs must be a list, found a number"),
        ('{"t": 1000000, "qdiscs": [[]]}', r"qdiscs\[0\] must be an object, found a list"),
        (
            '{"t": 1000000, "qdiscs": [{"kind": []}]}',
            r"qdiscs\[0\]: kind, handle and parent of a discipline must be names",
        ),
        ('{"t": 1000000, "qdiscs": [{"kind": "\\ud800"}]}', r"qdiscs\[0\]: kind, handle and parent"),
        ('{"t": 1000000, "qdiscs": [{"options": 1}]}', r"qdiscs\[0\]: options must be an object"),
        ('{"t": -1e9, "qdiscs": []}', "t is no time in seconds after the sample before"),
        ('{"t": NaN, "qdiscs": []}', "t is no time"),
        ('{"t": 1e300, "qdiscs": []}', "t is no time"),
        ("7", "must be an object, found a number"),
        ('{"t": ' + "9" * 5000 + "}", "no JSON that a tool writes"),
        ("[" * 100_000, "no JSON that a tool writes"),
    ],
)
def test_a_sample_of_another_shape_is_refused_with_its_line(tmp_path, line, said):
    """The line is the one after the whole samples."""
    path = tmp_path / "queue.jsonl"
    path.write_text(f"{SAMPLES}{line}\n")
    with pytest.raises(DataError, match=rf"queue\.jsonl: line {SAMPLES.count(chr(10)) + 1}.*{said}"):
        read_samples(path)


def test_disciplines_that_are_each_others_parents_end(bounded):
    """A circle, which tc never lists, is not followed for ever."""
    qdiscs = [{"kind": "red", "handle": f"{n}:", "parent": f"{n % 1000 + 1}:1", "backlog": n} for n in range(1, 1001)]
    samples = QueueSamples("a", {"interface": "s1-eth1"}, [0.0], [qdiscs])
    assert measure_samples(samples).scalars["queue.backlog.max"].value == 1


@pytest.mark.parametrize("ewma", [-(10**9), 64, 10**9])
def test_a_weight_that_red_cannot_have_gives_no_average(ewma):
    """RED's average needs a weight of 2^-31 to 1."""
    qdisc = {
        "kind": "red",
        "handle": "1:",
        "root": True,
        "backlog": 5,
        "qlen": 1,
        "bytes": 3,
        "options": {"ewma": ewma},
    }
    found = measure_samples(QueueSamples("a", {"interface": "s1-eth1"}, [0.0, 1.0], [[qdisc], [qdisc]]))
    assert "queue.average" not in found.series
    assert found.scalars["queue.backlog.max"].value == 5


def test_a_record_longer_than_its_file_takes_no_memory(bounded, tmp_path):
    """The header of a packet may say 4 GiB."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    path = tmp_path / "a.pcap"
    path.write_bytes(head + struct.pack("<IIII", 0, 0, 2**32 - 1, 2**32 - 1) + bytes(60))
    with pytest.raises(DataError, match=r"a\.pcap: fewer than two packets with TCP data in it"):
        measure("", [path])


def test_a_file_name_that_is_no_utf_8_is_written_with_escapes(tmp_path):
    """The message can be printed and stored."""
    path = tmp_path / "a\udcff.txt"
    path.write_text("nothing")
    with pytest.raises(DataError, match=r"a\\xff\.txt: no output of iperf3") as caught:
        measure("", [path])
    assert str(caught.value).encode()
    assert file_name(Path("é\udcff")) == "é\\xff"


def test_a_file_larger_than_is_read_is_refused(tmp_path):
    """A sparse file of 65 MiB."""
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(DataError, match="is larger than 64 MiB, the most that is read"):
        read_text(path)


def test_counters_have_64_bits():
    """A figure of tc with 5,000 digits is refused, the largest that the kernel has is read."""
    text = "qdisc red 1: root refcnt 2 limit 1b \n Sent {} bytes 1 pkt (dropped 0, overlimits 0 requeues 0)\n"
    (found,) = read_tc(text.format(2**64 - 1))
    assert found.scalars["tc.1.sent.bytes"].value == 2.0**64
    with pytest.raises(DataError, match=r'^tc: line 2: "9{60}…" is not a number'):
        read_tc(text.format("9" * 5000))


def test_rates_over_years_have_few_bins(bounded):
    """Two samples thirty years apart are at most 101 bins, of whole minutes."""
    rate = per_second(make_series("a", "", [0.0, 1e9], [0.0, 1e9]))
    assert len(rate) <= 101
    assert float(np.diff(rate.time_s)[0]) % 60 == 0


@given(st.floats(0, LARGEST, allow_subnormal=False))
def test_a_decimal_is_read_back(value):
    """What Python prints without exponent is the number again, to 20 places after the point."""
    written = f"{value:.6f}"
    assert decimal(written, "a") == float(written)


@given(st.text(alphabet="0123456789.-+eE_ ,x٣", max_size=50))
def test_a_decimal_is_a_number_or_refused(text):
    """No other notation of Python's passes, such as 1_000, 1e3 or other alphabets' digits."""
    try:
        value = decimal(text, "a")
    except DataError:
        return
    assert not set(text) & set("+eE_ ,x٣")
    assert 0 <= abs(value) <= LARGEST


@given(
    st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5), st.lists, max_leaves=5)
)
@pytest.mark.parametrize("path", ["intervals.0.streams.0.end", "end.streams.0.sender", "start.test_start", "error"])
def test_any_value_anywhere_is_read_or_refused(path, value):
    """Whatever stands in the place of a value, the result is finite numbers or a DataError."""
    try:
        tests = read_output(
            changed(JSON, path, value) if path != "error" else json.dumps({**JSON, "error": value}), "a"
        )
    except DataError as error:
        assert str(error).startswith("a: ")
        return
    for test in tests:
        assert all(math.isfinite(quantity.value) for quantity in test.measurements().scalars.values())
