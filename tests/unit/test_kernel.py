# SPDX-License-Identifier: BSD-3-Clause
"""Building the pocket kernel as far as it can be tried without a compiler: the cache, patches, what was not taken."""

import io
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab import pocket_kernel
from linklab.base import place
from linklab.cli import main
from linklab.engine.pocket import PocketEngine
from linklab.errors import InputError, MissingError
from linklab.pocket_kernel import build
from linklab.pocket_kernel.tools import Tools


def silent(what, share):
    """Nobody listens."""


@pytest.fixture
def tools(tmp_path):
    """Programs of a build that leave their output in a file."""
    with (tmp_path / "log").open("w") as log:
        yield Tools(tmp_path, log, tmp_path / "log")


def test_a_cache_that_cannot_be_made_is_named_with_its_cure(tmp_path, monkeypatch):
    """Regression: NotADirectoryError."""
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(MissingError, match=r"file/linklab/kernel: cannot be made: .*; set XDG_CACHE_HOME"):
        build.build(silent)


def test_a_source_that_is_none_leaves_nothing(tmp_path, monkeypatch):
    """Named as the person gave it; the cache holds no kernel and no scratch folder."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_check_tools", lambda: None)
    archive = tmp_path / "linux-7.3.tar.xz"
    archive.write_text("no archive")
    with pytest.raises(InputError, match="not an archive that tar can read"):
        build.build(silent, archive)
    assert sorted(path.name for path in pocket_kernel.cache_dir().iterdir()) == ["build.log", "lock"]


def test_what_a_killed_build_left_goes_with_the_next(tmp_path, monkeypatch):
    """Regression: its gigabytes stayed in the cache; the log of a build that failed stays."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(build, "_check_tools", lambda: None)
    cache = pocket_kernel.cache_dir()
    (cache / "build-x1/linux").mkdir(parents=True)
    (cache / "build.log").touch()
    free = {True: 3 << 30, False: 7 << 30}  # while it lies there, and without it
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free[(cache / "build-x1").exists()]))
    with pytest.raises(InputError):
        build.build(silent, tmp_path / "none.tar.xz")
    assert not (cache / "build-x1").exists()
    assert (cache / "build.log").exists()


def test_a_patch_that_does_not_apply_is_named(tmp_path, tools):
    """With the versions it is proven for."""
    tree = tmp_path / "linux"
    tree.mkdir()
    with pytest.raises(InputError, match=r"0001-um-hz-1000.patch does not apply to Linux 7.9; proven are 7.3"):
        build._patch(tools, tree, "7.9")


@pytest.mark.parametrize("version", ["6.12.1", "8.0"])
def test_a_linux_without_patches_of_its_own_is_refused(tmp_path, tools, version):
    """Regression: 6.12 took the common patches alone, and in the kernel that came of it no network could start."""
    with pytest.raises(InputError, match=rf"Linux {version}: the pocket kernel needs Linux 7.3"):
        build._patch(tools, tmp_path, version)


def test_a_program_that_fails_has_no_output_to_be_read(tmp_path, tools):
    """Regression: the version of a source without a Makefile was "", which ended in a ValueError further on."""
    with pytest.raises(MissingError, match=r"could not read the version \(exit 3\); see .*log"):
        tools.read(["sh", "-c", "echo 7.3; echo why >&2; exit 3"], tmp_path, "read the version")
    assert (tmp_path / "log").read_text() == "why\n"
    assert tools.read(["echo", " 7.3 "], tmp_path, "read the version") == "7.3"


def test_options_that_a_version_does_not_take_are_kept(tmp_path, monkeypatch):
    """They become part of what `linklab kernel info` says; regression: they were written and thrown away."""
    monkeypatch.setattr(build, "KERNEL_DIR", tmp_path)
    (tmp_path / "fragment.config").write_text("# why\nCONFIG_NET=y\nCONFIG_NEW=y\nCONFIG_OLD=n\n")
    (tmp_path / ".config").write_text("CONFIG_NET=y\n")
    tools = Tools(tmp_path, io.StringIO(), tmp_path / "log")
    monkeypatch.setattr(tools, "run", lambda *_: None)
    assert build._configure(tools, tmp_path) == ["CONFIG_NEW=y"]
    assert tools.output.getvalue() == "not taken: CONFIG_NEW=y\n"


def test_the_newest_kernel_of_this_configuration_is_found(tmp_path, monkeypatch):
    """7.10 is newer than 7.9; another digest, a folder without its program or with a broken note does not count."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ours = pocket_kernel.digest()
    for version, digest in (("7.9", ours), ("7.10", ours), ("8.0", "0" * 12), ("9.0", ours), ("9.1", ours)):
        folder = pocket_kernel.cache_dir() / f"{version}-{digest}"
        folder.mkdir(parents=True)
        (folder / "info.json").write_text("{" if version == "9.1" else json.dumps({"version": version}))
        if version != "9.0":
            (folder / "linux").touch(mode=0o755)
    found = pocket_kernel.find()
    assert (found.version, found.path) == ("7.10", pocket_kernel.cache_dir() / f"7.10-{ours}" / "linux")


def test_building_again_says_where_it_is(tmp_path, monkeypatch, capsys):
    """One line; regression: none."""
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(tmp_path / "linux", "7.3.4", "0", {}))
    assert main(["kernel", "build"]) == 0
    assert capsys.readouterr() == ("", f"pocket kernel 7.3.4 is built already: {tmp_path}/linux\n")


def test_without_a_kernel_the_cure_is_named(tmp_path, monkeypatch):
    """`make kernel`."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path(tmp_path)))
    with pytest.raises(MissingError, match="run `make kernel`"):
        pocket_kernel.require()


def test_an_engine_is_ready_with_a_kernel_and_a_place_for_its_memory(tmp_path, monkeypatch):
    """Both are looked for before anything is made."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(MissingError, match="run `make kernel`"):
        PocketEngine().check()
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(tmp_path / "linux", "7.3", "0", {}))
    monkeypatch.setattr(place, "candidates", lambda: [tmp_path])
    PocketEngine().check()
    with pytest.raises(MissingError, match="MiB of memory"):
        PocketEngine(memory_mib=2**40).check()
