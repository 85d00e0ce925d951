# SPDX-License-Identifier: BSD-3-Clause
"""Linklab without its repository: what a wheel holds, and what is said of the rest."""

import subprocess
from pathlib import Path

import pytest

from linklab import kernel, lab, runner, toml
from linklab.doctor import examine
from linklab.engine import api
from linklab.errors import MissingError
from linklab.stage import Settings

ROOT = Path(__file__).parents[2]


def test_a_wheel_holds_every_file_of_the_package():
    """What is no Python is named by a pattern; regression: init.sh, the shims and the templates were left out."""
    patterns = toml.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["linklab"]
    held = {path for pattern in patterns for path in (ROOT / "linklab").glob(pattern)}
    listed = subprocess.run(["git", "ls-files", "linklab"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("no git, or no clone")
    needed = {ROOT / name for name in listed.stdout.splitlines() if not name.endswith(".py")}
    assert needed <= held


@pytest.fixture
def alone(tmp_path, monkeypatch):
    """A package with nothing beside it."""
    monkeypatch.setattr(kernel, "KERNEL_DIR", tmp_path / "kernel")
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    return tmp_path


def test_without_a_clone_what_is_missing_is_named(alone):
    """Regression: "there is no lab 8; I have none", FileNotFoundError, a folder among the installed packages."""
    settings = Settings(api.Clock.VIRTUAL, 1, "ideal")
    eight = lab.load_lab(lab.find_lab("8"))
    for needs in (
        lambda: lab.find_lab("8", alone),
        lambda: lab.lab_folders(alone),
        lambda: runner.run_folder(eight, settings),
        kernel.require,
    ):
        with pytest.raises(MissingError, match=f"this is not a clone: {alone}/(labs|kernel) is missing"):
            needs()


def test_the_doctor_says_so_too(alone):
    """Instead of failing."""
    (found,) = (check for check in examine() if check.name == "pocket kernel")
    assert (found.status, "this is not a clone" in found.cure) == ("missing", True)
