# SPDX-License-Identifier: BSD-3-Clause
"""What is made of reports: results.json, pages, CSV, JUnit XML, feedback; and of a class: findings."""

import csv
import io
import json
import re
import zipfile
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import graded
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linklab.exercise.course import Course
from linklab.exercise.report import Adjustment, Status
from linklab.grade import charts
from linklab.grade.classfiles import canvas_csv, feedback, grades_csv, junit_xml, moodle_csv, moodle_feedback
from linklab.grade.cohort import Entry
from linklab.grade.downloaded import handed_in_by
from linklab.grade.findings import findings
from linklab.grade.handed_in import Skipped
from linklab.grade.html import draw, report_page
from linklab.grade.overview import overview_page
from linklab.grade.results import results, results_text, scrubbed, story, student_view
from linklab.grade.unit import SEEDS, seeds_of
from linklab.judge.verdict import Outcome

HOSTILE = "</title><script>alert(1)</script>\"'&\x00\x1b[31m\ud800\u202e"


def entry(folder="a", label="", /, **changes):
    """An entry of a class."""
    return Entry(folder, label or f"{folder}.zip", graded.report(**changes))


def pages(report):
    """The student's and the instructor's."""
    plots = draw(report)
    return report_page(report, plots), report_page(report, plots, instructor=True)


def passed(report):
    """The report with full marks."""
    checks = tuple(replace(check, outcome=Outcome.PASS, score=check.max_score) for check in report.checks)
    return replace(report, checks=checks, score=report.max_score)


# --- results.json


def test_results_have_gradescopes_form():
    """Score, output, visibility and tests as its specification names them, and our report beside them."""
    data = json.loads(results_text(graded.report()))
    assert data["score"] == 4.0
    assert data["visibility"] == "visible"
    assert data["stdout_visibility"] == "hidden"
    assert data["output"] == (
        "Exercise 3: Tuning TCP and the switch's buffer: 4 of 12 points.\n"
        "work.sh ran longer than 60 s and was stopped.\n"
        "2 checks are hidden and counted in the sum: 4 of 12 points."
    )
    assert [test["status"] for test in data["tests"]] == ["passed", "failed", "failed", "failed", "passed", "failed"]
    second = data["tests"][1]
    assert second == {
        "name": "The switch's buffer holds a BDP",
        "number": "2",
        "score": 1,
        "max_score": 2,
        "status": "failed",
        "output": "Expected at least 11.3 MB (Reno halves its window after a loss), saw 6.2 MB. That is at least "
        "5.62 MB, which earns 50% of the points.\nWhere: Look at the queue of `s1-eth2`.\n"
        "What: Its limit is smaller than a BDP.\nHow: `tc qdisc change dev s1-eth2 … limit 12500000`",
        "output_format": "text",
        "visibility": "visible",
        "tags": ["state", "partial"],
        "extra_data": {"id": "switch-buffer", "outcome": "partial"},
    }
    assert [test["visibility"] for test in data["tests"]].count("hidden") == 2
    assert data["extra_data"]["fingerprint"] == "ab" * 32
    assert "traces" not in data["extra_data"]


def test_results_of_a_broken_tool_have_no_score():
    """Gradescope then says that the autograder failed, and gives no mark."""
    data = results(graded.ungradable("the kernel did not come up", status=Status.ERROR))
    assert "score" not in data
    assert "tests" not in data
    assert data["output"].startswith("Grading broke off. This is not your doing")
    assert results(graded.ungradable())["score"] == 0.0


def test_a_check_at_which_our_tool_broke_gives_no_mark():
    """The points are shown and said to be none; no platform gets them, and another submission goes before."""
    checks = (*graded.report().checks[:2], replace(graded.report().checks[2], outcome=Outcome.ERROR))
    broken = replace(graded.report(), checks=checks, score=9.0)
    assert "score" not in results(broken)
    assert "9 points, and a check at which our tool broke: this is no mark yet." in results(broken)["output"]
    assert "This is no mark yet." in pages(broken)[0]
    assert rows(grades_csv([Entry("a", "a.zip", broken)]))[1][3:] == ["a check broke", "", "", "a check broke"]
    assert rows(canvas_csv([Entry("a", "a.zip", broken)]))[2:] == []
    assert rows(grades_csv([Entry("a", "a.zip", broken), entry("b")]))[1][3:5] == ["a check broke; graded", "4"]
    assert "a check broke" in overview_page([Entry("a", "a.zip", broken)], [])


def test_a_student_sees_points_of_hidden_checks_and_nothing_else_of_them():
    """Neither titles nor stories nor what they alone measured; the sum still holds."""
    shown = student_view(graded.report())
    assert sum(check.max_score for check in shown.checks) == 12
    assert [check.title for check in shown.checks[4:]] == ["Hidden check 1", "Hidden check 2"]
    assert {trace.experiment for trace in shown.traces} == {"tuned"}
    assert list(shown.metrics) == list(shown.experiments) == ["tuned"]
    assert not shown.fingerprint
    assert student_view(replace(graded.report(), fault="receiver-window")).fault == ""


