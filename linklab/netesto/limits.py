# SPDX-License-Identifier: BSD-3-Clause
"""What a script may set on a host, and how much it may ask for: an allow-list with ranges, and caps.

`refuse_setting` is the one gate: `linklab netesto check` calls it, and so does whatever makes a setting, right before
it makes it. Nothing outside these tables is ever written to a host.
Sources of the ranges: the paper's appendix A, the tables of the original's daemon, and the kernel's own bounds
(net/ipv4/tcp_cubic.c, tcp_dctcp.c, tcp_nv.c).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from linklab.base.text import excerpt
from linklab.errors import InputError

MOST_LOOPS = 100_000
"""Passes of all FOR loops and repetitions of all RUNs of a script."""
MOST_COMMANDS = 200_000
MOST_STEPS = 1_000_000
"""Lines that are executed, whether they give a command or not."""
MOST_SECONDS = 30 * 86_400
"""Of network time in all."""
MOST_BYTES = 1_000_000
"""Of one file."""
MOST_CHARACTERS = 20_000
"""Of one line once its variables are filled in."""
MOST_TEXT = 50_000_000
"""Characters of all commands, variables that are set, and lines that are said."""
DEEPEST = 50
"""Of loops in loops, and of macros that run macros."""
DEEPEST_IN_ALL = 80
"""Of loops, macros and files inside one another."""

_ALGORITHM = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")
_DISCIPLINE = re.compile(r"[a-z][a-z0-9_]{0,14}")
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
                return f'needs whole numbers, and "{excerpt(part)}" is not one'
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
                return f'needs the name of a {self.what}, and "{excerpt(name)}" cannot be one'
        return ""


_BUFFER = NumberRule(((2_621_440, 67_108_864),))
_THREE_BUFFERS = NumberRule(((4096, 10_000), (16_000, 270_000), (128_000, 61_000_000)))
_BYTE = NumberRule(((0, 255),))
_SWITCH = NumberRule(((0, 1),))

SYSCTLS: Mapping[str, NumberRule | NameRule] = {
    "net.core.rmem_max": _BUFFER,
    "net.core.wmem_max": _BUFFER,
    "net.core.default_qdisc": NameRule(_DISCIPLINE, "queueing discipline"),
    "net.ipv4.tcp_rmem": _THREE_BUFFERS,
    "net.ipv4.tcp_wmem": _THREE_BUFFERS,
    "net.ipv4.tcp_ecn": NumberRule(((0, 2),)),
    "net.ipv4.tcp_congestion_control": NameRule(_ALGORITHM, "congestion control"),
    "net.ipv4.tcp_allowed_congestion_control": NameRule(_ALGORITHM, "congestion control", several=True),
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


def refuse_setting(word: str, name: str, value: str) -> None:
    """Let a setting pass only if it is on the list, with a value in its range.

    Args:
        word: SET_SYSCTL or SET_MODULE_PARAMS.
        name: of the sysctl, such as net.ipv4.tcp_ecn, or MODULE.PARAMETER, such as tcp_cubic.hystart.
        value: as a script writes it: values separated by commas.

    Raises:
        InputError: the setting is not on the list, or the value is out of range; the message has no place.
    """
    name = setting_name(name)
    allowed: Mapping[str, NumberRule | NameRule]
    if word == "SET_SYSCTL":
        allowed, what = SYSCTLS, "sysctl"
    elif word == "SET_MODULE_PARAMS":
        allowed = {f"{module}.{key}": rule for module, keys in MODULE_PARAMETERS.items() for key, rule in keys.items()}
        what = "module parameter"
    else:
        raise InputError(f"{excerpt(word)} sets nothing that a script may set")
    if name not in allowed:
        raise InputError(f'a script may not set the {what} "{excerpt(name)}"; it may set {", ".join(sorted(allowed))}')
    if wrong := allowed[name].why_not(value):
        raise InputError(f"{name} {wrong}")
