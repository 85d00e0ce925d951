#!/usr/bin/env python3
"""Static MPLS: pushed at the first router, swapped in the core, popped at the last."""

from mininet.net import Mininet

net = Mininet(controller=None)
h1 = net.addHost("h1", ip="10.1.0.2/24", defaultRoute="via 10.1.0.1")
h2 = net.addHost("h2", ip="10.2.0.2/24", defaultRoute="via 10.2.0.1")
pe1, p, pe2 = (net.addHost(name, ip=None) for name in ("pe1", "p", "pe2"))
net.addLink(h1, pe1, params2={"ip": "10.1.0.1/24"})
net.addLink(pe1, p, params1={"ip": "192.168.1.1/30"}, params2={"ip": "192.168.1.2/30"})
net.addLink(p, pe2, params1={"ip": "192.168.2.1/30"}, params2={"ip": "192.168.2.2/30"})
net.addLink(pe2, h2, params1={"ip": "10.2.0.1/24"})
net.start()
for router, interfaces in ((pe1, ("pe1-eth1",)), (p, ("p-eth0", "p-eth1")), (pe2, ("pe2-eth0",))):
    router.cmd("modprobe mpls_router; modprobe mpls_iptunnel")
    print(router.cmd("sysctl -q -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.mpls.platform_labels=1000"),
          end="")
    for interface in interfaces:
        router.cmd(f"sysctl -q -w net.mpls.conf.{interface}.input=1")
print(pe1.cmd("ip route add 10.2.0.0/24 encap mpls 100 via 192.168.1.2"), end="")
print(p.cmd("ip -f mpls route add 100 as 200 via inet 192.168.2.2"), end="")
print(pe2.cmd("ip -f mpls route add 200 via inet 10.2.0.2"), end="")
print(pe2.cmd("ip route add 10.1.0.0/24 encap mpls 300 via 192.168.2.1"), end="")
print(p.cmd("ip -f mpls route add 300 as 400 via inet 192.168.1.1"), end="")
print(pe1.cmd("ip -f mpls route add 400 via inet 10.1.0.2"), end="")
p.cmd("timeout 5 tcpdump -n -c 2 -i p-eth0 mpls > /tmp/in 2>/dev/null &")
p.cmd("timeout 5 tcpdump -n -c 2 -i p-eth1 mpls > /tmp/out 2>/dev/null &")
p.cmd("sleep 0.5")
print(h1.cmd("ping -c 3 10.2.0.2"))
p.cmd("wait")
print("in:", p.cmd("grep -o 'MPLS (label [0-9]*' /tmp/in | sort -u").split())
print("out:", p.cmd("grep -o 'MPLS (label [0-9]*' /tmp/out | sort -u").split())
net.stop()