def test_a_planted_fault_that_is_still_there_is_for_the_instructor_alone():
    """A student who may hand in again read it in the page and in the visible part of results.json."""
    words = "loss of s2-eth2 was none and is 1 %"
    kept = graded.check("kept", Outcome.FAIL, 0, 5, kind="unchanged", seen=words, differs=(("s2-eth2.loss", words),),
                        told=f"expected nothing else to be changed (W), but {words}.", why="W.",
                        hints=("Look at what the message names.",))  # fmt: skip
    cause = graded.check("cause", Outcome.FAIL, 0, 5, kind="answer", expected="packet-loss", seen="bit-errors",
                         told="expected packet-loss (W), saw bit-errors.")  # fmt: skip
    problem = graded.report(checks=(kept, cause), fault="packet-loss", untouched=("s2-eth2.loss",), traces=())
    ours, yours = (re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL) for page in pages(problem)[::-1])
    assert "packet-loss" in ours
    assert words in ours
    told = [test["output"] for test in results(problem)["tests"]]
    for text in (yours, *told, student_view(problem).dumps()):
        assert "packet-loss" not in text
        assert "s2-eth2" not in text
    assert told[0] == (
        "Expected nothing else to be changed (W), but what was planted is still there.\n"
        "Where: Hold each interface and each host against its counterpart, one by one."
    )
    assert told[1] == "The answer does not fit, or there is none."


def test_an_empty_answer_gets_no_hint_on_what_is_wrong_with_it():
    """What is said is that there is none."""
    check = graded.check(
        "bdp", Outcome.FAIL, 0, 5, kind="answer", seen="none", absent=True, hints=("Lab 8.", "Perhaps bits.", "R·T.")
    )
    assert results(graded.report(checks=(check,)))["tests"][0]["output"].split("\n")[1:] == [
        "Where: Lab 8.",
        "What: There is no answer that can be used.",
        "How: R·T.",
    ]
    wrong = replace(check, absent=False)  # the student wrote the word "none"
    assert results(graded.report(checks=(wrong,)))["tests"][0]["output"].split("\n")[2] == "What: Perhaps bits."


@settings(deadline=None)  # a page takes what a busy machine gives
@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_whatever_a_submission_says_can_be_written(name, student, notes):
    """JSON, XML, CSV and pages hold it, in UTF-8."""
    report = scrubbed(replace(graded.report(student, name), notes=tuple(notes), traces=()))
    entries = [Entry("a", "a.zip", report)]
    json.loads(results_text(report).encode())
    ElementTree.fromstring(junit_xml(entries).encode())  # noqa: S314 - our own
    assert len(list(csv.reader(io.StringIO(grades_csv(entries))))) == 2
    "".join(pages(report)).encode()
    overview_page(entries, findings(entries)).encode()


def test_a_files_name_spoils_no_file_of_the_class():
    """Regression: a control character in it made junit.xml malformed, and it reached the spreadsheet as a formula."""
    named = Entry("a", f"=cmd|'/C calc'!A0{HOSTILE}.zip", replace(graded.report(), name="", student=""))
    (suite,) = ElementTree.fromstring(junit_xml([named]).encode())  # noqa: S314 - our own
    assert suite.get("name").endswith("\\x00\\x1b[31m\\ud800\\u202e.zip")
    rows = list(csv.reader(io.StringIO(grades_csv([named]))))
    assert rows[1][2].startswith("'=cmd|'/C calc'!A0</title>")
    assert "\x1b" not in grades_csv([named]) + canvas_csv([named]) + overview_page([named], [])


def test_a_table_without_end_is_cut():
    """Regression: 750,000 changes, or 150,000 answers, made results of 139 MB, which the class's process kept."""
    answers = {f"question {number}": "" for number in range(150_000)}
    report = scrubbed(replace(graded.report(), changes=(("a", "b", "c"),) * 750_000, words=answers, answers=answers))
    assert [len(each) for each in (report.changes, report.words, report.answers)] == [2000, 2000, 2000]
    assert "Of 750,000 changes the first 2,000 are told." in report.notes


def test_the_whole_of_a_work_sh_is_kept_for_comparison():
    """Regression: behind a comment of 20,000 letters another student's numbers were not seen."""
    work = f"# {'x' * 30_000}\nh1 sysctl -w net.ipv4.tcp_rmem=12250000\n"
    assert scrubbed(replace(graded.report(), work=work)).work == work
    assert len(scrubbed(replace(graded.report(), work="x" * 10**6)).work) == 2**18


