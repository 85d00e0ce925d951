# SPDX-License-Identifier: BSD-3-Clause
"""The runner of a trial on this machine's own kernel: programs on their nodes, let go together, sampled, ended."""

import json
import re

import pytest
from hosts import needs_host, needs_kernel, star, type_

from linklab.engine.host import HostEngine
from linklab.tc.needs import Needs

pytestmark = needs_host
SHAPERS = Needs(qdiscs=frozenset({"tbf"}))
FLOWS = 4
TOGETHER_S = 0.02
"""On a machine on which others work; quiet, four take a tenth of a millisecond."""


def flow(number):
    """A server on h2, and its client on h1."""
    port = 5200 + number
    serve = {"id": f"server-{number}", "node": "h2", "role": "server", "ready": {"tcp": port}}
    send = {"id": f"tcp-{number}", "node": "h1", "start_s": 0.5}
    return [
        serve | {"argv": ["iperf3", "-s", "-1", "-p", str(port)]},
        send | {"argv": ["iperf3", "-c", "10.0.0.2", "-p", str(port), "-t", "2", "-J"]},
    ]


PLAN = {
    "format": 1,
    "length_s": 3.0,
    "programs": [
        *(program for number in range(FLOWS) for program in flow(number)),
        {"id": "ping", "node": "h1", "argv": ["ping", "-i", "0.2", "10.0.0.2"], "stop_s": 3.0},
        {"id": "where", "node": "h1", "argv": ["ip", "-o", "-4", "addr", "show", "scope", "global"]},
    ],
    "samplers": {"period_s": 0.2, "qdiscs": [{"node": "s1", "interface": "s1-eth2"}], "sockets": ["h1", "h2"]},
}


UNTRACED = """
import sys
sys.path.insert(0, "/opt/linklab")
from linklab.linux import held

def refuse(request, *_):
    raise PermissionError if request == held.PTRACE_SEIZE else ProcessLookupError

held._ptrace = refuse
from linklab.agent.trial import main
sys.exit(main())
"""
"""The runner where ptrace(2) is not allowed, as in some containers."""


@needs_kernel(SHAPERS)
@pytest.mark.parametrize("held", [True, False], ids=["traced", "stopped"])
def test_a_trial_on_the_machines_own_kernel(tmp_path, held):
    """All flows at once, also where tracing is not allowed; both ends of each connection; nothing is left."""
    (tmp_path / "plan.json").write_text(json.dumps(PLAN))
    (tmp_path / "untraced.py").write_text(UNTRACED)
    runner = "/opt/linklab/linklab/agent/trial.py" if held else "untraced.py"
    with HostEngine().start(star(3), workdir=tmp_path) as network:
        assert type_(network, "tc qdisc add dev s1-eth2 root tbf rate 20mbit burst 10000 limit 100000").exit_status == 0
        done = type_(network, f"python3 {runner} plan.json out")
        left = type_(network, "ps -eo args | grep -cE '^(iperf3|ping) .*(10[.]0[.]0[.]2|-p 520[0-3])'").output
    outcome = json.loads((tmp_path / "out/outcome.json").read_text()) if (tmp_path / "out").exists() else {}
    assert (done.exit_status, left) == (0, "0\n"), done.output + json.dumps(outcome)
    programs = outcome["programs"]
    assert " 10.0.0.1/8 " in (tmp_path / "out/where.out").read_text()
    starts = [programs[f"tcp-{number}"]["started_s"] for number in range(FLOWS)]
    assert min(starts) >= 0.5 and max(starts) - min(starts) < TOGETHER_S
    goodput = 0.0
    for number in range(FLOWS):
        goodput += json.loads((tmp_path / f"out/tcp-{number}.out").read_text())["end"]["sum_received"][
            "bits_per_second"
        ]
    assert 17e6 < goodput < 22e6
    said = (tmp_path / "out/ping.out").read_text()
    assert programs["ping"]["stopped"] == ["SIGINT"]
    assert int(re.search(r"(\d+) received", said)[1]) >= 10  # the last one may be under way when it is stopped
    head, *lines = map(json.loads, (tmp_path / "out/sockets.jsonl").read_text().splitlines())
    ends = {"h1": set(), "h2": set()}
    for line in lines:
        rows = [dict(zip(head["fields"], row, strict=True)) for row in line["sockets"]]
        ends[line["node"]] |= {(row["local"], row["peer"]) for row in rows if row["state"] == "ESTAB"}
    assert len(ends["h1"]) >= 2 * FLOWS and ends["h2"] == {(peer, local) for local, peer in ends["h1"]}
    _, *lines = map(json.loads, (tmp_path / "out/qdiscs.jsonl").read_text().splitlines())
    assert max(line["qdiscs"][0]["backlog"] for line in lines) > 10_000
