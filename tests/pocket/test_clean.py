# SPDX-License-Identifier: BSD-3-Clause
"""`linklab clean` removes what earlier runs left, by their records, and nothing that is used."""

import fcntl
import json
import os
import socket
import subprocess

import pytest
from pockets import needs_pocket, run_dir_of

from linklab import pocket_kernel
from linklab.cli import main
from linklab.engine.pocket import PocketEngine
from linklab.terminal import attach


@pytest.fixture
def tidy(tmp_path, monkeypatch):
    """An empty place for run directories, sockets and kernels."""
    (tmp_path / "cache/linklab/kernel").mkdir(parents=True)
    monkeypatch.setattr("linklab.commands.clean.run_base", lambda: tmp_path)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def gone_pid() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return process.pid


def test_nothing_to_clean_says_so(tidy, capsys):
    """A clean machine."""
    assert main(["clean"]) == 0
    assert capsys.readouterr().out == "nothing to clean\n"


def test_the_directory_of_a_dead_keeper_goes(tidy, capsys):
    """Only said with --dry-run; a folder without a record stays."""
    left = tidy / f"linklab-{os.getuid()}-dead"
    left.mkdir()
    (left / "owner").write_text(f"{gone_pid()}\n")
    unknown = tidy / f"linklab-{os.getuid()}-unknown"
    unknown.mkdir()
    main(["clean", "--dry-run"])
    assert capsys.readouterr().out == f"would remove run directory {left}\n"
    assert left.exists()
    main(["clean"])
    assert not left.exists()
    assert unknown.exists()


def test_a_recorded_number_that_another_program_has_now_is_not_killed(tidy):
    """The keeper's number belongs to us by now, the kernel's to a sleep: the directory goes, the sleep stays."""
    left = tidy / f"linklab-{os.getuid()}-reused"
    left.mkdir()
    sleep = subprocess.Popen(["sleep", "60"])
    try:
        (left / "owner").write_text(f"{os.getpid()}\n")
        (left / "kernel").write_text(f"{sleep.pid}\n")
        main(["clean"])
        assert not left.exists()
        assert sleep.poll() is None
    finally:
        sleep.kill()
        sleep.wait()


def test_the_kernel_that_a_directory_names_ends(tidy, capsys):
    """A process that names the directory in its arguments is its kernel."""
    left = tidy / f"linklab-{os.getuid()}-kernel"
    left.mkdir()
    kernel_process = subprocess.Popen(["tail", "-f", str(left / "console")], stderr=subprocess.DEVNULL)
    left.joinpath("console").touch()
    kernel_process.kill()
    kernel_process.wait()
    kernel_process = subprocess.Popen(["tail", "-f", str(left / "console")])
    (left / "owner").write_text(f"{gone_pid()}\n")
    (left / "kernel").write_text(f"{kernel_process.pid}\n")
    main(["clean"])
    assert kernel_process.wait(2) == -9
    assert f"removed process {kernel_process.pid}" in capsys.readouterr().out


def test_a_socket_nobody_serves_goes(tidy):
    """A served one stays."""
    folder = attach.folder()
    with socket.socket(socket.AF_UNIX) as stale:
        stale.bind(str(folder / "1.sock"))
    served = socket.socket(socket.AF_UNIX)
    served.bind(str(folder / "2.sock"))
    served.listen()
    main(["clean"])
    served.close()
    assert sorted(path.name for path in folder.glob("*.sock")) == ["2.sock"]


def test_an_interrupted_build_goes_unless_one_is_going_on(tidy, capsys):
    """The lock decides."""
    build = pocket_kernel.cache_dir() / "build-abc"
    build.mkdir()
    with (pocket_kernel.cache_dir() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        main(["clean"])
        assert build.exists()
    main(["clean"])
    assert not build.exists()


def test_runs_that_broke_off_go_only_when_asked_for(tidy):
    """incomplete.json without run.json."""
    for name, files in {"broken": ["incomplete.json"], "whole": ["run.json"]}.items():
        (tidy / "runs" / name).mkdir(parents=True)
        for file in files:
            (tidy / "runs" / name / file).touch()
    main(["clean"])
    assert (tidy / "runs/broken").exists()
    main(["clean", "--runs", str(tidy / "runs")])
    assert [path.name for path in (tidy / "runs").iterdir()] == ["whole"]


def test_runs_of_several_labs_and_killed_ones_go_and_those_that_go_on_stay(tidy, capsys):
    """Regression: neither runs/all-…/labNN nor a run ended by SIGKILL was found."""
    notes = {
        "all-1/lab01": {"why": "running", "pid": gone_pid()},
        "all-2/lab01": {"why": "no room"},
        "killed": {"why": "running", "pid": gone_pid()},
        "going": {"why": "running", "pid": os.getpid()},
    }
    for name, note in notes.items():
        (tidy / "runs" / name).mkdir(parents=True)
        (tidy / "runs" / name / "incomplete.json").write_text(json.dumps(note))
    for name in ("all-2/lab02", "whole"):
        (tidy / "runs" / name / "files").mkdir(parents=True)
        (tidy / "runs" / name / "run.json").touch()
        (tidy / "runs" / name / "files/incomplete.json").write_text("of the lab")
    main(["clean", "--dry-run", "--runs", str(tidy / "runs")])
    gone = ["all-1/lab01", "all-2/lab01", "killed"]
    assert capsys.readouterr().out.split("\n")[:-1] == [f"would remove incomplete run {tidy}/runs/{n}" for n in gone]
    main(["clean", "--runs", str(tidy / "runs")])
    assert sorted(path.name for path in (tidy / "runs").iterdir()) == ["all-2", "going", "whole"]
    assert [path.name for path in (tidy / "runs/all-2").iterdir()] == ["lab02"]
    assert (tidy / "runs/whole/files/incomplete.json").exists()


@pytest.mark.pocket
@needs_pocket[1]
def test_a_running_network_is_not_touched(tmp_path, capsys):
    """Clean beside a running pocket leaves it its directory."""
    with PocketEngine().start(None, workdir=tmp_path) as network:
        main(["clean", "--dry-run"])
        ours = run_dir_of(network.keeper_pid)
        assert str(ours) not in capsys.readouterr().out
        assert network.now_s() >= 0
