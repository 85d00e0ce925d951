# SPDX-License-Identifier: BSD-3-Clause
"""Predictions and subgoals: how a manual asks, what its pages show of it, and what `labs --check` says is wrong."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from linklab.documents.handbook import chapter, manual_html
from linklab.errors import ManualError
from linklab.lab import teaching
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import replayed
from linklab.lab.teaching import teaching_problems
from linklab.manual.chapter import Chapter, Recorded
from linklab.manual.html import render_body, render_manual
from linklab.manual.parse import parse_manual
from linklab.manual.predict import parse_answers
from linklab.manual.set_env import set_env_script

ASKED = (
    "```predict id=rtt settled=ping asks=time\nHow long is the **RTT**, after {{before.ping.rtt.mean as ms .0}}?\n```\n"
)
MANUAL = f"## A\nStep. Once.\n```h1 id=before\nping\n```\n{ASKED}Step. Again.\n```h1 id=ping\nping\n```\n"
ANSWERS = (
    "# Answers\n\n1. Yes.\n\n### The RTT {#predict-rtt}\n\n"
    "40 ms, measured {{ping.ping.rtt.mean as ms .1}}.\n\n## More\nx\n"
)
SCALARS = {"before": {"ping.rtt.mean": (0.02, "s")}, "ping": {"ping.rtt.mean": (0.0401, "s")}}


def parse(text):
    """The manual of that text."""
    return parse_manual(text, Path("labs/x/manual.md"))


def wrong(text):
    """What is said about a broken manual."""
    with pytest.raises(ManualError) as caught:
        parse(text)
    return str(caught.value)


@pytest.fixture
def written(tmp_path):
    """Makes a chapter of a manual with answers that lie in a file, as a lab's do."""

    def write(text=MANUAL, answers=ANSWERS):
        path = tmp_path / "answers.md"
        path.write_text(answers, encoding="utf-8")
        return Chapter(
            parse(text), "Lab 1: T", recorded=Recorded(scalars=SCALARS), answers=parse_answers(answers, path)
        )

    return write


class Reader(HTMLParser):
    """The words of a page in order, those that it shows only when asked marked, and its ids and labels."""

    def __init__(self, page):
        super().__init__()
        self.words, self.hidden, self.ids, self.named, self.inside = [], [], [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        """An element begins; those without an end are not entered."""
        found = dict(attrs)
        self.ids += [found["id"]] if "id" in found else []
        self.named += [found[name] for name in ("for", "aria-labelledby") if name in found]
        if tag not in {"meta", "link", "img", "br", "hr"}:
            self.inside.append(tag)

    def handle_endtag(self, tag):
        """An element ends."""
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        """Text; scripts and styles are not read."""
        if {"script", "style"} & set(self.inside):
            return
        where = self.hidden if "details" in self.inside and "summary" not in self.inside else self.words
        where.append(data)


def test_a_prediction_is_read_and_is_no_step():
    """Its question is prose; nothing of it is replayed or set up."""
    manual = parse(MANUAL)
    (asked,) = manual.predictions
    assert (asked.id, asked.number, asked.line, asked.settled) == ("rtt", 1, 6, ("ping",))
    assert asked.text.startswith("How long is")
    assert [step.id for step in manual.steps] == ["before", "ping"]
    assert [(quote.step, quote.line) for quote in manual.quotes] == [("before", 7)]
    assert "How long" not in set_env_script(manual, "Lab 1")


def test_a_prediction_changes_nothing_of_a_replay():
    """References stay current when predictions and subgoals are added."""
    lab = load_lab(find_lab("5"))
    assert lab.manual.predictions and lab.manual.subgoals
    kept = re.sub(r"(?ms)^```predict.*?^```\n|^Subgoal\. .*?$", "", lab.manual.text)
    bare = replace(lab, manual=parse_manual(kept, lab.manual.path))
    assert not bare.manual.predictions and not bare.manual.subgoals
    assert replayed(bare) == replayed(lab)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```predict id=a\nb\n```\n", "x/manual.md:1: the block needs settled=…"),
        ("```predict id=a settled=b\nb\n```\n", "x/manual.md:1: the block needs asks=…"),
        (
            "```predict id=a settled=b asks=speed\nb\n```\n",
            'x/manual.md:1: asks: "speed" is no kind of answer; use rate, time, size, share, number or words',
        ),
        ("```predict settled=a\nb\n```\n", "x/manual.md:1: the block needs id=…"),
        ("```predict id=a settled=b for=4s\nb\n```\n", 'x/manual.md:1: unknown option "for"; I know asks, id, settled'),
        (
            "```predict id=a settled=b, asks=time\nb\n```\n",
            'x/manual.md:1: id and settled: "": use small letters, digits',
        ),
        (
            "```predict id=a settled=b asks=time\n\n```\n",
            "x/manual.md:1: the prediction asks nothing; write its question",
        ),
        (
            "```predict id=a settled=b asks=time\nx\n\nStep. Do.\n```\n",
            "x/manual.md:4: a question or an answer has no steps",
        ),
        (
            "````predict id=a settled=b asks=time\n```h1\nls\n```\n````\n",
            "x/manual.md:2: a question or an answer has no steps",
        ),
        ("```predict id=a settled=b asks=time\n{{a}}\n```\n", 'x/manual.md:2: "{{a}}": write {{STEP.METRIC}}'),
        (ASKED + ASKED, 'x/manual.md:4: the prediction id="rtt" is used already on line 1'),
        ("Subgoal. One.\nStep. Two.\n", "x/manual.md:1: a subgoal is one line; leave an empty line after it"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text, message):
    """Each mistake in a prediction or subgoal is an error with file and line."""
    assert message in wrong(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("## A {#predict-a}\nx\n## B {#predict-a}\ny\n", ':3: there is an answer to the prediction "a" already'),
        ("## A {#predict-a}\n\n## B\ny\n", ':1: the answer to the prediction "a" is empty'),
        ("## A {#predict-a}\n```h1\nls\n```\n", ":2: a question or an answer has no steps"),
    ],
)
def test_what_is_wrong_with_answers_is_said_with_its_line(text, message):
    """Answers are prose, one to each prediction."""
    with pytest.raises(ManualError, match=re.escape(message)):
        parse_answers(text, Path("answers.md"))


