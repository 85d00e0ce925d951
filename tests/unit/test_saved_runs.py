# SPDX-License-Identifier: BSD-3-Clause
"""What can be done with the folder of a finished run: it is read, reported, compared, drawn and recorded."""

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from scripted import ScriptedEngine
from test_runner import ANSWERS, PING, Silent, make_lab

from linklab import cli
from linklab.data import open_file, save
from linklab.engine import api
from linklab.errors import DataError, LabError
from linklab.lab.model import find_lab, load_lab
from linklab.lab.reference import load_reference
from linklab.lab.saved import load_run
from linklab.measure import Quantity, measure
from linklab.run.compare import compared_run, differences, is_same
from linklab.run.record import record
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings

LOSSY = PING.replace("5 received, 0% packet loss", "4 received, 20% packet loss")


def replay(lab, out, answers=ANSWERS, **settings):
    """Run it into `out`."""
    return run_lab(lab, ScriptedEngine(answers), RunSettings(api.Clock.VIRTUAL, 3, "ideal", **settings), out, Silent())


@pytest.fixture
def lab(tmp_path):
    """A small lab on the topology of Lab 8."""
    return make_lab(tmp_path)


@pytest.fixture
def run(lab, tmp_path):
    """A run of it, copied away from where it was made, as from another machine."""
    replay(lab, tmp_path / "made")
    return load_run(shutil.copytree(tmp_path / "made", tmp_path / "elsewhere" / "run"))


def edit(run, **parts):
    """Change run.json."""
    path = run.folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | parts))
    return run.folder


def test_each_step_that_measured_something_has_a_data_set(run):
    """run.json names the files; a data set says how it came about, and names no folder of the machine."""
    files = {step.id: step.data_file for step in run.steps.values() if step.data_file}
    assert files == {"bulk": "data/04-bulk.flent.gz", "probe": "data/05-probe.flent.gz"}
    bulk = run.data("bulk")
    assert bulk.metadata == {
        "lab": 1,
        "slug": "01-t",
        "step": "bulk",
        "terminal": "h1",
        "commands": ["iperf3 -c 10.0.0.2 -J > out.json"],
        "start_s": 3.0,
        "end_s": 4.0,
        "clock": "virtual",
        "seed": 3,
        "profile": "ideal",
        "environment": {"kernel": "scripted"},
        "tool": "iperf3",
        "source": "step bulk",
    }
    assert bulk.flent["TITLE"] == "Lab 1: T: Test and ping at the same time"
    assert {series.source for series in bulk.series.values()} == {"one/out.json"}
    assert run.data("probe").tool == "ping"


def test_a_data_set_holds_what_was_measured(run):
    """Nothing is lost or rounded on the way through the file."""
    bulk, measured = run.data("bulk"), measure("", [run.folder / "files/one/out.json"])
    assert bulk.scalars == measured.scalars
    assert list(bulk.series) == list(measured.series)
    for name, series in measured.series.items():
        assert bulk.series[name].time_s.tolist() == series.time_s.tolist()
        assert (bulk.series[name].value == series.value).all()
    assert run.scalars["bulk"] == {name: (found.value, found.unit) for name, found in measured.scalars.items()}


def test_what_is_loaded_is_what_the_run_gave(lab, tmp_path):
    """A run is read back equal, output byte for byte, carriage returns too."""
    done = replay(lab, tmp_path / "run", ANSWERS | {"mkdir one && cd one": "10 %\r20 %\r\ndone\n"})
    assert load_run(done.folder) == done
    assert done.steps["step-3"].output == "10 %\r20 %\r\ndone\n"
    assert done.steps["server"].output == "Server listening\n"


def test_the_same_run_gives_the_same_bytes(lab, tmp_path):
    """Data sets do not depend on the folder, the day or the machine."""
    first, second = replay(lab, tmp_path / "a"), replay(lab, tmp_path / "b" / "c")
    for name in ("data/04-bulk.flent.gz", "data/05-probe.flent.gz"):
        assert (first.folder / name).read_bytes() == (second.folder / name).read_bytes()
    assert is_same(compared_run(first), compared_run(second))


