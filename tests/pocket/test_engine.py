# SPDX-License-Identifier: BSD-3-Clause
"""The pocket engine: boot and its failures, cleanliness, seeds, the throw-away root, Mininet's own mn."""

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pockets import TOPOLOGY, all_gone, group_of, needs_pocket, run_dir_of, type_

from linklab import pocket_kernel
from linklab.base import place
from linklab.engine.api import Background, Clock, Prompt, Shows, Typed
from linklab.engine.pocket import PocketEngine
from linklab.engine.profiles import PROFILES
from linklab.errors import AgentError, BootError, DeadlineError, MissingError
from linklab.topology import Topology

pytestmark = needs_pocket

HOLD = """
import sys, time
from pathlib import Path
from linklab.engine.api import Clock
from linklab.engine.pocket import PocketEngine
with PocketEngine().start(None, workdir=Path(sys.argv[1]), clock=Clock(sys.argv[2])) as network:
    print(network.keeper_pid, flush=True)
    time.sleep(60)
"""


def start(workdir: Path, **options):
    """A pocket with the root namespace alone."""
    return PocketEngine().start(None, workdir=workdir, **options)


# --- boot


def test_a_kernel_that_ends_at_once_is_a_boot_error(tmp_path, monkeypatch):
    """/bin/false in the kernel's place: an error and no directory."""
    found = pocket_kernel.find()
    monkeypatch.setattr(
        pocket_kernel, "require", lambda: pocket_kernel.Kernel(Path("/bin/false"), found.version, "0", {})
    )
    monkeypatch.setattr("linklab.engine.pocket.run_base", lambda: tmp_path)
    with (
        pytest.raises(BootError, match=r"ended while booting, with status 1\. Its last words: \(none\)"),
        start(tmp_path),
    ):
        pass
    assert list(tmp_path.glob("linklab-*")) == []


def test_a_kernel_that_is_killed_while_booting_is_said_to_be(tmp_path, monkeypatch):
    """Regression: it had no last words, and nothing said how it had ended."""
    script = tmp_path / "kernel"
    script.write_text("#!/bin/sh\nkill -KILL $$\n")
    script.chmod(0o755)
    found = pocket_kernel.find()
    monkeypatch.setattr(pocket_kernel, "require", lambda: pocket_kernel.Kernel(script, found.version, "0", {}))
    monkeypatch.setattr("linklab.engine.pocket.run_base", lambda: tmp_path)
    with pytest.raises(BootError, match=r"ended while booting, killed by signal 9 \(Killed\)"), start(tmp_path):
        pass


def test_a_keeper_that_is_refused_something_is_one_sentence(tmp_path, monkeypatch):
    """What was being done, why not, and the cure; regression: "Its last words: (none)"."""
    monkeypatch.setattr("linklab.engine.pocket.run_base", lambda: tmp_path / "none")
    with (
        pytest.raises(BootError, match=r"could not start: making its folder: .*: No such file or directory"),
        start(tmp_path),
    ):
        pass


def test_without_seccomp_a_pocket_runs_by_ptrace_and_shows_the_same(tmp_path):
    """In a sandbox that denies seccomp(2); regression: "SECCOMP userspace requested but not functional!"."""
    program = (
        "import sys; from pathlib import Path; from linklab.engine.api import Typed\n"
        "from linklab.engine.pocket import PocketEngine\n"
        "with PocketEngine().start(None, workdir=Path(sys.argv[1])) as network:\n"
        "    done = network.run([Typed('client', 'date +%s.%N; head -c 8 /dev/urandom | xxd -p')])\n"
        "    print(done[0].output, network.now_s())\n"
    )
    argv = [sys.executable, "-c", program, str(tmp_path)]
    denied = [sys.executable, str(Path(__file__).parents[1] / "denied.py"), "seccomp"]
    plain, by_ptrace = (
        subprocess.run(words, capture_output=True, text=True, check=True, timeout=200).stdout
        for words in (argv, [*denied, *argv])
    )
    assert plain.startswith("17040672")
    assert by_ptrace == plain


def test_memory_that_is_too_small_everywhere_names_each_folder(tmp_path, monkeypatch):
    """No folder has room: each is named with its reason, and the cure."""
    monkeypatch.setattr(place, "candidates", lambda: [tmp_path, tmp_path / "missing"])
    with (
        pytest.raises(MissingError, match=r"MiB free.*is not a folder.*LINKLAB_TMP"),
        start(tmp_path, memory_mib=2**30),
    ):
        pass


