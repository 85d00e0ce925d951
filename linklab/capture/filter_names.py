# SPDX-License-Identifier: BSD-3-Clause
"""Names in a capture filter that libpcap would look up: of hosts and of networks, which it asks the DNS for.

A lab's addresses are in no DNS, and what is captured is nobody else's business, so `filters` refuses such a filter.
Names of ports and protocols stay: they are read from files. Source: scanner.l and grammar.y of libpcap, pcap-filter(7).
"""

from __future__ import annotations

import ipaddress
import re

_NUMBER = r"(?:0[xX][0-9A-Fa-f]+|[0-9]+)"
_B = "[0-9A-Fa-f]{1,2}"
_IPV6 = re.compile(r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(?![-_.:A-Za-z0-9])")
_WORD = re.compile(r"\\[^ !()\n\t]+|[A-Za-z0-9](?:[-_.A-Za-z0-9]*[.A-Za-z0-9])?")
_MAC = re.compile(rf"{_B}(?:([-:.]){_B}(?:\1{_B}){{4}})(?![-_.:A-Za-z0-9])")
_ADDRESS = re.compile(rf"{_NUMBER}(?:\.{_NUMBER}){{0,3}}|(?:[0-9A-Fa-f]{{4}}\.){{2}}[0-9A-Fa-f]{{4}}|[0-9A-Fa-f]{{12}}")

_OF_FILES = frozenset(("port", "portrange", "proto", "protochain"))
"""Behind these, names are of ports and protocols, up to the next qualifier: "port http or ssh"."""
_OF_ONE_WORD = frozenset(
    ("type", "subtype", "dir", "direction", "llc", "on", "ifname", "rset", "ruleset", "reason", "action")
)
"""Behind these, the next word is a name of their own: "wlan type mgt", "on eth0"."""
_OPERATORS = frozenset(("and", "or", "not"))
_LANGUAGE = """
    dst src link ether ppp slip fddi tr wlan arp rarp ip sctp tcp udp icmp igmp igrp pim vrrp carp radio ip6 icmp6 ah
    esp atalk aarp decnet lat sca moprc mopdl iso esis es-is isis is-is l1 l2 iih lsp snp csnp psnp clnp stp ipx netbeui
    host net mask gateway address1 addr1 address2 addr2 address3 addr3 address4 addr4 ra ta less greater byte broadcast
    multicast len length inbound outbound ifindex vlan mpls pppoed pppoes geneve vxlan lane metac bcc oam oamf4 oamf4ec
    oamf4sc sc ilmic vpi vci connectmsg metaconnect rnr rulenum srnr subrulenum fisu lssu lsu msu hfisu hlssu hmsu sio
    opc dpc sls hsio hopc hdpc hsls icmptype icmpcode icmp6type icmp6code tcpflags tcp-fin tcp-syn tcp-rst tcp-push
    tcp-ack tcp-urg tcp-ece tcp-cwr icmp-echoreply icmp-unreach icmp-sourcequench icmp-redirect icmp-echo
    icmp-routeradvert icmp-routersolicit icmp-timxceed icmp-paramprob icmp-tstamp icmp-tstampreply icmp-ireq
    icmp-ireqreply icmp-maskreq icmp-maskreply icmp6-destinationunreach icmp6-packettoobig icmp6-timeexceeded
    icmp6-parameterproblem icmp6-echo icmp6-echoreply icmp6-multicastlistenerquery icmp6-multicastlistenerreportv1
    icmp6-multicastlistenerdone icmp6-routersolicit icmp6-routeradvert icmp6-neighborsolicit icmp6-neighboradvert
    icmp6-redirect icmp6-routerrenum icmp6-nodeinformationquery icmp6-nodeinformationresponse
    icmp6-ineighbordiscoverysolicit icmp6-ineighbordiscoveryadvert icmp6-multicastlistenerreportv2
    icmp6-homeagentdiscoveryrequest icmp6-homeagentdiscoveryreply icmp6-mobileprefixsolicit icmp6-mobileprefixadvert
    icmp6-certpathsolicit icmp6-certpathadvert icmp6-multicastrouteradvert icmp6-multicastroutersolicit
    icmp6-multicastrouterterm
"""
_KEYWORDS = frozenset(_LANGUAGE.split())


def looked_up(text: str) -> str | None:
    """Return the first word of a filter that libpcap may take for the name of a host or a network; None if none is.

    What is neither a word of the language nor an address counts as such a name, a misspelt keyword for one.
    """
    at, behind = 0, ""
    outside: list[str] = []
    while at < len(text):
        if (found := _address(text, at)) is not None:
            at, behind = found, _stays(behind)
            continue
        word = _WORD.match(text, at)
        if word is None:
            if text[at] == "(":
                outside.append(_stays(behind))
            elif text[at] == ")" and outside:
                behind = outside.pop()
            elif not text[at].isspace():
                behind = _stays(behind)
            at += 1
            continue
        name, at = word[0], word.end()
        if name in _OF_FILES or name in _OF_ONE_WORD:
            behind = name
        elif name in _KEYWORDS:
            behind = ""
        elif name in _OPERATORS or behind or _ADDRESS.fullmatch(name):
            behind = _stays(behind)
        else:
            return name
    return None


def _stays(behind: str) -> str:
    return behind if behind in _OF_FILES else ""


def _address(text: str, at: int) -> int | None:
    """Where an IPv6 address or one of Ethernet that begins here ends; None if none does."""
    if mac := _MAC.match(text, at):
        return mac.end()
    if found := _IPV6.match(text, at):
        try:
            ipaddress.IPv6Address(found[0])
        except ValueError:
            return None
        return found.end()
    return None
