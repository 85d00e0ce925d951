"""ping's text becomes RTT by sequence number; a lost reply is a gap."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from linklab.errors import DataError
from linklab.measure import Measurements, measure, ping
from linklab.measure.ping import read_pings

CAPTURES = Path(__file__).parent.parent / "captures"


def only(case: str) -> Measurements:
    """The one ping in a capture."""
    (found,) = read_pings((CAPTURES / f"ping-20221126-{case}.txt").read_text())
    return found


def value(found: Measurements, name: str) -> float:
    """A scalar's number."""
    return found.scalars[f"ping.{name}"].value


def test_plain() -> None:
    """Five replies: the summary's figures in seconds, and times spread over the summary's total."""
    found = only("plain")
    assert [value(found, name) for name in ("sent", "received", "duplicates", "loss.fraction")] == [5, 5, 0, 0]
    rtt = [value(found, f"rtt.{name}") for name in ("min", "mean", "max", "mdev")]
    assert rtt == pytest.approx([51e-6, 153e-6, 554e-6, 200e-6])
    assert list(found.series["ping.rtt"].value) == pytest.approx([554e-6, 51e-6, 54e-6, 54e-6, 54e-6])
    assert list(found.series["ping.rtt"].time_s) == pytest.approx([0, 0.204, 0.408, 0.612, 0.816])


def test_lost_replies_are_gaps() -> None:
    """Four of twenty packets were lost: NaN at their places."""
    found = only("some-lost")
    series = found.series["ping.rtt"]
    assert len(series) == 20
    assert [index + 1 for index, rtt in enumerate(series.value) if math.isnan(rtt)] == [13, 15, 17, 19]
    assert value(found, "loss.fraction") == 0.2


@pytest.mark.parametrize("last", [2, 3, 4, 5])
def test_the_last_lines_are_enough(last: int) -> None:
    """`ping … | tail -3` shows the summary, and that is what is known; the replies are not."""
    lines = (CAPTURES / "ping-20221126-plain.txt").read_text().rstrip().splitlines()
    (found,) = read_pings("\n".join(lines[-last:]) + "\n")
    whole = only("plain")
    assert found.scalars == whole.scalars and found.series == {}
    twice = read_pings("\n".join(2 * lines[-last:]))
    assert [each.scalars for each in twice] == 2 * [whole.scalars] and not any(each.series for each in twice)


def test_pings_without_their_beginnings_are_not_mixed_up() -> None:
    """Replies belong to no ping before them whose summary is cut, and a summary to none of another target."""
    lines = (CAPTURES / "ping-20221126-plain.txt").read_text().rstrip().splitlines()
    chosen = [line for line in lines if line.startswith("rtt") or "bytes from" in line]
    assert [each.series for each in read_pings("\n".join(2 * chosen))] == 2 * [{}]
    received = read_pings(next(line for line in lines if "transmitted" in line))[0]
    assert value(received, "loss.fraction") == 0 and not any("no reply" in note for note in received.notes)
    other = [line.replace(lines[0].split()[1], "elsewhere") for line in lines[-3:]]
    first, second = read_pings("\n".join([*lines[:2], *other]))
    assert ("ping.sent" in first.scalars, value(second, "sent")) == (False, 5)


def test_a_cut_ping_without_replies_has_no_series() -> None:
    """Nothing says when its packets were sent."""
    lines = (CAPTURES / "ping-20221126-all-lost.txt").read_text().rstrip().splitlines()
    (found,) = read_pings("\n".join(lines[-2:]))
    assert (value(found, "loss.fraction"), found.series) == (1, {})


def test_the_times_alone_tell_no_loss() -> None:
    """`ping … | grep rtt`: how many came back is unknown, and not 0."""
    text = (CAPTURES / "ping-20221126-plain.txt").read_text()
    (found,) = read_pings(next(line for line in text.splitlines() if line.startswith("rtt")))
    assert sorted(found.scalars) == [f"ping.rtt.{name}" for name in ("max", "mdev", "mean", "min")]
    assert "an unnamed host has no summary" in found.notes[0]


@pytest.mark.parametrize(("case", "errors"), [("all-lost", 0), ("host-unreachable", 4), ("unreachable", 0)])
def test_no_reply(case: str, errors: float) -> None:
    """Without a reply there is loss of 1 and no RTT, not one of 0."""
    found = only(case)
    assert value(found, "loss.fraction") == 1
    assert value(found, "errors") == errors
    assert not [name for name in found.scalars if "rtt" in name]
    assert not found.series["ping.rtt"].known.size
    assert "no reply" in found.notes[0]


