"""iperf3's JSON and text become numbers; what iperf3 did not measure stays unknown."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linklab.errors import DataError
from linklab.measure import Measurements, measure
from linklab.measure.iperf3 import Flow, Iperf3Test, Row, read_file, read_json, read_output

CAPTURES = Path(__file__).parent.parent / "captures"


def capture(name: str) -> Path:
    """Path of a capture of iperf3."""
    return CAPTURES / f"iperf3-{name}"


def only(name: str, *, partial: bool = False) -> Iperf3Test:
    """The one test in a capture."""
    (test,) = read_file(capture(name), partial=partial)
    return test


def scalars(name: str, *, partial: bool = False) -> dict[str, float]:
    """The numbers of the one test in a capture."""
    return {key: quantity.value for key, quantity in only(name, partial=partial).measurements().scalars.items()}


def values(measured: Measurements, name: str) -> list[float]:
    """The values of a series."""
    return list(measured.series[name].value)


def test_tcp_client() -> None:
    """One TCP stream gives iperf3's own totals and the sender's window and RTT."""
    found = scalars("3.12-tcp.json")
    assert found["iperf3.throughput.sender"] == 97771452.2134878
    assert found["iperf3.throughput.receiver"] == 95581580.4615993
    assert found["iperf3.bytes.sent"] == 48887376
    assert found["iperf3.bytes.received"] == 47860744
    assert found["iperf3.retransmits"] == 2536
    assert found["iperf3.cwnd.max"] == 105704
    assert found["iperf3.rtt.min"] == pytest.approx(0.005564, rel=1e-12)
    assert found["iperf3.rtt.mean"] == pytest.approx(0.006404, rel=1e-12)
    assert found["iperf3.rtt.max"] == pytest.approx(0.007310, rel=1e-12)
    assert found["iperf3.duration"] == 4.000135
    assert found["iperf3.streams"] == 1
    assert found["iperf3.stream.1.throughput.receiver"] == 95581580.4615993


def test_the_last_third_of_a_test() -> None:
    """Its mean goes by time, a stub at the end is left out, and of two intervals there is none."""
    rows = [Row(n, n + 1, rate_bps=rate) for n, rate in enumerate([9.0, 9, 9, 9, 2])]
    rows += [Row(5, 5.5, rate_bps=5.0), Row(5.5, 5.51, rate_bps=1000)]
    assert Flow(1, rows=tuple(rows)).late_bps == pytest.approx((2 + 0.5 * 5) / 1.5)
    assert math.isnan(Flow(1, rows=tuple(rows[:2])).late_bps)
    measured = only("3.12-tcp.json").measurements()
    assert len(values(measured, "iperf3.throughput")) == 4
    assert measured.scalars["iperf3.throughput.late"].value == pytest.approx(values(measured, "iperf3.throughput")[-1])


def test_tcp_client_series() -> None:
    """Series stand at the ends of the intervals and have units of seconds, bytes and bit/s."""
    measured = only("3.12-tcp.json").measurements()
    assert list(measured.series["iperf3.cwnd"].time_s) == [1.000126, 2.000065, 3.000083, 4.000135]
    assert values(measured, "iperf3.cwnd") == [75296, 105704, 86880, 83984]
    assert values(measured, "iperf3.rtt") == pytest.approx([0.006789, 0.005564, 0.00731, 0.005953])
    assert values(measured, "iperf3.rttvar") == pytest.approx([0.000373, 0.001207, 0.001063, 0.000118])
    assert values(measured, "iperf3.retransmits") == [2536, 0, 0, 0]
    assert values(measured, "iperf3.pmtu") == [1500] * 4
    assert values(measured, "iperf3.bytes") == [12853896, 12315240, 11859120, 11859120]
    units = {name: measured.series[f"iperf3.{name}"].unit for name in ("throughput", "cwnd", "rtt", "bytes")}
    assert units == {"throughput": "bit/s", "cwnd": "bytes", "rtt": "s", "bytes": "bytes"}
    assert measured.notes == ()


def test_parallel_streams() -> None:
    """Each of four streams has its number, the sum has plain names and no window of its own."""
    test = only("3.12-tcp-p4.json")
    measured = test.measurements()
    rates = [measured.scalars[f"iperf3.stream.{number}.throughput.receiver"].value for number in (1, 2, 3, 4)]
    assert rates == pytest.approx([12089676, 24464217, 29293203, 29820321], rel=1e-5)
    assert measured.scalars["iperf3.throughput.receiver"].value == pytest.approx(sum(rates))
    assert measured.scalars["iperf3.streams"].value == 4
    assert "iperf3.cwnd" not in measured.series
    assert measured.scalars["iperf3.cwnd.max"].value == 75296
    assert [flow.sender for flow in test.flows] == ["10.0.0.1"] * 4


def test_reverse_has_no_rtt() -> None:
    """With -R the client cannot know window and RTT: they are absent and said to be, not 0."""
    test = only("3.12-tcp-reverse.json")
    found = test.measurements()
    assert found.scalars["iperf3.throughput.receiver"].value == pytest.approx(11175528657.6)
    assert found.scalars["iperf3.retransmits"].value == 1320
    assert not [name for name in found.scalars if "rtt" in name or "cwnd" in name]
    assert "iperf3.rtt" not in found.series
    assert "cwnd, rtt" in found.notes[0]
    assert (test.flows[0].sender, test.flows[0].receiver) == ("10.0.0.2", "10.0.0.1")


def test_bidir_directions() -> None:
    """--bidir gives plain names to client → server and iperf3.reverse to server → client."""
    found = scalars("3.12-tcp-bidir-p2.json")
    assert found["iperf3.throughput.receiver"] == 95182829.4072171
    assert found["iperf3.reverse.throughput.receiver"] == 445712925.49898916
    assert found["iperf3.reverse.throughput.sender"] == 466257158.6853872
    assert found["iperf3.streams"] == 2
    assert found["iperf3.stream.3.throughput.receiver"] == 225583885.69940835
    # iperf3 prints 161 µs for the stream it receives: the RTT of acknowledgements, not of the data.
    assert "iperf3.reverse.rtt.mean" not in found
    assert found["iperf3.rtt.max"] == pytest.approx(0.010945)


def test_omitted_seconds_do_not_count() -> None:
    """Omitted intervals are left out, and the one after them gets the rate that its second had.

    Regression: 3.12 wrote 2.0 s for that interval and half its rate.
    """
    test = only("3.12-tcp-omit.json")
    measured = test.measurements()
    assert values(measured, "iperf3.throughput") == pytest.approx([94863283.0, 98520639.84, 94366399.78], rel=1e-6)
    assert list(measured.series["iperf3.throughput"].time_s) == [1.000102, 2.000115, 2.999959]
    assert [note for note in measured.notes if "omitted" in note]
    assert measured.scalars["iperf3.retransmits"].value == 1605


@pytest.mark.parametrize(
    ("name", "sent", "seconds"),
    [("3.12-tcp-bytes.json", 20971520, 1.654367), ("3.12-tcp-blocks.json", 13107200, 1.017)],
)
def test_amount_instead_of_time(name: str, sent: float, seconds: float) -> None:
    """-n and -k end with a part of a second, which keeps its own end."""
    found = scalars(name)
    assert found["iperf3.bytes.sent"] == sent
    assert found["iperf3.duration"] == pytest.approx(seconds, rel=1e-4)


def test_udp_client() -> None:
    """A UDP client knows loss and jitter in the end only, and what arrived."""
    measured = only("3.12-udp-loss.json").measurements()
    found = {name: quantity.value for name, quantity in measured.scalars.items()}
    assert found["iperf3.throughput.sender"] == 24993577.547415085
    assert found["iperf3.throughput.receiver"] == 19424544.223596554
    assert found["iperf3.lost.datagrams"] == 1377
    assert found["iperf3.datagrams"] == 6473
    assert found["iperf3.lost.fraction"] == 1377 / 6473
    assert found["iperf3.jitter"] == pytest.approx(0.00066941922)
    assert found["iperf3.stream.1.bytes.received"] == 5096 * 1448
    assert "iperf3.jitter" not in measured.series
    assert "jitter, lost" in measured.notes[0]


def test_udp_server() -> None:
    """A UDP server has loss over time and nothing of what was sent, which its JSON gives as 0."""
    measured = only("3.12-server-udp-loss.json").measurements()
    assert measured.scalars["iperf3.throughput.receiver"].value == pytest.approx(4959400 * 8 / 2.038528)
    assert measured.scalars["iperf3.lost.datagrams"].value == 888
    assert "iperf3.throughput.sender" not in measured.scalars
    assert values(measured, "iperf3.lost") == [388, 482, 18]


def test_udp_streams() -> None:
    """Two UDP streams: totals add up, jitter is their mean."""
    found = scalars("3.12-udp-p2.json")
    assert found["iperf3.datagrams"] == 3452
    assert found["iperf3.jitter"] == pytest.approx((0.011818940374e-3 + 0.010586503736e-3) / 2)


def test_tcp_server_knows_only_what_arrived() -> None:
    """A server's JSON has 0 bytes sent; that is unknown."""
    found = scalars("3.12-tcp-server.json")
    assert found["iperf3.throughput.receiver"] == 95451389.01830283
    assert "iperf3.throughput.sender" not in found
    assert "iperf3.retransmits" not in found


