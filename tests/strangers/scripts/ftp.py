#!/usr/bin/env python3
"""Active FTP through a NAT: the connection tracking helper rewrites PORT and lets the data connection in."""

import os

from mininet.net import Mininet

CONF = """listen=YES
anonymous_enable=YES
anon_root=/tmp/ftp
no_anon_password=YES
port_enable=YES
connect_from_port_20=YES
secure_chroot_dir=/tmp/empty
seccomp_sandbox=NO
"""

net = Mininet(controller=None)
gw = net.addHost("gw", ip=None)
client = net.addHost("client", ip="192.168.1.2/24", defaultRoute="via 192.168.1.1")
server = net.addHost("server", ip="203.0.113.2/24")
net.addLink(client, gw, params2={"ip": "192.168.1.1/24"})
net.addLink(server, gw, params2={"ip": "203.0.113.1/24"})
net.start()
os.makedirs("/tmp/ftp")
os.makedirs("/tmp/empty")
with open("/tmp/ftp/file.txt", "w") as file:
    file.write("brought by a data connection\n")
with open("/tmp/vsftpd.conf", "w") as file:
    file.write(CONF)
server.cmd("vsftpd /tmp/vsftpd.conf > /tmp/vsftpd.log 2>&1 &")
server.cmd("for i in $(seq 50); do ss -ltn | grep -q :21 && break; sleep 0.1; done")
gw.cmd("sysctl -w net.ipv4.ip_forward=1; modprobe nf_conntrack_ftp; modprobe nf_nat_ftp")
gw.cmd("iptables -P FORWARD DROP; iptables -A FORWARD -i gw-eth0 -j ACCEPT")
gw.cmd("iptables -A FORWARD -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT")
gw.cmd("iptables -t nat -A POSTROUTING -o gw-eth1 -j MASQUERADE")
FETCH = "curl -s -m 10 --ftp-port - ftp://203.0.113.2/file.txt || echo failed with $?"
print("without helper:", client.cmd(FETCH))
print(gw.cmd("iptables -t raw -A PREROUTING -p tcp --dport 21 -j CT --helper ftp"), end="")
print("with helper:", client.cmd(FETCH))
server.cmd("kill %vsftpd; cat /tmp/vsftpd.log")
net.stop()