def test_a_step_that_cannot_be_stored_breaks_itself_alone(lab, tmp_path, monkeypatch):
    """A measurement that no data set can hold, an infinite one, costs its step and not the run."""

    def endless(text, files, source, *, partial):
        found = measure(text, files, source, partial=partial)
        return replace(found, scalars={name: Quantity(math.inf, "s") for name in found.scalars if files})

    monkeypatch.setattr("linklab.run.replay.measure", endless)
    done = replay(lab, tmp_path / "run")
    assert list(done.broken) == ["bulk"]
    assert done.broken["bulk"].endswith("must be finite, not inf; leave out what was not measured")
    assert done.steps["bulk"].data_file == ""


def test_a_run_can_be_reported_without_lab_kernel_or_engine(run, lab, tmp_path):
    """`linklab report` and `linklab plot` import no engine, and the lab may be gone."""
    shutil.rmtree(lab.folder)
    program = (
        "import sys; from linklab import cli; code = cli.main(sys.argv[1:]); "
        "found = [m for m in sys.modules if m.startswith(('linklab.engine', 'linklab.agent'))]; "
        "sys.exit(code or ' '.join(found) or 0)"
    )
    for arguments in (["report", str(run.folder)], ["plot", str(run.folder), "bulk/rtt", "--out", "rtt.svg"]):
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "rtt.svg").read_bytes().startswith(b"<?xml")
    page = (run.folder / "report.html").read_text()
    assert "Clock virtual, seed 3, profile ideal" in page
    assert "nothing drops" in page
    assert "data:image/svg+xml" in page


