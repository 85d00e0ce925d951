# SPDX-License-Identifier: BSD-3-Clause
"""The machine's processor as text that does not change while it runs: /proc/cpuinfo without clock rates."""

from __future__ import annotations

from pathlib import Path

_MODEL = ("vendor_id", "cpu family", "model", "stepping", "model name")


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """The first processor's model and its features.

    Returns:
        "model", such as "GenuineIntel 6 207 2 Intel(R) Xeon(R) Processor", and "features", its flags, sorted and
        separated by spaces. What the file does not say is left out; {} if it cannot be read.
    """
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    fields: dict[str, str] = {}
    for line in text.partition("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        fields[name.strip()] = value.strip()
    found = {
        "model": " ".join(fields[name] for name in _MODEL if fields.get(name)),
        "features": " ".join(sorted((fields.get("flags") or fields.get("Features") or "").split())),
    }
    return {name: value for name, value in found.items() if value}
