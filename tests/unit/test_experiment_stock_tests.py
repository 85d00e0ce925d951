# SPDX-License-Identifier: BSD-3-Clause
"""Our library beside stock Flent's: the same series, measured in the same way, and the same plots, test by test."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from stock_flent import needs_flent

from linklab.experiment.dscp import parse_marking
from linklab.experiment.expand import expand, series_of
from linklab.experiment.model import Expanded, TrafficFlow
from linklab.experiment.test_file import load_test

LOADER = Path(__file__).parent / "stock_flent_tests.py"
MANY = {
    "upload_streams": "3",
    "download_streams": "2",
    "bidir_streams": "3",
    "cc_algos": "bbr,cubic,reno",
    "markings": "CS1,EF,CS0",
    "labels": "A,B,C",
    "ping_labels": "P,Q,R",
    "stream_delays": "0,5,10",
    "send_sizes": "1000,2000,3000",
    "udp_bandwidths": "10M,20M,30M",
    "udp_pktsizes": "100,200,300",
}
EXTRAS = {
    "upload_streams": "2",
    "download_streams": "2",
    "bidir_streams": "2",
    "tcp_cong_control": "bbr,reno",
    "ping_hosts": "a,b",
    "ping_markings": "EF,CS1",
    "voip_host": "c",
    "include_http": "1",
    "cpu_stats_hosts": "d,e",
    "netstat_hosts": "f",
    "qdisc_stats_hosts": "g,h",
    "qdisc_stats_interfaces": "eth0,eth1",
}

FURTHER = {
    "rrul_torrent": {"TCP upload avg", "TCP upload sum", "TCP download avg", "TCP download sum"},  # for its Q-Q plots
    "tcp_nup": {"TCP upload fairness"},  # since Flent 2.3
    "tcp_ndown": {"TCP download fairness"},
}
"""Series that ours have and those of Flent 2.1 lack."""
OWN_PLOT = {"udp_flood", "udp_flood_var_up", "udp_flood_var_up_stagger"}  # Flent's first one is of several files
FURTHER_PLOTS = {"tcp_1down", *OWN_PLOT}  # Flent's has no plots of TCP's own numbers, and of floods over time
OWN_TOTAL = {"iterated_bidirectional"}  # Flent's has no time to end in
OWN_ALGORITHM = {"cubic_westwood", "cubic_ledbat"}  # Flent leaves "Cubic" to what the host has by default
NOT_LOADED = {"rrul_be_nflows", "rrul_var", "tcp_nup", "tcp_ndown"}
"""Where Flent wants a parameter that has a default here."""

_RUNNERS = {
    "ping": "icmp",
    "udp_rtt": "udp_rtt",
    "voip": "voip",
    "http_getter": "http",
    "tc": "qdisc",
    "cpu_stats": "cpu",
    "netstat": "netstat",
    "silent_process": "bursts",
}
_NETPERF = {"TCP_STREAM": "tcp", "TCP_MAERTS": "tcp", "TCP_MEARTS": "tcp", "TCP_RR": "tcp_rtt", "SCTP_RR": "tcp_rtt"}
_COMPUTED = {"average", "smooth_average", "sum", "diff_min", "fairness"}


@needs_flent
@pytest.mark.parametrize(("parameters", "hosts"), [({}, 6), (MANY, 6), (EXTRAS, 6)], ids=["plain", "many", "extras"])
def test_every_test_of_stock_flent_has_the_same_series_and_plots(parameters, hosts):
    """Names, runners, hosts, times, markings, algorithms and kinds of plots are those of Flent, but for what is named.

    The data set of a test is read by stock Flent with its own test of that name, so a name that differs is a plot that
    is empty there.
    """
    targets = [f"t{number}" for number in range(hosts)]
    asked = json.dumps({"parameters": parameters, "hosts": targets})
    done = subprocess.run(
        ["/usr/bin/python3", str(LOADER), asked], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    stock = json.loads(done.stdout)
    assert len(stock) == 78  # the four that are younger are looked at by hand
    differences = [line for name, theirs in stock.items() for line in _differences(name, theirs, parameters, targets)]
    assert not differences, "\n".join(differences)


def _differences(name: str, theirs: dict, parameters: dict[str, str], targets: list[str]) -> Iterator[str]:
    if "refused" in theirs:
        if name not in NOT_LOADED:
            yield f"{name}: Flent refuses it: {theirs['refused']}"
        return
    ours = expand(load_test(name), parameters, hosts=targets)
    flows = {flow.series: flow for flow in ours.flows}
    names = {series for flow in ours.flows for series in series_of(flow)} | {each.series for each in ours.derived}
    wanted = {series for series, one in theirs["series"].items() if _is_series(series, one)}
    for series in sorted((names ^ wanted) - FURTHER.get(name, set())):
        yield f"{name}: {series} is {'not ours' if series in wanted else 'ours alone'}"
    for series in sorted(flows.keys() & wanted):
        for what, mine, other in _of_flow(name, flows[series], theirs["series"][series], targets, parameters):
            if mine != other:
                yield f"{name}: {series}: {what} {mine!r}, Flent {other!r}"
    for each in ours.derived:
        if (rule := theirs["series"].get(each.series, {}).get("runner")) not in (each.rule.value, None):
            yield f"{name}: {each.series}: rule {each.rule.value}, Flent {rule}"
    yield from _of_plots(name, ours, theirs)
    if ours.total_s != theirs["total"] and name not in OWN_TOTAL:
        yield f"{name}: lasts {ours.total_s} s, Flent {theirs['total']} s"


def _of_plots(name: str, ours: Expanded, theirs: dict) -> Iterator[str]:
    kinds = {plot.name: plot.kind.value for plot in ours.plots}
    kinds.pop("voip_mos_upload" if name == "rtt_fair_var_down" else "", None)  # Flent leaves it out where no upload is
    for plot in sorted(kinds.keys() | theirs["plots"].keys()):
        if name in FURTHER_PLOTS and plot not in theirs["plots"]:
            continue
        if kinds.get(plot) != theirs["plots"].get(plot):
            yield f"{name}: plot {plot}: {kinds.get(plot)}, Flent {theirs['plots'].get(plot)}"
    if ours.default_plot != theirs["plot"] and name not in OWN_PLOT:
        yield f"{name}: first plot {ours.default_plot}, Flent {theirs['plot']}"


def _is_series(series: str, one: dict) -> bool:
    """Whether it is one of ours: counters are further numbers of a discipline's samples."""
    return one["runner"] != "null" or series.startswith("VoIP")


