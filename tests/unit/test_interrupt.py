# SPDX-License-Identifier: BSD-3-Clause
"""What Ctrl+C at a run says."""

import os
import signal
import time

import pytest

from linklab.base import installation
from linklab.commands import interrupt


def test_ctrl_c_says_at_once_what_stays(tmp_path, capsys):
    """And then it is the Ctrl+C it was."""
    (tmp_path / "incomplete.json").touch()
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interrupt.says_what_is_left(tmp_path):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)
    said = f"linklab: stopped with Ctrl+C, ending the network; what it has done so far stays in {tmp_path}\n"
    assert capsys.readouterr().err == said
    assert signal.getsignal(signal.SIGINT) is before


def test_what_stays_is_named_with_how_it_is_removed(tmp_path, monkeypatch):
    """A folder of ours by `linklab clean`, from wherever one is; one that was named is the person's."""
    monkeypatch.setattr(installation, "runs_folder", lambda: tmp_path / "runs")
    folder = tmp_path / "runs/lab08-x-seed1"
    assert interrupt.left(folder) == "nothing is left"
    folder.mkdir(parents=True)
    assert interrupt.left(folder) == "nothing is left"
    (folder / "incomplete.json").touch()
    monkeypatch.chdir(tmp_path)
    assert interrupt.left(folder) == f"what it has done so far stays in {folder}; `linklab clean --runs` removes it"
    monkeypatch.chdir("/")
    assert f"`linklab clean --runs {tmp_path}/runs` removes it" in interrupt.left(folder)
    assert interrupt.left(tmp_path) == f"what it has done so far stays in {tmp_path}"
