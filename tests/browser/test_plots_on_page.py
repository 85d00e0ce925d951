# SPDX-License-Identifier: BSD-3-Clause
"""Live plots on a lab's page: a flow is seen and read by keyboard, saved, and nothing is read while nobody looks."""

import contextlib
import http.client
import threading
import time
from urllib.parse import urlsplit

import pytest
from browsing import KIND, Browser, RunningLab, in_both, needs_browser

from linklab import data
from linklab.terminal import attach, attached

pytestmark = needs_browser
RIGHT, LEFT = "\ue014", "\ue012"


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Lab 8 with 10 Mbit/s and CoDel behind s1."""
    running = RunningLab("8", tmp_path_factory.mktemp("lab"))
    running.wait_for(r"(The network runs)")
    yield running
    running.end()


@pytest.fixture
def browser(request):
    """A browser of the kind that `in_both` asks for."""
    made = Browser(1280, 800, kind=getattr(request, "param", KIND))
    yield made
    made.close()


def network_of(lab):
    """As `attach.networks` has it."""
    return next(one for one in attach.networks() if one.get("workdir", "").startswith(str(lab.folder)))


def inside(lab, node, command):
    """Run something on a node to its end."""
    return attached.ended_in(network_of(lab), ["sh", "-c", command], what=command, node=node, deadline_s=60)


def begin(lab, node, command):
    """Run something on a node, and go on."""

    def work():
        with contextlib.suppress(Exception):  # the network ends before it does
            inside(lab, node, command)

    threading.Thread(target=work, daemon=True).start()


def readers(lab):
    """How many programs look on inside."""
    return int(inside(lab, "client", "ps ax | awk '$1 > 30000' | grep -c 'm linklab[.]agent' || true")[1])


@in_both
def test_a_flow_is_seen_read_by_keys_and_saved(lab, browser, tmp_path):
    """Four panels; the arrow keys tell the values of a moment; what is seen becomes a figure and a data set."""
    browser.open(lab.address)
    inside(lab, "client", "tc qdisc add dev s1-eth2 root handle 1: tbf rate 10mbit burst 10000 limit 60000")
    inside(lab, "client", "tc qdisc add dev s1-eth2 parent 1: codel")
    assert readers(lab) == 0
    browser.one("#tab-plots").click()
    browser.until(lambda: readers(lab) == 1, "the program that looks on")
    begin(lab, "h2", "timeout 60 iperf3 -s")
    time.sleep(1)
    begin(lab, "h1", "iperf3 -c 10.0.0.2 -t 40")
    words = "\n".join
    browser.until(lambda: len(browser.all("#picture-plots figure")) == 4, "four panels")
    browser.until(lambda: "h1 → h2:5201" in words(one.text for one in browser.all("figcaption .key")), "the flow")

    chart = browser.all("#picture-plots .chart")[0]
    browser.driver.execute_script("arguments[0].focus()", chart)
    browser.keys(LEFT)
    browser.keys(LEFT)
    browser.until(lambda: "h1 → h2:5201" in browser.one(".plots .at").text, "the values of a moment")
    told = browser.one(".plots .at").text
    browser.keys(RIGHT)
    browser.until(lambda: browser.one(".plots .at").text != told, "those of the next")
    assert "Mbit/s" in chart.get_attribute("aria-valuetext")
    browser.driver.execute_script(
        "for (const one of document.querySelectorAll('.plots figure details')) one.open = true"
    )
    browser.until(lambda: "CoDel target of s1-eth2, 5 ms" in browser.one("#picture-plots").text, "the target")

    cookies = "; ".join(f"{one['name']}={one['value']}" for one in browser.driver.get_cookies())
    for kind in ("svg", "flent.gz"):
        page = urlsplit(browser.driver.current_url)
        asked = http.client.HTTPConnection(page.netloc, timeout=30)
        asked.request("GET", f"{page.path}live.{kind}?from=0&to=1e6", headers={"Cookie": cookies})
        (tmp_path / f"live.{kind}").write_bytes(asked.getresponse().read())
        asked.close()
    assert "cwnd h1 → h2:5201" in data.open_file(tmp_path / "live.flent.gz").series
    assert b"CoDel target" in (tmp_path / "live.svg").read_bytes()
    assert browser.complaints() == []


def test_nothing_is_read_once_the_page_is_closed(lab, browser):
    """The program inside ends a few seconds later."""
    browser.open(lab.address)
    browser.one("#tab-plots").click()
    browser.until(lambda: readers(lab) == 1, "the program that looks on")
    browser.driver.get("about:blank")
    browser.until(lambda: readers(lab) == 0, "its end")
