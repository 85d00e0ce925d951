# SPDX-License-Identifier: BSD-3-Clause
"""Packets with numbers → what a telephone call would suffer: loss, one-way delay, jitter, mean opinion score."""

from __future__ import annotations

import math

import numpy as np

from linklab.analysis.cut import Cutoff, inside
from linklab.analysis.emodel import mos
from linklab.data import Dataset
from linklab.data.names import SEPARATOR
from linklab.measure import Series
from linklab.measure.series import FloatArray

LOSS_RATE = "PACKET_LOSS_RATE"
UPSTREAM_LOSS_RATE = "UPSTREAM_LOSS_RATE"
"""Ours: the share that did not reach the callee."""
DELAY_MEAN = "OWD_UP_MEAN"
JITTER_MEAN = "IPDV_UP_MEAN"
"""Flent's keys for what the tool itself says of the whole test: a share, ms, ms."""


def loss_frac(data: Dataset, series: str, cutoff: Cutoff | None = None) -> float:
    """The share of the packets that were sent and did not come back; NaN where nothing is known.

    A further series of a program, such as "VoIP::loss", stands for its packets, "VoIP". Where nothing is cut and the
    tool said it, that. Else the sequence numbers "seq" of the samples: those from the smallest to the largest were
    sent, and those not marked "lost" were received; or, of a flood, how many "pkts" and "lost_pkts" each sample counts.
    Packets that were lost before the first or after the last sample are not known; Flent also leaves out those that are
    marked as lost there.
    """
    series = _packets(data, series)
    told = _told(data, series, LOSS_RATE, cutoff)
    if not math.isnan(told):
        return told
    sent = beside(data, series, "seq", cutoff)
    if sent.size == 0 or np.isnan(sent).all():
        return _of_counts(beside(data, series, "lost_pkts", cutoff), beside(data, series, "pkts", cutoff))
    lost = beside(data, series, "lost", cutoff) > 0
    received = np.unique(sent[~lost & ~np.isnan(sent)])
    return float(1 - received.size / (np.nanmax(sent) - np.nanmin(sent) + 1))


def _of_counts(lost: FloatArray, sent: FloatArray) -> float:
    """The share of packets that were lost, where each sample counts those since the one before."""
    total = float(np.nansum(sent))
    return float(np.nansum(lost)) / total if total else math.nan


def upstream_loss_frac(data: Dataset, series: str, cutoff: Cutoff | None = None) -> float:
    """The share of the packets that did not reach the other side; NaN where nothing is known.

    As `loss_frac`, without those whose answers were lost, if the samples ("lost_up") or the tool say which these are;
    files of Flent's do not, so there it is `loss_frac`.
    """
    series = _packets(data, series)
    told = _told(data, series, UPSTREAM_LOSS_RATE, cutoff)
    if not math.isnan(told):
        return told
    sent = beside(data, series, "seq", cutoff)
    ways = beside(data, series, "lost_up", cutoff)
    if f"{series}{SEPARATOR}lost_up" not in data.series or np.isnan(sent).all():
        return loss_frac(data, series, cutoff)
    return float(np.nansum(ways) / (np.nanmax(sent) - np.nanmin(sent) + 1))


def opinion(data: Dataset, series: str, cutoff: Cutoff | None = None) -> float:
    """The mean opinion score of a call with these packets; NaN where its delay or its loss is not known.

    The delay is the mean one-way delay from the sender ("owd_up"), ms, and twice the mean jitter ("ipdv_up", else the
    difference of one delay from the next), which a jitter buffer would add. Loss as `upstream_loss_frac`.
    Where nothing is cut, what the tool said of the whole test is preferred. Without one-way delays there is no
    score; Flent takes round trips then, which are twice too long.

    Source: ITU-T G.107 (06/2015), as in `linklab.analysis.emodel`.
    """
    delay_ms = _told(data, series, DELAY_MEAN, cutoff)
    jitter_ms = _told(data, series, JITTER_MEAN, cutoff)
    if math.isnan(delay_ms) or math.isnan(jitter_ms):
        delays = beside(data, series, "owd_up", cutoff)
        known = delays[~np.isnan(delays)]
        if not known.size:
            return math.nan
        delay_ms, jitter_ms = float(known.mean()), _jitter(known, beside(data, series, "ipdv_up", cutoff))
    loss = upstream_loss_frac(data, series, cutoff)
    return math.nan if math.isnan(loss) else mos(max(0.0, delay_ms + 2 * jitter_ms), loss)


def beside(data: Dataset, series: str, key: str, cutoff: Cutoff | None = None, *, lost: bool = True) -> FloatArray:
    """A further number of the samples of a series within the cutoff, one a sample; NaN where a sample lacks it.

    Samples without a value, such as those of lost packets, count if the series has them as gaps; and with `lost` also
    if it leaves them out and only their sequence numbers are there, as in files of Flent's.
    """
    times = _times(data, series) if lost else data.series[series].time_s
    whole = Series(series, "", times, np.zeros(times.shape))
    kept = inside(data, whole, cutoff)
    found = data.series.get(f"{series}{SEPARATOR}{key}")
    values = np.full(times.shape, np.nan)
    if found is not None and len(found):
        place = np.minimum(np.searchsorted(found.time_s, times), len(found) - 1)
        # several samples may have one time: the first takes the first, and so on
        place = np.minimum(place + _repeats(times), len(found) - 1)
        values = np.where(found.time_s[place] == times, found.value[place], np.nan)
    return values[kept]


def _packets(data: Dataset, series: str) -> str:
    """The series whose samples are the packets: itself if it numbers them, else the one that it belongs to."""
    first = series.partition(SEPARATOR)[0]
    itself = f"{series}{SEPARATOR}seq" in data.series or first not in data.series
    return series if itself else first


def _times(data: Dataset, series: str) -> FloatArray:
    """The times of all samples of a series: its own, or those of its sequence numbers where these are more."""
    own = data.series[series].time_s
    numbers = data.series.get(f"{series}{SEPARATOR}seq")
    return numbers.time_s if numbers is not None and len(numbers) > len(own) else own


def _repeats(times: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int_]]:
    """For each time how many equal ones stand before it."""
    found: np.ndarray[tuple[int], np.dtype[np.int_]] = np.arange(times.size) - np.searchsorted(times, times)
    return found


def _jitter(delays: FloatArray, given: FloatArray) -> float:
    known = np.abs(given[~np.isnan(given)])
    steps = known if known.size else np.abs(np.diff(delays))
    return float(steps.mean()) if steps.size else 0.0


def _told(data: Dataset, series: str, key: str, cutoff: Cutoff | None) -> float:
    value = None if cutoff is not None else data.series[series].meta.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