def test_error_is_told() -> None:
    """A file with iperf3's error raises with iperf3's words."""
    with pytest.raises(DataError, match=r"refused\.json: iperf3 ended with an error: unable to connect.*refused"):
        read_file(capture("3.12-refused.json"))
    with pytest.raises(DataError, match="measured nothing: unable to connect"):
        read_file(capture("3.12-refused.txt"))


def test_error_with_intervals() -> None:
    """A test that broke off is refused, unless its intervals are asked for; then the totals are theirs."""
    with pytest.raises(DataError, match="after 3 intervals: the server has terminated"):
        read_file(capture("3.12-server-gone.json"))
    test = only("3.12-server-gone.json", partial=True)
    measured = test.measurements()
    # 3.12 repeats the last interval when it ends early.
    assert len(test.flows[0].rows) == 2
    assert measured.scalars["iperf3.bytes.sent"].value == 12811904 + 12315240
    assert "iperf3.throughput.receiver" not in measured.scalars
    assert "the server has terminated" in measured.notes[0]


def test_killed_client() -> None:
    """A killed client leaves an empty file, and the message says why it is empty."""
    with pytest.raises(DataError, match="the file is empty: iperf3 writes its JSON when it ends"):
        read_file(capture("3.12-sigkill.json"))


@settings(max_examples=60)
@given(st.integers(min_value=1, max_value=4440))
def test_truncated_anywhere(length: int) -> None:
    """A file cut at any byte is refused with a place, or gives whole intervals that the whole file has too."""
    text = capture("3.12-tcp.json").read_text()[:length]
    with pytest.raises(DataError):
        read_json(text, "cut.json")
    whole = only("3.12-tcp.json").flows[0].rows
    try:
        (test,) = read_json(text, "cut.json", partial=True)
    except DataError:
        return
    assert repr(test.flows[0].rows) == repr(whole[: len(test.flows[0].rows)])  # NaN is not equal to itself
    assert math.isnan(test.flows[0].received.bytes)


