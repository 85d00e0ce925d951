# SPDX-License-Identifier: BSD-3-Clause
"""tools/setup.py with stand-ins for dpkg-query, sudo and apt-get on PATH; nothing is installed."""

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[2] / "tools/setup.py"


@pytest.fixture
def setup(monkeypatch, tmp_path):
    """The module, in a clone of its own whose PATH holds nothing yet."""
    spec = importlib.util.spec_from_file_location("linklab_setup", SETUP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "tools/packages.txt").write_text("# labs\niperf3\njq\n")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(module, "STAMP", tmp_path / ".venv/linklab-setup")
    monkeypatch.setattr(module, "PACKAGES", tmp_path / "tools/packages.txt")
    monkeypatch.setattr(module, "POLICY", tmp_path / "policy-rc.d")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    return module


def tool(setup, name, script):
    """Put a shell script on PATH that first notes how it was called."""
    path = setup.ROOT / "bin" / name
    path.write_text(f'#!/bin/sh\necho "{name} $*" >> {setup.ROOT}/calls\n{script}\n')
    path.chmod(0o755)


def calls(setup):
    """Commands that were run, in order."""
    return (setup.ROOT / "calls").read_text().splitlines()


def test_what_dpkg_does_not_list_as_installed_is_missing(setup):
    """A removed package whose configuration is left counts as missing too."""
    tool(setup, "dpkg-query", "echo installed jq; echo config-files tcpdump; exit 1")
    assert setup.missing_packages("# labs\niperf3\njq\n\ntcpdump\n") == ["iperf3", "tcpdump"]


def test_without_root_and_sudo_the_command_is_shown(setup, capsys):
    """Exit 4, the packages and the exact command; no apt-get is tried."""
    tool(setup, "dpkg-query", "echo installed jq; exit 1")
    tool(setup, "sudo", "exit 1")
    assert setup.main(["tools"]) == 4
    assert capsys.readouterr().err == (
        "setup: these packages are missing, and installing them needs root; "
        "run: sudo apt-get update && sudo apt-get install iperf3\n"
    )
    assert calls(setup)[-1] == "sudo -n true"
    assert not any(call.startswith("apt-get") for call in calls(setup))


def test_without_dpkg_the_system_is_named(setup, capsys):
    """Another distribution is told so."""
    assert setup.main([]) == 4
    assert "this needs Debian or Ubuntu" in capsys.readouterr().err


def test_with_sudo_the_lists_are_fetched_first_and_no_service_starts(setup, capsys):
    """On a machine without init a policy forbids services while packages are set up, and goes again."""
    state = setup.ROOT / "installed"
    state.write_text("jq\n")
    tool(setup, "dpkg-query", f"while read -r p; do echo installed $p; done < {state}")
    tool(setup, "sudo", '[ "$2" = true ] || { shift; exec "$@"; }')
    tool(setup, "env", 'shift 2; exec "$@"')
    tool(setup, "apt-get", f'case "$*" in *install*) [ -x {setup.POLICY} ] && echo iperf3 >> {state};; esac')
    tool(setup, "install", f"/usr/bin/install -m 755 $3 {setup.POLICY}")
    tool(setup, "rm", f"/bin/rm -f {setup.POLICY}")
    if Path("/run/systemd/system").is_dir():
        setup.POLICY.touch(mode=0o755)  # services may start there, and the stand-in for apt-get wants a policy
    assert setup.main(["packages"]) == 0, capsys.readouterr().err
    fetched = [call for call in calls(setup) if call.startswith("apt-get")]
    assert [call.split()[3:] for call in fetched] == [
        ["update"],
        ["install", "-y", "--no-install-recommends", "iperf3"],
    ]
    assert setup.POLICY.exists() == Path("/run/systemd/system").is_dir()


def test_a_package_that_apt_cannot_install_is_named(setup, capsys):
    """The end of apt's long output says what is still missing."""
    tool(setup, "dpkg-query", "echo installed jq")
    tool(setup, "sudo", '[ "$2" = true ] || { shift; exec "$@"; }')
    tool(setup, "env", 'shift 2; exec "$@"')
    tool(setup, "apt-get", 'case "$*" in *install*) exit 100;; esac')
    setup.POLICY.touch()
    assert setup.main(["packages"]) == 4
    assert "setup: apt-get could not install iperf3; run: sudo" in capsys.readouterr().err


def test_nothing_is_done_twice(setup, capsys):
    """A stamp of the same content ends the set-up at once; another package list starts it again."""
    setup.VENV.mkdir()
    setup.STAMP.write_text(setup._digest())
    assert setup.main(["tools"]) == 0
    assert not (setup.ROOT / "calls").exists()
    setup.PACKAGES.write_text("iperf3\njq\ntcpdump\n")
    tool(setup, "dpkg-query", "echo installed jq")
    tool(setup, "sudo", "exit 1")
    assert setup.main(["tools"]) == 4
    assert "apt-get install iperf3 tcpdump" in capsys.readouterr().err


def test_a_package_of_the_distribution_that_has_gone_is_installed_by_pip(setup, monkeypatch, tmp_path):
    """`.venv` sees the distribution's, so pip had left it out."""
    info = tmp_path / "dist-packages/Jinja2-3.1.2.egg-info"
    info.mkdir(parents=True)
    monkeypatch.setattr(setup, "DISTRIBUTION", info.parent)
    before = setup._digest()
    assert setup._digest() == before
    info.rmdir()
    assert setup._digest() != before


