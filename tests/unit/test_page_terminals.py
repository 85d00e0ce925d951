"""Terminals of a lab's page: opened, shown, replayed after a reload, and never ahead of what browsers can draw."""

import base64
import contextlib
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from labpages import served

from linklab.page import page_terminal
from linklab.page.context import PageContext
from linklab.page.page_terminal import PageTerminal
from linklab.page.terminals import TerminalTabs
from linklab.terminal.attach import Connection


def until(true, seconds=5.0):
    """Wait for something that another thread does."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


class Browser:
    """Shows a terminal, and says how much it has drawn only when it is told to."""

    def __init__(self, draws: bool = True) -> None:
        self.draws, self.got, self.said = draws, b"", []
        self.terminal: PageTerminal | None = None

    def show(self, data: bytes) -> None:
        """Take bytes."""
        self.got += data
        if self.draws and self.terminal is not None:
            threading.Thread(target=self.terminal.shown, args=(self, len(data))).start()

    def say(self, **fields) -> None:
        """Take anything else."""
        self.said.append(fields)
        if "reset" in fields:
            self.got = b""


class FakeConnection(Connection):
    """A network's terminals that say what a test has them say."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        super().__init__(ours)
        self.network = Connection(theirs)

    def data(self, data: bytes) -> None:
        """The terminal shows something."""
        self.network.send({"event": "data", "data": base64.b64encode(data).decode()})
        self.network.receive(0)


@pytest.fixture
def terminal():
    """An open terminal whose network the test plays."""
    connection = FakeConnection()
    one = PageTerminal(connection, 1, "h1#2", lambda: None)
    one.begin(24, 80)
    connection.network.send({"event": "opened"})
    until(lambda: one.state == "open")
    yield one, connection
    one.close()


def test_what_a_terminal_shows_reaches_every_browser(terminal):
    """Two browsers on one lab see the same terminal."""
    one, connection = terminal
    browsers = [Browser(), Browser()]
    for browser in browsers:
        browser.terminal = one
        one.watch(browser)
    connection.data(b"64 bytes from 10.0.0.2\r\n")
    until(lambda: all(browser.got == b"64 bytes from 10.0.0.2\r\n" for browser in browsers))


def test_a_page_that_is_loaded_again_sees_what_was_shown(terminal):
    """What was shown last is kept while no browser is there, and begins with a reset that tells how much it is."""
    one, connection = terminal
    connection.data(b"root@h1:~# ")
    until(lambda: bytes(one._kept) == b"root@h1:~# ")
    browser = Browser()
    one.watch(browser)
    assert (browser.said, browser.got) == ([{"reset": 11}], b"root@h1:~# ")


def test_no_more_is_kept_than_said(terminal):
    """A terminal that printed for hours replays its end."""
    one, connection = terminal
    for number in range(40):
        connection.data(bytes([number]) * 2**14)
        until(lambda: one._kept[-1:] == bytes([number]))  # noqa: B023 - waited for in this turn
    browser = Browser(draws=False)
    one.watch(browser)
    assert len(browser.got) == page_terminal.KEPT_BYTES
    assert browser.got.endswith(bytes([39]) * 2**14)


def test_a_browser_that_does_not_draw_makes_the_program_wait(terminal):
    """Nothing is read from the network beyond what is on its way to the browser, and all of it comes once it draws."""
    one, connection = terminal
    browser = Browser(draws=False)
    one.watch(browser)
    for _ in range(64):
        connection.data(b"x" * 2**14)
    time.sleep(0.3)
    held = len(browser.got)
    assert page_terminal.MOST_UNSHOWN_BYTES < held <= page_terminal.MOST_UNSHOWN_BYTES + 2**17
    browser.draws, browser.terminal = True, one
    one.shown(browser, held)
    until(lambda: (connection.network.receive(0), len(browser.got) == 2**20)[1])


def test_a_slow_browser_holds_up_no_other(terminal):
    """It gets the kept text when it has drawn what it has, after a reset."""
    one, connection = terminal
    slow, quick = Browser(draws=False), Browser()
    quick.terminal = one
    one.watch(slow)
    one.watch(quick)
    for number in range(64):
        connection.data(bytes([65 + number % 26]) * 2**14)
        until(lambda: len(quick.got) == (number + 1) * 2**14)  # noqa: B023 - waited for in this turn
    assert len(slow.got) <= page_terminal.LAGGING_BYTES + 2**14
    one.shown(slow, len(slow.got))
    assert slow.said == [{"reset": 0}, {"reset": len(slow.got)}]
    assert slow.got == bytes(one._kept[-page_terminal.KEPT_BYTES :])


def test_a_page_in_a_hidden_tab_makes_no_program_wait(terminal):
    """A browser draws nothing there for a minute or more; the page gets the kept text when it is seen again."""
    one, connection = terminal
    browser = Browser(draws=False)
    one.watch(browser)
    for _ in range(16):
        connection.data(b"x" * 2**14)
    one.hide(browser, True)
    for _ in range(63):
        connection.data(b"y" * 2**14)
    connection.data(b"the end")
    until(lambda: (connection.network.receive(0), one._kept.endswith(b"the end"))[1])
    assert len(browser.got) <= page_terminal.LAGGING_BYTES + 2**14
    one.hide(browser, False)
    one.shown(browser, len(browser.got))
    assert browser.said == [{"reset": 0}, {"reset": len(browser.got)}]
    assert browser.got == bytes(one._kept[-page_terminal.KEPT_BYTES :])


