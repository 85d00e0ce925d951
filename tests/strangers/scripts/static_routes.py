#!/usr/bin/env python3
"""Three routers in a row with static routes; traceroute names every hop."""

from mininet.cli import CLI  # noqa: F401 - as in every tutorial
from mininet.log import setLogLevel
from mininet.net import Mininet
from mininet.node import Node


class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")

    def terminate(self):
        self.cmd("sysctl net.ipv4.ip_forward=0")
        super().terminate()


setLogLevel("info")
net = Mininet(controller=None)
h1 = net.addHost("h1", ip="10.1.0.10/24", defaultRoute="via 10.1.0.1")
h2 = net.addHost("h2", ip="10.2.0.10/24", defaultRoute="via 10.2.0.1")
r1, r2, r3 = (net.addHost(f"r{i}", cls=LinuxRouter, ip=None) for i in (1, 2, 3))
net.addLink(h1, r1, intfName2="r1-eth0", params2={"ip": "10.1.0.1/24"})
net.addLink(r1, r2, params1={"ip": "192.168.12.1/30"}, params2={"ip": "192.168.12.2/30"})
net.addLink(r2, r3, params1={"ip": "192.168.23.1/30"}, params2={"ip": "192.168.23.2/30"})
net.addLink(r3, h2, params1={"ip": "10.2.0.1/24"})
net.start()
r1.cmd("ip route add 10.2.0.0/24 via 192.168.12.2; ip route add 192.168.23.0/30 via 192.168.12.2")
r2.cmd("ip route add 10.1.0.0/24 via 192.168.12.1; ip route add 10.2.0.0/24 via 192.168.23.2")
r3.cmd("ip route add 10.1.0.0/24 via 192.168.23.1; ip route add 192.168.12.0/30 via 192.168.23.1")
print(h1.cmd("traceroute -n 10.2.0.10"))
print(h1.cmd("ping -c 3 10.2.0.10"))
print(h2.cmd("ip route get 10.1.0.10"))
net.stop()
