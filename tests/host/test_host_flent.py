# SPDX-License-Identifier: BSD-3-Clause
"""`flent` in a terminal of a network on this machine's own kernel, on the wall clock."""

from hosts import needs_host, star, type_

from linklab.data import open_file
from linklab.engine.host import HostEngine

pytestmark = needs_host


def test_it_measures_on_the_wall_clock(tmp_path):
    """The path is that of the network's own space, and the file tells engine, clock and date."""
    with HostEngine().start(star(2), workdir=tmp_path) as network:
        done = type_(network, "flent ping -H h2 -l 1 -f null", "h1")
        assert done.exit_status == 0, done.output
        assert done.output.startswith("ping from h1 to h2, 1 s of network time\n")
    (file,) = tmp_path.glob("ping-*.flent.gz")
    data = open_file(file)
    assert (data.metadata["engine"], data.metadata["clock"], data.flent["LOCAL_HOST"]) == ("host", "wall", "h1")
    assert len(data.series["Ping (ms) ICMP"].known) >= 5
    ports = [port["iface"] for node in data.flent["REMOTE_METADATA"].values() for port in node["PORTS"]]
    assert sorted(ports) == ["h2-eth0", "s1-eth1", "s1-eth2"]
