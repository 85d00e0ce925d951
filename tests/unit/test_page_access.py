"""Only this user reaches a lab's page: hostile requests of every kind, and what an honest browser gets."""

import re

import pytest
from labpages import served
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

from linklab.page.access import Access

PATHS = ("", "manual", "manual.css", "static/app.js", "static/page.css", "built/xterm.css")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """One page for all tests that change nothing."""
    with served(tmp_path_factory.mktemp("lab")) as one:
        yield one


def socket_status(page, path, **headers):
    """What the server answers to a WebSocket with these headers: 101, or the status of the refusal."""

    async def connect():
        request = HTTPRequest(f"ws://127.0.0.1:{page.server.port}{path}", headers=headers)
        try:
            connection = await websocket_connect(request)
        except HTTPClientError as error:
            return error.code
        connection.close()
        return 101

    return IOLoop(make_current=False).run_sync(connect)


def test_the_first_visit_gives_a_cookie_that_only_the_browser_and_this_page_see(page):
    """The token opens; the cookie is HttpOnly, SameSite=Strict and bound to the page's secret path."""
    status, headers, _ = page.ask("GET", f"/?token={page.context.token}", Host=page.host)
    cookie = headers["Set-Cookie"]
    assert status == 200
    assert headers["Refresh"] == f"0; url={page.context.prefix}"
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and f"Path={page.context.prefix}" in cookie
    assert page.context.token not in cookie
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("path", [path for path in PATHS if not path.startswith("built")])
def test_the_browser_gets_every_part(page, path):
    """With the cookie each part of the page is answered."""
    status, headers, text = page.own("GET", path)
    assert (status, bool(text)) == (200, True)
    assert "Access-Control-Allow-Origin" not in headers


def test_no_script_but_the_page_s_own_files_runs(page):
    """The policy allows no inline script, and the page has none but a block of data."""
    _, headers, text = page.own("GET", "")
    policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
    assert (policy["default-src"], policy["script-src"]) == ("'none'", "'self'")
    assert (policy["frame-ancestors"], policy["base-uri"]) == ("'none'", "'none'")
    assert re.findall(r"<script(?![^>]*src=)([^>]*)>", text) == [' type="application/json" id="facts"']
    assert " onclick" not in text


@pytest.mark.parametrize("token", [None, "", "x", "é", "A" * 43])
def test_a_wrong_token_opens_nothing(page, token):
    """Another local user, who can connect to the port, does not have the token."""
    asked = "/" if token is None else f"/?token={token}".replace("é", "%C3%A9")
    status, headers, text = page.ask("GET", asked, Host=page.host)
    assert status == 403
    assert "Set-Cookie" not in headers and page.context.prefix not in text


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("cookie", [None, "linklab-session=wrong", "linklab-session="])
def test_without_the_cookie_nothing_is_answered(page, path, cookie):
    """Not even the files of the front end, nor whether they exist."""
    headers = {} if cookie is None else {"Cookie": cookie}
    status, _, text = page.ask("GET", page.context.prefix + path, Host=page.host, **headers)
    assert status == 403
    assert "linklab lab has printed" in text


def test_the_token_is_no_cookie_and_the_cookie_no_token(page):
    """What is in the history of a shell cannot be used as the session, nor the other way round."""
    cookie = f"{page.context.access.cookie}={page.context.token}"
    assert page.ask("GET", page.context.prefix, Host=page.host, Cookie=cookie)[0] == 403
    assert page.ask("GET", f"/?token={page.context.access.session}", Host=page.host)[0] == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "localhost.evil.example:{port}", "", "[::1"],
)
def test_a_name_that_was_made_to_lead_here_is_refused(page, host):
    """DNS rebinding: the browser thinks it talks to the other site, and says so; the cookie does not help."""
    named = host.format(port=page.server.port)
    assert page.own("GET", "", Host=named, Origin=f"http://{named}")[0] in (400, 403)
    assert page.ask("GET", f"/?token={page.context.token}", Host=named)[0] in (400, 403)


