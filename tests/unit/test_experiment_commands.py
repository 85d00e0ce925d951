# SPDX-License-Identifier: BSD-3-Clause
"""`linklab batch` as a person uses it, with trials that need no network."""

import json
import re
import shlex
from pathlib import Path

import pytest
import trials

from linklab.cli import build_parser, main
from linklab.errors import MissingError
from linklab.experiment.trial_folder import read_journal

BATCH = """
[Batch::base]
abstract = yes
path = 10mbit 50ms ${q}
length = 5
for_q = q_*
repetitions = 2
filename_extra = ${q}-${repetition}
[Batch::up]
inherits = base
test_name = tcp_1up
[Batch::two]
inherits = base
test_name = tcp_2up
[Arg::q_1]
q = pfifo
[Arg::q_2]
q = codel
"""


@pytest.fixture(autouse=True)
def no_network(monkeypatch, tmp_path):
    """Trials are done without one, and runs are kept apart."""
    monkeypatch.setattr("linklab.experiment.trial.run_trial", trials.fake)
    monkeypatch.setattr("linklab.engine.pocket.PocketEngine.check", lambda self: None)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def batch(tmp_path):
    """A batch file of eight trials."""
    path = tmp_path / "lab.batch"
    path.write_text(BATCH)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """All that is in a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_dry_run_says_what_would_be_run_and_how_long_it_is(batch, capsys):
    """A line for each trial; nothing is made."""
    assert main(["batch", str(batch), "--dry-run", "--no-shuffle", "-j1"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "would run up: q_1, repetition 01 → up-pfifo-01.flent.gz",
        "    tcp_1up on 10mbit 50ms pfifo, 5 s, seed 1",
    ]
    assert sum("would run" in line for line in lines) == 8
    assert re.fullmatch(r"8 trials, 2 min of network time: about [1-4]\d s, at a guess\.", lines[-1])
    assert sorted(path.name for path in batch.parent.iterdir()) == ["lab.batch"]
    more = ["--override", "length=7", "--override", "test_parameters=tcp_cong_control=reno", "--override", "title=a b"]
    assert main(["batch", "-B", str(batch), "-b", "up", "-n", "-v", "--no-shuffle", *more]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == [
        "would run up: q_1, repetition 01 → up-pfifo-01.flent.gz",
        "    tcp_1up on 10mbit 50ms pfifo, 7 s, seed 1, tcp_cong_control = reno",
        "    title a b",
    ]


def test_a_dry_run_refuses_what_a_run_refuses(batch, tmp_path, capsys, monkeypatch):
    """With the same words: a word that no kernel knows, a folder that is in use, a machine without the kernel."""
    (tmp_path / "used").mkdir()
    (tmp_path / "used/file").write_text("")
    (tmp_path / "file").write_text("")

    def lacks(engine: object) -> None:
        raise MissingError("there is no kernel")

    for options, machine in (
        (["--override", "test_parameters=cc_algos=cubci", "--override", "test_name=tcp_nup"], False),
        (["--override", "test_parameters=upload_streams=x", "--override", "test_name=tcp_nup"], False),
        (["--out", str(tmp_path / "used")], False),
        (["--out", str(tmp_path / "file")], False),
        (["--resume", str(tmp_path)], False),
        (["--jobs", "0"], False),
        ([], True),
    ):
        if machine:
            monkeypatch.setattr("linklab.engine.pocket.PocketEngine.check", lacks)
        dry = main(["batch", str(batch), "-n", *options]), capsys.readouterr().err
        run = main(["batch", str(batch), *options]), capsys.readouterr().err
        assert dry == run
        assert dry[0] == (4 if machine or "cubci" in str(options) else 2)


def test_a_loop_that_changes_nothing_is_named(batch, tmp_path, capsys):
    """Because the path does not say ${q}, or a command that does is left out: all its trials would be the same."""
    batch.write_text(BATCH.replace("50ms ${q}", "50ms").replace("[Arg::q_2]", "[Arg::q_2]\nqq = 3"))
    assert main(["batch", str(batch), "-b", "up", "-n"]) == 0
    said = capsys.readouterr().err
    assert "[Batch::base]: the loop for_q changes nothing that is run, because no test, path, parameter, or" in said
    assert "uses what q_1, q_2 set; the trials differ only in their names" in said
    assert 'lab.batch:18: [Arg::q_2]: nothing refers to "qq"' in said
    command = "commands = c\n[Command::c]\ntype = pre\nwhere = host\nexec = echo ${q}\n"
    batch.write_text(BATCH.replace("50ms ${q}", "50ms").replace("[Batch::up]", f"{command}[Batch::up]"))
    assert main(["batch", str(batch), "-b", "up", "-n"]) == 0
    assert "the loop for_q changes nothing" in capsys.readouterr().err
    assert main(["batch", str(batch), "-b", "up", "-n", "--host-commands"]) == 0
    assert "the loop" not in capsys.readouterr().err


def test_a_batch_fills_a_folder_in_runs(batch, tmp_path, capsys):
    """Whose name does not change with the time; a second run has its own."""
    assert main(["batch", str(batch), "-b", "up"]) == 0
    assert main(["batch", str(batch), "-b", "up"]) == 0
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["batch-lab", "batch-lab-2"]
    assert contents(tmp_path / "runs/batch-lab") == contents(tmp_path / "runs/batch-lab-2")
    said = capsys.readouterr().out
    assert "4 of 4 trials gave data. 1 min of network time in " in said
    assert "1/4 up: q_" in said


def test_a_batch_that_failed_says_so_and_is_gone_on_with(batch, tmp_path, capsys):
    """The exit status is 1; with --resume only what is missing is run, in the recorded order."""
    out = tmp_path / "out"
    text = batch.read_text()
    batch.write_text(text.replace("length = 5", f"length = 5\nnote = once {tmp_path / 'seen'}"))
    assert main(["batch", str(batch), "-b", "up", "--out", str(out), "-j1", "--shuffle-seed", "7"]) == 1
    assert "failed: the first time it does not work" in capsys.readouterr().out
    assert [each["state"] for each in read_journal(out)["trials"]] == ["failed", "done", "done", "done"]
    assert main(["batch", str(batch), "-b", "up", "--out", str(out)]) == 2
    assert f"go on with --resume {out}" in capsys.readouterr().err
    assert main(["batch", str(batch), "-b", "up", "--resume", str(out), "-n"]) == 0
    assert capsys.readouterr().out.count("would run") == 1, "what is done is not done again"
    assert main(["batch", str(batch), "-b", "up", "--resume", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("1 trial, 15 s of network time: ")
    assert "4 of 4 trials gave data, 3 of them in an earlier run." in said
    assert json.loads((out / "trials.json").read_text())["shuffle_seed"] == 7
    assert main(["batch", str(batch), "-b", "two", "--resume", str(out)]) == 2
    assert "this folder holds another list" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BATCH.replace("tcp_2up", "tcp_2upp"), "two: q_1, repetition 01: "),
        (BATCH.replace("50ms", "50"), '"50" has no unit'),
        (BATCH.replace("length", "lenght"), 'nothing refers to "lenght"; is it spelt as it should be?'),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(batch, text, why, capsys, tmp_path):
    """A test, a path; a key that means nothing is only named."""
    batch.write_text(text)
    main(["batch", str(batch), "--no-shuffle", "--dry-run"])
    assert why in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_strangers_commands_for_this_machine_are_left_out(batch, tmp_path, capsys):
    """And named; a flag runs them."""
    more = f"commands = c\n[Command::c]\ntype = pre\nwhere = host\nexec = touch {tmp_path / 'made'}\n"
    batch.write_text(f"[Batch::b]\ntest_name = ping\npath = 10mbit 50ms\n{more}")
    assert main(["batch", str(batch)]) == 0
    assert "left out, since they are for this machine: c; --host-commands runs them" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
    assert main(["batch", str(batch), "--host-commands"]) == 0
    assert (tmp_path / "made").exists()
    assert main(["batch", str(batch), "--host-commands", "--cluster", "x"]) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "b.batch",
            "[Batch::b]\ntest_name = ping\npath = 10mbit 50ms\nengine = host\nclock = wall\n"
            "commands = c\n[Command::c]\ntype = pre\nexec = id\n",
        ),
        (
            "s.toml",
            'test = "ping"\npath = "10mbit {rtt}"\nengine = "host"\nclock = "wall"\nbefore = ["id"]\n'
            '[factors]\nrtt = ["50ms"]\n[measures.x]\nseries = "Ping (ms) ICMP"\n',
        ),
    ],
)
def test_a_strangers_file_does_not_choose_the_kernel_of_this_machine(name, text, tmp_path, capsys, monkeypatch):
    """Regression: with engine = host in the file, its commands ran as root here, and nobody had allowed it."""
    asked = []
    monkeypatch.setattr("linklab.engine.host.HostEngine.check", lambda _: asked.append("host"))
    (tmp_path / name).write_text(text)
    what = "batch" if name.endswith("batch") else "sweep"
    for more in ([], ["-n"]):
        assert main([what, name, *more]) == 2
        assert "--host-commands" in capsys.readouterr().err
    assert not asked
    assert not (tmp_path / "runs").exists()
    assert main([what, name, "-n", "--host-commands"]) == 0
    assert len(asked) == 1


def test_ctrl_c_before_the_first_trial_says_so(batch, capsys, monkeypatch):
    """Later it says how to go on."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("linklab.experiment.prepared.prepare", stopped)
    assert main(["batch", str(batch)]) == 130
    assert capsys.readouterr().err == "linklab: stopped with Ctrl+C before a trial had begun\n"


def examples(language: str) -> list[str]:
    """The examples of docs/tests.md in a language that belong to batches and sweeps."""
    text = (Path(__file__).resolve().parents[2] / "docs/tests.md").read_text()
    text = text.partition("## Batches\n")[2].partition("## Viewer\n")[0]
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def test_the_examples_of_the_docs_are_right(tmp_path, capsys):
    """The batch has the trials that its text counts, the sweep can be run, and the commands are understood."""
    (ini,), (toml,) = examples("ini"), examples("toml")
    (tmp_path / "lab.batch").write_text(ini)
    (tmp_path / "buffer.toml").write_text(toml)
    assert main(["batch", str(tmp_path / "lab.batch"), "--dry-run"]) == 0
    assert "36 trials, " in capsys.readouterr().out
    assert main(["sweep", "--check", str(tmp_path / "buffer.toml")]) == 0
    for line in filter(None, "".join(examples("sh")).splitlines()):
        words = shlex.split(line, comments=True)
        build_parser(words[1]).parse_args(words[1:])