@pytest.mark.skipif(os.getuid() != 0, reason="mounting needs root")
def test_memory_is_not_put_where_nothing_may_be_executed(tmp_path):
    """A noexec mount is passed over, since the kernel maps its memory executable."""
    mount = tmp_path / "noexec"
    mount.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "none", str(mount)], check=False).returncode:
        pytest.skip("a tmpfs cannot be mounted here")
    try:
        assert place.why_not(mount, 2**20) == "is mounted noexec"
    finally:
        subprocess.run(["umount", str(mount)], check=True)


# --- what goes wrong inside


def test_unknown_terminal_is_named_with_those_there_are(tmp_path):
    """The agent's words come through."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path) as network:
        with pytest.raises(AgentError, match="terminal h9: no such node; there are client, mininet, h1"):
            type_(network, "true", "h9")
        with pytest.raises(AgentError, match="nothing runs there in the background"):
            network.stop("h1")
        assert type_(network, "echo still here", "h1").output == "still here\n"


def test_a_step_that_sleeps_too_long_is_named(tmp_path):
    """The deadline is wall time."""
    with start(tmp_path, clock=Clock.PACED) as network, pytest.raises(DeadlineError, match='"sleep 1000" in client'):
        type_(network, "sleep 1000", deadline_s=1)


def test_a_program_that_spins_stops_virtual_time_but_not_the_deadline(tmp_path):
    """Virtual time stands still; the wall clock does not."""
    with start(tmp_path) as network, pytest.raises(DeadlineError, match="while :; do :; done"):
        type_(network, "while :; do :; done", deadline_s=2)


# --- the root file system


SPIN = """
import select, time
end = time.monotonic() + 0.0002
while time.monotonic() < end:
    select.select([], [], [], 0)
