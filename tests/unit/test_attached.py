# SPDX-License-Identifier: BSD-3-Clause
"""Programs run in a network that somebody else holds, against a server whose agent is a script."""

import base64
import threading
from concurrent.futures import Future

import pytest

from linklab.errors import AgentError, DeadlineError, EngineError, InputError
from linklab.terminal import attach, attached
from linklab.terminal.attach_server import AttachServer


class Link:
    """Answers `open` with a terminal that shows some text and closes, as the agent does."""

    def __init__(self, shows=b"", status=0, ends=True):
        self.shows, self.status, self.ends = shows, status, ends
        self.handlers, self.asked, self.ended = {}, [], None

    def on(self, event, handler):
        """As AgentLink."""
        self.handlers[event] = handler

    def send(self, op, **fields):
        """As AgentLink: the events may come before the answer does."""
        self.asked.append({"op": op, **fields})
        answer = Future()
        if op == "open":
            half = len(self.shows) // 2
            for part in (self.shows[:half], self.shows[half:]):
                self.handlers["data"]({"event": "data", "terminal": "t1", "data": base64.b64encode(part).decode()})
            if self.ends:
                self.handlers["closed"]({"event": "closed", "terminal": "t1", "status": self.status})
        answer.set_result({"ok": {"terminal": "t1"}})
        return answer


@pytest.fixture
def served(tmp_path, monkeypatch):
    """Serve a link in a folder; gives the network's entry."""
    (tmp_path / "run").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    servers = []

    def serve(link, folder):
        server = AttachServer(link, ["h1"], "Exercise 3", workdir=folder)
        servers.append(server)
        server.__enter__()
        return attached.running_in(folder)

    yield serve
    for server in servers:
        server.__exit__()


def test_the_network_of_a_folder_is_found_by_it(served, tmp_path):
    """By its folder, also through a link; another folder has none."""
    (tmp_path / "work").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "work")
    entry = served(Link(), tmp_path / "work")
    assert entry["name"] == "Exercise 3"
    assert attached.running_in(tmp_path / "link")["id"] == entry["id"]
    assert attached.running_in(tmp_path) is None


def test_of_several_networks_that_of_the_folder_is_taken(served, tmp_path):
    """As check and submit do; elsewhere one has to be named, and the sentence says where each is."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
    one, two = served(Link(), tmp_path / "one"), served(Link(), tmp_path / "two")
    assert attach.chosen(None, tmp_path / "one")["id"] == one["id"]
    assert attach.chosen(None, tmp_path / "two")["id"] == two["id"]
    assert attach.chosen(one["id"], tmp_path / "two")["id"] == one["id"]
    with pytest.raises(InputError) as refused:
        attach.chosen(None, tmp_path / "three")
    assert f"several networks are running, none of them in {tmp_path / 'three'}" in str(refused.value)
    assert f"{one['id']} (Exercise 3 in {tmp_path / 'one'})" in str(refused.value)
    newest = served(Link(), tmp_path / "two")
    assert attach.chosen(None, tmp_path / "two")["id"] == newest["id"]


def test_the_only_network_is_taken_wherever_it_is(served, tmp_path):
    """There is no other that could be meant."""
    (tmp_path / "work").mkdir()
    there = served(Link(), tmp_path / "work")
    assert attach.chosen(None, tmp_path)["id"] == there["id"]


def test_the_output_of_a_program_comes_whole(served, tmp_path):
    """In two pieces with a terminal's line ends; the program and the node reach the agent."""
    link = Link('{"nodes": "ä"}\r\n'.encode())
    text = attached.output_of(served(link, tmp_path), ["reader", "--all"], what="reading", node="h1")
    assert text == '{"nodes": "ä"}\n'
    assert link.asked[0]["argv"] == ["reader", "--all"]
    assert link.asked[0]["node"] == "h1"


def test_a_program_that_fails_is_told_of_by_its_last_line(served, tmp_path):
    """Its words and status, not an empty state."""
    entry = served(Link(b"Traceback\r\nModuleNotFoundError: no node_state\r\n", status=1), tmp_path)
    with pytest.raises(AgentError, match=r"reading: ModuleNotFoundError: no node_state \(status 1\)"):
        attached.output_of(entry, ["reader"], what="reading")


def test_a_program_that_does_not_end_has_a_deadline(served, tmp_path):
    """The sentence names the likely cause."""
    entry = served(Link(b"half", ends=False), tmp_path)
    with pytest.raises(DeadlineError, match=r"reading did not end within 0\.3 s; if the network's clock"):
        attached.output_of(entry, ["reader"], what="reading", deadline_s=0.3)


def test_a_paused_network_is_not_asked(served, tmp_path):
    """Nothing would answer; the cure is named."""
    link = Link()
    entry = {**served(link, tmp_path), "paused": True}
    with pytest.raises(InputError, match="is paused, so nothing in it can answer: let it go on"):
        attached.read_state(entry)
    assert link.asked == []


def test_a_network_that_ends_meanwhile_is_an_error(served, tmp_path):
    """Not an empty state."""
    link = Link(ends=False)
    entry = served(link, tmp_path)
    threading.Timer(0.3, lambda: link.handlers["end"]({})).start()
    link.ended = "the pocket kernel has ended"
    with pytest.raises((AgentError, EngineError), match="the pocket kernel has ended"):
        attached.output_of(entry, ["reader"], what="reading", deadline_s=5)


def test_an_argv_that_is_no_list_of_words_reaches_no_agent(served, tmp_path):
    """A frame of the wrong kind ends its connection with a sentence."""
    link = Link()
    connection = attach.connect(served(link, tmp_path)["id"])
    size = {"rows": 24, "columns": 80, "term": "dumb"}
    answer = connection.ask({"op": "open", "node": "h1", **size, "argv": "rm -rf /"})
    connection.close()
    assert answer["event"] == "error"
    assert "argv" in answer["text"]
    assert link.asked == []


def test_a_long_program_is_listened_to_line_by_line(served, tmp_path):
    """However its output is cut into pieces; the last line needs no end."""
    link, heard = Link('{"t": 1}\r\nhä\r\nlast'.encode(), status=3), []
    assert attached.listen_to(served(link, tmp_path), ["runner"], heard.append, what="the test") == 3
    assert heard == ['{"t": 1}', "hä", "last"]


def test_a_long_program_is_asked_to_end_by_ctrl_c_once(served, tmp_path):
    """As at any terminal; it is waited for."""
    link = Link(b"begun\r\n", ends=False)
    entry = served(link, tmp_path)
    looks = []

    def stopped():
        looks.append(1)
        if len(looks) == 4:
            link.handlers["closed"]({"event": "closed", "terminal": "t1", "status": 130})
        return True

    assert attached.listen_to(entry, ["runner"], lambda _: None, what="the test", stopped=stopped) == 130
    typed = [one["data"] for one in link.asked if one["op"] == "input"]
    assert [base64.b64decode(each) for each in typed] == [b"\x03"]
