# SPDX-License-Identifier: BSD-3-Clause
"""The same seed, the same bytes: in any clone, for any user, in any environment, and as recorded."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from pathlib import Path

import pytest
from pockets import TOPOLOGY, needs_pocket, type_

from linklab import pocket_kernel
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.attempt import solution
from linklab.grade.sample import instance_of, sample
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.run.likeness import SAME, against_recording
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings
from linklab.state.model import READ_STATE
from linklab.topology import Topology

pytestmark = needs_pocket

ROOT = TOPOLOGY.parents[1]
NOBODY = 65534

SHORT_LAB_14 = """
import sys
from pathlib import Path
import linklab
from linklab.engine.api import Background, Typed
from linklab.engine.pocket import PocketEngine
from linklab.topology import Topology

here, topology, work = map(Path, sys.argv[1:])
assert Path(linklab.__file__).is_relative_to(here), linklab.__file__
with PocketEngine().start(Topology.load(topology), workdir=work, seed=7) as network:
    def typed(*actions):
        for done in network.run([Typed(*action) for action in actions], deadline_s=500):
            print(done.terminal, done.start_s, done.end_s, done.exit_status, done.output)
    typed(("client", "tc qdisc add dev s1-eth2 root handle 1: netem delay 10ms 1ms"))
    typed(("client", "tc qdisc add dev s1-eth2 parent 1: handle 2: tbf rate 50mbit burst 15000 limit 100000"))
    typed(("h2", "iperf3 -s -1", Background()))
    typed(("client", "plot_q.sh s1-eth2 --out queue.pdf --seconds 4", Background()))
    typed(("h1", "iperf3 -c 10.0.0.2 -t 5 -J > out.json"), ("h1#2", "sleep 1; ping -c 20 -i 0.1 10.0.0.2"))
    done = network.finished("client", deadline_s=500)
    print(done.output, done.end_s, network.finished("h2", deadline_s=500).output)
    # while traffic flows: what of ours it does must not shift it
    typed(("h2", "iperf3 -s -1", Background()))
    typed(("h1", "iperf3 -c 10.0.0.2 -t 3 -J > again.json"), ("client", "plot_iperf.sh out.json; fairness.sh out.json"))
    typed(("client", "cat /proc/mounts /proc/cmdline; umask; ulimit -a; date; env | sort"))
    typed(("client", "sysctl -a 2>/dev/null | grep -v -e random -e dentry -e inode -e file-nr"))
    typed(("client", "ls -l /opt/linklab | cut -c1-10,43-"))
"""


@pytest.fixture(scope="module")
def place():
    """A folder that all users can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="linklab-same-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def clone(place):
    """A clone near the root."""
    return clone_at(place / "a")


@pytest.fixture(scope="module")
def plain(place, clone):
    """Output and files of the short Lab 14 in that clone, in a plain environment."""
    found = shown_by(clone, place / "plain")
    assert {"out.json", "again.json", "queue.pdf", "queue.jsonl", "results/throughput.pdf"} <= set(found)
    return found


