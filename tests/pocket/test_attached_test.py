# SPDX-License-Identifier: BSD-3-Clause
"""`linklab test run TEST --attach`: a test on a network that another program holds, from outside of it."""

import os
import signal
import threading
import time

import pytest
from pockets import needs_pocket

from linklab.cli import main
from linklab.data import open_file
from linklab.engine.api import Clock
from linklab.engine.choice import load_engine
from linklab.experiment.path import parse_path
from linklab.experiment.ready import draw
from linklab.terminal.attach_server import AttachServer

pytestmark = needs_pocket


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    """Two hosts behind two routers, 10 Mbit/s and 20 ms, as fast as it goes, in a working folder of its own."""
    folder = tmp_path_factory.mktemp("attached")
    (folder / "run").mkdir(mode=0o700)
    (folder / "work").mkdir()
    before = os.environ.get("XDG_RUNTIME_DIR")
    os.environ["XDG_RUNTIME_DIR"] = str(folder / "run")
    topology = draw(parse_path("10mbit 20ms fq_codel"), targets=1)
    with load_engine("pocket").start(topology, workdir=folder / "work", clock=Clock.PACED, seed=1) as running:
        running.paced.set_speed(1000.0)
        with AttachServer(running.link, running.nodes, "two hosts", None, folder / "work"):
            yield folder
    if before is None:
        del os.environ["XDG_RUNTIME_DIR"]
    else:
        os.environ["XDG_RUNTIME_DIR"] = before


def test_it_measures_there_and_writes_the_file_here(network, capsys):
    """The path is looked for in the network; nothing of the test is left in its working folder."""
    out = network / "mine.flent.gz"
    assert main(["test", "run", "tcp_1up", "--attach", "-l", "3", "-o", str(out), "--plot", "totals"]) == 0
    assert "TCP upload" in capsys.readouterr().out
    data = open_file(out)
    assert (data.metadata["source"], data.metadata["targets"], data.metadata["clock"]) == ("h1", ["h2"], "paced")
    assert data.flent["T0"] is not None
    assert 8 < float(data.series["TCP upload"].known.mean()) < 10
    assert (network / "mine.totals.svg").read_text().startswith("<?xml")
    assert list((network / "work").iterdir()) == []


def test_ctrl_c_ends_it_early_and_keeps_the_data(network):
    """As in the network's own terminals."""
    out = network / "early.flent.gz"

    def interrupt():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not list((network / "work").glob(".linklab-test-*/out/qdiscs.jsonl")):
            time.sleep(0.1)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    waiting = threading.Thread(target=interrupt)
    waiting.start()
    assert main(["test", "run", "ping", "--attach", "-l", "80000", "-o", str(out)]) == 130
    waiting.join()
    assert "ended early" in open_file(out).notes[-1]
    assert list((network / "work").iterdir()) == []


def test_what_belongs_to_a_network_of_its_own_is_refused(network, capsys):
    """A path beside a network that runs, a node that it does not have, a network that does not run."""
    assert main(["test", "run", "ping", "--attach", "--path", "10mbit"]) == 2
    assert "--path: the network of --attach runs already" in capsys.readouterr().err
    assert main(["test", "run", "ping", "--attach", "--to", "h7"]) == 2
    assert "h7 is neither a node of this network" in capsys.readouterr().err
    assert main(["test", "run", "ping", "--attach", "77"]) == 2
    assert "network 77 is not running; there is 1" in capsys.readouterr().err
