# SPDX-License-Identifier: BSD-3-Clause
"""Pages that axe-core finds nothing wrong with, by WCAG 2.1 AA: the lab page in its states, manuals, and reports."""

import pytest
from browsing import Browser, needs_axe, needs_browser

from linklab.cli import main
from linklab.exercise.handout import handout_html
from linklab.exercise.instance import practice_instance
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.lab.model import lab_folders

pytestmark = [*needs_browser, needs_axe]
NARROW = (512, 350)
"""A small laptop's screen at 200 %."""


def resized(page, width, height):
    """The page in another size."""
    facts = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", facts)


def coloured(page, scheme):
    """The page as for a person who prefers light or dark."""
    wish = {"name": "prefers-color-scheme", "value": scheme}
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [wish]})


def test_axe_finds_what_is_wrong(browser, tmp_path):
    """A picture without words, and grey letters on grey: without this, the other tests could say nothing."""
    grey = '<p style="color: #999; background: #888">Who can read this?</p>'
    wrong = f'<!DOCTYPE html><html lang="en"><title>Wrong</title><main><img src="a.png">{grey}</main></html>'
    (tmp_path / "wrong.html").write_text(wrong)
    page = browser()
    page.driver.get((tmp_path / "wrong.html").as_uri())
    assert [each.partition(":")[0] for each in page.violations()] == ["color-contrast", "image-alt"]


def test_the_page_of_a_lab_in_all_its_states(lab, browser):
    """At first, with a terminal, with each tab, with a list open, in light and dark, wide and at 200 %; the report."""
    running, page = lab("14", "--name", "Ada Lovelace"), browser()
    page.open(running.address)
    running.wait_for("The network runs")
    found = {"at first": page.violations()}
    page.button("New terminal").click()
    page.until(lambda: "root@client" in page.screen(), "the prompt")
    for tab in ("Plots", "Packets", "Topology"):
        page.button(tab).click()
        page.until(lambda tab=tab: page.button(tab).get_attribute("aria-selected") == "true", f"the tab {tab}")
        for scheme in ("light", "dark"):
            coloured(page, scheme)
            found[f"{tab}, {scheme}"] = page.violations()
    page.button("Keys").click()
    found["keys"] = page.violations()
    page.button("Close", "dialog").click()
    for name in page.all(".parts button"):
        resized(page, *NARROW)
        found[f"narrow, {name.text}"] = page.violations()
        name.click()
    resized(page, 1024, 700)
    page.driver.get(page.one('a[href$="report"]').get_attribute("href"))
    page.until(lambda: "Ada Lovelace" in page.one("body").text, "the report")
    found["report"] = page.violations()
    assert {where: what for where, what in found.items() if what} == {}


@pytest.fixture(scope="module")
def reading():
    """A browser for documents."""
    page = Browser(1280, 800)
    yield page
    page.close()


def violations_of(reading, path):
    """What axe-core finds wrong with a file, in light and dark, wide and at 200 %."""
    found = []
    for scheme, width in (("light", 1280), ("dark", NARROW[0])):
        coloured(reading, scheme)
        resized(reading, width, 800)
        reading.driver.get(path.as_uri())
        found += [f"{scheme}, {width}: {each}" for each in reading.violations()]
    return found


@pytest.mark.parametrize("folder", lab_folders(), ids=lambda folder: folder.name[:2])
def test_the_manual_of_a_lab(folder, tmp_path, reading):
    """As `linklab manual` writes it."""
    path = tmp_path / "manual.html"
    assert main(["manual", folder.name[:2], "--out", str(path)]) == 0
    assert violations_of(reading, path) == []


@pytest.mark.parametrize("folder", exercise_folders(), ids=lambda folder: folder.name)
def test_the_handout_of_an_exercise(folder, tmp_path, reading):
    """As `linklab exercise handout` writes it."""
    path, exercise = tmp_path / "handout.html", load_exercise(folder)
    path.write_text(handout_html(exercise, practice_instance(exercise)), encoding="utf-8")
    assert violations_of(reading, path) == []
