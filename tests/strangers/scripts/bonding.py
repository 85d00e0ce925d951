#!/usr/bin/env python3
"""Two links bonded as active-backup: pings continue when the active one loses its carrier."""

from mininet.net import Mininet

net = Mininet(controller=None)
h1, h2 = net.addHost("h1", ip=None), net.addHost("h2", ip=None)
for _ in (1, 2):
    net.addLink(h1, h2)
net.start()
for n, host in enumerate((h1, h2), 1):
    host.cmd("modprobe bonding")
    print(host.cmd("ip link add bond0 type bond mode active-backup miimon 100"), end="")
    for port in (0, 1):
        host.cmd(f"ip addr flush dev {host}-eth{port}; ip link set {host}-eth{port} down")
        host.cmd(f"ip link set {host}-eth{port} master bond0")
    host.cmd(f"ip link set bond0 up; ip addr add 10.0.0.{n}/24 dev bond0")
h1.cmd("sleep 2")
print("active:", h1.cmd("cat /sys/class/net/bond0/bonding/active_slave"))
h1.cmd("ping -i 0.2 -c 50 10.0.0.2 > /tmp/ping &")
h1.cmd("sleep 3")
h2.cmd("ip link set h2-eth0 down")
h1.cmd("wait")
print("active then:", h1.cmd("cat /sys/class/net/bond0/bonding/active_slave"))
print(h1.cmd("grep -o '[0-9]* received' /tmp/ping"))
print(h1.cmd("grep -c 'MII Status: down' /proc/net/bonding/bond0"))
net.stop()
