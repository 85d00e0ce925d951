# SPDX-License-Identifier: BSD-3-Clause
"""Netlink's messages as bytes: round trips, and the kernel's answers captured from Linux 6.18."""

import errno
import socket
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.agent import namespace_state
from linklab.linux import netlink

NO_SUCH_DEVICE = bytes.fromhex(
    "4400000002000000010000006c590000"  # NLMSG_ERROR, 68 bytes
    "edffffff"  # -ENODEV, and what was asked: RTM_NEWQDISC for interface 99999
    "30000000240005060100000000000000000000009f86010000000000ffffffff000000000a000100706669666f000000"
)


@given(st.dictionaries(st.integers(1, 0x3FFF), st.binary(max_size=40), max_size=6))
def test_attributes_are_read_as_they_were_written(values):
    """Whatever their lengths: each is padded to four bytes."""
    raw = b"".join(netlink.attribute(kind, data) for kind, data in values.items())
    assert len(raw) % 4 == 0
    assert netlink.attributes(raw) == values


@given(st.lists(st.tuples(st.integers(1, 0xFFFF), st.binary(max_size=40)), max_size=5))
def test_several_messages_in_one_piece_are_read_one_by_one(wanted):
    """As the kernel sends them, and takes them."""
    raw = b"".join(netlink.message(kind, 0, number, body) for number, (kind, body) in enumerate(wanted))
    assert list(netlink.messages(raw)) == wanted


def test_an_acknowledgement_is_no_error_and_a_refusal_says_which():
    """NLMSG_ERROR carries 0 for what was done (netlink(7))."""
    [(kind, body)] = netlink.messages(NO_SUCH_DEVICE)
    assert (kind, netlink.error(body)) == (netlink.NLMSG_ERROR, errno.ENODEV)
    assert netlink.error(struct.pack("=i", 0)) == 0
    assert netlink.error(b"") == 0


@pytest.mark.parametrize(
    ("number", "name"), [(0x10000, "1:"), (0x10010, "1:10"), (0xFFFF0000, "ffff:"), (0x80010002, "8001:2")]
)
def test_handles_have_the_names_that_tc_gives_them(number, name):
    """Hexadecimal, and nothing for a minor number of zero."""
    assert netlink.handle_text(number) == name


def test_a_dump_that_ends_with_an_error_is_one():
    """The kernel may break off after answers were sent; NLMSG_DONE carries why."""
    ours, kernel = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    conversation = namespace_state.Netlink()
    conversation.close()
    conversation.socket = ours
    ended = struct.pack("=i", -errno.EINTR)
    kernel.send(netlink.message(16, 0, 1, b"link") + netlink.message(netlink.NLMSG_DONE, 0, 1, ended))
    answers = conversation.dump(18, b"")
    assert next(answers) == b"link"
    with pytest.raises(OSError, match="rtnetlink request 18: Interrupted"):
        next(answers)
    ours.close()
    kernel.close()
