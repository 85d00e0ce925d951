#!/usr/bin/env python3
"""VXLAN between two sites over a routed network: one Ethernet for both, with an MTU that is 50 bytes smaller."""

from mininet.net import Mininet

net = Mininet(controller=None)
core = net.addHost("core", ip=None)
sites = []
for n in (1, 2):
    gateway = net.addHost(f"g{n}", ip=f"192.0.2.{n * 64 + 2}/26", defaultRoute=f"via 192.0.2.{n * 64 + 1}")
    host = net.addHost(f"h{n}", ip=f"10.0.0.{n}/24")
    net.addLink(gateway, core, params2={"ip": f"192.0.2.{n * 64 + 1}/26"})
    net.addLink(gateway, host)
    sites.append((gateway, host))
net.start()
core.cmd("sysctl -w net.ipv4.ip_forward=1")
for n, (gateway, _) in enumerate(sites, 1):
    other = 192 - n * 64 + 2
    gateway.cmd(f"ip link add vx0 type vxlan id 42 remote 192.0.2.{other} dstport 4789 dev g{n}-eth0")
    gateway.cmd(f"ip addr flush dev g{n}-eth1; ip link add br0 type bridge; ip link set g{n}-eth1 master br0")
    gateway.cmd("ip link set vx0 master br0; ip link set vx0 up; ip link set br0 up")
g1, h1 = sites[0]
g1.cmd("sleep 1")
core.cmd("timeout 4 tcpdump -n -c 2 -i core-eth0 udp port 4789 > /tmp/outside 2>/dev/null &")
core.cmd("sleep 0.5")
print(h1.cmd("ping -c 3 10.0.0.2"))
print(core.cmd("wait; grep -o 'VXLAN.*vni 42' /tmp/outside | head -1"))
print("mtu:", g1.cmd("cat /sys/class/net/vx0/mtu"))
print("1450 bytes:", h1.cmd("ping -c 1 -W 1 -M do -s 1422 10.0.0.2 | grep received"))
print("1451 bytes:", h1.cmd("ping -c 1 -W 1 -M do -s 1423 10.0.0.2 | grep received"))
print(g1.cmd("bridge fdb show dev vx0 | grep -c 192.0.2.130"))
net.stop()
