# SPDX-License-Identifier: BSD-3-Clause
"""A replay compared with the recording of its lab, and what a run records about its machine."""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from scripted import ScriptedEngine, ScriptedNetwork
from test_runner import ANSWERS, Silent, make_lab

from linklab import cli
from linklab.agent import own_kernel
from linklab.base.processor import processor
from linklab.engine import api
from linklab.errors import LabError
from linklab.lab.reference import folder_of
from linklab.lab.saved import load_run
from linklab.run.compare import compared_run, made_differently
from linklab.run.likeness import SAME, against_recording, file_digests, made_otherwise
from linklab.run.record import record
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings
from linklab.run.workfolder import WorkFolder

SHIMS = Path(cli.__file__).parent / "agent/shims"


@pytest.fixture
def lab(tmp_path):
    """A small lab with a recording, made with seed 3."""
    made = make_lab(tmp_path)
    record(made, replay(made, tmp_path / "recorded"))
    return made


def replay(lab, out, answers=ANSWERS, seed=3, **settings):
    """Run it into `out`."""
    chosen = RunSettings(api.Clock.VIRTUAL, seed, "ideal", **settings)
    return run_lab(lab, ScriptedEngine(answers), chosen, out, Silent())


def test_a_replay_that_gives_the_recorded_bytes_says_so(lab, tmp_path):
    """The outputs, the numbers, and the digest of the file that iperf3 wrote equal the recording's."""
    found = against_recording(lab, replay(lab, tmp_path / "again"))
    assert (found.same, found.step, found.words) == (True, "", SAME)
    files = json.loads((folder_of(lab) / "reference.json").read_text())["files"]
    assert list(files) == ["one/out.json"]
    assert len(files["one/out.json"]) == 64


def test_the_first_step_that_differs_is_named_with_its_line(lab, tmp_path):
    """It is named even if a later step differs too."""
    other = ANSWERS | {name: text.replace("0.554", "0.555") for name, text in ANSWERS.items() if isinstance(text, str)}
    assert other != ANSWERS
    found = against_recording(lab, replay(lab, tmp_path / "again", other))
    assert found.step == "probe"
    assert found.words.startswith(
        "other bytes than the recording: step probe is the first that differs: line 2 was "
        '"64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.554 ms", is '
        '"64 bytes from 10.0.0.2: icmp_seq=1 ttl=64 time=0.555 ms"'
    )


def test_a_carriage_return_that_a_terminal_showed_is_no_difference(lab, tmp_path):
    """Regression: Lab 12 never gave the bytes of its recording, whose line "was" what it "is"."""
    run = replay(lab, tmp_path / "again")
    probe = run.steps["probe"]
    shown = replace(run, steps={**run.steps, "probe": replace(probe, output=probe.output.replace("\n", "\r\n"))})
    assert against_recording(lab, shown).words == SAME


def test_what_may_explain_other_bytes_is_told(lab, tmp_path):
    """Another version of iperf3 is told where the bytes differ, and only there."""
    run = replay(lab, tmp_path / "again")
    newer = replace(run, environment={**run.environment, "tools": {"iperf3": "3.16"}})
    reference = folder_of(lab) / "reference.json"
    data = json.loads(reference.read_text())
    data["environment"]["tools"] = {"iperf3": "3.12"}
    reference.write_text(json.dumps(data))
    assert against_recording(lab, newer).causes == ()
    other = replace(newer, steps={**run.steps, "probe": replace(run.steps["probe"], output="")})
    assert against_recording(lab, other).causes == ("made with another iperf3: was 3.12, is 3.16",)


