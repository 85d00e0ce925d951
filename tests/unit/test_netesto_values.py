# SPDX-License-Identifier: BSD-3-Clause
"""From an experiment's folder to values of its flows, its groups, and itself: numbers counted by hand."""

import json

import numpy as np
import pytest
from netesto_folders import (
    flow_numbers,
    flow_series,
    group,
    pings,
    stream_experiment,
    write_counters,
    write_experiment,
)

from linklab.data import open_file
from linklab.errors import DataError
from linklab.measure import make_series
from linklab.netesto import names
from linklab.netesto.host_facts import carried
from linklab.netesto.key_values import read_values, write_values
from linklab.netesto.recorded import read_experiment
from linklab.netesto.values import values_of


def found_in(folder):
    """The values of the experiment in a folder."""
    recorded = read_experiment(folder)
    return values_of(recorded, open_file(folder / names.data_file(recorded.exp)))


def test_a_group_is_of_all_its_instances(tmp_path):
    """Sums of rates and retransmissions, extremes of rates, and means, none of them the last instance's."""
    values = found_in(stream_experiment(tmp_path)).groups[1]
    assert values["exp"] == "1.1"
    assert values["instance"] == "all"
    assert values["rate"] == pytest.approx(12)
    assert (values["rateMin"], values["rateMax"]) == (pytest.approx(4), pytest.approx(8))
    assert (values["localRetrans"], values["remoteRetrans"], values["retrans_total"]) == (5, 0, 5)
    assert values["lost"] == 2
    assert values["cwnd"] == pytest.approx(11.5)  # 11 and 12
    assert values["rtt"] == pytest.approx(21_500)  # µs
    assert values["minRtt"] == pytest.approx(20_000)
    assert values["fairness"] == pytest.approx(144 / (2 * 80))
    assert values["minLatency"] is None  # a bulk flow has no answers
    assert values["localCpu"] is None


def test_the_share_of_retransmissions_is_of_all_data_segments(tmp_path):
    """5 of 750 segments, not the mean of the flows' shares, and never 0 because nobody counted."""
    found = found_in(stream_experiment(tmp_path))
    assert found.groups[1]["retransPkts%"] == pytest.approx(100 * 5 / 750)
    assert found.flows[1, 1]["retransPkts%"] == pytest.approx(1)
    assert found.flows[1, 2]["retransPkts%"] == 0
    assert found.whole["retransPkts%"] == pytest.approx(100 * 5 / 750)


def test_both_ends_count(tmp_path):
    """A server that answers much retransmits too: 1 of its 100 segments and 2 of the client's 100."""
    numbers = flow_numbers(names.RR, 1, 1, retransmits=(2, 1), segments=(100, 100))
    folder = write_experiment(tmp_path, 1, [group(1, names.RR)], flow_series(names.RR, 1, 1), numbers)
    values = found_in(folder).groups[1]
    assert (values["localRetrans"], values["remoteRetrans"], values["retrans_total"]) == (2, 1, 3)
    assert values["retransPkts%"] == pytest.approx(1.5)


@pytest.mark.parametrize("missing", [names.LOCAL, names.REMOTE])
def test_an_end_that_nobody_counted_leaves_the_sum_unknown(tmp_path, missing):
    """Of requests and answers both ends send; of a bulk flow the client alone does, so its server counts as nothing."""
    for at, (test, known) in enumerate(((names.RR, False), (names.STREAM, missing == names.REMOTE))):
        numbers = flow_numbers(test, 1, 1, retransmits=(2, 1), segments=(100, 100))
        for number in ("retransmits", "data_segs_out", "lost"):
            del numbers[names.final(names.flow(test, 1, 1), number, missing)]
        folder = write_experiment(tmp_path, at, [group(1, test)], flow_series(test, 1, 1), numbers)
        values = found_in(folder).groups[1]
        for column in ("retrans_total", "dataSegsOut", "lost", "retransPkts%"):
            assert (values[column] is not None) == known, (test, column)


