# SPDX-License-Identifier: BSD-3-Clause
"""A lab that is left and continued: the network is set as it was, and the guide says what it said before."""

import contextlib
import time
from functools import partial
from pathlib import Path

from pockets import needs_pocket
from test_guide_live import Desk

from linklab.engine.api import Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.guide.continuing import bring_back, left_off
from linklab.guide.progress import LabProgress
from linklab.guide.session import GuideSession, read_steps
from linklab.guide.status import GuideStatus
from linklab.lab.model import find_lab, load_lab
from linklab.terminal.attach_server import AttachServer
from linklab.terminal.clock import ClockWords

pytestmark = needs_pocket

ROOT = Path(__file__).parents[2]
DONE = GuideStatus.DONE


@contextlib.contextmanager
def lab_running(work, back=None):
    """Lab 3 on the paced clock, as fast as it goes, with its guide; `back` is called before anybody works in it."""
    lab = load_lab(find_lab("3", ROOT))
    with PocketEngine().start(lab.load_topology(), workdir=work, clock=Clock.PACED) as network:
        network.paced.set_speed(float("inf"))
        brought = back(network) if back else None
        session = GuideSession(lab, work)
        clock = partial(ClockWords, network.paced)
        with (
            AttachServer(network.link, network.nodes, "Lab 3", clock, work) as attach,
            session.collecting(network, attach, "Lab 3.mn", brought.evidence if brought else ()),
        ):
            yield Desk(session, attach), network, brought


def states(session):
    """What the guide says of each step."""
    return {one.id: one.status for one in session.steps()}


def settled(session, wanted):
    """What the guide says, once it is as wanted or does not become so."""
    wait_until(lambda: states(session) == wanted)
    return states(session)


def wait_until(true):
    """Wait until it is, or for 20 s."""
    until_s = time.monotonic() + 20
    while not true() and time.monotonic() < until_s:
        time.sleep(0.1)


def test_a_lab_is_continued(tmp_path, monkeypatch):
    """Delay, loss and a sysctl are there again, a server is not and that is said; no step is another than before."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    (tmp_path / "run").mkdir(mode=0o700)
    work = tmp_path / "work"
    work.mkdir()
    with lab_running(work) as (desk, _, _):
        desk.types("h1", "ping -c 5 10.0.0.2")
        desk.types("h1", "ifconfig")
        desk.types("h2", "ifconfig")
        desk.types("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms")
        desk.types("h1", "tc qdisc show dev h1-eth0")
        desk.types("h1", "ping -c 5 10.0.0.2")
        desk.types("h2", "tc qdisc add dev h2-eth0 root netem delay 100ms")
        desk.types("h2", "sysctl -w net.ipv4.tcp_sack=0")
        desk.status("delay-h2", DONE)
        wait_until(lambda: not read_steps(work)["busy"])
        desk.types("h2", "iperf3 -s", until="Server listening")
        before = states(desk.session)
    with lab_running(work, lambda network: bring_back(network, left_off(LabProgress.load(work).evidence()))) as (
        desk,
        network,
        brought,
    ):
        assert brought.done == ["The settings on h1, h2 are made again, as the kernel had them last."]
        assert (brought.missing, brought.again) == ([], [("h2", "iperf3 -s")])
        (sack,) = network.run([Typed("h2#look", "sysctl -n net.ipv4.tcp_sack")])
        (ping,) = network.run([Typed("h1#look", "ping -c 2 10.0.0.2")])
        assert (sack.output, "time=200 ms" in ping.output) == ("0\n", True)
        assert settled(desk.session, before) == before
        desk.types("h2", "tc qdisc show dev h2-eth0")
        desk.types("h1", "ping -c 5 10.0.0.2")
        assert desk.status("both-sides", DONE)