def test_a_line_where_the_recording_has_none_is_named(lab, tmp_path):
    """A step that printed nothing when it was recorded prints a line."""
    longer = against_recording(lab, replay(lab, tmp_path / "a", ANSWERS | {"mkdir one && cd one": "a line\n"}))
    assert (longer.step, longer.words.partition("differs: ")[2]) == ("step-3", 'line 1 was "", is "a line"')


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda output: output.partition("\n")[0], "it ends after line 1, and the recording goes on"),
        (lambda output: f"{output}\nmore", "it goes on after line 11, where the recording ends"),
    ],
)
def test_an_output_that_ends_early_or_goes_on_is_told_by_its_last_common_line(lab, tmp_path, change, told):
    """Regression: an output of one line was said to show "less than 1 lines"."""
    run = replay(lab, tmp_path / "again")
    probe = run.steps["probe"]
    moved = replace(run, steps={**run.steps, "probe": replace(probe, output=change(probe.output))})
    assert against_recording(lab, moved).words.endswith(told)


def test_a_number_or_a_file_that_differs_is_told_where_the_output_does_not(lab, tmp_path):
    """A number of the step is compared, and a file whose contents no number comes from."""
    run = replay(lab, tmp_path / "again")
    moved = replace(run, scalars={**run.scalars, "bulk": {**run.scalars["bulk"], "iperf3.duration": (9.0, "s")}})
    value, unit = run.scalars["bulk"]["iperf3.duration"]
    assert against_recording(lab, moved).words.endswith(f"iperf3.duration was {value!r} {unit}, is 9.0 s")
    path = run.folder / "files/one/out.json"
    path.write_text(path.read_text() + "\n")
    assert against_recording(lab, run).words.endswith("the file one/out.json has other bytes")
    assert against_recording(lab, run).step == "bulk"


def test_a_file_that_only_one_of_them_has_is_a_difference(lab, tmp_path):
    """Regression: a run that wrote a file more than its recording, or a file less, was said to be the same bytes."""
    run = replay(lab, tmp_path / "again")
    (run.folder / "files/one/more.json").write_text("{}")
    probe = run.steps["probe"]
    more = replace(run, steps={**run.steps, "probe": replace(probe, files=("one/more.json",))})
    found = against_recording(lab, more)
    assert (found.step, found.words.partition("differs: ")[2]) == (
        "probe",
        "the recording has no file one/more.json",
    )
    bulk = run.steps["bulk"]
    less = against_recording(lab, replace(run, steps={**run.steps, "bulk": replace(bulk, files=())}))
    assert not less.same
    assert less.words.endswith("no step wrote the file one/out.json")
    older = folder_of(lab) / "reference.json"
    data = json.loads(older.read_text())
    del data["files"]
    older.write_text(json.dumps(data))
    assert against_recording(lab, more).same


def test_what_cannot_be_the_same_is_not_compared(lab, tmp_path):
    """Runs with another seed, section, engine, profile, or steps are not compared, nor those without a recording."""
    run = replay(lab, tmp_path / "again")
    other = replay(lab, tmp_path / "seed", seed=4)
    assert against_recording(lab, other) is None
    assert made_otherwise(lab, other) == "Not compared with the recording, which was made with seed 3."
    for other in (
        {"section": "2"},
        {"settings_only": True},
        {"environment": {"engine": "host"}},
        {"replayed": "0" * 12},
        {"profile": "desktop"},
    ):
        assert against_recording(lab, replace(run, **other)) is None
    shutil.rmtree(folder_of(lab))
    assert against_recording(lab, run) is None


