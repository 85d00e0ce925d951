# SPDX-License-Identifier: BSD-3-Clause
"""The columns of an experiment's path: what SET_NETEM and SET_QDISC set last."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from linklab.netesto.recorded import RecordedSetting


def path_settings(settings: Sequence[RecordedSetting], end_s: float = float("inf")) -> dict[str, str | float | None]:
    """netem, qdisc, bw and buffers as the script set them: a setting of a host replaces an earlier one of its kind.

    Of a kind that could not be set on one of the hosts nothing is known. A setting that was due when the last flow had
    ended (end_s) was never made.
    """
    failed = {one.word for one in settings if one.failed}
    delays: dict[str, str] = {}
    disciplines: dict[str, Mapping[str, str]] = {}
    for one in settings:
        if one.at_s is not None and one.at_s >= end_s:
            continue
        if one.word == "SET_NETEM":
            delays[one.host] = _netem(one.arguments)
        elif one.word == "SET_QDISC":
            disciplines[one.host] = _discipline(disciplines.get(one.host, {}), one.arguments)
    known: dict[str, str | float | None] = {"netem": None if "SET_NETEM" in failed else _joined(delays.values())}
    for column, argument in (("qdisc", "qdisc"), ("bw", "rate"), ("buffers", "limit")):
        asked = _joined(one.get(argument, "") for one in disciplines.values())
        known[column] = None if "SET_QDISC" in failed else asked
    return known


def _discipline(before: Mapping[str, str], arguments: Mapping[str, str]) -> Mapping[str, str]:
    """The arguments of what then stands at a host's interface; {} if nothing does."""
    action = arguments.get("action", "")
    if action == "del":
        return {}
    return {**before, **{key: value for key, value in arguments.items() if value}} if action == "change" else arguments


def _netem(arguments: Mapping[str, str]) -> str:
    """A delay in ms, and the loss behind a plus sign: "40", "40+0.5%"; "" where netem was removed."""
    delay, loss = arguments.get("netem_delay", "0"), arguments.get("loss", "")
    lossy = loss.strip("%0. ") != ""
    if delay in ("", "0") and not lossy:
        return ""
    return f"{delay}+{loss.removesuffix('%')}%" if lossy else delay


def _joined(words: Iterable[str]) -> str | None:
    return "/".join(dict.fromkeys(word for word in words if word)) or None
