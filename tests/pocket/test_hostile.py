# SPDX-License-Identifier: BSD-3-Clause
"""Submissions that attack the grader: each ends as a sentence, nothing outside changes, nothing is left running."""

import contextlib
import ctypes
import errno
import multiprocessing
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hostile.works import FORGED_NETWORK, FORK_BOMB, OVERDUE, POWER_OFF, SAMPLE, WORKS
from pockets import TOPOLOGY, alive, group_of, needs_pocket, type_

from linklab import pocket_kernel
from linklab.base.processes import children
from linklab.base.processor_time import Family, processor_s
from linklab.engine import pocket
from linklab.engine.agent_network import AgentNetwork
from linklab.engine.api import Clock, Typed
from linklab.engine.pocket import PocketEngine
from linklab.errors import BootError, DeadlineError, EngineError, OverusedError
from linklab.exercise.bundle import Bundle, dump_bundle
from linklab.exercise.course import Course
from linklab.exercise.instance import Student, instance_text, issue
from linklab.exercise.load import find_exercise, load_exercise
from linklab.exercise.report import Status
from linklab.grade import rebuild as rebuilding
from linklab.grade import sandbox as sandbox_module
from linklab.grade import subordinate, syscalls
from linklab.grade.bubblewrap import _tried_as_another, another_user, sandbox, why_not
from linklab.grade.limits import Limits
from linklab.grade.rebuild import rebuild
from linklab.grade.sandbox import SandboxEngine, SandboxNetwork
from linklab.grade.unit import grade
from linklab.state.model import State
from linklab.topology import Topology

pytestmark = [*needs_pocket, pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}")]

SECRET = "s3cret-of-the-course-for-all-of-us-7319"  # noqa: S105 - of nobody
OTHERS = "what-another-student-answered-51843"
PATTERN = "s3cret-of-the-cours[e]-for-all-of-us-7319"  # finds the secret and not itself
PR_SET_CHILD_SUBREAPER = 36
READS = f"""
mkdir -p /mnt/machine && mount -t hostfs machine /mnt/machine
for top in / /mnt/machine; do
    for folder in boot code etc home lab memory media mnt opt pocket root run srv tmp var work; do
        [ "$folder" = mnt ] || grep -rasl '{PATTERN}' $top/$folder 2>/dev/null
    done
    cat $top/proc/*/environ $top/proc/*/cmdline 2>/dev/null | grep -a '{PATTERN}'
done
ls "$1" /mnt/machine/"$1"
env | grep -a '{PATTERN}'
ls /mnt/machine/code/linklab /mnt/machine/code
"""


class Watched(SandboxEngine):
    """The sandbox, and every process that it had."""

    def __init__(self, **limits):
        super().__init__(Limits(**limits))
        self.pids = set()
        self.networks = []

    def _network(self, **options):
        network = super()._network(**options)
        self.networks.append(network)
        run = network.run

        def watched(actions, **more):
            self.pids |= group_of(network.keeper_pid)
            return run(actions, **more)

        network.run = watched
        return network


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """What must not be read or changed: a course file in our home, its secret in our environment."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "course.toml").write_text(f'secret = "{SECRET}"\n')
    monkeypatch.setenv("COURSE_SECRET", SECRET)

    def seen():
        files = [home / "course.toml", Path("/usr/bin/ls"), Path("/etc/passwd"), Path(__file__)]
        return [(file.stat().st_mtime_ns, file.stat().st_ino) for file in files], list(home.iterdir()), os.uname()

    before = seen()
    yield home
    assert seen() == before


@pytest.fixture
def nothing_left():
    """Ours are all descendants that are left over, also those whose parent has gone: none may be."""
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1)
    before = group_of(os.getpid())
    yield
    assert all_end(group_of(os.getpid()) - before)
    with contextlib.suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0)


pytestmark.append(pytest.mark.usefixtures("nothing_left"))


def attacked(work, monkeypatch, processor_s=6.0, **limits):
    """What came of a work.sh on Lab 8's network."""
    monkeypatch.setattr(rebuilding, "PROCESSOR_S", processor_s)
    engine = Watched(**{"memory_mib": 512, "files": 5000} | limits)
    found = rebuild(Topology.load(TOPOLOGY), [], work, engine)
    assert engine.networks
    assert all_end(engine.pids)
    return found


def all_end(pids, within_s=3.0):
    """Whether none of the processes is left in time."""
    deadline = time.monotonic() + within_s
    while alive(pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pids)


def test_all_inside_has_ended_when_the_network_is_closed_also_if_its_keeper_was_killed(tmp_path):
    """Regression: bubblewrap outside ends with the keeper, before the machine has ended the processes inside."""
    with SandboxEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, clock=Clock.VIRTUAL, seed=1) as network:
        type_(network, "for i in $(seq 150); do sleep 9999 & done", "h1")
        inside = group_of(network.keeper_pid)
        (first,) = children(network.keeper_pid)
        (keeper,) = children(first)
        os.kill(keeper, signal.SIGKILL)
        network._keeper.wait()
        network.close()
        assert len(inside) > 150
        assert not alive(inside)


def test_limits_hold_while_python_reads(tmp_path, monkeypatch):
    """Regression: an expression over 2 MB of what a line had shown kept all limits from being looked at for minutes."""
    monkeypatch.setattr(SandboxNetwork, "_excess_of_files", lambda self, number: "")  # as if that thread never ran
    engine = SandboxEngine(Limits(tables_mib=0))
    with engine.start(Topology.load(TOPOLOGY), workdir=tmp_path, clock=Clock.VIRTUAL, seed=1) as network:
        inside = group_of(network.keeper_pid)
        (first,) = network._inits
        waits = "select.select([int(sys.argv[1])], [], [])"
        interrupts = f"import os, select, sys; {waits}; os.kill(os.getppid(), 2)"
        program = [sys.executable, "-S", "-c", interrupts, str(first)]
        with subprocess.Popen(program, pass_fds=[first]), pytest.raises(KeyboardInterrupt):
            re.fullmatch(r"(a*)*b", "a" * 40)
        with pytest.raises(OverusedError, match="tables of pages and open files of more than 0 MiB"):
            type_(network, "true", "h1")
    assert inside
    assert all_end(inside)


