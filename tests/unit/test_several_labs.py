# SPDX-License-Identifier: BSD-3-Clause
"""Several labs at once, the state of their references and docs/fidelity.md, on an engine that answers from a table."""

import json
import os
import re
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from linklab import cli
from linklab.base import installation
from linklab.commands import several
from linklab.commands.labs import check_lab
from linklab.errors import LabError
from linklab.lab import fidelity
from linklab.lab.fidelity import check_fidelity, fidelity_text, write_fidelity
from linklab.lab.model import load_lab
from linklab.lab.reference import load_reference, problems, staleness

PING = (Path(__file__).parent.parent / "captures" / "ping-20221126-plain.txt").read_text()
MANUAL = "## A\n\nStep. Ping.\n\n```h1 id=probe\nping -c 3 10.0.0.2\n```\n\n{{probe.ping.rtt.mean}}\n"
TOML = """
number = NUMBER
title = "T"
[[expect]]
step = "probe"
what = "ping.loss.fraction"
value = 0
why = "nothing drops"
series = "0 | none"
"""


def answer(workdir):
    """What ping shows; lab 3 of these tests dies, lab 4 shows nothing."""
    lab = workdir.parent.name
    if lab == "lab03":
        os._exit(9)
    return "" if lab == "lab04" else PING


@pytest.fixture
def labs(tmp_path, monkeypatch):
    """Four labs, and an engine for them."""
    folders = []
    for number in (1, 2, 3, 4):
        folder = tmp_path / "labs" / f"{number:02d}-t"
        folder.mkdir(parents=True)
        (folder / "manual.md").write_text(MANUAL)
        (folder / "lab.toml").write_text(TOML.replace("NUMBER", str(number)))
        folders.append(folder)
    monkeypatch.setattr(several, "lab_folders", lambda: folders)
    monkeypatch.setattr("linklab.commands.several.find_lab", lambda name: folders[int(name) - 1])
    monkeypatch.setattr(several, "load_engine", lambda name: ScriptedEngine({"ping -c 3 10.0.0.2": answer}))
    return folders


def test_labs_are_named_by_number_range_and_all(labs):
    """A range takes what is there; one number alone is one lab."""
    assert several.chosen("all") == labs
    assert several.chosen("1-2,4") == [labs[0], labs[1], labs[3]]
    assert several.chosen("3-9") == labs[2:]
    assert several.chosen("2") is None
    assert several.chosen("02-t") is None
    with pytest.raises(LabError, match="there are no labs 7-9; I have 1, 2, 3, 4"):
        several.chosen("7-9")