def test_scrubbing_shortens_what_is_endless():
    """A megabyte of notes becomes a line that says so."""
    report = scrubbed(replace(graded.report(), notes=("x" * 1_000_000,) * 200))
    assert len(report.notes) == 100
    assert report.notes[0].endswith("x … (980000 more characters)")
    assert len(report.traces) == len(graded.report().traces)


# --- pages


class _Tags(HTMLParser):
    """Tags of a page that are not closed, and its text."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.names = [], [], []

    def handle_starttag(self, tag, attrs):
        self.names.append(tag)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.names.append(tag)

    def handle_data(self, data):
        if not self.open or self.open[-1] != "style":
            self.text.append(data)


def read(page):
    """The page's text, in one line, after a look at its tags."""
    parser = _Tags()
    parser.feed(page)
    assert parser.open == []
    return " ".join(" ".join(parser.text).split()), parser.names


def test_a_students_page_tells_the_story_of_each_check():
    """Score, checks with hints where something is missing, plots, parameters; nothing hidden."""
    page = pages(graded.report())[0]
    text, names = read(page)
    assert "Tuning TCP and the switch's buffer" in text
    assert "4 of 12 points 33 %" in text
    assert "✗ Reno fills the link not met at least 929 Mbps 412 Mbps 0 / 4" in text
    assert "How: tc qdisc change dev s1-eth2 … limit 12500000" in text
    assert "Hidden check 2 not met 0 / 2" in text
    assert "“tuned”: h1 → h2, h3 → h4 for 20 s on your network" in text
    assert "where chance matters several times, and the median counts." in text
    assert names.count("svg") == 1 + 4 + 3  # the bar, the legend, three charts
    for secret in ("BBR is not hurt", "Losses stay", "secret-", "lossy", "abab", "Each run", "instructor"):
        assert secret not in page


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("h1-eth0 has netem delay 1ms", "h1-eth0 has netem delay 1ms."),
        ("h1: nothing was seen", "h1: nothing was seen."),
        ("the target is 10.0.0.3", "The target is 10.0.0.3."),
        ("", ""),
    ],
)
def test_a_name_of_the_network_keeps_its_letters_at_the_beginning_of_a_story(told, sentence):
    """Regression: "H1-eth0 has no netem"."""
    assert story(replace(graded.report().checks[0], story=told)) == sentence


def test_a_plot_says_from_when_on_it_counts():
    """Where the grader leaves the beginning out, the curve of throughput begins later than the others."""
    assert "counted from" not in pages(graded.report())[0]
    late = [trace for trace in graded.traces("tuned", seeds=(1,), period=1.0) if trace.what == "throughput"]
    late = [replace(trace, time_s=tuple(at + 5 for at in trace.time_s)) for trace in late]
    text, _ = read(pages(replace(graded.report(), traces=tuple(late)))[0])
    assert "Time in seconds of the network’s clock. Throughput is counted from 5 s on." in text


def test_an_instructors_page_has_everything():
    """Hidden checks, what each run gave, measurements, the planted fault, the fingerprint."""
    text, names = read(pages(replace(graded.report(), fault="receiver-window"))[1])
    assert "BBR is not hurt by losses passed hidden" in text
    assert "Each run: 401 Mbps, 412 Mbps, 420 Mbps" in text
    assert "tuned throughput 412 Mbps 401 Mbps, 412 Mbps, 420 Mbps" in text
    assert "planted fault receiver-window" in text
    assert "tools tc 6.1, iperf3 3.12 seeds 1, 2, 3" in text
    assert "abab" in text
    assert names.count("svg") == 1 + 2 * (4 + 3)


def test_a_tools_version_stands_beside_its_name_once():
    """It was "iperf3 iperf 3.12 (cJSON 1.7.15), ping ping from iputils 20221126"."""
    tools = {
        "iperf3": "iperf 3.12 (cJSON 1.7.15)",
        "ping": "ping from iputils 20221126",
        "tc": "tc utility, iproute2-6.1.0, libbpf 1.1.2",
        "kernel": "7.3.4-pocket",
        "own": "unknown",
    }
    page = pages(graded.report(environment={"tools": tools}))[0]
    assert "<dd>iperf3 3.12, ping 20221126, tc 6.1.0, kernel 7.3.4-pocket, own unknown</dd>" in page


def test_an_instructor_reads_work_sh_and_answers():
    """What was handed in stands beside what came of it; as text."""
    student, instructor = pages(graded.report(work="h1 true <b>\n", answers={"bdp": "2.5 MB", "why": "x"}))
    assert '<pre class="text work" tabindex="0">h1 true &lt;b&gt;' in instructor
    assert "<dt>bdp</dt><dd>2.5 MB</dd>" in instructor
    assert "h1 true" not in student


