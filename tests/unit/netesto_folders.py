# SPDX-License-Identifier: BSD-3-Clause
"""Folders of experiments made by hand: what a run would have left, with numbers that can be counted."""

import json

import numpy as np

from linklab.data import Dataset, save
from linklab.measure import Quantity, make_series
from linklab.netesto import names

SNMP = "Ip: Forwarding InReceives\nIp: 1 {ip}\nTcp: ActiveOpens CurrEstab RetransSegs\nTcp: {opens} {now} {retrans}\n"
NETSTAT = "TcpExt: TCPTimeouts ListenDrops\nTcpExt: {timeouts} 0\n"
LINK = {"ifname": "lo", "stats64": {"rx": {"bytes": 9, "packets": 9}, "tx": {"bytes": 9, "packets": 9}}}
OFFLOADS = "Features for {host}-eth0:\ntcp-segmentation-offload: on\n\ttx-tcp-segmentation: on\n" + (
    "generic-segmentation-offload: on\ngeneric-receive-offload: off\nlarge-receive-offload: off [fixed]\n"
)
SYSCTL = "kernel.osrelease = 7.0.1\nnet.ipv4.tcp_ecn = 2\nnet.ipv4.tcp_rmem = 4096\t131072\t6291456\n" + (
    "net.ipv4.tcp_wmem = 4096\t16384\t4194304\n"
)


def group(number, test=names.STREAM, host="h2", **further):
    """A group as experiment.json has it."""
    found = {"group": number, "host": host, "server": "h1", "test": test, "ca": "cubic", "dur": 10.0, "delay": 0.0}
    found |= {"start_s": 0.5, "instances": 1, "req": "1M", "reply": "1", "req_bytes": 1 << 20, "reply_bytes": 1}
    return {**found, "localBuffer": None, "remoteBuffer": None, "stats": True, **further}


def flow_series(test, number, instance, *, rate=8.0, begin=0.7, end=10.5, answers=(), retransmits=()):
    """The series of a flow: samples at the ends of intervals of 0.2 s; retransmits: moments of one segment each."""
    name = names.flow(test, number, instance)
    times = np.arange(begin, end + 1e-9, 0.2).round(6)
    found = [make_series(name, "Mbits/s", times, np.full(times.size, rate))]
    socket = {
        "tcp_cwnd": 10 + instance + 0 * times,
        "tcp_rtt": 20.0 + instance + 0 * times,
        "tcp_min_rtt": 20.0 + 0 * times,
        "tcp_unacked": 5.0 + 0 * times,
        "tcp_retransmits": np.array([sum(moment <= time for moment in retransmits) for time in times], dtype=float),
        "tcp_bytes_acked": (times - begin) * rate * 125_000,
    }
    found += [make_series(names.socket(name, key), names.SOCKET[key], times, value) for key, value in socket.items()]
    if test == names.RR:
        when = np.linspace(begin, end, len(answers) + 1)[1:]
        found.append(make_series(names.answers(number, instance), "ms", when, answers))
    return found


def flow_numbers(test, number, instance, *, octets=10_000_000, seconds=10.0, retransmits=(5, 0), segments=(500, 0)):
    """The final numbers of a flow, those of both ends where two are given."""
    name = names.flow(test, number, instance)
    found = {names.final(name, names.BYTES): Quantity(octets, "bytes")}
    found[names.final(name, names.SECONDS)] = Quantity(seconds, "s")
    for end, sent_again, sent in zip((names.LOCAL, names.REMOTE), retransmits, segments, strict=True):
        found[names.final(name, "retransmits", end)] = Quantity(sent_again, "segments")
        found[names.final(name, "data_segs_out", end)] = Quantity(sent, "segments")
    for end, lost in ((names.LOCAL, 1), (names.REMOTE, 0)):
        found[names.final(name, "lost", end)] = Quantity(lost, "segments")
    found[names.final(name, "mss")] = Quantity(1448, "bytes")
    return found


def pings(host="h2", server="h1", *, before=1.0, while_ms=30.0):
    """Round trips every 0.2 s from 0 to 12 s; those before 0.3 s and after 10.5 s are `before` ms."""
    times = np.arange(0, 12.01, 0.2).round(6)
    busy = (times >= 0.3) & (times <= 10.5)
    return make_series(names.ping(host, server), "ms", times, np.where(busy, while_ms, before))


def write_experiment(campaign, exp, groups, series=(), scalars=None, *, name="1s1c01fs", counters=True, **further):
    """The folder of an experiment as its run leaves it."""
    folder = campaign / str(exp)
    folder.mkdir(parents=True)
    told = {"format": 1, "exp": exp, "expName": name, "seed": 1, "desc": "", "other": {}, "topology": "single,2"}
    told |= {"commands": [], "settings": [], "groups": groups, "servers": ["h1"], "pings": {}, **further}
    (folder / names.EXPERIMENT).write_text(json.dumps(told))
    data = Dataset({"kernel": "7.0.1", "engine": "pocket"}, scalars or {}, {one.name: one for one in series})
    save(data, folder / names.data_file(exp))
    if counters:
        for host in {one["host"] for one in groups}:
            write_counters(folder, host)
    return folder


def write_counters(folder, host, *, packets=(100, 1100), octets=(1000, 1_449_000)):
    """Counters of a host before and after: 1,000 packets were sent, 100 received."""
    for number, when in enumerate((names.BEFORE, names.AFTER)):
        place = folder / when / host
        place.mkdir(parents=True)
        link = {
            "ifname": f"{host}-eth0",
            "stats64": {
                "rx": {"bytes": 66 * (10 + 100 * number), "packets": 10 + 100 * number, "dropped": 0},
                "tx": {"bytes": octets[number], "packets": packets[number], "errors": 0},
            },
        }
        (place / "interfaces.json").write_text(json.dumps([LINK, link]))
        (place / "offloads").write_text(OFFLOADS.format(host=host))
        (place / "sysctl").write_text(SYSCTL)
        (place / "snmp").write_text(SNMP.format(ip=100 + number, opens=7 * number, now=number, retrans=5 * number))
        (place / "netstat").write_text(NETSTAT.format(timeouts=2 * number))


def stream_experiment(campaign, exp=1, **further):
    """Two bulk flows of 8 and 4 Mbit/s, 10 s long, of one group, with pings; one lost segments at 3 and 5 s."""
    one = group(1, instances=2)
    series = [
        *flow_series(names.STREAM, 1, 1, retransmits=(3.0, 5.0)),
        *flow_series(names.STREAM, 1, 2, rate=4.0),
        pings(),
    ]
    scalars = flow_numbers(names.STREAM, 1, 1) | flow_numbers(
        names.STREAM, 1, 2, octets=5_000_000, retransmits=(0, 0), segments=(250, 0)
    )
    return write_experiment(campaign, exp, [one], series, scalars, **further)
