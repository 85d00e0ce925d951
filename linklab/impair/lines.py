# SPDX-License-Identifier: BSD-3-Clause
"""An `Impairment` → the `tc` lines that make it so on an interface.

Order on an interface: netem (1:), then the shaper (2:), then the discipline (3:).
"""

from __future__ import annotations

import math

from linklab import units
from linklab.impair.disciplines import DISCIPLINES, word
from linklab.impair.model import FRAME_BYTES, Impairment, in_flight_pkts

HZ_OF_RULE = 250
"""tbf's burst must hold what passes in a tick; the curriculum counts with 250 ticks a second."""
NETEM_LIMIT = 1000
"""Packets that netem holds when nothing is said (tc-netem(8)); fewer than a fast link has in flight."""
UNCHANGEABLE = ("htb", "sfq")
"""`tc qdisc change` refuses these; they are set anew."""


def default_burst_bytes(rate_mbit: float) -> int:
    """tbf's burst: what passes in 1/250 s, and at least two frames."""
    return max(math.ceil(rate_mbit * 1e6 / 8 / HZ_OF_RULE), 2 * FRAME_BYTES)


def commands(interface: str, impairment: Impairment, verb: str = "add") -> list[str]:
    """The lines that set an interface without any discipline; [] where nothing is asked for.

    verb: "add", or "change" to alter values while packets wait (only where `kinds` are the same).
    """
    lines: list[str] = []
    parent = "root"
    for handle, words in _layers(impairment):
        lines.append(f"tc qdisc {verb} dev {interface} {parent} handle {handle}: {words}")
        parent = f"parent {handle}:"
        if words.startswith("htb"):
            lines.append(
                f"tc class {verb} dev {interface} parent {handle}: classid {handle}:10 {_htb_class(impairment)}"
            )
            parent = f"parent {handle}:10"
            if impairment.queue_bytes is not None or impairment.queue_pkts is not None:
                lines.append(f"tc qdisc {verb} dev {interface} {parent} handle 3: {_fifo(impairment)}")
    return lines


def change_commands(interface: str, before: Impairment | None, after: Impairment) -> list[str]:
    """The lines that lead from one to the other on a running interface.

    before: None where it is not known what is there.
    """
    same = before is not None and not before.is_empty and kinds(before) == kinds(after)
    if same and not set(kinds(after)) & set(UNCHANGEABLE):
        return commands(interface, after, "change")
    remove = [] if before is not None and before.is_empty else [f"tc qdisc del dev {interface} root"]
    return remove + commands(interface, after)


def kinds(impairment: Impairment) -> list[str]:
    """Kinds of discipline that `commands` sets, root first, as `tc qdisc show` lists them."""
    return [line.split("handle ")[1].split()[1] for line in commands("x", impairment) if " qdisc " in line]


def _layers(impairment: Impairment) -> list[tuple[int, str]]:
    layers = []
    if impairment.has_netem:
        layers.append((1, _netem(impairment)))
    kind = impairment.discipline
    if kind == "htb":
        layers.append((2, "htb default 10"))
    elif kind == "cake":
        rate = f" bandwidth {units.format_rate(impairment.rate_mbit)}" if impairment.rate_mbit else ""
        layers.append((2, "cake" + rate + _options(impairment)))
    else:
        if impairment.rate_mbit is not None:
            layers.append((2, _tbf(impairment)))
        elif impairment.queue_bytes is not None or impairment.queue_pkts is not None:
            layers.append((2, _fifo(impairment)))
        if kind not in ("", "tbf"):
            if impairment.rate_mbit is None and layers and layers[-1][0] == 2:
                layers.pop()
            layers.append((3, kind + _options(impairment)))
    return layers


def _netem(impairment: Impairment) -> str:
    words = ["netem", "limit", str(_held(impairment))]
    if impairment.delay_s:
        words += ["delay", units.format_time(impairment.delay_s)]
        if impairment.jitter_s:
            words.append(units.format_time(impairment.jitter_s))
            if impairment.correlation_frac:
                words.append(units.format_percent(impairment.correlation_frac))
            if impairment.distribution:
                words += ["distribution", impairment.distribution]
    for name in ("loss", "duplicate", "corrupt", "reorder"):
        frac = getattr(impairment, f"{name}_frac")
        if frac:
            words += [name, units.format_percent(frac)]
    return " ".join(words)


def _held(impairment: Impairment) -> int:
    """Packets for netem: twice what is in flight, so that the delay line itself never drops."""
    if impairment.held_pkts is not None:
        return impairment.held_pkts
    if impairment.rate_mbit is None:
        return 100_000
    return max(NETEM_LIMIT, 2 * in_flight_pkts(impairment.rate_mbit, impairment.delay_s + impairment.jitter_s))


def _tbf(impairment: Impairment) -> str:
    assert impairment.rate_mbit is not None
    burst = impairment.burst_bytes or default_burst_bytes(impairment.rate_mbit)
    limit = impairment.queue_bytes
    if limit is None:
        limit = (impairment.queue_pkts or NETEM_LIMIT) * FRAME_BYTES
    rate = units.format_rate(impairment.rate_mbit)
    return f"tbf rate {rate} burst {burst} limit {limit}" + (
        _options(impairment) if impairment.discipline == "tbf" else ""
    )


def _htb_class(impairment: Impairment) -> str:
    assert impairment.rate_mbit is not None
    burst = impairment.burst_bytes or default_burst_bytes(impairment.rate_mbit)
    return f"htb rate {units.format_rate(impairment.rate_mbit)} burst {burst}" + _options(impairment)


def _fifo(impairment: Impairment) -> str:
    if impairment.queue_pkts is not None:
        return f"pfifo limit {impairment.queue_pkts}"
    return f"bfifo limit {impairment.queue_bytes}"


def _options(impairment: Impairment) -> str:
    words = []
    for parameter in DISCIPLINES[impairment.discipline]:
        text = impairment.options.get(parameter.name, "")
        if not text and parameter.required:
            text = parameter.default
        if text:
            words.append(word(parameter, text))
    return "".join(f" {each}" for each in words if each)
