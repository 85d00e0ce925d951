# SPDX-License-Identifier: BSD-3-Clause
"""The environment of a network, as engines note it for programs → the same in words, for reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_WORDS = {
    "kernel_digest": "digest of the kernel",
    "memory_mib": "memory",
    "clock": "clock",
    "seed": "seed of what is random",
    "profile": "profile of the processor",
}
_UNITS = {"memory_mib": "MiB"}


def environment_in_words(environment: Mapping[str, Any]) -> dict[str, str]:
    """Names that people read → values with their units; each program with its version.

    Args:
        environment: as `Network.environment`, or of a run that was kept; keys that are not known here stay as they are.
    """
    found: dict[str, str] = {}
    for key, value in environment.items():
        if isinstance(value, Mapping):
            found |= {f"version of {name}": str(version) for name, version in value.items() if name not in environment}
        elif value is not None:
            found[_words(key)] = f"{value} {_UNITS.get(key, '')}".strip()
    return found


def _words(key: str) -> str:
    return _WORDS.get(key, key.replace("_", " "))
