#!/usr/bin/env python3
"""Two private hosts behind one address: the web server outside sees only the router."""

from mininet.net import Mininet
from mininet.node import OVSBridge

net = Mininet(controller=None, switch=OVSBridge)
s1 = net.addSwitch("s1")
h1 = net.addHost("h1", ip="192.168.1.11/24", defaultRoute="via 192.168.1.1")
h2 = net.addHost("h2", ip="192.168.1.12/24", defaultRoute="via 192.168.1.1")
gw = net.addHost("gw", ip=None)
web = net.addHost("web", ip="203.0.113.80/24")
for host in (h1, h2):
    net.addLink(host, s1)
net.addLink(gw, s1, params1={"ip": "192.168.1.1/24"})
net.addLink(gw, web, params1={"ip": "203.0.113.1/24"})
net.start()
gw.cmd("sysctl -w net.ipv4.ip_forward=1")
gw.cmd("iptables -t nat -A POSTROUTING -o gw-eth1 -j MASQUERADE")
gw.cmd("iptables -A FORWARD -i gw-eth1 -m conntrack --ctstate NEW -j DROP")
web.cmd("python3 -m http.server 80 > /tmp/web.log 2>&1 &")
web.cmd("until ss -ltn | grep -q :80; do sleep 0.1; done")
for host in (h1, h2):
    print(host.name, host.cmd("curl -s -o /dev/null -w '%{http_code}' http://203.0.113.80/"))
print(web.cmd("cut -d' ' -f1 /tmp/web.log | sort | uniq -c"))
print("from outside:", web.cmd("ip route add 192.168.1.0/24 via 203.0.113.1; ping -c 2 -W 1 192.168.1.11 | grep received"))
print(gw.cmd("iptables -t nat -L POSTROUTING -v -n | grep MASQUERADE"))
web.cmd("kill %python3")
net.stop()
