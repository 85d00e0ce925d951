# SPDX-License-Identifier: BSD-3-Clause
"""The commands run, record, manual, set-env and labs, on an engine that answers from a table."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from linklab import cli
from linklab.base import installation
from linklab.commands import run as run_command

PING = (Path(__file__).parent.parent / "captures" / "ping-20221126-plain.txt").read_text()
MANUAL = "## A\n\nStep. Ping.\n\n```h1 id=probe\nping -c 3 10.0.0.2\n```\n\n{{probe.ping.rtt.mean}}\n"
TOML = """
number = 1
title = "T"
[[expect]]
step = "probe"
what = "ping.loss.fraction"
value = LOSS
why = "nothing drops"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A lab whose ping loses nothing, and an engine that answers it."""
    path = tmp_path / "labs" / "01-t"
    path.mkdir(parents=True)
    (path / "manual.md").write_text(MANUAL)
    (path / "lab.toml").write_text(TOML.replace("LOSS", "0"))
    monkeypatch.setattr(run_command, "load_engine", lambda name: ScriptedEngine({"ping -c 3 10.0.0.2": PING}))
    return path


def test_run_prints_a_table_and_succeeds(folder, tmp_path, capsys):
    """A run that meets its expectations exits with 0 and says where the report is."""
    assert cli.main(["run", str(folder), "--out", str(tmp_path / "out")]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"probe\s*│ ping\.loss\.fraction\s*│ 0\s*│ 0\s*│\s*│ pass", shown)
    assert f"Report: {tmp_path}/out/report.html" in shown


def test_run_that_misses_an_expectation_exits_with_1(folder, tmp_path, capsys):
    """What was expected and why is said, and the exit code tells."""
    (folder / "lab.toml").write_text(TOML.replace("LOSS", "1"))
    assert cli.main(["run", str(folder), "--out", str(tmp_path / "out")]) == 1
    assert "fail probe ping.loss.fraction: expected 1 (nothing drops), saw 0." in capsys.readouterr().out


def test_run_json_is_json_and_nothing_else(folder, tmp_path, capsys):
    """--json is for programs."""
    assert cli.main(["run", str(folder), "--json", "--out", str(tmp_path / "out")]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [verdict["outcome"] for verdict in data["verdicts"]] == ["pass"]
    assert data["out"] == str(tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "99"], 'linklab: there is no lab "99"; I have'),
        (["run", "no/such"], "linklab: no/such: no lab.toml there"),
        (["manual", "99"], 'linklab: there is no lab "99"'),
        (["set-env", "99"], 'linklab: there is no lab "99"'),
    ],
)
def test_a_lab_that_is_not_there(arguments, says, capsys):
    """One sentence and exit code 2."""
    assert cli.main(arguments) == 2
    assert says in capsys.readouterr().err


def test_a_seed_is_a_number(folder, capsys):
    """A seed that is none is refused before anything starts."""
    with pytest.raises(SystemExit) as caught:
        cli.main(["run", str(folder), "--seed", "-1"])
    assert caught.value.code == 2
    assert "'-1' is no seed" in capsys.readouterr().err


@pytest.mark.parametrize(("loss", "options", "code"), [(0, [], 0), (1, [], 1), (0, ["--json"], 0)])
def test_a_run_goes_on_when_nobody_reads_what_it_says(folder, tmp_path, loss, options, code):
    """`linklab run 14 | head -1` saves the run, and its exit code is the run's; regression: it broke off with 1."""
    (folder / "lab.toml").write_text(TOML.replace("LOSS", str(loss)))
    arguments = ["run", str(folder), "--out", str(tmp_path / "out"), *options]
    program = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from scripted import ScriptedEngine\nfrom linklab import cli\nfrom linklab.commands import run\n"
        f"run.load_engine = lambda name: ScriptedEngine({{'ping -c 3 10.0.0.2': {PING!r}}})\n"
        f"sys.exit(cli.main({arguments!r}))"
    )
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=theirs, stderr=subprocess.PIPE, text=True, check=False, timeout=60
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (code, "")
    assert json.loads((tmp_path / "out/run.json").read_text())["verdicts"][0]["outcome"] == ["pass", "fail"][loss]
    assert (tmp_path / "out/report.html").is_file()
    assert not (tmp_path / "out/incomplete.json").exists()


def test_nothing_of_a_lab_is_obeyed_by_the_terminal(folder, tmp_path, capsys):
    """A title and a step are text in the table, the progress and the report; regression: read as rich's markup."""
    hostile = "[bold]T[/bold] :smile: \\u001b[31m\\u202e"
    (folder / "lab.toml").write_text(TOML.replace("LOSS", "1").replace('"T"', f'"{hostile}"'))
    (folder / "manual.md").write_text(MANUAL.replace("Step. Ping.", "Step. Ping [red]it[/red] \x9b31m."))
    assert cli.main(["run", str(folder), "--out", str(tmp_path / "out")]) == 1
    shown = capsys.readouterr().out
    assert "Lab 1: [bold]T[/bold] :smile: \\x1b[31m\\u202e" in shown
    assert "h1: Ping [red]it[/red] \\x9b31m" in shown
    page = (tmp_path / "out/report.html").read_text()
    assert "[bold]T[/bold] :smile: \\x1b[31m\\u202e" in page
    assert not [c for c in shown + page if c in "\x1b\x9b\u202e"]


def test_record_then_manual(folder, tmp_path, capsys, monkeypatch):
    """The manual quotes what was recorded."""
    page = tmp_path / "page.html"
    assert cli.main(["manual", str(folder), "--out", str(page)]) == 0
    assert "not recorded yet" in page.read_text()
    monkeypatch.setattr(installation, "runs_folder", lambda: tmp_path / "runs")
    assert cli.main(["record", str(folder)]) == 0
    assert "probe.ping.rtt.mean: new" in capsys.readouterr().out
    assert cli.main(["manual", str(folder), "--out", str(page)]) == 0
    assert "not recorded yet" not in page.read_text()


def test_set_env_is_printed_or_written(folder, capsys):
    """Without --write the script goes to the terminal."""
    assert cli.main(["set-env", str(folder)]) == 0
    assert capsys.readouterr().out.startswith("#!/usr/bin/env bash\n# Lab 1:")
    assert cli.main(["set-env", str(folder), "--write"]) == 0
    assert (folder / "set_env.sh").stat().st_mode & 0o111


def test_labs_lists_the_labs(capsys):
    """Each lab is a row of the table."""
    assert cli.main(["labs"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"│ 14\s+│ Router's bufferbloat", shown)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_from_outside_ends_a_run_orderly(folder, tmp_path, monkeypatch, number):
    """The network is closed and the run says that it is not whole; regression: a folder that said nothing."""
    engine = ScriptedEngine({"ping -c 3 10.0.0.2": lambda _: os.kill(os.getpid(), number) or PING})
    monkeypatch.setattr(run_command, "load_engine", lambda name: engine)
    before = signal.getsignal(number)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(folder), "--out", str(tmp_path / "out")])
    assert ended.value.code == 128 + number
    assert engine.networks[0].closed
    assert json.loads((tmp_path / "out/incomplete.json").read_text())["why"] == "ended from outside by a signal"
    assert not (tmp_path / "out/run.json").exists()
    assert signal.getsignal(number) == before
