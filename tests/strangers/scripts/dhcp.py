#!/usr/bin/env python3
"""An ISC DHCP server and two clients without addresses: the leases, the router, and the name server they get."""

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

CONF = """
default-lease-time 600;
max-lease-time 7200;
authoritative;
subnet 10.5.0.0 netmask 255.255.255.0 {
  range 10.5.0.100 10.5.0.110;
  option routers 10.5.0.1;
  option domain-name-servers 10.5.0.53;
  host printer { hardware ethernet 00:00:00:00:00:03; fixed-address 10.5.0.9; }
}
"""

net = Mininet(controller=None, switch=LinuxBridge, autoSetMacs=True)
s1 = net.addSwitch("s1")
server = net.addHost("server", ip="10.5.0.1/24")
client = net.addHost("client", ip=None)
printer = net.addHost("printer", ip=None)
for host in (server, client, printer):
    net.addLink(host, s1)
net.start()
with open("/tmp/dhcpd.conf", "w") as file:
    file.write(CONF)
open("/tmp/dhcpd.leases", "w").close()
print(server.cmd("dhcpd -4 -q -cf /tmp/dhcpd.conf -lf /tmp/dhcpd.leases -pf /tmp/dhcpd.pid server-eth0 2>&1 | tail -2"))
for host in (client, printer):
    host.cmd(f"ip addr flush dev {host}-eth0")
    host.cmd(f"dhclient -4 -1 -pf /tmp/{host}.pid -lf /tmp/{host}.leases {host}-eth0")
    print(host.name, host.cmd(f"ip -o -4 addr show dev {host}-eth0"))
print(client.cmd("ip route show default"))
print(client.cmd("grep nameserver /etc/resolv.conf"))
print(server.cmd("grep -c 'binding state active' /tmp/dhcpd.leases"))
print(client.cmd("ping -c 2 10.5.0.9 | grep received"))
server.cmd("kill $(cat /tmp/*.pid)")
net.stop()