def test_pages_of_what_was_not_graded():
    """They say why, and whose doing it is."""
    text, _ = read(pages(graded.ungradable("the zip holds no topology.mn."))[0])
    assert "This submission could not be graded. What stands in the way: the zip holds no topology.mn." in text
    text, _ = read(pages(graded.ungradable("no kernel", status=Status.ERROR))[0])
    assert "This is not the student’s doing, and no mark was given. no kernel" in text


def test_nothing_of_a_submission_becomes_a_tag():
    """Markup in names, notes, answers and labels is shown as text."""
    report = scrubbed(
        replace(
            graded.report(HOSTILE, HOSTILE),
            notes=(HOSTILE,),
            words={HOSTILE: HOSTILE},
            changes=((HOSTILE, HOSTILE, HOSTILE),),
            parameters={HOSTILE: HOSTILE},
            experiments={"tuned": HOSTILE},
        )
    )
    report = replace(report, traces=tuple(replace(trace, label=HOSTILE[:30]) for trace in report.traces))
    entries = [Entry("a", f"{HOSTILE}/a.zip", report), Entry("b", "b.zip", report)]
    for page in (*pages(report), overview_page(entries, findings(entries))):
        assert "script" not in read(page)[1]
        assert "&lt;script&gt;" in page


def test_a_page_is_one_file():
    """Nothing is loaded from elsewhere."""
    for page in (*pages(graded.report()), overview_page([entry()], [])):
        assert not re.search(r'(src|href)="(https?:)?//|url\(|@import', page)


def test_a_page_does_not_grow_with_the_samples_of_a_run():
    """Curves are thinned to what a screen can show: a sample each 10 ms takes no more than one each 20 ms."""
    sizes = []
    for period in (0.02, 0.01):
        report = replace(graded.report(), traces=tuple(t for n in "abcd" for t in graded.traces(n, period=period)))
        sizes.append([len(page) for page in pages(report)])
    coarse, fine = sizes
    assert [abs(more - less) < 0.02 * less for less, more in zip(coarse, fine, strict=True)] == [True, True]


def test_the_overview_of_a_class():
    """Numbers, histogram, the check that fails most first, whom to look at, links to each page."""
    good = Entry("b", "b.zip", passed(graded.report("s2", "Bob", fingerprint="cd" * 32, words={}, changes=())))
    entries = [entry(), good, Entry("c d", "x/c.zip", graded.ungradable("no topology"))]
    page = overview_page(entries, findings(entries), [Skipped("notes.txt", "not a .zip")])
    text, _ = read(page)
    assert "3 submissions: 2 of Exercise 3. 1 could not be graded." in text
    assert "graded 2 mean 67 % median 67 % lowest 33 % highest 100 % full mark 12 points" in text
    checks = re.findall(r'<th scope="row">([^<]*)', page.split("the one that fails most first")[1])
    assert checks[0] == "Reno fills the link"
    assert "Losses stay hidden 1 1 50 % 50 %" in text
    assert 'href="c%20d/instructor.html"' in page
    assert "Skipped: notes.txt (not a .zip)" in text
    assert "30–39: 1, 100 %: 1" in page


def test_both_percentages_of_a_check_are_of_all_submissions():
    """One was of those judged and one of all; a check without points showed 0 %."""
    gate = graded.check("gate", Outcome.PASS, 0, 0, title="The gate")
    missed = graded.check("missed", Outcome.FAIL, 0, 4, title="The missed one")
    skipped, met = replace(missed, outcome=Outcome.SKIPPED), replace(missed, outcome=Outcome.PASS, score=4)
    entries = [
        entry(name, student=name, checks=(gate, check))
        for name, check in (("a", missed), ("b", skipped), ("c", met), ("d", met))
    ]
    page = overview_page(entries, [])
    rows_ = re.findall(
        r'<th scope="row">(The [^<]+)</th>.*?<td class="right">([^<]*)</td><td class="right">([^<]*)<', page, re.S
    )
    assert rows_ == [("The missed one", "25 %", "50 %"), ("The gate", "0 %", "–")]
    assert "Both percentages are of all 4 submissions" in page
    assert pages(entries[0].report)[0].count("0 / 0") == 0


def test_an_overview_of_two_exercises_keeps_them_apart():
    """Each has its own numbers."""
    other = entry("b", exercise="problem3", heading="Problem 3: Minimising the unfairness")
    text, _ = read(overview_page([entry(), other], []))
    assert "2 submissions of Exercise 3 and Problem 3." in text
    assert text.count("graded 1 mean 33 %") == 2


def test_what_is_individual_in_a_title_is_left_open_for_the_class():
    """Each student has another address in it; where even the number of words differs the check's name stands."""

    def classed(*titles):
        first = graded.report().checks[0]
        made = [entry(f"s{n}", checks=(replace(first, title=title),)) for n, title in enumerate(titles)]
        return re.findall(r'<th scope="row">([^<]*)', overview_page(made, []).split("the one that fails most")[1])[0]

    assert classed("h1 has 10.0.0.1/8", "h1 has 10.0.0.7/8") == "h1 has …"
    assert classed("h1 has 10.0.0.1/8", "h1 has an address") == "bottleneck"
    assert classed("Same", "Same") == "Same"


