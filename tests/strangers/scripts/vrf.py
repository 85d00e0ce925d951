#!/usr/bin/env python3
"""Two customers with the same addresses on one router, kept apart by VRFs."""

from mininet.net import Mininet

net = Mininet(controller=None)
r1 = net.addHost("r1", ip=None)
hosts = {}
for colour in ("red", "blue"):
    for side in (1, 2):
        name = f"{colour}{side}"
        hosts[name] = net.addHost(name, ip=f"10.0.{side}.2/24", defaultRoute=f"via 10.0.{side}.1")
        net.addLink(hosts[name], r1)
net.start()
r1.cmd("sysctl -w net.ipv4.ip_forward=1")
port = 0
for table, colour in ((10, "red"), (20, "blue")):
    print(r1.cmd(f"ip link add {colour} type vrf table {table}"), end="")
    r1.cmd(f"ip link set {colour} up")
    for side in (1, 2):
        r1.cmd(f"ip link set r1-eth{port} master {colour}; ip addr add 10.0.{side}.1/24 dev r1-eth{port}")
        port += 1
for name in ("red2", "blue2"):
    hosts[name].cmd(f"while :; do echo I am {name} | socat - TCP-LISTEN:7,reuseaddr; done > /dev/null 2>&1 &")
r1.cmd("sleep 1")
for name in ("red1", "blue1"):
    print(name, "reaches:", hosts[name].cmd("socat -t 2 - TCP:10.0.2.2:7 < /dev/null").strip())
print(r1.cmd("ip route show vrf red | grep -v broadcast"))
print("from the router:", r1.cmd("ip vrf exec blue ping -c 1 10.0.1.2 | grep received"))
for name in ("red2", "blue2"):
    hosts[name].cmd("kill %while; pkill -f 'TCP-LISTEN:7'")
net.stop()