def test_latencies_are_of_all_answers_of_all_instances(tmp_path):
    """1 to 1,000 ms over two flows that answered 1 and 999 times."""
    answers = np.arange(1.0, 1001.0)
    series = [
        *flow_series(names.RR, 1, 1, answers=answers[:1]),
        *flow_series(names.RR, 1, 2, answers=answers[1:]),
    ]
    numbers = flow_numbers(names.RR, 1, 1) | flow_numbers(names.RR, 1, 2)
    found = found_in(write_experiment(tmp_path, 1, [group(1, names.RR, instances=2)], series, numbers))
    values = found.groups[1]
    assert (values["minLatency"], values["maxLatency"]) == (1_000, 1_000_000)
    assert values["meanLatency"] == pytest.approx(500_500)
    assert values["p50Latency"] == pytest.approx(500_500)
    assert values["p90Latency"] == pytest.approx(900_100)
    assert values["p99Latency"] == pytest.approx(990_010)
    assert values["p999Latency"] == pytest.approx(999_001)
    assert found.flows[1, 1]["p99Latency"] == 1_000


def test_what_a_queue_still_held_is_no_goodput_of_the_flow(tmp_path):
    """8 Mbit/s reached the receiver while the flow ran; that 2 MB came after its end makes it no faster."""
    numbers = flow_numbers(names.STREAM, 1, 1, octets=12_000_000)
    series = flow_series(names.STREAM, 1, 1)
    times = np.append(series[0].time_s, 10.7)
    series[0] = make_series("STREAM 1::1", "Mbits/s", times, np.append(series[0].value, 80.0))
    folder = write_experiment(tmp_path, 1, [group(1)], series, numbers)
    assert found_in(folder).groups[1]["rate"] == pytest.approx(8)


def test_a_flow_that_waits_for_its_first_data_is_slow(tmp_path):
    """A series begins with the first data: 8 Mbit/s from 5.5 s on are 4 Mbit/s from 0.5 to 10.5 s."""
    series = flow_series(names.STREAM, 1, 1, begin=5.7)
    folder = write_experiment(tmp_path, 1, [group(1)], series, flow_numbers(names.STREAM, 1, 1))
    assert found_in(folder).groups[1]["rate"] == pytest.approx(4)


def test_a_single_sample_is_of_the_flows_own_time(tmp_path):
    """8 Mbit/s in the second from 30 to 31 s are no 248 Mbit/s, and pings before it do not count."""
    times = np.array([10.0, 30.5])
    series = [
        make_series("STREAM 1::1", "Mbits/s", [31.0], [8.0]),
        make_series(names.ping("h2", "h1"), "ms", times, [1.0, 30.0]),
    ]
    folder = write_experiment(tmp_path, 1, [group(1, start_s=30.0, dur=1.0)], series, {})
    values = found_in(folder).groups[1]
    assert values["rate"] == pytest.approx(8)
    assert values["pingRtt"] == pytest.approx(30_000)


def test_intervals_of_goodput_count_by_their_length(tmp_path):
    """2 s at 10 Mbit/s and a last piece of 0.1 s at 100; a second of which nothing is known does not count."""
    times, rates = [1.0, 2.0, 3.0, 3.1], [10.0, 10.0, np.nan, 100.0]
    series = [make_series("STREAM 1::1", "Mbits/s", times, rates)]
    folder = write_experiment(tmp_path, 1, [group(1, start_s=0.0, dur=3.1)], series, {})
    assert found_in(folder).groups[1]["rate"] == pytest.approx((10 + 10 + 10) / 2.1)


def test_pings_count_while_the_flow_runs(tmp_path):
    """30 ms beside the flow; 1 ms before and after it do not count."""
    assert found_in(stream_experiment(tmp_path)).groups[1]["pingRtt"] == pytest.approx(30_000)


def test_a_late_flow_has_pings_of_its_own_time(tmp_path):
    """From 11 s on the pings take 1 ms again."""
    series = [*flow_series(names.STREAM, 1, 1, begin=11.2, end=12.0), pings()]
    folder = write_experiment(tmp_path, 1, [group(1)], series, flow_numbers(names.STREAM, 1, 1))
    assert found_in(folder).groups[1]["pingRtt"] == pytest.approx(1_000)


