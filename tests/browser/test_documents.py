# SPDX-License-Identifier: BSD-3-Clause
"""Manuals, handouts, reports, and a class's pages without violations of WCAG 2.1 AA that axe-core finds."""

import shutil
import sys
from functools import partial
from pathlib import Path

import pytest
from browsing import ROOT, Browser, needs_axe, needs_browser

from linklab.classroom.roster import ClassRoster
from linklab.cli import main
from linklab.documents import handbook
from linklab.exercise.handout import handout_html
from linklab.exercise.instance import practice_instance
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.grade.cohort import Entry
from linklab.grade.findings import findings
from linklab.grade.handed_in import Skipped
from linklab.grade.html import draw, report_page
from linklab.grade.overview import overview_page
from linklab.lab.model import lab_folders, load_card
from linklab.manual.templates import templates
from linklab.netesto.results import process, write_csv
from linklab.netesto.table.make import table

sys.path.insert(0, str(ROOT / "tests/unit"))
import graded
import netesto_folders

pytestmark = [*needs_browser, needs_axe, pytest.mark.long]
SIZES = (("light", 1280), ("dark", 512))
"""A wide window, and a small laptop's screen at 200 %."""
NARROWEST = 320
"""CSS pixels at which a page must not scroll sideways (WCAG 2.1, 1.4.10)."""
TABLE = """File=runs/exp
newCol=fairness=rateMax/rateMin
source=plotFlowsRetransFairness.exp,\\
 subTitle1=3->1 hosts,\\
 subTitle2=10 ms
"""


@pytest.fixture(scope="module")
def reading():
    """A browser for documents."""
    page = Browser(1280, 800)
    yield page
    page.close()


def violations_of(reading, path):
    """What axe-core finds wrong with a file, light and wide, dark and at 200 %, and whether it is too wide at 400 %."""
    found = []
    for scheme, width in SIZES:
        reading.prefer(scheme)
        reading.resize(width, 800)
        reading.driver.get(path.as_uri())
        found += [f"{scheme}, {width}: {each}" for each in reading.violations()]
    reading.resize(NARROWEST, 800)
    if reading.beyond() > 0:
        found.append(f"{reading.beyond()} pixels wider than a window of {NARROWEST}")
    return found


@pytest.mark.parametrize("folder", lab_folders(), ids=lambda folder: folder.name[:2])
def test_the_manual_of_a_lab(folder, tmp_path, reading):
    """As `linklab manual` writes it."""
    path = tmp_path / "manual.html"
    assert main(["manual", folder.name[:2], "--out", str(path)]) == 0
    assert violations_of(reading, path) == []


STOPS = """
return [...document.querySelectorAll("main table, main pre")].map((one) =>
  [one.scrollWidth > one.clientWidth, one.tabIndex === 0, one.ariaLabel || one.caption?.textContent || ""]);
"""
"""Of each table and listing: whether it scrolls, whether Tab stops there, and its name."""


def test_tab_stops_at_a_table_only_where_it_scrolls_and_each_has_a_name(tmp_path, reading):
    """Regression: each table and listing was a stop, without a name, and what was typed there was lost."""
    path = tmp_path / "manual.html"
    assert main(["manual", "16", "--out", str(path)]) == 0
    stops = []
    for width in (1280, NARROWEST):
        reading.resize(width, 800)
        reading.driver.get(path.as_uri())
        ask = partial(reading.driver.execute_script, STOPS)
        reading.until(lambda ask=ask: all(scrolls == stop for scrolls, stop, _ in ask()), "stops where it scrolls", 5)
        found = ask()
        assert "" not in {name for _, _, name in found}
        stops.append(sum(stop for _, stop, _ in found))
    assert stops[0] < stops[1] < len(found)


@pytest.mark.parametrize("folder", exercise_folders(), ids=lambda folder: folder.name)
def test_the_handout_of_an_exercise(folder, tmp_path, reading):
    """As `linklab exercise handout` writes it."""
    path, exercise = tmp_path / "handout.html", load_exercise(folder)
    path.write_text(handout_html(exercise, practice_instance(exercise)), encoding="utf-8")
    assert violations_of(reading, path) == []


def test_what_messages_mean(tmp_path, reading):
    """The page to which manuals link."""
    path = tmp_path / "messages.html"
    path.write_text(handbook.messages_html(), encoding="utf-8")
    assert violations_of(reading, path) == []


def test_the_report_of_a_run(tmp_path, reading):
    """Of a lab with long names, many steps, and plots."""
    assert main(["run", "3", "--out", str(tmp_path / "run")]) == 0
    assert violations_of(reading, tmp_path / "run/report.html") == []


def test_the_pages_of_a_graded_class(tmp_path, reading):
    """The student's and the instructor's page of a report with every outcome in it; one not gradable; the overview."""
    report, other = graded.report(), graded.report("s2", "Grace Hopper")
    entries = [Entry("a", "a.zip", report), Entry("b", "b.zip", other), Entry("c", "c.zip", graded.ungradable())]
    pages = {
        "student": report_page(report, draw(report)),
        "instructor": report_page(report, draw(report), instructor=True),
        "ungradable": report_page(graded.ungradable(), {}),
        "overview": overview_page(entries, findings(entries), [Skipped("notes.txt", "not a .zip")]),
    }
    found = {}
    for name, text in pages.items():
        path = tmp_path / f"{name}.html"
        path.write_text(text, encoding="utf-8")
        found[name] = violations_of(reading, path)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_the_pages_of_a_campaign(tmp_path, reading):
    """An experiment, the list of all, and the page of a table script."""
    folder = netesto_folders.stream_experiment(tmp_path)
    process(folder, tmp_path)
    write_csv(tmp_path)
    assert violations_of(reading, folder / "exp.html") == []
    assert violations_of(reading, tmp_path / "ExpList.html") == []

    (tmp_path / "runs").mkdir()
    shutil.copy(ROOT / "tests/captures/netesto/figure-8.csv", tmp_path / "runs/exp.csv")
    (tmp_path / "t.exp").write_text(TABLE, encoding="utf-8")
    (page,) = table(tmp_path / "t.exp", tmp_path / "t.html")
    assert violations_of(reading, page) == []


def test_the_pages_of_a_class_server(tmp_path, reading):
    """The instructor's table, the list of labs, and the question before another lab is opened."""
    roster, now = ClassRoster(), {"number": 14, "heading": "Lab 14: Router's bufferbloat", "ended": ""}
    where = {"lab": 14, "heading": now["heading"], "step": "Delay what leaves by s1-eth2", "done": 3, "steps": 47}
    roster.take("ada", {**where, "wrong": 4, "here_s": 900}, 0)
    roster.take("grace", {**where, "wrong": 0, "here_s": 1}, 0)
    labs, said = [load_card(folder) for folder in lab_folders()], {"base": "/user/ada/", "hub": "/hub/", "owner": "ada"}
    found = {}
    for name, more in (
        ("class", {"rows": roster.rows(60)}),
        ("labs", {"labs": labs, "now": now}),
        ("change", {"lab": labs[7], "now": now}),
    ):
        path = tmp_path / f"{name}.html"
        page = templates(Path(ROOT / "linklab/classroom")).get_template(f"{name}.html.j2")
        path.write_text(page.render(**said, **more), encoding="utf-8")
        found[name] = violations_of(reading, path)
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
