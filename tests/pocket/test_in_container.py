"""Grading inside a platform's container, where no namespace can be had: the container is the sandbox."""

import ctypes
import io
import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from pockets import TOPOLOGY, needs_pocket
from small_problem import ANSWERS, ENGINE, MODEL, TOML

from linklab.exercise.bundle import read_bundle, write_bundle
from linklab.exercise.load import load_exercise
from linklab.exercise.places import VARIABLE
from linklab.grade.attempt import solution
from linklab.grade.bubblewrap import why_not
from linklab.grade.harness import UploadParts, harness, read_folder
from linklab.grade.platform import gradescope_results, inginious_feedback
from linklab.grade.sample import COURSE_FILE, instance_of, sample
from linklab.topology import Topology

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from container import HOME, deb, inside, linklab

pytestmark = [
    *needs_pocket,
    pytest.mark.long,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes such a container"),
    pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}"),
]
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)
"""The version that this machine's kernel has (landlock(7)), -1 for none."""
with_landlock = pytest.mark.skipif(LANDLOCK < 2, reason=f"no Landlock that can be used here (version {LANDLOCK})")
LOOKS = f"""
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
for path in /secret/c.toml /secret/9-try/exercise.toml {HOME}/exercises {HOME}/problems /root; do
    cat "/mnt/m$path" "/mnt/m$path"/* >/dev/null 2>&1 && told="$told $path"
done
ln /mnt/m/secret/c.toml /lab/link 2>/dev/null && told="$told link"
touch /mnt/m/out/forged /mnt/m{HOME}/linklab/forged 2>/dev/null
(setsid sleep 3600 &)
echo "told: $told; $(grep -c ^ /mnt/m/etc/passwd) lines of passwd"
exit 7
"""
OUTSIDE = """
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
for path in /tmp /var/tmp /dev/shm; do (: >/mnt/m$path/x) 2>/dev/null && told="$told $path"; done
mv /mnt/m/tmp/linklab-container-* /mnt/m/tmp/x 2>/dev/null && told="$told renames"
memory='import os; os.pwrite(os.open("/mnt/m/proc/self/mem", os.O_RDWR), b"x", 2**29)'
python3 -c "$memory" 2>/dev/null && told="$told memory"
echo "told:$told"
exit 7
"""
OPTIONS = (
    *("--course", "/secret/c.toml", "--exercises", "/secret", "--out", "/out/graded", "--in-container"),
    *("--seeds", "1"),
)
DEEP = """
cd /lab && python3 -c '
import os
for number in range(4):
    os.makedirs("new/" + "d/" * 800)
    if number:
        os.rename("old", "new/" + "d/" * 799 + "old")
    os.rename("new", "old")'
python3 -c "for number in range(10**8): pass"
"""

KILLED = """
import os, pathlib, signal, subprocess, sys, time
def processes():
    return {each.name for each in pathlib.Path("/proc").iterdir() if each.name.isdecimal()}
def running():
    return any(pathlib.Path("/tmp").glob("linklab-container-*/lab/running"))
before = processes()
grader = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
until = time.monotonic() + 120
while not running() and time.monotonic() < until:
    time.sleep(0.05)
print("running" if running() else "never ran", end=", ")
grader.send_signal(signal.SIGKILL)
grader.wait()
until = time.monotonic() + 40  # less than the network is allowed to compute
while processes() - before and time.monotonic() < until:
    time.sleep(0.05)
print(len(processes() - before), "processes left")
"""


@pytest.fixture
def place(tmp_path):
    """A folder with an exercise of one's own, a course file, a place for results, and submissions."""
    folder = tmp_path / "secret/9-try"
    (folder / "solution").mkdir(parents=True)
    (folder / "exercise.toml").write_text(TOML)
    Topology.load(TOPOLOGY).save(folder / "Problem 9.mn")
    (folder / "solution/work.sh").write_text(MODEL)
    (folder / "solution/answers.toml").write_text(ANSWERS)
    (tmp_path / "secret/c.toml").write_text(COURSE_FILE)
    (tmp_path / "secret").chmod(0o700)
    (tmp_path / "out").mkdir(mode=0o777)
    return tmp_path


