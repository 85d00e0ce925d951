# SPDX-License-Identifier: BSD-3-Clause
"""Start the agent on the channel that the kernel's side of the engine offers."""

from __future__ import annotations

import os
import sys

from linklab.agent import own_kernel
from linklab.agent.agent import Agent

if __name__ == "__main__":
    os.environ.pop("SETUPTOOLS_USE_DISTUTILS", None)  # the engine's, for this process alone
    named = os.environ.pop("LINKLAB_CHANNEL", "/dev/pocket")
    if not named.startswith("fd:"):  # with a descriptor, the kernel is the machine's own
        own_kernel.cost_nothing()
        own_kernel.set_limits()
    channel = int(named[3:]) if named.startswith("fd:") else os.open(named, os.O_RDWR)
    os.set_inheritable(channel, False)
    clock = os.environ.get("CLOCK")
    sys.exit(Agent(channel, stops_time=clock == "virtual", waits_for_us=clock in ("virtual", "paced")).serve())
