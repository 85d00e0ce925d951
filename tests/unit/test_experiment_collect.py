# SPDX-License-Identifier: BSD-3-Clause
"""What the programs and samplers of a test left becomes series: of the captures in `tests/captures/trial-mini`."""

import json
import math
import os
import shutil
from pathlib import Path

import pytest

from linklab.errors import DataError, EngineError
from linklab.experiment import outputs, samples
from linklab.experiment.collect import collect
from linklab.experiment.irtt import read_irtt
from linklab.experiment.model import Trial, TrialCommand, When
from linklab.experiment.prepared import prepare
from linklab.experiment.result import dataset
from linklab.experiment.trial import file_name

CAPTURE = Path(__file__).parents[1] / "captures" / "trial-mini"
TRIAL = Trial(str(CAPTURE / "mini.toml"), path="10mbit 20ms 20p", length_s=2, step_s=0.5)


@pytest.fixture(scope="module")
def prepared():
    """The test of the captures."""
    return prepare(TRIAL)


@pytest.fixture(scope="module")
def found(prepared):
    """Everything that was measured."""
    return collect(prepared.plan, CAPTURE / "out")


@pytest.fixture
def out(tmp_path):
    """A copy of the captures, to be spoilt."""
    return shutil.copytree(CAPTURE / "out", tmp_path / "out")


def test_the_plan_of_the_captures(prepared):
    """Servers first, each ready on its port; programs at their time; samplers along the path."""
    data = prepared.plan.data
    assert data["length_s"] == 12
    assert [(one["id"], one.get("ready")) for one in data["programs"] if one["role"] == "server"] == [
        ("irtt-server-h2", {"udp": 2112}),
        ("requests-server-h2", {"tcp": 7000}),
        ("pages-server-h2", {"tcp": 80}),
        ("tcp-1-server", {"tcp": 5201}),
        ("tcp-2-server", {"tcp": 5202}),
        ("udp-3-server", {"tcp": 5203}),
    ]
    flows = {one["id"]: one for one in data["programs"] if one["role"] == "flow"}
    assert flows["tcp-2"]["argv"] == ["iperf3", "-c", "10.0.2.1", "-p", "5202", "-t", "2", "-J", "-i", "0", "-R"]
    assert (flows["tcp-2"]["start_s"], flows["icmp-1"]["start_s"]) == (5.0, 0.0)
    # irtt 0.9 forgets what it measured if it is stopped while it waits for the last answers, here up to 10 s each
    assert (flows["icmp-1"]["stop_s"], flows["udp-rtt-1"]["stop_s"]) == (17.0, 42.0)
    assert flows["icmp-1"]["argv"] == ["fping", "-D", "-p", "500", "-c", "25", "-t", "30000", "-i", "1", "10.0.2.1"]
    assert data["samplers"]["sockets"] == ["h1", "h2"]
    assert {"node": "r1", "interface": "r1-eth0"} in data["samplers"]["qdiscs"]
    assert data["facts"][0]["argv"] == ["ping", "-n", "-c", "1", "-W", "5", "10.0.2.1"]


def test_the_server_of_a_marked_download_marks():
    """iperf3's -S counts for its client, so a server is told by its environment."""
    plan = prepare(Trial("rrul", path="10mbit 50ms", length_s=5)).plan.data
    told = {
        one["id"]: one.get("env")
        for one in plan["programs"]
        if one["id"].startswith("tcp-") and one["role"] == "server"
    }
    assert list(told.values()) == [{}] * 5 + [{"IPERF3_TOS": byte} for byte in ("32", "160", "184")]


def test_throughput_is_what_the_receiver_got(found):
    """From one reading of its socket to the next; the mean is iperf3's own."""
    upload, download = found.series["TCP upload"], found.series["TCP download"]
    assert download.time_s.tolist() == [5.5, 6.0, 6.5, 7.0]
    assert download.value.tolist() == pytest.approx([4.50176, 5.699328, 2.710656, 1.922944])
    assert download.meta["MEAN_VALUE"] == pytest.approx(3.7070983)
    assert download.meta["BYTES_RECVD"] == 927168
    assert upload.meta["TCP_RETRANSMIT"] == 9
    assert (upload.meta["DIRECTION"], upload.meta["COMMAND"].split()[0]) == ("up", "iperf3")


