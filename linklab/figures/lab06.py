# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Lab 6: duplicate acknowledgements, Reno's sawtooth, growth after a loss, throughput against RTT."""

from __future__ import annotations

import math

from linklab.figures.svg import BLUE, GREEN, VERMILLION, Point, Sketch, scaled


def draw() -> dict[str, str]:
    """File name → SVG."""
    return {
        "duplicates.svg": _duplicates(),
        "sawtooth.svg": _sawtooth(),
        "growth.svg": _growth(),
        "rtt.svg": _rtt(),
    }


def _duplicates() -> str:
    art = Sketch(
        "lab06-duplicates",
        560,
        330,
        "A lost segment and its duplicate acknowledgements",
        "The sender sends segments of 10 bytes beginning at 90, 100, 110, 120, 130 and 140. The one of 110 is lost. "
        "Each later one is answered by an acknowledgement for 110; after the third repetition the sender sends 110 "
        "again and receives an acknowledgement for 150.",
    )
    left, right = 150.0, 410.0
    art.text(left, 12, "sender", bold=True)
    art.text(right, 12, "receiver", bold=True)
    art.line([(left, 24), (left, 322)], width=2)
    art.line([(right, 24), (right, 322)], width=2)
    for place, first in enumerate((90, 100, 110, 120, 130, 140)):
        y = 36.0 + 24 * place
        lost = first == 110
        end = (left + 130, y + 20) if lost else (right, y + 40)
        art.line([(left, y), end], colour=VERMILLION if lost else BLUE, arrow=not lost)
        art.text(left - 8, y, f"bytes {first} to {first + 9}", anchor="end", size=11)
        if lost:
            x, at = end
            art.line([(x - 6, at - 6), (x + 6, at + 6)], colour=VERMILLION, width=2.5)
            art.line([(x - 6, at + 6), (x + 6, at - 6)], colour=VERMILLION, width=2.5)
            continue
        ack = first + 10 if first < 110 else 110
        art.line([(right, y + 42), (left, y + 82)], colour="line", dash="4 3", arrow=True)
        words = f"ACK {ack}" + ("" if first < 120 else f" again, {(first - 110) // 10}")
        art.text(right + 8, y + 42, words, anchor="start", size=11)
    art.line([(left, 244), (right, 284)], colour=VERMILLION, arrow=True)
    art.text(left - 8, 244, "110 to 119 again", anchor="end", size=11, bold=True)
    art.line([(right, 286), (left, 320)], dash="4 3", arrow=True)
    art.text(right + 8, 286, "ACK 150", anchor="start", size=11)
    return art.svg()


def _sawtooth() -> str:
    art = Sketch(
        "lab06-sawtooth",
        560,
        230,
        "Reno's congestion window",
        "The window grows fast in slow start until the first loss, is halved, then rises in a straight line to W, is "
        "halved at the next loss, and so on: a sawtooth between W/2 and W whose mean is three quarters of W.",
    )
    x, y = 60.0, 195.0
    art.line([(x, y), (x + 480, y)], arrow=True)
    art.line([(x, y), (x, 12)], arrow=True)
    art.text(x + 480, y + 16, "time", anchor="end")
    art.text(x + 8, 16, "cwnd", anchor="start")
    top = 130.0
    start = [(t, 4 * 2 ** (t / 14)) for t in range(0, 71, 2)]
    teeth: list[Point] = [(70, top / 2)]
    for peak in (190, 310, 430):
        teeth += [(peak, top), (peak, top / 2)]
    teeth.append((460, top / 2 + 16))
    art.line(scaled([*start, *teeth], (x, y), 1, 1), colour=BLUE, width=2.5)
    for height, name in ((top, "W"), (top / 2, "W/2")):
        art.line(scaled([(0, height), (460, height)], (x, y), 1, 1), dash="2 3", width=1)
        art.text(x - 6, y - height, name, anchor="end")
    art.line(scaled([(0, 0.75 * top), (460, 0.75 * top)], (x, y), 1, 1), colour=GREEN, dash="6 4")
    art.text(x + 464, y - 0.75 * top, "mean", anchor="start", size=11)
    for at in (70, 190, 310, 430):
        art.text(x + at, y - (128 if at == 70 else top) - 14, "loss", size=11)
    art.text(x + 6, y - 48, "slow start", anchor="start", size=11)
    art.line(scaled([(190, 20), (310, 20)], (x, y), 1, 1), arrow=True, width=1)
    art.line(scaled([(310, 20), (190, 20)], (x, y), 1, 1), arrow=True, width=1)
    art.text(x + 250, y - 10, "W/2 round trips", size=11)
    return art.svg()


def reno_window(time_s: float, largest: float, rtt_s: float) -> float:
    """Reno's window so long after a loss at `largest` segments: half of it and one more a round trip (RFC 5681)."""
    return largest / 2 + time_s / rtt_s


def cubic_window(time_s: float, largest: float) -> float:
    """CUBIC's window after a loss, segments: RFC 9438, section 4.2, C = 0.4 and a cut to 0.7; the cubic part alone."""
    inflection_s: float = (largest * 0.3 / 0.4) ** (1 / 3)
    return 0.4 * (time_s - inflection_s) ** 3 + largest


