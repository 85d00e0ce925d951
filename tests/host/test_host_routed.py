# SPDX-License-Identifier: BSD-3-Clause
"""Addresses and routes on the host engine, as in a pocket."""

import sys
from pathlib import Path

from hosts import needs_host

from linklab.engine.api import Typed
from linklab.engine.host import HostEngine

sys.path.append(str(Path(__file__).parents[1] / "unit"))
from routed import addressed

pytestmark = needs_host


def test_three_hosts_behind_two_routers_ping_one_another(tmp_path):
    """The agent is the same; here with this machine's kernel."""
    with HostEngine().start(addressed(h3_eth0=["2001:db8:3::3/64"]), workdir=tmp_path) as network:
        assert "0% dropped" in network.run([Typed("mininet", "pingall")])[0].output
        assert network.run([Typed("h3", "ping -c 1 2001:db8:3::1")])[0].exit_status == 0