def test_the_window_is_the_senders_in_both_directions(found):
    """At the very times of the throughput, so that it stands in its samples."""
    for name, cwnd in (("TCP upload", [2, 1, 2]), ("TCP download", [38, 26, 21, 21])):
        series = found.series[f"{name}::tcp_cwnd"]
        assert series.time_s.tolist() == found.series[name].time_s.tolist()
        assert series.value.tolist() == cwnd
    assert found.series["TCP download::tcp_ca_state"].value.tolist() == [3, 0, 0, 0]


def test_udp_is_what_its_receiver_reported(found):
    """Its clock began 3.5 round trips after the client: 5 s + 3.5 x 20.02 ms, then every 0.5 s."""
    series = found.series["UDP upload"]
    assert series.time_s[0] == pytest.approx(5.57, abs=0.001)
    assert series.value[:2].tolist() == pytest.approx([9.1735, 9.661036])
    assert series.meta["LOST"] == 1766


def test_round_trips_come_with_delay_variation_and_loss(found):
    """Of irtt both one-way delays, whose sum is the round trip; a lost packet is a gap when it was sent."""
    series = found.series["Ping (ms) UDP BE"]
    assert series.unit == "ms"
    assert (series.time_s[0], series.value[0]) == (0.043192832, 20.020224)
    sums = found.series["Ping (ms) UDP BE::owd_up"].value + found.series["Ping (ms) UDP BE::owd_down"].value
    known = ~pytest.importorskip("numpy").isnan(series.value)
    assert sums[known].tolist() == pytest.approx(series.value[known].tolist(), abs=1e-6)
    lost = found.series["Ping (ms) UDP BE::lost"]
    assert lost.known.tolist() == [1.0, 1.0]
    assert (~known).sum() == 2


def test_an_echo_that_nobody_answered_is_a_gap(found):
    """fping was ended while it waited for it, and said nothing of it: the 13th of 25 was sent at 6.5 s."""
    series, seq = found.series["Ping (ms) ICMP"], found.series["Ping (ms) ICMP::seq"]
    assert len(series) == 25
    (gap,) = [number for number, value in enumerate(series.value) if math.isnan(value)]
    assert seq.value[gap] * 0.5 == pytest.approx(series.time_s[gap], abs=0.001)
    assert sorted(seq.value) == list(range(25))


def test_requests_and_pages_in_milliseconds(found):
    """A request takes a round trip; a page two and the slowest of its objects."""
    assert found.series["Ping (ms) TCP"].value[:2].tolist() == [20.010496, 20.008704]
    page = found.series["HTTP latency"]
    assert page.value[0] == pytest.approx(60.162)
    assert found.series["HTTP latency::total_2"].value[0] == pytest.approx(60.162)
    assert page.meta["FETCHES"] == 21


def test_the_queue_is_the_innermost_discipline(found):
    """The shaper around it and the delay lines have other names; drops count since the sample before."""
    queue = found.series["qdisc_stats_r1-eth0"]
    assert queue.meta["KIND"] == "pfifo"
    assert found.series["qdisc_stats_r1-eth0::backlog_pkts"].known.max() == 20
    last = [json.loads(line) for line in (CAPTURE / "out/qdiscs.jsonl").read_text().splitlines()[1:]]
    total = next(one["qdiscs"] for one in reversed(last) if one["interface"] == "r1-eth0")[-1]["drops"]
    assert found.series["qdisc_stats_r1-eth0::dropped"].known.sum() == total > 1000
    assert {"qdisc tbf 2: r1-eth0", "qdisc netem 1: r1-eth1", "cpu_stats"} <= found.series.keys()


def test_the_data_set_of_the_captures(prepared, found):
    """Flent's metadata and ours, with the plots; nothing is missing."""
    data = dataset(prepared, found, {"kernel": "Linux 7"}, "x.flent.gz")
    assert data.flent["NAME"] == "mini"
    assert (data.flent["LENGTH"], data.flent["TOTAL_LENGTH"], data.flent["STEP_SIZE"]) == (2, 12, 0.5)
    assert (data.flent["HOST"], data.flent["LOCAL_HOST"]) == ("h2", "h1")
    assert data.metadata["path"] == "10mbit 20ms 20p pfifo"
    assert data.metadata["failed"] == {}
    assert [plot["name"] for plot in data.metadata["plots"]] == ["p"]
    info = data.flent["REMOTE_METADATA"]["r1"]["EGRESS_INFO"]
    assert [(one["name"], one["parent"]) for one in info["qdiscs"]] == [("tbf", "root"), ("pfifo", "2:")]
    assert "backlog" in info["tc_stats_post"][0]
    assert data.flent["SYSCTLS"]["net.ipv4.tcp_rmem"] == "10240 87380 16777216"


