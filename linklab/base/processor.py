# SPDX-License-Identifier: BSD-3-Clause
"""What processor this is, in words that stay the same while it runs: /proc/cpuinfo without clock rates and numbers."""

from __future__ import annotations

from pathlib import Path

_MODEL = ("vendor_id", "cpu family", "model", "stepping", "model name")


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """The first processor's model and its features.

    Returns:
        "model" such as "GenuineIntel 6 207 2 Intel(R) Xeon(R) Processor" and "features", the flags sorted, with blanks
        between; only what the file says, so {} on a machine that says neither.
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
