# SPDX-License-Identifier: BSD-3-Clause
"""A path in a few words, the networks that are drawn from it, and where a test runs in them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import InputError
from linklab.experiment.path import KINDS, Buffer, parse_path, path_of
from linklab.experiment.place import place_of
from linklab.experiment.ready import draw, ready
from linklab.topology import Topology
from linklab.topology.plan import plan

TOPOLOGIES = Path(__file__).parents[2] / "topologies"


def lines(words, **more):
    """What is typed at each interface of the network of these words."""
    links = plan(draw(parse_path(words), **more))["links"]
    ends = [end for link in links for end in (link["src"], link["dest"])]
    return {end["interface"]: end["tc"]["lines"] for end in ends if "tc" in end}


def test_the_words_of_the_first_example():
    """Shaper and discipline stand at the bottleneck, half of the round trip behind it in each direction."""
    assert lines("10mbit 50ms fq_codel") == {
        "r1-eth0": [
            "tc qdisc add dev r1-eth0 root handle 2: tbf rate 10mbit burst 1600 limit 1514000",
            "tc qdisc add dev r1-eth0 parent 2: handle 3: fq_codel",
        ],
        "r2-eth0": [
            "tc qdisc add dev r2-eth0 root handle 2: tbf rate 10mbit burst 1600 limit 1514000",
            "tc qdisc add dev r2-eth0 parent 2: handle 3: fq_codel",
        ],
        "r1-eth1": ["tc qdisc add dev r1-eth1 root handle 1: netem limit 100000 delay 25ms"],
        "r2-eth1": ["tc qdisc add dev r2-eth1 root handle 1: netem limit 100000 delay 25ms"],
    }


def test_down_comes_before_up_and_loss_behind_the_bottleneck():
    """100mbit/20mbit is what a contract says: h1 receives at 100 and sends at 20."""
    found = lines("100mbit/20mbit 30ms loss 0.1% codel target 5ms")
    assert "rate 20mbit" in found["r1-eth0"][0]
    assert "rate 100mbit" in found["r2-eth0"][0]
    assert found["r2-eth0"][1].endswith("codel target 5ms")
    assert found["r2-eth1"] == ["tc qdisc add dev r2-eth1 root handle 1: netem limit 100000 delay 15ms loss 0.1%"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("1gbit 20ms 1bdp", "bfifo limit 2500000"),
        ("10mbit 50ms", "pfifo limit 1000"),
        ("10mbit 50ms 100p", "pfifo limit 100"),
        ("10mbit 50ms 250kB", "bfifo limit 256000"),
        ("10mbit 50ms 2bdp codel", "codel limit 83"),
        ("10mbit 50ms 100p pie target 20ms", "pie limit 100 target 20ms"),
        ("10mbit 50ms cake 100kB", "cake bandwidth 10mbit memlimit 102400"),
        ("10mbit 50ms ecn codel", "codel ecn"),
        ("10mbit 50ms fifo limit 100p", "pfifo limit 100"),
        ("10mbit 50ms fifo limit 250kB", "bfifo limit 256000"),
        ("10mbit 50ms cake diffserv4", "cake bandwidth 10mbit diffserv4"),
        ("10mbit 50ms cake besteffort dual-srchost", "cake bandwidth 10mbit besteffort dual-srchost"),
        ("10mbit 50ms cake priority diffserv8", "cake bandwidth 10mbit diffserv8"),
        ("10mbit 50ms fq_codel noecn target 2ms", "fq_codel target 2ms noecn"),
        ("10mbit 50ms codel noecn", "codel"),
        ("10mbit 50ms 240000b red", "red limit 240000 min 20000 max 60000 avpkt 1000 burst 35 bandwidth 10mbit"),
    ],
)
def test_what_the_queue_holds(words, said):
    """A buffer becomes the limit that its discipline has, in the unit that the discipline counts in."""
    assert lines(words)["r1-eth0"][-1].endswith(f": {said}")


def test_several_round_trips_are_those_of_the_targets_in_turn():
    """Each target delays what it sends itself, since the way back to the source is shared."""
    found = lines("10mbit 20ms,80ms", targets=3)
    assert [found[f"r2-eth{n}"][0].split()[-1] for n in (1, 2, 3)] == ["10ms", "40ms", "10ms"]
    assert [found[f"h{n}-eth0"][0].split()[-1] for n in (2, 3, 4)] == ["10ms", "40ms", "10ms"]
    assert "r1-eth1" not in found


def test_hosts_get_buffers_that_the_path_needs_and_ecn_where_it_is_asked_for():
    """One flow can fill the path; where Linux's own buffers do, nothing is set."""
    assert "startCommand" not in draw(parse_path("10mbit 50ms")).hosts[0].opts
    big = draw(parse_path("1gbit 100ms 1bdp")).hosts[0].opts["startCommand"]
    assert big.startswith('sysctl -q -w net.ipv4.tcp_rmem="10240 87380 ')
    assert int(big.split('"')[1].split()[2]) >= 3 * 25_000_000
    assert draw(parse_path("10mbit 50ms ecn")).hosts[1].opts["startCommand"] == "sysctl -q -w net.ipv4.tcp_ecn=1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("", "the path is empty"),
        ("10 50ms", '"10" has no unit'),
        ("10mbit 50ms foo", '"foo" means nothing in a path'),
        ("10mb 50ms", "there is no rate; did you mean 10mbit? 10mb is a buffer of 10 MiB"),
        ("50ms fifo", "a path needs a rate, such as 10mbit"),
        ("10mbit fq_codel", "a path needs a round-trip time, such as 50ms (0ms for none)"),
        ("10mbit cake rtt 50ms", "a path needs a round-trip time, not the parameter of cake, such as 50ms"),
        ("10mbit 50ms fifo limit 10", "use 10p for packets"),
        ("10mbit 50ms fq_codl", '"fq_codl" means nothing in a path; did you mean "fq_codel"?'),
        ("10mbit 50ms codel targt 5ms", 'did you mean "target"?'),
        ("10mbit 50ms cake nat", "cake has rtt, priority"),
        ("10mbit 50ms cake diffserv3 diffserv4", '"priority" of cake is said twice'),
        ("10mbit 50ms ecn codel noecn", '"ecn" and "noecn" both say the ecn'),
        ("10mbit 5ms qdisc fq_pi", 'did you mean "fq_pie"?'),
        ("10mbit 10mbit", '"10mbit" and "10mbit" both say the rate'),
        ("10mbps 5ms", "mbps means bytes to tc and bits to people"),
        ("10mbit 50mss", 'time "50mss" has no unit I know'),
        ("10mbit 50ms codel target 5", '"target": time "5" has no unit'),
        ("1bdp 10mbit", '"1bdp" needs a rate in both directions and a round trip'),
        ("10mbit 20ms 100b", "does not hold one frame of 1514 bytes"),
        ("10mbit 20ms 0bdp", "is not a number of bandwidth-delay products"),
        ("10mbit loss", '"loss" needs a value after it'),
        ("10mbit 50ms loss 2", 'percentage "2" has no unit'),
        ("10mbit 5ms 10p codel limit 5p", "both the buffer and the discipline say how much the queue holds"),
        ("10mbit 5ms jitter 10ms", "the jitter is longer than the delay"),
        ("10mbit 5ms qdisc htb", '"htb" is not a discipline of a path'),
        ("0mbit 5ms", "must be above 0"),
    ],
)
def test_a_word_that_cannot_be_is_named(words, said):
    """With the path that it stands in."""
    with pytest.raises(InputError, match="path") as caught:
        parse_path(words)
    assert said in str(caught.value)


