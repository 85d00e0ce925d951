"""Labs of a class without a Hub: its settings, which lab is open, idle servers, progress, and who is stuck."""

import asyncio
import contextlib
import json
import threading
import time
from datetime import datetime, timezone
from pathlib import Path

import pytest
from scripted import ScriptedNetwork
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from linklab.classroom.activity import ActivityReporter
from linklab.classroom.hub_settings import HubSettings
from linklab.classroom.lab_desk import LabDesk, OpenLab
from linklab.classroom.progress_watch import ProgressWatch
from linklab.classroom.roster import ClassRoster
from linklab.classroom.sharing import Sharing
from linklab.errors import EngineError, InputError
from linklab.lab.model import find_lab, lab_folders, load_card, load_lab
from linklab.page import app
from linklab.page.context import PageContext

ENVIRONMENT = {
    "JUPYTERHUB_SERVICE_URL": "http://127.0.0.1:41234/user/ada%40b/",
    "JUPYTERHUB_SERVICE_PREFIX": "/user/ada%40b/",
    "JUPYTERHUB_API_TOKEN": "secret",
    "JUPYTERHUB_USER": "ada@b",
    "JUPYTERHUB_ACTIVITY_URL": "http://127.0.0.1:8081/hub/api/users/ada%40b/activity",
    "JUPYTERHUB_BASE_URL": "/class/",
    "LINKLAB_CLASS_URL": "http://127.0.0.1:10101/services/class",
}


def settings(**changed) -> HubSettings:
    """What the Hub told, with changes."""
    return HubSettings.read({**ENVIRONMENT, **changed})


# --- what the Hub tells


def test_the_hub_tells_where_to_listen_and_whose_server_it_is():
    """As JupyterHub sets the environment of a server."""
    found = settings()
    assert (found.host, found.port, found.prefix) == ("127.0.0.1", 41234, "/user/ada%40b/")
    assert (found.user, found.hub_prefix, found.token) == ("ada@b", "/class/hub/", "secret")
    assert (found.server, settings(JUPYTERHUB_SERVER_NAME="two").server) == ("", "two")


@pytest.mark.parametrize("name", ["JUPYTERHUB_SERVICE_URL", "JUPYTERHUB_SERVICE_PREFIX", "JUPYTERHUB_API_TOKEN"])
def test_without_a_hub_the_option_says_what_it_is_for(name):
    """Who types --jupyterhub in a terminal is told."""
    with pytest.raises(InputError, match=r"a server that JupyterHub starts.*docs/class-server\.md"):
        settings(**{name: ""})


def test_a_hub_with_encryption_inside_is_refused():
    """Nothing is served in the clear where the Hub expects TLS."""
    with pytest.raises(InputError, match="internal_ssl"):
        settings(JUPYTERHUB_SERVICE_URL="https://127.0.0.1:1/user/a/")


def test_the_list_of_labs_is_read_from_the_heads_of_their_files():
    """A card says what the whole lab says."""
    card, lab = load_card(find_lab("14")), load_lab(find_lab("14"))
    assert (card.number, card.title, card.minutes, card.folder) == (lab.number, lab.title, lab.minutes, lab.folder)
    assert [load_card(folder).number for folder in lab_folders()] == sorted(load_card(f).number for f in lab_folders())


# --- which lab is open


class Desk:
    """A desk whose networks are scripted, and the thread that holds them."""

    def __init__(self, folder: Path) -> None:
        self.desk = LabDesk(folder, self.page)
        self.running: list[int] = []
        self.ended: list[int] = []
        self.fails = False
        self.thread = threading.Thread(target=self.desk.hold, args=(self.start,), daemon=True)
        self.thread.start()

    def page(self, lab, folder):
        """The page of a lab."""
        context = PageContext(lab, None, folder)
        return OpenLab(context, app.application(context))

    def start(self, context, stack: contextlib.ExitStack):
        """Start a network that does nothing."""
        if self.fails:
            raise EngineError("no memory for the kernel")
        network = ScriptedNetwork({}, context.folder, ["h1"])
        self.running.append(context.lab.number)
        stack.callback(self.ended.append, context.lab.number)
        return network