# --- charts


def test_a_chart_thins_out_and_keeps_peaks_and_gaps():
    """Of 100,000 samples the highest stays, and a gap breaks the line."""
    values = [1e6] * 100_000
    values[31_416] = 9e6
    values[60_000:61_000] = [float("nan")] * 1000
    curve = charts.Curve("a", 0, False, [i / 1000 for i in range(100_000)], values)
    svg = charts.time_chart("Queue", "bytes", [curve], 100.0, words="w")
    path = re.search(r'<path d="([^"]*)" fill="none"', svg)[1]
    heights = [float(y) for y in re.findall(r"[ML][\d.]+ ([\d.]+)", path)]
    assert len(heights) < 700
    assert min(heights) == pytest.approx(8 + 118 * (1 - 0.9), abs=0.2)  # 9 of 10 MB
    assert path.count("M") == 2
    assert "Queue (MB)" in svg


@given(st.floats(min_value=0, max_value=1e12, allow_nan=False))
def test_ticks_are_few_and_hold_the_largest_value(largest):
    """An axis ends at or above its largest value."""
    top, steps = charts._ticks(largest)
    assert top >= largest * (1 - 1e-6)
    assert 2 <= len(steps) <= 7


def test_a_histogram_counts_full_marks_by_themselves():
    """99.9 % is none, and nothing falls out at the ends."""
    svg = charts.histogram([0, 9.99, 10, 99.9, 100, 100.0])
    assert "0–9: 2, 10–19: 1, 90–99: 1, 100 %: 2" in svg


# --- CSV, JUnit, feedback


def rows(text):
    """A CSV file's lines."""
    return list(csv.reader(io.StringIO(text)))


def test_grades_for_people():
    """One line a student; the best of two submissions; nothing where nothing was graded."""
    entries = [
        entry("a"),
        Entry("a2", "a2.zip", passed(graded.report())),
        entry("p", exercise="problem3", heading="Problem 3: Minimising the unfairness"),
        Entry("bad", "Bob Bit_7_assignsubmission_file_/x.zip", graded.ungradable("no topology")),
    ]
    table = rows(grades_csv(entries))
    three, problem = "Exercise 3: Tuning TCP and the switch's buffer", "Problem 3: Minimising the unfairness"
    assert table[0] == [
        "ID number", "Full name", "File", "Status", three, f"{three} (feedback)", f"{three} (status)",
        problem, f"{problem} (feedback)", f"{problem} (status)",
    ]  # fmt: skip
    files = "a.zip; a2.zip; p.zip"
    assert table[1][:7] == ["s1", "Ada Lovelace", files, "graded", "12", "12 of 12 points.", "graded"]
    assert table[1][7:] == [
        "4",
        "4 of 12 points. Not met: The switch's buffer holds a BDP (in part); Reno fills the link; Hidden check 2.",
        "graded",
    ]
    assert table[2] == ["", "Bob Bit", "Bob Bit_7_assignsubmission_file_/x.zip", "not gradable", "", "", "", "", "", ""]
    public = Entry("p", "Bob Bit_7_assignsubmission_file_/x.zip", graded.report("practice", ""))
    assert rows(grades_csv([public]))[1][:4] == [
        "", "Bob Bit (practice)", "Bob Bit_7_assignsubmission_file_/x.zip", "graded, practice",
    ]  # fmt: skip
    broken = replace(graded.report(), status=Status.ERROR)
    assert rows(grades_csv([Entry("a", "a.zip", broken)]))[1][3:] == ["our tool broke", "", "", "our tool broke"]


def test_grades_for_moodle():
    """Regression: a line without an id made Moodle refuse the file, and an empty cell could become a zero."""
    public = Entry("p", "Bob Bit_7_assignsubmission_file_/x.zip", graded.report("practice", ""))
    entries = [
        public,
        entry("a"),
        Entry("bad", "bad.zip", graded.ungradable("no topology")),
        Entry("b", "b.zip", replace(graded.report("s2", "-"), status=Status.UNGRADABLE, notes=("It is cut off.",))),
        entry("p", student="s3", name="Cleo C", exercise="problem3", heading="Problem 3: Minimising the unfairness"),
    ]
    table = rows(moodle_csv(entries))
    three, problem = "Exercise 3: Tuning TCP and the switch's buffer", "Problem 3: Minimising the unfairness"
    assert table[0] == ["ID number", "Full name", three, f"{three} (feedback)", problem, f"{problem} (feedback)"]
    said = "4 of 12 points. Not met: The switch's buffer holds a BDP (in part); Reno fills the link; Hidden check 2."
    assert table[1:] == [
        ["s1", "Ada Lovelace", "4", said, "-", ""],
        ["s2", "-", "-", "It is cut off.", "-", ""],
        ["s3", "Cleo C", "-", "", "4", said],
    ]