def test_the_answer_is_hidden_until_it_is_asked_for(written):
    """The page shows the question with its numbers, and the answer only inside a closed <details>."""
    page = render_manual(written())
    seen = Reader(page)
    shown, hidden = " ".join(seen.words), " ".join(seen.hidden)
    assert "How long is the" in shown and "20 ms" in shown
    assert "40.1 ms" not in shown and "40 ms, measured" in hidden and "40.1 ms" in hidden
    assert "More" not in hidden + shown
    assert "<details>" in page
    assert "<summary>Show the answer to prediction 1</summary>" in page


def test_every_part_of_the_form_has_a_name(written):
    """A screen reader announces the box and the field; both names are on the page."""
    seen = Reader(render_manual(written()))
    assert sorted(seen.named) == ["predict-rtt-label", "predict-rtt-words"]
    assert set(seen.named) <= set(seen.ids)


def test_what_is_written_is_kept_by_lab_and_prediction(written):
    """Two labs with a prediction of one name do not share what the reader wrote; other pages carry no script."""
    page = render_manual(written())
    assert 'data-keep="linklab/x/rtt"' in page and "localStorage" in page
    assert "<script>" not in render_manual(Chapter(parse("## A\nText.\n"), "Lab 1: T"))


def test_paper_has_lines_to_write_on_and_no_answer(written):
    """On paper nothing hides an answer, so there is none."""
    body = render_body(written(), paper=True)
    assert body.count('<p class="fill"></p>') == 2
    assert "40.1 ms" not in body and "<textarea" not in body and "<details" not in body


def test_the_step_that_settles_it_leads_back(written):
    """Below the last step that decides a prediction the reader is sent back to what was written."""
    body = render_body(written(MANUAL.replace("settled=ping", "settled=before,ping")))
    assert body.count('<a href="#predict-rtt">Prediction 1</a>') == 1
    assert body.index('id="block-ping"') < body.index('href="#predict-rtt"')


def test_what_runs_on_settles_where_it_ends(written):
    """The output of a server is shown where it is stopped, so that is where the reader compares."""
    text = f"## A\n{ASKED}```h2 id=ping background\niperf3 -s\n```\n```h2 id=end stop=ping\n```\n"
    body = render_body(written(text.replace("{{before.ping.rtt.mean as ms .0}}", "a while")))
    assert body.index('id="block-end"') < body.index('href="#predict-rtt"')
    assert body.count('href="#predict-rtt"') == 1


def test_an_answers_quote_that_fits_no_unit_names_the_answers(written):
    """A message about an answer names its own file and line, not the manual's."""
    with pytest.raises(ManualError, match=r"answers\.md:7: .*kbit"):
        render_body(written(answers=ANSWERS.replace("as ms .1", "as kbit")))


def test_a_subgoal_is_a_heading_and_steps_count_on(written):
    """Screen readers announce it; the steps of a section are numbered through."""
    body = render_body(written("## A\n### B\nSubgoal. Limit `h1`.\n\nStep. One.\n\nSubgoal. Look.\n\nStep. Two.\n"))
    assert '<h4 class="subgoal"><span class="mark">Subgoal:</span> Limit <code>h1</code></h4>' in body
    assert re.findall("<strong>(.*?)</strong>", body) == ["Step 1.", "Step 2."]


# --- labs --check