def test_a_hidden_page_does_not_let_a_program_outrun_one_that_is_seen(terminal):
    """Of two pages, the one that somebody looks at sets the pace; once it is closed, the program runs on."""
    one, connection = terminal
    seen, hidden = Browser(draws=False), Browser(draws=False)
    one.watch(seen)
    one.watch(hidden)
    one.hide(hidden, True)
    for _ in range(64):
        connection.data(b"x" * 2**14)
    connection.data(b"the end")
    time.sleep(0.3)
    held = len(seen.got)
    assert page_terminal.MOST_UNSHOWN_BYTES < held <= page_terminal.MOST_UNSHOWN_BYTES + 2**17
    one.leave(seen)
    until(lambda: (connection.network.receive(0), one._kept.endswith(b"the end"))[1])


def test_keys_and_sizes_reach_the_network(terminal):
    """As frames of the attach protocol."""
    one, connection = terminal
    one.type("ls\r")
    one.resize(30, 100)
    frames = []
    until(lambda: (frames.extend(connection.network.receive(0.1)), len(frames) == 3)[1])
    assert [frame["op"] for frame in frames] == ["open", "input", "resize"]
    assert (frames[0]["node"], base64.b64decode(frames[1]["data"])) == ("h1", b"ls\r")
    assert (frames[2]["rows"], frames[2]["columns"]) == (30, 100)


def test_what_is_sent_again_is_typed_once(terminal):
    """Regression: keys typed just before a connection broke without a word were lost; they are sent again."""
    one, connection = terminal
    for text, by, number in (
        ("a", "page-1", 1),
        ("b", "page-1", 2),
        ("x", "page-2", 1),
        ("a", "page-1", 1),
        ("b", "page-1", 2),
        ("c", "page-1", 3),
        ("x", "page-2", 1),
        ("y", "page-2", 2),
    ):
        one.type(text, by, number)
    frames = []
    until(lambda: (frames.extend(connection.network.receive(0.1)), len(frames) >= 6)[1])
    assert b"".join(base64.b64decode(frame["data"]) for frame in frames if frame["op"] == "input") == b"abxcy"


def test_what_pages_have_typed_is_known_of_the_last_ones(terminal):
    """However often a page is loaded."""
    one, _ = terminal
    for page in range(page_terminal.MOST_PAGES + 10):
        one.type("a", f"page-{page}", 1)
    assert len(one._taken) == page_terminal.MOST_PAGES
    assert list(one._taken)[-1] == f"page-{page_terminal.MOST_PAGES + 9}"


def test_a_terminal_that_ends_says_so(terminal):
    """And takes no more keys."""
    one, connection = terminal
    browser = Browser()
    one.watch(browser)
    connection.network.send({"event": "closed", "status": 0})
    until(lambda: {"closed": True} in browser.said)
    assert one.state == "closed"
    one.type("x")
    one.resize(3, 3)


def test_a_refusal_is_shown(terminal):
    """Such as that more was typed than the network takes."""
    one, connection = terminal
    browser = Browser()
    one.watch(browser)
    connection.network.send({"event": "answer", "text": "the network has not yet taken it", "status": 1})
    until(lambda: {"notice": "the network has not yet taken it"} in browser.said)


# --- through the server


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A page whose network runs."""
    with served(tmp_path_factory.mktemp("lab")) as one:
        yield one


def test_terminals_are_opened_by_name_and_numbered(page):
    """A second terminal of a node is h1#2, as in manuals."""
    names = [
        json.loads(page.own("POST", "terminals", {"name": "h1", "rows": 24, "columns": 80})[2])["name"] for _ in "ab"
    ]
    assert names == ["h1", "h1#2"]
    until(lambda: [fields["node"] for op, fields in page.network.link.asked if op == "open"].count("h1") == 2)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"name": "h9", "rows": 24, "columns": 80},
            "h9: the network of this page has no such node; it has client, mininet, h1, h2, h3, s1",
        ),
        ({"name": "h1#x", "rows": 24, "columns": 80}, "h1#x: a second terminal of h1 is called h1#2"),
        ({"name": "h1", "rows": 1, "columns": 80}, "A terminal has 2 to 1000 rows and columns."),
        ({"name": "h1", "rows": "24", "columns": 80}, "The field rows is missing or has another type."),
        ([], "The body of the request is not a JSON object."),
    ],
)
def test_what_cannot_be_opened_is_said(page, body, said):
    """With status 400 and a sentence."""
    status, _, text = page.own("POST", "terminals", body)
    assert (status, json.loads(text)) == (400, {"error": said})


