# SPDX-License-Identifier: BSD-3-Clause
"""tools/selftests*.py without a pocket: what the kernel's own tests print, the reasons for failures, and the page."""

import importlib
from pathlib import Path

import pytest

from linklab.errors import InputError

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests/captures"


@pytest.fixture(autouse=True)
def tools(monkeypatch):
    """The tools import one another by their file names."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


@pytest.fixture
def reading():
    """The module that reads what the tests print."""
    return importlib.import_module("selftests_results")


@pytest.fixture
def outcome(reading):
    """Makes an outcome from the text of a run that ended."""

    def make(name, output, status=0, **more):
        return reading.Outcome(name, output, status, **more)

    return make


def capture(name):
    """Text of a capture."""
    return (CAPTURES / name).read_text()


def test_tdc_that_gives_up_after_a_failed_teardown(reading, outcome):
    """A kernel without act_connmark fails the first of 15 tests, and tdc skips the other 14."""
    text = capture("tdc-linux-7.3.4-no-connmark.txt")
    first, second, *others = reading.results(outcome("tc-testing/actions/connmark.json", text, 1))
    assert first == reading.Result(
        "tc-testing/actions/connmark.json: 2002 Add valid connmark action with defaults",
        "fail",
        "Error: Failed to load TC action module. We have an error talking to the kernel",
    )
    assert second == reading.Result(
        "tc-testing/actions/connmark.json: 56a5 Add valid connmark action with control pass",
        "skip",
        "previous teardown failed 2 2002",
    )
    assert len(others) == 13
    assert {result.state for result in others} == {"skip"}


def test_tdc_that_was_cut_short(reading, outcome):
    """A run without its table of results counts as one failure, not as tests that passed."""
    assert reading.results(outcome("tc-testing/qdiscs/red.json", "Test 8b6e: Create RED\n", None, ended="no end")) == [
        reading.Result("tc-testing/qdiscs/red.json", "fail", "no end; last: Test 8b6e: Create RED")
    ]


def test_tdc_without_its_table_has_not_passed(reading, outcome):
    """Regression: tdc that found no tests exits with 0, which counted as a pass."""
    assert reading.results(outcome("tc-testing/qdiscs/red.json", "No tests found\n")) == [
        reading.Result("tc-testing/qdiscs/red.json", "fail", "no results: No tests found")
    ]


def test_tdc_with_fewer_results_than_planned_has_not_passed(reading, outcome):
    """A table that ends early is a failure of the program, beside the results that it has."""
    text = "1..3\nok 1 8b6e - Create RED\nok 2 342e - Create RED with adaptive\n"
    found = reading.results(outcome("tc-testing/qdiscs/red.json", text))
    assert [result.state for result in found] == ["pass", "pass", "fail"]
    assert found[2].note == "2 results of 3 that were planned"


def test_lines_with_a_verdict_in_brackets(reading, outcome):
    """Each "TEST: … [FAIL]" is a failure, with the error that was printed before it."""
    found = reading.results(
        outcome("net/fib_rule_tests.sh", capture("selftests-linux-7.3.4-fib-rule-no-ipv6-tables.txt"), 1)
    )
    assert [result.state for result in found].count("pass") == 8
    assert [result.state for result in found].count("fail") == 10
    assert found[3] == reading.Result(
        "net/fib_rule_tests.sh: rule6 check: iif redirect to table", "fail", "Error: Rule family not supported."
    )
    again = [result.id for result in found if "tos 0x20 no redirect" in result.id]
    assert again[:2] == [
        "net/fib_rule_tests.sh: rule6 check: tos 0x20 no redirect to table",
        "net/fib_rule_tests.sh: rule6 check: tos 0x20 no redirect to table (2)",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("ok 3 rtnetlink.addr", ("rtnetlink.addr", "pass", "")),
        ("not ok 12 - veth GRO", ("veth GRO", "fail", "")),
        ("ok 4 tls.13_sm4 # SKIP no TLS support", ("tls.13_sm4", "skip", "no TLS support")),
        ("not ok 4 mptcp # XFAIL slow machine", ("mptcp", "xfail", "slow machine")),
        ("PASS: policy routing", ("policy routing", "pass", "")),
        ("FAIL: ipv6 address proto", ("ipv6 address proto", "fail", "")),
        ("SKIP: fou: iproute2 too old", ("fou: iproute2 too old", "skip", "")),
        ("[FAIL] unable to connect", ("unable to connect", "fail", "")),
        ("\x1b[32mTEST: ping\x1b[0m          [ OK ]", ("ping", "pass", "")),
        ("1    TEST: test_ndisc:  na=0      [ OK ]", ("test_ndisc:  na=0", "pass", "")),
        ("TEST: FDB limits    [XFAIL]", ("FDB limits", "xfail", "")),
    ],
)
def test_forms_of_a_result(reading, outcome, line, told):
    """Each form of a result gives the test's name, its state, and its message."""
    name, state, note = told
    found = reading.results(outcome("net/x.sh", line + "\n", 1 if state == "fail" else 0))
    assert found == [reading.Result(f"net/x.sh: {name}", state, note)]


