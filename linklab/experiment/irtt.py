# SPDX-License-Identifier: BSD-3-Clause
"""irtt's JSON → round trips, with one-way delays, and calls. Format: irtt 0.9, irtt-client(1)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from linklab.errors import DataError
from linklab.experiment.outputs import Samples, words

WAITS = 3
"""So many of the longest round trips irtt waits for an answer after its last packet (--wait)."""


def read_irtt(text: str, t0_s: float, *, voip: bool = False, ended_s: float | None = None) -> Samples:
    """Round trips as the answers come; a lost packet is a gap at the moment at which it was sent.

    Args:
        text: what `irtt client -o FILE` wrote.
        t0_s: T0 on the clock of dates, s.
        voip: with "delay", "jitter" and "loss" as VoIP tests of Flent have them.
        ended_s: when irtt was interrupted, s since T0; None if it ended by itself. The last packets of a client that
            was interrupted are left out if their answers may still have been on their way.
    """
    if ended_s is not None and not text.strip():
        raise DataError("the test was ended before irtt had its first answer")
    try:
        data = json.loads(text)
        found = _irtt(data, t0_s)
        stats = data["stats"]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"irtt wrote no result: {words(text) or error}") from None
    if ended_s is not None:
        found.rows = _judged(found.rows, ended_s)
    known = [row for row in found.rows if not math.isnan(row[1])]
    if not known:
        raise DataError("no answer came to any of irtt's packets")
    lost_up = sum(further.get("lost_up", 0.0) for _, _, further in found.rows) / len(found.rows)
    if ended_s is None and stats.get("upstream_loss_percent") is not None:
        lost_up = stats["upstream_loss_percent"] / 100  # by the server's count, which knows of long gaps, too
    found.meta = {
        "MEAN_VALUE": _ms(stats, "rtt", "mean"),
        "RTT_MEAN": _ms(stats, "rtt", "mean"),
        "RTT_MEDIAN": _ms(stats, "rtt", "median"),
        "RTT_MIN": _ms(stats, "rtt", "min"),
        "RTT_MAX": _ms(stats, "rtt", "max"),
        "OWD_UP_MEAN": _ms(stats, "send_delay", "mean"),
        "OWD_DOWN_MEAN": _ms(stats, "receive_delay", "mean"),
        "IPDV_MEAN": _ms(stats, "ipdv_round_trip", "mean"),
        "IPDV_UP_MEAN": _ms(stats, "ipdv_send", "mean"),
        "IPDV_DOWN_MEAN": _ms(stats, "ipdv_receive", "mean"),
        "PACKETS_SENT": len(found.rows),
        "PACKETS_RECEIVED": len(known),
        "PACKET_LOSS_RATE": 1 - len(known) / len(found.rows),
        "UPSTREAM_LOSS_RATE": lost_up,
    }
    return _as_voip(found) if voip else found


Row = tuple[float, float, Mapping[str, float]]


def _irtt(data: Mapping[str, Any], t0_s: float) -> Samples:
    found = Samples("ms")
    for trip in data["round_trips"]:
        stamps, seq = trip["timestamps"]["client"], float(trip["seqno"])
        if trip["lost"] != "false":
            # "true" alone: the server did not say whether it got the packet; it counts as lost on the way up
            way = 0.0 if trip["lost"] == "true_down" else 1.0
            found.add(_since(stamps["send"]["wall"], t0_s), math.nan, seq=seq, lost=1.0, lost_up=way)
            continue
        delay, further = trip["delay"], {"seq": seq}
        further |= {"owd_up": delay["send"] / 1e6, "owd_down": delay["receive"] / 1e6}
        for ours, theirs in (("ipdv", "rtt"), ("ipdv_up", "send"), ("ipdv_down", "receive")):
            if theirs in trip.get("ipdv", {}):
                further[ours] = trip["ipdv"][theirs] / 1e6
        found.add(_since(stamps["receive"]["wall"], t0_s), delay["rtt"] / 1e6, **further)
    return found


def _judged(rows: list[Row], ended_s: float) -> list[Row]:
    """The rows without the packets at the end to which an answer could still have come."""
    longest_s = max((value / 1e3 for _, value, _ in rows if not math.isnan(value)), default=0.0)
    while rows and math.isnan(rows[-1][1]) and rows[-1][0] > ended_s - WAITS * longest_s:
        rows = rows[:-1]
    return rows


def _as_voip(found: Samples) -> Samples:
    """One-way delay and jitter of each packet that came, and how many the callee missed since the one before."""
    lost, rows = 0.0, []
    for time_s, value, further in found.rows:
        if math.isnan(value):
            lost += further["lost_up"]
            rows.append((time_s, value, further))
            continue
        own = {"delay": further["owd_up"], "loss": lost}
        if "ipdv_up" in further:  # not where the packet before was lost
            own["jitter"] = abs(further["ipdv_up"])
        rows.append((time_s, value, {**further, **own}))
        lost = 0.0
    return Samples(found.unit, rows, found.meta)


def _since(wall_ns: int, t0_s: float) -> float:
    # T0 is a whole number of seconds or so: take it off before anything is rounded
    return (wall_ns - round(t0_s * 1e9)) / 1e9


def _ms(stats: Mapping[str, Any], what: str, which: str) -> float | None:
    value = stats.get(what, {}).get(which)
    return None if value is None else value / 1e6
