# SPDX-License-Identifier: BSD-3-Clause
"""Flent's moments ↔ seconds since 1970, UTC.

Older files have local time and do not say of which zone.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from linklab.errors import DataError

EPOCH = "1970-01-01T00:00:00.000000Z"

MOST_ZONE_H = 14
"""No zone is further from UTC; a larger difference is no zone."""

_FORMATS = ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S")
_START = datetime(1970, 1, 1)


def seconds_of(moment: object) -> float:
    """Seconds since 1970 of a moment, which counts as UTC.

    Raises:
        DataError: it is not one.
    """
    return (_read(moment) - _START) / timedelta(seconds=1)


def zone_hours(moment: object, first_s: float | None) -> int:
    """What to add to a moment and its like to have UTC, hours.

    As Flent does, the zone is taken to be the whole number of hours that brings the moment closest to the first
    sample, taken at `first_s` seconds since 1970; 0 where there is no sample, and for a moment that says it is UTC.

    Raises:
        DataError: it is not a moment.
    """
    away_s = 0.0 if first_s is None else first_s - seconds_of(moment)
    if str(moment).endswith("Z") or abs(away_s) > (MOST_ZONE_H + 0.5) * 3600:
        return 0
    return round(away_s / 3600)


def in_utc(moment: object, hours: int = 0) -> str:
    """A moment as 1970-01-01T00:00:00.000000Z; one that is not UTC is `hours` behind it.

    Raises:
        DataError: it is not a moment.
    """
    try:
        found = _read(moment) + timedelta(hours=0 if str(moment).endswith("Z") else hours)
    except OverflowError:
        raise DataError(f"{moment!r} is outside the years 1 to 9999") from None
    return found.isoformat(timespec="microseconds") + "Z"


def _read(moment: object) -> datetime:
    for form in _FORMATS if isinstance(moment, str) else ():
        try:
            return datetime.strptime(str(moment), form)
        except ValueError:
            continue
    raise DataError(f"{moment!r} is no moment such as {EPOCH}")