def test_labs_that_meet_their_expectations(labs, tmp_path, capsys):
    """A folder for each, a summary for programs and one for people, exit code 0."""
    assert cli.main(["run", "1-2", "--out", str(tmp_path / "out"), "--jobs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "Lab 1: T: pass, 1 of 1 in" in shown
    assert "2 of 2 labs meet all their expectations. 2 s of network time" in shown
    assert (tmp_path / "out" / "lab02" / "report.html").is_file()
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert [(lab["lab"], lab["outcome"], lab["passed"], lab["of"]) for lab in summary["labs"]] == [
        (1, "pass", 1, 1),
        (2, "pass", 1, 1),
    ]
    assert not list((tmp_path / "out").glob("*.log"))


def test_a_lab_that_fails_or_dies_does_not_stop_the_others(labs, tmp_path, capsys):
    """Each is named with its reason, and the exit code is 1."""
    assert cli.main(["run", "all", "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().out
    assert "Lab 3 broken: its process ended without a word" in shown
    assert re.search(r"Lab 4 fail: .*step probe gave no ping.loss.fraction", shown)
    assert "2 of 4 labs meet all their expectations" in shown


def test_run_several_as_json(labs, tmp_path, capsys):
    """--json prints the outcomes and verdicts and nothing else."""
    assert cli.main(["run", "1-2", "--json", "--out", str(tmp_path / "out")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [lab["verdicts"][0]["outcome"] for lab in data["labs"]] == ["pass", "pass"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--section", "1"], "--section is for one lab"),
        (["--jobs", "0"], "--jobs 0; at least one lab runs at a time"),
    ],
)
def test_what_several_labs_cannot_do(labs, tmp_path, capsys, arguments, says):
    """It is said before anything starts."""
    assert cli.main(["run", "all", "--out", str(tmp_path / "out"), *arguments]) == 2
    assert says in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_recording_several_labs(labs, tmp_path, capsys, monkeypatch):
    """Each that meets its expectations is recorded, and what changed is said."""
    monkeypatch.setattr(installation, "runs_folder", lambda: tmp_path / "runs")
    assert cli.main(["record", "1,4"]) == 1
    shown = capsys.readouterr().out
    assert "Lab 1: T:\nprobe.ping.received: new" in shown
    assert "\nrecorded as the reference of Lab 1: " in shown
    assert "reference of Lab 4" not in shown
    assert load_reference(load_lab(labs[0])) is not None
    assert load_reference(load_lab(labs[3])) is None


@pytest.fixture
def recorded(labs, tmp_path, monkeypatch):
    """The first lab, with a reference."""
    monkeypatch.setattr(installation, "runs_folder", lambda: tmp_path / "runs")
    assert cli.main(["record", "1,2"]) == 0
    return labs[0]


def test_several_labs_are_compared_with_their_recordings(recorded, labs, tmp_path, capsys):
    """The table says which gave the recorded bytes, a line where another first differs; the exit code is as before."""
    shown = labs[1] / "reference/outputs/probe.txt"
    shown.write_text(shown.read_text().replace("0.554", "0.555"))
    capsys.readouterr()
    assert cli.main(["run", "1-2", "--out", str(tmp_path / "again")]) == 0
    told = capsys.readouterr().out
    assert re.findall(r"same bytes|differs", told)[:2] == ["same bytes", "differs"]
    assert "Lab 2: other bytes than the recording: step probe is the first that differs: line 2 was" in told
    assert "1 of the 2 labs that were compared gave the bytes of their recordings." in told
    found = json.loads((tmp_path / "again/summary.json").read_text())["labs"]
    assert found[0]["recording"] == "the same bytes as the recording"
    capsys.readouterr()
    assert cli.main(["run", "1-2", "--seed", "2", "--out", str(tmp_path / "other")]) == 0
    assert "recording" not in capsys.readouterr().out.lower()


def test_a_reference_is_current_until_steps_kernel_or_profile_change(recorded):
    """Prose may change; what is typed may not."""
    lab = load_lab(recorded)
    reference = load_reference(lab)
    assert staleness(lab, reference, "k", "desktop") == []
    (recorded / "manual.md").write_text("Some prose.\n\n" + MANUAL)
    assert staleness(load_lab(recorded), reference, "k", "desktop") == []
    reference.data["environment"]["kernel_digest"] = "other"
    assert staleness(lab, reference, "k", "slow-vm") == ["another kernel", "profile desktop"]
    (recorded / "manual.md").write_text(MANUAL.replace("-c 3", "-c 4"))
    assert staleness(load_lab(recorded), reference, "other", "desktop") == ["other steps"]
    assert problems(load_lab(recorded)) == [
        f"{recorded}/manual.md:1: the reference is of other steps; renew it with linklab record 1"
    ]


def test_a_reference_that_misses_an_expectation_is_named_with_its_line(recorded):
    """Changing lab.toml after the recording shows."""
    (recorded / "lab.toml").write_text(TOML.replace("NUMBER", "1").replace("value = 0", "value = 1"))
    found = problems(load_lab(recorded))
    assert len(found) == 1
    assert f"{recorded}/lab.toml:4: the reference does not meet this: probe ping.loss.fraction" in found[0]


def test_fidelity_has_a_row_for_each_expectation_and_the_notes(recorded, monkeypatch):
    """What the series reported stands beside ours; a lab without reference says so; bars do not break the table."""
    (recorded / "fidelity.md").write_text("- The series differs.\n")
    text = fidelity_text([load_lab(recorded), load_lab(recorded.parent / "03-t")])
    assert "## Lab 1: T\n\nOurs: seed 1, virtual clock, profile desktop, Linux scripted.\n" in text
    assert "| probe: ping.loss.fraction | 0 \\| none | 0 | 0 | pass |" in text
    assert "\n\n- The series differs.\n" in text
    assert "## Lab 3: T\n\nNot recorded yet.\n" in text


def test_fidelity_that_drifted_is_named(recorded, tmp_path, monkeypatch):
    """The check names file and line, and writing cures it."""
    monkeypatch.setattr(fidelity, "lab_folders", lambda: [recorded])
    path = tmp_path / "fidelity.md"
    with pytest.raises(LabError, match=r"fidelity.md:1: is not what the references give"):
        check_fidelity(path)
    assert write_fidelity(path)
    assert not write_fidelity(path)
    check_fidelity(path)
    path.write_text(path.read_text().replace("| pass |", "| fail |"))
    with pytest.raises(LabError, match=r"fidelity.md:1\d: is not"):
        check_fidelity(path)


def test_the_table_of_labs_shows_minutes_and_state(capsys, monkeypatch, recorded):
    """A lab that is broken is a row too."""
    bad = recorded.parent / "05-bad"
    bad.mkdir()
    (bad / "lab.toml").write_text("number = 5\n")
    monkeypatch.setattr("linklab.commands.labs.lab_folders", lambda: [recorded, recorded.parent / "03-t", bad])
    assert cli.main(["labs"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"│ 1 +│ T +│ built in the lab │ +│ 0\.0 min +│ current \(seed 1\)", shown)
    assert re.search(r"│ 3 +│ T +│ built in the lab │ +│ +│ none", shown)
    assert re.search(r"│ 5 +│ bad ", shown)


def test_what_does_not_fit_together_is_named_with_file_and_line(recorded, monkeypatch):
    """A broken block, an unknown step, a number that was not recorded, a missing reference."""
    monkeypatch.setattr("linklab.commands.labs.lab_folders", lambda: [recorded])

    def found(manual=MANUAL, toml=TOML):
        (recorded / "manual.md").write_text(manual)
        (recorded / "lab.toml").write_text(toml.replace("NUMBER", "1"))
        return "\n".join(check_lab(recorded.name))

    assert f"{recorded}/manual.md:5: the block is never closed" in found("## A\n\nText.\n\n```h1\nls\n")
    assert f'{recorded}/lab.toml:4: the manual has no step "nix"' in found(toml=TOML.replace('"probe"', '"nix"'))
    assert f"{recorded}/manual.md:9: the reference of probe has no ping.no" in found(MANUAL.replace("rtt.mean", "no"))
    (recorded / "reference" / "reference.json").unlink()
    assert f"{recorded}/manual.md:1: there is no reference; make it with linklab record 1" in found()