def test_a_sum_with_an_unknown_part_is_unknown(tmp_path):
    """One of two flows gave nothing: no sum, but the rate of the other is the least and the largest known."""
    folder = write_experiment(
        tmp_path, 1, [group(1, instances=2)], flow_series(names.STREAM, 1, 1), flow_numbers(names.STREAM, 1, 1)
    )
    values = found_in(folder).groups[1]
    for column in ("rate", "localRetrans", "retrans_total", "retransPkts%", "fairness", "lost"):
        assert values[column] is None, column
    assert values["rateMin"] == values["rateMax"] == pytest.approx(8)


def test_without_counters_nothing_of_the_host_is_zero(tmp_path):
    """A host whose counters were not read has no packets, not 0 packets."""
    values = found_in(stream_experiment(tmp_path, counters=False)).groups[1]
    for column in (
        "client-tx-packets",
        "client-rx-bytes",
        "client-tx-packet-len",
        "tso",
        "tcpRmem",
        "ecn",
        "rx-frames",
    ):
        assert values[column] is None, column


def test_a_buffer_that_is_set_before_the_flow_starts_is_the_flows(tmp_path):
    """Regression: of a client that is set after the counters were read, the column had the value from before."""

    def wmem(at_s, value, **more):
        arguments = {"net.ipv4.tcp_wmem": value}
        return {"word": "SET_SYSCTL", "host": "h2", "arguments": arguments, "at_s": at_s, **more}

    settings = [
        wmem(None, "4096,16384,1000000"),  # the counters were read after it
        wmem(0.2, "10000,262144,33554432"),
        wmem(0.3, "10000,262144,20971520", failed=True),
        wmem(0.2, "10000,262144,30000000") | {"host": "h1"},
        wmem(5.0, "10000,262144,8388608"),  # the flow starts at 0.5 s
    ]
    values = found_in(stream_experiment(tmp_path, settings=settings)).groups[1]
    assert (values["tcpWmem"], values["tcpRmem"]) == ("33554432", "6291456")


def test_the_host_as_it_was_set_and_what_it_carried(tmp_path):
    """The largest buffer of the three, offloads, and the interfaces' packets without those of the loopback."""
    values = found_in(stream_experiment(tmp_path)).groups[1]
    assert (values["tcpRmem"], values["tcpWmem"], values["ecn"]) == ("6291456", "4194304", "2")
    assert (values["tso"], values["gso"], values["gro"], values["lro"]) == ("on", "on", "off", "off")
    assert (values["client-tx-packets"], values["client-tx-bytes"]) == (1000, 1_448_000)
    assert values["client-tx-packet-len"] == 1448
    assert values["client-rx-packet-len"] == 66
    assert values["kernel"] == "7.0.1"


def test_an_interface_that_came_or_began_anew_gives_no_count(tmp_path):
    """A counter that is smaller afterwards does not say how much was carried."""
    folder = write_experiment(tmp_path, 1, [group(1)], counters=False)
    write_counters(folder, "h2", packets=(500, 100))
    assert carried(read_experiment(folder), "h2") == {"rx packets": 100, "rx bytes": 6600, "tx bytes": 1_448_000}
    after = folder / names.AFTER / "h2" / "interfaces.json"
    after.write_text(after.read_text().replace("h2-eth0", "h2-eth1"))
    assert carried(read_experiment(folder), "h2") == {}


def test_coalescing_where_a_card_has_it(tmp_path):
    """Numbers, and 1 for a card that adapts; "n/a" is not known."""
    folder = stream_experiment(tmp_path)
    text = "Coalesce parameters for h2-eth0:\nAdaptive RX: on  TX: off\nrx-usecs: 3\nrx-frames: 32\ntx-frames:\tn/a\n"
    (folder / names.BEFORE / "h2" / "coalescing").write_text(text)
    values = found_in(folder).groups[1]
    assert (values["adaptive_rx"], values["rx-frames"], values["tx-frames"]) == (1.0, 32.0, None)


