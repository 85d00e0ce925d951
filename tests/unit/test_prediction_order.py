# SPDX-License-Identifier: BSD-3-Clause
"""A prediction counts if it was written before its measurement: in the guide, on the page, in the report, graded."""

import argparse
import json
from pathlib import Path

import pytest
from labpages import served

from linklab.commands import lab_continue
from linklab.errors import InputError
from linklab.exercise.bundle import Bundle, write_bundle
from linklab.grade.lab_unit import _predictions, _read
from linklab.guide.evidence import PredictionEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.plan import plan_of
from linklab.guide.predictions import PredictionTime
from linklab.guide.progress import FOLDER, LabProgress
from linklab.guide.recorded import RecordedWork
from linklab.guide.session import GuideSession
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.page.notes import StudentNotes
from linklab.page.reporting import report_of_folder

ROOT = Path(__file__).resolve().parents[2]
NAME = "one-round-trip"
BEFORE, AFTER = PredictionTime.BEFORE, PredictionTime.AFTER
AFTER_TEXT = "Written after the measurement, so it does not count as a prediction."
UNKNOWN_TEXT = "It is not known whether this was written before the measurement."


@pytest.fixture(scope="module")
def lab():
    """Lab 14."""
    return load_lab(find_lab("14", ROOT))


@pytest.fixture(scope="module")
def work(lab):
    """Somebody measures what decides the prediction: all evidence before that line, its beginning, and its end."""
    (asked,) = (each for each in lab.manual.predictions if each.id == NAME)
    done = []
    for step, found in RecordedWork(plan_of(lab), load_reference(lab).recorded).of(lab.manual.steps):
        done += found
        if step.id == asked.settled[-1]:
            break
    assert isinstance(done[-1], TypedEvidence) and done[-1].ended and done[-2].key == done[-1].key
    return done[:-2], done[-2], done[-1]


def predicted(number):
    """A prediction of so many milliseconds."""
    return PredictionEvidence(NAME, str(number), "ms", "so it is")


@pytest.mark.parametrize(
    ("order", "standing"),
    [
        ("1 2 before begin end", (2, BEFORE)),
        ("1 before begin end 2", (1, BEFORE)),
        ("1 before begin 2 end", (1, BEFORE)),
        ("before begin end 1 2", (2, AFTER)),
        ("before begin 1 end", (1, AFTER)),
        ("1 none before begin end 2", (2, AFTER)),
        ("1 none before begin end", None),
        ("1 before begin 2", (2, BEFORE)),
        ("before begin end", None),
    ],
)
def test_the_last_prediction_before_its_measurement_counts(lab, work, order, standing):
    """Before it began: a terminal shows what it measures while it runs."""
    guide = Guide(lab)
    parts = {"before": work[0], "begin": [work[1]], "end": [work[2]], "none": [PredictionEvidence(NAME)]}
    for word in order.split():
        guide.see_all(parts.get(word) or [predicted(word)])
    found = guide.prediction(NAME)
    assert (found and (int(found[0].number), found[1])) == standing
    assert (NAME in guide.predictions.measured) is ("end" in order)


def test_what_is_undone_stays_measured(lab, work):
    """Taking the settings back after the measurement does not open the prediction again."""
    guide = Guide(lab)
    guide.see_all([predicted(1), *work[0], *work[1:]])
    guide.see(TypedEvidence("s1", "tc qdisc del dev s1-eth1 root", 1e6, 1e6 + 1, "", 0))
    with pytest.raises(InputError, match="prediction 1: its measurement is done"):
        guide.check_prediction(predicted(2))


def measured(session, work):
    """Somebody measures what decides the prediction."""
    for each in (*work[0], *work[1:]):
        session.see(each)


FIELDS = {"number": "40", "unit": "ms", "words": "", "why": "both ways"}


def test_a_prediction_is_not_changed_after_its_measurement(lab, work, tmp_path):
    """Regression: it could be. The server refuses, whatever the page does; the report has the one that counts."""
    with served(tmp_path) as page:
        assert page.own("POST", f"predictions/{NAME}", {**FIELDS, "number": "20"})[0] == 200
        assert page.own("POST", f"predictions/{NAME}", FIELDS)[0] == 200
        measured(page.context.guide, work)
        for changed in ({**FIELDS, "number": "41"}, {"number": "", "unit": "", "words": "", "why": ""}):
            status, _, text = page.own("POST", f"predictions/{NAME}", changed)
            assert status == 400
            assert json.loads(text)["error"].startswith("prediction 1: its measurement is done, so the prediction")
        assert page.own("POST", f"predictions/{NAME}", FIELDS)[0] == 200, "the same is no change"
        report = page.own("GET", "report")[2]
    assert StudentNotes.load(tmp_path, lab.slug).predictions[NAME].number == "40"
    assert "40 ms" in report and "41 ms" not in report and AFTER_TEXT not in report


def test_a_prediction_is_not_changed_while_it_is_measured(work, tmp_path, lab):
    """Its terminal shows the result before the command has ended."""
    session = GuideSession(lab, tmp_path)
    session.predict(predicted(1))
    for each in (*work[0], work[1]):
        session.see(each)
    with pytest.raises(InputError, match="its measurement is running"):
        session.predict(predicted(2))