def clone_at(folder: Path) -> Path:
    """The parts of a clone that a network uses, with a virtual environment of its own."""
    for part in ("linklab", "kernel", "scripts"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    venv.create(folder / ".venv", system_site_packages=True, with_pip=False)
    (packages_of(folder) / "packages.pth").write_text(f"{folder}\n{sysconfig.get_path('purelib')}\n")
    return folder


def packages_of(clone: Path) -> Path:
    """Where the clone's Python has its packages."""
    (packages,) = (clone / ".venv/lib").glob("python3*/site-packages")
    return packages


def shown_by(clone: Path, work: Path, *before: str, **options) -> dict[str, str]:
    """What the short Lab 14 prints and leaves, with the clone's own Python: name → text, or the digest of a file."""
    work.mkdir()
    if before:
        os.chown(work, NOBODY, NOBODY)
    argv = [*before, str(clone / ".venv/bin/python"), "-c", SHORT_LAB_14, str(clone), str(TOPOLOGY), str(work)]
    options = {"cwd": clone, "env": {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}, **options}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=900, check=False, **options)
    assert done.returncode == 0, done.stderr
    files = {
        str(path.relative_to(work)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(work.rglob("*"))
        if path.is_file()
    }
    return {"printed": done.stdout, **files}


def test_what_others_have_in_tmp_is_no_part_of_a_run(tmp_path):
    """Regression: irtt's shell began in a folder without a path, and looked for its name in all of /tmp (getcwd(3))."""
    found = []
    for names in (0, 1000):
        folder = tmp_path / f"{names} names"
        folder.mkdir()
        with contextlib.ExitStack() as others:
            for _ in range(names):
                file, name = tempfile.mkstemp(prefix="of-somebody-else-", dir="/tmp")
                os.close(file)
                others.callback(os.unlink, name)
            network = others.enter_context(PocketEngine().start(Topology.load(TOPOLOGY), workdir=folder, seed=1))
            done = type_(network, "flent rrul -l 2 -H 10.0.0.2", "h1", deadline_s=300)
        (data,) = folder.glob("*.flent.gz")
        found.append((done.end_s, done.output, data.read_bytes()))
    assert found[0] == found[1]


def test_reading_what_a_network_is_set_to_costs_no_network_time(tmp_path):
    """Regression: whether our modules were compiled, and could be read, changed what was measured afterwards."""
    with PocketEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, seed=1) as network:
        done = type_(network, READ_STATE)
    assert done.output.startswith("{")
    assert done.end_s - done.start_s < 0.001


@pytest.mark.long
def test_the_same_bytes_from_another_clone(place, plain):
    """The bytes depend neither on where a clone lies nor on which packages its Python has.

    Packages may run code when Python starts, and our own programs then drew other random numbers than before.
    """
    other = clone_at(place / "d/some longer name/f/g/h/i/j")
    (packages_of(other) / "drawn.pth").write_text("import os; os.urandom(100)\n")
    for number in range(60):
        for name in (f"package_{number}", f"package_{number}-1.0.dist-info"):
            (packages_of(other) / name).mkdir()
            (packages_of(other) / name / "__init__.py").touch()
    assert shown_by(other, place / "other") == plain


@pytest.fixture(scope="module")
def nobody(place, clone):
    """The beginning of a command that makes it the user nobody's, with a kernel of its own, and its environment."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv (util-linux) to become somebody else")
    built = pocket_kernel.find().path.parent
    cache = place / "cache"
    shutil.copytree(built, cache / "linklab/kernel" / built.name)
    for path in [cache, *cache.rglob("*")]:
        os.chown(path, NOBODY, NOBODY)
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    python = str(clone / ".venv/bin/python")
    if subprocess.run([*become, python, "-c", "import linklab.cli, matplotlib"], cwd="/", check=False).returncode:
        pytest.skip(f"nobody cannot use {python}")
    return become, {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "XDG_CACHE_HOME": str(cache)}


def test_the_same_bytes_for_another_user(place, clone, plain, nobody):
    """The user nobody runs a clone that belongs to root."""
    become, env = nobody
    assert shown_by(clone, place / "nobodys", *become, env=env) == plain


def test_tcpdump_writes_its_file_for_another_user_too(place, clone, nobody):
    """Regression: it gave up where it could not give the file to a user of its own, so Lab 12 needed root."""
    become, env = nobody
    work = place / "captured"
    work.mkdir()
    os.chown(work, NOBODY, NOBODY)
    captures = """
import sys
from pathlib import Path
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine
with PocketEngine(512).start(None, workdir=Path(sys.argv[1]), seed=7) as network:
    pinged = Typed("client#2", "sleep 1; ping -c 1 127.0.0.1")
    network.run([Typed("client", "sudo tcpdump -i lo -c 2 -w w.pcap"), pinged])
