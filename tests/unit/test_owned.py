# SPDX-License-Identifier: BSD-3-Clause
"""Folders that belong to a process: those that SIGKILL left are found, and no others."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from linklab.base import owned
from linklab.cli import main

ROOT = Path(__file__).resolve().parents[2]
MAKES = "import sys; from pathlib import Path; from linklab.base import owned; "


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Temporary files go to tmp, and we work in here."""
    (tmp_path / "tmp").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def killed(line: str) -> Path:
    """The folder that a process made which was killed."""
    process = subprocess.Popen([sys.executable, "-c", MAKES + line], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    made = Path(process.stdout.readline().decode().strip())
    assert not owned.left(Path()), "while it lives its folder is not left"
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return made


@pytest.mark.parametrize("prefix", owned.FOLDERS)
def test_what_a_killed_process_left_is_found_and_cleaned(prefix, place, capsys):
    """Of temporary files and in the working folder; what belongs to us or to nobody stays."""
    wait = "print(made, flush=True); sys.stdin.read()"
    in_tmp = killed(f"made = owned.make('{prefix}'); (made / 'work').mkdir(); {wait}")
    assert owned.left(Path()) == [in_tmp]
    assert main(["clean", "--dry-run"]) == 0
    assert f"would remove folder {in_tmp} that a killed test or grading left" in capsys.readouterr().out
    main(["clean"])
    here = killed(f"made = owned.make('.linklab-test-', Path()); {wait}")
    ours = owned.make("linklab-test-")
    (place / "tmp/linklab-test-nobody").mkdir()
    (place / "tmp/linklab-test-odd").mkdir()
    (place / "tmp/linklab-test-odd/owner.json").write_text("[]")
    (place / "tmp/linklab-test-link").symlink_to(here.resolve())
    assert owned.left(Path()) == [here]
    main(["clean"])
    assert sorted(path.name for path in (place / "tmp").glob("linklab-test-*")) == sorted(
        [ours.name, "linklab-test-link", "linklab-test-nobody", "linklab-test-odd"]
    )
    assert not list((place / "here").iterdir())


def test_a_number_that_another_process_has_got_is_told_apart(place):
    """By when it began; a number of another namespace says nothing."""
    made = owned.make("linklab-test-")
    note = json.loads((made / owned.OWNER).read_text())
    assert note["pid"] == os.getpid()
    (made / owned.OWNER).write_text(json.dumps({**note, "began": note["began"] - 1}))
    assert owned.left(Path()) == [made]
    (made / owned.OWNER).write_text(json.dumps({**note, "began": note["began"] - 1, "pids": note["pids"] + 1}))
    assert owned.left(Path()) == []


def test_a_folder_goes_with_its_block(place):
    """On every way out."""
    with pytest.raises(ZeroDivisionError), owned.temporary("linklab-test-") as made:
        assert (made / owned.OWNER).exists()
        raise ZeroDivisionError
    assert not made.exists()