# --- what runs in the network


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # the log has why a link ended
@pytest.mark.parametrize("attack", WORKS if os.environ.get("LINKLAB_HOSTILE") else SAMPLE)
def test_an_attack_ends_as_a_sentence(attack, monkeypatch, outside):
    """In time, and whatever it does."""
    work, said = WORKS[attack]
    begun = time.monotonic()
    found = attacked(work, monkeypatch, processor_s=6.0 if OVERDUE in said else 30.0)
    if said:
        for pattern in (said,) if isinstance(said, str) else said:
            assert any(re.search(pattern, note) for note in found.notes), (pattern, found.notes)
    else:
        assert (found.notes, found.state_text is not None) == ((), True)
    assert all(note.isprintable() for note in found.notes)
    assert len(found.output) <= rebuilding.MOST_OUTPUT_BYTES
    assert time.monotonic() - begun < 120  # on a busy machine, too


def test_what_looks_at_every_file_leaves_descriptors_for_the_next_command(monkeypatch):
    """Each name that the kernel remembered had one: after `find /` no command could be started any more."""
    work = "find /usr/share /usr/lib >/dev/null 2>&1\nh1 sysctl -q -w net.ipv4.tcp_sack=0\nexit 0"
    found = attacked(work, monkeypatch, processor_s=60, open_files=2000)
    assert State.loads(found.state_text, "").nodes["h1"].sysctls["net.ipv4.tcp_sack"] == "0"
    assert found.notes == ()  # who throws away what find says expects it


def test_full_folders_leave_a_network_that_can_be_read(monkeypatch):
    """/lab and /tmp are full, memory has run out: what was set before counts."""
    found = attacked(
        "h1 sysctl -q -w net.ipv4.tcp_sack=0\n"
        "dd if=/dev/zero of=/lab/full bs=1M; dd if=/dev/zero of=/tmp/full bs=1M; rm /tmp/full\n"
        "python3 -c 'taken = []\nwhile True: taken.append(bytearray(2**24))'\nexit 0",
        monkeypatch,
        processor_s=30,
        work_mib=64,
    )
    assert [note.partition(":")[0] for note in found.notes] == ["work.sh, line 2", "work.sh, line 2", "work.sh, line 3"]
    assert State.loads(found.state_text, "").nodes["h1"].sysctls["net.ipv4.tcp_sack"] == "0"


def test_no_secret_is_found_from_inside(monkeypatch, outside):
    """Neither in the machine's files, nor in our environment, nor in the memory of who grades."""
    clone = Path(__file__).parents[2]
    course = clone / "build" / f"course-{os.getpid()}.toml"
    course.parent.mkdir(exist_ok=True)
    course.write_text(f'secret = "{SECRET}"\n')
    try:
        found = attacked(f"set -- {clone}\n{READS}", monkeypatch, processor_s=30)
    finally:
        course.unlink()
    assert SECRET not in found.output
    assert found.state_text is not None
    listed = found.output.split("/mnt/machine/code:\n")[1]
    assert listed.startswith("linklab\nscripts\n")
    assert f"ls: cannot access '{clone}'" in found.output
    assert f"ls: cannot access '/mnt/machine/{clone}'" in found.output


def test_what_failing_lines_print_carries_nothing_of_the_machine_into_the_results(tmp_path):
    """Neither accounts, nor the course's secret, nor what others handed in, in any file or word of `linklab grade`."""
    home, handed_in, out = (tmp_path / name for name in ("home", "in", "out"))
    home.mkdir()
    handed_in.mkdir()
    kept = {"course.toml": f'course = "c"\nsecret = "{SECRET.encode().hex()}"\n', "s2-answers.toml": OTHERS}
    for name, text in kept.items():
        (home / name).write_text(text)
    exercise = load_exercise(find_exercise("problem1"))
    instance = issue(exercise, Course("c", SECRET.encode()), Student("s1"))
    lines = ["mkdir /mnt/m; mount -t hostfs machine /mnt/m"]
    for top in ("", "/mnt/m"):
        lines += [f"cat {top}{home}/{name} {top}/etc/shadow {top}/nothing" for name in kept]
        lines += [f"tail -n 1 {top}/etc/passwd {top}/nothing", f"cat {top}/proc/*/environ {top}/nothing"]
    files = {
        "instance.json": instance_text(exercise, instance).encode(),
        "topology.mn": (exercise.folder / exercise.topology).read_bytes(),
        "work.sh": "\n".join(lines).encode(),
    }
    (handed_in / "s1.zip").write_bytes(dump_bundle(Bundle(exercise.id, "s1", files)))
    command = [sys.executable, "-m", "linklab", "grade", handed_in, "--course", home / "course.toml", "--out", out]
    done = subprocess.run(
        [*command, "--seeds", "1"], capture_output=True, env={**os.environ, "KEY": SECRET}, check=True
    )
    texts = [done.stdout, done.stderr, *(path.read_bytes() for path in out.rglob("*") if path.is_file())]
    assert any(b"work.sh, line 3" in text for text in texts)
    people = [f"{each.pw_name}:x:{each.pw_uid}:" for each in pwd.getpwall() if 1000 <= each.pw_uid < 65_534]
    for hidden in (SECRET, SECRET.encode().hex(), OTHERS, *people):
        assert not any(hidden.encode() in text for text in texts)


def test_links_to_our_files_are_not_followed(monkeypatch, outside):
    """What lies in the working folder under the name of an output is a link to the course file."""
    found = attacked(
        f"ln -sf {outside}/course.toml /lab/work.out; rm -rf /lab/nodes.txt; ln -s {outside} /lab/more", monkeypatch
    )
    assert found.state_text is not None
    assert found.output == ""


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("while :; do :; done", f"the network does not build: {OVERDUE}"),
        (POWER_OFF, "the network does not build: the pocket kernel has ended"),
        (FORGED_NETWORK, "the network does not build: what came from the network is no answer: TypeError$"),
    ],
)
def test_a_start_command_in_the_topology_is_confined_too(command, said, monkeypatch):
    """The topology is the student's as well."""
    topology = Topology.load(TOPOLOGY)
    first, *others = topology.hosts
    hostile = replace(first, opts={**first.opts, "startCommand": command})
    engine = Watched(memory_mib=512, processor_s=6.0)
    found = rebuild(replace(topology, hosts=(hostile, *others)), [], "", engine)
    assert found.state_text is None
    (note,) = found.notes
    assert re.match(said, note)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"privateDirectory": ["/proc"]}, "h1: net/ipv4/tcp_rmem is cat: "),
        ({"externalInterfaces": ["lo"]}, "the pocket kernel has ended"),
    ],
)
def test_what_a_node_takes_of_its_machine_is_no_error_of_ours(options, said):
    """Regression: only start commands were blamed for a network that does not build, so these ended grading."""
    topology = Topology.load(TOPOLOGY)
    first, *others = topology.hosts
    hostile = replace(first, opts={**first.opts, **options})
    found = rebuild(replace(topology, hosts=(hostile, *others)), [], "", Watched(memory_mib=512))
    assert found.state_text is None
    (note,) = found.notes
    assert note.startswith(f"the network does not build: {said}")
    assert found.stopped == note


