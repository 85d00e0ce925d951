# SPDX-License-Identifier: BSD-3-Clause
"""Steps that nobody follows, since they are done in the editor: what of a lab is counted, and what its page says."""

from dataclasses import replace
from pathlib import Path

import pytest
from labpages import served
from test_guide import DIFFERENTLY, OPEN, Student

from linklab.guide.evidence import EditorEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.listing import summary
from linklab.guide.recorded import RecordedWork
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.manual.model import EditorActions
from linklab.page.reporting import report_of, work_of
from linklab.page.step_facts import facts_of_steps

ROOT = Path(__file__).resolve().parents[2]


def done_in_terminals(number):
    """The guide of somebody who has done what a page can: no verb of an editor but those that begin the network."""
    lab = load_lab(find_lab(number, ROOT))
    guide = Guide(lab)
    reference = load_reference(lab)
    assert reference is not None
    if number != "1":
        guide.see_all([EditorEvidence(("open", lab.topology.name)), EditorEvidence(("run",))])
    for step, evidence in RecordedWork(guide.plan, reference.recorded).of(lab.manual.steps):
        if not isinstance(step.action, EditorActions) and (number != "1" or step.terminal == "client"):
            guide.see_all(evidence)
    return guide


@pytest.mark.parametrize("number", ["3", "8", "14", "18"])
def test_a_lab_done_in_its_terminals_is_done(number):
    """Regression: the last step, which stops the network in the editor, was open for ever."""
    guide = done_in_terminals(number)
    assert guide.next_step() is None
    states = guide.steps()
    assert [one.id for one in states if one.counts and not one.status.good] == []
    assert [(one.typed, one.left_out) for one in states if not one.counts and not one.optional] == [("stop", False)]


def test_of_lab_1_what_is_done_on_its_page_is_counted():
    """Regression: twenty steps for the editor, and for the network drawn there, kept it at 8 of 28."""
    guide = done_in_terminals("1")
    assert guide.next_step() is None
    assert summary("Lab 1", [one.as_json() for one in guide.steps()]) == "Lab 1: 8 of 8 steps done"
    assert not any(one.left_out for one in guide.steps())


def test_an_editor_that_tells_what_is_done_in_it_is_followed():
    """One verb beyond those that begin a network shows that the others would be told, too."""
    guide = done_in_terminals("1")
    guide.see(EditorEvidence(("new",)))
    assert guide.next_step().id == "step-9"


def test_the_report_counts_what_is_followed(tmp_path):
    """It says that the other steps are not."""
    guide = done_in_terminals("1")
    html = report_of(guide.lab, tmp_path, work_of(guide.lab, guide, {}))
    assert "8 of 8 steps done" in html
    assert "Steps that are done in the editor are not followed, and not counted." in html
    assert html.count(">not followed<") == 20


def test_the_page_says_what_to_do_about_a_step_that_it_does_otherwise_or_not_at_all():
    """Drawing, a host of a drawn network, start and end of the network, and terminals that are opened and closed."""
    facts = {one["id"]: one for one in facts_of_steps(load_lab(find_lab("1", ROOT)).manual)}
    assert "linklab edit" in facts["step-9"]["note"]
    assert facts["hand-h2"]["note"].startswith("h2 belongs to the network that you draw.")
    assert (facts["mn"]["note"], facts["mn"]["in_editor"]) == ("", False)
    others = [facts_of_steps(load_lab(find_lab(number, ROOT)).manual) for number in ("14", "10")]
    assert [(one["note"], one["in_editor"]) for one in others[0] if one["note"]] == [
        ("This page has started the network already.", False),
        ("On this page, the button below opens what is named here, without the editor.", False),
        ("On this page the network runs until you end the lab. What you did is kept.", False),
    ]
    assert "On this page, close the terminal with its button Close." in [one["note"] for one in others[1]]


def test_a_page_without_a_drawn_network_has_the_client_alone(tmp_path):
    """Regression: "h1: no such node here; there are client, mininet, ", of a page that has no Mininet CLI."""
    with served(tmp_path) as page:
        page.context.topology = None
        page.network.nodes.clear()
        status, _, text = page.own("POST", "terminals", {"name": "h1", "rows": 24, "columns": 80})
    assert (status, text) == (400, '{"error": "h1: the network of this page has no such node; it has client"}')


@pytest.mark.parametrize("typed", ["quit", None])
def test_mininets_command_line_may_be_left_by_another_word_or_by_a_key(typed):
    """Regression: `quit` and Ctrl+D left it just as well, and the step that types `exit` was left out."""
    student = Student("1")
    student.until("mn")
    begun = TypedEvidence("client", "sudo mn", 1.0)
    student.guide.see(begun)
    student.does(*(step.id for step in student.lab.manual.steps[1:6]))
    if typed:
        student.types("client", typed)
    student.guide.see(replace(begun, end_s=90.0, status=0))
    assert student.status("exit") is DIFFERENTLY
    assert student.guide.next_step().id == "clean"


@pytest.mark.parametrize("text", ["sudo mn", "sudo mn -c && sudo mn"])
def test_mininets_command_line_that_is_begun_again_may_be_left_by_a_key(text):
    """Regression: of a network that was started a second time it was not seen."""
    student = Student("1")
    student.until("mn")
    first, second = TypedEvidence("client", "sudo mn", 1.0), TypedEvidence("client", text, 10.0)
    for seen in (first, replace(first, end_s=2.0, status=1), second):
        student.guide.see(seen)
    assert student.status("exit") is OPEN
    student.guide.see(replace(second, end_s=90.0, status=0))
    assert student.status("exit") is DIFFERENTLY
