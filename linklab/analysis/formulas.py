# SPDX-License-Identifier: BSD-3-Clause
"""Formulas that the labs teach and that expectations are computed from.

Pure: numbers in, numbers out. It must not know where a number was measured. Sources stand in each docstring.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

ETHERNET_HEADER_BYTES = 14
IP_TCP_HEADERS_BYTES = 40
TIMESTAMPS_BYTES = 12


def bdp_bytes(rate_bps: float, rtt_s: float) -> float:
    """Bandwidth-delay product: what is in flight when a path is full.

    Args:
        rate_bps: rate of the bottleneck, bit/s, >= 0.
        rtt_s: round-trip time without queueing, s, >= 0.

    Returns:
        Bytes; 10 Gbit/s and 20 ms give 25,000,000.

    Raises:
        ValueError: an argument is negative or not finite.

    Source: RFC 7323 §1.1.
    """
    _require(rate_bps >= 0 and math.isfinite(rate_bps), f"rate must be >= 0 bit/s, got {rate_bps}")
    _require(rtt_s >= 0 and math.isfinite(rtt_s), f"RTT must be >= 0 s, got {rtt_s}")
    return rate_bps * rtt_s / 8


def goodput_limit(rate_bps: float, *, mtu_bytes: int = 1500, timestamps: bool = True) -> float:
    """Highest TCP goodput that a shaped link of this rate can show.

    Args:
        rate_bps: rate given to tc, bit/s, > 0; tc counts the Ethernet header, not preamble, FCS or gap.
        mtu_bytes: largest IP packet, 576..65535.
        timestamps: whether TCP's time stamps are on (12 bytes of each segment), as they are on Linux.

    Returns:
        bit/s of payload; 10 Mbit/s gives 9.564 Mbit/s (x 1448/1514). Slow start and loss are left out.

    Raises:
        ValueError: rate_bps <= 0, or the MTU out of range.

    Source: RFC 9293 §3.7.1 (MSS), RFC 7323 §3 (time stamps), tc-stab(8) (what a qdisc counts).
    """
    _require(rate_bps > 0 and math.isfinite(rate_bps), f"rate must be > 0 bit/s, got {rate_bps}")
    _require(576 <= mtu_bytes <= 65535, f"MTU must be 576 to 65535 bytes, got {mtu_bytes}")
    payload_bytes = mtu_bytes - IP_TCP_HEADERS_BYTES - (TIMESTAMPS_BYTES if timestamps else 0)
    return rate_bps * payload_bytes / (mtu_bytes + ETHERNET_HEADER_BYTES)


def jain_index(throughputs: Sequence[float]) -> float:
    """Jain's fairness index of the mean throughput of each flow over the whole test.

    Convention: one number a flow, its mean over the whole test; a flow that got nothing counts as 0 and lowers the
    index. (`jain_at_each_step` takes the index at each instant, over the flows that have a value then.)

    Args:
        throughputs: one a flow, any one unit, each >= 0, not all 0.

    Returns:
        1/n (one flow has everything) to 1 (all have the same).

    Raises:
        ValueError: no flow, a negative or unknown throughput, or all are 0.

    Source: Jain, Chiu, Hawe, DEC-TR-301 (1984): (sum x)^2 / (n sum x^2).
    """
    values = np.asarray(throughputs, dtype=np.float64)
    _require(values.size > 0, "fairness needs at least one flow")
    _require(bool(np.all(np.isfinite(values)) and np.all(values >= 0)), "every flow needs a throughput >= 0")
    _require(bool(values.any()), "no flow transferred anything: fairness is not defined")
    return float(jain_at_each_step(values))


def jain_at_each_step(throughputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jain's index at each step, over the flows that have a value there.

    Convention: a flow without a value at a step, NaN, is left out of it; one that gets nothing counts as 0.

    Args:
        throughputs: `(flows, …)` in any one unit.

    Returns:
        As `throughputs` without the first axis; NaN where no flow has a value, or all are 0.

    Source: as `jain_index`.
    """
    known = ~np.isnan(throughputs)
    values = np.where(known, throughputs, 0.0)
    largest = np.abs(values).max(axis=0, initial=0.0)
    shares = values / np.where(largest > 0, largest, 1.0)  # so that squares of bit/s neither overflow nor vanish
    under = known.sum(axis=0) * (shares**2).sum(axis=0)
    return np.asarray(
        np.divide(shares.sum(axis=0) ** 2, under, out=np.full(throughputs.shape[1:], np.nan), where=under > 0)
    )


def mathis_bps(mss_bytes: float, rtt_s: float, loss_frac: float) -> float:
    """Throughput that TCP Reno reaches at most under random loss.

    Args:
        mss_bytes: payload of a segment, > 0.
        rtt_s: round-trip time, s, > 0.
        loss_frac: probability that a packet is lost, 0 < p <= 1; the formula is meant for small p.

    Returns:
        bit/s: MSS/RTT x sqrt(3/2)/sqrt(p), for a receiver that acknowledges every packet.

    Raises:
        ValueError: an argument is out of range.

    Source: Mathis, Semke, Mahdavi, Ott, ACM CCR 27(3), 1997, equation 3.
    """
    _require(mss_bytes > 0 and rtt_s > 0, f"MSS and RTT must be > 0, got {mss_bytes} bytes and {rtt_s} s")
    _require(0 < loss_frac <= 1, f"loss must be in (0, 1], got {loss_frac}")
    return 8 * mss_bytes / rtt_s * math.sqrt(1.5 / loss_frac)


def coefficient_of_variation(values: Sequence[float]) -> float:
    """Standard deviation over mean, of the values that are known (not NaN).

    Returns:
        >= 0; 0 when all are equal. The deviation is the sample's (n - 1).

    Raises:
        ValueError: fewer than two values are known, or their mean is 0.
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    _require(known.size >= 2, "a variation needs at least two values")
    mean = float(known.mean())
    _require(mean != 0, "the mean is 0: a variation relative to it is not defined")
    return float(known.std(ddof=1) / abs(mean))


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)
