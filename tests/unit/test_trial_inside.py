# SPDX-License-Identifier: BSD-3-Clause
"""The runner of a trial, on this machine's own client: what starts when, what ends how, and that nothing is left."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import linklab
from linklab.agent import trial_samplers
from linklab.agent.trial_plan import PlanError, load

RUNNER = Path(linklab.__file__).parent / "agent/trial.py"


def flow(name, *argv, **more):
    """A program on the client; a single text is a command of the shell."""
    return {"id": name, "node": "client", "argv": ["sh", "-c", argv[0]] if len(argv) == 1 else list(argv), **more}


def begin(folder, *programs, length_s=0.0, grace_s=0.3, **more):
    """Start the runner with a plan; the process."""
    plan = {"format": 1, "length_s": length_s, "programs": list(programs), "grace_s": grace_s, **more}
    (folder / "plan.json").write_text(json.dumps(plan))
    command = [sys.executable, str(RUNNER), "plan.json", "out"]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(folder, *programs, **more):
    """Run a plan to its end: (exit status, what it said, outcome)."""
    with begin(folder, *programs, **more) as process:
        said, errors = process.communicate(timeout=60)
    assert errors == ""
    return process.returncode, [json.loads(line) for line in said.splitlines()], outcome(folder)


def outcome(folder):
    """What the runner left."""
    return json.loads((folder / "out/outcome.json").read_text())


def printed(folder, name, suffix="out"):
    """What a program printed."""
    return (folder / f"out/{name}.{suffix}").read_text()


def alive(pid):
    """Whether a process still runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def gone(pids, within_s=5.0):
    """Whether all end in time."""
    deadline = time.monotonic() + within_s
    while any(map(alive, pids)):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def wait_for(file, within_s=10.0):
    """The text of a file as soon as there is one."""
    deadline = time.monotonic() + within_s
    while not (file.exists() and file.read_text().endswith("\n")):
        assert time.monotonic() < deadline, f"{file} was not written"
        time.sleep(0.01)
    return file.read_text()


def test_programs_start_at_their_time(tmp_path):
    """start_s counts from T0."""
    status, said, found = run(
        tmp_path,
        flow("one", "echo one; sleep 0.3"),
        flow("two", "echo two", start_s=0.2),
        flow("three", "echo three", start_s=0.5),
        length_s=0.6,
    )
    started = {name: one["started_s"] for name, one in found["programs"].items()}
    assert status == 0 and found["ended"] == "whole" and found["ended_s"] >= 0.6
    assert all(one["status"] == 0 and one["why"] == "" for one in found["programs"].values())
    assert 0 <= started["one"] < 0.1 and 0.2 <= started["two"] < 0.3
    assert 0.5 <= started["three"] < 0.6
    assert [printed(tmp_path, name) for name in ("one", "two")] == ["one\n", "two\n"]
    assert [line for line in said if "phase" in line][-1] == {
        "phase": "end",
        "how": "whole",
        "running": 0,
        "ended": 3,
        "failed": 0,
    }
    assert next(line for line in said if "t" in line).keys() == {"t", "length_s", "running", "ended", "failed"}


def test_a_program_is_loaded_before_it_is_let_go_and_not_stopped_afterwards(tmp_path):
    """Nothing of a program runs before its time; then it is traced by nobody, and its signals are the usual ones."""
    look = "date +%s.%N; grep -E 'TracerPid|SigBlk|SigIgn' /proc/self/status; cat /proc/self/timerslack_ns; ulimit -n"
    _, _, found = run(tmp_path, flow("one", look, start_s=0.2))
    date, tracer, blocked, ignored, slack, _ = printed(tmp_path, "one").splitlines()
    assert float(date) >= found["t0_date_ns"] / 1e9 + 0.2 - 1e-3
    assert tracer.split()[1] == "0" and int(blocked.split()[1], 16) == 0 and slack == "50000"
    assert int(ignored.split()[1], 16) & 1 << signal.SIGPIPE - 1 == 0


def test_failures_are_told_and_the_rest_goes_on(tmp_path):
    """A program that is missing, fails, or is to run on a node that is not there, and a fact and an interface too."""
    status, said, found = run(
        tmp_path,
        flow("missing", "no-such-program", "-x"),
        flow("failing", "echo one >&2; echo 'no route' >&2; exit 3"),
        flow("iperf", "iperf3", "-c", "127.0.0.1", "-p", "1", "-J"),
        flow("nowhere", "true") | {"node": "h99"},
        flow("fine", "sleep 0.2; echo fine"),
        samplers={"period_s": 0.1, "qdiscs": [{"node": "client", "interface": "nope0"}], "cpu": True},
        facts=[{"node": "client", "name": "bad", "argv": ["no-such-tool"]}],
    )
    why = {name: one["why"] for name, one in found["programs"].items()}
    assert status == 1
    assert why["missing"] == "no-such-program could not be started: not found"
    assert why["failing"] == "exit status 3: no route"
    assert "onnect" in why["iperf"] or "iperf3: No such file" in why["iperf"]
    assert why["nowhere"].startswith("there is no node h99 in this network; there are: ")
    assert why["fine"] == "" and printed(tmp_path, "fine") == "fine\n"
    assert found["programs"]["missing"]["started_s"] is None
    assert found["lacks"] == ["client: there is no interface nope0 there"]
    (fact,) = json.loads((tmp_path / "out/facts.json").read_text())
    assert fact["before"]["status"] == 127 and "no-such-tool" in fact["before"]["text"]
    assert said[-1]["failed"] == 4


