#!/usr/bin/env python3
"""How long a ping takes while a download fills the buffer: 100 packets of drop-tail, then FQ-CoDel."""

import re

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import Topo


class Home(Topo):
    """h1 - s1 - s2 - h2, the middle link slow."""

    def build(self):
        h1, h2 = self.addHost("h1"), self.addHost("h2")
        s1, s2 = self.addSwitch("s1"), self.addSwitch("s2")
        self.addLink(h1, s1)
        self.addLink(s1, s2, bw=10, delay="10ms", max_queue_size=100)
        self.addLink(s2, h2)


def ping(h1, h2, seconds):
    out = h1.cmd(f"ping -i 0.2 -w {seconds} {h2.IP()}")
    return [float(ms) for ms in re.findall(r"time=([\d.]+)", out)]


def loaded(h1, h2):
    h2.cmd("iperf3 -s -D -1")
    h1.cmd(f"iperf3 -c {h2.IP()} -t 20 > /tmp/load &")
    h1.cmd("sleep 4")
    times = ping(h1, h2, 14)
    h1.cmd("wait")
    return times


net = Mininet(topo=Home(), link=TCLink, switch=OVSBridge, controller=None)
net.start()
h1, h2, s1 = net.get("h1", "h2", "s1")
h1.cmd(f"ping -c 1 {h2.IP()}")
idle = ping(h1, h2, 4)
print(f"idle: median {sorted(idle)[len(idle) // 2]:.1f} ms")
bloated = loaded(h1, h2)
print(f"drop-tail under load: worst {max(bloated):.1f} ms")
s1.cmd("tc qdisc replace dev s1-eth2 parent 5:1 handle 20: fq_codel")
managed = loaded(h1, h2)
print(f"fq_codel under load: worst {max(managed):.1f} ms")
net.stop()
