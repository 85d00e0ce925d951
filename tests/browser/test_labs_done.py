# SPDX-License-Identifier: BSD-3-Clause
"""Whole stories on the page of a lab: Lab 1 up to its report, and others typed wrong, in other order, and mended."""

import pytest
from browsing import needs_browser
from lab_student import DIFFERENTLY, DONE, LEFT_OUT, OPEN, WRONG, LabStudent

pytestmark = [*needs_browser, pytest.mark.long]
FAST = ("--speed", "10")
"""Network seconds in a wall second: a ping of four requests takes a third of one."""
BUFFERS = "'10240 87380 52428800'"


@pytest.fixture
def student(lab, browser):
    """Begins a lab on its page."""

    def begin(number: str, *options: str) -> LabStudent:
        return LabStudent(lab(number, *options), browser(1280, 800))

    return begin


def test_lab_1_from_the_first_step_to_the_report(student):
    """Predicted, done in Mininet's own command line, compared, answered, and reported; the rest is for the editor."""
    ada = student("1", "--name", "Ada Lovelace")
    page = ada.page
    for name, why in (("own-interfaces", "all four of them"), ("first-ping", "ARP comes first")):
        ada.writes(f"#prediction-{name}-why", why)
        page.button("Keep my prediction", f"#predict-{name}").click()
        page.until(lambda: "is kept" in page.one(f"#predict-{name}").text, f"that {name} is kept")  # noqa: B023 - in this turn
    assert "Next: In the Client's terminal start Mininet" in page.one("#guide").text

    for step in ("mn", "help", "nodes", "net", "ifconfig", "ping", "exit", "clean"):
        page.button("Type with Enter", f"#block-{step}").click()
        if step == "ping":
            page.until(lambda: page.screen().count("bytes from") >= 4, "four replies")
            page.button("Ctrl+C", "#block-ping").click()
        ada.sees(step, DONE)
        page.until(lambda: ada.screen().rstrip().endswith((">", "#")), "the prompt, at which the next one is put")
    for name, measured in (
        ("own-interfaces", "see the output of “"),
        ("first-ping", "Let h1 ping h2, and stop with Ctrl+C after a few replies: "),
        ("first-ping", ", longest round-trip time of ping"),
    ):
        page.until(lambda: measured in page.one(f"#predict-{name} .compared").text, f"what settles {name}")  # noqa: B023 - in this turn

    page.until(lambda: "8 of 8 steps done" in page.one("#guide").text, "that this is all")
    assert "the other 20 are for the editor" in page.one("#guide").text
    assert "linklab edit" in page.one("#block-step-9 .do").text
    assert "h1 belongs to the network that you draw" in page.one("#block-hand-h1 .do").text
    assert not [one for one in page.all("#block-hand-h1 .do button") if one.text.startswith(("Put", "Type"))]

    ada.writes("#answer-5", "16,777,214 and 254")
    page.until(lambda: "kept" in page.one("#answer-5 ~ [role=status]").text, "that the answer is kept")
    page.driver.get(page.driver.current_url.partition("#")[0] + "report")
    assert "Ada Lovelace" in page.one("header").text and "8 of 8 steps done" in page.one("header").text
    report = page.one("main").text
    for words in (
        "all four of them",
        "ARP comes first",
        "Only h1-eth0",
        "share of pings without a reply",
        "16,777,214 and 254",
    ):
        assert words in report
    assert page.complaints() == []
    assert ada.running.end() == 0