# --- what goes wrong


def test_a_program_that_failed_takes_its_series_alone(prepared, out):
    """Its reason has the program's own words; the others are there."""
    outcome = json.loads((out / "outcome.json").read_text())
    outcome["programs"]["udp-rtt-1"] |= {"status": 1, "why": "it ended with status 1"}
    (out / "outcome.json").write_text(json.dumps(outcome))
    (out / "udp-rtt-1.json").unlink()
    (out / "udp-rtt-1.err").write_text("Error: no reply from server\n")
    found = collect(prepared.plan, out)
    assert found.failed == {"Ping (ms) UDP BE": "it ended with status 1: Error: no reply from server"}
    assert "Ping (ms) UDP BE" not in found.series
    assert len(found.series["TCP upload"]) == 3


def test_without_sockets_throughput_is_the_receiving_iperf3s(prepared, out):
    """As on a kernel that does not list its sockets, and for SCTP."""
    (out / "sockets.jsonl").unlink()
    found = collect(prepared.plan, out)
    download = found.series["TCP download"]
    assert "TCP download::tcp_cwnd" not in found.series
    assert download.value.mean() == pytest.approx(3.707, rel=0.01)
    assert found.failed == {}


def test_a_server_that_said_nothing_costs_no_series(prepared, out):
    """The sockets have the throughput; a note says so."""
    (out / "tcp-1-server.out").write_text("")
    found = collect(prepared.plan, out)
    assert len(found.series["TCP upload"]) == 3
    assert any("tcp-1-server" in note for note in found.notes)


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path):
    """Of a run that was ended early."""
    file = tmp_path / "cpu.jsonl"
    file.write_text('{"fields":["user"]}\n{"t":0,"cpu":{"cpu":[1,0,0,1,0,0,0,0]}}\n{"t":0.5,"cp')
    assert [line.get("t") for line in samples.lines(file)] == [None, 0]
    assert samples.read_cpu(file) is None


def test_no_outcome_is_an_error(prepared, tmp_path):
    """The runner itself has failed."""
    with pytest.raises(EngineError, match="the test left no outcome"):
        collect(prepared.plan, tmp_path)


@pytest.mark.parametrize("text", ["", "nonsense", "{}", '{"round_trips": [], "stats": {}}', "[1, 2]"])
def test_what_irtt_did_not_print_is_one_sentence(text):
    """Whatever stands there."""
    with pytest.raises(DataError, match="irtt"):
        read_irtt(text, 0.0)


def test_an_irtt_that_was_ended_before_it_had_measured_says_so():
    """Regression: the message was one of a reader of JSON."""
    with pytest.raises(DataError, match="ended before irtt had its first answer"):
        read_irtt("", 0.0, ended_s=1.0)


def test_pings_without_any_answer():
    """Are no series of gaps."""
    with pytest.raises(DataError, match="no answer came"):
        outputs.read_ping("[5.0] 10.0.2.1 : [0], timed out (NaN avg, 100% loss)\n", 0, began_s=0, interval_s=1, count=2)


def test_numbers_of_a_command():
    """The last number of each line, at the date that it begins with, or at the flow's own steps."""
    found = outputs.read_command("1704067205.5 load 0.25\n1704067206.0 load 1e3\n", 0.0, 1.0, 1704067200.0)
    assert [(row[0], row[1]) for row in found.rows] == [(5.5, 0.25), (6.0, 1000.0)]
    found = outputs.read_command("7 of 9\nnothing\n-3\n", 2.0, 0.5, 0.0)
    assert [(row[0], row[1]) for row in found.rows] == [(2.0, 9.0), (3.0, -3.0)]
    with pytest.raises(DataError, match="printed no number: no such file"):
        outputs.read_command("no such file\n", 0.0, 1.0, 0.0)


