# SPDX-License-Identifier: BSD-3-Clause
"""tools/mininet_suite.py without a pocket: which cases there are, what unittest's output means, and the page."""

import contextlib
import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab.errors import BootError, DeadlineError

TOOLS = Path(__file__).parents[2] / "tools"
ONE = "mininet.test.test_nets.testOne.testPing"


@pytest.fixture
def suite(monkeypatch, tmp_path):
    """The tool with a folder and a page of its own, and a kernel that was never built."""
    monkeypatch.syspath_prepend(str(TOOLS))
    suite = importlib.import_module("mininet_suite")
    kernel = SimpleNamespace(digest="aaa", version="7.3.4")
    monkeypatch.setattr(suite, "pocket_kernel", SimpleNamespace(require=lambda: kernel))
    monkeypatch.setattr(suite, "KEPT", tmp_path / "kept")
    return suite


@pytest.fixture
def sources(tmp_path):
    """Two files of tests, one with a family of two classes."""
    tests = tmp_path / "sources/mininet/test"
    tests.mkdir(parents=True)
    (tests / "test_nets.py").write_text(
        "import unittest\n"
        "class Base(object):\n    def testPing(self): pass\n    def helper(self): pass\n"
        "class testOne(Base, unittest.TestCase):\n    def testMore(self): pass\n"
        "class notATest(Base): pass\n"
    )
    (tests / "runner.py").write_text("class testNone(unittest.TestCase):\n    def testX(self): pass\n")
    return tmp_path / "sources"


def test_cases_are_read_with_what_their_classes_inherit(suite, sources):
    """Methods of a base in the same file count; helpers, other classes, and other files do not."""
    assert list(suite.cases(sources)) == ["mininet.test.test_nets.testOne.testMore", ONE]


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("testPing ... ok\n\n-----\nRan 1 test in 2.1s\n\nOK\n", ("pass", "")),
        ("testPing ... skipped 'no xterm'\n\nRan 1 test in 0.0s\n\nOK (skipped=1)\n", ("skip", "no xterm")),
        (
            "Traceback\nAssertionError: 4 != 0\n\nRan 1 test in 1s\n\nFAILED (failures=1)\n",
            ("fail", "AssertionError: 4 != 0"),
        ),
        ("Ran 0 tests in 0.000s\n\nOK\n", ("fail", "unittest found no test of this name")),
        ("OK\nKilled\n", ("fail", "unittest printed no result")),
    ],
)
def test_what_unittest_printed_is_judged(suite, said, found):
    """Only one test that ran is a pass; regression: Python 3.11 says OK where it found no test."""
    assert suite.judge(said) == found


@pytest.mark.parametrize(
    ("error", "result"), [(DeadlineError("no end"), "hangs"), (BootError("no kernel"), "error"), (None, "pass")]
)
def test_a_pocket_that_breaks_is_not_the_fault_of_the_case(suite, sources, monkeypatch, error, result):
    """Only a missed deadline is a case that hangs; what happened is kept with its kernel."""

    @contextlib.contextmanager
    def started(topology, **options):
        def run(actions, **options):
            if error:
                raise error
            return [SimpleNamespace(start_s=1.0, end_s=3.0, output="Ran 1 test in 2s\n\nOK\n")]

        yield SimpleNamespace(run=run)

    monkeypatch.setattr(suite, "started", started)
    with contextlib.closing(suite.Pockets(sources)) as pockets:
        outcome = pockets.perform(ONE)
    assert (outcome.result, outcome.why, outcome.kernel) == (result, str(error or ""), "aaa")
    assert suite.kept(ONE) == outcome
    suite.pocket_kernel.require().digest = "bbb"
    assert suite.kept(ONE) is None


def test_an_outcome_kept_without_its_kernel_is_still_read(suite):
    """Earlier versions kept five fields."""
    suite.KEPT.mkdir()
    (suite.KEPT / f"{ONE}.json").write_text(
        f'{{"case": "{ONE}", "result": "pass", "why": "", "wall_s": 1.0, "network_s": 2.0}}'
    )
    assert suite.kept(ONE) == suite.Outcome(ONE, "pass", "", 1.0, 2.0)


def test_an_explained_case_has_to_fail_and_another_one_must_not(suite):
    """A broken pocket is never expected."""
    known, other = "mininet.examples.test.test_nat.testNAT.testNAT", ONE
    for case, result, unexpected in (
        (known, "fail", False),
        (known, "hangs", False),
        (known, "pass", True),
        (known, "error", True),
        (other, "fail", True),
        (other, "hangs", True),
        (other, "skip", False),
        (other, "pass", False),
    ):
        assert suite.Outcome(case, result, "why", 1.0, 1.0).unexpected is unexpected, (case, result)


def test_the_page_counts_and_gives_reasons(suite):
    """A reason of ours stands in place of the traceback's; a broken pocket is counted apart."""
    nat = "mininet.examples.test.test_nat.testNAT.testNAT"
    outcomes = [
        suite.Outcome(ONE, "pass", "", 9.0, 2.4),
        suite.Outcome(nat, "fail", "AssertionError: 1 != 0", 9.0, 3.0),
        suite.Outcome("mininet.test.test_x.testX.testY", "hangs", "a | b", 9.0, 0.0),
        suite.Outcome("mininet.test.test_x.testX.testZ", "error", "no <kernel>", 9.0, 0.0),
    ]
    page = suite.page(outcomes, ["mininet.examples.test.test_x.testX.testY"], "2.3.0", "Linux 7")
    assert "Without a result on this kernel: `examples.x.testX.testY`.\n" in page
    assert (
        "Mininet 2.3.0 on Linux 7: 4 cases, of which 1 pass, 2 fail, and 0 are skipped by the suite itself. "
        "In 1 more the pocket broke.\n"
    ) in page
    assert "| `nets.testOne.testPing` | pass | 2 s |  |\n" in page
    assert "| fail | 3 s | pings an address on the Internet, which a pocket cannot reach |\n" in page
    assert "| `x.testX.testY` | hangs | 0 s | a \\| b |\n" in page
    assert "| error | 0 s | no &lt;kernel> |\n" in page