def test_a_word_of_a_discipline_that_a_path_has_too_belongs_to_the_discipline():
    """After RED, "min" is its own."""
    assert parse_path("10mbit 5ms red min 1kb").options == {"min": "1kb"}


RATES = st.sampled_from(["10mbit", "1gbit", "64kbit", "2.5mbit", "100mbit/20mbit", "up 5mbit down 1mbit"])
RTTS = st.sampled_from(["50ms", "0s", "1s", "20ms,80ms", "100us"])
REST = st.lists(
    st.sampled_from(["loss 1%", "ecn", "1000p", "burst 3kb", "buffer 64kb"]), max_size=3, unique_by=lambda word: word[0]
)


@given(RATES, RTTS, REST, st.sampled_from(KINDS))
def test_a_path_said_back_is_the_same_path(rate, rtt, rest, kind):
    """What --dry-run shows can be typed again, and its network has no fault."""
    if "1000p" in rest and "buffer 64kb" in rest:
        rest.remove("1000p")
    path = parse_path(" ".join([rate, rtt, *rest, kind]))
    assert parse_path(str(path)) == path
    assert draw(path, targets=2, version6=True).problems() == []


def test_single_options_and_words_together():
    """--rate, --rtt, --qdisc and --buffer are words of the path too."""
    words = path_of("loss 1%", rate="10mbit", rtt="50ms", qdisc="codel target 5ms", buffer="1bdp")
    path = parse_path(words)
    assert (path.up_mbit, path.rtts_s, path.qdisc, path.buffer) == (10.0, (0.05,), "codel", Buffer(bdp=1.0))