def _of_flow(
    name: str, flow: TrafficFlow, theirs: dict, targets: list[str], parameters: dict[str, str]
) -> Iterator[tuple[str, object, object]]:
    test, runner = theirs.get("test", ""), theirs["runner"]
    if runner in _COMPUTED:
        return
    if runner in _RUNNERS:
        kind = _RUNNERS[runner]
    elif runner == "iperf_csv" and name != "rrul_be_iperf":
        kind = "udp"
    else:
        kind = "sctp" if test.startswith("SCTP_STREAM") else _NETPERF.get(test, "?")
    yield "traffic", flow.traffic.value, kind
    if name.startswith("http-1") or name == "http-rrul":
        return  # the fetches last the whole test here, and as long as the load in Flent
    if not (name == "udp_flood_var_up" and parameters.get("stream_delays")):  # Flent's are shorter, and begin at once
        yield "start", flow.start_s, float(theirs.get("delay", 0))
    if "length" in theirs:
        yield "length", flow.length_s, float(theirs["length"])
    yield "ToS", flow.tos, parse_marking(theirs.get("marking", ""))
    if "host" in theirs and "host" not in parameters:
        own = flow.options.get("host", targets[flow.target])
        # the call of voip-1up and voip-rrul always goes to the target here
        yield "host", own, theirs["host"] if not name.startswith("voip") or flow.series != "VoIP" else own
    if runner == "netperf_demo" and kind == "tcp" and name not in OWN_ALGORITHM:
        both = (theirs.get("cong_control") or parameters.get("tcp_cong_control", "")).split(",")
        yield "algorithm", flow.congestion, both[-1] if test == "TCP_MAERTS" else both[0]
        yield "send size", str(flow.size_bytes or ""), theirs.get("send_size", "")
        yield "direction", flow.direction, "up" if test == "TCP_STREAM" else "down"
