# SPDX-License-Identifier: BSD-3-Clause
"""Captures of a running pocket: exact times, whole files, nothing lost unsaid, and no network time taken."""

import json
import os
import shutil
import subprocess
import threading
import time
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from pockets import needs_pocket, type_

from linklab.capture import extcap
from linklab.capture.session import CaptureOrder, CaptureSession, interfaces
from linklab.cli import main
from linklab.engine.api import Background, Clock, Typed
from linklab.engine.choice import load_engine
from linklab.linux import pcapng
from linklab.terminal import attach
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords
from linklab.topology import Topology

pytestmark = needs_pocket
TOPOLOGY = Path(__file__).parents[2] / "topologies" / "Lab 3.mn"
AGENT = "env PYTHONSAFEPATH=1 python3 -m linklab.agent.capture"


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    """h1 - s1 - h2 of Lab 3 as fast as it goes, 20 ms before what h2 sends; its working folder."""
    folder = tmp_path_factory.mktemp("captured")
    (folder / "run").mkdir(mode=0o700)
    (folder / "work").mkdir()
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")
    with load_engine("pocket").start(
        Topology.load(TOPOLOGY), workdir=folder / "work", clock=Clock.PACED, profile="ideal"
    ) as network:
        network.paced.set_speed(float("inf"))
        type_(network, "tc qdisc add dev h2-eth0 root netem delay 20ms", "h2")
        clock = partial(ClockWords, network.paced)
        with AttachServer(network.link, network.nodes, "Lab 3", clock, folder / "work") as server:
            network.attach_id = server.id
            yield network, folder / "work"
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before


def blocks_of(path: Path) -> list[tuple[int, bytes]]:
    """All blocks of a file, none of them cut."""
    data = path.read_bytes()
    blocks = pcapng.BlockReader().feed(data)
    assert sum(len(block) for _, block in blocks) == len(data)
    return blocks


def packets_of(path: Path) -> list[pcapng.CapturedPacket]:
    """The packets of a file."""
    return [pcapng.read_packet(block) for kind, block in blocks_of(path) if kind == pcapng.PACKET]


def counters_of(path: Path) -> list[tuple[int, int, int]]:
    """Interface, received and dropped of a file's last counters."""
    found = {}
    for kind, block in blocks_of(path):
        if kind == pcapng.STATISTICS:
            number, *counts = pcapng.read_statistics(block)
            found[number] = (number, *counts)
    return [found[number] for number in sorted(found)]