print("passed")
"""


@pytest.mark.parametrize("profile", ["desktop", "ideal"])
def test_waiting_for_the_clock_in_a_loop_ends(tmp_path, profile):
    """A program may read the clock again and again, with system calls that cost nothing between."""
    (tmp_path / "spin.py").write_text(SPIN)
    with start(tmp_path, profile=profile) as network:
        assert type_(network, "/usr/bin/python3 spin.py", deadline_s=60).output == "passed\n"


def test_a_ping_that_waits_by_yielding_stops_no_other_program(tmp_path):
    """An answer 7 ms before the next probe makes ping yield until then; two busy programs still share the processor."""
    (tmp_path / "busy.py").write_text("import time\nend = time.monotonic() + 0.1\nwhile time.monotonic() < end: pass\n")
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, seed=1) as network:
        network.run([Typed("client", "tc qdisc add dev s1-eth1 root netem delay 193ms")])
        network.run([Typed("h1", "ping -c 1 10.0.0.2")])  # asks for the address
        network.run([Typed("h1", "ping -q -i 0.2 -w 5 10.0.0.2")])
        busy = network.run([Typed(host, "python3 /lab/busy.py") for host in ("h1", "h2")])
    assert [round(each.end_s - each.start_s, 1) for each in busy] == [0.1, 0.1]


def test_only_the_working_folder_stays(tmp_path):
    """Inside, /etc is writable and the host's is untouched."""
    before = Path("/etc/hostname").read_bytes()
    with start(tmp_path) as network:
        assert (
            type_(network, "echo changed >/etc/hostname; echo x >>/etc/sysctl.conf; cat /etc/hostname").output
            == "changed\n"
        )
        assert type_(network, "echo kept >/lab/file; pwd; cat file").output == "/lab\nkept\n"
    assert Path("/etc/hostname").read_bytes() == before
    assert (tmp_path / "file").read_text() == "kept\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_more_files_are_read_than_the_usual_limit_of_open_files(tmp_path):
    """A person whose limit is 1024 open files can still draw plots inside, which reads more than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))
    try:
        with start(tmp_path) as network:
            files = "/usr/lib/python3*/*.py /usr/lib/python3*/*/*.py"
            done = type_(network, f"cat {files} > /dev/null; ls {files} | wc -l")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert int(done.output) > 350  # any error of cat would stand before the number


def test_sudo_and_modprobe(tmp_path):
    """Both are there whatever the host has: sudo drops its options, modprobe knows what is built in."""
    with start(tmp_path) as network:
        assert type_(network, "sudo -E id -u").output == "0\n"
        assert type_(network, "sudo modprobe tcp_htcp && modprobe sch_fq_codel").exit_status == 0
        assert (
            type_(network, "modprobe 8021q && modprobe sctp").output == ""
        )  # VLAN_8021Q and IP_SCTP in the kernel's words
        missing = type_(network, "modprobe no_such_module")
        assert missing.exit_status == 1
        assert "Module no_such_module not found" in missing.output


def test_cpu_profile_sets_what_computing_costs(tmp_path):
    """Inside, cpu_profile shows the profile that the network began with and replaces it for all that follows."""
    with start(tmp_path) as network:
        begins = f"* desktop   system call 300 ns, byte copied {PROFILES['desktop'].prices['byte_ps']} ps"
        assert type_(network, "cpu_profile").output.startswith(begins)
        before = network.now_s()
        type_(network, "sudo cpu_profile ideal")
        assert type_(network, "cat /sys/module/pocket/parameters/*_ps").output.split() == ["0", "0", "0", "500000", "0"]
        assert type_(network, "cat /sys/module/pocket/parameters/wake_ns").output == "0\n"
        assert "* ideal" in type_(network, "cpu_profile").output
        done = type_(network, "cpu_profile slow-vm")
        assert done.output.startswith("* slow-vm")
        assert len(done.output.splitlines()) == 2
        prices = PROFILES["slow-vm"].prices
        told = type_(network, "cd /sys/module/pocket/parameters; grep . *_ps spread_permille wake_ns").output
        assert dict(line.split(":") for line in told.splitlines()) == dict(prices)
        assert type_(network, "cpu_profile turtle").exit_status == 2
        assert "usage: cpu_profile" in type_(network, "cpu_profile --help").output
        assert network.now_s() > before


def test_cpu_profile_says_that_it_is_nothing_to_the_wall_clock(tmp_path):
    """There computing takes the time it takes."""
    with start(tmp_path, clock=Clock.WALL) as network:
        assert "a profile changes nothing" in type_(network, "cpu_profile slow-vm").output


def test_sudo_mn_forwards(tmp_path):
    """Mininet's own command with its default controller; regression: Open vSwitch lost packets in its first seconds."""
    with start(tmp_path) as network:
        assert "*** Results: 0% dropped (2/2 received)" in type_(network, "sudo mn --test pingall").output
        # typed, not piped: at the end of its input Mininet polls without sleeping, which virtual time has to wait for
        prompt = Shows("mininet> $")
        network.run([Typed("client", "sudo mn", prompt)])
        ping, ifconfig, _ = (
            network.run([Typed("client", text, finish)])[0].output
            for text, finish in (("h1 ping -c 3 10.0.0.2", prompt), ("h1 ifconfig", prompt), ("exit", Prompt()))
        )
        assert "3 packets transmitted, 3 received, 0% packet loss" in ping
        assert "inet 10.0.0.1  netmask 255.0.0.0" in ifconfig
        assert "*** Cleanup complete." in type_(network, "sudo mn -c").output


def test_what_does_not_end_by_itself_is_stopped_after_a_network_time(tmp_path):
    """Regression: on the virtual clock a network that waits answers nothing else, so nobody could stop it."""
    drawn = Topology.load(TOPOLOGY)
    with PocketEngine().start(drawn, workdir=tmp_path) as network:
        network.run([Typed("h2", "cat", Background())])
        done = network.finished("h2", within_s=1.5, deadline_s=60)
        assert (done.output, done.exit_status) == ("\n", 130)
        assert done.end_s - done.start_s == pytest.approx(1.5, abs=0.3)
        network.run([Typed("h2", "sleep 0.5", Background())])
        assert network.finished("h2", within_s=30, deadline_s=60).exit_status == 0


# --- seeds


