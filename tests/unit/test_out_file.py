# SPDX-License-Identifier: BSD-3-Clause
"""Where a test's data file goes: what cannot be written is refused before, and no other data are lost."""

from dataclasses import replace

import pytest

from linklab.cli import main
from linklab.data import Dataset, open_file
from linklab.errors import InputError, MissingError
from linklab.experiment.model import Trial
from linklab.experiment.out_file import file_name, keep, refuse_unwritable
from linklab.experiment.prepared import prepare
from linklab.experiment.trial import run_trial
from linklab.experiment.trial_inside import TrialProgress, tell_progress
from linklab.measure import make_series

TRIAL = Trial("tcp_1up", path="10mbit 50ms fq_codel")


def test_what_cannot_be_written_is_refused_before_a_network_starts(tmp_path):
    """It used to be noticed when the test was over."""
    (tmp_path / "file").write_text("")
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/tcp-1.out").write_text("")
    for out, why in (
        (tmp_path / "file/x.flent.gz", r"x\.flent\.gz: cannot be written: Not a directory"),
        (tmp_path / "file/deep/er/x.flent.gz", r"cannot be written \(.*file\): Not a directory"),
        (tmp_path / "file", "file: cannot be written: Not a directory"),
        (tmp_path / f"{'x' * 300}.flent.gz", "cannot be written: File name too long"),
        (tmp_path / "picture.png", r"picture\.png: the name of a data file ends in \.flent\.gz; give such a name"),
    ):
        with pytest.raises(InputError, match=why):
            run_trial(TRIAL, out)
    with pytest.raises(InputError, match="raw: this folder is not empty"):
        run_trial(TRIAL, tmp_path, raw=tmp_path / "raw")
    with pytest.raises(InputError, match="file: cannot be written: Not a directory"):
        run_trial(TRIAL, tmp_path, raw=tmp_path / "file")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "raw"]


def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path, monkeypatch):
    """Root may write everywhere, so the question is what the system answers."""
    monkeypatch.setattr("os.access", lambda path, mode: path != tmp_path)
    for out in (tmp_path, tmp_path / "new", tmp_path / "x.flent.gz"):
        with pytest.raises(InputError, match=r"cannot be written.*: Permission denied"):
            refuse_unwritable(out)
    (tmp_path / "there").mkdir()
    refuse_unwritable(tmp_path / "there/x.flent.gz", tmp_path / "there/raw")


def test_trials_that_differ_have_names_that_differ():
    """In anything but the note; those of a test as it is have the short name."""
    others = [
        replace(TRIAL, **change)
        for change in (
            {},
            {"length_s": 10.0},
            {"length_s": 20.0},
            {"step_s": 0.1},
            {"seed": 2},
            {"clock": "paced"},
            {"engine": "host"},
            {"profile": "ideal"},
            {"targets": ("h2",)},
            {"parameters": {"tcp_cong_control": "reno"}},
            {"parameters": {"label": "x" * 300 + "1"}},
            {"parameters": {"label": "x" * 300 + "2"}},
            {"title": "a title"},
        )
    ]
    expanded = prepare(TRIAL).expanded
    names = [file_name(trial, expanded) for trial in others]
    assert names[:2] == [
        "tcp_1up-10mbit-50ms-fq_codel-seed1.flent.gz",
        "tcp_1up-10mbit-50ms-fq_codel-10s-seed1.flent.gz",
    ]
    assert len(set(names)) == len(names)
    assert all(len(name.encode()) < 255 for name in names)


def test_a_title_keeps_letters_of_any_language():
    """Regression: "é" was lost; a name never has more bytes than a file system takes."""
    expanded = prepare(TRIAL).expanded
    assert ".a-b-é.flent.gz" in file_name(replace(TRIAL, title="a/b: é"), expanded)
    assert file_name(replace(TRIAL, title="e\u0301"), expanded) == file_name(replace(TRIAL, title="é"), expanded)
    long = replace(TRIAL, title="測" * 100, parameters={"label": "測" * 300})
    assert len(file_name(long, expanded).encode()) < 255


