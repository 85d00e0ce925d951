# SPDX-License-Identifier: BSD-3-Clause
"""Linklab without its repository: what a wheel holds, and what is said of the rest."""

import subprocess
import sys
from pathlib import Path

import pytest

from linklab import pocket_kernel
from linklab.base import installation, toml
from linklab.doctor.machine import examine
from linklab.errors import InputError, MissingError
from linklab.lab import model

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
    monkeypatch.setattr(pocket_kernel, "KERNEL_DIR", tmp_path / "kernel")
    return tmp_path


def test_without_a_clone_what_is_missing_is_named(alone):
    """Regression: "there is no lab 8; I have none", FileNotFoundError, a folder among the installed packages."""
    for needs in (
        lambda: model.find_lab("8", alone),
        lambda: model.lab_folders(alone),
        pocket_kernel.require,
    ):
        with pytest.raises(MissingError, match=f"this is not a clone: {alone}/(labs|kernel) is missing"):
            needs()


def test_the_doctor_says_so_too(alone):
    """Instead of failing."""
    (found,) = (check for check in examine() if check.name == "pocket kernel")
    assert (found.status, "this is not a clone" in found.cure) == ("missing", True)


def test_an_installation_is_only_read(tmp_path, monkeypatch):
    """What is made goes to the current folder; in a clone it goes to the clone, from wherever one is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib/topologies").mkdir(parents=True)
    assert installation.installed(tmp_path / "lib")
    assert installation.runs_folder(tmp_path / "lib") == Path("runs")
    assert installation.manuals_folder(tmp_path / "lib") == Path("manuals")
    assert installation.work_folder(tmp_path / "lib/topologies/Lab 1.mn", tmp_path / "lib") == tmp_path
    with pytest.raises(InputError, match=f"recording changes files of Linklab itself, and those in {tmp_path}/lib"):
        installation.refuse_installed("recording", tmp_path / "lib")
    assert installation.runs_folder(ROOT) == ROOT / "runs"
    assert installation.manuals_folder(ROOT) == ROOT / "build/manuals"
    assert installation.work_folder(ROOT / "topologies/Lab 1.mn", ROOT) == ROOT / "topologies"
    installation.refuse_installed("recording", ROOT)


def test_a_clone_that_somebody_else_owns_is_only_read(tmp_path, monkeypatch):
    """What is made there goes to the current folder, as with an installation."""
    (tmp_path / "pyproject.toml").touch()
    assert installation.manuals_folder(tmp_path) == tmp_path / "build/manuals"
    monkeypatch.setattr(installation.os, "access", lambda path, mode: path != tmp_path)
    assert installation.manuals_folder(tmp_path) == Path("manuals")
    assert installation.runs_folder(tmp_path) == Path("runs")


def test_a_lab_s_topology_is_found_from_everywhere(tmp_path, monkeypatch):
    """By its name or with topologies/ before it; the person's own file comes first, other names stay."""
    monkeypatch.chdir(tmp_path)
    ours = ROOT / "topologies/Lab 8.mn"
    assert installation.topology_file(Path("Lab 8.mn"), ROOT) == ours
    assert installation.topology_file(Path("topologies/Lab 8.mn"), ROOT) == ours
    assert installation.topology_file(Path("mine/Lab 8.mn"), ROOT) == Path("mine/Lab 8.mn")
    assert installation.topology_file(Path("Lab 99.mn"), ROOT) == Path("Lab 99.mn")
    Path("Lab 8.mn").touch()
    assert installation.topology_file(Path("Lab 8.mn"), ROOT) == Path("Lab 8.mn")


def test_an_installed_kernel_serves_whoever_has_built_none(tmp_path, monkeypatch):
    """It lies in the installation's kernel/, and one that was built later of a newer Linux comes before it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(pocket_kernel, "KERNEL_DIR", tmp_path / "kernel")
    (tmp_path / "kernel").mkdir()
    (tmp_path / "kernel/fragment.config").write_text("CONFIG_NET=y\n")
    assert pocket_kernel.find() is None
    for base, version in ((tmp_path / "kernel", "7.3.4"), (pocket_kernel.cache_dir(), "7.3.10")):
        folder = base / f"{version}-{pocket_kernel.digest()}"
        folder.mkdir(parents=True)
        (folder / "linux").touch(0o755)
        (folder / "info.json").write_text(f'{{"version": "{version}"}}')
        assert (pocket_kernel.require().path, pocket_kernel.require().version) == (folder / "linux", version)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python before 3.11 has no -P")
@pytest.mark.parametrize("start", [[str(ROOT / ".venv/bin/linklab")], installation.command()])
def test_modules_of_the_current_folder_are_not_loaded(tmp_path, start):
    """Regression: `linklab` in a folder of a student's ran what was called linklab.py or json.py there."""
    for name in ("linklab", "json", "argparse", "numpy", "__main__"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger in the grader')\n")
    (tmp_path / "a.zip").write_bytes(b"no archive")
    done = subprocess.run([*start, "grade", "a.zip"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "stranger" not in done.stdout + done.stderr
    assert "not gradable: the file is no .zip archive" in " ".join(done.stdout.split()).casefold().replace("│ ", "")