def hand_in(place, **changed):
    """A model answer's file, with some of its files changed."""
    exercise = load_exercise(place / "secret/9-try")
    bundle = sample(exercise, instance_of(exercise, 1), solution(exercise), ENGINE).bundle()
    files = {**bundle.files, **{name.replace("_", "."): content for name, content in changed.items()}}
    write_bundle(place / "ada.zip", replace(bundle, files=files))
    return place / "ada.zip"


def graded_inside(place, path, **more):
    """What `linklab grade --in-container` does there."""
    binds = ["--bind", str(place / "out"), "/out", "--bind", str(place / "secret"), "/secret"]
    binds += ["--ro-bind", str(path), "/handed-in/ada.zip"]
    return inside(linklab("grade", "/handed-in/ada.zip", *OPTIONS), *binds, **more)


def test_a_container_gives_the_same_bytes_as_the_sandbox(place):
    """Score, hidden check, measurements, and pages; no user namespace is made in it."""
    assert inside(["/usr/bin/bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]).returncode == 1
    path = hand_in(place)
    done = graded_inside(place, path)
    assert done.returncode == 0, done.stdout + done.stderr
    plainly(place, path, "--seeds", "1")
    for name in ("results.json", "report.html", "instructor.html"):
        assert (place / "out/graded/ada" / name).read_bytes() == (place / "plain/ada" / name).read_bytes(), name
    assert json.loads((place / "plain/ada/results.json").read_text())["score"] == 100


def test_a_students_commands_reach_no_secret_and_nothing_outlives_them(place):
    """They see the container as a user who owns nothing in it: not the course file, nor exercises, nor results."""
    done = graded_inside(place, hand_in(place, work_sh=LOOKS.encode()))
    assert done.returncode == 0, done.stdout + done.stderr
    notes = json.loads((place / "out/graded/ada/results.json").read_text())["extra_data"]["notes"]
    lines = len(Path("/etc/passwd").read_text().splitlines())
    assert f"work.sh ended with status 7; its last words: told: ; {lines} lines of passwd" in notes
    assert not list(place.rglob("forged"))
    assert not list(place.rglob("link"))


def test_grading_ends_with_the_grader(place):
    """Regression: of one that was killed the grading process went on, and began more networks."""
    path = hand_in(place, work_sh=b"touch /lab/running; while :; do :; done")
    binds = ["--bind", str(place / "secret"), "/secret", "--ro-bind", str(path), "/handed-in/ada.zip"]
    command = linklab("grade", "/handed-in/ada.zip", *OPTIONS)
    done = inside(["/usr/bin/python3", "-c", KILLED, *command], "--bind", str(place / "out"), "/out", *binds)
    assert done.stdout == "running, 0 processes left\n", done.stderr


@with_landlock
def test_a_students_commands_write_in_their_own_folders_alone(place):
    """Regression: /tmp was open to them, which no limit counted, and their kernel's own memory, by its /proc."""
    done = graded_inside(place, hand_in(place, work_sh=OUTSIDE.encode()))
    assert done.returncode == 0, done.stdout + done.stderr
    notes = json.loads((place / "out/graded/ada/results.json").read_text())["extra_data"]["notes"]
    assert "work.sh ended with status 7; its last words: told:" in notes


def test_folders_within_each_other_end_the_network_and_not_its_limits(place):
    """Regression: what counts files broke at them, and with it every limit; the submission was an error of ours."""
    done = graded_inside(place, hand_in(place, work_sh=DEEP.encode()))
    assert done.returncode == 0, done.stdout + done.stderr
    notes = json.loads((place / "out/graded/ada/results.json").read_text())["extra_data"]["notes"]
    why = "folders more than 32 deep were made inside, and the network was stopped"
    assert f"the network ended while work.sh ran: {why}" in notes


def notes_of(place, name="ada"):
    """What the report of a submission notes."""
    return json.loads((place / f"out/graded/{name}/results.json").read_text())["extra_data"]["notes"]


HELD = {
    "eight files": """
python3 -c '
import os
for number in range(8):
    fd = os.open(f"/lab/x{number}", os.O_RDWR | os.O_CREAT)
    os.unlink(f"/lab/x{number}")
    for _ in range(40):
        os.write(fd, bytes(2**20))
while True:
    pass'
""",
    "one that is larger than what the kernel has touched": """
python3 -c '
import os
fd = os.open("/lab/x", os.O_RDWR | os.O_CREAT)
os.unlink("/lab/x")
for _ in range(40):
    os.write(fd, bytes(2**24))
    os.fsync(fd)
    open("/proc/sys/vm/drop_caches", "w").write("3")
while True:
    pass'
""",
}


@pytest.mark.parametrize("how", HELD)
def test_files_that_are_deleted_and_still_open_count(place, how):
    """Regression: 1,000 MiB were written, since nothing was found by a name, or since a file was the largest."""
    done = graded_inside(place, hand_in(place, work_sh=f"{HELD[how]}\necho all is written\nexit 7\n".encode()))
    assert done.returncode == 0, done.stdout + done.stderr
    why = "more than 256 MiB were written inside, and the network was stopped"
    assert f"the network ended while work.sh ran: {why}" in notes_of(place)


MOVED = """
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
for one in /mnt/m/tmp/linklab-container-*; do mv $one /mnt/m/tmp/moved-${one##*-}; done
for one in /mnt/m/tmp/moved-*; do head -c 400000000 /dev/zero >$one/big; done
python3 -c "for number in range(10**11): pass"
"""


def test_a_folder_that_is_moved_takes_no_limit_with_it(place):
    """Regression: where there is no Landlock, the thread that looks at all limits ended, and the folder stayed."""
    path = hand_in(place, work_sh=MOVED.encode())
    graded = shlex.join(linklab("grade", "/handed-in/ada.zip", *OPTIONS))
    command = f"{graded}; echo left: $(ls /tmp | grep -E 'moved|container')"
    binds = ["--bind", str(place / "out"), "/out", "--bind", str(place / "secret"), "/secret"]
    binds += ["--ro-bind", str(path), "/handed-in/ada.zip"]
    done = inside(["/bin/sh", "-c", command], *binds, denied="namespaces,landlock_create_ruleset")
    assert done.stdout.endswith("left:\n"), done.stdout + done.stderr
    why = "more than 256 MiB were written inside, and the network was stopped"
    assert f"the network ended while work.sh ran: {why}" in notes_of(place)
    assert not (place / "out/graded/logs").exists()


OTHERS = """
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
cat /mnt/m/out/graded/ada/results.json >/dev/null 2>&1 && told="$told results"
ls /mnt/m/out/graded >/dev/null 2>&1 && told="$told names"
echo "told:$told"
exit 7
"""


def test_what_is_told_of_one_submission_is_no_others_to_read(place):
    """Regression: the second of a batch read the answers and the hidden checks of the first."""
    first = hand_in(place)
    first.rename(place / "first.zip")
    second = hand_in(place, work_sh=OTHERS.encode())
    binds = ["--bind", str(place / "out"), "/out", "--bind", str(place / "secret"), "/secret"]
    binds += ["--perms", "0700", "--dir", "/handed-in", "--ro-bind", str(place / "first.zip"), "/handed-in/ada.zip"]
    binds += ["--ro-bind", str(second), "/handed-in/bob.zip"]
    done = inside(linklab("grade", "/handed-in", *OPTIONS), *binds)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "work.sh ended with status 7; its last words: told:" in notes_of(place, "bob")


REACHED = """
import os, socket, subprocess
from linklab.grade import accounts
heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
heard.bind("/tmp/open")
os.chmod("/tmp/open", 0o777)
sends = "import socket; socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(bytes(1), \\"/tmp/open\\")"
opens = "import os; os.open(\\"/dev/ptmx\\", os.O_RDONLY)"
reads = "open(\\"/proc/self/fdinfo/0\\")"
for code in (sends, opens, reads):
    with accounts.as_user(accounts.FIRST_USER, accounts.Limits(), [os.getcwd()]) as (command, more):
        python = [*command, "/usr/bin/python3", "-ISc", code]
        done = subprocess.run(python, pass_fds=more, capture_output=True, text=True)
        print(done.returncode, done.stderr.splitlines()[-1:])
"""


@with_landlock
def test_what_leaves_the_kernel_in_a_container_reaches_no_socket_no_terminal_and_no_proc(place):
    """Regression: a datagram went to any socket that all may write to, and 3,071 terminals could be opened."""
    done = inside(["/usr/bin/python3", "-c", REACHED])
    denied = "[\"PermissionError: [Errno 13] Permission denied: '/dev/ptmx'\"]"
    nor = denied.replace("/dev/ptmx", "/proc/self/fdinfo/0")
    assert done.stdout == f"-31 []\n1 {denied}\n1 {nor}\n", done.stdout + done.stderr


@pytest.mark.parametrize("opened", ["exercises", "entered", "course"])
def test_a_container_that_shows_a_secret_is_refused(place, opened):
    """Before anything is graded, with what to type; a folder that can be entered shows what has a known name."""
    if opened == "course":
        (place / "secret").chmod(0o755)
    (place / "ada.zip").touch()
    mode = {"exercises": "0755", "entered": "0711", "course": "0700"}[opened]
    done = graded_inside(place, place / "ada.zip", mode=mode)
    assert done.returncode == 4, done.stdout
    shown = "/secret" if opened == "course" else f"{HOME}/exercises"
    assert f"the student's commands could read {shown}" in done.stderr
    assert "which is for instructors: chmod -R go-rwx it" in done.stderr
    shutil.rmtree(place / "out")


# --- on a platform


LOOKS_AT_METADATA = """
mkdir -p /mnt/m && mount -t hostfs m /mnt/m
grep -qs of-a-hidden-check /mnt/m/autograder/submission_metadata.json && echo "told what is hidden" && exit 7
exit 0
"""


@pytest.fixture
def programs(tmp_path):
    """A folder of programs that come first: `linklab`, and INGInious's commands, which note what they are told."""
    folder = tmp_path / "bin"
    folder.mkdir()
    said = {
        "linklab": 'exec /usr/bin/python3 -m linklab "$@"',
        "getinput": '[ "$1" = submission:value ] && cat /handed-in/ada.zip',
        "feedback-result": 'echo "result $*" >>/out/feedback',
        "feedback-grade": 'echo "grade $*" >>/out/feedback',
        "feedback-msg": "cat >/out/message",
    }
    for name, line in said.items():
        (folder / name).write_text(f"#!/bin/sh\n{line}\n")
        (folder / name).chmod(0o755)
    return folder


def unpacked(content, folder):
    """Unpack an archive as platforms do."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            archive.extract(entry, folder)
            (folder / entry.filename).chmod(entry.external_attr >> 16 & 0o777)


def plainly(place, path, *more):
    """What results.json says where `linklab grade` grades on this machine."""
    options = ["--course", str(place / "secret/c.toml"), "--exercises", str(place / "secret"), *more]
    command = [sys.executable, "-m", "linklab", "grade", str(path), *options, "--out", str(place / "plain")]
    subprocess.run(command, check=True, capture_output=True)
    return json.loads((place / "plain/ada/results.json").read_text())


def test_gradescope_gets_the_result_of_linklab_grade(place, programs):
    """The harness as its documentation says: unpacked in source, run_autograder run as root, an unpacked submission.

    Handed in late by Gradescope's word, it loses what the course file says.  Regression: the student's commands read
    the results of an earlier submission, hidden checks too, in what Gradescope says of this one.
    """
    late = '\n[late]\nper_day = "10%"\n[problem9]\ndeadline = 2018-07-01T14:00:00-07:00\n'
    (place / "secret/c.toml").write_text(COURSE_FILE + late)
    path = hand_in(place, work_sh=(MODEL + LOOKS_AT_METADATA).encode())
    own = {"9-try": read_folder(place / "secret/9-try")}
    top = place / "autograder"
    unpacked(harness("gradescope", UploadParts(deb("linklab"), (COURSE_FILE + late).encode(), own)), top / "source")
    (top / "run_autograder").write_bytes((top / "source/run_autograder").read_bytes())
    (top / "run_autograder").chmod(0o755)
    subprocess.run(["chmod", "-R", "go-rwx", str(top / "source")], check=True)  # as setup.sh does
    unpacked(path.read_bytes(), top / "submission")
    told = {"created_at": "2018-07-01T14:22:32.365935-07:00", "users": [{"email": "a@b.org", "name": "Ada"}]}
    told["assignment"] = {"total_points": "20.0"}
    told["previous_submissions"] = [{"results": {"tests": [{"visibility": "hidden", "output": "of-a-hidden-check"}]}}]
    (top / "submission_metadata.json").write_text(json.dumps(told))
    binds = ["--bind", str(top), "/autograder", "--ro-bind", str(programs), "/opt/bin", "--chdir", "/autograder"]
    done = inside(["/autograder/run_autograder"], *binds)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "handed in by Ada <a@b.org>; the instance is of student1" in done.stdout
    assert "the assignment is worth 20 points there, and the exercise 100: the score is in the points" in done.stdout
    shown = json.loads((top / "results/results.json").read_text())
    (place / "times.csv").write_text("id,time\nstudent1,2018-07-01T14:22:32.365935-07:00\n")
    plain = plainly(place, path, "--times", str(place / "times.csv"))
    assert shown["score"] == plain["score"] == 90
    assert "told what is hidden" not in json.dumps(shown)
    assert stat.S_IMODE(top.stat().st_mode) == 0o755
    assert shown == json.loads(gradescope_results(plain))
    assert "extra_data" not in json.dumps(shown)


def test_inginious_gets_the_grade_of_linklab_grade(place, programs):
    """By its commands; a submission that is none is a failed one with a reason."""
    path = hand_in(place, answers_toml=b"")
    own = place / "secret/exercises"
    own.mkdir()
    (place / "secret/9-try").rename(own / "9-try")
    (place / "secret/c.toml").rename(place / "secret/course.toml")
    binds = ["--bind", str(place / "out"), "/out", "--bind", str(place / "secret"), "/opt/linklab-course"]
    binds += ["--ro-bind", str(programs), "/opt/bin", "--ro-bind", str(path), "/handed-in/ada.zip"]
    done = inside(["/opt/bin/linklab", "grade", "--run-harness", "inginious"], *binds)
    assert done.returncode == 0, done.stdout + done.stderr
    (place / "secret/course.toml").rename(place / "secret/c.toml")
    (own / "9-try").rename(place / "secret/9-try")
    own.rmdir()
    plain = plainly(place, path)
    assert (place / "out/feedback").read_text() == f"result failed\ngrade {plain['score']:g}\n"
    assert plain["extra_data"]["max_score"] == 100
    assert (place / "out/message").read_text() == inginious_feedback(plain, 100)[2]


def test_github_says_the_points_of_the_visible_checks(place, programs):
    """Those that `linklab grade` gives them; the hidden one is counted and not told."""
    path = hand_in(place)
    folder = place / "repository/work"
    folder.mkdir(parents=True)
    files = read_bundle(path).files
    for name in ("instance.json", "work.sh", "answers.toml"):
        (folder / name).write_bytes(files[name])
    (folder / "Problem 9.mn").write_bytes(files["topology.mn"])
    command = [sys.executable, "-m", "linklab", "grade", "--run-harness", "github"]
    known = {**os.environ, VARIABLE: str(place / "secret"), "GITHUB_STEP_SUMMARY": str(place / "summary.md")}
    done = subprocess.run(command, cwd=place / "repository", env=known, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    plain = plainly(place, path)
    visible = [test for test in plain["tests"] if test["visibility"] == "visible"]
    assert sum(test["score"] for test in visible) == sum(test["max_score"] for test in visible) == 80
    assert '::notice title=Autograding report::{"totalPoints": 80.0, "maxPoints": 80.0}' in done.stdout
    assert "1 hidden check, worth 20 points, is judged when you hand in." in (place / "summary.md").read_text()
