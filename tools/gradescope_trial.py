#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tries the harness for Gradescope as its documentation says, in a fresh Debian 12.  Run as root, with .venv.

    tools/gradescope_trial.py [FILE.deb]     default: the newest in build/deb

The archive of `linklab grade --harness gradescope` is unpacked in /autograder/source and setup.sh run as root; then, in
a container with Docker's default capabilities and no user namespaces, run_autograder.  Its results.json must be that of
`linklab grade` on this machine.  The log is build/fresh-root/gradescope.log; exit 0 if everything was as expected.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from fresh_root import ROOT, Fresh, exit_code, newest_package

from linklab.engine.pocket import PocketEngine
from linklab.exercise.bundle import write_bundle
from linklab.exercise.load import find_exercise, load_exercise
from linklab.grade.attempt import solution
from linklab.grade.platform import gradescope_results
from linklab.grade.sample import COURSE_FILE, instance_of, sample

CAPABILITIES = (
    *("CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP", "SETPCAP"),
    *("NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"),
)
LINKLAB = [sys.executable, "-m", "linklab"]


def trial(package: Path, place: Path) -> None:
    """Make the archive, set it up, run it, and compare."""
    course, archive, submission = place / "course.toml", place / "autograder.zip", place / "exercise1.zip"
    course.write_text(COURSE_FILE)
    course.chmod(0o600)
    options = ["--package", str(package), "--course", str(course)]
    subprocess.run([*LINKLAB, "grade", "--harness", "gradescope", str(archive), *options], check=True)
    exercise = load_exercise(find_exercise("1"))
    model = sample(exercise, instance_of(exercise, 1), solution(exercise), PocketEngine())
    write_bundle(submission, model.bundle())

    fresh = Fresh("gradescope", ["ca-certificates"])
    top = fresh.folder / "autograder"
    unpack(archive, top / "source")
    fresh.type("bash /autograder/source/setup.sh", root=True, at="/autograder")
    shutil.copy(top / "source/run_autograder", top / "run_autograder")
    unpack(submission, top / "submission")
    for name in ("results", "run"):
        (top / name).mkdir()
    shutil.copy(ROOT / "tests/denied.py", top / "run/denied.py")
    code = run(fresh, ["/usr/bin/python3", "/autograder/run/denied.py", "namespaces", "/usr/bin/unshare", "-U", "true"])
    fresh.expect("no user namespace can be made there", holds=code != 0)
    code = run(fresh, ["/usr/bin/python3", "/autograder/run/denied.py", "namespaces", "/autograder/run_autograder"])
    fresh.expect("run_autograder ends with 0", holds=code == 0)

    command = [*LINKLAB, "grade", str(submission), "--course", str(course), "--out", str(place / "plain")]
    subprocess.run(command, check=True, capture_output=True)
    plain = json.loads((place / "plain/exercise1/results.json").read_text())
    shown = (top / "results/results.json").read_text()
    fresh.say(f"score there {json.loads(shown).get('score')}, here {plain['score']}")
    fresh.expect("results.json is that of linklab grade", holds=shown == gradescope_results(plain))


def unpack(archive: Path, folder: Path) -> None:
    """Unpack as platforms do: programs can be run."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.infolist():
            content.extract(entry, folder)
            (folder / entry.filename).chmod(entry.external_attr >> 16 & 0o777)


def run(fresh: Fresh, command: list[str]) -> int:
    """Run a command in a container of that root; its exit code."""
    confined = ["bwrap", "--bind", str(fresh.folder), "/", "--proc", "/proc", "--dev", "/dev", "--die-with-parent"]
    confined += ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--chdir", "/autograder"]
    confined += ["--perms", "1777", "--tmpfs", "/tmp", "--tmpfs", "/run"]  # noqa: S108 - those inside
    # as in Docker: small, and for every user
    confined += ["--size", str(64 * 2**20), "--perms", "1777", "--tmpfs", "/dev/shm"]  # noqa: S108 - that inside
    confined += ["--clearenv", "--setenv", "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"]
    confined += ["--cap-drop", "ALL", *(word for name in CAPABILITIES for word in ("--cap-add", f"CAP_{name}"))]
    done = subprocess.run([*confined, *command], capture_output=True, text=True, check=False)
    fresh.say(f"\n# {' '.join(command)}\n{done.stdout}{done.stderr}[exit {done.returncode}]")
    return done.returncode


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(exit_code("gradescope_trial", lambda: trial(newest_package(sys.argv[1:]), Path(place))))