def test_a_forwarded_port_is_no_stranger(page):
    """`ssh -L 9000:127.0.0.1:PORT`: the browser names the port at its end."""
    given = {"Host": "localhost:9000", "Origin": "http://localhost:9000"}
    assert page.own("GET", "", **given)[0] == 200
    assert page.own("POST", "clock", {"words": []}, **given)[0] == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "", "https://127.0.0.1", "file://", "http://[bad"]
)
def test_another_page_in_the_same_browser_changes_nothing(page, origin):
    """The cookie would come along (another port is the same site), but the origin is another."""
    assert page.own("POST", "clock", {"words": ["pause"]}, Origin=origin)[0] == 403
    assert page.own("DELETE", "terminals/1", Origin=origin)[0] == 403


def test_a_request_that_changes_something_must_name_its_origin(page):
    """No header is no leave."""
    status, _, _ = page.ask("POST", f"{page.context.prefix}clock", {"words": []}, Host=page.host, Cookie=page.cookie)
    assert status == 403


@pytest.mark.parametrize("path", ["events", "terminal/1"])
def test_a_socket_is_opened_by_the_page_alone(page, path):
    """A WebSocket has no CORS, so origin, host and cookie are looked at before the upgrade."""
    at = page.context.prefix + path
    own = {"Host": page.host, "Origin": f"http://{page.host}", "Cookie": page.cookie}
    assert socket_status(page, at, **own) == 101
    assert socket_status(page, at, **{**own, "Origin": "http://evil.example"}) == 403
    assert socket_status(page, at, **{**own, "Cookie": "linklab-session=wrong"}) == 403
    assert socket_status(page, at, **{**own, "Host": "evil.example", "Origin": "http://evil.example"}) == 403
    assert socket_status(page, at, Host=page.host, Cookie=page.cookie) == 403


@pytest.mark.parametrize(
    "path",
    [
        "static/../context.py",
        "static/%2e%2e/context.py",
        "static/..%2fcontext.py",
        "static//etc/passwd",
        "static/%2fetc%2fpasswd",
        "built/../../../pyproject.toml",
        "static/",
    ],
)
def test_no_path_leads_out_of_the_front_end_s_folder(page, path):
    """Refused, whatever the slashes look like."""
    status, _, text = page.own("GET", path)
    assert status in (403, 404)
    assert "root:" not in text and "import" not in text


def test_the_token_of_an_ended_page_opens_no_later_one(tmp_path):
    """Neither token nor cookie is used twice, also where the port is the same."""
    with served(tmp_path) as first:
        port, token, cookie, prefix = first.server.port, first.context.token, first.cookie, first.context.prefix
    with pytest.raises(OSError, match="refused"):
        first.ask("GET", f"/?token={token}", Host=first.host)
    with served(tmp_path) as second:
        assert second.ask("GET", f"/?token={token}", Host=second.host)[0] == 403
        assert second.ask("GET", prefix, Host=second.host, Cookie=cookie)[0] == 403
        assert second.ask("GET", second.context.prefix, Host=second.host, Cookie=cookie)[0] == 403
    assert port > 0


def test_the_server_listens_on_this_machine_only(page):
    """At 127.0.0.1 and no other address."""
    assert {each.getsockname()[0] for each in page.server._sockets} == {"127.0.0.1"}


@pytest.mark.parametrize(
    ("origin", "host", "own"),
    [
        ("http://127.0.0.1:80", "127.0.0.1:80", True),
        ("https://hub.example", "hub.example", True),
        ("http://127.0.0.1:81", "127.0.0.1:80", False),
        ("http://127.0.0.1", "127.0.0.1:80", False),
        ("ftp://127.0.0.1:80", "127.0.0.1:80", False),
        ("http://127.0.0.1:80/x", "127.0.0.1:80", False),
        (None, "127.0.0.1:80", False),
        ("http://127.0.0.1:80", None, False),
    ],
)
def test_an_origin_is_the_page_s_own_if_name_and_port_are(origin, host, own):
    """Equal as a whole, not by its beginning."""
    assert Access().is_own_origin(origin, host) is own


@pytest.mark.parametrize("host", ["user@127.0.0.1", "127.0.0.1/x", "127.0.0.1:x:y", "127.0.0.2", "LOCALHOST.", None])
def test_a_host_is_one_of_the_names_and_nothing_like_it(host):
    """Names are compared, not searched."""
    assert not Access().is_host(host)


def test_names_may_be_written_in_capitals_and_with_a_port():
    """As browsers may send them."""
    assert Access().is_host("LocalHost:8000") and Access().is_host("127.0.0.1")
    assert Access(hosts=frozenset({"hub.example"})).is_host("hub.example")