def test_run_tells_the_likeness_and_keeps_its_exit_code(lab, tmp_path, capsys, monkeypatch):
    """It tells in words and as JSON; a difference is not a failure."""
    monkeypatch.setattr("linklab.commands.run.load_engine", lambda name: ScriptedEngine(ANSWERS))
    options = ["--seed", "3", "--cpu", "ideal"]
    assert cli.main(["run", str(lab.folder), *options, "--out", str(tmp_path / "a")]) == 0
    assert "The run gave the same bytes as the recording." in capsys.readouterr().out
    other = ANSWERS | {"mkdir one && cd one": "a line\n"}
    monkeypatch.setattr("linklab.commands.run.load_engine", lambda name: ScriptedEngine(other))
    assert cli.main(["run", str(lab.folder), *options, "--out", str(tmp_path / "b"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["recording"]
    assert (told["same"], told["step"]) == (False, "step-3")


def test_runs_that_differ_name_what_they_were_made_with(lab, tmp_path):
    """Kernel images, tools, and processors are compared; what one run does not record is left out."""
    run = replay(lab, tmp_path / "again")
    environment = {
        "engine": "pocket",
        "kernel": "7.3.4",
        "kernel_digest": "d",
        "tools": {"iperf3": "3.12", "tc": "6.1"},
    }
    machine = {"kernel_sha256": "aa", "processor": {"model": "A 1", "features": "avx fsrm sse"}}
    first = replace(run, environment=environment, machine=machine)
    second = replace(
        run,
        environment={**environment, "tools": {"iperf3": "3.16", "tc": "6.1"}},
        machine={"kernel_sha256": "bb", "processor": {"model": "B 2", "features": "amx avx sse"}},
    )
    assert made_differently(compared_run(first).made, compared_run(first).made) == []
    assert made_differently(compared_run(first).made, compared_run(second).made) == [
        "made with another kernel's SHA-256: was aa, is bb",
        "made with another iperf3: was 3.12, is 3.16",
        "made with another processor: was A 1, is B 2",
        "made with another processor's features: was also fsrm, is also amx",
    ]
    assert made_differently(compared_run(first).made, compared_run(replace(second, machine={})).made) == [
        "made with another iperf3: was 3.12, is 3.16"
    ]


def test_a_run_names_its_machine_and_an_older_one_is_read_without(lab, tmp_path):
    """run.json keeps the machine apart from the environment, so data sets and reports are equal on all machines."""
    run = replay(lab, tmp_path / "again")
    assert run.machine["processor"] == processor()
    path = run.folder / "run.json"
    data = json.loads(path.read_text())
    del data["machine"]
    path.write_text(json.dumps(data))
    assert load_run(run.folder).machine == {}


def test_a_processor_is_its_model_and_features_without_what_changes(tmp_path):
    """The first processor of the file counts, without its clock rate and the number of cores."""
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\nmodel name\t: Xeon\n"
        "stepping\t: 2\ncpu MHz\t\t: 2100.000\nflags\t\t: sse fpu avx\n\nprocessor\t: 1\nmodel name\t: other\n"
    )
    assert processor(cpuinfo) == {"model": "GenuineIntel 6 207 2 Xeon", "features": "avx fpu sse"}
    assert processor(tmp_path / "none") == {}


def test_a_file_that_a_second_network_writes_at_the_same_network_time_is_seen(tmp_path):
    """Size and modification date are equal, because the network's clock is; the machine's change time differs."""
    folder, file = WorkFolder(tmp_path), tmp_path / "out.json"
    file.write_text("{}")
    os.utime(file, ns=(api.VIRTUAL_START_NS, api.VIRTUAL_START_NS))
    assert folder.changed() == ["out.json"]
    assert folder.changed() == []
    before = file.stat().st_ctime_ns
    while file.stat().st_ctime_ns == before:  # its steps are those of the machine's tick
        file.write_text("{}")
        os.utime(file, ns=(api.VIRTUAL_START_NS, api.VIRTUAL_START_NS))
    assert folder.changed() == ["out.json"]


def test_limits_of_memory_are_set_and_read_back(tmp_path, monkeypatch):
    """Limits that the kernel has are set; one that does not take its value is an error."""
    monkeypatch.setattr(own_kernel, "SYSCTLS", tmp_path)
    monkeypatch.setattr(own_kernel.resource, "setrlimit", lambda limit, values: None)
    (tmp_path / "net/ipv4").mkdir(parents=True)
    (tmp_path / "net/ipv4/tcp_mem").write_text("23964\t31952\t47928\n")
    own_kernel.set_limits()
    assert (tmp_path / "net/ipv4/tcp_mem").read_text() == "24000 32000 48000"
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["tcp_mem"]
    (tmp_path / "vm").mkdir()
    (tmp_path / "vm/min_free_kbytes").symlink_to("/dev/null")
    with pytest.raises(OSError, match="min_free_kbytes is  after setting it to 6000"):
        own_kernel.set_limits()


def test_sudo_inside_runs_the_command_as_it_is():
    """sudo's own options are dropped; outside of a pocket there is no price to restore."""
    done = subprocess.run(
        [str(SHIMS / "sudo"), "-E", "NAME=value", "sh", "-c", "echo $NAME"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("value\n", "")


def test_a_run_in_which_a_program_computed_too_long_says_since_when(lab, tmp_path):
    """It names the programs and the time that each let pass; it is not compared with a recording and cannot be one."""
    out = tmp_path / "again"
    assert replay(lab, out).not_repeatable == ""
    data = json.loads((out / "run.json").read_text())
    computed = [("sh", 12.34, 3.0), ("gzip", 20.0, 1.0), ("sh", 30.0, 0.5)]
    data["computed"] = [dict(zip(("program", "from_s", "lasted_s"), one, strict=True)) for one in computed]
    (out / "run.json").write_text(json.dumps(data))
    run = load_run(out)
    assert run.not_repeatable == (
        "From 12.3 s on this run cannot be repeated: a program computed so long that network time "
        "had to go on without it (sh 3.5 s, gzip 1.0 s)."
    )
    assert against_recording(lab, run) is None
    with pytest.raises(LabError, match="cannot be repeated"):
        record(lab, run)


def test_only_on_the_virtual_clock_a_run_says_that_it_cannot_be_repeated(lab, tmp_path, capsys, monkeypatch):
    """Regression: on the paced clock, where no run can be, it was said from the first busy program on."""

    class Computing(ScriptedNetwork):
        def computed(self):
            return [api.Computed("sh", 2.0, 0.5)]

    engine = ScriptedEngine(ANSWERS)
    engine.network = Computing
    monkeypatch.setattr("linklab.commands.run.load_engine", lambda name: engine)
    told = {}
    for clock in ("virtual", "paced"):
        assert cli.main(["run", str(lab.folder), "--clock", clock, "--out", str(tmp_path / clock)]) == 0
        told[clock] = "cannot be repeated" in capsys.readouterr().out
    assert told == {"virtual": True, "paced": False}


def test_the_programs_that_computed_are_read_whatever_they_call_themselves(tmp_path, monkeypatch):
    """Regression: a line break or a byte that is not UTF-8, as prctl(2) allows, was an error at the end of the run."""
    monkeypatch.setattr(own_kernel, "PARAMETERS", tmp_path)
    assert own_kernel.computed() == []
    (tmp_path / "computed").write_bytes(b"2500000000 1000000 bash\n3000000000 2000000 \xff two\nlines of it\n")
    assert own_kernel.computed() == [
        {"program": "bash", "clock_s": 2.5, "s": 0.001},
        {"program": "\ufffd two", "clock_s": 3.0, "s": 0.002},
    ]


def test_of_an_experiment_of_a_campaign_the_data_set_counts(tmp_path):
    """Most else in its folder is made of that; files beside it and in other folders count as ever."""
    names = ["mine/exp.csv", "mine/12/12.flent.gz", "mine/12/exp.html", "mine/12/0/h1/snmp", "7/notes", "mine/exp.svg"]
    for name in (*names, "mine/12/experiment.json"):
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    run = SimpleNamespace(folder=tmp_path, steps={"step": SimpleNamespace(files=tuple(names))})
    assert sorted(file_digests(run)) == ["7/notes", "mine/12/12.flent.gz", "mine/exp.csv"]
