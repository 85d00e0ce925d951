"""What a student's server sees of the machine under bubblewrap: its own folder, and nothing of others or of the Hub."""

import os
import shutil
import subprocess

import pytest

from linklab.classroom.confinement import confinement, folder_name, own_paths, plain_copies, refuse_shown
from linklab.errors import InputError
from linklab.grade import bubblewrap


@pytest.mark.parametrize("name", ["ada", "a.lovelace", "ada@uni.example", "u_1-x"])
def test_a_plain_name_is_the_folder(name):
    """So that an instructor finds it."""
    assert folder_name(name) == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../hub", "a/b", "-rf", ".programs", "Ada", "ada.", "x" * 65, "é", "+a"]
)
def test_no_name_leads_out_of_the_folder_of_students(name):
    """Any other name is one plain part of a path, and each has its own."""
    found = folder_name(name)
    assert found.startswith("+") and "/" not in found and len(found) < 80
    assert found != folder_name(name + "x")


def test_a_folder_that_every_server_reads_holds_no_students(tmp_path):
    """A Hub that is started in Linklab's own clone would show everybody everything."""
    with pytest.raises(InputError, match="start the Hub in another folder"):
        refuse_shown(tmp_path / "students", [tmp_path])
    refuse_shown(tmp_path / "students", [tmp_path / "linklab"])


def test_the_folder_in_which_the_hub_was_started_is_not_shown(tmp_path, monkeypatch):
    """Python has it in its path, and it holds accounts and everybody's work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert all(path not in (tmp_path, *tmp_path.parents) for path in own_paths())


@pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed (make setup)")
def test_a_student_sees_neither_the_others_nor_the_hub(tmp_path):
    """From inside: the own folder is home and can be written; all else of the Hub's folder is not there at all."""
    if (why := bubblewrap.why_not()) is not None:
        pytest.skip(why)
    for name in ("ada", "bob"):
        (tmp_path / "students" / name).mkdir(parents=True)
        (tmp_path / "students" / name / "work.txt").write_text(f"of {name}")
    (tmp_path / "jupyterhub.sqlite").write_text("secret")
    command = confinement(tmp_path / "students/ada", own_paths(), plain_copies(tmp_path / "students/.programs"), 16)
    script = f"""
cat work.txt; echo; echo new > made.txt
ls {tmp_path} 2>&1
ls -d /proc/[0-9]* | wc -l
for path in /usr /etc / {own_paths()[0]}; do touch $path/x 2>/dev/null && echo "$path can be written"; done
find / -xdev -name jupyterhub.sqlite -o -xdev -path '*bob*' 2>/dev/null
stat -c %u /usr/bin/mount
"""
    done = subprocess.run([*command, "/bin/sh", "-c", script], capture_output=True, text=True, check=False, timeout=60)
    own, missing, processes, *rest = done.stdout.splitlines() or [done.stderr]
    assert own == "of ada"
    assert "No such file" in missing
    assert int(processes) < 8
    assert rest == [str(os.getuid())], "a program that runs as its owner must not be nobody's"
    assert (tmp_path / "students/ada/made.txt").read_text() == "new\n"