def trip(number, lost="false", rtt_s=0.01):
    """A packet of irtt's, sent at that second."""
    stamps = {"client": {"send": {"wall": number * 10**9}, "receive": {"wall": number * 10**9 + int(rtt_s * 1e9)}}}
    delay = {"delay": {"rtt": int(rtt_s * 1e9), "send": 6 * 10**6, "receive": 4 * 10**6}}
    ipdv = {"ipdv": {"rtt": -2000, "send": -1000, "receive": -1000}} if number == 3 else {}
    return {"seqno": number, "lost": lost, "timestamps": stamps, **({} if lost != "false" else delay | ipdv)}


def test_a_call_has_delay_jitter_and_what_was_lost_before_each_packet():
    """As VoIP tests of Flent name them; an answer that was lost is no loss of the callee's."""
    text = json.dumps({"round_trips": [trip(0), trip(1, "true_up"), trip(2), trip(3)], "stats": {}})
    found = read_irtt(text, 0.0, voip=True)
    assert [row[2].get("loss") for row in found.rows] == [0.0, None, 1.0, 0.0]
    assert found.rows[2][2]["delay"] == 6.0
    assert [row[2].get("jitter") for row in found.rows] == [None, None, None, pytest.approx(0.001)]
    text = json.dumps({"round_trips": [trip(0), trip(1, "true_down"), trip(2, "true_up"), trip(4)], "stats": {}})
    found = read_irtt(text, 0.0, voip=True)
    assert [row[2].get("loss") for row in found.rows] == [0.0, None, None, 1.0]
    assert (found.meta["PACKET_LOSS_RATE"], found.meta["UPSTREAM_LOSS_RATE"]) == (0.5, 0.25)


def test_an_interrupted_irtt_says_nothing_of_packets_on_their_way():
    """Those sent within three of the longest round trips before its end; what was lost before is lost."""
    trips = [trip(0), trip(1, rtt_s=0.9), *(trip(number, "true") for number in (2, 3, 4, 5))]
    text = json.dumps({"round_trips": trips, "stats": {"upstream_loss_percent": 66.7}})
    assert len(read_irtt(text, 0.0).rows) == 6
    found = read_irtt(text, 0.0, ended_s=5.5)
    assert [row[0] for row in found.rows] == [0.01, 1.9, 2.0]
    assert found.meta["PACKETS_SENT"] == 3
    assert found.meta["UPSTREAM_LOSS_RATE"] == pytest.approx(1 / 3)


def test_a_flow_that_stalls_has_zeros_until_its_end():
    """Or its median and the fairness of its share would be those of its lucky moments."""
    times = [5.0, 5.2, 5.4, 5.6, 5.8, 6.0]
    receiver = samples.SocketPair(times[1:], [[0], [25_000], [25_000], [25_000], [25_000]])
    sockets = samples.Sockets({"bytes_received": 0}, {"h2": times}, {("h2", "a", "b"): receiver})
    assert samples.throughput(sockets, receiver, "h2", 5.8) == [(5.4, pytest.approx(1.0)), (5.6, 0.0), (5.8, 0.0)]
    assert samples.throughput(sockets, receiver, "h2", 5.0) == [(5.4, pytest.approx(1.0))]


# --- plans of other tests


def test_a_path_of_several_round_trips_has_a_target_for_each():
    """Where the test takes any number; one that needs a single target takes the first."""
    many = prepare(Trial("rtt_fair_var", path="20mbit 20ms,80ms,160ms"))
    assert (many.place.targets, many.expanded.hosts) == (("h2", "h3", "h4"), 3)
    assert prepare(Trial("rtt_fair_var", path="20mbit 20ms")).expanded.hosts == 2
    assert prepare(Trial("rrul", path="20mbit 20ms,80ms")).expanded.hosts == 1


def test_a_mistyped_parameter_is_told():
    """It is kept as a label, as in Flent, and a word that is nothing like a parameter is one without a note."""
    notes = prepare(Trial("tcp_nup", path="10mbit 50ms", parameters={"upload_stream": "4", "room": "12"})).notes
    assert notes == ("tcp_nup has no parameter upload_stream, which is kept as a label; did you mean upload_streams?",)


