#!/usr/bin/env python3
"""A GRE tunnel with a key between two private networks, over a provider that has no route to either."""

from mininet.net import Mininet

net = Mininet(controller=None)
isp = net.addHost("isp", ip=None)
ends = []
for n in (1, 2):
    gw = net.addHost(f"gw{n}", ip=f"198.51.{n}.2/24", defaultRoute=f"via 198.51.{n}.1")
    pc = net.addHost(f"pc{n}", ip=f"192.168.{n}.2/24", defaultRoute=f"via 192.168.{n}.1")
    net.addLink(gw, isp, params2={"ip": f"198.51.{n}.1/24"})
    net.addLink(gw, pc, params1={"ip": f"192.168.{n}.1/24"})
    ends.append((gw, pc))
net.start()
isp.cmd("sysctl -w net.ipv4.ip_forward=1")
print("without:", ends[0][1].cmd("ping -c 1 -W 1 192.168.2.2 | grep received"))
for n, (gw, _) in enumerate(ends, 1):
    other = 3 - n
    gw.cmd("sysctl -w net.ipv4.ip_forward=1")
    print(gw.cmd(f"ip tunnel add tun0 mode gre remote 198.51.{other}.2 local 198.51.{n}.2 ttl 64 key 7"), end="")
    gw.cmd(f"ip addr add 172.30.0.{n}/30 dev tun0; ip link set tun0 up; ip route add 192.168.{other}.0/24 dev tun0")
isp.cmd("timeout 5 tcpdump -n -v -c 1 -i isp-eth0 proto gre > /tmp/gre 2>/dev/null &")
isp.cmd("sleep 0.5")
print("through:", ends[0][1].cmd("ping -c 3 192.168.2.2 | grep received"))
print(ends[0][1].cmd("traceroute -n -q 1 192.168.2.2"))
print(isp.cmd("wait; grep -o 'GREv0.*key=0x7' /tmp/gre | head -1"))
print(ends[0][0].cmd("ip -o link show tun0 | grep -o 'mtu [0-9]*'"))
net.stop()