def test_a_clone_that_was_moved_is_set_up_again(setup, monkeypatch, tmp_path):
    """The programs in .venv name the folder they were made in; regression: `make lab` found no interpreter."""
    before = setup._digest()
    monkeypatch.setattr(setup, "ROOT", tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/pyproject.toml").write_text("[project]\n")
    assert setup._digest() != before


@pytest.mark.parametrize(("built", "code"), [(True, 0), (False, 4)])
def test_the_kernel_is_built_once_and_its_failure_is_told(setup, capsys, built, code):
    """`linklab kernel path` decides; a failed build ends the set-up with exit 4."""
    (setup.VENV / "bin").mkdir(parents=True)
    setup.STAMP.write_text(setup._digest())
    linklab = setup.VENV / "bin/linklab"
    linklab.write_text(f'#!/bin/sh\necho "linklab $*" >> {setup.ROOT}/calls\nexit {0 if built else 3}\n')
    linklab.chmod(0o755)
    assert setup.main([]) == code
    assert calls(setup) == ["linklab kernel path"] + ([] if built else ["linklab kernel build"])
    assert ("could not be built (exit 3)" in capsys.readouterr().err) == (not built)


def test_on_arm_no_kernel_is_built(setup, capsys, monkeypatch):
    """The set-up goes on and names the engine that labs run on; regression: it ended with exit 4."""
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    (setup.VENV / "bin").mkdir(parents=True)
    setup.STAMP.write_text(setup._digest())
    assert setup.main([]) == 0
    assert "for x86-64 and this is aarch64; labs run on the host engine" in capsys.readouterr().out


def test_tools_for_an_image_of_arm64_are_installed_for_that_alone(setup, monkeypatch):
    """Who builds the image for PCs does not download them."""
    (setup.VENV / "bin").mkdir(parents=True)
    setup.STAMP.write_text(setup._digest())
    installed = []
    monkeypatch.setattr(setup, "missing_packages", lambda listed: listed.splitlines()[1:])
    monkeypatch.setattr(setup, "install_packages", installed.extend)
    assert setup.main(["vm"]) == 0
    assert not {"qemu-user-static", "qemu-system-arm"} & set(installed)
    assert setup.main(["vm-arm64"]) == 0
    assert {"mmdebstrap", "qemu-user-static", "qemu-system-arm"} <= set(installed)


def test_an_unknown_stage_is_an_input_error(setup, capsys):
    """With the stages that exist."""
    assert setup.main(["everything"]) == 2
    assert "packages, tools, all, browser, firefox, deb, strangers, vm" in capsys.readouterr().err


def test_a_clone_that_was_moved_says_what_mends_it(setup, tmp_path, monkeypatch):
    """Regression: the shell's "bad interpreter", and of a copy the code of the clone that it was copied from."""
    monkeypatch.undo()
    safe = "-P " if sys.version_info >= (3, 11) else ""
    clone = tmp_path / "it's mine"
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/python").write_text('#!/bin/sh\necho "$@"\n')
    program = clone / ".venv/bin/linklab"
    program.write_text(setup.launcher(clone / ".venv"))
    for file in (clone / ".venv/bin").iterdir():
        file.chmod(0o755)
    (tmp_path / "linklab").symlink_to(program)
    for name in (program, tmp_path / "linklab"):
        said = subprocess.run([name, "run", "two words"], capture_output=True, text=True, check=False)
        assert (said.returncode, said.stdout) == (0, f"{safe}-m linklab run two words\n")
    clone.rename(tmp_path / "moved")
    said = subprocess.run([tmp_path / "moved/.venv/bin/linklab"], capture_output=True, text=True, check=False)
    sentence = f"linklab: this clone was made in {clone} and then moved or copied; run make setup in it\n"
    assert (said.returncode, said.stderr) == (4, sentence)


def test_without_a_browser_only_its_tests_are_missing(setup, capsys, monkeypatch):
    """On a system that has none as a package, or without root, the set-up goes on and says what is skipped."""
    setup.STAMP.parent.mkdir()
    setup.STAMP.write_text(setup._digest())
    monkeypatch.setattr(setup, "build_kernel", lambda: None)
    tool(setup, "dpkg-query", "exit 1")
    tool(setup, "sudo", "exit 1")
    assert setup.main(["browser"]) == 0
    assert "chromium chromium-driver; without them the tests of the lab page are skipped" in capsys.readouterr().out


def test_without_npm_only_the_lab_page_lacks_something(setup, capsys, monkeypatch):
    """Debian's npm is asked for only where there is none; without root it is said."""
    tool(setup, "dpkg-query", "exit 1")
    tool(setup, "sudo", "exit 1")
    setup.fetch_page()
    said = capsys.readouterr().out
    assert "sudo apt-get install npm" in said
    assert "without npm `linklab lab` has no terminals and plots" in said
    tool(setup, "npm", "exit 0")
    monkeypatch.setattr(setup, "_run", lambda command, check: command[-1] != "linklab.page.assets")
    setup.fetch_page()
    assert capsys.readouterr().out == ""
