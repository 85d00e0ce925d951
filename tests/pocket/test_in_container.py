"""Grading inside a platform's container, where no namespace can be had: the container is the sandbox."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from pockets import TOPOLOGY, needs_pocket
from test_grading import ANSWERS, MODEL, TOML

from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import write_bundle
from linklab.exercise.load import load_exercise
from linklab.grade.bubblewrap import why_not
from linklab.grade.sample import COURSE_FILE, instance_of, sample
from linklab.topology import Topology

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from container import HOME, inside, linklab

pytestmark = [
    *needs_pocket,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root makes such a container"),
    pytest.mark.skipif(bool(why_not()), reason=f"no sandbox here: {why_not()}"),
]
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
    bundle = sample(exercise, instance_of(exercise, 1), exercise.folder / "solution", PocketEngine()).bundle()
    files = {**bundle.files, **{name.replace("_", "."): content for name, content in changed.items()}}
    write_bundle(place / "ada.zip", replace(bundle, files=files))
    return place / "ada.zip"


def graded_inside(place, path, **more):
    """What `linklab grade --in-container` does there."""
    binds = ["--bind", str(place / "out"), "/out", "--bind", str(place / "secret"), "/secret"]
    binds += ["--ro-bind", str(path), "/handed-in/ada.zip"]
    options = ("--course", "/secret/c.toml", "--exercises", "/secret", "--out", "/out/graded", "--in-container")
    return inside(linklab("grade", "/handed-in/ada.zip", *options), *binds, **more)


def test_a_container_gives_the_same_bytes_as_the_sandbox(place):
    """Score, hidden check, measurements, and pages; no user namespace is made in it."""
    assert inside(["/usr/bin/bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]).returncode == 1
    path = hand_in(place)
    done = graded_inside(place, path)
    assert done.returncode == 0, done.stdout + done.stderr
    options = ("--course", str(place / "secret/c.toml"), "--exercises", str(place / "secret"))
    command = [sys.executable, "-m", "linklab", "grade", str(path), *options, "--out", str(place / "plain")]
    subprocess.run(command, check=True, capture_output=True)
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


@pytest.mark.parametrize("opened", ["exercises", "course"])
def test_a_container_that_shows_a_secret_is_refused(place, opened):
    """Before anything is graded, with what to type."""
    if opened == "course":
        (place / "secret").chmod(0o755)
    (place / "ada.zip").touch()
    done = graded_inside(place, place / "ada.zip", secret=opened != "exercises")
    assert done.returncode == 4, done.stdout
    shown = f"{HOME}/exercises" if opened == "exercises" else "/secret"
    assert f"the student's commands could read {shown}" in done.stderr
    assert "which is for instructors: chmod -R go-rwx it" in done.stderr
    shutil.rmtree(place / "out")
