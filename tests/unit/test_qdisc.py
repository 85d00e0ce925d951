"""Samples of a queue, and what tc and ss print, become numbers of the right queue."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import DataError
from linklab.measure import measure
from linklab.measure.qdisc import QueueSamples, choose, measure_samples, read_samples
from linklab.measure.ss import read_ss
from linklab.measure.tc import read_qdiscs, read_tc

CAPTURES = Path(__file__).parent.parent / "captures"
SAMPLES = CAPTURES / "queue-samples-6.1.0-htb-tbf.jsonl"


def qdisc(kind: str, handle: str, parent: str | None = None, **fields: Any) -> dict[str, Any]:
    """A discipline as `tc -j` lists it."""
    place = {"root": True} if parent is None else {"parent": parent}
    return {"kind": kind, "handle": handle, **place, "options": {}, **fields}


def samples_of(*lists: list[dict[str, Any]]) -> QueueSamples:
    """Samples 0.5 s apart."""
    samples = QueueSamples("q.jsonl", {"interface": "s1-eth2", "period_s": 0.5})
    samples.time_s = [0.5 * index for index in range(len(lists))]
    samples.qdiscs = list(lists)
    return samples


CHAINS = {
    "netem over tbf": ([qdisc("netem", "1:"), qdisc("tbf", "2:", "1:")], "2:"),
    "netem over tbf by class": ([qdisc("netem", "1:"), qdisc("tbf", "2:", "1:1")], "2:"),
    "tbf over AQM": ([qdisc("netem", "1:"), qdisc("tbf", "2:", "1:"), qdisc("fq_codel", "3:", "2:1")], "3:"),
    "AQM over netem": ([qdisc("fq_codel", "1:"), qdisc("netem", "2:", "1:")], "1:"),
    "tbf over netem": ([qdisc("tbf", "1:"), qdisc("netem", "10:", "1:1")], "1:"),
    "htb with two children": ([qdisc("htb", "1:"), qdisc("sfq", "10:", "1:10"), qdisc("red", "20:", "1:20")], "1:"),
    "netem alone": ([qdisc("netem", "8001:")], "8001:"),
    "beside ingress": ([qdisc("ingress", "ffff:", "ffff:fff1"), qdisc("pfifo", "5:")], "5:"),
    "the kernel's default": ([qdisc("fq_codel", "0:")], "0:"),
    "several transmit queues": (
        [qdisc("mq", "1:"), qdisc("fq_codel", "0:", ":1"), qdisc("fq_codel", "0:", ":2")],
        None,
    ),
}


@pytest.mark.parametrize("name", CHAINS)
def test_innermost(name: str) -> None:
    """The innermost discipline is the queue; netem only if there is nothing else, and that is said."""
    qdiscs, expected = CHAINS[name]
    chosen, note = choose(qdiscs)
    assert chosen is not None
    if expected is not None:
        assert chosen["handle"] == expected
    assert (chosen["kind"] == "netem") == (name == "netem alone")
    assert bool(note) == (name in {"netem alone", "tbf over netem", "AQM over netem", "several transmit queues"})


@given(st.permutations(CHAINS["tbf over AQM"][0]))
def test_innermost_in_any_order(qdiscs: list[dict[str, Any]]) -> None:
    """The order in which tc lists disciplines does not matter."""
    chosen, _ = choose(qdiscs)
    assert chosen is not None
    assert chosen["kind"] == "fq_codel"


def test_by_handle() -> None:
    """A handle overrides, with or without its colon; one that is not there is named beside those that are."""
    qdiscs, _ = CHAINS["netem over tbf"]
    assert choose(qdiscs, "1:")[0] == qdiscs[0]
    assert choose(qdiscs, "1")[0] == qdiscs[0]
    assert choose(qdiscs, "7:") == (None, "no discipline has the handle 7: (there are: netem 1:, tbf 2:)")


def test_captured_samples() -> None:
    """tbf under an htb class: its backlog, packets and drops."""
    found = measure_samples(read_samples(SAMPLES))
    scalars = {name: quantity.value for name, quantity in found.scalars.items()}
    assert scalars["queue.backlog.max"] == 99924
    assert scalars["queue.backlog.mean"] == pytest.approx(36331.7333)
    assert scalars["queue.packets.max"] == 38
    assert scalars["queue.drops"] == 164
    assert list(found.series["queue.backlog"].value[:4]) == [66616, 93868, 96768, 99924]
    assert list(found.series["queue.drops"].value[:2]) == [2266, 2286]
    assert math.isnan(found.series["queue.drops.rate"].value[0])
    assert found.series["queue.drops.rate"].value[1] == pytest.approx(398.4937)
    assert found.series["queue.backlog"].meta["kind"] == "tbf"
    assert found.notes == ()
    assert measure_samples(read_samples(SAMPLES), "1:").series["queue.backlog"].meta["kind"] == "htb"
    assert measure("", [SAMPLES]).scalars["queue.backlog.max"].value == 99924


def test_truncated_last_line() -> None:
    """A last line that is cut off is left out; text fed in any pieces gives the same samples."""
    text = SAMPLES.read_text()
    samples = QueueSamples("q.jsonl")
    samples.feed(text[:-20])
    assert len(samples.time_s) == 29
    samples.feed(text[-20:])
    assert len(samples.time_s) == 30


@given(st.lists(st.integers(0, len(SAMPLES.read_text())), max_size=8).map(sorted))
def test_fed_in_pieces(cuts: list[int]) -> None:
    """It does not matter where the writer was when the file was read."""
    text = SAMPLES.read_text()
    samples = QueueSamples("q.jsonl")
    for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        samples.feed(text[begin:end])
    assert samples.qdiscs == read_samples(SAMPLES).qdiscs


def test_broken_line() -> None:
    """A whole line that is no sample raises with its number."""
    samples = QueueSamples("q.jsonl")
    with pytest.raises(DataError, match=r"q\.jsonl: line 2: no sample of a queue"):
        samples.feed('{"interface": "s1-eth2", "period_s": 0.01}\n{"t": 1}\n')


def test_extended_statistics_and_gaps() -> None:
    """A discipline's own numbers are series; a sample without it is a gap; a new one starts its counters again."""
    red = {"backlog": 3000, "qlen": 2, "drops": 10, "early": 4}
    found = measure_samples(
        samples_of(
            [qdisc("red", "3:", **red)],
            [qdisc("noqueue", "0:")],
            [qdisc("red", "3:", **red | {"drops": 14, "early": 6})],
            [qdisc("red", "3:", **red | {"drops": 2, "early": 0})],
        )
    )
    assert list(found.series["queue.backlog"].value) == pytest.approx([3000, math.nan, 3000, 3000], nan_ok=True)
    assert list(found.series["queue.early"].value) == pytest.approx([4, math.nan, 6, 0], nan_ok=True)
    assert found.scalars["queue.backlog.mean"].value == 3000
    assert found.scalars["queue.drops"].value == 6  # 10 → 14 across the gap, then 2 of a new counter
    assert all(math.isnan(rate) for rate in found.series["queue.drops.rate"].value)


