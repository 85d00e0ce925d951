# SPDX-License-Identifier: BSD-3-Clause
"""What run.json says of the machine, because it may explain why the same seed gives other bytes on another one.

It stands beside the environment of a run and not in it, because the environment goes into data sets and reports, which
must be the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab import pocket_kernel
from linklab.base.processor import processor


def describe(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The `processor` and, if the run was made in a pocket, the "kernel_sha256" of the kernel's image, hexadecimal."""
    found: dict[str, Any] = {"processor": processor()}
    if environment.get("engine") == "pocket" and (kernel := pocket_kernel.find()) is not None:
        found["kernel_sha256"] = kernel.info.get("sha256", "")
    return found