@pytest.mark.parametrize("name", sorted(ready()))
def test_a_ready_topology_lies_in_topologies(name):
    """As the code draws it."""
    assert (TOPOLOGIES / f"{name}.mn").read_text(encoding="utf-8") == ready()[name].dumps()
    assert Topology.load(TOPOLOGIES / f"{name}.mn").problems() == []


def test_a_place_in_a_path():
    """Source, targets, addresses, and the ports on the way there and back."""
    place = place_of("10mbit 20ms,80ms", "", "", (), hosts=2, version6=True)
    assert (place.name, place.source, place.targets, place.egress) == ("RTT fairness", "h1", ("h2", "h3"), "h1-eth0")
    assert place.address("h3", None) == "10.0.3.1"
    assert place.address("h3", 6) == "fd00:0:0:3::1"
    assert [port.interface for port in place.ports] == [
        *("h1-eth0", "r1-eth0", "r2-eth1", "r1-eth1", "r2-eth0", "h2-eth0"),
        *("r2-eth2", "h3-eth0"),
    ]


def test_a_place_in_a_file():
    """Targets that are too few take turns; the file is found by the number of its lab."""
    place = place_of("", "14", "h1", ("h3",), hosts=2)
    assert (place.name, place.targets, place.words) == ("Lab 14", ("h3", "h3"), "")
    assert [port.interface for port in place.ports] == ["h1-eth0", "s1-eth2", "s1-eth1", "h3-eth0"]


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (("10mbit", "14", "", ()), "give either a path in words or a topology"),
        (("", "", "", ()), "give a path"),
        (("", "14", "h9", ()), "there is no host h9; there are h1, h2, h3"),
        (("", "14", "h1", ("s1",)), "there is no host s1"),
        (("", "14", "h1", ("h1",)), "h1 cannot be the source and a target"),
    ],
)
def test_a_place_that_cannot_be_is_named(given_, said):
    """In one sentence."""
    with pytest.raises(InputError) as caught:
        place_of(*given_, hosts=1)
    assert said in str(caught.value)


def test_a_host_without_the_address_that_a_flow_needs():
    """IPv6 on a network that has none."""
    place = place_of("", "14", "h1", ("h3",), hosts=1)
    with pytest.raises(InputError, match="h3 has no IPv6 address"):
        place.address("h3", 6)