@pytest.fixture
def checked(tmp_path, monkeypatch):
    """Checks the text of a manual with answers as a lab's; five predictions are not asked for unless a test does."""
    monkeypatch.setattr(teaching, "FEWEST_PREDICTIONS", 1)

    def check(text=MANUAL, answers=ANSWERS, **recorded):
        (tmp_path / "answers.md").write_text(answers, encoding="utf-8")
        lab = replace(load_lab(find_lab("5")), folder=tmp_path, manual=parse(text))
        return teaching_problems(lab, Recorded(**(recorded or {"scalars": SCALARS})))

    return check


def test_a_manual_that_asks_before_it_measures_has_no_problem(checked):
    """The example of this file holds together."""
    assert checked() == []


@pytest.mark.parametrize(
    ("settled", "message"),
    [
        ("pong", 'manual.md:6: prediction rtt: there is no step "pong" that could settle it'),
        ("ping,before", "manual.md:6: prediction rtt: before (line 3) is measured before it is asked for"),
    ],
)
def test_what_settles_a_prediction_comes_after_it(checked, settled, message):
    """A prediction of what was already seen is none."""
    (problem,) = checked(MANUAL.replace("settled=ping", f"settled={settled}"))
    assert message in problem


def test_what_settles_a_prediction_shows_something(checked):
    """A step of which nothing is recorded decides nothing."""
    (problem, *_) = checked(answers=ANSWERS.replace("{{ping.ping.rtt.mean as ms .1}}", ""), scalars={})
    assert "prediction rtt: ping (line 10) shows nothing that could settle it" in problem


def test_questions_and_answers_belong_together(checked):
    """A question without an answer and an answer without a question are named with their places."""
    missing, unasked = checked(answers=ANSWERS.replace("predict-rtt", "predict-rrt"))
    assert "manual.md:6: prediction rtt has no answer; write it below a heading with {#predict-rtt}" in missing
    assert unasked.endswith('answers.md:5: the manual has no prediction "rrt"')


def test_an_answers_numbers_are_recorded(checked):
    """A quote in an answer that the reference lacks is named with its line."""
    (problem,) = checked(answers=ANSWERS.replace("rtt.mean", "rtt.median"))
    assert problem.endswith("answers.md:7: the reference of ping has no ping.rtt.median; it has ping.rtt.mean")


def test_no_outcome_is_told_before_it_is_measured(checked):
    """A number, or a plot, of a step stands nowhere above it."""
    number, plot = checked("## A\n{{ping.ping.rtt.mean}} ![p](run:ping/rtt)\n" + MANUAL)
    assert number.endswith("manual.md:2: tells the outcome of ping before line 12 measures it")
    assert plot == number


def test_a_lab_has_enough_predictions(checked, monkeypatch):
    """Fewer than wanted are named, and so is a lab without any."""
    monkeypatch.setattr(teaching, "FEWEST_PREDICTIONS", 5)
    assert [problem.partition(" the ")[2] for problem in checked()] == ["lab has 1 of at least 5 predictions"]
    (none,) = checked("## A\n", answers="")
    assert none.endswith("the lab has 0 of at least 5 predictions")


STEPS = "Step. One.\n\nStep. Two.\n\nStep. Three.\n\nStep. Four.\n\n"


def test_long_runs_of_steps_have_subgoals(checked, monkeypatch):
    """More than three steps need one, counted by innermost section."""
    monkeypatch.setattr(teaching, "FEWEST_PREDICTIONS", 0)
    (problem,) = checked(f"## A\n{STEPS}## B\nSubgoal. Do.\n\nStep. It.\n\n", answers="")
    assert problem.endswith('manual.md:1: "A" has 4 steps and no subgoal; say what groups of them are for')
    three = STEPS.removesuffix("Step. Four.\n\n")
    assert checked(f"## A\nStep. Zero.\n\n### C\n{three}", answers="") == []


def test_subgoals_stand_over_all_steps_of_their_section(checked, monkeypatch):
    """A step before the first subgoal, and a subgoal without steps, are named."""
    monkeypatch.setattr(teaching, "FEWEST_PREDICTIONS", 0)
    found = checked("## A\nStep. One.\n\nSubgoal. Two.\n\nSubgoal. Three.\n\nStep. Four.\n", answers="")
    assert [problem.partition("manual.md:")[2] for problem in found] == [
        "2: this step stands before the first subgoal of its section",
        '4: no step follows the subgoal "Two"',
    ]


def test_lab_5_keeps_its_answers_hidden_and_off_the_paper():
    """The recorded answers of a real lab: each is on the page, hidden, and none on paper."""
    lab = load_lab(find_lab("5"))
    answers = lab.load_answers()
    assert len(lab.manual.predictions) >= teaching.FEWEST_PREDICTIONS
    page = manual_html(lab)
    assert page.count("<details>") == len(lab.manual.predictions) == len(answers)
    hidden = " ".join(Reader(page).hidden)
    body = render_body(chapter(lab), paper=True)
    for answer in answers.values():
        first = re.split(r"[{`]", answer.text.strip())[0][:40]
        assert first.split("\n")[0] in hidden.replace("\n", " ") and first not in body