def htcp_window(time_s: float, largest: float, rtt_s: float) -> float:
    """H-TCP's window after a loss, segments: Leith and Shorten 2004 with β = 1/2 and Linux's scaling to 100 ms.

    The growth per round trip is 1 in the first second after a loss, then 1 + 10 Δ + Δ²/4 with Δ the time beyond.
    """
    window, at = largest / 2, 0.0
    while at < time_s:
        beyond = max(0.0, at - 1)
        window += max(1.0, (1 + 10 * beyond + beyond**2 / 4) * min(1.0, rtt_s / 0.1)) if beyond else 1.0
        at += rtt_s
    return window


def _growth() -> str:
    art = Sketch(
        "lab06-growth",
        560,
        260,
        "The window after a loss",
        "Segments over seconds since a loss at 2,000 segments, with a round trip of 30 ms. Reno falls to 1,000 and "
        "gains 33 a second. H-TCP falls to 1,000, grows like Reno for a second, then ever faster and is back after "
        "about five seconds. CUBIC falls to 1,400, is back near 2,000 after eleven seconds and lingers there.",
    )
    x, y, per_s, per_segment = 60.0, 225.0, 29.0, 0.07
    art.line([(x, y), (x + 460, y)], arrow=True)
    art.line([(x, y), (x, 12)], arrow=True)
    art.text(x + 460, y + 28, "seconds since the loss", anchor="end")
    art.text(x + 8, 16, "segments", anchor="start")
    for second in range(0, 15, 5):
        art.text(x + per_s * second, y + 13, str(second), size=11)
    for segments in (1000, 2000):
        art.line([(x, y - per_segment * segments), (x + 435, y - per_segment * segments)], dash="2 3", width=1)
        art.text(x - 6, y - per_segment * segments, f"{segments:,}", anchor="end", size=11)
    times = [step / 10 for step in range(151)]
    curves = (
        (VERMILLION, [(t, reno_window(t, 2000, 0.03)) for t in times], (330, 1250), "Reno"),
        (GREEN, [(t, h) for t in times if (h := htcp_window(t, 2000, 0.03)) < 2800], (194, 2620), "H-TCP"),
        (BLUE, [(t, cubic_window(t, 2000)) for t in times], (300, 1840), "CUBIC"),
    )
    for colour, points, (at, height), name in curves:
        art.line(scaled(points, (x, y), per_s, per_segment), colour=colour, width=2.5)
        art.text(x + at, y - per_segment * height, name, colour=colour, bold=True, anchor="start")
    return art.svg()


def mathis_gbps(rtt_s: float, loss: float, segment_bytes: int = 1448) -> float:
    """Reno's mean throughput in Gbps, √(3/2) · MSS / (RTT · √loss): Mathis and others 1997, equation 3."""
    return math.sqrt(1.5) * 8 * segment_bytes / (rtt_s * math.sqrt(loss)) / 1e9


def _rtt() -> str:
    art = Sketch(
        "lab06-rtt",
        560,
        270,
        "Throughput over round-trip time",
        "Both axes logarithmic. Without loss a tuned sender reaches 9.56 Gbps at every round-trip time. With a loss of "
        "0.01 percent Reno stays at that limit up to 0.15 ms and then falls in proportion to the round-trip time: "
        "1.4 Gbps at 1 ms, 142 Mbps at 10 ms, 47 Mbps at 30 ms, 14 Mbps at 100 ms.",
    )
    x, y, decade_x, decade_y = 76.0, 225.0, 140.0, 62.0
    limit = 9.564
    art.line([(x, y), (x + 450, y)], arrow=True)
    art.line([(x, y), (x, 12)], arrow=True)
    art.text(x + 450, y + 28, "round-trip time", anchor="end")
    art.text(x + 8, 14, "throughput", anchor="start")
    for power, name in enumerate(("0.1 ms", "1 ms", "10 ms", "100 ms")):
        art.line([(x + decade_x * power, y), (x + decade_x * power, 38)], dash="2 3", width=1)
        art.text(x + decade_x * power, y + 13, name, size=11)
    for power, name in enumerate(("10 Mbps", "100 Mbps", "1 Gbps", "10 Gbps")):
        art.text(x - 6, y - decade_y * power, name, anchor="end", size=11)
        if power:
            art.line([(x, y - decade_y * power), (x + 430, y - decade_y * power)], dash="2 3", width=1)

    def place(rtt_s: float, gbps: float) -> Point:
        return math.log10(rtt_s / 1e-4) * decade_x, math.log10(gbps / 0.01) * decade_y

    rtts = [1e-4 * 10 ** (step / 20) for step in range(62)]
    art.line(scaled([place(r, limit) for r in rtts], (x, y), 1, 1), colour=GREEN, width=2.5, dash="7 4")
    art.line(scaled([place(r, min(limit, mathis_gbps(r, 1e-4))) for r in rtts], (x, y), 1, 1), colour=BLUE, width=2.5)
    at_x, at_y = place(0.03, mathis_gbps(0.03, 1e-4))
    art.dot(x + at_x, y - at_y, 5, fill=VERMILLION, edge=VERMILLION)
    art.text(x + at_x - 10, y - at_y + 12, "30 ms: 47 Mbps", anchor="end")
    art.text(x + 300, y - 3 * decade_y - 12, "no loss", anchor="start")
    art.text(x + 160, y - 2.2 * decade_y, "loss 0.01 %", anchor="start")
    return art.svg()