def test_truncated_message() -> None:
    """The message for a cut file has the line, the number of whole intervals and what to do."""
    text = capture("3.12-tcp.json").read_text()
    cut = text[: text.index('"start":\t2.000065')]
    with pytest.raises(
        DataError, match=r"cut\.json: the file ends at line \d+ .* after 2 whole intervals.*let it finish"
    ):
        read_json(cut, "cut.json")
    (test,) = read_json(cut, "cut.json", partial=True)
    assert test.measurements().scalars["iperf3.bytes.sent"].value == 12853896 + 12315240


def test_two_documents() -> None:
    """Two runs in one file are two tests; the second has its number in every name."""
    assert len(read_file(capture("3.12-two-documents.json"))) == 2
    found = measure("", [capture("3.12-two-documents.json")]).scalars
    assert found["iperf3.throughput.receiver"].value == pytest.approx(95632004, rel=1e-4)
    assert found["iperf3.2.throughput.receiver"].value == pytest.approx(95626191, rel=1e-4)
    assert found["iperf3.2.retransmits"].value == 2485


@pytest.mark.parametrize("text", ["{", "{}", "not json", '{"start": {}}', "[1, 2]", '{"start": nonsense}', "\x00\xff"])
def test_garbage(text: str) -> None:
    """What is not iperf3's raises DataError and nothing else."""
    with pytest.raises(DataError):
        read_json(text, "x.json")