def test_lab_3_with_slips_that_are_mended(student):
    """Another target, other programs and units, the wrong interface, both sides before one, a wrong number."""
    ada = student("3", *FAST)
    assert "press “Open h1, h2” at this step" in ada.is_helped("step-2") + ada.is_helped("step-2")
    ada.page.button("Open h1, h2", "#block-step-2").click()
    ada.sees("step-2", DONE)
    ada.types("h1", "ping -c 4 10.0.0.1")
    ada.sees("unshaped", WRONG, "the target is 10.0.0.1; wanted is 10.0.0.2")
    ada.types("h1", "ping -c 4 10.0.0.2")
    ada.sees("unshaped", DONE)
    ada.types("h1", "ip addr")
    ada.sees("ifconfig-h1", DIFFERENTLY, "by ip addr")
    ada.types("h2", "ip -br a show")
    ada.sees("ifconfig-h2", DIFFERENTLY)

    ada.types("h1", "sudo tc qdisc add dev lo root netem delay 100ms")
    ada.sees("delay-h1", WRONG, "netem delay 100ms is set on lo; it belongs on h1-eth0")
    assert "✗ Not right yet: On h1 delay everything that leaves by 100 ms" in ada.page.one("#guide").text
    assert "delay everything that leaves by 100 ms" in ada.is_helped("delay-h1")
    assert "h1-eth0" in ada.is_helped("delay-h1")
    ada.types("h1", "sudo tc qdisc del dev lo root")
    ada.types("h2", "sudo tc qdisc add dev h2-eth0 root netem delay 100000us")
    ada.sees("delay-h2", DONE)
    ada.sees("del-h1", OPEN)
    ada.types("h1", "sudo tc qdisc replace dev h1-eth0 root netem delay 0.1s")
    ada.sees("delay-h1", DONE)

    ada.types("h1", "ping -c 5 10.0.0.2")
    ada.sees("both-sides", DONE)
    ada.sees("one-side", LEFT_OUT)
    ada.types("h2", "tc qdisc del dev h2-eth0 root")
    ada.types("h1", "ping -c 5 10.0.0.2")
    ada.sees("one-side", DONE)
    ada.sees("del-h2", OPEN)

    ada.types("h1", "sudo tc qdisc add dev h1-eth0 root netem delay 50ms")
    ada.sees("change-h1", WRONG, "was refused", "add needs an empty place, and a discipline is already set here")
    assert "replace dev s1-eth2 root" in ada.page.one("#block-change-h1 .found pre").text, "what would be typed instead"
    ada.types("h1", "sudo tc qdisc change dev h1-eth0 root netem delay 500ms")
    ada.sees("delay-h1", LEFT_OUT, "undone: h1-eth0 has netem delay 500ms")
    told = ada.page.one("#guide").text
    assert "Open again: On h1 delay everything" in told and "undone: h1-eth0 has netem delay 500ms" in told
    ada.types("h1", "sudo tc qdisc replace dev h1-eth0 root netem delay 50ms")
    ada.sees("change-h1", DONE)
    ada.sees("delay-h1", DONE)
    assert ada.page.complaints() == []


def test_lab_8_with_slips_that_are_mended(student):
    """The rate before the delay, a unit forgotten, buffers of a digit less and on the other host first, by file."""
    ada = student("8", *FAST)
    ada.types("h1", "ping -c 4 10.0.0.2")
    ada.sees("ping-unshaped", DONE)
    rate = "sudo tc qdisc {} dev s1-eth2 parent 1: handle 2: tbf rate {} burst {} limit 25000000"
    ada.types("client", rate.format("add", "10gbit", "5000000"))
    ada.sees("delay", WRONG, "was refused")
    ada.types("client", "sudo tc qdisc add dev s1-eth2 root handle 1: netem delay 20")
    ada.sees("delay", WRONG, "s1-eth2 has netem delay 20us; wanted is netem delay 20ms")
    ada.types("client", rate.format("add", "10gbit", "5mb"))
    ada.sees("rate", WRONG, "burst 5000000")
    ada.types("client", "sudo tc qdisc change dev s1-eth2 root handle 1: netem delay 0.02s")
    ada.sees("delay", DONE)
    ada.types("client", rate.format("replace", "10000mbit", "5000000"))
    ada.sees("rate", DONE)

    ada.types("h2", "ping -c 4 10.0.0.1")
    ada.sees("ping-delayed", WRONG, "it ran on h2; it belongs on h1")
    ada.types("h1", "ping -c 4 10.0.0.2")
    ada.sees("ping-delayed", DONE)
    ada.types("h1", "cat /proc/sys/net/ipv4/tcp_rmem")
    ada.sees("rmem-before", DIFFERENTLY)
    ada.types("h1", "sysctl net.ipv4.tcp_wmem")
    ada.sees("wmem-before", DONE)

    ada.types("h1", "sysctl -w net.ipv4.tcp_rmem='10240 87380 5242880'")
    ada.sees("rmem-h1", WRONG, "h1 has net.ipv4.tcp_rmem = 10240 87380 5242880")
    ada.types("h1", "echo 10240 87380 52428800 > /proc/sys/net/ipv4/tcp_rmem")
    ada.sees("rmem-h1", DONE)
    ada.types("h2", f"sysctl net.ipv4.tcp_wmem={BUFFERS} net.ipv4.tcp_rmem={BUFFERS}")
    ada.sees("rmem-h2", DONE)
    ada.sees("wmem-h2", DONE)
    ada.sees("wmem-h1", LEFT_OUT)
    ada.types("h2", "iperf3 -s", ends=False)
    ada.sees("server-tuned", DONE)
    ada.types("h1", "iperf3 -c 10.0.0.2 -t 1")
    ada.sees("tuned", WRONG, "the time -t is 1; wanted is 10")
    ada.types("h1", f"sysctl -w net.ipv4.tcp_wmem={BUFFERS}")
    ada.sees("wmem-h1", DONE)
    ada.types("h1", "iperf3 -c 10.0.0.2")
    ada.sees("tuned", DONE)
    ada.types("client", "tc qdisc del dev s1-eth2 root")
    ada.sees("delay", LEFT_OUT, "undone: s1-eth2 has no netem delay 20ms")
    ada.sees("rate", LEFT_OUT, "undone")
    assert ada.page.complaints() == []


