#!/usr/bin/env python3
"""Three bridges in a ring: the spanning tree blocks one port, and opens it when another link fails."""

import time

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

net = Mininet(controller=None, switch=LinuxBridge)
hosts = [net.addHost(f"h{i}") for i in (1, 2, 3)]
bridges = [net.addSwitch(f"s{i}", stp=True, prio=str(4096 * i)) for i in (1, 2, 3)]
for host, bridge in zip(hosts, bridges):
    net.addLink(host, bridge)
for a, b in ((0, 1), (1, 2), (2, 0)):
    net.addLink(bridges[a], bridges[b])
net.start()


def blocked():
    """Ports whose state is blocking, 4 in linux/if_bridge.h."""
    return bridges[0].cmd("cd /sys/class/net; grep -l 4 */brport/state | cut -d/ -f1").split()


time.sleep(40)
print("blocked:", blocked())
print(f"loss with the ring whole: {net.pingAll():.0f} %")
net.configLinkStatus("s1", "s3", "down")
time.sleep(60)
print("blocked after s1-s3 is down:", blocked())
print(f"loss with the ring cut: {net.pingAll():.0f} %")
net.stop()
