# SPDX-License-Identifier: BSD-3-Clause
"""What happens at once on a page comes out in one order: events for pages that just open, and captures that begin."""

import threading
import time

from linklab.page import packets
from linklab.page.events import PageEvents
from linklab.page.packets import PacketShelf


def test_a_page_that_opens_meanwhile_ends_with_the_newest_event():
    """Regression: it could be told the older one last, and show it until something else happened."""
    events, seen, entered = PageEvents(), [], threading.Event()
    events.publish("guide", number=1)

    def slow(event):
        entered.set()
        time.sleep(0.05)
        seen.append(event["number"])

    opening = threading.Thread(target=events.watch, args=(slow,))
    opening.start()
    entered.wait()
    events.publish("guide", number=2)
    opening.join()
    assert seen == [1, 2]


class Session:
    """A capture that goes on until it is stopped."""

    running: list = []  # noqa: RUF012 - of all

    def __init__(self, connection, folder, order):
        self.over, self.listens, self.ended, self.dropped = threading.Event(), ["h1:h1-eth0"], "", 0

    def __enter__(self):
        Session.running.append(self)
        return self

    def __exit__(self, *_):
        time.sleep(0.05)
        Session.running.remove(self)

    def stream(self):
        """Nothing, until the end."""
        yield []
        self.over.wait()

    def stop(self):
        """End it."""
        self.over.set()


class Attach:
    """A network's server, as far as a shelf needs it."""

    name = "Lab"

    def connect(self):
        """Nobody is there."""


def test_of_captures_that_begin_at_once_one_goes_on_and_can_be_stopped(tmp_path, monkeypatch):
    """Regression: two went on, one of which nobody could stop."""
    monkeypatch.setattr(packets, "CaptureSession", Session)
    shelf = PacketShelf(lambda: None)
    both = [threading.Thread(target=shelf.start, args=(Attach(), tmp_path, ["h1:h1-eth0"], "")) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join()
    assert len(Session.running) == 1
    assert shelf.state()["running"]
    shelf.stop()
    assert Session.running == []
    assert not shelf.state()["running"]