def test_the_test_ends_at_once_where_everything_failed(tmp_path):
    """Nobody waits a minute for nothing."""
    status, _, found = run(tmp_path, flow("one", "exit 1"), length_s=60)
    assert (status, found["ended"]) == (1, "whole") and found["ended_s"] < 1


def test_a_server_is_ready_before_a_flow_starts_and_ends_with_the_test(tmp_path):
    """Looked at, not slept for; one that never listens has a reason, and the flows go on."""
    listen = (
        "import socket,time; time.sleep(0.3); s=socket.create_server(('127.0.0.1',{}),family=socket.AF_INET);"
        "time.sleep(60)"
    )
    connect = "import socket; socket.create_connection(('127.0.0.1',{})).close(); print('connected')"
    port = 20000 + os.getpid() % 20000
    status, _, found = run(
        tmp_path,
        flow("server", sys.executable, "-c", listen.format(port), role="server", ready={"tcp": port}),
        flow("deaf", "sleep 60", role="server", ready={"udp": port + 1}),
        flow("flow", sys.executable, "-c", connect.format(port)),
        ready_s=2.0,
    )
    assert status == 1 and printed(tmp_path, "flow") == "connected\n"
    server, deaf = found["programs"]["server"], found["programs"]["deaf"]
    assert server["why"] == "" and server["stopped"] == ["SIGINT"] and server["started_s"] < 0
    assert deaf["why"] == f"it did not listen on UDP port {port + 1} within 2 s"


def test_a_program_that_will_not_end_is_stopped_at_its_time(tmp_path):
    """SIGINT, SIGTERM, SIGKILL with the plan's grace; a child of its own goes with it."""
    stubborn = "trap '' INT TERM; sleep 99 & echo $!; while :; do sleep 0.05; done"
    status, _, found = run(
        tmp_path,
        flow("stubborn", stubborn, stop_s=0.2),
        flow("polite", "trap 'echo bye; exit 0' INT; while :; do sleep 0.02; done", stop_s=0.2),
        flow("daemon", "setsid sleep 98 & echo $!; sleep 0.1"),
    )
    stubborn, polite = found["programs"]["stubborn"], found["programs"]["polite"]
    assert stubborn["why"] == "it did not end when asked by SIGINT and SIGTERM, and was killed"
    assert stubborn["stopped"] == ["SIGINT", "SIGTERM", "SIGKILL"] and stubborn["status"] == -9 and status == 1
    assert 0.8 <= stubborn["ended_s"] < 2
    assert polite["why"] == "" and polite["stopped"] == ["SIGINT"] and printed(tmp_path, "polite") == "bye\n"
    assert gone([int(printed(tmp_path, "stubborn")), int(printed(tmp_path, "daemon"))])


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGUSR1, signal.SIGHUP])
def test_ending_early_keeps_what_was_measured(tmp_path, how):
    """The samples, the outputs, and an outcome that says so."""
    with begin(
        tmp_path,
        flow("one", "trap 'echo kept; exit 0' INT; echo $$ >pid; while :; do sleep 0.02; done"),
        flow("later", "true", start_s=50),
        length_s=60,
        samplers={"period_s": 0.05, "cpu": True},
    ) as process:
        wait_for(tmp_path / "pid")
        time.sleep(0.3)
        process.send_signal(how)
        assert process.wait(timeout=20) == 130
    found = outcome(tmp_path)
    assert found["ended"] == "early" and found["ended_s"] < 20
    assert printed(tmp_path, "one") == "kept\n" and found["programs"]["one"]["why"] == ""
    later = found["programs"]["later"]
    assert later["started_s"] is None and later["why"] == "the test ended before it was to start"
    _, *samples = (tmp_path / "out/cpu.jsonl").read_text().splitlines()
    assert len(samples) >= 5


def test_a_file_ends_a_test_early_too(tmp_path):
    """For whoever starts the runner where no signal can be sent to it."""
    with begin(tmp_path, flow("one", "echo $$ >pid; exec sleep 50"), length_s=60) as process:
        wait_for(tmp_path / "pid")
        (tmp_path / "out/END").touch()
        assert process.wait(timeout=20) == 130
    assert outcome(tmp_path)["ended"] == "early" and outcome(tmp_path)["programs"]["one"]["stopped"] == ["SIGINT"]