# --- what left the pocket's kernel


@pytest.fixture(params=["another user", "our own user"])
def user(request):
    """Whom the sandbox runs as: root gives it another user where it may, everybody else has only one to give."""
    if request.param == "our own user":
        return None
    if (found := another_user()) is None:
        pytest.skip("only root gives the sandbox another user")
    return found


def confined(script, user, processor=None, **limits):
    """Output of a shell script in the sandbox itself, as if the pocket's kernel were a program of the student's."""
    held = Limits(**{"memory_mib": 16, "work_mib": 16} | limits)
    with sandbox(pocket_kernel.require().path, held, user, processor) as (command, taken):
        done = subprocess.run(  # noqa: PLW1510 - what it prints says how it ended
            [*command, "/bin/sh", "-c", script], capture_output=True, text=True, pass_fds=taken, env={}, timeout=20
        )
    return done.stdout


@contextlib.contextmanager
def seen_inside(argv, user):
    """A program in the sandbox that says "up" and then waits for a line, and its folder in the machine's /proc."""
    held = Limits(memory_mib=16, work_mib=16)
    with sandbox(pocket_kernel.require().path, held, user) as (command, taken):
        files = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pass_fds": taken}
        with subprocess.Popen([*command, *argv], text=True, env={}, **files) as process:
            assert process.stdout.readline() == "up\n"
            (pid,) = (pid for pid in group_of(process.pid) if not children(pid))
            yield process, Path(f"/proc/{pid}")


def statuses(user, *names):
    """Lines of proc_pid_status(5) of a program in the sandbox."""
    with seen_inside(["/bin/sh", "-c", "echo up; read line"], user) as (_, process):
        lines = (process / "status").read_text().splitlines()
        return {name: text.strip() for name, _, text in (line.partition(":") for line in lines) if name in names}


HUGE = """
import ctypes, mmap
asked, size = 14, 2**21  # MADV_HUGEPAGE
held = mmap.mmap(-1, 16 * size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.madvise(asked)
held[:] = bytes(len(held))
print("up", flush=True)
input()
ctypes.CDLL(None).prctl(41, 0, 0, 0, 0)  # PR_SET_THP_DISABLE
print("allowed")
"""


def test_what_leaves_the_kernel_has_no_huge_pages(user):
    """Regression: 4 GB of them, each given back but for a part of 4 KiB, counted as 9 MB; nor can it have them back."""
    with seen_inside(["/usr/bin/python3", "-ISc", HUGE], user) as (process, folder):
        huge = re.findall(r"AnonHugePages: +([0-9]+)", (folder / "smaps").read_text())
        said, _ = process.communicate("\n")
    assert set(huge) == {"0"}
    assert said == ""


def test_what_leaves_the_kernel_is_still_nowhere(user):
    """No file of the machine can be written, also not by root, no other process be seen, no capability be used."""
    said = confined(
        "for f in /x /usr/x /etc/x /code/linklab/x /dev/x /var/x /proc/sys/kernel/core_pattern /proc/1/oom_score_adj "
        "/proc/sys/kernel/hostname /proc/self/mem /usr/bin/ls; do (: >>$f) 2>/dev/null && echo writes $f; done; "
        "(: >/pocket/x) && echo writes /pocket; unshare -Ur true 2>/dev/null && echo namespaces; "
        "mount -o remount,rw / 2>/dev/null && echo mounts; "
        f"kill -0 {os.getpid()} 2>/dev/null && echo kills; env; echo /proc/* /proc/*/*",
        user,
    )
    assert said == "writes /pocket\nPWD=/\n/proc/1 /proc/cpuinfo /proc/self /proc/1/cwd /proc/self/cwd\n"
    assert statuses(user, "CapEff") == {"CapEff": "0" * 16}


def test_what_leaves_the_kernel_has_no_network(user):
    """Neither this machine's ports nor its abstract sockets can be reached: there are no sockets at all."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        said = confined(
            f"python3 -ISc 'import socket; socket.create_connection((\"127.0.0.1\", {port}))'; kill -l $?",
            user,
        )
    assert said == "SYS\n"
    with seen_inside(["/bin/sh", "-c", "echo up; read line"], user) as (_, folder):
        assert [line.split(":")[0].strip() for line in (folder / "net/dev").read_text().splitlines()[2:]] == ["lo"]


def test_what_leaves_the_kernel_takes_no_terminal_of_the_machine(user):
    """Regression: 3,071 could be opened, which is all that are left for the containers of a machine."""
    opened = "python3 -ISc 'import os; os.open(\"/dev/ptmx\", os.O_RDWR)' 2>&1 | tail -n 1; ls -A /dev/pts"
    assert confined(opened, user) == "FileNotFoundError: [Errno 2] No such file or directory: '/dev/ptmx'\n"


DEVICES = """
import os
for name in sorted(os.listdir("/dev")):
    if os.path.isfile(f"/dev/{name}") or os.path.islink(f"/dev/{name}"): continue
    try: os.chmod(f"/dev/{name}", os.stat(f"/dev/{name}").st_mode & 0o7777); print(name)
    except OSError: pass
with open("/dev/null", "wb") as file: file.write(b"x")
"""


def test_what_leaves_the_kernel_changes_no_device_of_the_machine(user):
    """Root would be their owner, in a namespace too, which is why it grades as another user or not at all."""
    if user is None and os.geteuid() == 0:
        pytest.skip("root grades as another user or not at all")
    assert confined(f"python3 -ISc '{DEVICES}'; echo $?", user) == "0\n"


def test_what_leaves_the_kernel_reads_nothing_of_how_the_machine_was_started(user):
    """Regression: /proc/keys showed what an ordinary user who grades keeps there, and /proc/cmdline the machine's."""
    said = confined("cat /proc/cmdline /proc/keys /proc/key-users /proc/locks; echo nothing", user)
    assert said == "nothing\n"