def test_grades_for_canvas():
    """The five columns that its importer looks for, points possible, and no line without an id or a grade."""
    public = Entry("p", "bitbob_5_6_x.zip", graded.report("practice", ""))
    entries = [public, entry("a"), Entry("bad", "bad.zip", graded.ungradable())]
    assert rows(canvas_csv(entries)) == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Exercise 3: Tuning TCP and the switch's buffer"],
        ["    Points Possible", "", "", "", "", "12"],
        ["Ada Lovelace", "", "s1", "s1", "", "4"],
    ]


def test_platforms_get_columns_in_which_somebody_has_a_mark():
    """Regression: one practice instance of another exercise made a column of "-", which takes grades away."""
    other = {"exercise": "problem3", "heading": "Problem 3: Minimising the unfairness"}
    practice = Entry("p", "p.zip", graded.report("practice", "", **other))
    claimed = Entry("c", "c.zip", graded.ungradable("It is another drawing.", unproven=True, **other))
    cut_off = Entry("b", "b.zip", replace(graded.report("s2", "Bob", **other), status=Status.UNGRADABLE))
    alone = rows(moodle_csv([entry("a"), cut_off]))
    assert len(alone[0]) == 4
    for entries in ([entry("a"), practice, claimed], [entry("a"), practice]):
        assert (rows(moodle_csv(entries))[0], rows(canvas_csv(entries))[0][5:]) == (alone[0], [alone[0][2]])
        assert other["heading"] in rows(grades_csv(entries))[0], "for people, nothing is left out"


def test_two_students_whose_files_are_called_the_same_have_a_line_each():
    """Regression: named one by one, the labs of two students were one line, with the better mark."""
    both = [
        Entry(name, "lab1.zip", graded.report("", "", score=score, unproven=True))
        for name, score in (("a", 1.0), ("b", 4.0))
    ]
    assert [line[4] for line in rows(grades_csv(both))[1:]] == ["1", "4"]
    assert "identical" in findings(both)[-1].says


def test_points_by_hand_stand_beside_what_could_not_be_graded():
    """Regression: the overview's row of a damaged archive that was graded in person did not say so."""
    by_hand = (Adjustment("by hand", 7.5, "seen in person"),)
    damaged = Entry("b", "b.zip", graded.ungradable("It is cut off.", max_score=12.0, adjustments=by_hand))
    without = Entry("c", "c.zip", graded.ungradable("It is cut off."))
    cells = re.findall(r'<td class="nowrap"><span class="state.*?</td>', overview_page([damaged, without], []))
    assert [re.sub(r"<[^>]+>", " ", cell).split() for cell in cells] == [
        ["not", "gradable", "7.5", "/", "12", "by", "hand", "+7.5"],
        ["not", "gradable"],
    ]


def test_no_cell_is_a_formula():
    """A name that a spreadsheet would run is text."""
    assert rows(grades_csv([entry("a", name="=HYPERLINK(1)")]))[1][1] == "'=HYPERLINK(1)"


def test_feedback_names_a_dozen_checks():
    """Regression: of a lab that nobody did, a cell of 1,900 letters."""
    missed = [replace(graded.report().checks[1], title=f"Step {number}", outcome=Outcome.FAIL) for number in range(28)]
    said = feedback(replace(graded.report(), checks=tuple(missed)))
    assert said.endswith("Step 10; Step 11; 16 more.")


def test_feedback_keeps_hidden_checks_hidden():
    """The line for the student has no title of theirs."""
    assert "Losses" not in feedback(graded.report())
    assert feedback(graded.ungradable("no topology")) == "no topology."
    by_hand = (Adjustment("by hand", 3, "seen in person"),)
    assert feedback(graded.ungradable("It is cut off", adjustments=by_hand)).startswith("It is cut off. +3 points: ")
    assert feedback(graded.ungradable("no kernel", status=Status.ERROR)) == ""


def test_junit_counts_what_failed_and_what_broke():
    """Partial is a failure with its points; a broken tool is an error, never a failure."""
    entries = [entry("a"), Entry("b", "b.zip", graded.ungradable("no kernel", status=Status.ERROR))]
    root = ElementTree.fromstring(junit_xml(entries))  # noqa: S314 - our own
    assert root.attrib == {"name": "linklab grade", "tests": "7", "failures": "3", "errors": "1", "skipped": "1"}
    cases = root.findall("testsuite/testcase")
    assert cases[1].find("failure").get("message") == "partial: 1 of 2 points"
    assert cases[0].get("classname") == "exercise3.a"
    assert cases[6].find("error").text == "no kernel"


