#!/usr/bin/env python3
"""radvd on a router: hosts configure their own IPv6 addresses, learn the default route, and reach each other."""

from mininet.net import Mininet

CONF = "".join(
    f"interface r1-eth{n} {{ AdvSendAdvert on; MinRtrAdvInterval 3; MaxRtrAdvInterval 4; AdvLinkMTU 1400;"
    f" prefix 2001:db8:{n + 1}::/64 {{ AdvOnLink on; AdvAutonomous on; }}; }};\n"
    for n in (0, 1)
)

net = Mininet(controller=None)
r1 = net.addHost("r1", ip=None)
h1, h2 = net.addHost("h1", ip=None, mac="00:00:00:00:00:01"), net.addHost("h2", ip=None, mac="00:00:00:00:00:02")
for host in (h1, h2):
    net.addLink(host, r1)
net.start()
for host in (h1, h2):
    host.cmd("sysctl -w net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0")
r1.cmd("sysctl -w net.ipv6.conf.all.forwarding=1")
for n in (0, 1):
    r1.cmd(f"ip -6 addr add 2001:db8:{n + 1}::1/64 dev r1-eth{n}")
with open("/tmp/radvd.conf", "w") as file:
    file.write(CONF)
print(r1.cmd("radvd -C /tmp/radvd.conf -p /tmp/radvd.pid -m logfile -l /tmp/radvd.log 2>&1"))
h1.cmd("sleep 10")
for host in (h1, h2):
    print(host.name, host.cmd(f"ip -6 -o addr show scope global dev {host}-eth0 | awk '{{print $4}}'").strip())
print(h1.cmd("ip -6 route show default"))
print(h1.cmd("cat /proc/sys/net/ipv6/conf/h1-eth0/mtu"))
print(h1.cmd("ping -c 3 2001:db8:2::200:ff:fe00:2"))
print(h1.cmd("rdisc6 -1 -q h1-eth0"))
r1.cmd("kill $(cat /tmp/radvd.pid)")
net.stop()