CONSOLE = f"""
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
cd /mnt/m/pocket/linklab-*/ && rm -f console && ln -s /proc/cpuinfo console && readlink console
{POWER_OFF}
"""


def test_the_kernels_last_words_are_its_own():
    """Regression: the last line of any file of /proc came into the report, where work.sh had put a link to it."""
    found = rebuild(Topology.load(TOPOLOGY), [], CONSOLE, Watched(memory_mib=512))
    (note,) = found.notes
    assert note.startswith("the network ended while work.sh ran: the pocket kernel has ended")
    assert "Linux version" not in note


TIMERS = """
import ctypes
libc, made = ctypes.CDLL(None, use_errno=True), 0
while libc.syscall(222, 1, None, ctypes.byref(ctypes.c_int())) == 0:  # timer_create
    made += 1
print(made, ctypes.get_errno())
"""


def test_what_leaves_the_kernel_has_timers_by_the_thousand_and_not_without_end(user):
    """Regression: as many as the machine's kernel lets one user have, 96,000, whose memory belongs to no process."""
    assert confined(f"python3 -ISc '{TIMERS}'", user) == f"{Limits().signals} {errno.EAGAIN}\n"


def test_what_leaves_the_kernel_starts_no_handler_of_core_dumps(user):
    """Regression: under a limit of 0 the machine's own handler runs all the same, outside of the sandbox (core(5))."""
    most = Limits().of_a_process()["CORE"]  # 0 where this machine's own hard limit is
    said = "import resource as r; print(r.getrlimit(r.RLIMIT_CORE), flush=True); r.setrlimit(r.RLIMIT_CORE, (0, 1))"
    assert confined(f"python3 -ISc '{said}'; kill -l $?", user) == f"({most}, {most})\nSYS\n"


def test_what_leaves_the_kernel_stays_on_its_networks_processor(user):
    """Regression: a thousand processes kept all processors busy, and another network did not come up in 120 s."""
    own = max(os.sched_getaffinity(0))
    moved = "import os; print(os.sched_getaffinity(0), flush=True); os.sched_setaffinity(0, range(64))"
    said = confined(f"taskset -cp 0-63 $$; kill -l $?; python3 -ISc '{moved}'; kill -l $?", user, own)
    assert said == f"SYS\n{{{own}}}\nSYS\n"


CALLS = """
import ctypes, errno, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
held, lock = os.open("/code/linklab/__init__.py", os.O_RDONLY), bytes(32)
for name, number, *args in (
    ("ptrace", 101, 0), ("mount", 165, 0, b"/pocket", b"tmpfs", 0, 0), ("unshare", 272, 0x10000000),
    ("clone", 56, 0x10000000 | 17, 0), ("bpf", 321, 0, 0, 0), ("io_uring_setup", 425, 1, 0),
    ("perf_event_open", 298, 0, 0, -1, -1, 0), ("userfaultfd", 323, 1), ("keyctl", 250, 0, -3, 0),
    ("add_key", 248, b"user", b"x", b"x", 1, -3), ("setns", 308, 0, 0), ("chroot", 161, b"/pocket"),
    ("process_vm_readv", 310, 1, 0, 0, 0, 0, 0), ("shmget", 29, 0, 4096, 0o1600), ("prctl", 157, 35, 0, 0, 0, 0),
    ("PR_SET_DUMPABLE", 157, 4, 0, 0, 0, 0),
    ("memfd_create", 319, b"x", 0), ("TIOCSTI", 16, 0, 0x5412, b"x"), ("x32 getpid", 0x40000000 + 39),
    ("F_SETLEASE", 72, held, 1024, 1), ("F_NOTIFY", 72, held, 1026, 2), ("F_SETLK", 72, held, 6, lock),
    ("flock", 73, held, 2), ("O_DIRECT", 2, b"/usr/bin/ls", 0x4000), ("openat", 257, -100, b"/usr/bin/ls", 0x4000),
    ("F_SETFL", 72, held, 4, 0x4000), ("F_SETOWN", 72, held, 8, -os.getpgrp()),
    ("F_SETSIG", 72, held, 10, 18), ("mprotect", 10, 0, 2**26 + 1, 0), ("MADV_REMOVE", 28, 0, 4096, 9),
    ("poll", 7, 0, 65, 0), ("ppoll", 271, 0, 65, 0, 0, 8),
    ("select", 23, 65, 0, 0, 0, 0), ("pselect6", 270, 65, 0, 0, 0, 0, 0),
    ("FUTEX_WAKE_OP", 202, lock, 133, 1, 1, lock, 40 << 12),
    ("fadvise64", 221, held, 0, 0, 4), ("SO_PEERPIDFD", 55, 0, 1, 77, 0, 0),
    ("SO_PEERCRED", 55, 0, 1, 17, 0, 0), ("SO_TYPE", 55, held, 1, 3, lock, lock),
    ("clone3", 435, 0, 88), ("getpid", 39),
):
    child = os.fork()
    if child == 0:
        done = libc.syscall(ctypes.c_long(number), *args)
        os._exit(ctypes.get_errno() if done == -1 else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(name, signal.Signals(-status).name if status < 0 else errno.errorcode.get(status, "done"), flush=True)
"""


def test_calls_that_the_pocket_does_not_need_do_not_exist(user):
    """Those that have been ways out of sandboxes end the process, by this machine's own kernel."""
    *refused, socket, clone3, last = confined(f"python3 -ISc '{CALLS}'", user).splitlines()
    assert [line.split()[-1] for line in refused] == ["SIGSYS"] * 38
    assert (socket, clone3, last) == ("SO_TYPE ENOTSOCK", "clone3 ENOSYS", "getpid done")


@pytest.mark.parametrize(
    ("call", "who"), [("statfs", "the pocket kernel"), ("pidfd_open", "the keeper of the pocket kernel")]
)
def test_a_call_that_is_needed_and_not_allowed_says_how_to_find_it(tmp_path, monkeypatch, call, who):
    """It said that the kernel was killed by signal 31, or that its keeper had gone without a word."""
    monkeypatch.setattr(syscalls, "ALLOWED", tuple(name for name in syscalls.ALLOWED if name != call))
    starting = SandboxEngine(Limits(memory_mib=512)).start(None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1)
    says = f"^{who} made a system call that the grader's sandbox does not allow.*: grade a file by `strace "
    with pytest.raises(BootError, match=says), starting:
        pass


