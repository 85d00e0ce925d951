# SPDX-License-Identifier: BSD-3-Clause
"""Live readings of a running network: what `ss`, `tc -s` and ping say, at the same network time, and no other bytes."""

import contextlib
import itertools
import json
import re
import time

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab.engine.api import Background, Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.live import LiveFeed, LiveHistory
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords
from linklab.topology import Topology

pytestmark = needs_pocket

SHAPER = "tc qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 10000 limit 60000"
WATCHER = """
import ctypes, subprocess, sys, time
ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # be woken when asked for, not up to 50 us later
for number in range(int(sys.argv[1])):
    now = time.monotonic()
    time.sleep((int(now * 10 + 0.387) + 0.613) / 10 - now)
    t = time.monotonic()
    tc = subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", "s1-eth2"], capture_output=True, text=True).stdout
    ss = subprocess.run(["mnexec", "-a", sys.argv[2], "ss", "-tin", "dport", "= 5201"], capture_output=True, text=True)
    print("AT", t, tc.replace("\\n", " "), "SS", ss.stdout.replace("\\n", " "), flush=True)
"""
LATE_S = 1e-4
"""Our program may read so much later than theirs; a full frame takes 1.2 ms here."""
FLOW = "iperf3 -c 10.0.0.2 -t 4"


@contextlib.contextmanager
def network(tmp_path, clock=Clock.VIRTUAL, profile="ideal"):
    """Lab 8's network with 20 ms of delay and 10 Mbit/s behind s1, and its attach server."""
    topology = Topology.load(TOPOLOGY)
    with PocketEngine().start(topology, workdir=tmp_path, clock=clock, profile=profile) as net:
        words = (lambda changed: ClockWords(net.paced, changed)) if net.paced is not None else None
        with AttachServer(net.link, net.nodes, "Lab 8", words, tmp_path) as server:
            done = [
                *net.run([Typed("h1", "tc qdisc add dev h1-eth0 root netem delay 10ms")]),
                *net.run([Typed("h2", "tc qdisc add dev h2-eth0 root netem delay 10ms")]),
                *net.run([Typed("client", SHAPER)]),
            ]
            assert [one.exit_status for one in done] == [0, 0, 0], done
            yield net, server, topology


def wait_for(what, within_s=60.0):
    """Until it is so, wall time."""
    until_s = time.monotonic() + within_s
    while not what():
        assert time.monotonic() < until_s
        time.sleep(0.01)


def value_at(history, key, time_s):
    """What a track shows at a moment; it must have begun."""
    times, values = history.tracks[key].arrays
    place = int(times.searchsorted(time_s + LATE_S)) - 1
    assert place >= 0, (key, time_s, times[0])
    return float(values[place])


def test_window_queue_drops_and_rate_are_those_of_ss_and_tc(tmp_path):
    """A flow through a shaper whose buffer it fills, read at the same instants by our program and by theirs."""
    (tmp_path / "watch.py").write_text(WATCHER)
    with network(tmp_path) as (net, server, topology):
        history = LiveHistory(topology)
        feed = LiveFeed(server.connect, history)
        with feed.looking():
            wait_for(lambda: feed.is_open)
            net.run([Typed("h2", "iperf3 -s", Background())])
            pid = type_(net, "pgrep -f mininet:h1").output.split()[0]
            ready_s = net.link.request("now", deadline_s=5, what="now")
            ready_s = ready_s["clock_s"] - ready_s["now_s"]
            net.run([Typed("client", f"python3 watch.py 45 {pid}", Background())])
            type_(net, FLOW, "h1")
            text = net.finished("client").output
            wait_for(lambda: history.time_s > 4)
        feed.wait(10)
    (key,) = [key for key in history.tracks if key.startswith("cwnd h1 ")]
    flow = key.removeprefix("cwnd ")
    compared, most, acked, wrong = 0, 0, {}, []
    for line in re.findall(r"^AT .*$", text, re.M):
        at, tc, ss = re.fullmatch(r"AT (\S+) (.*) SS (.*)", line).groups()
        found = [part for part in re.split(r"(?=ESTAB)", ss) if f":{flow.split()[1].rpartition(':')[2]} " in part]
        if not found or "bytes_acked:" not in found[0]:
            continue
        time_s = float(at) - ready_s
        if time_s < history.tracks[key].arrays[0][0] - 1e-3:  # it had sent less than gives it a track
            continue
        acked[time_s] = int(re.search(r"bytes_acked:(\d+)", found[0])[1])
        (tbf,) = [qdisc for qdisc in json.loads(tc) if qdisc["kind"] == "tbf"]
        told = {
            key: int(re.search(r" cwnd:(\d+)", found[0])[1]),
            f"rtt {flow}": float(re.search(r" rtt:([\d.]+)", found[0])[1]) / 1000,
            "queue s1-eth2": tbf["backlog"],
            "packets s1-eth2": tbf["qlen"],
            "drops s1-eth2": tbf["drops"],
        }
        wrong += [
            (name, time_s, value, seen)
            for name, value in told.items()
            if (seen := value_at(history, name, time_s)) != pytest.approx(value, abs=1e-6)
        ]
        most, compared = max(most, tbf["backlog"]), compared + 1
    assert compared >= 30
    assert len(wrong) <= compared * 5 * 0.05, wrong  # a segment may come in between
    assert most > 50_000  # the buffer was full
    off = [
        round(value_at(history, f"rate {flow}", time_s) * 0.1 / 8 - (acked[time_s] - acked[before_s]))
        for before_s, time_s in itertools.pairwise(sorted(acked))
        if abs(time_s - before_s - 0.1) < 1e-6
    ]
    assert all(abs(bytes_) <= 2 * 2 * 1448 for bytes_ in off), off  # an acknowledgment, of two segments, at both ends
    assert off.count(0) >= 0.75 * len(off) >= 22, off
    levels = {level.label: level.value for level in history.levels()}
    assert levels["limit of s1-eth2"] == 60_000
    assert levels["rate of s1-eth2"] == 10e6
    assert history.tracks[f"rate {flow}"].series.label == "h1 → h2:5201"


