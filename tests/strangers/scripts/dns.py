#!/usr/bin/env python3
"""BIND serves a zone on one host; a caching resolver on another is configured to ask it."""

from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

ZONE = """$TTL 300
@ IN SOA ns.lab.test. admin.lab.test. (1 3600 900 604800 300)
@ IN NS ns.lab.test.
ns IN A 10.0.0.1
www IN A 10.0.0.80
www IN AAAA 2001:db8::80
alias IN CNAME www
"""
AUTHORITY = """options { directory "/tmp/ns"; listen-on { 10.0.0.1; }; listen-on-v6 { none; }; recursion no;
 pid-file "/tmp/ns/pid"; session-keyfile "/tmp/ns/session.key"; };
controls { };
zone "lab.test" { type primary; file "/tmp/ns/lab.test"; };
"""
RESOLVER = """options { directory "/tmp/rs"; listen-on { 10.0.0.2; }; listen-on-v6 { none; }; recursion yes;
 dnssec-validation no; pid-file "/tmp/rs/pid"; session-keyfile "/tmp/rs/session.key"; };
controls { };
zone "lab.test" { type static-stub; server-addresses { 10.0.0.1; }; };
"""

net = Mininet(controller=None, switch=LinuxBridge)
s1 = net.addSwitch("s1")
ns, resolver, client = (net.addHost(name, ip=f"10.0.0.{i}/24") for i, name in enumerate(("ns", "rs", "client"), 1))
for host in (ns, resolver, client):
    net.addLink(host, s1)
net.start()
for host, folder, conf in ((ns, "/tmp/ns", AUTHORITY), (resolver, "/tmp/rs", RESOLVER)):
    host.cmd(f"mkdir -p {folder}")
    with open(f"{folder}/named.conf", "w") as file:
        file.write(conf)
    with open(f"{folder}/lab.test", "w") as file:
        file.write(ZONE)
    host.cmd(f"chown -R bind {folder}; named -u bind -c {folder}/named.conf")
    host.cmd("for i in $(seq 50); do ss -lun | grep -q :53 && break; sleep 0.2; done")
print("authority:", client.cmd("dig +short @10.0.0.1 www.lab.test A"))
print("resolver:", client.cmd("dig +noall +answer @10.0.0.2 alias.lab.test A"))
client.cmd("sleep 10")
print("cached:", client.cmd("dig +noall +answer @10.0.0.2 www.lab.test A"))
client.cmd("echo nameserver 10.0.0.2 > /etc/resolv.conf")
print("by the C library:", client.cmd("getent ahostsv4 www.lab.test | head -1"))
print("no such name:", client.cmd("dig @10.0.0.2 none.lab.test | grep -o 'status: [A-Z]*'"))
for host, folder in ((ns, "/tmp/ns"), (resolver, "/tmp/rs")):
    host.cmd(f"kill $(cat {folder}/pid)")
net.stop()