def test_a_network_that_does_not_come_up_in_time_says_so(tmp_path, monkeypatch):
    """Regression: "I/O operation on closed file", since what bubblewrap says was read when all had been closed."""
    monkeypatch.setattr(pocket, "BOOT_DEADLINE_S", 0)
    starting = SandboxEngine(Limits(memory_mib=512)).start(None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1)
    with pytest.raises(BootError, match="did not come up within 0 s"), starting:
        pass


NOTIFIED = """
import ctypes, fcntl, os, struct, threading
libc = ctypes.CDLL(None, use_errno=True)
class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]
notify, allow = 0x7FC00000, 0x7FFF0000
code = ((0x20, 0, 0, 0), (0x15, 1, 0, 272), (0x15, 0, 1, 39), (6, 0, 0, notify), (6, 0, 0, allow))
packed = b"".join(struct.pack("<HBBI", *each) for each in code)
listener = libc.syscall(317, 1, 8, ctypes.byref(Program(len(code), packed)))  # told of unshare and getpid
def asked(number, *args):
    child = os.fork()
    if child == 0:
        os._exit(libc.syscall(number, *args) == -1)
    return child
def let_continue():
    while True:
        told = bytearray(80)
        fcntl.ioctl(listener, 0xC0502100, told)
        fcntl.ioctl(listener, 0xC0182101, struct.pack("<QqiI", *struct.unpack_from("<Q", told), 0, 0, 1))
threading.Thread(target=let_continue, daemon=True).start()
for name, number, flags in (("getpid", 39, 0), ("unshare", 272, 0x20000)):
    print(name, os.waitstatus_to_exitcode(os.waitpid(asked(number, flags), 0)[1]), flush=True)
os._exit(0)
"""


def test_who_is_notified_of_a_refused_call_cannot_let_it_continue(user):
    """Regression: a filter of one's own, with a listener that says "continue", opened every call that is refused."""
    assert confined(f"python3 -ISc '{NOTIFIED}'", user) == f"getpid 0\nunshare -{int(signal.SIGSYS)}\n"


def test_a_network_with_more_memory_than_usual_may_write_as_much(tmp_path):
    """Regression: inside, its file of memory was held to the size of the usual one."""
    options = {"workdir": tmp_path, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 3000}
    network = SandboxNetwork(Limits(memory_mib=2048, work_mib=128), None, **options)
    assert network._places().limits["FSIZE"] == 3128 * 2**20


def test_root_gives_the_sandbox_another_user():
    """Nothing inside is root of the machine, nor has a right of root's left."""
    if os.geteuid() != 0:
        pytest.skip("for root")
    first, second = another_user(), another_user()
    assert first != second
    capabilities = dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), "0" * 16)
    numbers = "\t".join([str(first)] * 4)
    wanted = {"Uid": numbers, "Gid": numbers, "Groups": "", **capabilities}
    assert statuses(first, *wanted) == wanted


def test_where_memory_runs_out_a_network_is_ended_first(user):
    """Regression: what sockets hold is no process's memory, so `linklab grade` itself was the largest and was ended."""
    with seen_inside(["/bin/sh", "-c", "echo up; read line"], user) as (_, folder):
        assert (folder / "oom_score_adj").read_text() == "1000\n"
    assert "Read-only file system" in confined("echo 0 2>&1 >/proc/self/oom_score_adj", user)


SUBORDINATES = "20000 1073741824 40000\n"
"""Lines of a map of users and groups: other users, as one's subordinate ones are."""


def among_subordinates(work, others=SUBORDINATES):
    """What a function gives in a process that is root of a user namespace, as one is for who is not root.

    A test that is run as root makes the namespace itself, with `others` in it; anybody else has subordinate users.
    """

    def run(go, channel):
        if os.geteuid() == 0:
            denied = ctypes.CDLL(None, use_errno=True).unshare(0x10000000) != 0
            channel.send(os.strerror(ctypes.get_errno()) if denied else "")
            if denied or not go.wait(60):
                return
        else:
            channel.send(why := subordinate.enter())
            if why:
                return
        _tried_as_another.cache_clear()
        channel.send(work())

    context = multiprocessing.get_context("fork")
    go = context.Event()
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(go, theirs))
    process.start()
    theirs.close()
    try:
        assert ours.poll(60)
        if why := ours.recv():
            pytest.skip(f"no subordinate users here: {why}")
        if os.geteuid() == 0:
            for kind in ("uid", "gid"):
                Path(f"/proc/{process.pid}/{kind}_map").write_text("0 0 1\n" + others)
            go.set()
        assert ours.poll(300)
        return ours.recv()
    finally:
        process.kill()
        process.join()


IN_FLIGHT = """
import array, errno, os, socket, sys
pair = socket.socketpair()
sent = "all"
for _ in range(int(sys.argv[1])):
    try:
        socket.send_fds(pair[0], [b"x"], [0] * 250)
    except OSError as error:
        sent = errno.errorcode[error.errno]
print(sent, flush=True)
os.read(int(sys.argv[2]), 1)
"""


def test_what_one_network_keeps_in_flight_hinders_no_other():
    """Regression: networks of an ordinary user shared what Linux counts for each user; now each runs as another one."""

    def work():
        first, second = another_user(), another_user()
        kernel, said = pocket_kernel.require().path, []
        for other in (first, second):
            with contextlib.ExitStack() as stack:
                for user, times in ((first, 3), (other, 1)):
                    held = Limits(memory_mib=16, work_mib=16, open_files=300)
                    command, taken = stack.enter_context(sandbox(kernel, held, user))
                    waits, ours = os.pipe()
                    stack.callback(os.close, waits)
                    stack.callback(os.close, ours)
                    script = ["/usr/bin/python3", "-ISc", IN_FLIGHT, str(times), str(waits)]
                    files = {"pass_fds": [*taken, waits], "stdout": subprocess.PIPE}
                    process = stack.enter_context(subprocess.Popen([*command, *script], text=True, env={}, **files))
                    stack.callback(os.write, ours, b"x")
                    said.append(process.stdout.readline().strip())
        return [first, second, statuses(first, "Uid", "Groups"), *said]

    first, second, status, *said = among_subordinates(work)
    assert first != second
    assert status == {"Uid": "\t".join([str(first)] * 4), "Groups": ""}
    assert said == ["ETOOMANYREFS", "ETOOMANYREFS", "ETOOMANYREFS", "all"]