def test_a_folder_that_nobody_asked_for_is_not_made(tmp_path):
    """A mistyped folder would be one more; the last of a path may be new where a folder is asked for."""
    refuse_unwritable(tmp_path / "new", tmp_path / "raw", near=True)
    refuse_unwritable(tmp_path / "x.flent.gz", near=True)
    for out, raw in (("no/x.flent.gz", "raw"), ("no/new", "raw"), ("x.flent.gz", "no/raw")):
        with pytest.raises(InputError, match=r"there is no folder .*no$"):
            refuse_unwritable(tmp_path / out, tmp_path / raw, near=True)


def test_other_data_do_not_take_the_place_of_a_file_that_nobody_named(tmp_path):
    """The same data are the same file; a name that a person gave is theirs."""

    def made(value: float) -> Dataset:
        return Dataset(series={"a": make_series("a", "ms", [0.0, 1.0], [value, value])}, flent={"NAME": "ping"})

    path = tmp_path / "new/x.flent.gz"
    names = [keep(made(value), path, named=False).name for value in (1.0, 2.0, 1.0, 2.0, 3.0)]
    assert names == [
        "x.flent.gz", "x-2.flent.gz", "x.flent.gz", "x-2.flent.gz", "x-3.flent.gz"
    ]  # fmt: skip
    assert open_file(tmp_path / "new/x-2.flent.gz").flent["DATA_FILENAME"] == "x-2.flent.gz"
    assert open_file(keep(made(4.0), path, named=True)).series["a"].value[0] == 4.0
    assert len(list(path.parent.iterdir())) == 3


def test_what_the_kernel_lacks_is_known_before_a_network_starts():
    """A dry run, a batch, and a sweep used to take what a run then refused."""
    with pytest.raises(MissingError, match=r"the congestion control cubci, .* did you mean cubic"):
        prepare(Trial("tcp_nup", path="10mbit 50ms", parameters={"cc_algos": "cubci,bbr", "upload_streams": "2"}))


def test_ctrl_c_before_the_test_began_says_so(monkeypatch, capsys, tmp_path):
    """Later it ends the test early and keeps its data; nothing used to be said while the network started."""

    def stopped(*args: object, **more: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("linklab.commands.test_run.run_trial", stopped)
    assert main(["test", "run", "ping", "--path", "10mbit 50ms", "-o", str(tmp_path)]) == 130
    assert capsys.readouterr().err == (
        "linklab: ended with Ctrl+C before there were data to keep; nothing was written\n"
    )


def test_progress_ends_where_the_test_ends():
    """A flow that has filled its path ends later, and it said `measured until second 22 of 15`."""
    told = []
    lines = '{"t": 14.0, "length_s": 15}\n{"phase": "end"}\nno JSON\n{"t": 22.0, "length_s": 15}\n'
    tell_progress(lines, told.append)
    assert told == [
        TrialProgress("measuring", 14.0, 15.0),
        TrialProgress("waiting for the last programs to end", 15.0, 15.0),
    ]


def test_a_dry_run_refuses_what_a_run_refuses(tmp_path, capsys, monkeypatch):
    """With the same words; what would be run is shown first where only the machine is in the way."""
    monkeypatch.setattr("linklab.experiment.trial.measure", None)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw/plan.json").write_text("{}")
    words = ["test", "run", "tcp_nup", "--path", "10mbit 50ms", "-o", str(tmp_path)]
    for more in (
        ["-P", "cc_algos=cubci"],
        ["-P", "upload_streams=x"],
        ["--plot", "none"],
        ["--raw", str(tmp_path / "raw")],
        ["-o", str(tmp_path / "raw/plan.json/x")],
        ["--topology", "Lab 1.mn"],
    ):
        dry = main([*words, *more, "-n"]), capsys.readouterr().err
        assert (main([*words, *more]), capsys.readouterr().err) == dry
        assert dry[0] in (2, 4)

    def lacks(engine: object) -> None:
        raise MissingError("there is no kernel")

    monkeypatch.setattr("linklab.engine.pocket.PocketEngine.check", lacks)
    assert main([*words, "-n"]) == 4
    said = capsys.readouterr()
    assert said.out.startswith("tcp_nup: ")
    assert said.err == "linklab: there is no kernel\n"