def test_a_pings_round_trip_is_what_ping_prints(tmp_path):
    """With the prices of nothing, to the microsecond; the address has its node's name."""
    with network(tmp_path) as (net, server, topology):
        history = LiveHistory(topology)
        feed = LiveFeed(server.connect, history)
        with feed.looking():
            wait_for(lambda: feed.is_open)
            printed = type_(net, "ping -c 5 -i 0.3 10.0.0.2; sleep 0.3", "h1").output
            wait_for(lambda: "ping h1 → h2 10.0.0.2" in history.tracks)
            wait_for(lambda: len(history.tracks["ping h1 → h2 10.0.0.2"].arrays[0]) >= 4)
    times = [float(text) for text in re.findall(r"time=([\d.]+) ms", printed)]
    _, values = history.tracks["ping h1 → h2 10.0.0.2"].arrays
    seen = [round(1000 * value, 6) for value in values.tolist()]
    assert len(times) == 5
    assert all(min(abs(one - other) for other in times) < 0.06 for one in seen), (seen, times)


@pytest.mark.parametrize("profile", ["desktop"])
def test_looking_leaves_no_trace_in_a_run(tmp_path, profile):
    """The same bytes of iperf3 and ping on the virtual clock, looked at or not."""
    outputs = []
    for looks in (False, True):
        folder = tmp_path / str(looks)
        folder.mkdir()
        with network(folder, profile=profile) as (net, server, topology):
            history = LiveHistory(topology)
            feed = LiveFeed(server.connect, history)
            with feed.looking() if looks else contextlib.nullcontext():
                wait_for(lambda feed=feed, looks=looks: feed.is_open is looks)
                net.run([Typed("h2", "iperf3 -s", Background())])
                done = type_(net, "ping -c 3 10.0.0.2", "h1").output
                done += type_(net, f"{FLOW} -J", "h1").output
                done += type_(net, "tc -s qdisc show dev s1-eth2").output
                if looks:
                    wait_for(lambda h=history: h.time_s > 4)
                    assert any(key.startswith("cwnd h1 ") for key in history.tracks)
            outputs.append(done)
    assert outputs[0] == outputs[1]


def test_on_the_paced_clock_ten_readings_a_second_and_none_while_paused(tmp_path):
    """Sped up eight times there are still about ten a second of wall time."""
    with network(tmp_path, clock=Clock.PACED, profile="desktop") as (net, server, topology):
        history = LiveHistory(topology)
        net.run([Typed("h1", "ping -i 0.02 10.0.0.2 > /dev/null", Background())])
        with LiveFeed(server.connect, history).looking():
            wait_for(lambda: history.version >= 5)
            began, version, from_s = time.monotonic(), history.version, history.time_s
            time.sleep(3)
            count, went_s = history.version - version, history.time_s - from_s
            took_s = time.monotonic() - began
            assert count / went_s >= 7
            if went_s >= 0.9 * took_s:
                assert count / went_s <= 12
            else:  # a busy machine slowed the network down, and the readings follow the wall
                assert count / took_s <= 20
            server.obey_clock(["pause"])
            time.sleep(0.5)
            version = history.version
            time.sleep(1)
            assert history.version == version
            server.obey_clock(["step", "40ms"])  # without a shorter period: one reading at most
            wait_for(lambda: history.version >= version + 2)
            server.obey_clock(["resume"])
            server.obey_clock(["speed", "8"])
            time.sleep(1)
            began, version, from_s = time.monotonic(), history.version, history.time_s
            time.sleep(2)
            took_s = time.monotonic() - began
            assert history.time_s > from_s
            assert (history.version - version) / took_s <= 20