def test_no_queue() -> None:
    """An interface without a queue raises, and says what to do."""
    with pytest.raises(DataError, match="s1-eth2: the interface has no queue; give it one with tc"):
        measure_samples(samples_of([qdisc("noqueue", "0:")]))


def test_empty_file(tmp_path: Path) -> None:
    """A file without a sample raises."""
    path = tmp_path / "q.jsonl"
    path.write_text('{"interface": "s1-eth2", "node": "client", "period_s": 0.01}\n')
    with pytest.raises(DataError, match="no queue samples in it"):
        read_samples(path)


def test_tc_text() -> None:
    """`tc -s qdisc` with one device and with all: counters by device and handle."""
    (one,) = read_tc((CAPTURES / "tc-6.1.0-tbf.txt").read_text())
    assert one.scalars["tc.1.dropped"].value == 30399
    assert one.scalars["tc.1.sent.bytes"].value == 724632375
    (every,) = read_tc((CAPTURES / "tc-6.1.0-show-all-stats.txt").read_text())
    assert every.scalars["tc.h1-eth0.1.dropped"].value == 30399
    assert every.scalars["tc.lo.0.dropped"].value == 0
    (tree,) = read_tc((CAPTURES / "tc-6.1.0-htb-tbf.txt").read_text())
    assert tree.scalars["tc.1.dropped"].value == 2379
    assert tree.scalars["tc.2.dropped"].value == 2430
    assert tree.scalars["tc.2.backlog.bytes"].value == 21196


def test_tc_without_counters() -> None:
    """Without -s there are disciplines and no numbers."""
    text = (CAPTURES / "tc-6.1.0-show-all.txt").read_text()
    assert read_tc(text) == []
    lo, tbf = read_qdiscs(text)
    assert (lo.kind, lo.dev, lo.parent) == ("noqueue", "lo", "root")
    assert (tbf.kind, tbf.handle, tbf.dev, tbf.options) == ("tbf", "1:", "h1-eth0", "rate 100Mbit burst 50000b lat 8ms")
    assert read_qdiscs((CAPTURES / "tc-6.1.0-htb-tbf.txt").read_text())[1].parent == "1:10"


def test_tc_shown_twice() -> None:
    """A discipline shown again is another result, with a number in its names."""
    found = measure((CAPTURES / "tc-6.1.0-tbf.txt").read_text() * 2)
    assert found.scalars["tc.2.1.dropped"].value == 30399


def test_tc_text_and_json_agree() -> None:
    """The text and the JSON of the same moment have the same counters."""
    (listed,) = json.loads((CAPTURES / "tc-6.1.0-tbf.json").read_text())
    (text,) = read_tc((CAPTURES / "tc-6.1.0-tbf.txt").read_text())
    pairs = {"sent.bytes": "bytes", "sent.packets": "packets", "dropped": "drops", "overlimits": "overlimits"}
    assert all(text.scalars[f"tc.1.{name}"].value == listed[key] for name, key in pairs.items())


def test_ss() -> None:
    """`ss -ti` gives window, RTT and rates of each connection; what it leaves out is absent."""
    control, bulk = read_ss((CAPTURES / "ss-6.1.0-ti.txt").read_text())
    assert bulk.scalars["ss.cwnd"].value == 14
    assert bulk.scalars["ss.rtt"].value == pytest.approx(0.008695)
    assert bulk.scalars["ss.retransmits"].value == 454
    assert bulk.scalars["ss.delivery_rate"].value == 18950216
    assert "ss.retransmits" not in control.scalars
