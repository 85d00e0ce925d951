# SPDX-License-Identifier: BSD-3-Clause
"""Networks on this machine's own kernel begin, run side by side, end, and leave nothing."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from hosts import namespaces, needs_host, star, type_

from linklab.editor.runnable import Choice
from linklab.editor.running import Listener, Runner
from linklab.engine import host_kernel, sudo
from linklab.engine.agent_link import AgentLink
from linklab.engine.host import HostEngine, folder
from linklab.errors import AgentError, EngineError, MissingError
from linklab.tc.needs import Needs
from linklab.terminal import attach, attached
from linklab.topology import Topology
from linklab.warden import records

pytestmark = needs_host
NOBODY = GROUP = 65534


def settings() -> list[str]:
    """What of the machine the host engine may change."""
    return [
        (records.SYSCTL / name).read_text()
        for name in (*records.LEAST, records.ALLOWED)
        if (records.SYSCTL / name).exists()
    ]


def test_a_network_runs_on_this_kernel_and_leaves_nothing(tmp_path):
    """The names are those of the topology; what is written in the working folder stays, and nothing else."""
    before, links = settings(), interfaces()
    with HostEngine().start(star(2), workdir=tmp_path) as network:
        assert network.nodes == ["h1", "h2", "s1"]
        assert (network.environment["engine"], network.environment["kernel"]) == ("host", os.uname().release)
        assert "2 received, 0% packet loss" in type_(network, "ping -c 2 -i 0.2 10.0.0.2", "h1").output
        assert type_(network, "ls /sys/class/net").output.split() == ["lo", "s1", "s1-eth1", "s1-eth2"]
        type_(network, "echo made >kept; echo gone >/etc/linklab-test; echo gone >/opt/linklab-test")
        assert type_(network, "sysctl -w vm.swappiness=1").exit_status != 0
        assert interfaces() == links
        assert len(namespaces()) == 3
        # an open folder of the machine's own would lead to all that lies above it
        assert "dir" not in type_(network, "for f in /proc/1/fd/*; do test -d $f && echo dir; done").output
    assert (tmp_path / "kept").read_text() == "made\n"
    assert not Path("/etc/linklab-test").exists()
    assert not Path("/opt/linklab-test").exists()
    assert namespaces() == set()
    assert not records.FOLDER.exists()
    assert list(folder().iterdir()) == []
    assert settings() == before


def test_python_files_in_the_working_folder_are_not_run_by_root(tmp_path):
    """A folder that somebody handed in may hold what Python would import by itself: `.pth` files, a json.py."""
    site = tmp_path / f".local/lib/python3.{sys.version_info.minor}/site-packages"
    site.mkdir(parents=True)
    (site / "x.pth").write_text("import os; open('/lab/ran', 'w').close()\n")
    (tmp_path / "json.py").write_text("open('/lab/ran', 'w').close()\n")
    with HostEngine().start(star(2), workdir=tmp_path) as network:
        assert '"h1"' in type_(network, " ".join(attached.STATE_PROGRAM)).output
        assert type_(network, "linklab --version").exit_status == 0
    assert not (tmp_path / "ran").exists()


def test_a_file_system_without_owner_maps_is_handed_over_also_after_a_kill(of_nobody):
    """ramfs cannot exchange owners; `linklab clean` gives what the killed warden could not."""
    work = of_nobody / "home/work"
    subprocess.run(["mount", "-t", "ramfs", "ramfs", str(work)], check=True)
    try:
        os.chown(work, NOBODY, NOBODY)
        (work / "secret").touch(mode=0o600)
        time.sleep(1.1)  # a record's time is in seconds
        for kill in (False, True):
            with network_of_nobody(of_nobody, kill=kill) as link:
                typed(link, f"mkdir -p a{kill}; echo x >a{kill}/b")
            if kill:
                assert (work / "aTrue/b").stat().st_uid == 0
                records.Records().clean()
            assert {path.stat().st_uid for path in (work / f"a{kill}", work / f"a{kill}/b")} == {NOBODY}
        assert (work / "secret").stat().st_uid == 0
    finally:
        subprocess.run(["umount", str(work)], check=True)


def test_two_networks_of_the_same_names_run_side_by_side(tmp_path):
    """Each has its s1-eth1 and its 10.0.0.1, and one that ends does not touch the other."""
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    with HostEngine().start(star(2), workdir=one) as first:
        with HostEngine().start(star(2), workdir=other) as second:
            assert len(list(records.FOLDER.glob("??????.json"))) == 2
            type_(first, "ip addr add 10.9.9.9/32 dev s1-eth1")
            assert "10.9.9.9" not in type_(second, "ip addr show dev s1-eth1").output
            assert type_(first, "hostname").output != type_(second, "hostname").output
            assert len(namespaces()) == 6
        assert "0% packet loss" in type_(first, "ping -c 1 10.0.0.2", "h1").output
        assert "10.9.9.9" in type_(first, "ip addr show dev s1-eth1").output
    assert namespaces() == set()


def test_a_failure_to_build_is_told_and_leaves_nothing(tmp_path):
    """In Mininet's words; the space is gone."""
    drawn = json.loads(star(2).dumps())
    drawn["hosts"][1]["opts"]["externalInterfaces"] = ["gone0"]
    with (
        pytest.raises(AgentError, match="h2: external interface gone0 does not exist"),
        HostEngine().start(Topology.loads(json.dumps(drawn), "broken"), workdir=tmp_path),
    ):
        pass
    assert namespaces() == set()
    assert not records.FOLDER.exists()


