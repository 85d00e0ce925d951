# SPDX-License-Identifier: BSD-3-Clause
"""Ping All, asked again before the first round has begun."""

from ipaddress import ip_interface
from types import SimpleNamespace

import pytest

pytest.importorskip("tkinter")

from linklab.editor import asking


class Everyone(asking.EveryoneWindow):
    """The window without its widgets; `orders` are what it has asked of the runner."""

    def __init__(self, names):
        self.orders, self.names, self.answers, self._programs, self._round = [], names, {}, [], 0
        runner = SimpleNamespace(order=lambda _do, then, _refused: self.orders.append(then))
        self.asking = SimpleNamespace(
            can_ask=lambda: True, network=SimpleNamespace(runner=runner), window=SimpleNamespace(say=lambda _: None)
        )

    def say(self, words):
        """Stand above the text."""
        self.words = words

    def show(self, text):
        """Be the text."""
        self.shown = text


def test_a_second_round_of_pings_begins_once(monkeypatch):
    """Regression: "Again" before the addresses came had every node ping twice."""
    begun = []
    monkeypatch.setattr(
        asking, "Program", lambda _runner, node, *_, **__: begun.append(node) or SimpleNamespace(stop=lambda: None)
    )
    window = Everyone(["h1", "h2", "h3"])
    window.start()
    window.start()
    found = {"h1": [ip_interface("10.0.0.1/8")], "h2": [ip_interface("10.0.0.2/8")], "h3": []}
    for then in window.orders:
        then(found)
    assert begun == ["h1", "h2", "h3"]
    assert window.words == "0 of 4 pings done, 0 answered … Without an address: h3."
