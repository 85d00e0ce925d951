"""Patterns of series, as Flent's globs."""

import pytest

from linklab.data.names import is_pattern, main_series, matching, parent_of

NAMES = [
    "TCP upload BE",
    "TCP upload avg",
    "TCP upload sum",
    "TCP upload::1",
    "TCP upload::2",
    "TCP upload::1::tcp_cwnd",
    "Ping (ms) ICMP",
    "Ping (ms) ICMP::seq",
]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("TCP upload*", ["TCP upload BE", "TCP upload avg", "TCP upload sum"]),
        ("TCP upload::*", ["TCP upload::1", "TCP upload::2"]),
        ("TCP upload::?", ["TCP upload::1", "TCP upload::2"]),
        ("TCP**", NAMES[:6]),
        ("TCP upload**cwnd", ["TCP upload::1::tcp_cwnd"]),
        ("*::*::tcp_cwnd", ["TCP upload::1::tcp_cwnd"]),
        ("TCP upload* !TCP upload sum !TCP upload avg", ["TCP upload BE"]),
        ("TCP** !*cwnd !*upload [as]*", ["TCP upload BE", "TCP upload::1", "TCP upload::2"]),
        ("TCP upload [ab]*", ["TCP upload avg"]),
        ("Ping (ms) ICMP", ["Ping (ms) ICMP"]),
        ("Ping (ms) ICMP !Ping*", []),
        ("ping (ms) *", []),
        ("TCP upload", []),
        ("", []),
    ],
)
def test_a_pattern_matches_as_in_flent(pattern, expected):
    """One star stops at a colon, two do not; a name is whole; capitals count; order is that of the names."""
    assert matching(pattern, NAMES) == expected


def test_a_name_that_looks_like_a_pattern_is_itself():
    """Even where it would match others as well."""
    assert matching("a*", ["a*", "ab"]) == ["a*"]
    assert matching("x !y", ["x !y", "x"]) == ["x !y"]


def test_what_is_a_pattern():
    """Text with a star, a question mark, or square brackets."""
    assert [is_pattern(text) for text in ("Ping (ms) avg", "a*", "a?", "a[b]")] == [False, True, True, True]


def test_further_numbers_belong_to_their_series():
    """A number at the end is a flow; what no series of the data set stands before is one of its own."""
    assert parent_of("TCP upload::1::tcp_cwnd", NAMES) == "TCP upload::1"
    assert parent_of("TCP upload::1", [*NAMES, "TCP upload"]) == ""
    assert parent_of("qdisc s1-eth2::backlog", NAMES) == ""
    assert parent_of("TCP upload" + "::x" * 16, [*NAMES, "TCP upload"]) == "TCP upload"
    # of very many parts not each is looked at
    assert parent_of("TCP upload" + "::x" * 17, [*NAMES, "TCP upload"]) == ""
    assert parent_of("wifi::h1::rx", ["wifi"]) == "wifi"
    assert main_series(NAMES) == [*NAMES[:5], "Ping (ms) ICMP"]


@pytest.mark.parametrize("stars", ["*", "**"])
def test_a_pattern_of_many_stars_takes_no_longer(stars):
    """A stranger's plot must not hang: an expression would try all ways to part the name."""
    assert matching(f"{stars}a" * 12 + "b", ["a" * 300]) == []
    assert matching(f"{stars}a" * 12, ["a" * 300]) == ["a" * 300]


def test_a_pattern_of_many_stars_matches_as_one_of_few():
    """One star stops at a colon, two do not, however many there are."""
    assert matching("*a*b*c*d", ["xaxbxcxd", "axb:cd", "abcde"]) == ["xaxbxcxd"]
    assert matching("**a*b**c*d", ["a:ab:cd", "a:b:cd", "a:ab:c:d"]) == ["a:ab:cd"]