@pytest.mark.parametrize(
    "document",
    [
        {"start": {}, "intervals": [], "end": {}},
        {"start": {}, "intervals": [{"streams": [{}]}], "end": {}},
        {"start": {}, "intervals": [1], "end": {}},
        {"start": [], "intervals": [], "end": {"streams": [{}]}},
    ],
)
def test_wrong_shape(document: dict[str, object]) -> None:
    """JSON of another shape raises DataError and nothing else."""
    with pytest.raises(DataError):
        read_json(json.dumps(document), "x.json")


def test_version_3_1_tcp() -> None:
    """3.1 has no sender flags, RTT variation or path MTU: the rest is the same, those are said to be missing."""
    old, new = scalars("3.1-adapted-tcp.json"), scalars("3.12-tcp.json")
    assert old.keys() == new.keys()
    for name in old.keys() - {"iperf3.rtt.mean", "iperf3.stream.1.rtt.mean"}:
        assert old[name] == pytest.approx(new[name])
    # iperf3 cuts its own mean to whole microseconds.
    assert old["iperf3.rtt.mean"] == pytest.approx(0.006404)
    assert "no rttvar, pmtu over time" in only("3.1-adapted-tcp.json").measurements().notes[0]


def test_version_3_1_udp() -> None:
    """3.1 has one UDP sum, the sender's: what arrived follows from the loss."""
    found = scalars("3.1-adapted-udp.json")
    assert found["iperf3.throughput.sender"] == 24993577.547415085
    assert found["iperf3.bytes.received"] == 5096 * 1448
    assert found["iperf3.lost.fraction"] == 1377 / 6473


def test_version_3_18() -> None:
    """Newer settings change nothing, and --json-stream gives the same as -J."""
    assert scalars("3.18-adapted-tcp-bidir.json") == scalars("3.12-tcp-bidir.json")
    assert scalars("3.18-adapted-json-stream.jsonl") == scalars("3.12-tcp.json")


def test_json_stream_cut() -> None:
    """A JSON stream without its end is refused, or gives its intervals."""
    lines = capture("3.18-adapted-json-stream.jsonl").read_text().splitlines(keepends=True)
    with pytest.raises(DataError, match="stops after 2 intervals"):
        read_json("".join(lines[:3]), "s.json")
    (test,) = read_json("".join(lines[:3]), "s.json", partial=True)
    assert len(test.flows[0].rows) == 2


def test_text_client() -> None:
    """A client's text gives its three digits, binary sizes and decimal rates."""
    measured = only("3.12-tcp-text.txt").measurements()
    found = {name: quantity.value for name, quantity in measured.scalars.items()}
    assert found["iperf3.throughput.sender"] == 97.8e6
    assert found["iperf3.throughput.receiver"] == 95.5e6
    assert found["iperf3.bytes.sent"] == 35.0 * 2**20
    assert found["iperf3.retransmits"] == 666
    assert found["iperf3.cwnd.max"] == 105 * 1024
    assert values(measured, "iperf3.cwnd") == [102 * 1024, pytest.approx(79.2 * 1024), 105 * 1024]
    assert not [name for name in found if "rtt" in name]


def test_text_parallel() -> None:
    """[SUM] lines are the sum; the streams keep their order."""
    found = scalars("3.12-tcp-p4.txt")
    assert found["iperf3.throughput.receiver"] == 95.7e6
    assert found["iperf3.throughput.sender"] == 107e6
    assert found["iperf3.retransmits"] == 6914
    assert [found[f"iperf3.stream.{n}.throughput.receiver"] for n in (1, 2, 3, 4)] == [35.7e6, 10.8e6, 18.2e6, 30.9e6]


def test_text_server() -> None:
    """A server's text has what arrived, one test for each connection, and its end by Ctrl+C is no error."""
    first, second = read_file(capture("3.12-server-two-clients.txt"))
    assert first.sums[0].received.rate_bps == 95.6e6
    assert second.sums[0].received.rate_bps == 95.7e6
    assert math.isnan(first.sums[0].sent.rate_bps)


