#!/usr/bin/env python3
"""Multicast through a router (smcroute): the group's traffic reaches the member's network but not the other one."""

from mininet.net import Mininet

RECEIVE = """
import socket, struct, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 5007))
s.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
             socket.inet_aton("239.1.1.1") + socket.inet_aton(sys.argv[1]))
s.settimeout(10)
try:
    while True:
        data, (sender, _) = s.recvfrom(100)
        print(data.decode(), "from", sender, flush=True)
except TimeoutError:
    pass
"""

net = Mininet(controller=None)
r1 = net.addHost("r1", ip=None)
hosts = []
for n, name in enumerate(("source", "member", "stranger"), 1):
    host = net.addHost(name, ip=f"10.{n}.0.2/24", defaultRoute=f"via 10.{n}.0.1")
    net.addLink(host, r1, params2={"ip": f"10.{n}.0.1/24"})
    hosts.append(host)
source, member, stranger = hosts
net.start()
with open("/tmp/receive.py", "w") as file:
    file.write(RECEIVE)
with open("/tmp/smcroute.conf", "w") as file:
    file.write("mgroup from r1-eth0 group 239.1.1.1\nmroute from r1-eth0 group 239.1.1.1 to r1-eth1\n")
r1.cmd("sysctl -w net.ipv4.ip_forward=1")
print(r1.cmd("smcrouted -f /tmp/smcroute.conf -i r1 2>&1"))
for n, host in ((2, member), (3, stranger)):
    host.cmd(f"python3 /tmp/receive.py 10.{n}.0.2 > /tmp/{host} 2>&1 &")
source.cmd("sleep 2; sysctl -w net.ipv4.conf.all.rp_filter=0")
source.cmd("for i in 1 2 3; do echo -n tick $i | socat - UDP4-DATAGRAM:239.1.1.1:5007,ip-multicast-ttl=4; sleep 0.5; done")
print(r1.cmd("ip mroute show"))
for host in (member, stranger):
    host.cmd("wait")
    print(f"{host}:", host.cmd(f"cat /tmp/{host}").strip() or "nothing")
r1.cmd("smcroutectl -i r1 kill")
net.stop()
