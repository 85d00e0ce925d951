#!/usr/bin/env python3
"""A learning switch in os-ken, connected by OpenFlow 1.3; an access list keeps h1 away from h3."""

import os

from mininet.net import Mininet
from mininet.node import OVSSwitch, RemoteController

APP = '''
from os_ken.base import app_manager
from os_ken.controller import ofp_event
from os_ken.controller.handler import CONFIG_DISPATCHER, MAIN_DISPATCHER, set_ev_cls
from os_ken.lib.packet import ethernet, packet
from os_ken.ofproto import ofproto_v1_3


class Learning(app_manager.OSKenApp):
    OFP_VERSIONS = [ofproto_v1_3.OFP_VERSION]

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.where = {}

    def add(self, datapath, priority, match, actions):
        parser, of = datapath.ofproto_parser, datapath.ofproto
        apply = [parser.OFPInstructionActions(of.OFPIT_APPLY_ACTIONS, actions)] if actions else []
        datapath.send_msg(
            parser.OFPFlowMod(datapath=datapath, priority=priority, match=match, instructions=apply)
        )

    @set_ev_cls(ofp_event.EventOFPSwitchFeatures, CONFIG_DISPATCHER)
    def connected(self, event):
        datapath = event.msg.datapath
        parser, of = datapath.ofproto_parser, datapath.ofproto
        self.add(datapath, 0, parser.OFPMatch(), [parser.OFPActionOutput(of.OFPP_CONTROLLER, of.OFPCML_NO_BUFFER)])
        self.add(datapath, 100, parser.OFPMatch(eth_type=0x0800, ipv4_dst="10.0.0.3", ipv4_src="10.0.0.1"), [])

    @set_ev_cls(ofp_event.EventOFPPacketIn, MAIN_DISPATCHER)
    def arrived(self, event):
        message = event.msg
        datapath = message.datapath
        parser, of = datapath.ofproto_parser, datapath.ofproto
        frame = packet.Packet(message.data).get_protocol(ethernet.ethernet)
        table = self.where.setdefault(datapath.id, {})
        table[frame.src] = message.match["in_port"]
        out = table.get(frame.dst, of.OFPP_FLOOD)
        actions = [parser.OFPActionOutput(out)]
        if out != of.OFPP_FLOOD:
            self.add(datapath, 1, parser.OFPMatch(eth_dst=frame.dst), actions)
        datapath.send_msg(
            parser.OFPPacketOut(datapath=datapath, buffer_id=of.OFP_NO_BUFFER, in_port=message.match["in_port"],
                                actions=actions, data=message.data)
        )
'''

with open("/tmp/learning.py", "w") as file:
    file.write(APP)
os.system("osken-manager /tmp/learning.py > /tmp/controller.log 2>&1 & echo $! > /tmp/controller.pid")
net = Mininet(controller=None, switch=OVSSwitch, autoSetMacs=True)
net.addController("c0", RemoteController, ip="127.0.0.1", port=6653)
s1, s2 = (net.addSwitch(f"s{i}", protocols="OpenFlow13") for i in (1, 2))
for number, switch in ((1, s1), (2, s1), (3, s2)):
    net.addLink(net.addHost(f"h{number}"), switch)
net.addLink(s1, s2)
net.start()
net.waitConnected()
net.pingAll()
dropped = net.pingAll()
print(f"second round: {dropped:.0f} % dropped")
print("h1 to h3:", net["h1"].cmd("ping -c 1 -W 1 10.0.0.3 | grep received"))
print("learned:", s1.cmd("ovs-ofctl -O OpenFlow13 dump-flows s1 | grep -c dl_dst"))
os.system("kill $(cat /tmp/controller.pid)")
net.stop()
