# SPDX-License-Identifier: BSD-3-Clause
"""Accounts of a class on a real JupyterHub, with the project's own configuration: who becomes an administrator."""

import stat

import pytest
from test_class import WHY

pytestmark = [pytest.mark.hub, pytest.mark.skipif(bool(WHY), reason=WHY)]
if not WHY:
    from hub_students import HubStudent, RunningHub

PASSWORDS = "instructor-passwords.txt"


@pytest.fixture(scope="module")
def native_hub(tmp_path_factory):
    """A Hub that has just been set up."""
    running = RunningHub(tmp_path_factory.mktemp("hub"), accounts="linklab.classroom.class_accounts.ClassAuthenticator")
    yield running
    running.close()


def instructors_password(hub):
    """What the Hub has left for the person who set it up."""
    (line,) = [line for line in (hub.folder / PASSWORDS).read_text().splitlines() if not line.startswith("#")]
    name, password = line.split()
    assert name == "instructor"
    return password


def test_the_instructor_has_an_account_before_anybody_can_sign_up(native_hub):
    """Its password lies in a file that only the Hub's user can read, and opens the Hub's administration."""
    assert stat.S_IMODE((native_hub.folder / PASSWORDS).stat().st_mode) == 0o600
    instructor = HubStudent(native_hub, "instructor")
    assert instructor.log_in(instructors_password(native_hub))
    assert instructor.get(f"{native_hub.address}/hub/admin").status_code == 200
    assert instructor.get(f"{native_hub.address}/hub/authorize").status_code == 200


def test_nobody_signs_up_as_the_instructor(native_hub):
    """Regression: the first who did so was an administrator of the Hub."""
    stranger = HubStudent(native_hub, "instructor")
    stranger.sign_up("0123456789abc")
    assert not stranger.log_in("0123456789abc")
    assert stranger.get(f"{native_hub.address}/hub/admin").url.startswith(f"{native_hub.address}/hub/login")


def test_a_student_waits_to_be_let_in(native_hub):
    """Who signs up may log in only when the instructor has said so."""
    student = HubStudent(native_hub, "ada")
    student.sign_up("0123456789abc")
    assert not student.log_in("0123456789abc")
    instructor = HubStudent(native_hub, "instructor")
    instructor.log_in(instructors_password(native_hub))
    assert instructor.get(f"{native_hub.address}/hub/authorize/ada").ok
    assert student.log_in("0123456789abc")
    assert student.get(f"{native_hub.address}/hub/admin").status_code == 403


def test_a_hub_that_starts_again_keeps_the_password(native_hub):
    """Also where its file has been removed: none is made anew."""
    password = instructors_password(native_hub)
    (native_hub.folder / PASSWORDS).unlink()
    native_hub.restart()
    assert HubStudent(native_hub, "instructor").log_in(password)
    assert not (native_hub.folder / PASSWORDS).exists()
