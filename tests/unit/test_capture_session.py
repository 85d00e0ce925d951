# SPDX-License-Identifier: BSD-3-Clause
"""A capture from outside: the stream is whole wherever it ends; filters; nothing is left behind."""

import base64
import json
from pathlib import Path

import pytest

from linklab.capture import session as sessions
from linklab.capture.filters import PacketFilter, compiled, programs
from linklab.capture.session import CaptureOrder, CaptureSession
from linklab.errors import EngineError, InputError
from linklab.linux import pcapng

ICMP = bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x01" + bytes(24)


class ScriptedConnection:
    """A network's socket: each call of `receive` does the next thing that a test has planned."""

    def __init__(self, *plan):
        self.plan, self.sent, self.closed = list(plan), [], False

    def send(self, message):
        """Keep it."""
        self.sent.append(message)

    def receive(self, _timeout_s=None):
        """The next messages."""
        if not self.plan:
            return []
        step = self.plan.pop(0)
        return step() if callable(step) else step

    def close(self):
        """Note that."""
        self.closed = True

    @property
    def folder(self) -> Path:
        """The name of the folder that the program inside was told."""
        return Path(json.loads(self.sent[0]["argv"][-1])["out"])


def said(line) -> dict:
    """A line that the program inside prints."""
    return {"event": "data", "data": base64.b64encode(json.dumps(line).encode() + b"\r\n").decode()}


HEAD = pcapng.section("Linklab") + pcapng.interface("h1:h1-eth0", link_type=1, snaplen=262_144)


def packet(time_ns: int) -> bytes:
    """A packet of the one interface."""
    return pcapng.packet(0, time_ns, ICMP, 98, pcapng.INBOUND)


@pytest.fixture
def begun(tmp_path):
    """A capture whose program does what a test plans, and the function that writes a part for it."""

    def begin(*plan, **order):
        connection = ScriptedConnection(*plan)
        session = CaptureSession(connection, tmp_path, CaptureOrder(["h1"], **order))

        def write(number: int, data: bytes) -> None:
            with (tmp_path / connection.folder.name / f"{number:06}").open("ab") as file:
                file.write(data)

        return session, connection, write

    return begin


def read(session) -> bytes:
    """The whole stream."""
    return b"".join(block for blocks in session.stream() for _, block in blocks)


def test_parts_become_one_stream_and_are_removed(begun, tmp_path):
    """Also where a part grows between two looks, and a block is half there."""
    session, connection, write = begun()
    whole = packet(5) + packet(6)
    connection.plan += [
        [said({"listens": ["h1:h1-eth0"]})],
        lambda: write(1, HEAD + whole[:30]) or [],
        lambda: write(1, whole[30:]) or write(2, packet(7)) or [],
        [said({"ended": "stopped"}), {"event": "closed", "status": 0}],
    ]
    end = pcapng.statistics(0, 7, started_ns=0, received=3, dropped=0)
    write(1, b"")
    assert read(session) == HEAD + whole + packet(7) + end
    assert (session.captured, session.ended, session.listens) == (3, "stopped", ["h1:h1-eth0"])
    session.close()
    assert list(tmp_path.iterdir()) == []
    assert connection.closed


def test_the_program_s_own_counters_are_not_written_twice(begun):
    """It had the last word."""
    session, connection, write = begun()
    counters = pcapng.statistics(0, 9, started_ns=1, received=3, dropped=2)
    connection.plan += [
        lambda: write(1, HEAD + packet(5) + counters) or [said({"listens": ["h1:h1-eth0"]})],
        [{"event": "closed", "status": 0}],
    ]
    assert read(session) == HEAD + packet(5) + counters
    assert session.dropped == 2


def test_a_capture_in_paused_time_ends_when_it_is_asked_to(begun):
    """The program inside cannot answer, and the file is whole without it."""
    session, connection, write = begun()

    def pause():
        session.stop()
        return [{"event": "clock", "paused": True, "on_way": False, "text": ""}]

    connection.plan += [lambda: write(1, HEAD + packet(5)) or [said({"listens": ["h1:h1-eth0"]})], pause]
    blocks = pcapng.BlockReader().feed(read(session))
    assert [kind for kind, _ in blocks] == [pcapng.SECTION, pcapng.INTERFACE, pcapng.PACKET, pcapng.STATISTICS]
    assert connection.sent[-1] == {"op": "input", "data": base64.b64encode(b"\x03").decode()}


def test_the_end_of_the_network_is_the_end_of_the_stream(begun):
    """With what was captured until then."""
    session, connection, write = begun()
    connection.plan += [
        lambda: write(1, HEAD + packet(5)) or [said({"listens": ["h1:h1-eth0"]})],
        [{"event": "error", "text": "the network has been ended", "kind": "end"}],
    ]
    assert len(pcapng.BlockReader().feed(read(session))) == 4
    assert session.ended == "network"


def test_a_wrong_place_and_paused_time_are_said(begun):
    """In the words of the program inside; a capture cannot begin while time stands."""
    session, _, _ = begun([said({"error": "h9: there is no node h9"})])
    with pytest.raises(InputError, match="there is no node h9"):
        read(session)
    session, _, _ = begun([{"event": "clock", "paused": True, "on_way": False, "text": ""}])
    with pytest.raises(InputError, match="its time is paused"):
        read(session)


@pytest.mark.parametrize(
    "strange", [b"GET / HTTP/1.1", pcapng.packet(7, 1, ICMP, 98, 1), pcapng.block(pcapng.PACKET, b"short")]
)
def test_what_somebody_else_has_written_is_an_error_with_its_file(begun, strange):
    """The working folder belongs to every program inside."""
    session, connection, write = begun()
    connection.plan.append(lambda: write(1, HEAD + strange) or [said({"listens": ["h1:h1-eth0"]})])
    with pytest.raises(EngineError, match="000001: what was captured cannot be read"):
        read(session)


def test_what_a_killed_capture_left_is_removed_by_the_next(begun, tmp_path):
    """But not what belongs to one that goes on."""
    left = tmp_path / f"{sessions.FOLDER}old"
    left.mkdir()
    (left / "lock").touch()
    (left / "000001").touch()
    first, _, _ = begun()
    assert not left.exists()
    second, _, _ = begun()
    assert len(list(tmp_path.iterdir())) == 2
    first.close()
    second.close()
    assert list(tmp_path.iterdir()) == []


def test_a_filter_is_libpcap_s(begun):
    """The program that tcpdump -ddd prints; one that asks about Ethernet does not fit packets of IP alone."""
    _, connection, _ = begun(filter="icmp")
    order = json.loads(connection.sent[0]["argv"][-1])
    assert order["filter"] == "icmp"
    assert order["programs"]["ethernet"] == [
        [40, 0, 0, 12],
        [21, 0, 3, 2048],
        [48, 0, 0, 23],
        [21, 0, 1, 1],
        [6, 0, 0, 262144],
        [6, 0, 0, 0],
    ]
    assert programs("arp")["ip"] is None


def test_a_wrong_filter_is_refused_before_anything_starts(begun, tmp_path):
    """With libpcap's words and examples; no folder is left."""
    with pytest.raises(InputError, match="syntax error; it is written as for tcpdump"):
        begun(filter="tcp port")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(InputError, match="5,000 characters"):
        compiled("a" * 5000)


def test_the_same_filter_chooses_among_packets_that_were_captured():
    """As the kernel would have."""
    chosen = PacketFilter("icmp")
    assert chosen.takes(ICMP, 98)
    assert not chosen.takes(bytes(60), 60)
