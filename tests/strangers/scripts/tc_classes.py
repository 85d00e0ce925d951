#!/usr/bin/env python3
"""HTB with a filter by port: gold gets 15 of 20 Mbit/s and bronze 5; bronze gets all of it while gold is silent."""

import json
import time

from mininet.net import Mininet

net = Mininet(controller=None)
h1, h2 = net.addHost("h1"), net.addHost("h2")
net.addLink(h1, h2)
net.start()
for line in (
    "qdisc add dev h1-eth0 root handle 1: htb default 20",
    "class add dev h1-eth0 parent 1: classid 1:1 htb rate 20mbit ceil 20mbit",
    "class add dev h1-eth0 parent 1:1 classid 1:10 htb rate 15mbit ceil 20mbit",
    "class add dev h1-eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 20mbit",
    "qdisc add dev h1-eth0 parent 1:10 handle 10: pfifo limit 50",
    "qdisc add dev h1-eth0 parent 1:20 handle 20: pfifo limit 50",
    "filter add dev h1-eth0 parent 1: protocol ip u32 match ip dport 5201 0xffff flowid 1:10",
):
    print(h1.cmd(f"tc {line}"), end="")


def goodput(name):
    with open(f"/tmp/{name}.json") as file:
        return json.load(file)["end"]["sum_received"]["bits_per_second"] / 1e6


def both(gold, bronze):
    for port in (5201, 5202):
        h2.cmd(f"iperf3 -s -1 -D -p {port}")
    time.sleep(0.5)
    if gold:
        h1.cmd("iperf3 -c 10.0.0.2 -p 5201 -t 15 -J > /tmp/gold.json &")
    if bronze:
        h1.cmd("iperf3 -c 10.0.0.2 -p 5202 -t 15 -J > /tmp/bronze.json &")
    h1.cmd("wait")
    time.sleep(1)


both(True, True)
print(f"together: gold {goodput('gold'):.2f}, bronze {goodput('bronze'):.2f} Mbit/s")
both(False, True)
print(f"alone: bronze {goodput('bronze'):.2f} Mbit/s")
h2.cmd("pkill iperf3")
net.stop()