def test_lab_14_with_slips_that_are_mended(student):
    """The wrong host, port, rate, and time; one command for two; a queue taken away before it is measured."""
    ada = student("14", *FAST)
    ada.types("h2", "ping -c 4 10.0.0.3")
    ada.sees("ping-unshaped", WRONG, "it ran on h2; it belongs on h1")
    ada.sees("ping-h2", OPEN)
    ada.types("h1", "ping -c 4 10.0.0.3")
    ada.sees("ping-unshaped", DONE)
    ada.types("client", "tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms")
    ada.sees("delay", WRONG, "netem delay 20ms is set on s1-eth1; it belongs on s1-eth2")
    assert "Client's terminal" in ada.is_helped("delay")
    ada.types("client", "tc qdisc del dev s1-eth1 root")
    ada.types("client", "tc qdisc add dev s1-eth2 root handle 1: netem delay 20000us")
    ada.sees("delay", DONE)
    ada.types("h2", "ping -c 4 -i 0.5 10.0.0.3")
    ada.sees("ping-h2", WRONG, "the interval -i is 0.5; wanted is 1")
    ada.types("h2", "ping -c 4 10.0.0.3")
    ada.sees("ping-h2", DONE)
    ada.sees("ping-h1", LEFT_OUT)
    ada.types("h1", "ping -c 4 10.0.0.3")
    ada.sees("ping-h1", DONE)

    ada.types("h1", f"sysctl -w net.ipv4.tcp_rmem={BUFFERS} net.ipv4.tcp_wmem={BUFFERS}")
    ada.sees("buffers-h1", DONE)
    ada.types("h2", f"sysctl -w net.ipv4.tcp_rmem={BUFFERS}")
    ada.sees("buffers-h3", WRONG, "is set on h2; it belongs on h3")
    ada.types("h3", f"sysctl -w net.ipv4.tcp_rmem={BUFFERS}; sysctl -w net.ipv4.tcp_wmem={BUFFERS}")
    ada.sees("buffers-h3", DONE)

    limit = "tc qdisc {} dev s1-eth2 parent 1: handle 2: tbf rate {} burst 500000 limit 160000"
    ada.types("client", limit.format("add", "1gbps"))
    ada.sees("limit-small", WRONG, "s1-eth2 has tbf rate 8gbit", "wanted is tbf rate 1gbit")
    ada.types("client", limit.format("replace", "1000mbit"))
    ada.sees("limit-small", DONE)
    ada.types("client", "tc -s qdisc show dev s1-eth2")
    ada.sees("show-small", DONE)
    ada.types("client", "tc qdisc del dev s1-eth2 parent 1:")
    ada.sees("limit-small", LEFT_OUT, "undone: s1-eth2 has no tbf")
    ada.types("client", limit.format("add", "1gbit"))
    ada.sees("limit-small", DONE)
    ada.types("h3", "iperf3 -s &", ends=False)  # its first words come behind the prompt
    ada.sees("server-small", DONE)
    ada.types("h1", "iperf3 -c 10.0.0.3 -t 1")
    ada.sees("small", WRONG, "the time -t is 1; wanted is 10")
    ada.types("h1", "iperf3 --client 10.0.0.3 --time 10")
    ada.sees("small", DONE)
    ada.types("client", "tc -s qdisc show dev s1-eth1")
    ada.sees("small-drops", WRONG, "“s1-eth1” was typed where “s1-eth2” is wanted")
    ada.types("client", "tc -s qdisc show dev s1-eth2")
    ada.sees("small-drops", DONE)
    assert ada.page.complaints() == []


