#!/usr/bin/env python3
"""WireGuard between two hosts: pings go through unread, and a peer that was removed gets no answer."""

from mininet.net import Mininet

net = Mininet(controller=None)
r1 = net.addHost("r1", ip=None)
a = net.addHost("a", ip="10.1.0.2/24", defaultRoute="via 10.1.0.1")
b = net.addHost("b", ip="10.2.0.2/24", defaultRoute="via 10.2.0.1")
net.addLink(a, r1, params2={"ip": "10.1.0.1/24"})
net.addLink(b, r1, params2={"ip": "10.2.0.1/24"})
net.start()
r1.cmd("sysctl -w net.ipv4.ip_forward=1")
public = {}
for host in (a, b):
    host.cmd(f"umask 077; wg genkey > /tmp/{host}.key")
    public[host.name] = host.cmd(f"wg pubkey < /tmp/{host}.key").strip()
for n, (host, peer, where) in enumerate(((a, b, "10.2.0.2"), (b, a, "10.1.0.2")), 1):
    print(host.cmd("ip link add wg0 type wireguard"), end="")
    host.cmd(f"ip addr add 10.9.0.{n}/24 dev wg0")
    host.cmd(f"wg set wg0 listen-port 51820 private-key /tmp/{host}.key peer {public[peer.name]}"
             f" allowed-ips 10.9.0.{3 - n}/32 endpoint {where}:51820")
    host.cmd("ip link set wg0 up")
r1.cmd("timeout 6 tcpdump -n -i r1-eth0 > /tmp/between 2>/dev/null &")
r1.cmd("sleep 0.5")
print(a.cmd("ping -c 3 10.9.0.2"))
print("mtu:", a.cmd("cat /sys/class/net/wg0/mtu"))
print("handshake:", a.cmd("wg show wg0 latest-handshakes | awk '{print ($2 > 0)}'"))
r1.cmd("wait")
print("pings seen between:", r1.cmd("grep -c 'ICMP echo' /tmp/between").strip())
print("WireGuard seen between:", r1.cmd("grep -c '51820.*UDP' /tmp/between | awk '{print ($1 >= 8)}'").strip())
b.cmd(f"wg set wg0 peer {public['a']} remove")
a.cmd("ip link set wg0 down; ip link set wg0 up")
print("peer removed:", a.cmd("ping -c 2 -W 1 10.9.0.2 | grep received"))
net.stop()