BOMB = """
import os, sys, time
made = 0
while made < 1000:
    try:
        if os.fork() == 0: time.sleep(60)
        made += 1
    except OSError as error:
        print(made, error.strerror)
        break
"""


def test_what_leaves_the_kernel_makes_no_more_processes_than_it_may(user):
    """The machine refuses the rest, however many processes others have; at the end all are gone."""
    if user is None and os.geteuid() == 0:
        pytest.skip("the machine refuses root no process")
    others = 2 if user is not None else 3  # the shell and this program, and bubblewrap where it is the same user
    said = confined(f"python3 -ISc '{BOMB}'", user, processes=40)
    assert said == f"{40 - others} Resource temporarily unavailable\n"


MEMORY = """
import mmap, os, resource, signal
for take in (
    lambda: bytearray(2**30), lambda: mmap.mmap(-1, 2**30), lambda: mmap.mmap(os.open("/dev/zero", os.O_RDWR), 2**30),
    lambda: os.memfd_create("x"), lambda: os.truncate(os.open("/pocket/x", os.O_CREAT | os.O_WRONLY), 2**30),
    lambda: [os.write(os.open("/pocket/y", os.O_CREAT | os.O_WRONLY | os.O_APPEND), bytes(2**20)) for _ in range(32)],
    lambda: os.posix_fallocate(os.open("/pocket/z", os.O_CREAT | os.O_WRONLY), 0, 4096),
    lambda: mmap.mmap(-1, 2**27, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x100),  # MAP_GROWSDOWN
    lambda: mmap.mmap(-1, 2**27, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000),  # MAP_HUGETLB
    lambda: mmap.mmap(os.open("/usr/bin/ls", 0), 4096, mmap.MAP_SHARED | 0x2000, mmap.PROT_READ),  # MAP_LOCKED
    lambda: mmap.mmap(-1, 2**32, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ),
    lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, 4096)),
    lambda: resource.setrlimit(resource.RLIMIT_STACK, (2**26, 2**26)),
):
    child = os.fork()
    if child == 0:
        try:
            take()
            print("taken", flush=True)
        except (OSError, MemoryError, ValueError) as error:
            print(type(error).__name__, getattr(error, "strerror", None), flush=True)
        os._exit(0)
    if status := os.waitpid(child, 0)[1]:
        print(signal.Signals(status).name, flush=True)
"""


def test_what_leaves_the_kernel_takes_no_memory_that_is_not_counted(user):
    """A process has little of its own; what no process owns does not exist, and files have the room of theirs."""
    said = confined(f"trap '' XFSZ; python3 -ISc '{MEMORY}'", user, own_mib=64)
    assert said.splitlines() == [
        "MemoryError None",
        "SIGSYS",
        "OSError No such device",
        "SIGSYS",
        "OSError File too large",
        "OSError No space left on device",
        "SIGSYS",
        "SIGSYS",
        "SIGSYS",
        "SIGSYS",
        "OSError Cannot allocate memory",
        "ValueError None",
        "ValueError None",
    ]


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ({"own_mib": 1}, "the network took more than 1 MiB beside its kernel's memory and was stopped"),
        ({"processes": 0}, "the network had more than 0 processes and was stopped"),
        (
            {"tables_mib": 0},
            "tables of pages and open files of more than 0 MiB were made inside, and the network was stopped",
        ),
        ({"sockets": 0}, "more than 0 sockets were made inside, and the network was stopped"),
        ({"busy": 0}, "the network had more than 0 programs of the machine compute at once and was stopped"),
        (
            {"carried_s": 0.0},
            "copying the network's files took more than 0 s of processor time, and the network was stopped",
        ),
    ],
    ids=["memory", "processes", "tables", "sockets", "busy", "files"],
)
def test_a_network_that_has_taken_too_much_is_stopped(tmp_path, limit, said):
    """The sum of all its processes counts, which no limit of one of them holds."""
    with (
        pytest.raises(EngineError, match=said),
        SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network,
    ):
        network.limits = replace(network.limits, **limit)
        network.run([Typed("client", "while :; do :; done")])


def held_up(keeper, until):
    """Lets a network run for a tenth of the time, as on a machine with much else to do."""
    while not until.wait(0.02):
        pids = [each.pid for each in Family(keeper).look()]
        for each, pause_s in ((signal.SIGSTOP, 0.18), (signal.SIGCONT, 0)):
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, each)
            time.sleep(pause_s)


def test_what_is_asked_of_a_network_waits_as_long_as_it_computes(tmp_path):
    """By its processor time, so that a busy machine decides nothing (`linklab.grade.sandbox.patience`)."""
    until, deadline_s = threading.Event(), 1.5  # of processor time, of which the line takes a third
    with SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network:
        busy, began = threading.Thread(target=held_up, args=(network.keeper_pid, until)), time.monotonic()
        busy.start()
        try:
            computes = "python3 -c 'for _ in range(20_000_000): pass'"
            (done,) = network.run([Typed("client", computes)], deadline_s=deadline_s)
        finally:
            until.set()
            busy.join()
        assert done.exit_status == 0
        assert time.monotonic() - began > deadline_s


def test_what_the_sandbox_refuses_its_own_processes_a_network_answers_its_programs(tmp_path):
    """Calls are refused by a signal, which stubs handle (`linklab.grade.syscalls`), for example poll of 200 files."""
    polled = (
        "import os, select; waits, (gives, takes) = select.poll(), os.pipe(); os.write(takes, b'x'); "
        "[waits.register(os.dup(gives), select.POLLIN) for _ in range(200)]; print(len(waits.poll(0)))"
    )
    with SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network:
        assert type_(network, f'python3 -ISc "{polled}"', "client").output == "200\n"