def test_the_page_goes_where_it_is_wanted(run, tmp_path, capsys):
    """--out names it, with folders that are made for it; a place where none can be is named."""
    assert cli.main(["report", str(run.folder), "--out", str(tmp_path / "page.html")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/page.html\n"
    assert 'href="elsewhere/run/files/one/out.json"' in (tmp_path / "page.html").read_text()
    assert cli.main(["report", str(run.folder), "--out", str(tmp_path / "new" / "page.html")]) == 0
    assert 'href="../elsewhere/run/files/one/out.json"' in (tmp_path / "new" / "page.html").read_text()
    capsys.readouterr()
    assert cli.main(["report", str(run.folder), "--out", str(tmp_path / "page.html" / "page.html")]) == 2
    assert "page.html/page.html: cannot be written: " in capsys.readouterr().err


def test_what_can_be_drawn_of_a_run_is_listed(run, capsys):
    """Without a step, `linklab plot RUN` names steps and figures."""
    assert cli.main(["plot", str(run.folder)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "Lab 1: T, seed 3: steps and their figures"
    assert shown[1].startswith("  bulk: throughput rtt cwnd retransmits")
    assert shown[2] == "  probe: ping-rtt"


def test_figures_of_a_run(run, tmp_path, capsys, monkeypatch):
    """One figure, several steps and panels in one, or all of a step; each says where it is."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["plot", str(run.folder), "bulk+probe/throughput+ping-rtt", "probe"]) == 0
    assert capsys.readouterr().out.splitlines() == ["bulk+probe-throughput+ping-rtt.pdf", "probe-ping-rtt.pdf"]
    assert Path("bulk+probe-throughput+ping-rtt.pdf").read_bytes().startswith(b"%PDF")
    assert cli.main(["plot", "results", str(run.folder), "probe", "--out", "figures"]) == 0
    assert capsys.readouterr().out == "figures/probe-ping-rtt.pdf\n"


def test_figures_of_data_files(run, tmp_path, capsys, monkeypatch):
    """A file stands for itself, wherever it is; several are lines of one figure."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(run.folder / "data/04-bulk.flent.gz", "one.flent.gz")
    shutil.copy("one.flent.gz", "two.flent.gz")
    assert cli.main(["plot", "one.flent.gz", "two.flent.gz", "rtt", "--out", "both.svg"]) == 0
    drawn = Path("both.svg").read_text()
    assert "<!-- one bbr -->" in drawn
    assert "<!-- two bbr -->" in drawn
    capsys.readouterr()
    assert cli.main(["plot", "one.flent.gz"]) == 0
    assert "one-throughput.pdf" in capsys.readouterr().out.splitlines()


FLENTS = {
    "version": 4,
    "metadata": {
        "NAME": "tcp_1up",
        "TITLE": "a test",
        "SERIES_META": {"Ping (ms) ICMP": {"UNITS": "ms"}, "TCP upload": {"UNITS": "Mbits/s"}},
    },
    "x_values": [0.0, 0.2, 0.4],
    "results": {"Ping (ms) ICMP": [20.0, None, 21.5], "TCP upload": [9.1, 9.4, 9.2]},
    "raw_values": {},
}


def test_figures_of_a_file_of_flents(tmp_path, capsys, monkeypatch):
    """The table of figures knows none of its series, so there is a figure for each unit."""
    monkeypatch.chdir(tmp_path)
    Path("tcp.flent").write_text(json.dumps(FLENTS))
    assert cli.main(["plot", "tcp.flent"]) == 0
    assert capsys.readouterr().out.splitlines() == ["tcp-ms.pdf", "tcp-Mbits-per-s.pdf"]
    assert cli.main(["plot", "tcp.flent", "ms", "--out", "ms.svg"]) == 0
    assert "<!-- (ms) -->" in Path("ms.svg").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nowhere"], "nowhere: neither the folder of a run nor a data file"),
        (["RUN", "nix/rtt"], 'there is no step "nix"; the steps with figures are bulk, probe'),
        (["RUN", "server"], "step server measured nothing to draw; the steps with figures are bulk, probe"),
        (["RUN", "probe/nope"], 'probe: there is no figure "nope"; there is ping-rtt'),
        (["RUN", "probe/rtt"], "probe: there is no rtt over time; there is ping-rtt"),
        (["RUN", "bulk", "--out", "x.svg"], "x.svg: there are 4 figures to write; give a folder with --out"),
    ],
)
def test_what_cannot_be_drawn_is_said(run, capsys, arguments, says):
    """One sentence and exit code 2."""
    assert cli.main(["plot", *(word.replace("RUN", str(run.folder)) for word in arguments)]) == 2
    assert says in capsys.readouterr().err


def test_of_many_steps_the_command_that_lists_them_is_named(run, capsys, monkeypatch):
    """Regression: forty-four names filled the terminal."""
    monkeypatch.setattr("linklab.commands.plot_results._MOST_NAMES", 1)
    assert cli.main(["plot", str(run.folder), "nix"]) == 2
    assert f"linklab plot {run.folder} lists the 2 steps that have figures" in capsys.readouterr().err


def test_a_damaged_data_file_is_named_and_the_others_are_listed(run, capsys):
    """Regression: the list ended at the first file that could not be read."""
    (run.folder / "data/04-bulk.flent.gz").write_bytes(b"\x1f\x8b broken")
    assert cli.main(["plot", str(run.folder)]) == 2
    shown = capsys.readouterr()
    assert shown.out.splitlines()[1:] == ["  probe: ping-rtt"]
    assert "data/04-bulk.flent.gz: " in shown.err
    assert cli.main(["plot", str(run.folder), "nix"]) == 2
    assert "the steps with figures are probe" in capsys.readouterr().err


def legend(names, out="both.svg"):
    """The words of a figure of these files, other than those of its axes."""
    assert cli.main(["plot", *map(str, names), "rtt", "--out", out]) == 0
    return {word for word in re.findall("<!-- (.*?) -->", Path(out).read_text()) if word.endswith(" bbr")}


def test_the_same_step_of_several_runs_is_labelled_by_what_differs(run, lab, tmp_path, monkeypatch):
    """Regression: the legend was the whole path, and pushed the axes into half of the figure."""
    monkeypatch.chdir(tmp_path)
    other = replay(lab, tmp_path / "elsewhere" / "another")
    files = [found.folder.relative_to(tmp_path) / "data/04-bulk.flent.gz" for found in (run, other)]
    assert legend(files) == {"run bbr", "another bbr"}
    data = open_file(files[1])
    save(replace(data, metadata={**data.metadata, "seed": 4}), files[1])
    assert legend(files) == {"seed 3 bbr", "seed 4 bbr"}


def test_a_long_label_loses_its_middle(run, tmp_path, monkeypatch):
    """Runs differ at the ends of their names; where two are still the same, they are numbered."""
    monkeypatch.chdir(tmp_path)
    names = [f"{'x' * 40}-seed{number}.flent.gz" for number in (1, 2)]
    for name in names:
        shutil.copy(run.folder / "data/04-bulk.flent.gz", name)
    assert legend(names) == {f"xxxxxxxxxx…{'x' * 13}-seed{number} bbr" for number in (1, 2)}
    shutil.copy(names[0], f"{'x' * 12}y{'x' * 27}-seed1.flent.gz")
    assert legend([names[0], f"{'x' * 12}y{'x' * 27}-seed1.flent.gz"]) == {
        f"{number}: xxxxxxxxxx…{'x' * 13}-seed1 bbr" for number in (1, 2)
    }


def test_a_name_that_a_terminal_would_obey_is_spelt_out_there(run, tmp_path, capsys, monkeypatch):
    """A program gets the path as it is, since that is its result."""
    monkeypatch.chdir(tmp_path)
    assert cli.main(["plot", str(run.folder), "probe", "--out", "a\x1b[31m"]) == 0
    assert capsys.readouterr().out == "a\x1b[31m/probe-ping-rtt.pdf\n"
    monkeypatch.setattr("linklab.base.streams._Watched.isatty", lambda stream: True)
    assert cli.main(["plot", str(run.folder), "probe", "--out", "a\x1b[31m"]) == 0
    assert capsys.readouterr().out == "a\\x1b[31m/probe-ping-rtt.pdf\n"


@pytest.mark.parametrize("words", [["plot"], ["plot", "results"]])
def test_the_help_names_steps_that_lab_14_has(words, capsys):
    """Regression: all examples were of a step "bulk", which no lab has; the data files have their step's number."""
    with pytest.raises(SystemExit):
        cli.main([*words, "--help"])
    shown = capsys.readouterr().out
    steps = [step.id for step in load_lab(find_lab("14")).manual.steps]
    named = re.findall(r"lab14-\S+-seed1 ([a-z+-]+)(?:/| )", shown)
    files = re.findall(r"data/(\d+)-(\S+)\.flent", shown)
    assert named
    assert {step for target in named for step in target.split("+")} <= set(steps)
    assert all(steps[int(number) - 1] == step for number, step in files)


@pytest.mark.parametrize("page", ["README.md", "docs/writing-a-lab.md"])
def test_the_pages_name_steps_that_lab_14_has(page):
    """Regression: their examples were of a step "bulk" too."""
    steps = {step.id for step in load_lab(find_lab("14")).manual.steps}
    text = (Path(__file__).parents[2] / page).read_text()
    named = re.findall(r"plot RUN ([a-z+-]+)/", text)
    assert named
    assert {step for target in named for step in target.split("+")} <= steps


def test_the_example_of_the_page_on_data_files_runs(run, tmp_path, monkeypatch):
    """It gets one series out of a data file."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(run.folder / "data/04-bulk.flent.gz", "23-bdp.flent.gz")
    page = (Path(__file__).parents[2] / "docs" / "data-files.md").read_text()
    found = {}
    exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], found)  # noqa: S102 - our own page
    assert found["rtt"].unit == "s"
    assert len(found["rtt"].time_s) == len(found["rtt"].value) > 0


def test_two_runs_are_compared(run, lab, tmp_path, capsys):
    """Verdicts and numbers that differ are named, and the exit code tells."""
    same = replay(lab, tmp_path / "same")
    assert cli.main(["compare", str(run.folder), str(same.folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "verdicts: the same; numbers, outputs and data sets: the same, to the last byte"
    )
    other = replay(lab, tmp_path / "other", ANSWERS | {"ping -c 3 10.0.0.1": LOSSY})
    lines = differences(compared_run(run), compared_run(other))
    assert lines[0] == "probe ping.loss.fraction: was pass, is fail"
    assert "probe.ping.received: was 5, is 4" in lines
    assert cli.main(["compare", str(run.folder), str(other.folder)]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"was: {run.folder} (seed 3, virtual clock, profile ideal)"
    assert shown[1] == f"is:  {other.folder} (seed 3, virtual clock, profile ideal)"
    assert shown[2:-1] == lines
    assert re.fullmatch(r"verdicts: 1 of \d+ differ; \d of \d+ numbers differ", shown[-1])


def test_a_damaged_data_set_is_never_the_same(run, lab, tmp_path, capsys):
    """Both sides' data sets are opened; one that cannot be read is named, and the exit code tells."""
    same = replay(lab, tmp_path / "same")
    (run.folder / "data/05-probe.flent.gz").write_bytes(b"garbage")
    for sides in ((run, same), (same, run), (run, run)):
        assert cli.main(["compare", *(str(side.folder) for side in sides)]) == 1
        shown = capsys.readouterr().out.splitlines()
        assert shown[2].startswith(f"{run.folder}/data/05-probe.flent.gz: cannot be unpacked: ")
        assert shown[-1] == (
            "verdicts: the same; numbers and outputs: the same, to the last byte; data sets that cannot be read: 1"
        )


def test_another_data_set_is_not_the_same(run, lab, tmp_path, capsys):
    """Numbers may be equal where the series behind them are not."""
    same = replay(lab, tmp_path / "same")
    shutil.copy(run.folder / "data/04-bulk.flent.gz", same.folder / "data/05-probe.flent.gz")
    assert cli.main(["compare", str(run.folder), str(same.folder)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "verdicts: the same; numbers and outputs: the same, to the last byte; 1 of 2 data sets differs"
    )


def test_a_run_of_one_section_is_compared_by_its_steps(run, lab, tmp_path, capsys, monkeypatch):
    """What it did not do is not listed."""
    monkeypatch.setattr("linklab.commands.compare.find_lab", lambda slug: lab.folder)
    record(lab, run)
    found = json.loads((run.folder / "run.json").read_text())
    verdicts = [
        verdict | ({"outcome": "skipped"} if "probe" in verdict["steps"] else {}) for verdict in found["verdicts"]
    ]
    edit(
        run,
        section="2",
        steps=[step for step in found["steps"] if step["step"] != "probe"],
        measured=[step for step in found["measured"] if step != "probe"],
        verdicts=verdicts,
    )
    assert cli.main(["compare", str(run.folder)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[2] == f"{run.folder}: this run has section 2 only, so only its steps are compared"
    assert shown[3:] == [
        "verdicts: the same; numbers and outputs: the same, to the last byte; a reference keeps no data sets to compare"
    ]


def test_a_run_is_compared_with_the_reference(run, lab, capsys, monkeypatch):
    """The reference of the lab is the other side unless a run is named."""
    monkeypatch.setattr("linklab.commands.compare.find_lab", lambda slug: lab.folder)
    assert cli.main(["compare", str(run.folder)]) == 2
    assert "this lab has no reference; give another run to compare with" in capsys.readouterr().err
    record(lab, run)
    assert cli.main(["compare", str(run.folder), "reference"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[1] == "is:  the reference of Lab 1 (seed 3, virtual clock, profile ideal)"
    assert cli.main(["compare", str(run.folder)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "was: the reference of Lab 1 (seed 3, virtual clock, profile ideal)"
    assert shown[1] == f"is:  {run.folder} (seed 3, virtual clock, profile ideal)"
    assert shown[-1] == (
        "verdicts: the same; numbers and outputs: the same, to the last byte; a reference keeps no data sets to compare"
    )


def test_a_folder_that_is_not_there_is_said(tmp_path, capsys):
    """Empty text is not the folder of today, and a file is no folder."""
    (tmp_path / "file").write_text("")
    for name, says in (
        ("", "the folder of the run is empty text; give a folder that linklab run has left"),
        (f"{tmp_path}/nowhere", "nowhere: there is no such folder; give a folder that linklab run has left"),
        (f"{tmp_path}/file", "file: this is not a folder; give a folder that linklab run has left"),
    ):
        for command in ("compare", "report"):
            assert cli.main([command, name]) == 2
            assert says in capsys.readouterr().err


def test_runs_of_different_labs_are_not_compared(run, tmp_path, capsys):
    """Their steps have nothing to do with each other."""
    other = shutil.copytree(run.folder, tmp_path / "other")
    edit(load_run(other), slug="02-u")
    assert cli.main(["compare", str(run.folder), str(other)]) == 2
    assert "this is a run of 02-u, not of 01-t; give runs of one lab" in capsys.readouterr().err


def test_an_earlier_run_becomes_the_reference(run, lab, capsys, monkeypatch):
    """`linklab record RUN` gives the reference that recording at once gives, byte for byte."""
    monkeypatch.setattr("linklab.commands.record.find_lab", lambda slug: lab.folder)
    record(lab, replay(lab, run.folder.parent / "fresh"))
    fresh = {path.name: path.read_bytes() for path in (lab.folder / "reference").rglob("*.*")}
    shutil.rmtree(lab.folder / "reference")
    assert cli.main(["record", str(run.folder)]) == 0
    shown = capsys.readouterr().out
    assert "probe.ping.rtt.max: new" in shown
    assert shown.splitlines()[-1] == f"recorded as the reference of Lab 1: {lab.folder.resolve()}/reference"
    assert {path.name: path.read_bytes() for path in (lab.folder / "reference").rglob("*.*")} == fresh
    assert load_reference(lab).recorded.scalars == run.scalars


def test_record_says_what_it_takes(capsys, tmp_path):
    """A lab or a run, and the options of a replay are for the first."""
    with pytest.raises(SystemExit):
        cli.main(["record", "--help"])
    shown = " ".join(capsys.readouterr().out.split())
    assert "LAB|RUN" in shown
    assert "the folder of an earlier run" in shown
    assert "They do not apply to an earlier RUN" in shown
    for name, says in (("", "is empty text; give"), (f"{tmp_path}/nowhere", "nowhere: there is no such folder; give")):
        assert cli.main(["record", name]) == 2
        assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"section": "2"}, "a reference is recorded from a run of the whole lab"),
        ({"settings_only": True}, "a reference is recorded from a run of the whole lab"),
        ({"environment": {"engine": "host"}}, "so only the pocket makes one"),
        ({"clock": "paced"}, "this run is of the paced clock, on which no run can be repeated"),
        ({"replayed": "0"}, "this is a run of other steps than those of 01-t now; replay the lab"),
        ({"unclaimed": ["a.json"]}, "several steps may have written a.json; say which by files=PATH at its block"),
    ],
)
def test_a_run_that_is_no_reference_is_refused(run, lab, changed, says):
    """It is of a part of the lab, of another machine's own clock, of another manual, or in doubt."""
    with pytest.raises(LabError, match=says):
        record(lab, load_run(edit(run, **changed)))
    assert load_reference(lab) is None


def test_an_older_run_says_that_it_is_older(run):
    """And a newer one that it is newer."""
    with pytest.raises(
        DataError, match=r"run.json: this run is of an older Linklab \(format 1, I read 2\); replay the"
    ):
        load_run(edit(run, format=1))
    with pytest.raises(DataError, match=r"this run is of a newer Linklab \(format 3, I read 2\); use that Linklab"):
        load_run(edit(run, format=3))


def test_a_folder_that_is_no_whole_run_is_refused(tmp_path):
    """One that broke off is told from one that is something else."""
    with pytest.raises(DataError, match=r"this is no whole run: it has no run\.json; give a folder that linklab run"):
        load_run(tmp_path)
    (tmp_path / "incomplete.json").write_text("{}")
    with pytest.raises(DataError, match="this is no whole run: it broke off, or goes on"):
        load_run(tmp_path)


STEP = {
    "step": "a",
    "title": "",
    "terminal": "h1",
    "typed": "",
    "exit_status": 0,
    "start_s": 0,
    "end_s": 1,
    "files": [],
}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"lab": "1"}, "lab must be a whole number, not '1'"),
        ({"network_s": None}, "network_s must be a number, not None"),
        ({"steps": [{}]}, "it has no 'step'"),
        ({"steps": [STEP | {"output_file": "../../secret", "data_file": None}]}, "leads out of the folder of the run"),
        ({"steps": [STEP | {"output_file": "/etc/hostname", "data_file": None}]}, "leads out of the folder of the run"),
        ({"steps": [STEP | {"output_file": "none", "data_file": None}]}, "No such file or directory"),
        ({"verdicts": [{}]}, "it has no 'step'"),
        ({"format": "2"}, "cannot be read"),
    ],
)
def test_a_damaged_run_is_one_sentence(run, changed, says):
    """Whatever is wrong with run.json, the message names it; no file outside the folder is read."""
    with pytest.raises(DataError, match=says) as refused:
        load_run(edit(run, **changed))
    assert str(refused.value).startswith(f"{run.folder}/run.json: ")


def test_a_damaged_data_set_is_named(run, capsys):
    """The report and the list of figures name the file and go on with the others; the exit code tells."""
    (run.folder / "data/04-bulk.flent.gz").write_bytes(b"garbage")
    assert cli.main(["report", str(run.folder)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"linklab: {run.folder}/data/04-bulk.flent.gz: cannot be unpacked: ")
    assert said.out == f"{run.folder}/report.html\n"
    page = (run.folder / "report.html").read_text()
    assert "data/04-bulk.flent.gz: cannot be unpacked: " in page
    assert "data:image/svg+xml" in page
    assert cli.main(["plot", str(run.folder)]) == 2
    said = capsys.readouterr()
    assert said.out.splitlines()[1:] == ["  probe: ping-rtt"]
    assert said.err.startswith(f"linklab: {run.folder}/data/04-bulk.flent.gz: cannot be unpacked: ")


@pytest.mark.parametrize("name", ["run.json", "data/new.html", "files/one/out.json", "steps/page.html"])
def test_the_page_replaces_no_part_of_the_run(run, capsys, name):
    """A run that was measured cannot be made again by a report of it."""
    before = {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()}
    assert cli.main(["report", str(run.folder), "--out", str(run.folder / name)]) == 2
    assert f"{name}: this is a part of the run, which the page must not replace; " in capsys.readouterr().err
    assert {path: path.read_bytes() for path in run.folder.rglob("*") if path.is_file()} == before


def test_the_page_replaces_pages_alone(run, tmp_path, capsys):
    """Another file that is there stays, also behind a link; a page is renewed."""
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    (tmp_path / "link.html").symlink_to(notes)
    for name in ("notes.txt", "link.html"):
        assert cli.main(["report", str(run.folder), "--out", str(tmp_path / name)]) == 2
        assert f"{name}: this file is not a page (.html), so it is not replaced" in capsys.readouterr().err
    assert notes.read_text() == "mine"
    for _ in range(2):
        assert cli.main(["report", str(run.folder), "--out", str(run.folder / "mine.html")]) == 0
    assert cli.main(["report", str(run.folder), "--out", str(tmp_path)]) == 2
    assert "this is a folder; give --out another name" in capsys.readouterr().err
    assert cli.main(["report", str(run.folder), "--out", ""]) == 2
    assert "give the name of the page, such as report.html" in capsys.readouterr().err


def test_a_run_json_that_is_no_json_says_where(run):
    """In our words, with the line."""
    path = run.folder / "run.json"
    path.write_text(path.read_text()[:2000])
    lines = path.read_text().count("\n") + 1
    with pytest.raises(DataError) as refused:
        load_run(run.folder)
    assert str(refused.value) == (
        f"{path}:{lines}: cannot be read: the JSON breaks off; copy the run again, or replay the lab"
    )


def test_a_broken_off_run_keeps_the_data_of_its_steps(lab, tmp_path):
    """Steps are written as they end, so what was measured before stays."""

    def stop(workdir):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        replay(lab, tmp_path / "run", ANSWERS | {"iperf3 -s": stop})
    found = sorted((tmp_path / "run" / "data").iterdir())
    assert [path.name for path in found] == ["04-bulk.flent.gz", "05-probe.flent.gz"]
    assert open_file(found[0]).tool == "iperf3"
