# SPDX-License-Identifier: BSD-3-Clause
"""tools/strangers.py without a pocket: what a case must show, what it needs, and the page."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from linklab.errors import BootError, DeadlineError

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runner():
    """tools/strangers.py as a module."""
    spec = importlib.util.spec_from_file_location("strangers_runner", ROOT / "tools/strangers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


def test_every_script_is_a_case_and_every_case_has_something_to_show(runner):
    """A script that no table names would never run; a case without an expectation could not fail."""
    cases = runner.cases()
    scripts = {case.script for case in cases if case.script is not None}
    assert scripts == set((ROOT / "tests/strangers/scripts").glob("*.py"))
    assert len(scripts) == 26
    assert len({case.name for case in cases}) == len(cases)
    assert all(case.shows and all(map(re.compile, case.shows)) for case in cases)


def test_packages_of_cases_are_those_that_the_set_up_installs(runner):
    """No case needs a package that `tools/setup.sh strangers` does not install."""
    listed = set()
    for name in ("packages.txt", "packages-strangers.txt"):
        lines = (ROOT / "tools" / name).read_text().splitlines()
        listed |= {line for line in lines if line and not line.startswith("#")}
    assert {package for case in runner.cases() for package in case.packages} <= listed


def test_an_output_must_show_everything_in_order(runner):
    """The first pattern that is missing, or matches too early, is named."""
    assert runner.missing(["a+", "b$"], "caab\nb\n") is None
    assert runner.missing(["b", "a"], "aab\n") == "a"
    assert runner.missing(["x"], "") == "x"


def test_a_kernel_without_the_option_skips_the_case(runner):
    """The message names the option and how to get it."""
    case = runner.Case("wireguard", ["x"], kernel=["WIREGUARD", "TUN"])
    assert runner.wants(case, "CONFIG_WIREGUARD=y\nCONFIG_TUN=y\n") is None
    why = runner.wants(case, "# CONFIG_WIREGUARD is not set\nCONFIG_TUN=y\n")
    assert why == "needs WIREGUARD in the pocket's kernel: run make kernel"


def test_the_page_says_what_failed_and_why(runner):
    """Each case has a row, in which bars and angle brackets do not break the table."""
    script = runner.Case("nat", ["x"], kind="NAT")
    tool = runner.Case("nmap", ["x"], command="nmap | head")
    results = [runner.Result(script, "pass", "", "x", 2.4), runner.Result(tool, "fail", "does not show `<a|b>`")]
    page = runner.page(results, "Linux 7")
    assert "Kernel: Linux 7.\n1 of 1 scripts show what they must.\n0 of 1 tools show what they must.\n" in page
    assert "| NAT | `nat.py` | pass | 2 s |  |" in page
    assert "| nmap | `nmap \\| head` | fail | does not show `<a\\|b>` |" in page


@pytest.fixture
def results(runner, tmp_path, monkeypatch):
    """The file of results, which is not there yet."""
    path = tmp_path / "kept/results.json"
    monkeypatch.setattr(runner, "KEPT", path)
    return path


def test_passes_are_kept_for_their_kernel(runner, results):
    """A case that fails later is dropped; another kernel begins anew."""
    nat, nmap = runner.Case("nat", ["x"]), runner.Case("nmap", ["x"], command="nmap")
    runner.keep([runner.Result(nat, "pass", "", "x", 2.5), runner.Result(nmap, "pass", "", "x", 1.0)], "d1")
    assert [runner.passed_before(case, "d1") for case in (nat, nmap)] == [2.5, 1.0]
    runner.keep([runner.Result(nmap, "fail", "no")], "d1")
    assert [runner.passed_before(case, "d1") for case in (nat, nmap)] == [2.5, None]
    assert runner.passed_before(nat, "d2") is None
    runner.keep([runner.Result(nmap, "pass", "", "x", 3.0)], "d2")
    assert [runner.passed_before(case, "d2") for case in (nat, nmap)] == [None, 3.0]


def test_a_pass_is_no_longer_one_when_the_case_has_changed(runner, results):
    """Regression: --resume took a pass for a case that had since been asked to show more, or to run something else."""
    runner.keep([runner.Result(runner.Case("nmap", ["x"], command="nmap"), "pass", "", "x", 1.0)], "d1")
    for changed in (
        runner.Case("nmap", ["x", "y"], command="nmap"),
        runner.Case("nmap", ["x"], command="nmap -v"),
        runner.Case("nmap", ["x"], command="nmap", server="nginx"),
    ):
        assert runner.passed_before(changed, "d1") is None


def test_results_without_fingerprints_are_still_read(runner, results):
    """Earlier versions kept the network time alone."""
    results.parent.mkdir()
    results.write_text('{"digest": "d1", "passed": {"nmap": 1.5}}')
    assert runner.passed_before(runner.Case("nmap", ["x"], command="nmap"), "d1") == 1.5


def test_what_breaks_or_shows_something_else_does_not_pass(runner, monkeypatch):
    """A pocket that breaks is an error of ours; a missed deadline is a failure of the case."""
    case = runner.Case("nmap", ["x"], command="nmap")
    for error, verdict in ((BootError("no kernel"), "error"), (DeadlineError("late"), "fail")):

        def broken(*_, error=error):
            raise error

        monkeypatch.setattr(runner, "perform", broken)
        assert runner.judge(case, "").verdict == verdict
    monkeypatch.setattr(runner, "perform", lambda *_: ("no such thing", 1.0))
    assert (runner.judge(case, "").verdict, runner.judge(case, "").why) == ("fail", "does not show `x`")
