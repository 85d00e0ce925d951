# SPDX-License-Identifier: BSD-3-Clause
"""Counters before and after an experiment: what grew."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from netesto_folders import stream_experiment

from linklab.errors import DataError
from linklab.netesto import names
from linklab.netesto.counter_words import MEANINGS, meaning
from linklab.netesto.counters import (
    CounterChange,
    changes,
    hosts_of,
    read_interfaces,
    read_pairs,
    read_qdiscs,
    read_snmp6,
    table_text,
    telling,
)


def test_what_grew_and_by_how_much(tmp_path):
    """Tables and counters of the kernel's files, interfaces by name; what did not change is left out."""
    found = changes(stream_experiment(tmp_path), "h2")
    assert CounterChange("h2", "Tcp", "RetransSegs", 0, 5) in found
    assert CounterChange("h2", "TcpExt", "TCPTimeouts", 0, 2) in found
    assert CounterChange("h2", "h2-eth0", "tx packets", 100, 1100) in found
    assert {one.counter for one in found} == {
        *("InReceives", "ActiveOpens", "RetransSegs", "TCPTimeouts"),
        *("rx bytes", "rx packets", "tx bytes", "tx packets"),
    }


def test_how_many_there_are_now_is_no_counter(tmp_path):
    """CurrEstab is 0 before and 1 after, which says nothing."""
    assert "CurrEstab" not in {one.counter for one in changes(stream_experiment(tmp_path), "h2")}


def test_a_counter_of_one_file_only_is_new_and_not_grown(tmp_path):
    """The kernel lists a type of ICMP when it has seen one; that it was 0 before is not said anywhere."""
    folder = stream_experiment(tmp_path)
    path = folder / names.AFTER / "h2" / "snmp"
    path.write_text(path.read_text() + "IcmpMsg: InType3\nIcmpMsg: 4\n")
    (one,) = [each for each in changes(folder, "h2") if each.table == "IcmpMsg"]
    assert (one.before, one.after, one.grew, one.words) == (None, 4, None, "new: 4")
    before = folder / names.BEFORE / "h2" / "snmp"
    before.write_text(before.read_text() + "IcmpMsg: InType8\nIcmpMsg: 2\n")
    assert "gone: 2" in {each.words for each in changes(folder, "h2")}


def test_a_file_of_one_side_only_says_nothing(tmp_path):
    """Counters that were read afterwards alone did not begin at 0."""
    folder = stream_experiment(tmp_path)
    (folder / names.BEFORE / "h2" / "netstat").unlink()
    assert "TcpExt" not in {one.table for one in changes(folder, "h2")}


def test_the_table_for_people(tmp_path):
    """The counters that have a meaning, with it; --all has the others too."""
    folder = stream_experiment(tmp_path)
    assert table_text(folder) == (
        "h2: 8 counters changed; 3 tell of connections, losses, and errors:\n"
        "  Tcp ActiveOpens     +7  connections that this host opened\n"
        "  Tcp RetransSegs     +5  segments that were sent again\n"
        "  TcpExt TCPTimeouts  +2  retransmission timeouts\n"
    )
    everything = table_text(folder, ["h2"], everything=True).splitlines()
    assert everything[0] == "h2: 8 counters changed"
    assert len(everything) == 9
    assert "  h2-eth0 tx bytes    +1448000" in everything


def test_hosts_that_are_not_there_are_named(tmp_path):
    """And a folder without counters says which hosts have them."""
    folder = stream_experiment(tmp_path)
    assert hosts_of(folder) == ["h2"]
    with pytest.raises(DataError, match=r"there are no counters of h9, only of h2"):
        table_text(folder, ["h9"])
    with pytest.raises(DataError, match=r"no counters; only hosts with stats=1"):
        table_text(stream_experiment(tmp_path, 2, counters=False))


def test_drops_of_interfaces_and_disciplines_tell(tmp_path):
    """Names that say drop or error count as such without a meaning here."""
    folder = stream_experiment(tmp_path)
    for number, when in enumerate((names.BEFORE, names.AFTER)):
        found = [{"kind": "tbf", "handle": "1:", "dev": "h2-eth0", "drops": 7 * number, "bytes": 9 * number}]
        (folder / when / "h2" / "qdiscs.json").write_text(json.dumps(found))
    shown = telling(changes(folder, "h2"))
    assert ("h2-eth0 tbf 1:", "drops", "+7") in {(one.table, one.counter, one.words) for one in shown}
    assert "bytes" not in {one.counter for one in shown}


def test_snmp6_is_split_behind_the_six():
    """Its lines have no table; a counter of IPv6 has the meaning of its sibling."""
    found = read_snmp6("Ip6InReceives                   \t12\nUdpLite6InDatagrams 3\nIcmp6InType134 1\nbad\nIp6X y\n")
    assert found == {("Ip6", "InReceives"): 12, ("UdpLite6", "InDatagrams"): 3, ("Icmp6", "InType134"): 1}
    assert meaning("Ip6", "InDiscards") == MEANINGS["Ip InDiscards"]
    assert meaning("Ip6", "InReceives") == ""


def test_lines_that_do_not_fit_are_left_out():
    """A truncated file gives what is whole."""
    assert read_pairs("Tcp: A B\nTcp: 1 2\nUdp: C D\nUdp: 3\nUdp: C\nUdp: -4\nIp: E") == {
        ("Tcp", "A"): 1,
        ("Tcp", "B"): 2,
        ("Udp", "C"): -4,
    }


@given(st.text())
def test_no_text_breaks_a_reader(text):
    """Files of a stranger's folder give counters or nothing."""
    for read in (read_pairs, read_snmp6, read_interfaces, read_qdiscs):
        assert all(isinstance(value, int) for value in read(text).values())


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each))
)
def test_no_json_breaks_a_reader(found):
    """Whatever stands in the place of a list of interfaces."""
    for read in (read_interfaces, read_qdiscs):
        assert all(isinstance(value, int) for value in read(json.dumps(found)).values())
