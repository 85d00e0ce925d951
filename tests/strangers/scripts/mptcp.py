#!/usr/bin/env python3
"""Multipath TCP over two links of 10 Mbit/s each: one connection gets more than either link can carry."""

from mininet.link import TCLink
from mininet.net import Mininet

SERVER = """
import socket, time
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
listener.bind(("10.0.1.2", 7000))
listener.listen()
print("listening", flush=True)
connection, _ = listener.accept()
total, begin = 0, None
while data := connection.recv(1 << 16):
    begin = begin or time.monotonic()
    total += len(data)
print(f"{total * 8 / (time.monotonic() - begin) / 1e6:.1f}")
"""
CLIENT = """
import socket, time
connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
connection.connect(("10.0.1.2", 7000))
end = time.monotonic() + 15
while time.monotonic() < end:
    connection.send(bytes(1 << 14))
connection.close()
"""

net = Mininet(controller=None, link=TCLink)
h1, h2 = net.addHost("h1", ip=None), net.addHost("h2", ip=None)
for n in (1, 2):
    net.addLink(h1, h2, bw=10, delay="5ms", max_queue_size=100,
                params1={"ip": f"10.0.{n}.1/24"}, params2={"ip": f"10.0.{n}.2/24"})
net.start()
for name, text in (("server", SERVER), ("client", CLIENT)):
    with open(f"/tmp/{name}.py", "w") as file:
        file.write(text)
for host in (h1, h2):
    host.cmd("sysctl -w net.mptcp.enabled=1; ip mptcp limits set subflow 2 add_addr_accepted 2")
h1.cmd("ip mptcp endpoint add 10.0.2.1 dev h1-eth1 subflow")
h2.cmd("ip mptcp endpoint add 10.0.2.2 dev h2-eth1 signal")
h2.cmd("python3 /tmp/server.py > /tmp/server.log 2>&1 &")
h2.cmd("until grep -q listening /tmp/server.log; do sleep 0.1; done")
h1.cmd("python3 /tmp/client.py &")
h1.cmd("sleep 5")
print("subflows:", h1.cmd("ss -Htn state established dport = :7000 | wc -l"))
print("over both links:", h1.cmd("nstat -asz MPTcpExtMPJoinSynAckRx | awk '/MPJoin/ {print $2}'").strip(), "joined")
h1.cmd("wait %python3")
print("goodput:", h2.cmd("wait; tail -1 /tmp/server.log").strip(), "Mbit/s")
net.stop()