@pytest.mark.parametrize(
    "line", ["# ok so far", "okay", "PING 10.0.0.1", "[  1.2] eth0: up", "1..12", "TAP version 13"]
)
def test_lines_that_are_no_result(reading, outcome, line):
    """Other lines are not results, so the exit status decides."""
    assert reading.results(outcome("net/x.sh", f"{line}\n")) == [reading.Result("net/x.sh", "pass")]


def test_exit_status_where_no_line_tells(reading, outcome):
    """Without results in its output a test is judged by its exit status: 0 passed, 4 skipped, others failed."""
    told = [reading.results(outcome("net/amt.sh", "Error: Unknown device type.\n", status))[0] for status in (0, 4, 1)]
    assert [(result.id, result.state, result.note) for result in told] == [
        ("net/amt.sh", "pass", ""),
        ("net/amt.sh", "skip", "Error: Unknown device type."),
        ("net/amt.sh", "fail", "exit 1: Error: Unknown device type."),
    ]


def test_a_failure_that_only_the_status_tells(reading, outcome):
    """A test that passes all its parts and still exits with 1 is a failure."""
    found = reading.results(outcome("net/x.sh", "PASS: one\n", 1))
    assert [(result.id, result.state) for result in found] == [("net/x.sh: one", "pass"), ("net/x.sh", "fail")]


def test_a_warning_in_the_kernels_log(reading, outcome):
    """A warning that the kernel logs while a test passes is a failure of its own."""
    log = "[   12.5] veth0: up\n[   12.6] WARNING: CPU: 0 PID: 99 at net/core/dev.c:1\n"
    assert reading.results(outcome("net/x.sh", "PASS: one\n", kernel=log))[-1] == reading.Result(
        "net/x.sh: the kernel's log", "fail", "WARNING: CPU: 0 PID: 99 at net/core/dev.c:1"
    )


@pytest.fixture
def reasons(tmp_path, reading):
    """Reads reasons from text."""

    def read(text):
        path = tmp_path / "reasons.toml"
        path.write_text(text)
        return reading.read_explanations(path)

    return read


REASONS = """
[[explained]]
title = "No AMT"
tests = ["net/amt.sh", "net/veth.sh: gro*"]
why = "The pocket has no AMT."
"""


def test_reasons_beside_failures(reading, reasons):
    """A failure with a reason is explained; one without is listed, and so is a reason that matches no failure."""
    result = reading.Result
    found = [result("net/amt.sh", "skip"), result("net/veth.sh: gro flags", "pass"), result("net/veth.sh: tso", "fail")]
    judged = reading.judge(found, reasons(REASONS), ["net/amt.sh", "net/veth.sh"])
    assert [(each.title, hits) for each, hits in judged.explained.items()] == [("No AMT", [found[0]])]
    assert judged.unexplained == [found[2]]
    assert judged.idle == ["net/veth.sh: gro*"]


def test_reasons_of_tests_that_were_not_run(reading, reasons):
    """If only some programs were run, a reason for another program is not called idle."""
    judged = reading.judge([reading.Result("net/amt.sh", "skip")], reasons(REASONS), ["net/amt.sh"])
    assert judged.idle == []


def test_a_reason_without_a_title(reasons):
    """A reason that lacks a field is refused, and the message names the fields it needs."""
    with pytest.raises(InputError, match="needs title, tests, and why"):
        reasons('[[explained]]\ntests = ["net/amt.sh"]\nwhy = "It has none."\n')


def test_the_page(reading, reasons):
    """The page counts each folder, and lists failures and skips below their reasons, one row per program."""
    result = reading.Result
    found = [
        result("net/amt.sh", "skip", "Unknown | device"),
        result("net/forwarding/router.sh: ping", "pass"),
        result("tc-testing/actions/ct.json: 696a Add ct", "fail", "no module"),
        result("tc-testing/actions/ct.json: e38c Add ct with cookie", "fail", "no module"),
    ]
    judged = reading.judge(found, reasons(REASONS), ["net/amt.sh"])
    facts = dict.fromkeys(("kernel", "digest", "source", "iproute2", "programs", "minutes"), "x")
    text = importlib.import_module("selftests_page").page(found, judged, facts)
    assert "| tc-testing/actions | 2 | 0 | 0 | 0 | 2 | 2 |\n| net | 1 | 0 | 0 | 1 | 0 | 0 |" in text
    assert "| all | 4 | 1 | 0 | 1 | 2 | 2 |" in text
    assert "### No AMT\n\nThe pocket has no AMT.\n" in text
    assert "| net/amt.sh | skip | 1 |  | Unknown \\| device |" in text
    assert "| tc-testing/actions/ct.json | fail | 2 | 696a; e38c | no module |" in text


def test_the_reasons_in_the_repository(reading):
    """Every reason in tools/selftests.toml can be read, and no pattern occurs twice."""
    patterns = [p for each in reading.read_explanations(ROOT / "tools/selftests.toml") for p in each.tests]
    assert len(patterns) == len(set(patterns))
