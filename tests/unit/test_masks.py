# SPDX-License-Identifier: BSD-3-Clause
"""A mask in dotted form, typed where a prefix length is meant, as routers of other makers show it."""

import pytest

from linklab.editor import address_fields, address_table, name_checks
from linklab.errors import InputError
from linklab.topology.address_words import with_prefixes
from linklab.topology.addressing import Port


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("10.0.0.1 255.255.255.0", "10.0.0.1/24"),
        ("10.0.0.1/255.255.255.0", "10.0.0.1/24"),
        ("10.0.0.1 / 255.255.252.0", "10.0.0.1/22"),
        ("10.0.0.1/128.0.0.0", "10.0.0.1/1"),
        ("10.0.0.1 128.0.0.0", "10.0.0.1 128.0.0.0"),
        ("10.0.0.1 192.0.0.0", "10.0.0.1 192.0.0.0"),
        ("10.0.0.1  255.0.0.0", "10.0.0.1/8"),
        ("10.0.0.1 255.255.255.255", "10.0.0.1/32"),
        ("10.0.0.1/0.0.0.0", "10.0.0.1/0"),
        ("10.0.0.1/8", "10.0.0.1/8"),
        ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.1 10.0.0.2", "10.0.0.1 10.0.0.2"),
        ("10.0.0.1 192.168.1.1", "10.0.0.1 192.168.1.1"),
        ("10.0.0.1/8 192.168.1.1/24", "10.0.0.1/8 192.168.1.1/24"),
        ("10.0.0.1 255.0.0.0, 10.0.1.1 255.255.255.0", "10.0.0.1/8, 10.0.1.1/24"),
        ("10.0.3.0 255.255.255.0 via 10.0.2.2", "10.0.3.0/24 via 10.0.2.2"),
        ("2001:db8::1/64", "2001:db8::1/64"),
    ],
)
def test_a_mask_becomes_a_prefix_length(typed, meant):
    """Behind a slash or a blank; a second address is not a mask.

    Regression: after a blank, 128.0.0.0 was a mask, although blanks separate addresses, too.
    """
    assert with_prefixes(typed) == meant


@pytest.mark.parametrize("typed", ["10.0.0.1 255.0.255.0", "10.0.0.1/255.255.255.1", "10.0.0.1/0.0.0.255"])
def test_what_is_no_mask_is_named(typed):
    """Regression: a wildcard, which turns the bits around, was taken for a mask."""
    with pytest.raises(InputError, match=r"is not a mask: its one bits must all come first; write a mask such as"):
        with_prefixes(typed)


def test_every_field_of_an_address_takes_a_mask():
    """Regression: the host's field wrote "10.0.0.1/255.255.255.0" into the file, which no other program reads."""
    assert name_checks.address("10.0.0.1 255.255.255.0") == "10.0.0.1/24"
    assert name_checks.address("10.0.0.1/255.0.0.0") == "10.0.0.1/8"
    assert name_checks.address("10.0.0.1") == "10.0.0.1"
    assert name_checks.network("10.0.0.0 255.0.0.0") == "10.0.0.0/8"
    assert address_table.read_cell("ipv4", "10.0.0.1 255.255.255.0, 10.0.1.1/16") == ["10.0.0.1/24", "10.0.1.1/16"]
    (route,) = address_table.read_cell("routes", "10.0.3.0 255.255.255.0 via 10.0.2.2")
    assert str(route) == "10.0.3.0/24 via 10.0.2.2"
    port = Port("r1", "r1-eth0", "s1-eth1", 0, 0, (), False)
    assert address_fields._addresses(port, "10.0.0.1 255.0.0.0 10.0.1.1/24") == "10.0.0.1/8, 10.0.1.1/24"