"""
    argv = [*become, str(clone / ".venv/bin/python"), "-c", captures, str(work)]
    done = subprocess.run(argv, cwd=clone, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    packets = (work / "w.pcap").read_bytes()
    assert (packets[:4], len(packets)) == (bytes.fromhex("d4c3b2a1"), 24 + 2 * (16 + 98))


BUSY = """
import random, sys, time
chance = random.Random(int(sys.argv[1]))
while True:
    until = time.process_time() + chance.uniform(0, 0.01)
    while time.process_time() < until: pass
    time.sleep(chance.uniform(0, 0.01))
"""
"""Computes in spells: beside what always does, a kernel and its programs wait each time they wait for each other."""


def test_the_same_bytes_in_another_environment(place, clone, plain):
    """Language, time zone, umask, home, environment, dates of files, and a busy machine leave no trace."""
    for path in [clone, *clone.rglob("*")]:
        os.utime(path, (86400, 86400), follow_symlinks=False)
    hostile = {
        "PATH": os.environ["PATH"],
        "HOME": str(place / "home"),
        "XDG_CACHE_HOME": str(pocket_kernel.cache_dir().parents[1]),
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "tr_TR.UTF-8",
        "TZ": "Pacific/Kiritimati",
        "PYTHONHASHSEED": "5",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.cpu.x86_rep_movsb_threshold=4096",
        "MPLBACKEND": "svg",
        "COLUMNS": "40",
        **{f"FILLER_{number}": "x" * 200 for number in range(200)},
    }
    busy = [subprocess.Popen([sys.executable, "-c", BUSY, str(number)]) for number in range(2)]
    time.sleep(0.2)
    try:
        assert shown_by(clone, place / "hostile", env=hostile, umask=0o077) == plain
    finally:
        for process in busy:
            process.kill()
            process.wait()


class Silent:
    """A narrator that says nothing."""

    def begin(self, steps, network_s):
        """These steps are about to be done."""

    def end(self, captures, network_s):
        """They are done."""


@pytest.mark.parametrize("number", [3, *(pytest.param(number, marks=pytest.mark.long) for number in (14, 21))])
def test_a_lab_is_replayed_to_the_byte_as_it_was_recorded(number, tmp_path):
    """With the programs and the kernel of the recording, any machine gives its bytes."""
    lab = load_lab(find_lab(str(number)))
    recorded = load_reference(lab).data
    settings = RunSettings(seed=recorded["seed"], profile=recorded["profile"])
    run = run_lab(lab, PocketEngine(), settings, tmp_path / "run", Silent())
    with_others = [
        f"{name}: {run.environment['tools'].get(name)} instead of {version}"
        for name, version in recorded["environment"]["tools"].items()
        if run.environment["tools"].get(name) != version
    ]
    if run.environment["kernel_digest"] != recorded["environment"]["kernel_digest"]:
        with_others.append("another kernel")
    if with_others:
        pytest.skip(f"the recording was made with other programs ({'; '.join(with_others)})")
    assert against_recording(lab, run).words == SAME


@pytest.mark.long
def test_a_file_that_somebody_outside_has_read_changes_nothing(monkeypatch):
    """Regression: graded with what alike networks have answered, Exercise 8 was an error: an iperf3 ended 768 ns later.

    The first reading since a file was written set its time of access inside, unless it had been read outside.
    """
    run = PocketNetwork.run
    exercise = load_exercise(find_exercise("exercise8"))

    def ends(*, read):
        found = []

        def reading(network, actions, **options):
            for path in network.workdir.iterdir() if read else ():
                path.read_bytes()
            done = run(network, actions, **options)
            found.extend(each.end_s for each in done if each.text.startswith("iperf3 -c"))
            return done

        monkeypatch.setattr(PocketNetwork, "run", reading)
        sample(exercise, instance_of(exercise, 3), solution(exercise), PocketEngine())
        return found

    assert ends(read=True) == ends(read=False) != []
