# SPDX-License-Identifier: BSD-3-Clause
"""What the files of a host's counters say: its interfaces before and after, offloads, coalescing, and TCP's settings.

Formats: `ip -j -s -s link` (iproute2), `ethtool -k` and `-c`, `sysctl -a`. What a file does not say is None: a tool
or a kernel may lack it, and an unknown number is not 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from linklab.netesto import names
from linklab.netesto.recorded import RecordedExperiment

INTERFACES, OFFLOADS, COALESCING, SYSCTL = "interfaces.json", "offloads", "coalescing", "sysctl"
_LOOPBACK = "lo"
_MOST_COUNTED = (1 << 64) - 1

_OFFLOADS = {
    "tso": "tcp-segmentation-offload",
    "gso": "generic-segmentation-offload",
    "lro": "large-receive-offload",
    "gro": "generic-receive-offload",
}
_SWITCH = {"on": 1.0, "off": 0.0}


def interface_counters(text: str) -> dict[str, dict[str, int]]:
    """Interface → counter ("rx packets", "tx errors", …) → value, without the loopback interface; {} if unknown."""
    try:
        found = json.loads(text) if text.strip() else []
    except (ValueError, RecursionError):
        return {}
    counters: dict[str, dict[str, int]] = {}
    for one in found if isinstance(found, list) else []:
        if not isinstance(one, Mapping) or one.get("ifname") in (None, _LOOPBACK):
            continue
        stats = one.get("stats64") or one.get("stats")
        if isinstance(stats, Mapping):
            counters[str(one["ifname"])] = dict(_counted(stats))
    return counters


def _counted(stats: Mapping[str, Any]) -> list[tuple[str, int]]:
    return [
        (f"{way} {name}", value)
        for way, numbers in stats.items()
        if isinstance(numbers, Mapping)
        for name, value in numbers.items()
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_COUNTED
    ]


def carried(recorded: RecordedExperiment, host: str) -> dict[str, float]:
    """What the interfaces of a host carried during the experiment: "rx packets", "tx bytes", … together.

    Only what was counted before and after on each of its interfaces is there.
    """
    before, after = (
        interface_counters(recorded.counters(when, host, INTERFACES)) for when in (names.BEFORE, names.AFTER)
    )
    if not after or set(before) != set(after):
        return {}
    totals: dict[str, float] = {}
    for counter in ("rx packets", "rx bytes", "tx packets", "tx bytes"):
        pairs = [(before[each].get(counter), after[each].get(counter)) for each in after]
        differences = [late - early for early, late in pairs if early is not None and late is not None]
        if len(differences) == len(pairs) and min(differences) >= 0:
            totals[counter] = float(sum(differences))
    return totals


def client_values(recorded: RecordedExperiment, host: str) -> dict[str, str | float | None]:
    """Values of a client's host by column: its interfaces, offloads, coalescing, and TCP's settings."""
    nic = carried(recorded, host)
    found: dict[str, str | float | None] = dict(_settings(recorded, host))
    offloads = recorded.counters(names.BEFORE, host, OFFLOADS)
    found |= {column: _after(offloads, feature) for column, feature in _OFFLOADS.items()}
    found |= _coalescing(recorded.counters(names.BEFORE, host, COALESCING))
    for way in ("rx", "tx"):
        packets, octets = nic.get(f"{way} packets"), nic.get(f"{way} bytes")
        found[f"client-{way}-packets"], found[f"client-{way}-bytes"] = packets, octets
        found[f"client-{way}-packet-len"] = octets / packets if octets is not None and packets else None
    return found


def kernel_of(recorded: RecordedExperiment, host: str) -> str | None:
    """The release of the kernel that a host ran."""
    return _sysctl(recorded.counters(names.BEFORE, host, SYSCTL), "kernel.osrelease")


def _settings(recorded: RecordedExperiment, host: str) -> dict[str, str | None]:
    """The largest buffers that TCP chooses by itself, bytes, and its use of ECN, when the host's first flow starts.

    The counters were read before the experiment; what the script sets between that and the flow holds for the flow.
    """
    read = recorded.counters(names.BEFORE, host, SYSCTL)
    start_s = min((group.start_s for group in recorded.groups if group.host == host), default=0.0)
    later: dict[str, str] = {}
    for one in recorded.settings:
        of_host = one.word == "SET_SYSCTL" and one.host == host and not one.failed
        if of_host and one.at_s is not None and one.at_s <= start_s:
            later |= one.arguments

    def held(key: str) -> str | None:
        return later[key].replace(",", " ") if key in later else _sysctl(read, key)

    largest = {column: held(f"net.ipv4.tcp_{name}") for column, name in _BUFFERS.items()}
    found: dict[str, str | None] = {name: value.split()[-1] if value else None for name, value in largest.items()}
    return {**found, "ecn": held("net.ipv4.tcp_ecn")}


_BUFFERS = {"tcpRmem": "rmem", "tcpWmem": "wmem"}


def _sysctl(text: str, key: str) -> str | None:
    found = re.search(rf"^{re.escape(key)}\s*=\s*(\S.*)$", text, re.MULTILINE)
    return found[1].strip() if found else None


def _after(text: str, label: str) -> str | None:
    """The word after "LABEL:", which may be indented."""
    found = re.search(rf"^\s*{re.escape(label)}:[ \t]*(\S+)", text, re.MULTILINE)
    return None if found is None or found[1] == "n/a" else found[1]


def _coalescing(text: str) -> dict[str, float | None]:
    """Frames that wait for one interrupt, and whether the card chooses by itself (1 or 0)."""
    numbers: dict[str, float | None] = {}
    for column in ("rx-frames", "tx-frames"):
        word = _after(text, column)
        numbers[column] = float(word) if word is not None and re.fullmatch(r"\d{1,15}", word, re.ASCII) else None
    return {"adaptive_rx": _SWITCH.get(_after(text, "Adaptive RX") or ""), **numbers}
