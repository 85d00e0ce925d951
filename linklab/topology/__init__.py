# SPDX-License-Identifier: BSD-3-Clause
"""A MiniEdit `.mn` file as plain data, and back without loss.

    Topology.load("Lab 8.mn") → Topology (parts.py, model.py) → problems() (checks.py)
                                                              → plan() (plan.py), what the agent builds
                                                              → save(path), the same JSON again

Knows no Mininet and runs on any system. Format: MiniEdit 2.2.0.1, `loadTopology` and `saveTopology` in Mininet's
examples/miniedit.py, versions "1" and "2"; data of our own is under the one top-level key "linklab".
"""

from linklab.topology.checks import Problem
from linklab.topology.model import Topology
from linklab.topology.parts import Controller, Host, Link, Preferences, Switch

__all__ = ["Controller", "Host", "Link", "Preferences", "Problem", "Switch", "Topology"]
