#!/usr/bin/env python3
"""RIP with FRR in a square of four routers: hop counts, and the route around a link that fails."""

import os
import time

from mininet.net import Mininet

net = Mininet(controller=None)
routers = [net.addHost(f"r{i}", ip=None) for i in (1, 2, 3, 4)]
for number, (a, b) in enumerate(((0, 1), (1, 2), (2, 3), (3, 0)), 1):
    net.addLink(
        routers[a], routers[b], params1={"ip": f"10.0.{number}.1/24"}, params2={"ip": f"10.0.{number}.2/24"}
    )
net.start()
for number, router in enumerate(routers, 1):
    folder = f"/tmp/{router}"
    os.makedirs(folder)
    router.cmd("sysctl -w net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0")
    router.cmd(f"ip addr add 10.255.0.{number}/32 dev lo")
    with open(f"{folder}/zebra.conf", "w") as file:
        file.write(f"hostname {router}\n")
    with open(f"{folder}/ripd.conf", "w") as file:
        file.write("router rip\n version 2\n network 10.0.0.0/8\n timers basic 5 20 15\n")
    router.cmd(f"chown -R frr:frr {folder}")
    for daemon in ("zebra", "ripd"):
        router.cmd(
            f"/usr/lib/frr/{daemon} -d -f {folder}/{daemon}.conf -i {folder}/{daemon}.pid"
            f" -z {folder}/zserv --vty_socket {folder} -A 127.0.0.1"
        )
time.sleep(20)
r1 = routers[0]
print(r1.cmd("vtysh --vty_socket /tmp/r1 -c 'show ip rip' | grep 10.255.0"))
print(r1.cmd("ping -c 2 -I 10.255.0.1 10.255.0.3"))
print("before:", r1.cmd("ip -4 route get 10.255.0.2 | head -1"))
net.configLinkStatus("r1", "r2", "down")
time.sleep(40)
print("after:", r1.cmd("ip -4 route get 10.255.0.2 | head -1"))
print(r1.cmd("ping -c 2 -I 10.255.0.1 10.255.0.2"))
for router in routers:
    router.cmd(f"kill $(cat /tmp/{router}/*.pid)")
net.stop()
