# SPDX-License-Identifier: BSD-3-Clause
"""A page that is left alone: for an hour of network time, with a ping a second and plots, or with nothing at all."""

import re
import time
from pathlib import Path

import pytest
from browsing import needs_browser, needs_chromium
from lab_student import DONE, LabStudent

pytestmark = [*needs_browser, needs_chromium, pytest.mark.long]
HOUR_S = 3600
WALL_S = 290
"""The page gives fast-forward 300 s; on a machine with nothing else to do the hour takes some 30 s."""
MOST_SERVER_MB, MOST_HEAP_MB = 40, 25
"""What an hour may add: an hour of pings is 0.3 MB, kept by a terminal, the guide, and the plots."""


@pytest.fixture
def student(lab, browser):
    """Begins a lab on its page."""

    def begin(number: str) -> LabStudent:
        return LabStudent(lab(number), browser(1280, 800))

    return begin


def resident_mb(pid):
    """Resident memory of a process (proc(5), VmRSS)."""
    return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())[1]) * 1024 / 1e6


def heap_mb(page):
    """JavaScript's heap of the page after its garbage was collected."""
    page.driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
    return page.driver.execute_cdp_cmd("Runtime.getHeapUsage", {})["usedSize"] / 1e6


def seconds(page):
    """Where the clock in the page's head is."""
    return float(page.one("#clock output").text.split(" ")[0])


def test_after_an_hour_everything_goes_on(student):
    """Terminals, clock, plots, and guide work as before, and neither the server nor the page has grown."""
    ada = student("14")
    page, server = ada.page, ada.running.process.pid
    ada.types("client", "sudo tc qdisc add dev s1-eth2 root handle 1: netem delay 20ms")
    ada.sees("delay", DONE)
    page.one("#tab-plots").click()
    ada.types("h1", "ping 10.0.0.3", ends=False)
    page.until(lambda: "icmp_seq=3" in ada.screen(), "replies")
    page.until(lambda: page.all("#picture-plots figure"), "plots")
    ada.goes_to("client")
    before_mb, before_heap_mb, begun_s = resident_mb(server), heap_mb(page), seconds(page)

    ada.types("client", f"sleep {HOUR_S}; echo over-$((20 + 2))", ends=False)
    page.until(lambda: f"sleep{HOUR_S}" in re.sub(r"\s", "", ada.screen()), "the command")
    page.button("Fast-forward", "#clock").click()
    page.until(lambda: "over-22" in ada.screen(), "the end of the hour", WALL_S)
    page.until(lambda: seconds(page) - begun_s >= HOUR_S, "an hour on the page's clock")
    page.until(lambda: page.one("#clock select").get_attribute("value") == "1", "the speed as before")
    assert resident_mb(server) - before_mb < MOST_SERVER_MB
    assert heap_mb(page) - before_heap_mb < MOST_HEAP_MB

    tab = next(one for one in page.all('#terminals [role="tab"]') if one.text == "h1")
    tab.click()
    page.until(lambda: re.search(r"icmp_seq=36\d\d", ada.screen()), "pings of the second hour")
    page.button("Ctrl+C", "#block-ping-h1").click()
    page.until(lambda: "packets transmitted" in ada.screen(), "the statistics of ping")
    ada.sees("ping-h1", DONE)
    assert page.all("#picture-plots figure")
    assert page.complaints() == []
    page.driver.refresh()
    page.until(
        lambda: "packets transmitted" in ada.screen() or "over-22" in ada.screen(), "the terminals, loaded again"
    )
    ada.types("client", "echo still-$((40 + 2))")
    assert "still-42" in ada.screen()


QUIET_S = 5
LISTEN = """
window.told = 0;
new WebSocket(new URL("topology", location.href).href.replace("http", "ws")).onmessage = () => (window.told += 1);
"""
"""Counts what the network's picture is told, as its own socket hears it."""


def layouts(page):
    """How often the page was laid out so far (Chrome DevTools Protocol, Performance.getMetrics)."""
    found = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(one["value"] for one in found if one["name"] == "LayoutCount")


def test_an_idle_page_is_hardly_drawn(student):
    """Regression: a clock that was drawn six times a second and an unseen caret took 6.5 % of a processor."""
    page = student("14").page
    page.button("New terminal").click()
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    page.driver.execute_cdp_cmd("Performance.enable", {})
    page.driver.execute_script(LISTEN)

    def counted():
        before = layouts(page), page.driver.execute_script("return window.told")
        time.sleep(QUIET_S)
        return layouts(page) - before[0], page.driver.execute_script("return window.told") - before[1]

    # new interfaces send a few packets by themselves, which the picture shows
    drawn, _ = page.until(lambda: (found := counted())[1] == 0 and found, "no more readings of a still network")
    assert 3 <= drawn <= QUIET_S + 2, "the clock, once a second"
    blinks = "return getComputedStyle(document.activeElement).caretAnimation"
    assert "xterm-helper-textarea" in page.focused()
    assert page.driver.execute_script(blinks) == "manual"
