"""A class on a real JupyterHub, with the project's own configuration: each student reaches their own labs alone."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from linklab import pocket_kernel
from linklab.grade import bubblewrap


def lacking() -> str:
    """What these tests need and this machine lacks; "" if all is there."""
    try:
        import jupyterhub  # noqa: F401, PLC0415 - only looked for
        import jupyterhub_idle_culler  # noqa: F401, PLC0415
        from hub_students import proxy_command  # noqa: PLC0415
    except ImportError as error:
        return f"{error.name} is not installed (pip install '.[hub]')"
    if proxy_command() is None:
        return "configurable-http-proxy is not installed (npm install; CONFIGPROXY names it)"
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (make setup)"
    if pocket_kernel.find() is None:
        return "the pocket kernel is not built (make kernel)"
    return bubblewrap.why_not() or ""


WHY = lacking()
pytestmark = [pytest.mark.hub, pytest.mark.skipif(bool(WHY), reason=WHY)]
if not WHY:
    from hub_students import ROOT, HubStudent, RunningHub, free_ports, until
    from tornado.httpclient import HTTPClientError

    from linklab.classroom.spawner import BubblewrapSpawner


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """A Hub with nobody logged in."""
    running = RunningHub(tmp_path_factory.mktemp("hub"))
    yield running
    running.close()


@pytest.fixture(scope="module")
def ada(hub):
    """A student whose Lab 1 runs."""
    student = HubStudent(hub, "ada")
    assert student.log_in()
    student.start()
    assert student.open_lab(1).ok
    assert student.events("lab/1/events", lambda event: event["kind"] in ("ready", "ended"))[-1]["kind"] == "ready"
    return student


@pytest.fixture(scope="module")
def bob(hub):
    """Another student."""
    student = HubStudent(hub, "bob")
    assert student.log_in()
    return student


def test_a_student_opens_a_lab_and_works_in_a_folder_of_their_own(hub, ada):
    """The network runs, a terminal opens, and what a step writes lies in the student's folder."""
    opened = ada.post("lab/1/terminals", {"name": "client", "rows": 24, "columns": 80})
    assert (opened.status_code, opened.json()["name"]) == (200, "client")
    assert ada.get(ada.base + "lab/1/manual").ok
    assert [path.name for path in (hub.folder / "students/ada").iterdir() if path.name[0] != "."] == [
        "01-introduction-to-mininet"
    ]


def test_what_a_student_types_runs_in_their_network(ada):
    """A terminal's socket passes through the Hub's proxy both ways."""
    ada.type_into(1, "client", "echo $((6 * 7)) answers", b"42 answers")


@pytest.mark.parametrize("path", ["", "lab/1/", "lab/1/manual", "lab/1/static/app.js", "lab/2/", "login", "leave"])
def test_another_student_reaches_nothing_of_it(ada, bob, path):
    """Logged in at the Hub, and even with the address: the Hub refuses, and no answer of Ada's server comes back."""
    answer = bob.get(ada.base + path)
    assert answer.status_code == 403
    assert "Mininet" not in answer.text


def test_another_student_can_neither_change_nor_watch_it(ada, bob):
    """Requests of a script and sockets carry Bob's cookies, which open nothing of Ada's."""
    bob_at_ada = HubStudent(bob.hub, "ada")
    bob_at_ada.browser = bob.browser
    assert bob_at_ada.post("lab/1/terminals", {"name": "client", "rows": 24, "columns": 80}).status_code == 403
    assert bob_at_ada.post("lab/2/open", {}).status_code == 403
    for path in ("lab/1/events", "lab/1/terminal/1"):
        with pytest.raises(HTTPClientError, match="403"):
            bob_at_ada.events(path, lambda _: True)


def test_somebody_who_is_not_logged_in_is_sent_to_the_hub(hub, ada):
    """A page leads to the log-in, and a script's request is refused."""
    nobody = HubStudent(hub, "ada")
    assert nobody.get(ada.base + "lab/1/").url.startswith(f"{hub.address}/hub/login")
    assert nobody.post("lab/1/clock", {"words": ["pause"]}).status_code == 403