def test_what_this_kernel_lacks_is_named_with_the_pocket_as_the_way_out(tmp_path):
    """Before anything is started."""
    if not host_kernel.lacks(Needs(qdiscs=frozenset({"netem"}))):
        pytest.skip("this kernel has netem")
    with (
        pytest.raises(MissingError, match=r"star needs netem, which .* does not have; .* --engine pocket"),
        HostEngine().start(star(2, delay="5ms"), workdir=tmp_path),
    ):
        pass


def test_clean_removes_what_a_killed_warden_left_and_not_what_runs(tmp_path):
    """The kernel ends the network with its warden; its record and the machine's settings wait for `linklab clean`."""
    before = settings()
    killed, kept = tmp_path / "killed", tmp_path / "kept"
    killed.mkdir()
    kept.mkdir()
    with HostEngine().start(star(2), workdir=kept) as running:
        with HostEngine().start(star(2), workdir=killed) as network:
            record = next(p for p in records.FOLDER.glob("??????.json") if str(killed) in p.read_text())
            os.kill(json.loads(record.read_text())["warden"], signal.SIGKILL)
            with pytest.raises(EngineError, match=r"^the network('s agent)? has ended"):  # whichever is noticed first
                type_(network, "sleep 30")
        assert records.Records().left() == [record.stem]
        assert f"removed network {record.stem} of the host engine" in clean()
        assert "0% packet loss" in type_(running, "ping -c 1 10.0.0.2", "h1").output
    assert settings() == before
    assert "host engine" not in clean()


def clean() -> str:
    """What `linklab clean` says."""
    return subprocess.run(
        [sys.executable, "-m", "linklab", "clean"], capture_output=True, text=True, check=True, timeout=60
    ).stdout


def interfaces() -> set[str]:
    """Names of the machine's own."""
    return {path.name for path in Path("/sys/class/net").iterdir()}


@pytest.fixture
def of_nobody():
    """A copy of the package that root alone can write, and a folder of nobody's; gone afterwards."""
    base = Path(f"/run/linklab-test-{os.getpid()}")
    base.mkdir()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(sudo.WARDEN.parent, base / "code/linklab", symlinks=True, ignore=ignored)
    for path in (base / "home", base / "home/work"):
        path.mkdir(mode=0o700)
        os.chown(path, NOBODY, NOBODY)
    subprocess.run(["chmod", "-R", "go-w", str(base / "code")], check=True)
    try:
        yield base
    finally:
        os.seteuid(0)
        shutil.rmtree(base)


