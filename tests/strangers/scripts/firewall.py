#!/usr/bin/env python3
"""A stateful firewall in nftables: it lets web traffic in and everything out, and a port scan sees exactly that."""

from mininet.net import Mininet

RULES = """
flush ruleset
table inet filter {
  set scanners { type ipv4_addr; flags dynamic,timeout; timeout 60s; }
  counter refused { }
  chain forward {
    type filter hook forward priority 0; policy drop;
    ct state established,related accept
    ct state invalid drop
    iifname "fw-eth0" accept
    ip saddr @scanners drop
    tcp dport { 80, 443 } ct state new accept
    ct state new update @scanners { ip saddr limit rate over 20/second burst 200 packets } counter name refused drop
    counter name refused drop
  }
}
"""

net = Mininet(controller=None)
fw = net.addHost("fw", ip=None)
inside = net.addHost("inside", ip="10.0.0.2/24", defaultRoute="via 10.0.0.1")
outside = net.addHost("outside", ip="192.0.2.2/24", defaultRoute="via 192.0.2.1")
net.addLink(inside, fw, params2={"ip": "10.0.0.1/24"})
net.addLink(outside, fw, params2={"ip": "192.0.2.1/24"})
net.start()
fw.cmd("sysctl -w net.ipv4.ip_forward=1")
with open("/tmp/rules.nft", "w") as file:
    file.write(RULES)
print(fw.cmd("nft -f /tmp/rules.nft"), end="")
for port in (22, 80):
    inside.cmd(f"python3 -m http.server {port} > /dev/null 2>&1 &")
outside.cmd("python3 -m http.server 8080 > /dev/null 2>&1 &")
inside.cmd("until ss -ltn | grep -q :22; do sleep 0.1; done")
inside.cmd("until ss -ltn | grep -q :80; do sleep 0.1; done")
print("web in:", outside.cmd("curl -s -m 3 -o /dev/null -w '%{http_code}' http://10.0.0.2/"))
print("ssh port in:", outside.cmd("curl -s -m 3 -o /dev/null -w '%{http_code}' http://10.0.0.2:22/"))
print("ping in:", outside.cmd("ping -c 2 -W 1 10.0.0.2 | grep -o '[0-9]* received'"))
print("out:", inside.cmd("curl -s -m 3 -o /dev/null -w '%{http_code}' http://192.0.2.2:8080/"))
print("ping out:", inside.cmd("ping -c 2 192.0.2.2 | grep -o '[0-9]* received'"))
print(outside.cmd("nmap -Pn -n -p 22,80,443 10.0.0.2 | grep tcp"))
print(fw.cmd("nft list counter inet filter refused | grep -o 'packets [0-9]*'"))
for host in (inside, outside):
    host.cmd("pkill -f http.server")
net.stop()