def test_time_stamps() -> None:
    """With -D the times are those at which the packets were sent."""
    series = only("timestamps").series["ping.rtt"]
    assert list(series.time_s) == pytest.approx([0, 0.332824, 0.629277], abs=1e-5)
    assert series.meta["times"] == "time stamps of ping -D"


def test_errors_that_are_only_counted() -> None:
    """Regression: with -q ping prints no line of an error, and the number in its summary was not read."""
    text = (CAPTURES / "ping-20221126-host-unreachable.txt").read_text()
    quiet = "".join(line for line in text.splitlines(keepends=True) if not line.startswith("From "))
    (found,) = read_pings(quiet)
    assert found.scalars["ping.errors"].value == 4


def test_quiet() -> None:
    """With -q there are figures and no series: replies came but were not printed."""
    found = only("quiet")
    assert value(found, "rtt.mean") == pytest.approx(44e-6)
    assert found.series == {}


def test_interrupted() -> None:
    """Ctrl+C leaves a summary; it counts."""
    assert value(only("sigint"), "sent") == 6


def test_killed() -> None:
    """Without a summary loss is unknown, and min, mean, max, mdev come from the replies."""
    found = only("killed")
    assert "ping.sent" not in found.scalars
    assert "ping.loss.fraction" not in found.scalars
    assert value(found, "rtt.mean") == pytest.approx(51.1667e-6, rel=1e-4)
    assert "no summary" in found.notes[0]


def test_duplicates() -> None:
    """Replies of several hosts to one packet are duplicates, not more packets."""
    found = only("duplicates")
    assert value(found, "duplicates") == 4
    assert value(found, "loss.fraction") == 0
    assert list(found.series["ping.rtt"].value) == pytest.approx([450e-6, 54e-6, 64e-6])


def test_marked_duplicates_and_order() -> None:
    """(DUP!) counts once more, and replies out of order stand at their numbers."""
    text = (
        "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n"
        "64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=5.00 ms\n"
        "64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=100 ms\n"
        "64 bytes from 10.0.0.2: icmp_seq=2 ttl=64 time=5.10 ms (DUP!)\n"
    )
    (found,) = read_pings(text)
    assert list(found.series["ping.rtt"].value) == pytest.approx([0.1, 0.005])
    assert value(found, "duplicates") == 1


def test_sequence_wraps() -> None:
    """After 65535 the number begins again at 0 and the series goes on."""
    head = "PING 10.0.0.2 (10.0.0.2) 56(84) bytes of data.\n"
    line = "64 bytes from 10.0.0.2: icmp_seq={} ttl=64 time=1.00 ms\n"
    (found,) = read_pings(head + line.format(40000) + line.format(65535) + line.format(0) + line.format(1))
    assert found.series["ping.rtt"].known.size == 4
    assert len(found.series["ping.rtt"]) == 65537


def test_not_started() -> None:
    """An unknown host raises with ping's words."""
    with pytest.raises(DataError, match=r"sent nothing: nosuchhost\.invalid: Temporary failure"):
        only("unknown-host")


def test_localised() -> None:
    """A decimal comma is refused with the cure, not read as a thousand."""
    text = "PING h2 (10.0.0.2) 56(84) Bytes Daten.\n64 Bytes von 10.0.0.2: icmp_seq=1 ttl=64 Zeit=0,055 ms\n"
    with pytest.raises(DataError, match="LC_ALL=C"):
        read_pings(text)


def test_several_in_one_terminal() -> None:
    """The second ping of a capture has its number in its names."""
    text = (CAPTURES / "ping-20221126-plain.txt").read_text() + (CAPTURES / "ping-20221126-quiet.txt").read_text()
    found = measure(text)
    assert found.scalars["ping.rtt.mean"].value == pytest.approx(153e-6)
    assert found.scalars["ping.2.rtt.mean"].value == pytest.approx(44e-6)
    assert read_pings("") == []


def test_pings_of_few_replies_are_not_very_many_values(monkeypatch):
    """Regression: 170 bytes are 65,535 values where the second reply has that number, and 67 kB took 390 MiB."""
    monkeypatch.setattr(ping, "MOST_PROBES", 25)
    gap = "PING h2 (10.0.0.2) 56(84) bytes of data.\n" + "".join(
        f"64 bytes from 10.0.0.2: icmp_seq={number} ttl=64 time=0.1 ms\n" for number in (1, 10)
    )
    assert [len(each.series["ping.rtt"].value) for each in read_pings(2 * gap)] == [10, 10]
    with pytest.raises(DataError, match="more than 25 probes together"):
        read_pings(3 * gap)