@contextlib.contextmanager
def network_of_nobody(base, *, kill=False):
    """A link to the agent of a network that nobody's warden made, as under sudo; ends with the block, or is killed."""
    path, work = base / "home/s.sock", base / "home/work"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        os.chown(path, NOBODY, NOBODY)
        path.chmod(0o600)
        os.seteuid(NOBODY)  # whose socket it is, is seen by who listens (unix(7), SO_PEERCRED)
        listener.listen()
        os.seteuid(0)
        listener.settimeout(20)
        order = json.dumps({"do": "run", "socket": str(path), "work": str(work)})
        command = [*sudo.COMMAND[:-1], str(base / "code/linklab/warden")]
        environment = {**os.environ, "SUDO_UID": str(NOBODY), "SUDO_GID": str(GROUP)}
        with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, text=True) as warden:
            warden.stdin.write(order + "\n")
            warden.stdin.flush()
            connection, _ = listener.accept()
            with connection:
                link = AgentLink(connection)
                link.begin()
                link.request("build", deadline_s=30, what="build", plan=None, env={}, files={}, display=False)
                yield link
                if kill:
                    warden.kill()
                else:
                    connection.shutdown(socket.SHUT_RDWR)
            assert warden.wait(20) == (-signal.SIGKILL if kill else 0)


def typed(link, text):
    """What a command prints there."""
    action = {"terminal": "client", "text": text, "finish": {"kind": "prompt"}}
    done = link.request("run", deadline_s=30, what="run", actions=[action], within_s=0.0)["done"]
    return str(done[0]["output"])


def test_what_root_writes_for_another_user_is_that_users(of_nobody):
    """As under sudo: the warden connects to the user's socket, and what root makes inside is the user's outside."""
    with network_of_nobody(of_nobody) as link:
        assert typed(link, "id -u; mkdir -p a && echo x >a/b && stat -c %u a/b /lab").split() == ["0", "0", "0"]
    work = of_nobody / "home/work"
    assert {made.stat().st_uid for made in (work / "a", work / "a/b")} == {NOBODY}


def test_a_user_whose_group_is_roots_may_have_networks_too(of_nobody, monkeypatch):
    """As in containers that give people any number and the group 0."""
    monkeypatch.setattr(sys.modules[__name__], "GROUP", 0)
    with network_of_nobody(of_nobody) as link:
        assert typed(link, "touch made; stat -c %u made").split() == ["0"]
    assert (of_nobody / "home/work/made").stat().st_uid == NOBODY


def test_the_editor_runs_a_drawing_without_a_clock_to_set(tmp_path):
    """It becomes ready, its ports are metered, and Stop ends it."""
    told: list[tuple[str, object]] = []

    def tell(kind: str):
        return lambda what: told.append((kind, what))

    runner = Runner(Listener(*map(tell, ("stage", "ready", "ended", "clock", "sample"))))
    runner.start(star(2), Choice(engine="host", clock="wall"), tmp_path, display=False)
    deadline = time.monotonic() + 30
    while not {"sample", "ended"} & {kind for kind, _ in told} and time.monotonic() < deadline:
        runner.take()
        time.sleep(0.05)
    (session,) = (what for kind, what in told if kind == "ready")
    assert session.clock is None
    assert any("s1-eth1" in str(what) for kind, what in told if kind == "sample")
    runner.stop()
    runner.wait(20)
    runner.take()
    assert told[-1] == ("ended", None)
    assert namespaces() == set()


def test_a_hundred_hosts_are_up_within_ten_seconds(tmp_path):
    """With ten switches; and down again."""
    started = time.monotonic()
    with HostEngine().start(star(100, 10), workdir=tmp_path) as network:
        assert "0% packet loss" in type_(network, "ping -c 1 -W 5 10.0.0.100", "h1").output
    assert time.monotonic() - started < 10
    assert namespaces() == set()


def test_what_is_killed_at_random_moments_leaves_nothing(monkeypatch):
    """Three starts here; `make kill-test` does fifty. Networks of other tests have their sockets elsewhere."""
    sockets = Path(tempfile.mkdtemp(prefix="linklab-kill-"))
    (sockets / "linklab/host").mkdir(parents=True)  # as after the first network of a user
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(sockets))
    tool = Path(__file__).parents[2] / "tools/kill_test.py"
    done = subprocess.run(
        [sys.executable, str(tool), "3", "--json"], capture_output=True, text=True, check=False, timeout=120
    )
    counts = json.loads(done.stdout)["counts"]
    assert list(counts) == ["namespaces", "links", "qdiscs", "processes", "files", "settings"]
    assert {kind: count["left"] for kind, count in counts.items() if count["left"]} == {}
    assert attach.folder().is_relative_to(sockets)
    assert list(attach.folder().glob("*.sock")) == []
    shutil.rmtree(sockets)
