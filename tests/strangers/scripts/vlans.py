#!/usr/bin/env python3
"""Two VLANs over a trunk of two Open vSwitch bridges, and a router on a stick between them."""

from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(controller=None, switch=OVSBridge)
s1, s2 = net.addSwitch("s1"), net.addSwitch("s2")
members = {"a1": (s1, 10), "a2": (s2, 10), "b1": (s1, 20), "b2": (s2, 20)}
for number, (name, (switch, vlan)) in enumerate(members.items(), 1):
    host = net.addHost(name, ip=f"10.0.{vlan}.{number}/24", defaultRoute=f"via 10.0.{vlan}.254")
    net.addLink(host, switch)
router = net.addHost("r1", ip=None)
net.addLink(s1, s2)
net.addLink(router, s1)
net.start()
for name, (switch, vlan) in members.items():
    port = net[name].connectionsTo(switch)[0][1]
    switch.cmd(f"ovs-vsctl set port {port} tag={vlan}")
print("same VLAN:", net["a1"].cmd("ping -c 2 -W 1 10.0.10.2 | grep received"))
print("no router yet:", net["a1"].cmd("ping -c 2 -W 1 10.0.20.4 | grep received"))
for vlan in (10, 20):
    router.cmd(f"ip link add link r1-eth0 name r1.{vlan} type vlan id {vlan}")
    router.cmd(f"ip addr add 10.0.{vlan}.254/24 dev r1.{vlan}; ip link set r1.{vlan} up")
router.cmd("sysctl -w net.ipv4.ip_forward=1")
router.cmd("timeout 5 tcpdump -n -e -c 6 -i r1-eth0 vlan > /tmp/tags 2>/dev/null &")
router.cmd("sleep 0.5")
print("by the router:", net["a1"].cmd("ping -c 2 -W 1 10.0.20.4 | grep -E 'received|ttl'"))
print(router.cmd("wait; grep -o 'vlan [0-9]*' /tmp/tags | sort -u"))
net.stop()
