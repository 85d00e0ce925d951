# SPDX-License-Identifier: BSD-3-Clause
"""Framed JSON between engine and agent."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.agent import protocol
from linklab.agent.protocol import Decoder, encode

MESSAGES = st.lists(
    st.dictionaries(st.text(max_size=8), st.one_of(st.integers(), st.text(max_size=50), st.none()), max_size=4),
    max_size=6,
)


@given(messages=MESSAGES, size=st.integers(1, 40))
def test_messages_arrive_whole_however_the_bytes_are_cut(messages, size):
    """What is encoded comes out again, in order, from chunks of any size."""
    stream = b"".join(encode(message) for message in messages)
    decoder = Decoder()
    found = [message for at in range(0, len(stream), size) for message in decoder.feed(stream[at : at + size])]
    assert found == messages


def test_a_frame_is_its_length_and_compact_json():
    """Four bytes of length, big endian, then UTF-8."""
    assert encode({"id": 1, "op": "now"}) == b'\x00\x00\x00\x15{"id":1,"op":"now"}'.replace(b"\x15", bytes([19]))


def test_a_frame_that_claims_too_much_is_refused():
    """A length beyond 64 MiB is not a frame of ours."""
    with pytest.raises(ValueError, match="a frame of 4294967295 bytes"):
        Decoder().feed(b"\xff\xff\xff\xff{")


@pytest.mark.parametrize("said", [{"a": [0] * 9}, {"a": "[" * 9}, {"a": [{"b": 0, "c": 0}] * 3}])
def test_a_frame_of_very_many_values_is_refused_before_it_is_read(said):
    """Regression: the limits of a network waited for a second while an answer of five million empty lists was read."""
    assert Decoder(10).feed(encode(said)) == [said]
    with pytest.raises(ValueError, match="a frame with more than 9 values"):
        Decoder(9).feed(encode(said))


def test_the_protocol_names_what_is_sent():
    """Regression: it named an event that nobody sends, and another word for what `build` answers."""
    sources = [path.read_text() for path in Path(protocol.__file__).parent.glob("*.py") if path.name != "protocol.py"]
    sent = {word for source in sources for word in re.findall(r'"event": "(\w+)"', source)}
    obeyed = {word for source in sources for word in re.findall(r"def _op_(\w+)", source)}
    assert set(re.findall(r'"event": "(\w+)"', protocol.__doc__)) == sent
    assert set(re.findall(r"^    (\w+)  ", protocol.__doc__, re.MULTILINE)) - {"op"} == obeyed
    assert "ready_clock_s" in protocol.__doc__


def test_many_small_frames_take_time_by_their_number():
    """Regression: what followed a frame was copied once for each, 10 s for a megabyte of them."""
    frame = encode({"id": 1})
    begun = time.thread_time()
    assert Decoder().feed(frame * 100_000) == [{"id": 1}] * 100_000
    assert time.thread_time() - begun < 5