def test_linklabs_own_commands_work_in_the_sandbox(tmp_path):
    """Regression: from a clone the packages beside Linklab were not there, so plots and Jain indices were lost."""
    shutil.copy(Path(__file__).parents[1] / "captures/iperf3-3.12-tcp-bidir-p2.json", tmp_path / "out.json")
    with SandboxEngine(Limits(memory_mib=512)).start(None, workdir=tmp_path) as network:
        for command in ("plot_iperf.sh out.json", "fairness.sh out.json", "linklab test list"):
            done = type_(network, command, "client")
            assert (done.exit_status, command) == (0, command), done.output
    assert (tmp_path / "results/throughput.pdf").read_bytes().startswith(b"%PDF")


def test_tcpdump_writes_a_file_where_it_may_give_it_to_nobody(tmp_path):
    """Regression: it ended where root of the machine had not started the network, and so did Lab 12."""
    with SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network:
        said = type_(network, "sudo timeout 1 tcpdump -i lo -w w.pcap", "client").output
        assert type_(network, "stat -c %U w.pcap", "client").output == "tcpdump\n"
    assert "listening on lo" in said
    assert (tmp_path / "w.pcap").read_bytes()[:4] == bytes.fromhex("d4c3b2a1")


def test_an_answer_of_very_many_values_ends_the_network(tmp_path, monkeypatch):
    """Regression: while five million of them were read, no limit was looked at."""
    monkeypatch.setattr(sandbox_module.SandboxNetwork, "most_values", 5000)
    with (
        pytest.raises(EngineError, match="with more than 5,000 values, or brackets and commas in texts"),
        SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network,
    ):
        network.run([Typed("client", "printf ',%.0s' $(seq 4000)")])
        network.run([Typed("client", "printf ',%.0s' $(seq 6000)")])


def test_a_network_whose_keeper_is_stopped_ends_at_its_limits(tmp_path):
    """Regression: it was asked to end and waited for, and no limit was looked at any more."""
    with SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network:
        for pid in (each.pid for each in Family(network.keeper_pid).look()):
            os.kill(pid, signal.SIGSTOP)
        network.limits = replace(network.limits, processes=0)
        assert network._gone.wait(20)


def test_a_file_that_would_be_too_large_is_refused_and_the_network_goes_on(tmp_path):
    """Regression: one that is empty but for its size (truncate -s 3G) killed the pocket's kernel, by SIGXFSZ."""
    with SandboxEngine(Limits(memory_mib=256, work_mib=32)).start(None, workdir=tmp_path) as network:
        assert "File too large" in type_(network, "truncate -s 300M big", "client").output
        assert (
            "File too large"
            in type_(network, "dd if=/dev/zero of=far bs=1 count=1 seek=1T conv=fsync", "client").output
        )
        assert type_(network, "echo goes on", "client").output == "goes on\n"


def test_a_network_that_has_filled_its_folder_goes_on(tmp_path):
    """What is saved then is not there; regression: a lab with a large capture was an error of ours."""
    with SandboxEngine(Limits(memory_mib=256, work_mib=32)).start(None, workdir=tmp_path) as network:
        assert "No space left" in type_(network, "head -c 50M /dev/zero >capture.pcap").output
        (tmp_path / "script.sh").write_text("echo saved\n" + "#" * 100_000)
        assert "No such file" in type_(network, "sh script.sh").output
        type_(network, "rm capture.pcap")
        (tmp_path / "script.sh").write_text("echo saved again\n")
        assert type_(network, "sh script.sh").output == "saved again\n"


OTHER_MOUNTS = "mkdir -p /mnt/a /mnt/b && mount -t hostfs a /mnt/a && mount -t hostfs b /mnt/b"
REPLACED = r"""python3 - <<'END'
import errno, os
file, memory = "pocket/lab/known", "/pocket/lab/other"
open(f"/mnt/a{memory}", "w").close()
for replace in (lambda path: os.symlink(memory, path), os.mkfifo):
    open(f"/mnt/a/{file}", "w").close()
    pinned = os.open(f"/mnt/a/{file}", os.O_PATH)
    os.unlink(f"/mnt/b/{file}")
    replace(f"/mnt/b/{file}")
    for flags in (os.O_RDONLY, os.O_RDWR, os.O_WRONLY | os.O_APPEND):
        try:
            print(os.open(f"/mnt/a/{file}", flags))
        except OSError as error:
            print(errno.errorcode[error.errno])
    known = f"/proc/self/fd/{pinned}"
    for change in (lambda: os.chmod(known, 0o640), lambda: os.truncate(known, 2**20), lambda: os.utime(known, (1, 1))):
        try:
            print(change())
        except OSError as error:
            print(errno.errorcode[error.errno])
    os.close(pinned)
    os.unlink(f"/mnt/b/{file}")
END"""


def test_what_is_put_in_the_place_of_a_file_is_not_opened_by_the_pockets_kernel(tmp_path):
    """Regression: over a second mount, by a link to that kernel's own memory, work.sh was out of the pocket.

    And that kernel waited for who writes to a pipe, half an hour, which no limit of processor time ends.  Later its
    memory was still cut and given another mode, by the name that a program holds open.
    """
    with SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network:
        type_(network, OTHER_MOUNTS)
        (done,) = network.run([Typed("client", REPLACED)])
    of_a_link, of_a_pipe = ["ENOTSUP", "ELOOP", "None"], ["None", "ENXIO", "None"]
    assert done.output.split() == [*["ELOOP"] * 3, *of_a_link, *["EACCES"] * 3, *of_a_pipe]


def test_root_inside_writes_to_nothing_of_the_machines_proc(tmp_path):
    """Also without a sandbox: /proc/self/mem there is the memory of the pocket's kernel, whose name stands in comm."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        type_(network, OTHER_MOUNTS)
        (done,) = network.run([Typed("client", "echo pwned 1<>/mnt/a/proc/self/comm")])
    assert done.output == "bash: /mnt/a/proc/self/comm: Permission denied\n"


HOLDS_OPEN = """python3 -c '
held = [open(f"/lab/f{number}", "w") for number in range(400)]
while True: pass'"""


def test_a_network_that_holds_too_many_files_open_is_stopped(tmp_path, monkeypatch):
    """Regression: 140 processes of 20,000 files used up those of a whole machine, and the batch was lost."""
    with (
        pytest.raises(EngineError, match="files were held open inside, or hidden, and the network was stopped"),
        SandboxEngine(Limits(memory_mib=256)).start(None, workdir=tmp_path) as network,
    ):
        monkeypatch.setattr(sandbox_module, "MOST_HELD", network._open_files() + 300)
        network.run([Typed("client", "sleep 2")])
        network.run([Typed("client", HOLDS_OPEN)])