def test_feedback_for_moodle_goes_where_moodle_looks():
    """The folders that Moodle made hold the student's page, the same bytes each time; without any there is no zip."""
    moodle = entry("a", "Ada Lovelace_123_assignsubmission_file_/exercise3.zip")
    newer = entry("b", "Ada Lovelace_123_assignsubmission_file/exercise3.zip")
    feigned = entry("c", "mallory/Ada Lovelace_123_assignsubmission_file_/exercise3.zip")
    content = moodle_feedback([moodle, newer, feigned], {"a": "page a", "b": "page b"})
    archive = zipfile.ZipFile(io.BytesIO(content))
    assert archive.namelist() == [
        "Ada Lovelace_123_assignsubmission_file_/exercise3-report.html",
        "Ada Lovelace_123_assignsubmission_file/exercise3-report.html",
    ]
    assert archive.read(archive.namelist()[0]) == b"page a"
    assert content == moodle_feedback([moodle, newer, entry("c")], {"a": "page a", "b": "page b"})
    assert moodle_feedback([entry("c")], {"c": ""}) is None


def test_feedback_of_two_files_of_one_student_has_two_names():
    """Regression: both had the same name in the archive, of which Moodle would have kept one."""
    folder = "Ada Lovelace_123_assignsubmission_file"
    both = [entry("e3", f"{folder}/e3.zip"), entry("e3-new", f"{folder}/e3-new.zip")]
    archive = zipfile.ZipFile(io.BytesIO(moodle_feedback(both, {"e3": "old", "e3-new": "new"})))
    assert archive.namelist() == [f"{folder}/e3-report.html", f"{folder}/e3-new-report.html"]
    assert [archive.read(name) for name in archive.namelist()] == [b"old", b"new"]


def test_feedback_of_a_file_that_is_called_as_an_exercise_has_a_name_of_its_own():
    """Regression: the second of exercise3, called lab3.zip, had the name of what came of a lab."""
    folder = "Ada Lovelace_123_assignsubmission_file"
    three = [entry("e3", f"{folder}/e3.zip"), entry("Lab3", f"{folder}/Lab3.zip"), entry("x", f"{folder}/x.zip")]
    three[2] = replace(three[2], report=replace(three[2].report, exercise="lab3"))
    archive = zipfile.ZipFile(io.BytesIO(moodle_feedback(three, {"e3": "1", "Lab3": "2", "x": "3"})))
    assert archive.namelist() == [f"{folder}/{name}.html" for name in ("e3-report", "Lab3-report", "lab3-report-2")]


# --- findings


def kinds(entries):
    """(kind, names) of all findings."""
    return [(each.kind, [entry.name for entry in each.entries]) for each in findings(entries)]


def test_identical_work_is_found_once():
    """Two students' same work is one finding, which says whether it may be chance."""
    one, two = entry("a"), entry("b", student="s2", name="Bob")
    assert kinds([one, two]) == [("same work", ["a", "b"])]
    assert findings([one, two])[0].says.endswith("Their parameters are the same too, so it may be chance.")
    two = entry("b", student="s2", name="Bob", parameters={"rate": "500 Mbps"})
    assert findings([one, two])[0].says.endswith("though each has its own parameters.")


def test_what_is_no_chance_comes_first():
    """A group with the same parameters stands below one with different ones."""
    chance = [entry(name, student=name, fingerprint="1" * 64, words={}) for name in "ab"]
    sure = [entry(n, student=n, fingerprint="2" * 64, words={}, parameters={"rate": n}, changes=()) for n in "cd"]
    assert kinds([*chance, *sure]) == [("same work", ["c", "d"]), ("same work", ["a", "b"])]


def test_same_settings_in_other_files_are_found():
    """Another work.sh that sets the same and the same answers are a finding; other answers are none."""
    answered = replace(graded.report().checks[3], seen="937 Mbps")
    checks = (*graded.report().checks[:3], answered)
    one = entry("a", fingerprint="1" * 64, checks=checks, words={})
    two = entry("b", student="s2", name="Bob", fingerprint="2" * 64, checks=checks, words={})
    assert kinds([one, two]) == [("same settings", ["a", "b"])]
    other = (*checks[:3], replace(answered, seen="930 Mbps"))
    assert kinds([one, replace(two, report=replace(two.report, checks=other))]) == []


def test_same_words_are_found():
    """An answer in words that differs in spaces and capitals alone is the same; a short one says nothing."""
    one = entry("a", fingerprint="1" * 64, changes=())
    words = {"why": graded.report().words["why"].upper().replace(" ", "\n ")}
    two = entry("b", student="s2", name="Bob", fingerprint="2" * 64, words=words, changes=())
    assert kinds([one, two]) == [("same words", ["a", "b"])]
    short = [entry(name, student=name, fingerprint=name, words={"why": "loss"}, changes=()) for name in "ab"]
    assert kinds(short) == []


