# SPDX-License-Identifier: BSD-3-Clause
import pytest

from linklab.doctor import engines, fit
from linklab.doctor.fit import Fit, fits, of_lab
from linklab.doctor.machine import MachineCheck
from linklab.engine import host_kernel
from linklab.errors import MissingError
from linklab.lab.model import find_lab, load_lab
from linklab.tc.needs import Needs, of_text
from linklab.topology import Topology
from linklab.topology.needs import of_topology

WITH_DELAY = """{"hosts": [{"number": "1", "opts": {"hostname": "h1", "nodeNum": 1}, "x": "1", "y": "1"},
 {"number": "2", "opts": {"hostname": "h2", "nodeNum": 2}, "x": "3", "y": "1"}], "switches": [], "controllers": [],
 "links": [{"src": "h1", "dest": "h2", "opts": {"bw": 10, "delay": "20ms"}}], "version": "2"}"""


def test_what_is_typed_says_what_a_kernel_must_have():
    """Disciplines wherever they hang, filters, links, algorithms by each way to choose one."""
    typed = """sudo tc qdisc add dev s1-eth1 root handle 1: netem delay 20ms
tc qdisc replace dev s1-eth1 parent 1: handle 2: tbf rate 1gbit burst 500000 \\
   limit 2621440
tc qdisc change dev s1-eth1 root netem delay 10ms; tc qdisc del dev s1-eth1 root
tc qdisc add dev h1-eth0 ingress
tc filter add dev s2-eth2 protocol ip parent 1:0 prio 1 u32 match ip src 10.0.0.1 flowid 1:10
ip link add ifb0 type ifb
sysctl -w net.ipv4.tcp_congestion_control=bbr
iperf3 -c 10.0.0.2 -t 20 -C htcp
concurrent -t 5 h1:h3:reno h2:h4:vegas"""
    assert of_text(typed) == Needs(
        qdiscs=frozenset({"netem", "tbf", "ingress"}),
        filters=frozenset({"u32"}),
        links=frozenset({"ifb"}),
        congestion=frozenset({"bbr", "htcp", "reno", "vegas"}),
    )
    assert of_text("sudo mn --test pingall").families == {"ovs_datapath"}
    assert not of_text("tc qdisc show dev s1-eth1; tc qdisc del dev s1-eth1 root; ip link set h1-eth0 up")


def test_a_drawing_needs_what_mininet_makes_of_it():
    """Links are veth; a rate is HTB, a delay netem."""
    found = of_topology(Topology.loads(WITH_DELAY, "drawn"))
    assert str(found) == "htb, netem, veth, cubic"
    assert str(of_topology(None)) == "veth, cubic"


def test_what_a_lab_needs_is_read_from_its_manual():
    """Lab 20: HTB with filters, and RED at the other port."""
    found = of_lab(load_lab(find_lab("20")))
    assert found.qdiscs == {"htb", "fq_codel", "netem", "red", "tbf"}
    assert found.filters == {"u32"}
    assert of_lab(load_lab(find_lab("2"))).qdiscs == frozenset()


def test_each_lab_is_told_which_engine_can_run_it_and_why_not(monkeypatch):
    """The kernel is asked once, for all that any of them needs."""
    asked = []
    wanted = {"Lab 3": of_text("tc qdisc add dev a root netem delay 1ms"), "Lab 2": Needs(links=frozenset({"veth"}))}

    def lacks(needs):
        asked.append(needs)
        return Needs(qdiscs=frozenset({"netem"}))

    monkeypatch.setattr(host_kernel, "lacks", lacks)
    found = fits(wanted, pocket="missing: pocket kernel", host="")
    assert [(fit.name, fit.pocket, fit.host, fit.engines) for fit in found] == [
        ("Lab 3", "missing: pocket kernel", "this kernel lacks netem", []),
        ("Lab 2", "missing: pocket kernel", "", ["host"]),
    ]
    assert [str(needs) for needs in asked] == ["netem, veth"]
    assert [fit.host for fit in fits(wanted, pocket="", host="not usable, see above")] == [
        "not usable, see above; this kernel lacks netem",
        "not usable, see above",
    ]
    monkeypatch.setattr(host_kernel, "lacks", lambda needs: None)
    assert fits(wanted, pocket="", host="not usable, see above")[0].host == "not usable, see above"
    assert fits(wanted, pocket="", host="")[0].host == "what this kernel has cannot be found out without root"


def test_a_kernel_that_lacks_something_is_named_with_the_pocket_as_the_way_out(monkeypatch):
    """Before anything is built."""
    monkeypatch.setattr(host_kernel, "lacks", lambda needs: needs & Needs(qdiscs=frozenset({"netem", "pie"})))
    monkeypatch.setattr(host_kernel.os, "uname", lambda: type("U", (), {"release": "6.18"}))
    with pytest.raises(MissingError) as refused:
        fit.require(load_lab(find_lab("19")), None)
    assert str(refused.value) == (
        "Lab 19: Proportional Integral controller Enhanced (PIE) needs netem, pie, which this machine's kernel (Linux "
        "6.18) does not have; the pocket brings a kernel that does: --engine pocket"
    )
    fit.require(load_lab(find_lab("2")), None)


def test_doctor_counts_what_this_kernel_can_run(monkeypatch):
    """A warning, since the pocket does without."""
    monkeypatch.setattr(engines.os, "uname", lambda: type("U", (), {"release": "6.18"}))
    found = [Fit("Lab 1", "", "", ""), Fit("Lab 2", "", "", "this kernel lacks netem")]
    cure = "use the pocket for the others; a distribution's own kernel has the modules"
    assert engines.check_host("", found) == MachineCheck(
        "host engine", "warn", "Linux 6.18 can run 1 of 2 labs and exercises", cure
    )
    assert engines.check_host("", found[:1]).status == "ok"
    assert engines.check_host("no sudo", []).status == "warn"


def test_neighbouring_labs_are_named_together():
    """As a person would write it."""
    names = ["Lab 3", "Lab 4", "Lab 5", "Lab 8", "Exercise 2", "Problem 1", "Problem 2"]
    assert engines.shortened(names) == "Labs 3 to 5, 8; Exercise 2; Problems 1 to 2"
