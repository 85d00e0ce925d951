# SPDX-License-Identifier: BSD-3-Clause
"""Start the agent on the channel that the kernel's side of the engine offers."""

from __future__ import annotations

import os
import sys

from linklab.agent.agent import Agent

if __name__ == "__main__":
    channel = os.open(os.environ.get("LINKLAB_CHANNEL", "/dev/pocket"), os.O_RDWR)
    sys.exit(Agent(channel, stops_time=os.environ.get("CLOCK") == "virtual").serve())
