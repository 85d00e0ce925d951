"""What the page takes from others: named exactly, nothing of it in the repository, whole or not at all."""

import json
import subprocess

import pytest

from linklab.page import assets


def test_every_package_is_held_by_version_and_digest():
    """The lock knows each package by a digest, and no address of a registry is written down."""
    lock = json.loads((assets.HERE / "package-lock.json").read_text())
    wanted = json.loads((assets.HERE / "package.json").read_text())["dependencies"]
    packages = {name.removeprefix("node_modules/"): entry for name, entry in lock["packages"].items() if name}
    assert {name: entry["version"] for name, entry in packages.items()} == wanted
    assert all(entry["integrity"].startswith("sha512-") for entry in packages.values())
    assert "http" not in (assets.HERE / "package-lock.json").read_text()


def test_each_package_brings_its_licence():
    """A file of a package is only taken along with the licence."""
    of = {
        source.rsplit("/", 1)[0].split("/lib")[0].split("/css")[0].split("/dist")[0] for source in assets.FILES.values()
    }
    licensed = {source.removesuffix("/LICENSE") for source in assets.FILES.values() if source.endswith("/LICENSE")}
    assert of == licensed


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder for what is fetched, and an npm that a test writes."""
    monkeypatch.setattr(assets, "BUILT", tmp_path / "built")
    monkeypatch.setattr(assets, "STAMP", tmp_path / "built/made-of")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")

    def npm(script):
        (tmp_path / "bin/npm").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "bin/npm").chmod(0o755)

    npm("exit 1")
    return npm


def test_what_npm_brings_is_taken_once(place):
    """The second time nothing is asked."""
    lines = [
        f"mkdir -p node_modules/{source.rsplit('/', 1)[0]}; echo {name} > node_modules/{source}"
        for name, source in assets.FILES.items()
    ]
    place("\n".join(['[ "$1 $2" = "ci --ignore-scripts" ] || exit 9', *lines]))
    assert assets.missing().startswith("The terminals and plots of this page are missing: run make setup")
    assert assets.build() == ""
    assert assets.missing() == ""
    assert {path.name for path in assets.BUILT.iterdir()} == {*assets.FILES, "made-of"}
    place("exit 9")
    assert assets.build() == ""


def test_without_a_registry_the_reason_is_said_and_nothing_is_half_there(place):
    """What was there before stays."""
    place("echo npm error network >&2; exit 1")
    assert assets.build() == "npm ci failed: npm error network"
    assert not assets.BUILT.exists()


def test_no_file_of_others_is_committed():
    """`built/` is ignored by git."""
    asked = subprocess.run(
        ["git", "ls-files", "linklab/page/built"], cwd=assets.HERE, capture_output=True, text=True, check=False
    )
    assert asked.stdout == ""