def test_before_the_network_runs_a_terminal_waits(tmp_path):
    """The page is there while the network starts, and says what it waits for."""
    with served(tmp_path, running=False) as page:
        assert page.own("GET", "")[0] == 200
        status, _, text = page.own("POST", "terminals", {"name": "h1", "rows": 24, "columns": 80})
        assert (status, json.loads(text)["error"]) == (503, "the network is still starting")


def test_after_the_network_has_ended_the_page_says_why(tmp_path):
    """Terminals cannot be opened any more; what was read stays."""
    with served(tmp_path) as page:
        page.network.link.end("the pocket was killed")
        status, _, text = page.own("POST", "terminals", {"name": "h1", "rows": 24, "columns": 80})
        assert (status, json.loads(text)["error"]) == (503, "the pocket was killed")
        assert page.own("GET", "")[0] == 200


def test_a_terminal_is_at_work_while_its_command_may_still_show_something(terminal, monkeypatch):
    """A command that runs is work, a prompt is none, and a server that is silent for very long is none any more."""
    one, connection = terminal
    connection.data(b"root@h1:~# ")
    until(one.at_prompt)
    assert not one.at_work()
    connection.data(b"iperf3 -s\r\nServer listening on 5201\r\n")
    until(lambda: not one.at_prompt())
    assert one.at_work()
    monkeypatch.setattr(page_terminal, "LONGEST_SILENCE_S", 0.0)
    assert not one.at_work()


def test_what_the_person_does_is_activity_and_what_the_page_reads_is_none(tmp_path):
    """A button pressed and a page opened count; a file that is fetched and a refused request do not."""
    with served(tmp_path) as page:
        page.context.active_s = 0.0
        page.own("GET", "manual")
        page.ask("POST", page.context.prefix + "clock", {"words": ["pause"]}, Host=page.host)
        assert page.context.active_s == 0.0
        page.own("POST", "clock", {"words": ["pause"]})
        assert page.context.active_s > 0.0
        page.context.active_s = 0.0
        page.own("GET", "")
        assert page.context.active_s > 0.0


def test_what_is_typed_while_a_terminal_opens_is_not_lost():
    """A command that is put into a terminal that has just been asked for, and its size, come after its opening.

    Regression: the size was lost, so long lines wrapped wrongly until the window changed.
    """
    connection = FakeConnection()
    one = PageTerminal(connection, 1, "h1", lambda: None)
    one.begin(24, 80)
    one.type("ping ")
    one.resize(50, 200)
    one.type("10.0.0.3")
    frames = []
    until(lambda: (frames.extend(connection.network.receive(0.1)), len(frames) == 1)[1])
    assert connection.network.receive(0.1) == []
    connection.network.send({"event": "opened"})
    until(lambda: (frames.extend(connection.network.receive(0.1)), len(frames) == 4)[1])
    assert [base64.b64decode(frame.get("data", "")) for frame in frames[1:]] == [b"ping ", b"", b"10.0.0.3"]
    assert frames[2] == {"op": "resize", "rows": 50, "columns": 200}
    one.close()


@pytest.fixture
def tabs(tmp_path):
    """The terminals of a page of Lab 14, whose network makes no connections but those of the test."""
    with served(tmp_path) as page:
        yield TerminalTabs(page.context)


def test_pages_hear_of_a_closed_terminal_last_though_an_older_list_is_being_told(tabs, monkeypatch):
    """A list that was made before and is told after would show the closed terminal for good."""
    connections, told, closing = [FakeConnection(), FakeConnection()], [], []
    monkeypatch.setattr(PageContext, "attach", SimpleNamespace(connect=connections.pop))
    one, other = (tabs.open("h1", 24, 80) for _ in range(2))

    def publish(kind, **fields):
        if kind != "terminals":
            return
        if not closing:  # this list has both, and is told after the other thread has had its time
            closing.append(threading.Thread(target=tabs.hang_up, args=(one.number,)))
            closing[0].start()
            until(lambda: tabs.find(one.number) is None)
            closing[0].join(0.3)
        told.append([facts["name"] for facts in fields["terminals"]])

    monkeypatch.setattr(tabs.context.events, "publish", publish)
    tabs.tell()
    closing[0].join()
    assert [*told[:1], *(names for names in told[1:] if names != ["h1#2"])] == [["h1", "h1#2"]]
    assert told[-1] == ["h1#2"]
    tabs.hang_up(other.number)


def test_two_terminals_that_are_opened_at_once_have_two_names(tabs, monkeypatch):
    """While one is being connected its name is taken."""
    inside = threading.Barrier(2)

    def connect():
        with contextlib.suppress(threading.BrokenBarrierError):
            inside.wait(0.3)  # both get here together only if nothing keeps them apart
        return FakeConnection()

    monkeypatch.setattr(PageContext, "attach", SimpleNamespace(connect=connect))
    with ThreadPoolExecutor(2) as threads:
        opened = list(threads.map(lambda _: tabs.open("h1", 24, 80), range(2)))
    assert sorted(terminal.name for terminal in opened) == ["h1", "h1#2"]
    assert inside.broken
    for terminal in opened:
        tabs.hang_up(terminal.number)