def test_what_is_written_after_the_measurement_says_so(lab, work, tmp_path):
    """On the page, in its answer, in its report, and in the one that is written later without a network."""
    with served(tmp_path) as page:
        measured(page.context.guide, work)
        assert AFTER_TEXT in page.own("POST", f"predictions/{NAME}", FIELDS)[2]
        assert page.own("POST", f"predictions/{NAME}", {**FIELDS, "number": "41"})[0] == 200
        seen = []
        page.context.events.watch(seen.append)
        report = page.own("GET", "report")[2]
    assert [event["predictions"][NAME]["number"] for event in seen if event["kind"] == "notes"] == ["41"]
    assert AFTER_TEXT in report
    assert AFTER_TEXT in report_of_folder(lab, tmp_path)
    with served(tmp_path) as page:
        seen.clear()
        page.context.events.watch(seen.append)
    settled = [event for event in seen if event["kind"] == "settled"][-1]
    assert (settled["said"][NAME], settled["closed"]) == (AFTER_TEXT, [])


def test_the_page_is_told_which_predictions_are_closed(work, tmp_path):
    """It takes the button away."""
    with served(tmp_path) as page:
        page.own("POST", f"predictions/{NAME}", FIELDS)
        measured(page.context.guide, work)
    seen = []
    with served(tmp_path) as page:
        page.context.events.watch(seen.append)
    settled = [event for event in seen if event["kind"] == "settled"][-1]
    assert (settled["said"][NAME], settled["closed"]) == ("", [NAME])


def old_notes(folder, lab, number):
    """What an earlier Linklab kept, or somebody's editor."""
    (folder / FOLDER).mkdir(exist_ok=True)
    said = {"notes_of": lab.slug, "version": 1, "name": "", "predictions": {NAME: {**FIELDS, "number": number}}}
    (folder / FOLDER / "notes.json").write_text(json.dumps(said))


def test_predictions_of_an_earlier_linklab_enter_the_order(lab, work, tmp_path):
    """If nothing is measured yet they are predictions; else nobody knows, and the report says so."""
    old_notes(tmp_path, lab, "40")
    with served(tmp_path) as page:
        measured(page.context.guide, work)
        assert page.own("POST", f"predictions/{NAME}", {**FIELDS, "number": "41"})[0] == 400
    other = tmp_path / "other"
    other.mkdir()
    session = GuideSession(lab, other)
    measured(session, work)
    old_notes(other, lab, "42")
    report = report_of_folder(lab, other)
    assert "42 ms" in report and UNKNOWN_TEXT in report
    with served(other) as page:
        assert page.own("POST", "answers/1", {"text": "x"})[0] == 200
        assert UNKNOWN_TEXT in page.own("GET", "report")[2]
    assert StudentNotes.load(other, lab.slug).predictions[NAME].number == "42", "it is kept"


def test_notes_that_were_changed_by_hand_change_no_prediction(lab, work, tmp_path):
    """What counts stands in the progress."""
    session = GuideSession(lab, tmp_path)
    session.predict(predicted(40))
    measured(session, work)
    old_notes(tmp_path, lab, "20.1")
    assert "20.1 ms<br>" not in report_of_folder(lab, tmp_path)
    with served(tmp_path):
        pass
    with served(tmp_path) as page:
        page.own("POST", "answers/1", {"text": "x"})
    assert StudentNotes.load(tmp_path, lab.slug).predictions[NAME].number == "40"


@pytest.mark.parametrize("first", [40, None])
def test_beginning_anew_does_not_open_a_prediction_again(lab, work, tmp_path, first):
    """Whoever has seen the measurement once has seen it."""
    session = GuideSession(lab, tmp_path)
    if first:
        session.predict(predicted(first))
    measured(session, work)
    parser = argparse.ArgumentParser()
    lab_continue.add_options(parser)
    assert lab_continue.left_here(lab, tmp_path, parser.parse_args(["--anew"])) is None
    again = GuideSession(lab, tmp_path)
    assert not any(state.status.good for state in again.steps())
    if first:
        with pytest.raises(InputError, match="its measurement is done"):
            again.predict(predicted(20))
        assert again.prediction(NAME) == (predicted(first), BEFORE)
    else:
        again.predict(predicted(20))
        assert again.prediction(NAME) == (predicted(20), AFTER)


def test_the_instructor_reads_it_too(lab, work, tmp_path):
    """By the order of the progress, not by the notes."""
    progress = LabProgress.begin(tmp_path, lab)
    for each in (*work[0], *work[1:], predicted(40)):
        progress.add(each)
    old_notes(tmp_path, lab, "39")
    path = tmp_path / "a.zip"
    files = {"lab.json": b'{"lab": 14}', "notes.json": (tmp_path / FOLDER / "notes.json").read_bytes()}
    write_bundle(path, Bundle("lab14", "s1", files))
    guide = Guide(lab)
    guide.see_all(progress.evidence())
    handed_in = _read(Bundle("lab14", "s1", files))
    assert _predictions(handed_in, guide)[NAME] == "40 ms so it is (written after the measurement)"
    assert "(not known whether" in _predictions(handed_in, measured_guide(lab, work))[NAME]


def measured_guide(lab, work):
    """Of somebody whose progress has no prediction."""
    guide = Guide(lab)
    guide.see_all((*work[0], *work[1:]))
    return guide
