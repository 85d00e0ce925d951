# SPDX-License-Identifier: BSD-3-Clause
"""What the counters mean that tell most of an experiment, in a few words each.

Source: Documentation/networking/snmp_counter.rst and include/uapi/linux/snmp.h of Linux, RFC 4022 (TCP), RFC 4113 (UDP)
and RFC 4293 (IP).
"""

from __future__ import annotations

MEANINGS = {
    "Ip InDiscards": "packets that arrived without fault and were dropped, for example for lack of memory",
    "Ip OutDiscards": "packets that were dropped before they left, for example by a full queue of this host",
    "Ip OutNoRoutes": "packets for which there was no route",
    "Ip ReasmFails": "packets whose fragments did not all arrive",
    "Tcp ActiveOpens": "connections that this host opened",
    "Tcp PassiveOpens": "connections that others opened to this host",
    "Tcp AttemptFails": "connections that could not be opened",
    "Tcp EstabResets": "connections that were reset",
    "Tcp RetransSegs": "segments that were sent again",
    "Tcp InErrs": "segments that arrived with an error, such as a wrong checksum",
    "Tcp OutRsts": "segments with the RST flag that were sent",
    "Udp NoPorts": "datagrams for a port on which nobody listened",
    "Udp InErrors": "datagrams that could not be delivered",
    "Udp RcvbufErrors": "datagrams that were dropped because the receive buffer was full",
    "Udp SndbufErrors": "datagrams that were not sent because the send buffer was full",
    "TcpExt ListenOverflows": "connections that were refused because the queue of a listening socket was full",
    "TcpExt ListenDrops": "connections that a listening socket dropped, for whatever reason",
    "TcpExt TCPTimeouts": "retransmission timeouts",
    "TcpExt TCPLossProbes": "tail loss probes that were sent instead of waiting for a timeout",
    "TcpExt TCPLossProbeRecovery": "losses that a tail loss probe repaired",
    "TcpExt TCPFastRetrans": "segments that fast retransmit sent again",
    "TcpExt TCPSlowStartRetrans": "segments that were sent again while the window grew after a timeout",
    "TcpExt TCPLostRetransmit": "retransmissions that were lost in their turn",
    "TcpExt TCPSackRecovery": "recoveries from losses that selective acknowledgements revealed",
    "TcpExt TCPRenoRecovery": "recoveries from losses without selective acknowledgements",
    "TcpExt TCPDSACKRecv": "duplicate segments that the receiver reported: these retransmissions were not needed",
    "TcpExt TCPSpuriousRTOs": "timeouts that were not needed (F-RTO)",
    "TcpExt TCPOFOQueue": "segments that arrived out of order",
    "TcpExt TCPRcvCollapsed": "segments that were merged in memory because the receive buffer ran short",
    "TcpExt TCPRcvQDrop": "segments that were dropped because the receive buffer was full",
    "TcpExt TCPBacklogDrop": "segments that were dropped because a socket was busy and its backlog full",
    "TcpExt PruneCalled": "times that the receive buffer ran short and was tidied",
    "TcpExt TCPAbortOnTimeout": "connections that were given up after too many timeouts",
    "TcpExt TCPHystartTrainDetect": "ends of slow start that HyStart chose because of closely spaced ACKs",
    "TcpExt TCPHystartDelayDetect": "ends of slow start that HyStart chose because the round-trip time grew",
    "TcpExt TCPZeroWindowDrop": "segments that were dropped because the window was closed",
    "TcpExt TCPDeliveredCE": "delivered segments whose packet had a congestion mark (ECN)",
    "IpExt InCEPkts": "packets that arrived with a congestion mark (ECN)",
}
"""Table and counter → what it counts. A counter of snmp6, such as "Ip6 InDiscards", has the meaning of its sibling."""


def meaning(table: str, counter: str) -> str:
    """A few words on a counter; "" if there are none."""
    return MEANINGS.get(f"{table} {counter}") or MEANINGS.get(f"{table.removesuffix('6')} {counter}", "")
