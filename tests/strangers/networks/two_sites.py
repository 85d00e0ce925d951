"""Two sites, run as:  sudo mn --custom two_sites.py --topo sites,3 --link tc"""

from mininet.node import Node
from mininet.topo import Topo


class LinuxRouter(Node):
    def config(self, **params):
        super().config(**params)
        self.cmd("sysctl net.ipv4.ip_forward=1")


class Sites(Topo):
    def build(self, n=2):
        print("building", n)
        r0 = self.addNode("r0", cls=LinuxRouter, ip="192.168.1.1/24")
        s1, s2 = self.addSwitch("s1"), self.addSwitch("s2", dpid="a")
        self.addLink(s1, r0, intfName2="r0-eth1", params2={"ip": "192.168.1.1/24"})
        self.addLink(s2, r0, intfName2="r0-eth2", params2={"ip": "172.16.0.1/12"}, bw=10, delay="5ms", use_htb=True)
        for i in range(1, n + 1):
            self.addLink(self.addHost(f"h{i}", ip=f"192.168.1.{100 + i}/24", defaultRoute="via 192.168.1.1"), s1)
            self.addLink(
                self.addHost(f"g{i}", ip=f"172.16.0.{100 + i}/12", mac=f"00:00:00:00:01:{i:02x}"),
                s2,
                port1=0,
                port2=i + 4,
            )


topos = {"sites": Sites, "small": (lambda: Sites(n=1))}