def test_text_reverse() -> None:
    """With -R the server's text is the sender's."""
    found = scalars("3.12-server-reverse.txt")
    assert found["iperf3.throughput.sender"] == 10.8e9
    assert found["iperf3.retransmits"] == 2031
    assert "iperf3.throughput.receiver" not in found
    client = only("3.12-tcp-reverse.txt")
    assert (client.flows[0].sender, client.flows[0].receiver) == ("10.0.0.2", "10.0.0.1")


@pytest.mark.parametrize("name", ["3.12-tcp-bidir.txt", "3.12-server-bidir.txt"])
def test_text_bidir(name: str) -> None:
    """Roles in brackets tell the directions, on either side."""
    found = scalars(name)
    assert found["iperf3.throughput.receiver"] == 93.4e6
    assert found["iperf3.reverse.throughput.sender"] == 2.32e9


def test_text_omitted() -> None:
    """Lines marked (omitted) do not count."""
    measured = only("3.12-tcp-omit.txt").measurements()
    assert values(measured, "iperf3.throughput") == [98.5e6, 94.9e6, 94.9e6]
    assert measured.scalars["iperf3.retransmits"].value == 1787


def test_text_formats() -> None:
    """-f K prints bytes per second, -f g bits; -V adds lines that are passed over."""
    assert scalars("3.12-format-K.txt")["iperf3.throughput.receiver"] == 11667 * 1024 * 8
    assert scalars("3.12-verbose-format-g.txt")["iperf3.throughput.receiver"] == 0.10e9


def test_text_udp() -> None:
    """Client and server print the same loss; only the server has it over time."""
    client, server = scalars("3.12-udp-loss.txt"), only("3.12-server-udp-loss.txt").measurements()
    assert client["iperf3.lost.datagrams"] == 888
    assert client["iperf3.lost.fraction"] == 888 / 4313
    assert client["iperf3.throughput.sender"] == 25.0e6
    assert client["iperf3.jitter"] == pytest.approx(0.00049)
    assert values(server, "iperf3.lost") == [393, 484, 481, 19]
    assert scalars("3.12-udp.txt")["iperf3.throughput.receiver"] == 1.05e6
    assert scalars("3.12-udp.txt")["iperf3.datagrams"] == 272


def test_text_udp_3_1() -> None:
    """3.1 prints one UDP result line: the sender's bytes with the receiver's loss."""
    found = scalars("3.1-handbuilt-udp.txt")
    assert found["iperf3.throughput.sender"] == 1.05e6
    assert found["iperf3.lost.datagrams"] == 4
    assert found["iperf3.lost.fraction"] == 4 / 32
    assert "iperf3.throughput.receiver" not in found


def test_text_interrupted() -> None:
    """After Ctrl+C the receiver's "0.00 Bytes" is unknown, not zero throughput."""
    found = scalars("3.12-tcp-sigint.txt")
    assert found["iperf3.throughput.sender"] == 98.3e6
    assert "iperf3.throughput.receiver" not in found


def test_text_after_an_echoed_interrupt() -> None:
    """A terminal puts ^C before the line that follows it; the line counts all the same."""
    text = capture("3.12-tcp-sigint.txt").read_text().replace("[  5]   2.00-2.49", "^C[  5]   2.00-2.49")
    (test,) = read_output(text)
    assert len(test.flows[0].rows) == 3
    assert read_output("Server listening on 5201\n^Ciperf3: interrupt - the server has terminated\n") == []


def test_json_in_a_terminal() -> None:
    """JSON printed between other output of a terminal is found."""
    text = "some words\n" + capture("3.12-tcp.json").read_text() + "more words\n"
    (test,) = read_output(text)
    assert test.sums[0].received.bytes == 47860744


def test_other_text_is_nobodys() -> None:
    """Text without iperf3 in it gives no test and no error."""
    assert read_output("net.ipv4.tcp_rmem = 10240 87380 16777216\n[1] 1234\n") == []


def test_nan_never_zero() -> None:
    """No series of any capture has a window, RTT or path MTU of 0."""
    for path in CAPTURES.glob("iperf3-*"):
        try:
            tests = read_file(path, partial=True)
        except DataError:
            continue
        for series in (series for test in tests for series in test.measurements().series.values()):
            if series.name.rpartition(".")[2] in {"cwnd", "rtt", "pmtu"}:
                assert np.all(series.known > 0), (path.name, series.name)