def until(true, seconds=5.0):
    """Wait for another thread."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def labs():
    """Two labs."""
    return load_lab(find_lab("1")), load_lab(find_lab("2"))


def test_one_lab_runs_at_a_time_each_in_a_folder_of_its_own(tmp_path, labs):
    """Opening a second lab ends the first one's network before its own starts, and closing ends all."""
    held = Desk(tmp_path)
    first = held.desk.open(labs[0])
    until(lambda: held.running == [1])
    second = held.desk.open(labs[1])
    until(lambda: held.running == [1, 2])
    assert held.ended == [1]
    assert first.context.ended == f"{labs[1].heading} was opened instead"
    assert held.desk.current is second and held.desk.facts()["number"] == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == [labs[0].slug, labs[1].slug]
    held.desk.close("enough")
    held.thread.join(5)
    assert (held.ended, held.thread.is_alive(), second.context.ended) == ([1, 2], False, "enough")


def test_a_network_that_cannot_start_is_said_and_the_next_lab_can_be_opened(tmp_path, labs):
    """The server goes on."""
    held = Desk(tmp_path)
    held.fails = True
    opened = held.desk.open(labs[0])
    until(lambda: opened.context.ended)
    assert opened.context.ended == "no memory for the kernel"
    assert held.desk.facts() == {"number": None, "heading": "", "ended": "no memory for the kernel"}
    held.fails = False
    held.desk.open(labs[0])
    until(lambda: held.running == [1])
    held.desk.close("enough")


# --- idle servers


def test_a_server_is_idle_while_nothing_is_done_and_no_command_runs(tmp_path, labs):
    """A page that is open is no activity; typing and a running command are."""
    held = Desk(tmp_path)
    opened = held.desk.open(labs[0])
    until(lambda: held.running == [1])
    held.desk._active_s -= 100
    opened.context.active_s -= 100
    assert 100 <= held.desk.idle_s() < 110
    opened.context.touch()
    assert held.desk.idle_s() < 1
    opened.context.active_s -= 100
    opened.context._network = ScriptedNetwork({}, tmp_path, ["h1"])
    opened.context.works_if(lambda: True)
    assert held.desk.idle_s() < 1
    held.desk.close("enough")


def test_an_idle_server_ends_and_the_hub_hears_when_it_was_last_used(tmp_path):
    """The time that the Hub is told is that of the last activity, and not now."""
    told = []

    class Activity(RequestHandler):
        def post(self):
            told.append((self.request.headers["Authorization"], json.loads(self.request.body)))

    async def go():
        socket, port = bind_unused_port()
        server = HTTPServer(Application([("/activity", Activity)]))
        server.add_socket(socket)
        desk, ends = LabDesk(tmp_path, lambda *_: None), []
        desk._active_s -= 90
        address = f"http://127.0.0.1:{port}/activity"
        reporter = ActivityReporter(
            settings(JUPYTERHUB_ACTIVITY_URL=address, JUPYTERHUB_SERVER_NAME="two"), desk, 2.0, ends.append
        )
        assert not reporter.expired()
        assert await reporter.report()
        desk._active_s -= 60
        assert reporter.expired()
        await reporter.watch()
        server.stop()
        return ends

    assert asyncio.run(go()) == ["nothing was done for 2 minutes"]
    (token, body), *more = told
    assert (token, more) == ("token secret", [])
    last = datetime.fromisoformat(body["last_activity"])
    assert 89 < (datetime.now(timezone.utc) - last).total_seconds() < 110
    assert body["servers"]["two"]["last_activity"] == body["last_activity"]


def test_a_server_without_a_limit_never_ends_by_itself(tmp_path):
    """0 minutes mean never."""
    desk = LabDesk(tmp_path, lambda *_: None)
    desk._active_s -= 10**6
    assert not ActivityReporter(settings(), desk, 0, lambda _: None).expired()


# --- progress


def step(name, status="open", **fields):
    """A step as the guide gives it."""
    return {"id": name, "status": status, "task": f"Do {name}.", "story": "", "optional": False, **fields}


def test_a_report_says_where_a_student_is_and_for_how_long():
    """Time and tries count from the last step that was done; steps that are optional do not count."""
    watch = ProgressWatch(14, "Lab 14", now_s=100.0)
    watch.take([step("a"), step("b"), step("extra", optional=True)], "a", 100.0)
    wrong = [step("a", "wrong", story="the delay is 2 ms"), step("b")]
    for now_s in (110.0, 120.0):  # the same finding twice is one try
        watch.take(wrong, "a", now_s)
    watch.take([step("a", "wrong", story="the delay is 200 ms"), step("b")], "a", 130.0)
    assert watch.report(160.0) == {
        "lab": 14, "heading": "Lab 14", "step": "Do a.", "done": 0, "steps": 2, "wrong": 2, "here_s": 60.0,
    }  # fmt: skip
    watch.take([step("a", "done differently"), step("b")], "b", 170.0)
    found = watch.report(175.0)
    assert (found["step"], found["done"], found["wrong"], found["here_s"]) == ("Do b.", 1, 0, 5.0)


