#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tries the harness for INGInious as its documentation says, in a fresh Debian 12.  Run as root, with .venv.

    tools/inginious_trial.py [FILE.deb]     default: the newest in build/deb

The lines of the archive's Dockerfile are done in a fresh Debian, but for the one that takes INGInious' programs out of
its image: commands that note what they are told stand in for these.  Then `run` is started as INGInious' container does
(base-containers/base/inginious_container_api/utils.py) in a container with Docker's default capabilities and no user
namespaces, in which sudo works.  What is told must be what `linklab grade` says on this machine, and the user must read
nothing that is for instructors.  The log is build/fresh-root/inginious.log; exit 0 if everything was as expected.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from fresh_root import ROOT, Fresh, exit_code, newest_package
from gradescope_trial import CAPABILITIES, LINKLAB, unpack

from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import write_bundle
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.attempt import solution
from linklab.grade.platform import inginious_feedback
from linklab.grade.sample import COURSE_FILE, instance_of, sample

WORKER = 4242
COMMANDS = {
    "getinput": '[ "$1" = submission:value ] && cat /.input.zip',
    "feedback-result": 'echo "result $*" >>/task/feedback',
    "feedback-grade": 'echo "grade $*" >>/task/feedback',
    "feedback-msg": "cat >/task/message",
}
AS_WORKER = f"""
import os, resource, subprocess, sys
os.setgroups([0])
os.chdir("/task")
def worker():
    os.setgid({WORKER})
    os.setuid({WORKER})
    resource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))
sys.exit(subprocess.run(sys.argv[1:], preexec_fn=worker, env={{**os.environ, "HOME": "/task"}}).returncode)
"""
SECRETS = "cat /opt/linklab-course/course.toml || ls /usr/lib/linklab/exercises || sudo -n id || unshare -U true"
ENTER = """
mount -t proc proc {0}/proc && mount --rbind /dev {0}/dev
mount -t tmpfs -o size=64m,mode=1777 shm {0}/dev/shm && mount -t tmpfs -o mode=1777 tmp {0}/tmp
exec chroot {0} env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root "$@"
"""


def trial(package: Path, place: Path) -> None:
    """Make the archive, build its environment, run the task, and compare."""
    course, archive, submission = place / "course.toml", place / "inginious.zip", place / "exercise1.zip"
    course.write_text(COURSE_FILE)
    course.chmod(0o600)
    options = ["--package", str(package), "--course", str(course)]
    subprocess.run([*LINKLAB, "grade", "--harness", "inginious", str(archive), *options], check=True)
    unpack(archive, place / "unpacked")
    exercise = load_exercise(find_exercise("1"))
    model = sample(exercise, instance_of(exercise, 1), solution(exercise), PocketEngine())
    write_bundle(submission, model.bundle())

    fresh = Fresh("inginious", ["ca-certificates"])
    build(fresh, place / "unpacked/environment")
    for name, line in COMMANDS.items():
        program = fresh.folder / "usr/bin" / name
        program.write_text(f"#!/bin/sh\n{line}\n")
        program.chmod(0o755)
    shutil.copytree(place / "unpacked/task", fresh.folder / "task")
    shutil.copy(submission, fresh.folder / ".input.zip")
    shutil.copy(ROOT / "tests/denied.py", fresh.folder / "denied.py")
    for path in (fresh.folder / "task", *(fresh.folder / "task").iterdir()):
        path.chmod(0o777)
        os.chown(path, WORKER, WORKER)
    fresh.expect("the worker reads no secret, and is not root", holds=run(fresh, ["sh", "-c", SECRETS]) != 0)
    fresh.expect("run ends with 0", holds=run(fresh, ["/task/run"]) == 0)

    command = [*LINKLAB, "grade", str(submission), "--course", str(course), "--out", str(place / "plain")]
    subprocess.run(command, check=True, capture_output=True)
    plain = json.loads((place / "plain/exercise1/results.json").read_text())
    state, share, text = inginious_feedback(plain, plain["extra_data"]["max_score"])
    told = (fresh.folder / "task/feedback").read_text()
    fresh.say(told)
    fresh.expect("result and grade are those of linklab grade", holds=told == f"result {state}\ngrade {share:g}\n")
    fresh.expect("so is the text", holds=(fresh.folder / "task/message").read_text() == text)


def build(fresh: Fresh, folder: Path) -> None:
    """Do in a fresh Debian what the Dockerfile of a folder says; /tmp there lasts for one command only."""
    text = re.sub(r"\\\n", " ", (folder / "Dockerfile").read_text())
    lines = text.replace("/tmp/", "/var/tmp/").splitlines()  # noqa: S108 - in the fresh Debian, which is ours alone
    for line in lines:
        word, _, rest = line.partition(" ")
        if word == "COPY":
            source, target = folder / rest.split()[0], fresh.folder / rest.split()[1].lstrip("/")
            if source.is_dir():
                shutil.copytree(source, target)
            else:
                shutil.copy(source, target)
        elif word == "RUN" and not rest.startswith("--mount"):
            fresh.type(f"export DEBIAN_FRONTEND=noninteractive LANG=C.UTF-8; {rest}", root=True, at="/")


def run(fresh: Fresh, command: list[str]) -> int:
    """Run a command there as INGInious runs a task's, in a container; its exit code."""
    kept = ",".join(["-all", *(f"+{name.lower()}" for name in CAPABILITIES)])
    inside = ["python3", "/denied.py", "namespaces,privileges", "/usr/bin/setpriv", f"--bounding-set={kept}"]
    inside += ["--inh-caps=-all", "--", "/usr/bin/python3", "-c", AS_WORKER, *command]
    entered = ["unshare", "--mount", "--pid", "--ipc", "--uts", "--net", "--fork", "sh", "-c"]
    entered += [ENTER.format(fresh.folder), "sh", *inside]
    done = subprocess.run(entered, capture_output=True, text=True, check=False)
    fresh.say(f"\n# {' '.join(command)}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    return done.returncode


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(exit_code("inginious_trial", lambda: trial(newest_package(sys.argv[1:]), Path(place))))
