# SPDX-License-Identifier: BSD-3-Clause
"""Words of `linklab link` ↔ what a link does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.linux import edt_words
from linklab.linux.edt_maps import ALWAYS, DISTRIBUTIONS, LINK, NO_LIMIT
from linklab.linux.edt_words import LinkSpec, read


def spec(text: str, before: LinkSpec | None = None) -> LinkSpec:
    """What the words of a text ask for."""
    return read(text.split(), before)


def test_units_become_exact_whole_numbers():
    """Bit/s, nanoseconds, bytes, and fractions of 2^32."""
    found = spec("rate 10.5mbit delay 20ms jitter 250us loss 1% corrupt 100% queue 64kb ecn 5ms")
    assert (found.rate_bit, found.delay_ns, found.jitter_ns) == (10_500_000, 20_000_000, 250_000)
    assert (found.loss_good, found.corrupt) == (42_949_673, ALWAYS)
    assert (found.queue_bytes, found.queue_ns, found.ecn_ns) == (64_000, None, 5_000_000)
    assert found.longest_queue_ns == 64_000 * 8 * 10**9 // 10_500_000


def test_a_delay_of_hours_of_nanoseconds_is_kept_whole():
    """Regression of the paper's program: it computed in 32 bits and wrapped above 4.294 s."""
    assert spec("delay 900s").values(1)["delay_ns"] == 900_000_000_000


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("loss 2%", (0, 0, 0, 2)),
        ("loss random 2%", (0, 0, 0, 2)),
        ("loss gemodel 2%", (2, 98, 100, 0)),
        ("loss gemodel 2% 25%", (2, 25, 100, 0)),
        ("loss gemodel 2% 25% 50% 1%", (2, 25, 50, 1)),
    ],
)
def test_a_model_of_loss_has_the_values_of_tc_for_those_left_out(text, shares):
    """1-R, 100 % lost in the bad state, none in the good one (tc-netem(8))."""
    found = spec(text)
    seen = (found.to_bad, found.to_good, found.loss_bad, found.loss_good)
    assert [round(share / 2**32 * 100, 6) for share in seen] == list(shares)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("speed 5mbit", '"speed" is no property of a link'),
        ("rate", '"rate" needs a value, such as rate 10mbit'),
        ("rate 5", 'a rate must be a number with its unit, such as 10mbit, not "5"'),
        ("rate 0mbit", "a rate must be from 1kbit to 1tbit, not 0mbit"),
        ("rate 10mbps", 'a rate must be a number with its unit, such as 10mbit, not "10mbps"'),
        ("delay -3ms", 'a delay must be a number with its unit, such as 20ms, not "-3ms"'),
        ("delay 2000s", "delay must be at most 1000 s, not 2000s"),
        ("loss 101%", "loss must be at most 100%, not 101%"),
        ("loss 1", 'loss must be a share such as 1%, not "1"'),
        ("loss gemodel", '"loss gemodel" needs a share'),
        ("delay 20ms jitter 1ms distribution cauchy", 'a distribution is one of uniform, normal, .*, not "cauchy"'),
        ("jitter 1ms", "a jitter varies a delay"),
        ("delay 5ms distribution normal", "a distribution is one of the jitter"),
        ("reorder 5%", "reordering needs a delay"),
        ("queue 50ms", "without a rate there is no queue"),
        ("ecn 5ms", "without a rate there is no queue"),
        ("rate 10mbit queue 1000b", "the queue must hold a frame of 1514 bytes"),
        ("rate 1kbit queue 1000s delay 1000s jitter 900s", "may be held for 4000 s at most"),
    ],
)
def test_words_that_mean_nothing_say_what_is_wrong(text, says):
    """One sentence, with what to write instead."""
    with pytest.raises(ValueError, match=says):
        spec(text)


def test_a_change_leaves_what_it_does_not_name():
    """And "none" takes away a property, with what hangs on it."""
    before = spec("rate 10mbit queue 64kb delay 20ms jitter 2ms distribution normal loss 1% reorder 2%")
    assert spec("rate 20mbit", before).words() == [
        *("rate", "20mbit", "delay", "20ms", "jitter", "2ms", "distribution", "normal"),
        *("loss", "1%", "reorder", "2%", "queue", "64kb"),
    ]
    assert spec("delay none", before).words() == ["rate", "10mbit", "loss", "1%", "queue", "64kb"]
    assert spec("rate none loss none", before).words() == [
        *("delay", "20ms", "jitter", "2ms", "distribution", "normal", "reorder", "2%")
    ]


def test_a_queue_in_bytes_keeps_its_bytes_when_the_rate_changes():
    """Regression: kept as a time alone, 64 kB at 10 Mbps became 128 kB at 20 Mbps."""
    before = LinkSpec.of_values(spec("rate 10mbit queue 64kb").values(1))
    after = spec("rate 20mbit", before)
    assert after.queue_bytes == 64_000
    assert after.longest_queue_ns == 25_600_000


def test_without_a_rate_nothing_waits_and_nothing_is_marked():
    """The program reads no limit."""
    values = spec("delay 5ms").values(7)
    assert (values["id"], values["queue_ns"], values["ecn_ns"]) == (7, NO_LIMIT, NO_LIMIT)


def test_fq_is_given_room_for_the_smallest_frames_of_rate_times_time():
    """20 ms and 100 ms of queue at 100 Mbps, and a piece of 64 KiB, in frames of 64 bytes."""
    held = spec("rate 100mbit delay 20ms queue 100ms")
    assert held.held_ns == 120_000_000 + 65_536 * 8 * 10
    assert held.held_pkts == held.held_ns * 100_000_000 // (512 * 10**9) + 1
    assert spec("loss 1%").held_pkts == 0


def test_a_queue_of_one_frame_is_a_queue_at_any_rate():
    """Also where the frame takes no whole number of nanoseconds; one byte less holds none."""
    assert spec("rate 123456789bit queue 1514b").queue_bytes == 1514
    with pytest.raises(ValueError, match="must hold a frame"):
        spec("rate 123456789bit queue 1512b")


shares = st.integers(0, ALWAYS)
times = st.integers(0, 5 * 10**9)


@st.composite
def specs(draw):
    """Links of every kind."""
    delay = draw(times)
    rate = draw(st.sampled_from([0, 10**4, 10**7, 123_456_789, 10**10]))
    queue = draw(st.sampled_from(["", "time", "bytes"])) if rate else ""
    jitter = draw(times) if delay else 0
    return LinkSpec(
        rate_bit=rate,
        delay_ns=delay,
        jitter_ns=jitter,
        distribution=draw(st.sampled_from(DISTRIBUTIONS)) if jitter else "uniform",
        loss_good=draw(shares),
        loss_bad=draw(shares),
        to_bad=draw(shares),
        to_good=draw(shares),
        duplicate=draw(shares),
        reorder=draw(shares) if delay else 0,
        corrupt=draw(shares),
        queue_ns=draw(st.integers(13 * 10**8, 10**10).filter(lambda value: value != edt_words.QUEUE_NS))
        if queue == "time"
        else None,
        queue_bytes=draw(st.integers(1514, 10**9)) if queue == "bytes" and rate > 10**5 else None,
        ecn_ns=draw(st.one_of(st.none(), times)) if rate else None,
    )


@given(specs())
def test_words_and_maps_give_back_what_they_were_made_of(made):
    """Round trips: through the words that show it, and through the bytes that the kernel keeps."""
    assert read(made.words()) == made
    assert LinkSpec.of_values(LINK.unpack(LINK.pack(made.values(3)))) == made