REPORT = {"lab": 14, "heading": "Lab 14: Bloat", "step": "Do a.", "done": 1, "steps": 9, "wrong": 0, "here_s": 30.0}


def test_who_may_need_help_comes_first_and_who_has_gone_last():
    """Stuck is who has done no step for long, or has tried several times; a server that is silent has ended."""
    roster = ClassRoster(stuck_min=10)
    roster.take("gone", {**REPORT, "wrong": 9}, 0.0)
    roster.take("well", REPORT, 1000.0)
    roster.take("slow", {**REPORT, "here_s": 590.0}, 1000.0)
    roster.take("tries", {**REPORT, "wrong": 3}, 1000.0)
    roster.take("finished", {**REPORT, "done": 9, "here_s": 5000.0}, 1000.0)
    rows = {row.name: row for row in roster.rows(1015.0)}
    assert list(rows) == ["slow", "tries", "finished", "well", "gone"]
    assert rows["slow"].stuck == "no step done for 10 minutes"
    assert rows["tries"].stuck == "3 tries that were not right"
    assert (rows["finished"].step, rows["finished"].stuck) == ("all steps done", "")
    assert (rows["gone"].gone, rows["gone"].stuck) == (True, "")
    roster.leave("slow")
    assert [row.name for row in roster.rows(1015.0)] == ["tries", "finished", "well", "gone"]
    assert [row.name for row in roster.rows(1000.0 + 12 * 3600 + 1)] == []


@pytest.mark.parametrize(
    "wrong", [[], "x", {}, {**REPORT, "done": -1}, {**REPORT, "lab": "14"}, {**REPORT, "here_s": float("nan")},
              {**REPORT, "wrong": True}, {**REPORT, "step": None}, {**REPORT, "done": 10**9}],
)  # fmt: skip
def test_a_report_that_is_none_is_refused(wrong):
    """It comes from a student's server, which may be broken or hostile."""
    roster = ClassRoster()
    with pytest.raises(InputError):
        roster.take("ada", wrong, 0.0)
    assert roster.rows(0.0) == []


def test_a_long_text_with_line_ends_is_one_short_line_in_the_table():
    """Nothing that a server sends changes the table around it."""
    roster = ClassRoster()
    roster.take("ada", {**REPORT, "step": "a\nb\x1b[2J" + "c" * 10_000}, 0.0)
    (row,) = roster.rows(0.0)
    assert row.step.startswith("a b") and len(row.step) == 300 and "\x1b" not in row.step


# --- showing it


def test_nothing_is_shown_before_the_student_says_so(tmp_path):
    """Off at first, kept when chosen, and off again where the file is not readable or there is no page to show it."""
    assert not Sharing(settings(), tmp_path).on
    sharing = Sharing(settings(), tmp_path)
    sharing.choose(True)
    assert Sharing(settings(), tmp_path).on
    assert not Sharing(settings(LINKLAB_CLASS_URL=""), tmp_path).on
    sharing.path.write_text("[1]")
    assert not Sharing(settings(), tmp_path).on


def test_the_page_is_told_while_it_is_on_and_forgets_when_it_is_switched_off(tmp_path, labs):
    """Reports go out with the server's token; switching off deletes what was told, once."""
    asked = []

    class Progress(RequestHandler):
        def post(self):
            asked.append((self.request.headers["Authorization"], json.loads(self.request.body)["lab"]))

        def delete(self):
            asked.append("forget")

    async def go():
        socket, port = bind_unused_port()
        server = HTTPServer(Application([("/services/class/progress", Progress)]))
        server.add_socket(socket)
        sharing = Sharing(settings(LINKLAB_CLASS_URL=f"http://127.0.0.1:{port}/services/class"), tmp_path)
        sharing.attend(PageContext(labs[1], None, tmp_path))
        telling = asyncio.create_task(sharing.tell())
        await asyncio.sleep(0.3)
        assert asked == []
        for on, count in ((True, 1), (False, 2)):
            sharing.choose(on)
            async with asyncio.timeout(10):
                while len(asked) < count:
                    await asyncio.sleep(0.02)
        telling.cancel()
        server.stop()

    asyncio.run(go())
    assert asked == [("token secret", 2), "forget"]