def test_when_the_grader_is_killed_nothing_stays():
    """SIGKILL to who grades ends the sandbox with all that is in it."""
    hold = (
        "import sys, tempfile, time\nfrom pathlib import Path\nfrom linklab.grade.sandbox import SandboxEngine\n"
        "with SandboxEngine().start(None, workdir=Path(tempfile.mkdtemp(dir=sys.argv[1]))) as network:\n"
        "    print(network.keeper_pid, flush=True)\n    time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, "/tmp"], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    ) as process:
        keeper = int(process.stdout.readline())
        pids = group_of(keeper)
        assert len(pids) > 3
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert all_end(pids)


# --- the sandbox does what the pocket does


def pinged(engine, folder):
    """What a student measures under random loss, in a file that nobody else may read."""
    folder.mkdir()
    (folder / "set.sh").write_text("tc qdisc add dev s1-eth2 root netem delay 10ms loss 5%")
    with engine.start(Topology.load(TOPOLOGY), workdir=folder, seed=7) as network:
        type_(network, "sh set.sh")
        type_(network, "umask 077; ping -c 40 -i 0.05 10.0.0.2 > ping.txt", "h1")
    return (folder / "ping.txt").read_text()


def test_the_sandbox_gives_the_same_bytes_as_the_pocket(tmp_path):
    """Loss is random and comes from the seed alone: what a student measures, the grader measures."""
    plain, confined = pinged(PocketEngine(), tmp_path / "plain"), pinged(SandboxEngine(), tmp_path / "sandbox")
    assert plain == confined
    assert 25 < plain.count("icmp_seq=") < 40


@pytest.mark.parametrize("others", [SUBORDINATES, ""], ids=["others", "none"])
def test_a_network_of_a_subordinate_user_gives_the_same_bytes(tmp_path, others):
    """Its files come in and out, it can be ended, and nothing of it is left; also where there is no user for it."""
    if not others and os.geteuid() != 0:
        pytest.skip("only root makes such a namespace")

    def work():
        engine = SandboxEngine()
        said = pinged(engine, tmp_path / "subordinate")
        return said, [network.user for network in engine._networks]

    said, (user,) = among_subordinates(work, others)
    assert said == pinged(SandboxEngine(), tmp_path / "sandbox")
    assert user in range(20_000, 60_000) if others else user is None


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"processor_s": 4.0}, "the network took more than 4 s of processor time and was stopped"),
        ({"wall_s": 4.0}, "the network ran longer than 4 s and was stopped"),
    ],
    ids=["processor", "wall"],
)
def test_a_network_that_has_had_its_time_says_so(tmp_path, limits, said):
    """The limits hold from start to end, whatever runs."""
    engine = SandboxEngine(Limits(memory_mib=256, **limits))
    with pytest.raises(EngineError, match=said), engine.start(None, workdir=tmp_path) as network:
        network.run([Typed("client", "while :; do :; done")])


def test_what_a_network_has_used_counts_after_its_end(tmp_path):
    """Regression: the kernel forgets it with the sandbox, so each network of a submission had the whole budget."""
    engine = SandboxEngine(Limits(memory_mib=256, processor_s=60.0, total_s=60.0))
    assert engine.left_s() == 60.0
    with engine.within(30.0).start(None, workdir=tmp_path) as network:
        used_s = processor_s(network.keeper_pid)
    assert used_s > 0.2
    assert 50.0 < engine.left_s() <= 60.0 - used_s


def test_what_lines_write_within_a_second_comes_out_each_time(tmp_path):
    """Regression: hostfs says whole seconds, so a file of as many bytes as before was taken for the same file."""
    with SandboxEngine().start(Topology.load(TOPOLOGY), workdir=tmp_path, clock=Clock.VIRTUAL, seed=1) as network:
        for number in range(4):
            network.run([Typed("h1", f"echo {number} >/lab/y")])
            assert (tmp_path / "y").read_text() == f"{number}\n"


def test_building_is_held_to_processor_time_and_not_to_the_clock(tmp_path, monkeypatch):
    """Regression: a drawing within all limits took more than 120 s on a slow machine, as an error of ours."""
    monkeypatch.setattr(AgentNetwork, "build_within_s", 0.001)
    topology, options = Topology.load(TOPOLOGY), {"workdir": tmp_path, "clock": Clock.VIRTUAL, "seed": 1}
    with pytest.raises(DeadlineError, match="building the network"), PocketEngine().start(topology, **options):
        pass
    with SandboxEngine().start(topology, **options) as network:
        assert len(network.nodes) > 2


def test_a_network_waits_for_a_busy_machine(tmp_path):
    """Regression: a submission's time was the wall's, so beside other work an honest one was stopped."""
    engine = SandboxEngine(Limits(memory_mib=256)).within(4.0)
    with engine.start(None, workdir=tmp_path) as network:
        pids = group_of(network.keeper_pid)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # as a machine that gives it no processor for longer than its budget
        time.sleep(5)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        assert type_(network, "echo here").output == "here\n"


# --- the whole way


def test_a_hostile_submission_is_a_graded_report(tmp_path, monkeypatch, outside):
    """What its work.sh did is a note; what is judged is the network as it was handed out."""
    monkeypatch.setattr(rebuilding, "PROCESSOR_S", 6.0)
    exercise = load_exercise(find_exercise("problem1"))
    course = Course("c", SECRET.encode())
    instance = issue(exercise, course, Student("s1"))
    files = {
        "instance.json": instance_text(exercise, instance).encode(),
        "topology.mn": (exercise.folder / exercise.topology).read_bytes(),
        "work.sh": FORK_BOMB.encode(),
    }
    path = tmp_path / "s1.zip"
    path.write_bytes(dump_bundle(Bundle(exercise.id, "s1", files)))
    file = f'course = "c"\nsecret = "{SECRET.encode().hex()}"\n'.encode()
    report = grade(path, file, SandboxEngine(), seeds=(1,))
    assert report.status is Status.GRADED
    assert report.score == 0
    assert report.notes == (
        "the network ended while work.sh ran: the network took more than 6 s of processor time and was stopped",
        "work.sh left no network that answers; nothing of it counts",
    )
    assert SECRET not in report.dumps()