def test_lab_18_with_slips_that_are_mended(student):
    """The wrong port, host, rate, target, and interval; FQ-CoDel before CoDel has been removed."""
    ada = student("18", *FAST)
    ada.types("h1", "ping -c 4 10.0.0.3")
    ada.sees("ping-unshaped", DONE)
    ada.types("client", "sudo tc qdisc add dev s1-eth2 root netem delay 20ms")
    ada.sees("delay", WRONG, "is set on s1-eth2; it belongs on s1-eth1")
    ada.types("client", "sudo tc qdisc del dev s1-eth2 root")
    ada.types("h2", "ping -c 4 10.0.0.3")
    ada.sees("ping-h2", WRONG, "the port s1-eth1 a delay of 20 ms”) is not set")
    assert "Why: " in ada.story("ping-h2")
    ada.types("client", "sudo tc qdisc add dev s1-eth1 root netem delay 0.02s")
    ada.sees("delay", DONE)
    ada.types("h2", "ping -c 4 10.0.0.3")
    ada.sees("ping-h2", DONE)
    ada.types("h1", "ping -c 4 10.0.0.3")
    ada.sees("ping-h1", DONE)

    ada.types("h1", "sysctl -w net.ipv4.tcp_congestion_control=bbr")
    ada.sees("cc-h2", WRONG, "is set on h1; it belongs on h2")
    ada.types("h1", "sysctl -w net.ipv4.tcp_congestion_control=cubic")
    ada.types("h2", "echo bbr > /proc/sys/net/ipv4/tcp_congestion_control")
    ada.sees("cc-h2", DONE)
    rate = "sudo tc qdisc {} dev {} root handle 1: tbf rate {} burst 500000 limit 26214400"
    ada.types("client", rate.format("add", "s2-eth1", "1gbit"))
    ada.sees("rate", WRONG, "is set on s2-eth1; it belongs on s2-eth2")
    ada.types("client", "sudo tc qdisc del dev s2-eth1 root")
    ada.types("client", rate.format("add", "s2-eth2", "100mbit"))
    ada.sees("rate", WRONG, "s2-eth2 has tbf rate 100mbit")
    ada.types("client", rate.format("replace", "s2-eth2", "1000mbit"))
    ada.sees("rate", DONE)

    ada.types("h3", "iperf3 -s", ends=False)
    ada.sees("tail-server-h3", DONE)
    ada.sees("step-30", OPEN)
    ada.page.button("Ctrl+C in h3", "#block-step-30").click()
    ada.sees("step-30", DONE)
    codel = "sudo tc qdisc {} dev s2-eth2 parent 1: handle 2: codel limit 17476 target {} interval {}"
    ada.types("client", codel.format("add", "5us", "100ms"))
    ada.sees("codel", WRONG, "target 5us", "wanted is codel limit 17476 target 5ms interval 100ms")
    ada.sees("fq", OPEN)
    ada.types("client", codel.format("change", "5ms", "10ms"))
    ada.sees("codel", WRONG, "interval 10ms")
    ada.types("client", codel.format("change", "0.005s", "100000us"))
    ada.sees("codel", DONE)
    two = "tc qdisc {} dev s2-eth2 parent 1: handle {}: fq_codel limit 17476 target 5ms interval 100ms flows 2"
    ada.types("client", two.format("replace", 2))  # which the kernel refuses: 2: is CoDel's handle
    ada.sees("flows2", OPEN)
    ada.types("client", two.format("replace", 3))
    ada.sees("flows2", DONE)
    ada.sees("codel-del", DONE)
    assert ada.page.complaints() == []
