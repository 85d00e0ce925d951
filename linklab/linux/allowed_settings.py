# SPDX-License-Identifier: BSD-3-Clause
"""The settings of a kernel that a script of a stranger may have made: an allow-list with ranges, and their files.

`linklab.netesto` asks before anything runs, and `linklab.agent.trial_settings` right before it writes; that one takes
the file from here too, so a plan cannot name another. Standard library only.
Sources of the ranges: the appendix A of Netesto's paper, the tables of its daemon, and the kernel's own bounds
(net/ipv4/tcp_cubic.c, tcp_dctcp.c, tcp_nv.c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

SYSCTL, PARAMETER = "SET_SYSCTL", "SET_MODULE_PARAMS"
"""The words by which a script makes the two kinds of settings."""
MOST_SHOWN = 60
"""Letters of a strange value that a sentence quotes."""

ALGORITHM = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")
DISCIPLINE = re.compile(r"[a-z][a-z0-9_]{0,14}")
_WHOLE = re.compile(r"-?[0-9]{1,18}")


@dataclass(frozen=True)
class NumberRule:
    """Whole numbers separated by commas, each within its range."""

    ranges: tuple[tuple[int, int], ...]

    def why_not(self, value: str) -> str:
        """What is wrong with a value; "" if nothing is."""
        parts = value.split(",")
        if len(parts) != len(self.ranges):
            return f"needs {len(self.ranges)} value{'s' * (len(self.ranges) > 1)}, not {len(parts)}"
        for part, (least, most) in zip(parts, self.ranges, strict=True):
            if not _WHOLE.fullmatch(part):
                return f'needs whole numbers, and "{_shown(part)}" is not one'
            if not least <= int(part) <= most:
                return f"must be {least:,} to {most:,}, not {int(part):,}"
        return ""


@dataclass(frozen=True)
class NameRule:
    """A name, or several separated by commas."""

    pattern: re.Pattern[str]
    what: str
    several: bool = False

    def why_not(self, value: str) -> str:
        """What is wrong with a value; "" if nothing is."""
        for name in value.split(",") if self.several else [value]:
            if not self.pattern.fullmatch(name):
                return f'needs the name of a {self.what}, and "{_shown(name)}" cannot be one'
        return ""


_BUFFER = NumberRule(((2_621_440, 67_108_864),))
_THREE_BUFFERS = NumberRule(((4096, 10_000), (16_000, 270_000), (128_000, 61_000_000)))
_BYTE = NumberRule(((0, 255),))
_SWITCH = NumberRule(((0, 1),))

SYSCTLS: Mapping[str, NumberRule | NameRule] = {
    "net.core.rmem_max": _BUFFER,
    "net.core.wmem_max": _BUFFER,
    "net.core.default_qdisc": NameRule(DISCIPLINE, "queueing discipline"),
    "net.ipv4.tcp_rmem": _THREE_BUFFERS,
    "net.ipv4.tcp_wmem": _THREE_BUFFERS,
    "net.ipv4.tcp_ecn": NumberRule(((0, 2),)),
    "net.ipv4.tcp_congestion_control": NameRule(ALGORITHM, "congestion control"),
    "net.ipv4.tcp_allowed_congestion_control": NameRule(ALGORITHM, "congestion control", several=True),
    "net.ipv4.tcp_cong_dscp_mask": _BYTE,
    "net.ipv4.tcp_cong_dscp_val": _BYTE,
}

MODULE_PARAMETERS: Mapping[str, Mapping[str, NumberRule]] = {
    "tcp_cubic": {
        "fast_convergence": _SWITCH,
        "initial_ssthresh": NumberRule(((0, 1_000_000),)),
        "tcp_friendliness": _SWITCH,
        "hystart": _SWITCH,
        "hystart_detect": NumberRule(((1, 3),)),
        "hystart_low_window": NumberRule(((2, 100_000),)),
        "hystart_ack_delta": NumberRule(((0, 100_000),)),
    },
    "tcp_dctcp": {
        "dctcp_shift_g": NumberRule(((0, 10),)),
        "dctcp_alpha_on_init": NumberRule(((0, 1024),)),
        "dctcp_clamp_alpha_on_loss": _SWITCH,
    },
    "tcp_nv": {
        "nv_pad": NumberRule(((0, 1000),)),
        "nv_reset_period": NumberRule(((1, 600),)),
        "nv_min_cwnd": NumberRule(((1, 255),)),
    },
}

OTHER_NAMES: Mapping[str, str] = {
    "net.core.rmem.max": "net.core.rmem_max",  # as the paper's appendix spells them
    "net.core.wmem.max": "net.core.wmem_max",
    "tcp_dctcp.shift_g": "tcp_dctcp.dctcp_shift_g",
    "tcp_dctcp.alpha_on_init": "tcp_dctcp.dctcp_alpha_on_init",
    "tcp_dctcp.clamp_alpha_on_loss": "tcp_dctcp.dctcp_clamp_alpha_on_loss",
}
"""Another spelling → the name in the tables above."""


def setting_name(name: str) -> str:
    """The name that the tables have for a sysctl or MODULE.PARAMETER, whichever way it was spelt."""
    return OTHER_NAMES.get(name, name)


ALLOWED: Mapping[str, Mapping[str, NumberRule | NameRule]] = {
    SYSCTL: SYSCTLS,
    PARAMETER: {f"{module}.{key}": rule for module, keys in MODULE_PARAMETERS.items() for key, rule in keys.items()},
}
"""Word → name → what its value may be."""

ALGORITHMS = "net.ipv4.tcp_allowed_congestion_control"
"""Its values are a set: the kernel prints them in an order of its own."""

NETWORK_WIDE = frozenset({"net.core.rmem_max", "net.core.wmem_max", "net.core.default_qdisc", ALGORITHMS})
"""Sysctls that a kernel has once for all namespaces (net/core/sysctl_net_core.c, net/ipv4/sysctl_net_ipv4.c): a
namespace of its own has no file of them, or one that can only be read."""


def is_network_wide(word: str, name: str) -> bool:
    """Whether all nodes of a network share the setting; so they do with every parameter of a module."""
    return word == PARAMETER or setting_name(name) in NETWORK_WIDE


def setting_file(word: str, name: str) -> str:
    """The file of a setting that `why_not_allowed` allows; KeyError for any other."""
    name = setting_name(name)
    if name not in ALLOWED[word]:
        raise KeyError(name)
    if word == SYSCTL:
        return f"/proc/sys/{name.replace('.', '/')}"
    module, _, parameter = name.partition(".")
    return f"/sys/module/{module}/parameters/{parameter}"


def why_not_allowed(word: str, name: str, value: str) -> str:
    """Why a script may not make a setting, as a sentence without its place; "" if it may.

    Args:
        word: SYSCTL or PARAMETER.
        name: of the sysctl, such as net.ipv4.tcp_ecn, or MODULE.PARAMETER, such as tcp_cubic.hystart.
        value: as a script writes it: values separated by commas.
    """
    if word not in ALLOWED:
        return f"{_shown(word)} sets nothing that a script may set"
    allowed, name = ALLOWED[word], setting_name(name)
    if name not in allowed:
        what = "sysctl" if word == SYSCTL else "module parameter"
        return f'a script may not set the {what} "{_shown(name)}"; it may set {", ".join(sorted(allowed))}'
    wrong = allowed[name].why_not(value)
    return f"{name} {wrong}" if wrong else ""


def _shown(text: str) -> str:
    """A stranger's text as a sentence quotes it: short, and without what a terminal would obey."""
    short = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return short if short.isprintable() else ascii(short)[1:-1]
