# SPDX-License-Identifier: BSD-3-Clause
"""Names of the series and numbers in an experiment's data set, and of the files in its folder: their one home.

A flow group is what one DO_CLIENT starts, numbered from 1 as it stands in exp.csv; its instances are numbered from 1.
Written by `linklab.netesto.running`, read by whatever makes tables and pages of it. Units are those of the series.
"""

from __future__ import annotations

STREAM, RR = "TCP_STREAM", "TCP_RR"
"""The tests of DO_CLIENT."""


def stream(group: int, instance: int) -> str:
    """The series of a bulk flow: goodput at the receiver, Mbits/s."""
    return f"STREAM {group}::{instance}"


def answers(group: int, instance: int) -> str:
    """The series of a request/response flow: how long each answer took, ms, at the moment at which it was complete."""
    return f"RR {group}::{instance}"


def answer_rate(group: int, instance: int) -> str:
    """The series of a request/response flow's payload, requests and answers together, Mbits/s in steps."""
    return f"RR rate {group}::{instance}"


def flow(test: str, group: int, instance: int) -> str:
    """The series in Mbits/s of a flow of either test, which its socket's series and final numbers belong to."""
    return stream(group, instance) if test == STREAM else answer_rate(group, instance)


def ping(host: str, server: str) -> str:
    """The series of round trips beside the flows of a host to a server, ms."""
    return f"Ping (ms) {host} to {server}"


SOCKET = {
    "tcp_cwnd": "packets",
    "tcp_ssthresh": "packets",
    "tcp_rtt": "ms",
    "tcp_rtt_var": "ms",
    "tcp_min_rtt": "ms",
    "tcp_rto": "ms",
    "tcp_unacked": "segments",
    "tcp_lost": "segments",
    "tcp_retransmits": "segments",
    "tcp_data_segs_out": "segments",
    "tcp_bytes_acked": "bytes",
    "tcp_bytes_sent": "bytes",
    "tcp_notsent": "bytes",
    "tcp_delivery_rate": "Mbits/s",
    "tcp_pacing_rate": "Mbits/s",
    "tcp_delivered_ce": "segments",
}
"""Numbers of the client's socket, with their units, at the times of its flow's series.

tcp_retransmits, tcp_data_segs_out, tcp_bytes_acked, tcp_bytes_sent and tcp_delivered_ce are totals since the beginning
of the connection; tcp_lost counts segments that are taken to be lost at that moment. A number that the kernel does not
know is missing or NaN: tcp_ssthresh before the first loss, tcp_min_rtt before the first sample.
"""


def socket(series: str, number: str) -> str:
    """The series of a number of a flow's socket; series: from `flow`, number: a key of SOCKET."""
    return f"{series}::{number}"


FINAL = {
    "retransmits": "segments",
    "data_segs_out": "segments",
    "data_segs_in": "segments",
    "segs_out": "segments",
    "lost": "segments",
    "retrans": "segments",
    "bytes_sent": "bytes",
    "bytes_acked": "bytes",
    "bytes_retrans": "bytes",
    "bytes_received": "bytes",
    "out_of_order": "segments",
    "dsack_dups": "segments",
    "delivered": "segments",
    "delivered_ce": "segments",
    "mss": "bytes",
    "rtt_ms": "ms",
    "min_rtt_ms": "ms",
    "cwnd": "packets",
    "port": "",
}
"""Numbers of a connection's end when the flow ended (struct tcp_info), with their units; port: the end's own.

retransmits is tcpi_total_retrans, of which retrans were not acknowledged yet. A number that this kernel does not
have is absent.
"""
LOCAL, REMOTE = "", "remote "
"""The ends: that of the client, and that of the server."""


def final(series: str, number: str, end: str = LOCAL) -> str:
    """The scalar of a final number: "STREAM 1::1 retransmits", "STREAM 1::1 remote bytes_received"; end: see LOCAL."""
    return f"{series} {end}{number}"


TRANSACTIONS = "transactions"
"""Final number of a request/response flow: how many answers were complete when it ended."""
BYTES = "payload_bytes"
"""Final number of each flow: what reached the receivers' programs, requests and answers together."""
SECONDS = "seconds"
"""Final number of each flow: how long it ran, s of network time."""


# --- files

EXPERIMENT = "experiment.json"
BEFORE, AFTER, RAW = "0", "1", "raw"
"""Folders: counters before and after, by host; outputs of the programs."""


def data_file(exp: int) -> str:
    """The data set in an experiment's folder."""
    return f"{exp}.flent.gz"


def capture(host: str, server: str) -> str:
    """The packets that DO_TCPDUMP had written."""
    return f"{host}-{server}.pcap"


COUNTED = frozenset(
    {
        *("snmp", "snmp6", "netstat", "sockstat", "sysctl", "interfaces.json", "qdiscs.json", "top"),
        *("offloads", "coalescing", "statistics"),
    }
)
"""Files of a host in BEFORE and AFTER, as `linklab.agent.trial_counters` names them."""