def test_settings_of_the_path_fill_their_columns(tmp_path):
    """A later setting of a host replaces the earlier one, several hosts stand side by side, and OTHER counts first."""
    settings = [
        {"word": "SET_NETEM", "host": "h2", "arguments": {"netem_delay": "10"}},
        {"word": "SET_NETEM", "host": "h1", "arguments": {"netem_delay": "40", "loss": "0.5"}},
        {"word": "SET_NETEM", "host": "h2", "arguments": {"netem_delay": "0"}},
        {"word": "SET_QDISC", "host": "r1", "arguments": {"qdisc": "tbf", "rate": "10mbit", "limit": "100000"}},
        {"word": "SET_SYSCTL", "host": "h1", "arguments": {"net.ipv4.tcp_ecn": "1"}},
    ]
    values = found_in(stream_experiment(tmp_path, settings=settings, other={"bw": "1g", "host": "x"})).groups[1]
    assert (values["netem"], values["qdisc"], values["bw"], values["buffers"]) == ("40+0.5%", "tbf", "1g", "100000")
    assert values["host"] == "h2"


def test_a_setting_that_does_not_hold_fills_no_column(tmp_path):
    """A discipline that was deleted, and settings that were due when the last flow had ended."""
    tbf = {"qdisc": "tbf", "rate": "10mbit", "limit": "100000", "action": "add"}
    settings = [
        {"word": "SET_QDISC", "host": "r1", "arguments": tbf, "at_s": None},
        {"word": "SET_QDISC", "host": "r1", "arguments": {**tbf, "action": "del"}, "at_s": 2.0},
        {"word": "SET_QDISC", "host": "r2", "arguments": {"qdisc": "fq"}, "at_s": 10.0},
        {"word": "SET_QDISC", "host": "r2", "arguments": {"qdisc": "fq_codel"}, "at_s": 10.5},
        {"word": "SET_NETEM", "host": "h1", "arguments": {"netem_delay": "40"}, "at_s": 11.0},
    ]
    values = found_in(stream_experiment(tmp_path, settings=settings)).groups[1]
    assert (values["netem"], values["qdisc"], values["bw"], values["buffers"]) == (None, "fq", None, None)


def test_values_are_read_as_they_were_written(tmp_path):
    """A value is one line whatever is in it, and an unknown one stays unknown."""
    write_values(tmp_path / "v", {"a": 1.5, "b": None, "c": "x = y\nd = 3", "e": "", "f": 123456789012.0})
    assert read_values(tmp_path / "v") == {"a": "1.5", "b": "", "c": "x = y d = 3", "e": "", "f": "123456789012"}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda told: told.pop("groups"), "groups is missing"),
        (lambda told: told.update(format=2), "format must be 1, not 2; update Linklab"),
        (lambda told: told["groups"][0].update(host="../../etc"), "cannot be the name of a host"),
        (lambda told: told["groups"][0].update(instances=200_000), "instances must be 0 to 100000, not 200000"),
        (lambda told: told["groups"][0].update(dur="long"), 'dur must not be "long"'),
        (lambda told: told["groups"][0].update(dur=float("inf")), "dur must not be Infinity"),
        (lambda told: told["groups"][0].update(start_s=float("nan")), "start_s must not be NaN"),
        (lambda told: told["groups"][0].update(dur=10**400), "dur must not be 1000"),
        (lambda told: told["groups"][0].update(dur=-1), "dur must not be -1"),
        (lambda told: told["groups"][0].update(group=10**400), "group must not be 1000"),
        (lambda told: told.update(exp=10**400), "exp must not be 1000"),
        (lambda told: told.update(settings=[{"word": "W", "arguments": {}, "at_s": "x"}]), 'at_s must not be "x"'),
        (lambda told: told["groups"].append(told["groups"][0]), "two groups have the same number"),
        (lambda told: told.update(groups=[3]), r"groups\[0\]: must be an object, not 3"),
    ],
)
def test_a_damaged_description_is_named(tmp_path, change, why):
    """With the file and the place in it; nothing outside the folder is read."""
    folder = stream_experiment(tmp_path)
    told = json.loads((folder / names.EXPERIMENT).read_text())
    change(told)
    (folder / names.EXPERIMENT).write_text(json.dumps(told))
    with pytest.raises(DataError, match=f"experiment.json: .*{why}"):
        read_experiment(folder)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "\x00", "[" * 100_000])
def test_what_is_no_description(tmp_path, text):
    """One sentence, whatever the file holds."""
    (tmp_path / names.EXPERIMENT).write_text(text)
    with pytest.raises(DataError, match=r"experiment\.json:"):
        read_experiment(tmp_path)
