# SPDX-License-Identifier: BSD-3-Clause
"""The fields of Preferences: MiniEdit's object "application", flattened, and what is ours under "linklab".

`flatten` and `unflatten` turn the nested object into one of plain keys and back without losing unknown ones. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab.editor.name_checks import network
from linklab.engine.profiles import PROFILES
from linklab.errors import InputError
from linklab.terminal.clock import parse_speed
from linklab.windows.fields import Field, Page, digits, pattern, texts

NESTED = {
    "openFlowVersions": ("ovsOf10", "ovsOf11", "ovsOf12", "ovsOf13"),
    "sflow": ("sflowTarget", "sflowSampling", "sflowHeader", "sflowPolling"),
    "netflow": ("nflowTarget", "nflowTimeout", "nflowAddId"),
}
RUN_KEYS = ("engine", "clock", "speed", "profile", "seed", "stp", "alone")
ENGINES = {"pocket": "pocket: a kernel of its own", "host": "host: this machine's kernel"}
SPEEDS = ("0.1", "0.25", "0.5", "1", "2", "4", "8", "max")
_TARGET = pattern(r"[^\s:]+:\d{1,5}", "an address with a port, such as 10.0.0.5:6343")


def speed(text: str) -> str:
    """Network seconds per wall-clock second, or "max", as typed."""
    parse_speed(text)
    return text


def _clock(text: str) -> str:
    if text not in ("paced", "virtual", "wall"):
        raise InputError("paced or wall")
    return text


def pages(engines: tuple[str, ...]) -> tuple[Page, ...]:
    """The tabs; `engines` are those that exist here."""
    counted = digits(0, 10**9)
    return (
        Page(
            "Network",
            (
                Field(
                    "ipBase",
                    "IP Base",
                    "hosts without an address take theirs from it, by number",
                    check=network,
                    default="10.0.0.0/8",
                ),
                Field(
                    "terminalType",
                    "Default Terminal",
                    "kept in the file; this machine's own terminal program is opened",
                    kind="choice",
                    choices=(("xterm", "xterm"), ("gterm", "gterm")),
                    default="xterm",
                ),
                Field("startCLI", "Start CLI", "open the Mininet CLI in a terminal at Run", kind="flag", default="0"),
                Field(
                    "switchType",
                    "Default Switch",
                    kind="choice",
                    choices=(
                        ("ovs", "Open vSwitch Kernel Mode"),
                        ("ivs", "Indigo Virtual Switch"),
                        ("user", "Userspace Switch"),
                        ("userns", "Userspace Switch inNamespace"),
                    ),
                    default="ovs",
                ),
                Field("ovsOf10", "OpenFlow 1.0", kind="flag", default="1"),
                Field("ovsOf11", "OpenFlow 1.1", kind="flag", default="0"),
                Field("ovsOf12", "OpenFlow 1.2", kind="flag", default="0"),
                Field("ovsOf13", "OpenFlow 1.3", kind="flag", default="0"),
                Field(
                    "dpctl", "dpctl port", "of every switch that names none", check=digits(1, 65535), keep_empty=True
                ),
            ),
        ),
        Page(
            "sFlow and NetFlow",
            (
                Field("sflowTarget", "sFlow Target", "collector, address:port", check=_TARGET, keep_empty=True),
                Field("sflowSampling", "sFlow Sampling", "one packet of so many", check=counted, default="400"),
                Field("sflowHeader", "sFlow Header", "of each sampled packet", "bytes", check=counted, default="128"),
                Field(
                    "sflowPolling", "sFlow Polling", "between readings of counters", "s", check=counted, default="30"
                ),
                Field("nflowTarget", "NetFlow Target", "collector, address:port", check=_TARGET, keep_empty=True),
                Field(
                    "nflowTimeout",
                    "NetFlow Active Timeout",
                    "a flow is reported so often",
                    "s",
                    check=counted,
                    default="600",
                ),
                Field("nflowAddId", "Add ID to Interface", kind="flag", default="0"),
            ),
        ),
        Page(
            "Running",
            (
                Field(
                    "engine",
                    "Engine",
                    "the host engine has this machine's time alone, and needs root for one command",
                    kind="choice",
                    choices=tuple((engine, ENGINES.get(engine, engine)) for engine in engines),
                    default="pocket",
                ),
                Field(
                    "clock",
                    "Clock",
                    "paced: slows down rather than show wrong results; wall: this machine's own time",
                    kind="choice",
                    choices=(("paced", "paced"), ("wall", "wall")),
                    check=_clock,
                    default="paced",
                    only=("engine", "pocket"),
                ),
                Field(
                    "speed",
                    "Speed",
                    "network seconds a second; max is as fast as it goes",
                    "×",
                    check=speed,
                    default="1",
                    only=("engine", "pocket"),
                ),
                Field(
                    "profile",
                    "Cost of computing",
                    "how much network time a processor takes",
                    kind="choice",
                    choices=tuple((name, costs.words) for name, costs in PROFILES.items()),
                    default="desktop",
                    only=("engine", "pocket"),
                ),
                Field(
                    "seed",
                    "Seed",
                    "of all chance: the same seed and the same typing give the same run",
                    check=counted,
                    default="1",
                    only=("engine", "pocket"),
                ),
            ),
            "Kept in the file, where MiniEdit does not see it.",
        ),
        Page(
            "Switches",
            (
                Field(
                    "alone",
                    "Without a controller",
                    "what an OpenFlow switch does that no controller serves; in MiniEdit it forwards nothing",
                    kind="choice",
                    choices=(
                        ("forward", "forwards like a legacy switch"),
                        ("drop", "forwards nothing, as in MiniEdit"),
                    ),
                    default="forward",
                ),
                Field("stp", "Spanning tree (STP) against loops", kind="flag", default="0"),
            ),
            "Kept in the file, where MiniEdit does not see it.",
        ),
    )


def flatten(application: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """One object of plain keys from "application" and our own "run"."""
    flat = {key: value for key, value in application.items() if key not in NESTED}
    for part, keys in NESTED.items():
        given = application.get(part, {})
        flat.update({key: given[key] for key in keys if key in given})
    run = ours.get("run")
    if isinstance(run, Mapping):  # anything else is overwritten by what the dialog gives
        flat.update({key: run[key] for key in RUN_KEYS if key in run})
    return flat


def unflatten(flat: Mapping[str, Any], application: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The object "application", whole as MiniEdit writes it, and {"run": …} of ours (None where nothing differs)."""
    defaults = texts(pages(("pocket",)), {})
    nested_keys = {key for keys in NESTED.values() for key in keys}
    data = {key: value for key, value in flat.items() if key not in nested_keys and key not in RUN_KEYS}
    for key in ("ipBase", "terminalType", "startCLI", "switchType", "dpctl"):
        data.setdefault(key, defaults[key])
    for part, keys in NESTED.items():
        data[part] = {**application.get(part, {}), **{key: flat.get(key, defaults[key]) for key in keys}}
    run = {key: flat[key] for key in RUN_KEYS if key in flat and str(flat[key]) != defaults[key]}
    return data, {"run": run or None}
