# SPDX-License-Identifier: BSD-3-Clause
"""The small programs that make traffic inside: pages, fetches, requests, bursts; here on this machine's loopback."""

import json
import shutil
import socket
import struct
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from linklab.agent import trial_bursts, trial_fetch, trial_pages, trial_requests

AGENT = Path(trial_pages.__file__).parent


@contextmanager
def pages():
    """A web server on a free port, which is given."""
    server = trial_pages.serve(0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.socket.getsockname()[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("path", "size"),
    [("/10k", 10240), ("/1M", 1 << 20), ("/7", 7), ("/0", 0), ("/1k?x", 1024)],
)
def test_the_size_of_a_page_is_its_path(path, size):
    """k is 1024 bytes."""
    assert trial_pages.size_of(path) == size
    with pages() as port, urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as answer:
        assert len(answer.read()) == size


@pytest.mark.parametrize("path", ["/", "/x", "/../etc/passwd", "/1g", "/99999999999", "/2000000k"])
def test_no_other_page_is_there(path):
    """Neither files nor pages beyond all measure."""
    assert trial_pages.size_of(path) is None
    with pages() as port, pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10)
    assert caught.value.code == 404


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_a_fetch_takes_as_long_as_its_slowest_object(capsys):
    """One line of JSON for each, with the sizes that came."""
    with pages() as port:
        urls = [f"http://127.0.0.1:{port}/{size}" for size in ("1k", "200k")]
        assert trial_fetch.main([*urls, "--interval", "1", "--length", "1.95"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(found) == 2
    assert sorted(one["size"] for one in found[0]["objects"]) == [1024, 200 * 1024]
    assert found[0]["total_s"] == max(one["total_s"] for one in found[0]["objects"]) < 5
    assert found[1]["t"] - found[0]["t"] > 0.9


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("path", ["nothing", None])
def test_an_object_that_does_not_come_is_a_failure(path):
    """It has no time, and says why."""
    if path is None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            found = trial_fetch.fetch([f"http://127.0.0.1:{free.getsockname()[1]}/"], 5, 4)
    else:
        with pages() as port:
            found = trial_fetch.fetch([f"http://127.0.0.1:{port}/{path}", f"http://127.0.0.1:{port}/1k"], 5, None)
    assert "total_s" not in found
    assert "127.0.0.1" in found["failed"]


@contextmanager
def answering():
    """A program that answers requests, on a free port."""
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    program = subprocess.Popen([sys.executable, AGENT / "trial_requests.py", "serve", str(port)])
    try:
        for _ in range(100):
            with socket.socket() as knock:
                knock.settimeout(0.1)
                if knock.connect_ex(("127.0.0.1", port)) == 0:
                    break
            threading.Event().wait(0.05)
        yield port
    finally:
        program.terminate()
        program.wait()


def test_requests_are_answered_one_after_another(capsys):
    """Each line has the moment of the answer and how long it took; sizes are what was asked for."""
    with answering() as port:
        words = ["ask", "127.0.0.1", str(port), "--interval", "0.05", "--length", "0.22", "--response", "100000"]
        assert trial_requests.main([*words, "--request", "3000", "--tos", "184"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert len(lines) == 5
        stamps, took = zip(*((float(word) for word in line.split()) for line in lines), strict=True)
        assert stamps[-1] - stamps[0] == pytest.approx(0.2, abs=0.1)
        assert all(0 < each < 1000 for each in took)
        with socket.create_connection(("127.0.0.1", port), 10) as raw:
            raw.sendall(struct.pack("!II", 2, 70_000) + b"ab")
            assert trial_requests.take(raw, 70_000, keep=True) == bytes(70_000)


def test_a_server_that_goes_is_said(capsys):
    """In one sentence, with status 1."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def leave():
            server.accept()[0].close()

        thread = threading.Thread(target=leave)
        thread.start()
        words = ["ask", "127.0.0.1", str(server.getsockname()[1]), "--interval", "0.01", "--length", "5"]
        try:
            assert trial_requests.main(words) == 1
            assert "closed the connection" in capsys.readouterr().err
        except ConnectionError:
            pass  # it noticed while it asked
        thread.join()


def test_bursts_keep_their_rate_and_go_to_their_ports_in_turn(monkeypatch, capsys):
    """500 bytes at 2 Mbit/s for 0.1 s are 50 packets, 25 to each of two ports, and marked."""
    monkeypatch.setattr(trial_bursts, "FIRST_PORT", 34_567)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as first:
        first.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        first.bind(("127.0.0.1", 34_567))
        first.settimeout(1)
        words = ["127.0.0.1", "--length", "0.1", "--rate", "2e6", "--size", "500", "--ports", "2", "--tos", "32"]
        assert trial_bursts.main(words) == 0
        sent = int(capsys.readouterr().out)
        assert sent == pytest.approx(50, abs=3)
        got = 0
        with pytest.raises(TimeoutError):
            while True:
                data, extra, _, _ = first.recvmsg(2000, 100)
                assert len(data) == 500
                assert extra[0][2][0] == 32
                got += 1
        assert got == pytest.approx(sent / 2, abs=1)
