# SPDX-License-Identifier: BSD-3-Clause
"""Requests back to back, and connections in their end: on this machine's loopback."""

import contextlib
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from linklab.experiment import connections, rpc
from linklab.experiment.model import Traffic, TrafficFlow
from linklab.linux.sock_diag import FIELDS, EndedSockets

PROGRAM = Path(__file__).resolve().parents[2] / "linklab/agent/trial_rpc.py"


@pytest.fixture
def server():
    """A server with two ports, the second with small buffers; its process, and the ports."""
    with contextlib.ExitStack() as stack:
        held = [stack.enter_context(socket.socket()) for _ in range(2)]
        for each in held:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in held]
    argv = [sys.executable, str(PROGRAM), "serve", f"{ports[0]}:cubic", f"{ports[1]}:reno:20000"]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", ports[1])).close()
            break
        except OSError:
            assert time.monotonic() < deadline
            time.sleep(0.05)
    yield process, ports
    process.kill()
    process.wait()


def ask(port: int, *words: str) -> subprocess.CompletedProcess[str]:
    """What a client prints."""
    argv = [sys.executable, str(PROGRAM), "ask", "127.0.0.1", str(port), "--length", "0.5", *words]
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)


def test_requests_follow_each_other_on_every_connection(server):
    """An answer is asked for when the one before is there, and both ends count the same bytes."""
    process, ports = server
    done = ask(ports[0], "--request", "300000", "--response", "2000", "--connections", "3", "--congestion", "reno")
    assert (done.returncode, done.stderr) == (0, "")
    found = rpc.read(done.stdout)
    assert sorted(found) == [1, 2, 3]
    process.send_signal(2)
    ends = rpc.read_server(process.communicate(timeout=20)[0])
    for one in found.values():
        assert one.answers
        assert one.peer_port == ports[0]
        for (when_ns, _), (next_ns, took_ns) in zip(one.answers, one.answers[1:], strict=False):
            assert when_ns <= next_ns - took_ns
        remote = ends[one.port, one.peer_port]
        whole = len(one.answers)
        asked = remote["bytes_received"] - rpc.HEAD_BYTES
        assert whole * 300_000 <= asked <= (whole + 1) * 300_000
        assert whole * 2000 <= one.info["bytes_received"] <= (whole + 1) * 2000
        end = connections.rpc_end(one, remote, 0.0, one.ended_ns - 10**9, asks=True)
        assert end.payload_bytes == asked + one.info["bytes_received"]
        assert (end.ended_s, end.transactions) == (1.0, whole)
        series = connections.answers(one, 0)
        assert [row[1] for row in series.rows] == [took_ns / 1e6 for _, took_ns in one.answers]


def test_a_stream_is_a_request_that_never_ends(server):
    """It has no answers, and ends with its time."""
    _, ports = server
    began = time.monotonic()
    (one,) = rpc.read(ask(ports[1], "--request", "stream", "--buffer", "30000").stdout).values()
    assert time.monotonic() - began < 10
    assert not one.answers
    assert one.info["bytes_sent"] > 100_000


def test_what_cannot_be_had_is_said(server):
    """A congestion control that the kernel lacks, and a port on which nobody listens."""
    _, ports = server
    done = ask(ports[0], "--congestion", "nonsense")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "nonsense" in done.stderr
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        done = ask(free.getsockname()[1])
    assert done.returncode == 1
    assert "Connection refused" in done.stderr


def test_which_flows_are_back_to_back():
    """Requests without an interval, and bulk flows with a buffer of their own."""
    steady = TrafficFlow("RR", Traffic.TCP_RTT, interval_s=0.0)
    assert rpc.is_rpc(steady)
    assert not rpc.is_rpc(TrafficFlow("RR", Traffic.TCP_RTT))
    assert not rpc.is_rpc(TrafficFlow("S", Traffic.TCP))
    assert rpc.is_rpc(TrafficFlow("S", Traffic.TCP, options={"server_buffer": 5000}))


def test_a_flow_that_was_starved_moved_nothing():
    """Among hundreds of others a connection may not get its head through, which is not less than nothing."""
    starved = connections.FlowEnd(1, 2, 0.0, 60.0, {"bytes_received": 0}, {"bytes_received": 0}, 0, rpc.HEAD_BYTES)
    assert starved.payload_bytes == 0
    assert connections.FlowEnd(1, 2, 0.0, 60.0, {"bytes_received": 5}).payload_bytes is None


def test_a_line_that_was_cut_off_is_left_out():
    """A client may be killed while it prints."""
    assert rpc.read('1 500 20\n1 900 30\n2 95\n{"connection": 1, "port"').keys() == {1}
    assert rpc.read_server('{"port": 1, "peer_port"') == {}


# --- connections in their end


def test_the_kernel_tells_of_connections_that_end():
    """With totals that no sample saw, and only of the ports that are asked for."""
    with socket.socket() as listening, socket.socket() as other:
        for each in (listening, other):
            each.bind(("127.0.0.1", 0))
            each.listen()
        port = listening.getsockname()[1]
        try:
            ended = EndedSockets([port])
        except OSError as error:
            pytest.skip(f"this kernel tells of no sockets that end: {error.strerror}")
        for target in (listening, other):
            with socket.create_connection(target.getsockname()) as client, target.accept()[0] as accepted:
                client.sendall(bytes(12_345))
                taken = 0
                while taken < 12_345:
                    taken += len(accepted.recv(20_000))
        rows: list[dict[str, object]] = []
        deadline = time.monotonic() + 5
        while len(rows) < 2 and time.monotonic() < deadline:
            rows += [dict(zip(FIELDS, row, strict=True)) for row in ended.read()]
            time.sleep(0.02)
        if not rows:
            pytest.skip("this kernel tells of no sockets that end")
        assert sorted(int(row["bytes_received"] or 0) for row in rows) == [1, 12_346]  # with the FIN
        assert {str(port)} == {str(row[end]).rpartition(":")[2] for row in rows for end in ("local", "peer")} & {
            str(port),
            str(other.getsockname()[1]),
        }


def test_the_last_reading_knows_connections_that_never_ended():
    """A sender lives on after its program while the other side is silent; its numbers are not lost for that."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        try:
            ended = EndedSockets([listening.getsockname()[1]])
            with socket.create_connection(listening.getsockname()) as client, listening.accept()[0]:
                client.sendall(bytes(12_345))
                assert ended.read() == []
                rows = [dict(zip(FIELDS, row, strict=True)) for row in ended.read_last()]
        except OSError as error:
            pytest.skip(f"this kernel tells of no sockets: {error.strerror}")
        assert sorted(int(row["bytes_sent"] or 0) for row in rows) == [0, 12_345]
        assert {row["state"] for row in rows} == {"ESTAB"}