def lossy_iperf3(workdir: Path, seed: int) -> bytes:
    """The client's JSON of three seconds over a link with 0.01% of loss."""
    workdir.mkdir()
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=workdir, seed=seed) as network:
        type_(network, "tc qdisc add dev s1-eth2 root netem loss 0.01% rate 200mbit delay 5ms limit 500", "s1")
        network.run([Typed("h2", "iperf3 -s -1", Background())])
        type_(network, "sleep 0.5; iperf3 -c 10.0.0.2 -t 3 -J > out.json", "h1")
    return (workdir / "out.json").read_bytes()


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    """Two runs of one seed are equal to the byte; another seed is another run."""
    first, second, other = (lossy_iperf3(tmp_path / name, seed) for name, seed in (("a", 5), ("b", 5), ("c", 6)))
    assert first == second
    assert other != first
    assert json.loads(first)["end"]["sum_received"]["bits_per_second"] > 0


ELSEWHERE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import linklab
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology
assert Path(linklab.__file__).is_relative_to(sys.argv[1])
with PocketEngine().start(Topology.load(Path(sys.argv[2])), workdir=Path(sys.argv[3]), seed=5) as network:
    network.run([Typed("h1", "tc qdisc add dev h1-eth0 root netem delay 100ms 10ms")])
    command = "ping -c 20 10.0.0.2; cut -d' ' -f1 /proc/uptime; cat /proc/sys/kernel/random/uuid; echo $$"
    print(network.run([Typed("h1", command)]))