def test_who_logs_out_of_the_hub_is_out_of_the_labs_too(hub, ada):
    """On a shared computer the next one must not go on as the last one."""
    twin = HubStudent(hub, "ada")
    assert twin.log_in()
    assert twin.open_lab(1).url == ada.base + "lab/1/"
    twin.get(f"{hub.address}/hub/logout")
    assert twin.open_lab(1).url.startswith(f"{hub.address}/hub/login")
    assert ada.open_lab(1).url == ada.base + "lab/1/"


def test_a_page_of_another_site_changes_nothing(ada):
    """Ada's own cookies do not help a request that another site sends."""
    refused = ada.post("lab/1/clock", {"words": ["pause"]}, origin="http://evil.example")
    assert (refused.status_code, refused.json()["error"]) == (
        403,
        "This request does not come from the page of the lab.",
    )
    with pytest.raises(HTTPClientError, match="403"):
        ada.events("lab/1/events", lambda _: True, origin="http://evil.example")


def test_a_log_in_leads_back_to_this_server_only(ada):
    """An address that was made up sends nobody to another site."""
    assert ada.get(ada.base + "login?next=//evil.example/").url == ada.base


def test_another_lab_is_opened_only_when_the_student_says_so(ada):
    """A link asks first; the button ends one network and starts the other."""
    asked = ada.open_lab(2)
    assert "Lab 1: Introduction to Mininet is open" in asked.text
    assert ada.post("lab/2/open", {}).url == ada.base + "lab/2/"
    assert ada.events("lab/2/events", lambda event: event["kind"] in ("ready", "ended"))[-1]["kind"] == "ready"
    assert ada.get(ada.base + "lab/1/manual").status_code == 410


def test_the_hub_can_ask_for_the_lab_before_it_starts_a_server():
    """The form names every lab; what it gives becomes a number in the command, and nothing else gets there."""
    spawner = BubblewrapSpawner(ask_lab=True)
    assert '<option value="14">Lab 14: Router&#x27;s bufferbloat</option>' in spawner.options_form
    assert BubblewrapSpawner().options_form == ""
    for given, command in (("14", ["lab", "14", "--jupyterhub"]), ("", ["lab", "--jupyterhub"])):
        spawner.user_options = spawner.options_from_form({"lab": [given]})
        assert spawner.lab_command()[-len(command) :] == command
    for given in ("999", "--help", "1;id", "²"):
        assert spawner.options_from_form({"lab": [given]}) == {}
        spawner.user_options = {"lab": given}
        assert spawner.lab_command()[-2:] == ["lab", "--jupyterhub"]


def test_a_server_that_nobody_uses_ends_by_itself(tmp_path):
    """With status 0, which tells the Hub that nothing went wrong."""
    (port,) = free_ports(1)
    told = {
        "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{port}/user/ada/",
        "JUPYTERHUB_SERVICE_PREFIX": "/user/ada/",
        "JUPYTERHUB_API_TOKEN": "none",
        "JUPYTERHUB_API_URL": "http://127.0.0.1:1/hub/api",
        "JUPYTERHUB_CLIENT_ID": "jupyterhub-user-ada",
        "JUPYTERHUB_USER": "ada",
    }
    done = subprocess.run(
        [sys.executable, "-m", "linklab", "lab", "--jupyterhub", "--idle-minutes", "0.05"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT), **told},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "labs of ada: /user/ada/",
        "the server ends: nothing was done for 0.05 minutes",
    ]


def test_the_instructor_sees_who_shows_their_progress_and_nobody_else_does(hub, ada, bob):
    """Nothing before the student switches it on; then lab and step; nothing after it is switched off."""
    page = f"{hub.address}/services/class/"
    instructor = HubStudent(hub, "instructor")
    assert instructor.log_in()

    def rows():
        return instructor.get(page + "rows").json()["rows"]

    assert "<h1>The class</h1>" in instructor.get(page).text
    assert rows() == []
    assert bob.get(page).status_code == 403 and bob.get(page + "rows").status_code == 403
    assert ada.post("lab/2/sharing", {"on": True}).json()["text"] == "The instructor sees which step you are at."
    (row,) = until(rows, "a report")
    assert (row["name"], row["lab"], row["gone"]) == ("ada", 2, False)
    assert ada.post("lab/2/sharing", {"on": False}).ok
    until(lambda: not rows(), "forgetting")
    forged = bob.browser.post(page + "progress", json={}, headers={"Authorization": "token made-up"}, timeout=60)
    assert forged.status_code == 403
