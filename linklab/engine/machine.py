# SPDX-License-Identifier: BSD-3-Clause
"""What of a machine may be the reason where the same seed gives other bytes than elsewhere, for run.json.

It stands beside the environment of a run and not in it, since that goes into data sets and reports, which are the same
on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from linklab import pocket_kernel
from linklab.base.processor import processor


def describe(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The processor, and of a run in a pocket the SHA-256 of the kernel's image; see `processor`."""
    found: dict[str, Any] = {"processor": processor()}
    if environment.get("engine") == "pocket" and (kernel := pocket_kernel.find()) is not None:
        found["kernel_sha256"] = kernel.info.get("sha256", "")
    return found