"""


def test_the_same_seed_gives_the_same_bytes_from_a_clone_elsewhere(tmp_path):
    """Neither the place of the package nor more programs during the boot change what clock, chance, and `$$` say.

    Regression: chance depends on process IDs, which went on from those of the boot.
    """
    clones = tmp_path / "a", tmp_path / "a folder with a longer name" / "and" / "another"
    found = []
    for number, clone in enumerate(clones):
        for part in ("linklab", "kernel"):
            shutil.copytree(TOPOLOGY.parents[1] / part, clone / part, ignore=shutil.ignore_patterns("__pycache__"))
        script = clone / "linklab/engine/init.sh"
        script.write_text(script.read_text().replace("hostname linklab\n", "hostname linklab\n" + "ls\n" * number))
        work = tmp_path / f"work{number}"
        work.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", ELSEWHERE, str(clone), str(TOPOLOGY), str(work)],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
        found.append(done.stdout)
    assert found[0].count("icmp_seq") == 20
    assert found[0] == found[1]


# --- cleanliness


@pytest.mark.parametrize("clock", ["virtual", "paced", "wall"])
def test_nothing_is_left_after_success(tmp_path, clock):
    """Processes and run directory go with the `with` block."""
    with start(tmp_path, clock=Clock(clock)) as network:
        pids, folder = group_of(network.keeper_pid), run_dir_of(network.keeper_pid)
        assert len(pids) > 2
    assert all_gone(pids, folder)


def test_nothing_is_left_after_an_error(tmp_path):
    """The same when the body fails."""
    with pytest.raises(RuntimeError), start(tmp_path) as network:
        pids, folder = group_of(network.keeper_pid), run_dir_of(network.keeper_pid)
        raise RuntimeError
    assert all_gone(pids, folder)


def hold(workdir: Path, clock: str) -> tuple[subprocess.Popen[str], int]:
    """A program that holds a pocket, and its keeper."""
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(workdir), clock], stdout=subprocess.PIPE, text=True)
    return holder, int(holder.stdout.readline())


@pytest.mark.parametrize("clock", ["virtual", "paced"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_the_parent_is_signalled(tmp_path, clock, number):
    """Ctrl+C and SIGKILL of whoever holds the pocket."""
    holder, keeper = hold(tmp_path, clock)
    pids, folder = group_of(keeper), run_dir_of(keeper)
    holder.send_signal(number)
    assert all_gone(pids, folder)
    holder.wait()


@pytest.mark.parametrize("clock", ["virtual", "paced"])
def test_nothing_is_left_when_the_keeper_is_killed(tmp_path, clock):
    """The kernel dies with its keeper, and the parent removes the directory."""
    with start(tmp_path, clock=Clock(clock)) as network:
        pids, folder = group_of(network.keeper_pid), run_dir_of(network.keeper_pid)
        os.kill(network.keeper_pid, signal.SIGKILL)
        assert all_gone(pids, folder)


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to become somebody else")
def test_a_user_without_privileges(tmp_path):
    """Root is needed for nothing: a pocket as nobody."""
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv (util-linux) is not installed")
    here = Path(sys.executable)
    reach = subprocess.run(
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(here), "-c", "import linklab"], check=False
    )
    if reach.returncode:
        pytest.skip(f"nobody cannot reach {here}")
    work = Path("/tmp") / f"linklab-nobody-{os.getpid()}"
    work.mkdir()
    try:
        (work / "cache/linklab").mkdir(parents=True)
        built = pocket_kernel.find().path.parent
        shutil.copytree(built, work / "cache/linklab/kernel" / built.name)
        for path in [work, *work.rglob("*")]:
            os.chown(path, 65534, 65534)
        script = HOLD.replace(
            "time.sleep(60)", "print(network.run([__import__('linklab').engine.api.Typed('client', 'id -u')]))"
        )
        done = subprocess.run(
            [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                str(here),
                "-c",
                script,
                str(work),
                "virtual",
            ],
            env={**os.environ, "HOME": str(work), "XDG_CACHE_HOME": str(work / "cache"), "TMPDIR": "/tmp"},
            cwd=work,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert "output='0\\n'" in done.stdout, done.stderr
    finally:
        shutil.rmtree(work)


def test_paced_time_can_be_stopped_and_stepped(tmp_path):
    """Pause, step and until move network time as asked, to a slice of 10 ms."""
    with start(tmp_path, clock=Clock.PACED) as network:
        paused_s = network.pause()["now_s"]
        time.sleep(0.3)
        assert network.clock_status()["now_s"] == pytest.approx(paused_s, abs=0.02)
        network.step(0.5)
        time.sleep(0.8)
        assert network.clock_status()["paused"]
        assert network.clock_status()["now_s"] == pytest.approx(paused_s + 0.5, abs=0.03)
        network.resume()
        network.until(30)
        assert network.now_s() < 60
        assert type_(network, "sleep 1").exit_status == 0


# --- chance, and time that no program can stop


@pytest.mark.parametrize("clock", [Clock.VIRTUAL, Clock.PACED])
def test_a_program_that_computes_without_end_does_not_stop_time(tmp_path, clock):
    """A sleep beside an endless loop ends, Ctrl+C ends the loop, and the engine names it as what computed."""
    with start(tmp_path, clock=clock) as network:
        assert network.computed() == []
        network.run([Typed("client#2", "while :; do :; done", Background())])
        done = type_(network, "sleep 1", deadline_s=300)
        assert 1.0 <= done.end_s - done.start_s < 2.0
        network.stop("client#2")
        (loop,) = (one for one in network.computed() if one.program == "bash")
        assert loop.lasted_s > 0.8


def test_our_own_commands_cost_no_network_time(tmp_path):
    """`linklab --version` starts Python for free; another program pays for its start."""
    with start(tmp_path) as network:
        ours = type_(network, "linklab --version")
        assert ours.output.startswith("linklab ")
        others = type_(network, "/bin/true")
        assert ours.end_s - ours.start_s < others.end_s - others.start_s
        assert others.end_s - others.start_s > 0.0003  # a fork and a start: 60 and 250 us


def test_files_made_inside_have_dates_of_the_network(tmp_path):
    """The virtual clock begins with 2024, and the host sees its dates too."""
    with start(tmp_path) as network:
        shown = type_(network, "echo text > made; touch touched; mkdir folder; ls -ld --time-style=+%Y-%m-%d *").output
    assert [line.split()[5] for line in shown.splitlines()] == ["2024-01-01"] * 3
    assert {time.gmtime(path.stat().st_mtime).tm_year for path in tmp_path.iterdir()} == {2024}


def test_sleepers_wake_at_moments_of_chance_unless_the_computer_is_ideal(tmp_path):
    """Twenty sleeps of a millisecond are late by different times with `desktop`, and by the same with `ideal`."""
    lateness = (
        "import time\nfound = set()\nfor _ in range(20):\n t = time.monotonic_ns(); time.sleep(0.001); "
        "found.add(time.monotonic_ns() - t)\nprint(len(found))"
    )
    counts = {}
    for profile in ("desktop", "ideal"):
        with start(tmp_path, profile=profile) as network:
            (tmp_path / "late.py").write_text(lateness)
            counts[profile] = int(type_(network, "python3 late.py").output)
    assert counts["desktop"] >= 8  # half of all are within 2 us of each other, and the clock shows 256 ns
    assert counts["ideal"] <= 3
