#!/usr/bin/env python3
"""OSPF with FRR in a triangle: the cheap detour is preferred to the direct link until it breaks."""

import os
import time

from mininet.net import Mininet

LINKS = {("r1", "r2"): 10, ("r2", "r3"): 10, ("r1", "r3"): 100}

net = Mininet(controller=None)
for i in (1, 2, 3):
    net.addHost(f"r{i}", ip=None)
for i in (1, 3):
    net.addHost(f"h{i}", ip=f"172.16.{i}.2/24", defaultRoute=f"via 172.16.{i}.1")
costs = {f"r{i}": [] for i in (1, 2, 3)}
for number, ((a, b), cost) in enumerate(LINKS.items(), 1):
    link = net.addLink(
        net[a], net[b], params1={"ip": f"10.0.{number}.1/30"}, params2={"ip": f"10.0.{number}.2/30"}
    )
    costs[a].append((link.intf1.name, cost))
    costs[b].append((link.intf2.name, cost))
for i in (1, 3):
    net.addLink(net[f"r{i}"], net[f"h{i}"], params1={"ip": f"172.16.{i}.1/24"})
net.start()
for name, interfaces in costs.items():
    folder = f"/tmp/{name}"
    os.makedirs(folder)
    lines = [f"interface {interface}\n ip ospf cost {cost}\n ip ospf network point-to-point\n ip ospf hello-interval 1\n"
             " ip ospf dead-interval 4\n" for interface, cost in interfaces]
    with open(f"{folder}/ospfd.conf", "w") as file:
        file.write("".join(lines) + f"router ospf\n ospf router-id {name[1]}.{name[1]}.{name[1]}.{name[1]}\n"
                   " network 10.0.0.0/8 area 0\n network 172.16.0.0/16 area 0\n")
    open(f"{folder}/zebra.conf", "w").close()
    net[name].cmd(f"sysctl -w net.ipv4.ip_forward=1; chown -R frr:frr {folder}")
    for daemon in ("zebra", "ospfd"):
        net[name].cmd(
            f"/usr/lib/frr/{daemon} -d -f {folder}/{daemon}.conf -i {folder}/{daemon}.pid -z {folder}/zserv"
            f" --vty_socket {folder}"
        )
time.sleep(20)
r1, h1 = net["r1"], net["h1"]
print(r1.cmd("vtysh --vty_socket /tmp/r1 -c 'show ip ospf neighbor'"))
print(r1.cmd("vtysh --vty_socket /tmp/r1 -c 'show ip route ospf' | grep 172.16.3"))
print(h1.cmd("traceroute -n -q 1 172.16.3.2"))
net.configLinkStatus("r1", "r2", "down")
time.sleep(10)
print("r1-r2 is down")
print(r1.cmd("vtysh --vty_socket /tmp/r1 -c 'show ip route ospf' | grep 172.16.3"))
print(h1.cmd("traceroute -n -q 1 172.16.3.2"))
for name in costs:
    net[name].cmd(f"kill $(cat /tmp/{name}/*.pid)")
net.stop()
