# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the network and the packet list in a real browser: rates, links, packets in slow motion, headers."""

import re

import pytest
from browsing import in_both, needs_browser

from linklab.linux import pcapng

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = needs_browser


def begin(lab, browser, node: str, command: str):
    """Lab 14 with a terminal in which this runs."""
    running, page = lab("14"), browser(1280, 900)
    page.open(running.address)
    running.wait_for("The network runs")
    shapes = '.network-view g[role="button"]'
    page.until(lambda: page.all(shapes), "the picture of the network")
    (shape,) = (each for each in page.all(shapes) if re.match(rf"{node}\b", each.get_attribute("aria-label")))
    page.driver.execute_script("arguments[0].focus()", shape)
    page.keys(Keys.ENTER)
    page.until(lambda: node in page.tabs(), f"a terminal on {node}")
    page.until(lambda: "#" in page.screen(), "a prompt")
    page.keys(command + Keys.ENTER)
    return running, page


def shown(page) -> str:
    """The headers below the picture."""
    return page.one(".network-view .packet-detail").text


def news(page) -> str:
    """What was announced last."""
    return page.one("#announce > :last-child").get_attribute("textContent")


@in_both
def test_packets_travel_in_slow_motion_and_show_their_headers(lab, browser):
    """A ping is seen on its links; time is slowed, stopped by Next packet, and steps from packet to packet."""
    running, page = begin(lab, browser, "h1", "ping -i 0.2 10.0.0.3")
    page.until(lambda: "bytes from" in page.screen(), "replies")
    page.button("Slow motion").click()
    page.until(lambda: page.all('.motion button[aria-pressed="true"]'), "slow motion")
    numbers, texts = [], []
    while len(texts) < 4 or not any(re.search(r"Packet \d+: (ICMP echo|ARP)", text) for text in texts):
        assert len(texts) < 16, texts  # a node that began may solicit routers; the ping's own come all the time
        before = news(page)
        page.button("Next packet").click()
        page.until(
            lambda before=before: "arrived at" in news(page) and news(page) != before, "the next packet's arrival"
        )
        texts.append(shown(page))
        numbers.append(int(re.search(r"Packet (\d+)", texts[-1])[1]))
    # as many packets went out and came in meanwhile, at one instant in any order: none was left out or shown twice
    assert numbers == sorted(set(numbers))
    assert numbers[-1] - numbers[0] < 2 * len(numbers)
    assert page.all(".network-view .packet")
    assert "paused" in page.one("#clock output").text
    page.button("Slow motion").click()
    page.until(lambda: not page.all('.motion button[aria-pressed="true"]'), "its end")
    assert page.complaints() == []
    assert running.end() == 0


def test_packets_are_listed_decoded_and_downloaded(lab, browser):
    """By keyboard: the list, a packet's headers, the file; a wrong filter is said."""
    running, page = begin(lab, browser, "h1", "ping -i 0.2 10.0.0.3")
    page.one("#tab-packets").click()
    page.one("#packets-filter").send_keys("icmp prt")
    page.button("Start", ".packet-controls").click()
    page.until(lambda: "is no word of a filter" in page.one(".packet-view").text, "what is wrong with the filter")
    assert len(page.complaints()) == (page.kind == "chromium")  # the answer 400 itself, which Firefox leaves out
    page.one("#packets-filter").clear()
    page.one("#packets-filter").send_keys("icmp")
    page.button("Start", ".packet-controls").click()
    page.until(lambda: len(page.all("table.packets tbody tr")) > 8, "packets")
    page.button("Stop", ".packet-controls").click()
    page.until(lambda: "no capture is running" in page.one(".packet-view").text, "the end of the capture")
    page.driver.execute_script("document.querySelector('table.packets tbody tr[tabindex=\"0\"]').focus()")
    page.keys(Keys.HOME)
    page.keys(Keys.DOWN)
    page.keys(Keys.ENTER)
    page.until(lambda: "Identifier" in page.one(".packet-view .packet-detail").text, "headers")
    assert page.one('table.packets tr[aria-selected="true"]').get_attribute("data-number") == "2"
    file = page.driver.execute_script(
        "return fetch(arguments[0]).then((a) => a.arrayBuffer()).then((b) => Array.from(new Uint8Array(b)))",
        page.one("a[download]").get_attribute("href"),
    )
    kinds = [kind for kind, _ in pcapng.BlockReader().feed(bytes(file))]
    assert kinds[0] == pcapng.SECTION
    assert kinds.count(pcapng.PACKET) > 8
    assert page.complaints() == []
    assert running.end() == 0


def test_a_capture_that_runs_does_not_say_how_many_packets_it_had_at_first(lab, browser):
    """Regression: it said "0 packets kept" above a list of hundreds, and to a screen reader nothing else."""
    _, page = begin(lab, browser, "h1", "ping -i 0.2 10.0.0.3")
    page.button("Packets").click()
    status = "#picture-packets [role=status]"
    page.until(lambda: page.one(status).text == "no capture is running; 0 packets kept", "that nothing is captured yet")
    page.button("Start", "#picture-packets").click()
    page.until(lambda: page.all("#picture-packets tr[data-number]"), "a packet")
    assert page.one(status).text.startswith("capturing ") and "kept" not in page.one(status).text
    page.button("Stop", "#picture-packets").click()
    page.until(lambda: "no capture is running; " in page.one(status).text, "that it has stopped")
    assert int(page.one(status).text.split()[4]) > 0
