# SPDX-License-Identifier: BSD-3-Clause
"""The E-model of ITU-T G.107: one-way delay and loss → the rating R and the mean opinion score of a telephone call.

All parameters but delay and loss have the defaults of Table 2 of the Recommendation: a narrowband handset and G.711
without concealment of losses. Symbols and numbers of equations are those of G.107 (06/2015).
"""

from __future__ import annotations

import math

MOST_DELAY_MS = 500.0
MOST_LOSS_FRAC = 0.2
"""The ranges for which the Recommendation gives its formulas; beyond them they extrapolate."""

_SLR, _RLR, _STMR = 8.0, 2.0, 15.0  # loudness ratings: send, receive, sidetone, dB
_LSTR, _DS, _DR = 18.0, 3.0, 3.0  # listener sidetone rating, D-factors
_TELR, _WEPL = 65.0, 110.0  # echo: talker loudness rating, weighted path loss, dB
_QDU = 1.0  # quantizing distortion units
_IE, _BPL, _BURST_R = 0.0, 4.3, 1.0  # G.711 without concealment, losses at random
_NC, _NFOR, _PS, _PR = -70.0, -64.0, 35.0, 35.0  # noise: circuit dBm0p, floor dBmp, rooms dB(A)
_MT_MS, _ST = 100.0, 1.0  # least delay that is noticed, sensitivity to it
_A = 0.0  # advantage factor


def mos(delay_ms: float, loss_frac: float) -> float:
    """The mean opinion score of a call with this one-way delay and loss.

    Args:
        delay_ms: from mouth to ear, one way, >= 0, the same in both directions; what a jitter buffer adds included.
        loss_frac: share of the packets that are lost, 0 to 1, at random.

    Returns:
        1 (bad) to 4.5. No delay and no loss give 4.41; 150 ms and 1 % give 3.67.
        Beyond MOST_DELAY_MS and MOST_LOSS_FRAC the formulas extrapolate.

    Raises:
        ValueError: a delay below 0, or a loss outside 0..1.

    Source: ITU-T G.107 (06/2015), clause 7 and equation B-4.
    """
    return mos_of_rating(rating(delay_ms, loss_frac))


def mos_of_rating(r: float) -> float:
    """The mean opinion score of a rating R: 1 below 0, 4.5 above 100 (G.107, B-4).

    Between R = 0 and 6.5 the polynomial falls below 1, the least that a listener can give; the score is 1 there.
    """
    if r <= 0:
        return 1.0
    if r >= 100:
        return 4.5
    return max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)


def rating(delay_ms: float, loss_frac: float) -> float:
    """The transmission rating R = Ro - Is - Id - Ie,eff + A (G.107, 7-1); 93.2 without delay and loss.

    Raises:
        ValueError: as `mos`.
    """
    if not (delay_ms >= 0 and 0 <= loss_frac <= 1):
        raise ValueError(f"a delay of {delay_ms} ms and a loss of {loss_frac}: need a delay >= 0 and a loss of 0 to 1")
    no = _noise_dbm0p()
    ro = 15 - 1.5 * (_SLR + no)  # 7-2
    loss_pct = 100 * loss_frac
    ie_eff = _IE + (95 - _IE) * loss_pct / (loss_pct / _BURST_R + _BPL)  # 7-29
    return ro - _simultaneous(ro, no, delay_ms) - _delayed(ro, no, delay_ms) - ie_eff + _A


def _noise_dbm0p() -> float:
    """No: all noise as one source at the 0 dBr point (7-3 to 7-7)."""
    olr = _SLR + _RLR
    nos = _PS - _SLR - _DS - 100 + 0.004 * (_PS - olr - _DS - 14) ** 2
    pre = _PR + 10 * math.log10(1 + 10 ** ((10 - _LSTR) / 10))
    nor = _RLR - 121 + pre + 0.008 * (pre - 35) ** 2
    nfo = _NFOR + _RLR
    return 10 * math.log10(sum(10 ** (part / 10) for part in (_NC, nos, nor, nfo)))


def _simultaneous(ro: float, no: float, delay_ms: float) -> float:
    """Is: what impairs together with the voice: loudness, sidetone, quantizing (7-8 to 7-17)."""
    xolr = _SLR + _RLR + 0.2 * (64 + no - _RLR)
    iolr = 20 * (_root(xolr / 8, 8) - xolr / 8)
    stmro = -10 * math.log10(10 ** (-_STMR / 10) + math.exp(-delay_ms / 4) * 10 ** (-_TELR / 10))
    ist = 12 * _root((stmro - 13) / 6, 8) - 28 * _root((stmro + 1) / 19.4, 35) - 13 * _root((stmro - 3) / 33, 13) + 29
    q = 37 - 15 * math.log10(_QDU)
    g = 1.07 + 0.258 * q + 0.0602 * q**2
    y = (ro - 100) / 15 + 46 / 8.4 - g / 9
    z = 46 / 30 - g / 40
    iq = 15 * math.log10(1 + math.pow(10, y) + math.pow(10, z))
    return iolr + ist + iq


def _delayed(ro: float, no: float, delay_ms: float) -> float:
    """Id: talker echo, listener echo, and too long a delay (7-18 to 7-28)."""
    terv = (
        _TELR
        - 40 * math.log10((1 + delay_ms / 10) / (1 + delay_ms / 150))
        + 6 * math.exp(-0.3 * min(delay_ms, 100.0) ** 2)
    )
    re = 80 + 2.5 * (terv - 14)
    roe = -1.5 * (no - _RLR)
    # below 1 ms the talker hears his echo as sidetone
    echo = ((roe - re) / 2 + math.sqrt((roe - re) ** 2 / 4 + 100) - 1) * (1 - math.exp(-delay_ms))
    idte = echo if delay_ms >= 1 else 0.0
    rle = 10.5 * (_WEPL + 7) * math.pow(2 * delay_ms + 1, -0.25)
    idle = (ro - rle) / 2 + math.sqrt((ro - rle) ** 2 / 4 + 169)
    if delay_ms <= _MT_MS:
        return idte + idle
    x = math.log2(delay_ms / _MT_MS)
    power = 6 * _ST
    idd = 25 * (_root(x, power) - 3 * _root(x / 3, power) + 2)
    return idte + idle + idd


def _root(x: float, power: float) -> float:
    """The power-th root of 1 + x^power, which several of the equations have."""
    return math.pow(1 + math.pow(x, power), 1 / power)
