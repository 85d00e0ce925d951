# SPDX-License-Identifier: BSD-3-Clause
"""A class with a container for each student: class-server/docker_config.py with a real Docker and the images built."""

import subprocess
from uuid import uuid4

import pytest
from test_class import WHY

BRIDGE = "172.17.0.1"


def docker(*words: str) -> str:
    """What a command of Docker prints; CalledProcessError if it fails."""
    return subprocess.run(["docker", *words], capture_output=True, text=True, check=True, timeout=60).stdout


def lacking() -> str:
    """What these tests need beside those of a class, and this machine lacks; "" if all is there."""
    try:
        import dockerspawner  # noqa: F401, PLC0415 - only looked for

        gateway = docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}").strip()
        docker("image", "inspect", "linklab-hub")
    except ImportError:
        return "dockerspawner is not installed (pip install dockerspawner)"
    except (OSError, subprocess.SubprocessError):
        return "no Docker here with the image linklab-hub (docs/class-server.md, Docker)"
    return "" if gateway in ("", BRIDGE) else f"Docker's bridge is not at {BRIDGE}"


WHY = WHY or lacking()
pytestmark = [pytest.mark.hub, pytest.mark.skipif(bool(WHY), reason=WHY)]
if not WHY:
    from hub_students import HubStudent, RunningHub, until


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A Hub that starts containers."""
    running = RunningHub(tmp_path_factory.mktemp("hub"), own="docker_config.py", at=BRIDGE)
    yield running
    running.close()


@pytest.fixture(scope="module")
def ada(hub):
    """A student whose Lab 1 runs, with a name that is nobody's; her container and her volume end with the tests."""
    student = HubStudent(hub, f"test{uuid4().hex[:12]}")
    assert student.log_in()
    try:
        student.start()
        assert student.open_lab(1).ok
        assert student.events("lab/1/events", lambda event: event["kind"] in ("ready", "ended"))[-1]["kind"] == "ready"
        yield student
    finally:
        subprocess.run(["docker", "rm", "--force", f"jupyter-{student.name}"], check=False, capture_output=True)
        subprocess.run(["docker", "volume", "rm", f"linklab-{student.name}"], check=False, capture_output=True)


def test_what_a_student_types_runs_in_a_container_without_privilege(ada):
    """As an ordinary user, with no capability, a limit of memory, and nothing of the machine's files."""
    ada.type_into(1, "client", "echo $((6 * 7)) answers", b"42 answers")
    name = f"jupyter-{ada.name}"
    assert docker("exec", name, "id", "--user", "--name") == "student\n"
    status = docker("exec", name, "grep", "-E", "^(CapEff|CapBnd|NoNewPrivs):", "/proc/1/status")
    assert status.split() == ["CapEff:", "0" * 16, "CapBnd:", "0" * 16, "NoNewPrivs:", "1"]
    facts = docker(
        "inspect", name, "--format", "{{.HostConfig.Memory}} {{range .Mounts}}{{.Type}} {{.Destination}}{{end}}"
    )
    assert facts == f"{2 * 2**30} volume /home/student\n"


def test_the_instructors_page_hears_of_a_student_in_a_container(hub, ada):
    """The report comes over Docker's bridge."""
    instructor = HubStudent(hub, "instructor")
    assert instructor.log_in()
    assert ada.post("lab/1/sharing", {"on": True}).ok
    page = f"{hub.address}/services/class/rows"
    (row,) = until(lambda: instructor.get(page).json()["rows"], "a report")
    assert (row["name"], row["lab"]) == (ada.name, 1)


def test_what_a_student_wrote_outlives_the_container(ada):
    """It is removed when the server ends, and a new one has the student's folder."""
    name = f"jupyter-{ada.name}"
    before = docker("inspect", name, "--format", "{{.Id}}")
    docker("exec", name, "sh", "-c", "echo kept >/home/student/01-introduction-to-mininet/note")
    ada.stop()
    assert name not in docker("ps", "--all", "--format", "{{.Names}}").split()
    ada.start()
    assert docker("inspect", name, "--format", "{{.Id}}") != before
    assert docker("exec", name, "cat", "/home/student/01-introduction-to-mininet/note") == "kept\n"
