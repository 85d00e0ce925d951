# SPDX-License-Identifier: BSD-3-Clause
"""The page of a lab, in all its states, without violations of WCAG 2.1 AA that axe-core finds."""

import pytest
from browsing import needs_axe, needs_browser
from lab_student import DONE, WRONG, LabStudent

from linklab.cli import main

pytestmark = [*needs_browser, needs_axe, pytest.mark.long]
NARROW = (512, 350)
"""A small laptop's screen, 1024 x 700, at 200 %."""
HOME, DOWN, ENTER = "\ue011", "\ue015", "\ue007"
DELAY = "tc qdisc {} dev s1-eth2 root handle 1: netem delay {}"


class Looks:
    """What axe-core has found wrong so far, by what the page showed."""

    def __init__(self, page):
        self.page, self.found = page, {}

    def at(self, state):
        """Look at the page as it is, in light and in dark; nothing may be wider than the window."""
        for scheme in ("light", "dark"):
            self.page.prefer(scheme)
            wrong = self.page.violations()
            if self.page.beyond() > 0:
                wrong.append(f"{self.page.beyond()} pixels wider than the window")
            if wrong:
                self.found[f"{state}, {scheme}"] = wrong


def shows(page, tab):
    """Bring a tab of the lower part to the front."""
    page.button(tab).click()
    page.until(lambda: page.button(tab).get_attribute("aria-selected") == "true", f"the tab {tab}")


def test_axe_finds_what_is_wrong(browser, tmp_path):
    """A picture without words, and grey letters on grey: without this, the other tests could say nothing."""
    grey = '<p style="color: #999; background: #888">Who can read this?</p>'
    wrong = f'<!DOCTYPE html><html lang="en"><title>Wrong</title><main><img src="a.png">{grey}</main></html>'
    (tmp_path / "wrong.html").write_text(wrong)
    page = browser()
    page.driver.get((tmp_path / "wrong.html").as_uri())
    assert [each.partition(":")[0] for each in page.violations()] == ["color-contrast", "image-alt"]


def test_the_page_of_a_lab_as_it_begins(lab, browser):
    """Empty, with a terminal, with each tab and with the list of keys, and each part alone at 200 %."""
    running, page = lab("14"), browser()
    looks = Looks(page)
    page.open(running.address)
    running.wait_for("The network runs")
    looks.at("at first")
    page.button("New terminal").click()
    page.until(lambda: "root@h1" in page.screen(), "the prompt")
    for tab in ("Plots", "Packets", "Topology"):
        shows(page, tab)
        looks.at(tab)
    page.button("Keys").click()
    looks.at("keys")
    page.resize(*NARROW)
    looks.at("keys, narrow")
    page.button("Close", "dialog").click()
    for name in page.all(".parts button"):
        name.click()
        looks.at(f"narrow, {name.text}")
    assert looks.found == {}


def test_the_guide_of_a_lab_up_to_its_report(lab, browser, monkeypatch):
    """A step that is wrong, with a hint; a settled prediction; the end; the report; where it goes on."""
    ada = LabStudent(lab("14", "--name", "Ada Lovelace", "--speed", "10"), browser())
    page, looks = ada.page, Looks(ada.page)
    ada.writes("#prediction-one-round-trip-number", "40")
    ada.writes("#prediction-one-round-trip-unit", "ms")
    ada.writes("#prediction-one-round-trip-why", "there and back")
    page.button("Keep my prediction", "#predict-one-round-trip").click()
    page.until(lambda: "is kept" in page.one("#predict-one-round-trip").text, "that it is kept")
    ada.types("h1", "ping -c 4 10.0.0.3")
    ada.sees("ping-unshaped", DONE)
    ada.types("client", DELAY.format("add", "200ms"))
    ada.sees("delay", WRONG)
    ada.is_helped("delay")
    looks.at("not right yet, with a hint")
    ada.types("client", DELAY.format("replace", "20ms"))
    ada.sees("delay", DONE)
    ada.types("h1", "ping -c 4 10.0.0.3")
    page.until(lambda: page.all("#predict-one-round-trip .compared:not([hidden])"), "prediction and measurement")
    looks.at("a settled prediction")
    page.resize(*NARROW)
    looks.at("a settled prediction, narrow")
    page.resize(1024, 700)
    assert ada.running.end() == 0
    page.until(lambda: "The network has ended" in page.one("#notice").text, "that the network has ended")
    looks.at("ended")

    monkeypatch.chdir(ada.running.folder)
    assert main(["lab", "14", "--name", "Ada Lovelace", "--report", "report.html"]) == 0
    page.driver.get((ada.running.folder / "report.html").as_uri())
    assert "there and back" in page.one("main").text
    looks.at("the report in a file")
    page.open(lab("14", "--continue").address)
    page.until(lambda: page.all("#continued li"), "what was made again, and what was not")
    looks.at("continued")
    page.driver.get(page.one('a[href$="report"]').get_attribute("href"))
    page.until(lambda: "there and back" in page.one("main").text, "the report")
    page.until(lambda: not page.all("table[tabindex]"), "that its script runs: nothing scrolls, so Tab stops nowhere")
    looks.at("the report")
    assert looks.found == {}


def test_packets_slow_motion_and_plots(lab, browser):
    """What the network shows of a ping; each part alone at 200 %; paused."""
    ada = LabStudent(lab("14"), browser())
    page, looks = ada.page, Looks(ada.page)
    shows(page, "Packets")
    page.button("Start", ".packet-controls").click()
    ada.types("h1", "ping -i 0.2 10.0.0.3", ends=False)
    page.until(lambda: len(page.all("table.packets tbody tr")) > 8, "packets")
    page.button("Stop", ".packet-controls").click()
    page.until(lambda: "no capture is running" in page.one(".packet-view").text, "the end of the capture")
    page.one('table.packets tbody tr[tabindex="0"]').send_keys(HOME, DOWN, ENTER)
    page.until(lambda: page.one(".packet-view .packet-detail").text, "headers")
    looks.at("packets and headers")
    shows(page, "Topology")
    page.button("Slow motion").click()
    page.until(lambda: page.all('.motion button[aria-pressed="true"]'), "slow motion")
    page.button("Next packet").click()
    page.until(lambda: page.all(".network-view .packet") and page.one(".network-view .packet-detail").text, "a packet")
    looks.at("slow motion, paused")
    page.button("Slow motion").click()
    page.button("Resume", "#clock").click()
    shows(page, "Plots")
    page.until(lambda: page.all("#picture-plots figure"), "plots")
    for each in page.all(".plots figure summary"):
        page.driver.execute_script("arguments[0].click()", each)
    looks.at("plots and their tables")
    page.resize(*NARROW)
    for tab in ("Plots", "Packets", "Topology"):
        page.button("Network", ".parts").click()
        shows(page, tab)
        looks.at(f"{tab}, narrow")
    assert looks.found == {}
