# SPDX-License-Identifier: BSD-3-Clause
import re

from linklab.run.readback import looks


def test_what_was_set_is_looked_at_in_the_words_of_tc():
    """Kind, delay and rate as tc prints them; sysctl by its own output."""
    found = looks(
        [
            "sudo tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms",
            "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 1gbit burst 500000 limit 2621440",
            "sysctl -w net.ipv4.tcp_rmem='10240 87380 52428800' && sysctl -q -w net.ipv4.tcp_sack=1",
        ]
    )
    assert [look.command for look in found] == [
        "tc qdisc show dev s1-eth2",
        "tc qdisc show dev s1-eth2",
        "sysctl -n net.ipv4.tcp_rmem",
        "sysctl -n net.ipv4.tcp_sack",
    ]
    shown = (
        "qdisc netem 1: root refcnt 2 limit 1000 delay 20ms\n"
        "qdisc tbf 2: parent 1: rate 1Gbit burst 500000b limit 2560Kb\n"
    )
    assert all(re.search(look.pattern, shown) for look in found[:2])
    assert not re.search(found[0].pattern, shown.replace("20ms", "200ms"))
    assert not re.search(found[1].pattern, shown.replace("1Gbit", "100Mbit"))
    assert re.search(found[2].pattern, "10240\t87380\t52428800\n")


def test_options_are_found_in_whatever_order_they_were_typed():
    """Regression: tc prints the delay first, so a line that names the loss first was taken for not set."""
    (look,) = looks(["tc qdisc change dev s1-eth2 root handle 1: netem loss 0.01% delay 30ms"])
    assert re.search(look.pattern, "qdisc netem 1: root refcnt 2 limit 1000 delay 30ms loss 0.01%\n")
    assert not re.search(look.pattern, "qdisc netem 1: root refcnt 2 limit 1000 delay 30ms loss 0.1%\n")


def test_what_a_later_line_takes_back_is_not_looked_for():
    """Deleting the root takes what hangs below it."""
    lines = ["tc qdisc add dev a root handle 1: netem delay 1ms", "tc qdisc add dev a parent 1: pie"]
    assert looks([*lines, "tc qdisc del dev a root"]) == []
    netem, pie = looks([*lines, "tc qdisc change dev a root netem delay 5ms"])
    assert ("5ms" in netem.pattern, "1ms" in netem.pattern, "pie" in pie.pattern) == (True, False, True)
    assert looks(["tc qdisc show dev a", "ping -c 1 10.0.0.2", "sysctl net.ipv4.tcp_rmem"]) == []