def test_a_second_interrupt_does_not_wait_for_the_stubborn(tmp_path):
    """The plan's grace is half a minute; Ctrl+C twice more ends it at once, and still leaves an outcome."""
    stubborn = "trap '' INT TERM; echo $$ >pid; while :; do sleep 0.05; done"
    with begin(tmp_path, flow("one", stubborn), length_s=60, grace_s=30) as process:
        wait_for(tmp_path / "pid")
        began = time.monotonic()
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(0.3)
        assert process.wait(timeout=20) == 130 and time.monotonic() - began < 15
    assert outcome(tmp_path)["programs"]["one"]["stopped"] == ["SIGINT", "SIGTERM", "SIGKILL"]
    assert gone([int((tmp_path / "pid").read_text())])


def test_nothing_is_left_where_the_runner_is_killed(tmp_path):
    """Not the programs that run, not those that are held, not their children."""
    with begin(
        tmp_path,
        flow("one", "sleep 97 & echo $$ $! >pids; wait"),
        flow("held", "sleep 96", start_s=50),
        flow("server", "sleep 95", role="server"),
        length_s=60,
    ) as process:
        pids = [int(word) for word in wait_for(tmp_path / "pids").split()]
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        pids += [int(word) for word in children.read_text().split()] if children.exists() else []
        assert all(map(alive, pids)) and len(pids) >= 2
        process.kill()
        process.wait(timeout=10)
        assert gone(pids)


def test_samples_are_taken_at_whole_periods(tmp_path):
    """Of the test's clock, one line for each, with no gap that the machine's load does not make."""
    run(
        tmp_path, flow("one", "sleep 0.5"), length_s=1.0, samplers={"period_s": 0.1, "cpu": True, "netstat": ["client"]}
    )
    head, *lines = map(json.loads, (tmp_path / "out/cpu.jsonl").read_text().splitlines())
    assert head["period_s"] == 0.1 and head["fields"][:4] == ["user", "nice", "system", "idle"]
    assert len(lines) >= 8 and lines[0]["t"] < 0.05
    assert all((line["t"] + 1e-9) % 0.1 < 0.09 for line in lines)
    assert all(len(line["cpu"]["cpu"]) >= 8 for line in lines)
    head, *lines = map(json.loads, (tmp_path / "out/netstat.jsonl").read_text().splitlines())
    assert lines[0]["node"] == "client" and lines[0]["netstat"]["Tcp"]["RtoMin"] == 200
    assert "TCPLostRetransmit" in lines[0]["netstat"]["TcpExt"]


def test_counters_of_proc_net():
    """Pairs of lines, also with a number below zero."""
    text = "Tcp: RtoMin MaxConn\nTcp: 200 -1\nIpExt: InOctets\nIpExt: 4000000000\n"
    assert trial_samplers.counters(text) == {"Tcp": {"RtoMin": 200, "MaxConn": -1}, "IpExt": {"InOctets": 4000000000}}


@pytest.mark.parametrize(
    ("plan", "says"),
    [
        ("{", "the plan cannot be read"),
        ("[]", "not a plan of format 1"),
        ('{"format": 2, "length_s": 1}', "not a plan of format 1"),
        ('{"format": 1}', "plan lacks length_s"),
        ('{"format": 1, "length_s": 1, "speed": 2}', "plan: unknown: speed"),
        ('{"format": 1, "length_s": 1, "programs": {}}', "programs is not a list"),
        ('{"format": 1, "length_s": 1, "programs": [{"id": "a"}]}', "program 1 lacks node, argv"),
        ('{"format": 1, "length_s": 1, "programs": [{"id": "../a", "node": "h1", "argv": ["x"]}]}', "neither / nor"),
        ('{"format": 1, "length_s": 1, "programs": [{"id": "a", "node": "h1", "argv": []}]}', "it needs an argv"),
        (
            '{"format": 1, "length_s": 1, "programs": [{"id": "a", "node": "h", "argv": ["x"], "ready": {"sctp": 1}}]}',
            "ready is",
        ),
        ('{"format": 1, "length_s": 1, "samplers": {"period_s": 0}}', "samplers.period_s has to be above 0"),
    ],
)
def test_a_wrong_plan_is_refused_with_a_sentence(tmp_path, plan, says):
    """It says where; the runner ends with status 2."""
    file = tmp_path / "plan.json"
    file.write_text(plan)
    with pytest.raises(PlanError) as told:
        load(file)
    assert str(told.value).startswith(f"{file}: ") and says in str(told.value)


def test_the_runner_says_a_wrong_plan_and_ends_with_2(tmp_path):
    """On standard error, without a traceback."""
    command = [sys.executable, str(RUNNER), "nope.json", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("trial: nope.json: the plan cannot be read")
    assert not (tmp_path / "out").exists()
