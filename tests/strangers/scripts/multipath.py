#!/usr/bin/env python3
"""Two equal routes between two routers: flows are spread, one flow stays on one path."""

from mininet.net import Mininet

net = Mininet(controller=None)
h1 = net.addHost("h1", ip="10.1.0.2/24", defaultRoute="via 10.1.0.1")
h2 = net.addHost("h2", ip="10.2.0.2/24", defaultRoute="via 10.2.0.1")
r1, r2 = net.addHost("r1", ip=None), net.addHost("r2", ip=None)
net.addLink(h1, r1, params2={"ip": "10.1.0.1/24"})
net.addLink(h2, r2, params2={"ip": "10.2.0.1/24"})
for n in (1, 2):
    net.addLink(r1, r2, params1={"ip": f"192.168.{n}.1/30"}, params2={"ip": f"192.168.{n}.2/30"})
net.start()
for router, there, side in ((r1, "10.2.0.0/24", 2), (r2, "10.1.0.0/24", 1)):
    router.cmd("sysctl -w net.ipv4.ip_forward=1 net.ipv4.fib_multipath_hash_policy=1")
    router.cmd(f"ip route add {there} nexthop via 192.168.1.{side} nexthop via 192.168.2.{side}")
print(r1.cmd("ip route show 10.2.0.0/24"))


def packets():
    return [int(r1.cmd(f"cat /sys/class/net/r1-eth{n}/statistics/tx_packets")) for n in (1, 2)]


h2.cmd("socat -u UDP-RECV:5000 /dev/null &")
h1.cmd("ping -c 2 10.2.0.2")
before = packets()
for port in range(40000, 40100):
    h1.cmd(f"echo x | socat - UDP:10.2.0.2:5000,sourceport={port}")
many = [after - first for after, first in zip(packets(), before)]
print(f"100 flows: {sum(many)} packets, at least 30 on each path: {min(many) >= 30}")
before = packets()
h1.cmd("(for i in $(seq 20); do echo x; sleep 0.05; done) | socat - UDP:10.2.0.2:5000,sourceport=41000")
one = sorted(after - first for after, first in zip(packets(), before))
print(f"one flow: {one} packets by path")
h2.cmd("kill %socat")
net.stop()
