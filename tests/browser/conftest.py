# SPDX-License-Identifier: BSD-3-Clause
"""Labs and browsers for the tests of the lab page."""

import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from browsing import KIND, Browser, RunningLab
from screen_reader import Reader


@pytest.fixture(scope="session", autouse=True)
def sockets():
    """Networks of these tests have their sockets in a folder of their own, whose path is short enough for them."""
    with tempfile.TemporaryDirectory(prefix="linklab-pages-") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        yield


@pytest.fixture
def lab(tmp_path):
    """Starts a lab; its network ends with the test."""
    running = []

    def start(number: str, *options: str) -> RunningLab:
        running.append(RunningLab(number, tmp_path, *options))
        return running[-1]

    yield start
    for one in running:
        one.end()


@pytest.fixture
def browser(request):
    """Starts browsers, of the kind that `browsing.in_both` asks for; with the size of a small laptop's screen."""
    opened = []

    def start(width: int = 1024, height: int = 700, *options: str) -> Browser:
        opened.append(Browser(width, height, *options, kind=getattr(request, "param", KIND)))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


@pytest.fixture
def reader(lab, browser):
    """Opens a lab, and shows it as a screen reader gets it."""
    return lambda number, *options: Reader(lab(number, *options), browser())