def test_many_equal_flows_share_programs():
    """A thousand of them are eight programs of 125 streams, whose series keep their order."""
    plan = prepare(Trial("tcp_upload_1000", path="1gbit 20ms")).plan
    sizes = [len(process.flows) for process in plan.processes if process.port]
    assert sizes == [125] * 8
    clients = [one["argv"] for one in plan.data["programs"] if one["id"] == "tcp-1"]
    assert clients[0][clients[0].index("-P") :][:2] == ["-P", "125"]
    assert clients[0][clients[0].index("-i") + 1] == "0"
    names = [flow.series for process in plan.processes for flow in process.flows if process.port]
    assert len(set(names)) == 1000


def test_commands_beside_a_test_are_part_of_its_plan():
    """Those before and after it are typed, those of this machine are not run inside."""
    commands = (
        TrialCommand("capture", "tcpdump -i r1-eth0", When.MONITOR, node="r1", kill=True),
        TrialCommand("outside", "true", When.MONITOR, on_host=True),
        TrialCommand("before", "true", When.PRE),
    )
    plan = prepare(Trial("tcp_1up", path="10mbit 50ms", commands=commands)).plan
    (one,) = [program for program in plan.data["programs"] if program["id"].startswith("monitor")]
    assert (one["node"], one["argv"], one["stop_s"]) == ("r1", ["sh", "-c", "tcpdump -i r1-eth0"], 70.0)


def test_ipv6_where_a_test_asks_for_it():
    """The network of the path gets addresses, and the flows use them."""
    prepared = prepare(Trial("rrul46", path="10mbit 50ms"))
    clients = [
        one["argv"] for one in prepared.plan.data["programs"] if one["id"].startswith("tcp") and "-c" in one["argv"]
    ]
    addresses = {argv[argv.index("-c") + 1] for argv in clients}
    assert addresses == {"10.0.2.1", "fd00:0:0:2::1"}


def test_the_name_of_a_data_file():
    """Says what it is, and holds no date."""
    trial = Trial("rrul", path="10mbit 50ms fq_codel", seed=3, title="First try!", parameters={"a": "b c"})
    name = file_name(trial, prepare(trial).expanded)
    assert name == "rrul-10mbit-50ms-fq_codel-seed3-a-b-c.First-try.flent.gz"
    trial = Trial("tcp_nup", path="10mbit 50ms", parameters={"upload_streams": "num_cpus"})
    name = file_name(trial, prepare(trial).expanded)
    assert name == f"tcp_nup-10mbit-50ms-seed1-upload_streams-{os.cpu_count()}.flent.gz"


def test_delays_of_queues_side_by_side_are_not_added_up(tmp_path):
    """Two leaves of CoDel below HTB: their drops and backlog have a sum, and of their delays the longer counts."""
    leaf = {"kind": "codel", "parent": "1:10", "drops": 3, "backlog": 1514, "ldelay": 5000}
    qdiscs = [{"kind": "htb", "handle": "1:", "root": True}]
    qdiscs += [{**leaf, "handle": "10:"}, {**leaf, "handle": "20:", "parent": "1:20", "ldelay": 4000}]
    line = {"t": 1.0, "node": "s1", "interface": "s1-eth2", "qdiscs": qdiscs}
    (tmp_path / "qdiscs.jsonl").write_text(json.dumps(line) + "\n" + json.dumps({**line, "t": 2.0}) + "\n")
    found = samples.read_qdiscs(tmp_path / "qdiscs.jsonl")["qdisc_stats_s1-eth2"].rows[-1]
    assert (found[1], found[2]["delay"]) == (3028.0, 5.0)


