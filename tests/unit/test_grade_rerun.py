# SPDX-License-Identifier: BSD-3-Clause
"""What of a student's topology is left out of the networks that are measured."""

import json
from dataclasses import replace
from pathlib import Path

from linklab.grade.rerun import tame
from linklab.topology import Topology

LAB_8 = Path(__file__).parents[2] / "topologies" / "Lab 8.mn"


def test_measured_switches_report_to_no_collectors():
    """NetFlow and sFlow of the student's drawing would be traffic beside the grader's own; nothing else changes."""
    plain = Topology.loads(json.dumps(json.loads(LAB_8.read_text())), "Lab 8.mn")
    watched = tuple(replace(switch, opts={**switch.opts, "netflow": "1", "sflow": "1"}) for switch in plain.switches)
    found = tame(replace(plain, switches=watched))
    assert [{"netflow", "sflow"} & set(switch.opts) for switch in found.switches] == [set()] * len(plain.switches)
    assert [switch.name for switch in found.switches] == [switch.name for switch in plain.switches]
