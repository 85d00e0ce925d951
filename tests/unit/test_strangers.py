# SPDX-License-Identifier: BSD-3-Clause
"""The runner of what strangers bring: what a case must show, what it needs, and the page."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

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
    """One list is the other: no case waits for a package that `tools/setup.sh strangers` does not bring."""
    listed = set()
    for name in ("packages.txt", "packages-strangers.txt"):
        lines = (ROOT / "tools" / name).read_text().splitlines()
        listed |= {line for line in lines if line and not line.startswith("#")}
    assert {package for case in runner.cases() for package in case.packages} <= listed


def test_an_output_must_show_everything_in_order(runner):
    """What is missing, or comes before its turn, is named."""
    assert runner.missing(["a+", "b$"], "caab\nb\n") is None
    assert runner.missing(["b", "a"], "aab\n") == "a"
    assert runner.missing(["x"], "") == "x"


def test_a_kernel_without_the_option_skips_the_case(runner):
    """And says which and how to get it."""
    case = runner.Case("wireguard", ["x"], kernel=["WIREGUARD", "TUN"])
    assert runner.wants(case, "CONFIG_WIREGUARD=y\nCONFIG_TUN=y\n") is None
    why = runner.wants(case, "# CONFIG_WIREGUARD is not set\nCONFIG_TUN=y\n")
    assert why == "needs WIREGUARD in the pocket's kernel: run make kernel"


def test_the_page_says_what_failed_and_why(runner):
    """A table row each, with what would break the table made harmless."""
    script = runner.Case("nat", ["x"], kind="NAT")
    tool = runner.Case("nmap", ["x"], command="nmap | head")
    results = [runner.Result(script, "pass", "", "x", 2.4), runner.Result(tool, "fail", "does not show `a|b`")]
    page = runner.page(results, "Linux 7")
    assert "Kernel: Linux 7. 1 of 1 scripts show what they must. 0 of 1 tools show what they must." in page
    assert "| NAT | `nat.py` | pass | 2 s |  |" in page
    assert "| nmap | `nmap \\| head` | fail | does not show `a\\|b` |" in page


def test_what_passed_is_kept_for_the_same_kernel(runner, tmp_path, monkeypatch):
    """A case that fails later is no longer among them; another kernel begins anew."""
    monkeypatch.setattr(runner, "KEPT", tmp_path / "kept/results.json")
    nat, nmap = runner.Case("nat", ["x"]), runner.Case("nmap", ["x"], command="nmap")
    runner.keep([runner.Result(nat, "pass", "", "x", 2.5), runner.Result(nmap, "pass", "", "x", 1.0)], "d1")
    assert runner.kept("d1") == {"nat": 2.5, "nmap": 1.0}
    runner.keep([runner.Result(nmap, "fail", "no")], "d1")
    assert runner.kept("d1") == {"nat": 2.5}
    assert runner.kept("d2") == {}
    runner.keep([runner.Result(nmap, "pass", "", "x", 3.0)], "d2")
    assert runner.kept("d2") == {"nmap": 3.0}
