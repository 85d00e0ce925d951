# SPDX-License-Identifier: BSD-3-Clause
"""What a screen reader is told of the network's part of a lab's page, and of the way there and to the report."""

import re
import time

import pytest
from browsing import needs_browser

Keys = pytest.importorskip("selenium.webdriver.common.keys", reason="selenium is not installed (make setup)").Keys
pytestmark = needs_browser
STARTED = "2, step 1: Open the topology and start it: done."
"""Told when the guide has learnt of the network's start, which may take until the page is open."""
PINGS = "ping -c 100 -i 0.2 10.0.0.2"
CHANGES = """
window.changes = [];
new MutationObserver((all) => window.changes.push(...all.map(({ attributeName }) => attributeName)))
  .observe(document.activeElement, { attributes: true });
"""
"""Notes which attributes of what has the focus change."""
VALUE = "return document.activeElement.getAttribute('aria-valuetext')"


@pytest.fixture
def told(reader):
    """Lab 3, with a ping that runs on h1."""
    one = reader("3")
    one.page.button("New terminal").click()
    one.types(PINGS)
    one.page.until(lambda: "bytes from" in one.page.screen(), "that it runs")
    return one


def replies(page):
    """How many replies the ping on h1 has had."""
    return max(map(int, re.findall(r"icmp_seq=(\d+)", page.screen())))


def tabs_to(told, role, name):
    """Press Tab until this has the focus."""
    for _ in range(40):
        told.page.keys(Keys.TAB)
        told.page.until(lambda: told.focus()[0], "what has the focus", 10)
        if told.focus()[0] == role and re.fullmatch(name, told.focus()[1]):
            return
    raise AssertionError(f"Tab does not come to the {role} {name}, but at last to {told.focus()}")


def test_f6_goes_to_parts_that_are_called_as_in_the_manual(reader):
    """Regression: the button was called Network, the part "What happens in the network", and was told twice."""
    told = reader("3")
    for part in (("main", "Manual"), ("region", "Terminals"), ("region", "Network"), ("main", "Manual")):
        told.page.keys(Keys.F6)
        told.page.until(lambda part=part: told.focus()[:2] == part, f"the focus on {part}", 10)
    assert [each for each in told.said() if each != STARTED] == []
    assert "Report (opens in a new tab)" in told.names("link")


def test_a_plot_tells_its_values_by_keys_alone(told):
    """Regression: its name was another ten times a second, and Home, End, and what Follow did were not told."""
    page = told.page
    page.button("Plots").click()
    page.until(lambda: page.all("#picture-plots figure"), "a plot")
    last = replies(page)
    page.until(lambda: replies(page) >= min(last + 15, 100), "three seconds of it, or its end")
    tabs_to(told, "slider", "Round-trip time")  # one line; of the rates, some begin later than the plot
    name = told.focus()[1]
    assert told.focus()[2].startswith("Arrow keys, Page Up, Page Down, Home, and End read the values of other moments")
    page.driver.execute_script(CHANGES)
    time.sleep(1)
    assert page.driver.execute_script("return window.changes") == []
    told.said()
    page.keys(Keys.LEFT)
    told.hears("The plots stand still at ")
    assert page.one("#picture-plots .bar button").get_attribute("aria-pressed") == "false"
    assert page.one("#picture-plots .bar button").text == "Follow"
    values = [page.driver.execute_script(VALUE)]
    for key in (Keys.LEFT, Keys.HOME, Keys.END, Keys.PAGE_DOWN):
        page.keys(key)
        values.append(page.driver.execute_script(VALUE))
    found = [re.fullmatch(r"At ([\d.]+) s: ping h1 → h2 [\d.]+ (µs|ms)", value) for value in values]
    assert all(found), values
    moments = [float(each[1]) for each in found]
    first, second, home, end, tenth = moments
    assert home < tenth < second < first <= end
    assert told.focus()[1] == name
    assert told.said() == []


def test_a_packet_is_told_with_what_its_columns_mean(told):
    """Regression: Tab came to the eighth packet first, and a row was nine values without a word."""
    page = told.page
    page.button("Packets").click()
    page.button("Start", "#picture-packets").click()
    page.until(lambda: len(page.all("#picture-packets tbody tr")) >= 8, "eight packets")
    tabs_to(told, "row", "Packet .*")
    number = r"Packet 1 at \d+\.\d{9} s, \w+:\S+ (in|out), ICMP from 10\.0\.0\.\d to 10\.0\.0\.\d, 98 bytes: echo .*"
    assert re.fullmatch(number, told.focus()[1]), told.focus()[1]
    page.keys(Keys.DOWN)
    page.until(lambda: told.focus()[1].startswith("Packet 2 at "), "the second packet", 10)
