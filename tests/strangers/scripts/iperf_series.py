#!/usr/bin/env python3
"""iperf3 over links of 1, 5, 10, 50 and 100 Mbit/s: the goodput of each, as a table for the report."""

import json

from mininet.link import TCLink
from mininet.net import Mininet
from mininet.node import OVSBridge
from mininet.topo import SingleSwitchTopo

print("rate goodput share")
for rate in (1, 5, 10, 50, 100):
    net = Mininet(topo=SingleSwitchTopo(2, lopts={"bw": rate}), link=TCLink, switch=OVSBridge, controller=None)
    for link in net.links:
        for interface in (link.intf1, link.intf2):
            interface.config(bw=rate, max_queue_size=50)
    net.start()
    h1, h2 = net.get("h1", "h2")
    h2.cmd("iperf3 -s -1 -D")
    result = json.loads(h1.cmd(f"iperf3 -c {h2.IP()} -t 10 -J"))
    goodput = result["end"]["sum_received"]["bits_per_second"] / 1e6
    print(f"{rate} {goodput:.2f} {goodput / rate:.3f}")
    net.stop()