@contextmanager
def captured(*words: str):
    """`linklab capture` beside the block, which begins when it listens; afterwards it has ended."""
    program = subprocess.Popen(
        ["python3", "-m", "linklab", "capture", *words],
        executable=shutil.which("python3"),
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert program.stderr is not None
    line = program.stderr.readline()
    assert "capturing" in line, line + program.stderr.read()
    try:
        yield program
    finally:
        if program.poll() is None:
            program.send_signal(2)
        program.said = program.stderr.read()
        assert program.wait(30) == 0, program.said


def test_a_ping_takes_what_netem_says(running, tmp_path):
    """Request and reply at h1 are 20 ms apart, at s1 as well; the clock agrees with their times."""
    network, _ = running
    type_(network, "ping -c 1 10.0.0.2", "h1")
    out = tmp_path / "ping.pcapng"
    with captured("h1", "s1:eth2", "-f", "icmp", "-o", str(out)):
        begun_s = network.now_s()
        type_(network, "ping -c 3 -i 0.5 10.0.0.2", "h1")
        ended_s = network.now_s()
    packets = packets_of(out)
    assert len(packets) == 12
    at_h1 = [packet for packet in packets if packet.interface == 0]
    assert [packet.direction for packet in at_h1] == [pcapng.OUTBOUND, pcapng.INBOUND] * 3
    for request, reply in zip(at_h1[::2], at_h1[1::2], strict=True):
        assert 0 <= reply.time_ns - request.time_ns - 20_000_000 < 100_000
    assert begun_s <= packets[0].time_ns / 1e9 <= packets[-1].time_ns / 1e9 <= ended_s
    assert counters_of(out) == [(0, 6, 0), (1, 6, 0)]


@pytest.mark.skipif(shutil.which("capinfos") is None, reason="Wireshark's capinfos is not installed")
def test_paused_time_leaves_a_whole_file_with_all_packets(running, tmp_path):
    """What was captured before the pause is in the file at once; the capture ends though nothing inside can answer."""
    network, _ = running
    out = tmp_path / "paused.pcapng"
    network.paced.set_speed(1.0)
    try:
        with captured("h1", "-f", "icmp", "-o", str(out)) as program:
            network.run([Typed("h1", "ping -i 0.1 10.0.0.2", Background())])
            time.sleep(1.0)
            network.paced.pause()
            time.sleep(0.5)
            before = len(packets_of(out))
            sent = before // 2
            time.sleep(0.5)
            assert len(packets_of(out)) == before > 8
            program.send_signal(2)
            program.wait(10)
        assert counters_of(out) == [(0, before, 0)]
        about = subprocess.run(["capinfos", "-c", "-r", str(out)], capture_output=True, text=True, check=True).stdout
        assert str(before) in about
    finally:
        network.paced.resume()
        network.paced.set_speed(float("inf"))
    said = network.stop("h1").output
    assert int(said.partition(" packets transmitted")[0].rpartition("\n")[2]) >= sent


def test_a_wrong_place_names_what_there_is(running, capsys):
    """Node and interface; without one, all are listed."""
    assert main(["capture", "h7"]) == 2
    assert "there is no node h7 with interfaces here; there are client, h1, h2, s1" in capsys.readouterr().err
    assert main(["capture", "h1:eth9"]) == 2
    assert "h1 has no interface eth9; there are h1:h1-eth0, h1:lo" in capsys.readouterr().err
    assert main(["capture"]) == 2
    assert "There are h1:h1-eth0, h2:h2-eth0, s1:s1-eth1, s1:s1-eth2, s1:s1\n" in capsys.readouterr().err
    assert not list(Path.cwd().glob("*.pcapng"))


def test_a_fast_flow_is_counted_packet_by_packet(running, tmp_path):
    """What the interface counted is in the file, and what h1 sends comes in at s1."""
    network, _ = running
    network.run([Typed("h2", "iperf3 -s", Background())])
    out = tmp_path / "fast.pcapng"
    counter = "cat /sys/class/net/h1-eth0/statistics/tx_packets /sys/class/net/h1-eth0/statistics/rx_packets"
    for node in ("h1", "h2#2", "client"):  # whose solicitations come at any time
        type_(network, "sysctl -w net.ipv6.conf.all.disable_ipv6=1", node)
    with captured("h1", "s1:s1-eth1", "-s", "128", "-o", str(out)) as program:
        before = [int(each) for each in type_(network, counter, "h1").output.split()]
        type_(network, "iperf3 -c 10.0.0.2 -n 200M", "h1", deadline_s=300)
        after = [int(each) for each in type_(network, counter, "h1").output.split()]
    network.stop("h2")
    packets = packets_of(out)
    sent, received = ([p for p in packets if p.interface == 0 and p.direction == way] for way in (2, 1))
    counted = [late - early for early, late in zip(before, after, strict=True)]
    # before and after the counters are read a neighbour may be asked for, or a connection's last packet pass
    assert all(0 <= found - number <= 10 for found, number in zip((len(sent), len(received)), counted, strict=True))
    assert sum(packet.length for packet in sent) > 200_000_000
    assert max(len(packet.data) for packet in packets) == 128
    there = [p for p in packets if p.interface == 1 and p.direction == pcapng.INBOUND]
    assert [packet.length for packet in there] == [packet.length for packet in sent]
    assert "dropped" not in program.said


def test_a_reader_that_takes_nothing_stops_nobody(running):
    """The flow ends as ever; what found no room is counted, and the rest is whole."""
    network, work = running
    network.run([Typed("h2", "iperf3 -s", Background())])
    with CaptureSession(attach.connect(network.attach_id), work, CaptureOrder(["h1"])) as session:
        stream = session.stream()
        while not session.listens:
            next(stream)
        type_(network, "iperf3 -c 10.0.0.2 -n 200M", "h1", deadline_s=300)
        session.stop()
        blocks = [block for found in stream for block in found]
    network.stop("h2")
    packets = [pcapng.read_packet(block) for kind, block in blocks if kind == pcapng.PACKET]
    assert 60 * 2**20 < sum(len(packet.data) for packet in packets) < 80 * 2**20
    assert session.dropped > 100
    assert [path.name for path in work.iterdir() if path.name.startswith(".")] == []


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_wireshark_lists_and_captures_it(running, tmp_path):
    """The real tshark, by a program in its extcap folder."""
    network, _ = running
    (tmp_path / "extcap").mkdir()
    program = tmp_path / "extcap" / extcap.SCRIPT
    program.write_text(extcap.script())
    program.chmod(0o755)
    env = {**os.environ, "WIRESHARK_EXTCAP_DIR": str(program.parent), "HOME": str(tmp_path)}
    # to root Wireshark's programs refuse another folder, so in a namespace we are somebody else
    other = ["unshare", "--user", "--map-user=1000", "--map-group=1000"] if os.getuid() == 0 else []
    listed = subprocess.run([*other, "tshark", "-D"], capture_output=True, text=True, env=env, check=False).stdout
    name = f"linklab:{network.attach_id}:h1:h1-eth0"
    assert f"{name} (Lab 3 ({network.attach_id}) h1:h1-eth0)" in listed
    shown = subprocess.Popen(
        [*other, "tshark", "-i", name, "-f", "icmp", "-c", "4", "-T", "fields", "-e", "icmp.type", "-e", "icmp.seq"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    )
    stop = threading.Event()
    pinging = threading.Thread(
        target=lambda: [type_(network, "ping -c 1 10.0.0.2", "h1") for _ in iter(stop.is_set, True)]
    )
    pinging.start()
    try:
        out, said = shown.communicate(timeout=60)
    finally:
        stop.set()
        pinging.join()
    assert sorted(out.split()[::2]) == ["0", "0", "8", "8"], said
    assert "Error" not in said


def test_it_lists_interfaces(running):
    """Those of every node, the kernel's own left out."""
    network, _ = running
    there = interfaces(attach.connect(network.attach_id))
    assert there["h1"] == ["h1-eth0", "lo"]
    assert there["s1"] == ["s1-eth1", "s1-eth2", "s1"]
    assert there["client"] == ["lo"]


@pytest.mark.long
def test_capturing_disturbs_no_flow(tmp_path):
    """On the virtual clock a shaped flow gives the same bytes whether its packets are captured or idle loopbacks' are.

    The program runs both times, since its process takes a number, and a process's chance depends on its number.
    """
    outputs, ends, kept = [], [], []
    for places in (["h1:lo", "h2:lo"], ["h1", "s1:eth2"]):
        work = tmp_path / places[0].replace(":", "-")
        (work / "out").mkdir(parents=True)
        (work / "order.json").write_text(json.dumps({"places": places, "out": "/lab/out", "snaplen": 128}))
        with load_engine("pocket").start(Topology.load(TOPOLOGY), workdir=work, seed=3) as running:
            type_(running, "tc qdisc add dev s1-eth2 root tbf rate 100mbit burst 32k limit 200k")
            type_(running, "tc qdisc add dev h2-eth0 root netem delay 5ms", "h2#2")
            running.run([Typed("h2", "iperf3 -s", Background())])
            running.run([Typed("client", f'{AGENT} "$(cat order.json)"', Background())])
            outputs.append(type_(running, "sleep 3; iperf3 -c 10.0.0.2 -n 5M -J", "h1").output)
            ends.append(type_(running, "ping -c 5 -i 0.1 10.0.0.2", "h1").end_s)
            running.stop("client")
            kept.append(len(packets_of(work / "out" / "000001")))
    assert kept[0] == 0
    assert kept[1] > 1000
    assert outputs[0] == outputs[1]
    assert abs(ends[0] - ends[1]) < 10e-6