def qdisc_lines(folder, *lines):
    """A file of readings in a folder, which is made if need be."""
    folder.mkdir(exist_ok=True)
    (folder / "qdiscs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder / "qdiscs.jsonl"


def test_interfaces_of_one_name_are_kept_apart(tmp_path):
    """Of two nodes that both have an eth0, whose readings would make one series; other names stay short."""
    queue = {"kind": "pfifo", "handle": "1:", "root": True, "drops": 0}
    readings = [("r1", "eth0", 100), ("r2", "eth0", 200), ("r1", "eth1", 300)]
    found = samples.read_qdiscs(
        qdisc_lines(
            tmp_path,
            *(
                {"t": t, "node": node, "interface": name, "qdiscs": [{**queue, "backlog": backlog}]}
                for t in (1.0, 2.0)
                for node, name, backlog in readings
            ),
        )
    )
    values = {name: [row[1] for row in one.rows] for name, one in found.items()}
    assert values == {
        "qdisc_stats_r1 eth0": [100, 100],
        "qdisc_stats_r2 eth0": [200, 200],
        "qdisc_stats_eth1": [300, 300],
    }


def test_a_queue_that_the_test_names_is_there_once():
    """Under the name that the test gives it."""
    trial = Trial("tcp_1up", path="10mbit 20ms", parameters={"qdisc_stats_hosts": "r1,r2"})
    prepared = prepare(trial)
    found = collect(prepared.plan, CAPTURE / "out")
    names = [name for name in found.series if name.startswith("qdisc_stats_") and name.count("::") == 0]
    assert names == ["qdisc_stats_r1", "qdisc_stats_r2"]
    assert found.series["qdisc_stats_r1"].meta["INTERFACE"] == "r1-eth0"
    assert found.series["qdisc_stats_r2"].meta["INTERFACE"] == "r2-eth0"


def test_an_interface_without_its_node_is_the_one_along_the_path():
    """And not the source's, which has none of this name."""
    plan = prepare(Trial("qdisc-stats", path="10mbit 20ms", parameters={"interface": "r1-eth0"})).plan
    assert {"node": "h1", "interface": "r1-eth0"} not in plan.data["samplers"]["qdiscs"]
    assert collect(plan, CAPTURE / "out").series["qdisc-stats"].meta["NODE"] == "r1"
    named = prepare(Trial("qdisc-stats", path="10mbit 20ms", parameters={"host": "r1", "interface": "r1-eth1"})).plan
    assert [flow.options["host"] for flow in named.expanded.flows] == ["r1"]


def test_marks_and_delay_of_cake_are_those_of_its_tins(tmp_path):
    """Marks have a sum; of the delays the longest of a tin that is in use; each tin is a series of its own."""
    one = {"sent_packets": 5, "drops": 0, "ecn_mark": 4, "backlog_bytes": 1514, "avg_delay_us": 7000, "bulk_flows": 1}
    idle = {"sent_packets": 9, "drops": 2, "ecn_mark": 1, "backlog_bytes": 0, "avg_delay_us": 90000, "bulk_flows": 0}

    def at(t, marks):
        tins = [idle, {**one, "ecn_mark": marks}, idle]
        cake = {"kind": "cake", "handle": "1:", "root": True, "drops": 4, "backlog": 1514, "tins": tins}
        return {"t": t, "node": "r1", "interface": "r1-eth0", "qdiscs": [cake]}

    found = samples.read_qdiscs(qdisc_lines(tmp_path, at(1.0, 4), at(2.0, 11)))
    last = found["qdisc_stats_r1-eth0"].rows[-1]
    assert (last[1], last[2]["ecn_mark"], last[2]["delay"]) == (1514.0, 7.0, 7.0)
    tin = found["qdisc cake Best Effort r1-eth0"].rows[-1]
    assert (tin[1], tin[2]["ecn_mark"], tin[2]["delay"], tin[2]["sent_pkts"]) == (1514.0, 7.0, 7.0, 5.0)
    assert {"qdisc cake Bulk r1-eth0", "qdisc cake Voice r1-eth0"} < found.keys()


def test_the_beginning_of_udp_counts_its_own_round_trips(prepared, out):
    """Another target may be nearer: here the connection of the first TCP flow has 1 ms."""
    rows = [json.loads(line) for line in (out / "sockets.jsonl").read_text().splitlines()]
    rtt = rows[0]["fields"].index("min_rtt_ms")
    for line in rows[1:]:
        for row in line["sockets"]:
            row[rtt] = row[rtt] if ":5203" in (row[0] + row[1]) else 1.0
    (out / "sockets.jsonl").write_text("".join(json.dumps(line) + "\n" for line in rows))
    assert collect(prepared.plan, out).series["UDP upload"].time_s[0] == pytest.approx(5.57, abs=0.001)


def test_what_is_sampled_after_the_test_does_not_count(found):
    """Regression: samplers went on to 19 s while programs waited for answers, and that time was part of all means."""
    sampled = [series for name, series in found.series.items() if series.source in ("qdiscs.jsonl", "cpu.jsonl")]
    assert sampled
    for series in sampled:
        assert 11.5 <= series.time_s[-1] <= 12.25