def test_empty_submissions_are_not_alike():
    """Where nothing was done there is nothing to copy."""
    empty = [entry(name, student=name, fingerprint="e" * 64, changes=(), score=0.0, words={}) for name in "ab"]
    assert kinds(empty) == []


def test_one_students_instance_in_two_files():
    """It was handed in twice, or somebody used another's parameters."""
    twice = [entry("a"), entry("b")]
    assert kinds(twice) == [("instance", ["a", "b"])]
    assert "carry the instance of Ada Lovelace (s1)" in findings(twice)[0].says


@pytest.mark.parametrize(
    "label",
    ["exercise3-s200.zip", "Bob Bit_7_assignsubmission_file_/e.zip", "bitbob_12_34_exercise3.zip", "Bit, Bob.zip"],
)
def test_a_file_named_after_another_student(label):
    """The label speaks of Bob, the parameters are Ada's."""
    bob = entry(
        "bob", "exercise3-s200-1.zip", student="s200", name="Bob Bit", fingerprint="2" * 64, changes=(), words={}
    )
    lent = entry("lent", label)
    found = findings([bob, lent])
    assert [(each.kind, each.entries) for each in found] == [("instance", (lent,))]
    assert found[0].says == "the file's name speaks of Bob Bit (s200), its parameters are those of Ada Lovelace (s1)."


def test_a_practice_instance_among_issued_ones():
    """It is named; where all are practice there is nothing to say."""
    public = entry("p", student="practice-3", name="", fingerprint="3" * 64, changes=(), words={})
    assert kinds([entry("a"), public]) == [("practice", ["p"])]
    assert kinds([public]) == []
    assert public.person == "p.zip (practice)"


@pytest.mark.parametrize(
    ("usual", "other", "told"), [(9, 1, False), (10, 1, True), (19, 2, False), (20, 2, True), (30, 30, False)]
)
def test_a_file_of_another_week(usual, other, told):
    """An exercise with at most a tenth of another's submissions is named; two that many handed in are not."""
    plain = {"changes": (), "words": {}, "answers": {}}
    most = [entry(f"a{n}", student=f"s{n}", fingerprint=f"a{n}", **plain) for n in range(usual)]
    plain |= {"exercise": "exercise5", "heading": "Exercise 5: Parallel streams"}
    few = [entry(f"b{n}", student=f"t{n}", fingerprint=f"b{n}", **plain) for n in range(other)]
    found = [each for each in findings([*most, *few]) if each.kind == "other exercise"]
    assert [each.entries for each in found] == [tuple(few)] * told
    assert [each.says for each in found] == [
        f"Exercise 5, but {usual} submissions are of Exercise 3: perhaps another week's file. "
        "Files for platforms have a column for each exercise in which somebody has marks."
    ] * told


def test_platforms_name_whoever_handed_in():
    """Moodle's folders and Canvas's files hold a name, but not those that a student named so in the own folder."""
    assert handed_in_by("Ada Lovelace_123_assignsubmission_file_/exercise3.zip") == "Ada Lovelace"
    feigned = "Bob B_7_assignsubmission_file_"  # a name that somebody gave themselves
    assert handed_in_by(f"{feigned} Eve_8_assignsubmission_file_/{feigned}/lab1.zip") == f"{feigned} Eve"
    assert handed_in_by(f"Ada Lovelace_5_assignsubmission_file_{feigned}x.zip") == "Ada Lovelace"  # of a flat download
    assert handed_in_by("lovelaceada_55_66_Bob Ross_6_assignsubmission_x.zip") == "lovelaceada"
    assert handed_in_by("lovelaceada_LATE_55_66_exercise3-1.zip") == "lovelaceada"
    assert handed_in_by("müllerschmidtjörg_55_66_exercise3.zip") == "müllerschmidtjörg"
    for own in ("exercise3.zip", f"mallory/{feigned}/lab1.zip", "mallory/lovelaceada_55_66_lab3.zip"):
        assert handed_in_by(own) == own


def test_seeds_are_a_courses_own_and_no_student_sees_them():
    """Regression: with 1, 2, and 3 for everybody, settings were tried at home until one run passed."""
    ours, others = Course("a", b"1" * 32), Course("a", b"2" * 32)
    assert seeds_of(None, "exercise7") == SEEDS
    drawn = [seeds_of(course, exercise) for course in (ours, others) for exercise in ("exercise7", "exercise8")]
    assert drawn == [seeds_of(course, exercise) for course in (ours, others) for exercise in ("exercise7", "exercise8")]
    assert len({seed for seeds in drawn for seed in seeds}) == 4 * len(SEEDS)
    assert all(1 <= seed < 2**31 for seeds in drawn for seed in seeds)
    report = replace(graded.report(), environment={"seeds": [7531902], "kernel": "7.3"})
    students, instructors = (read(page)[0] for page in pages(report))
    assert ("7531902" in students, "7531902" in instructors) == (False, True)
