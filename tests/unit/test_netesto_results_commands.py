# SPDX-License-Identifier: BSD-3-Clause
"""`linklab netesto csv`, `page` and `counters`."""

import pytest
from netesto_folders import stream_experiment
from test_netesto_csv import mixed_experiment

from linklab.cli import main
from linklab.experiment.trial_list import JOURNAL
from linklab.netesto.fields import parse_fields, shipped_fields
from linklab.netesto.results import process, write_csv


def test_the_command_makes_the_table_and_prints_columns(tmp_path, capsys):
    """`netesto csv`, with --get, with --fields and of single experiments."""
    for folder in (stream_experiment(tmp_path / "c", 1), mixed_experiment(tmp_path / "c", 2)):
        process(folder, tmp_path / "c")
    assert main(["netesto", "csv", str(tmp_path / "c")]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/c/exp.csv\n"
    made = (tmp_path / "c" / "exp.csv").read_text()
    assert main(["netesto", "csv", str(tmp_path / "c"), "--get", "exp", "--get", "retransPkts%"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["1.0\t0.667", "2.0\t1.000"]
    assert main(["netesto", "csv", str(tmp_path / "c" / "2")]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == made.splitlines()[2:]
    (tmp_path / "f").write_text("exp:one\n")
    out = tmp_path / "o"
    assert main(["netesto", "csv", str(tmp_path / "c"), "--fields", str(tmp_path / "f"), "-o", str(out)]) == 0
    assert out.read_text() == "exp\n1.0\n2.0\n2.1\n2.2\n2.3\n"
    assert (tmp_path / "c" / "exp.csv").read_text() == made
    assert main(["netesto", "csv", "--print-fields"]) == 0
    printed = capsys.readouterr().out
    assert parse_fields(printed[printed.index("#") :], "printed") == shipped_fields()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "give the folder of a campaign or of an experiment"),
        (["none"], "No such file or directory; give the folder of a campaign"),
        (["."], ".: there is no experiment that has ended in this folder"),
        (["c", "--get", "rates"], '--get: there is no column "rates"; did you mean rate or'),
        (["c", "--get", "mss"], "mss is measured, but fields.txt has no line for it; linklab netesto csv"),
        (["c", "--fields", "none"], "cannot be read"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, capsys, monkeypatch, arguments, says):
    """In one line."""
    process(stream_experiment(tmp_path / "c"), tmp_path / "c")
    monkeypatch.chdir(tmp_path)
    assert main(["netesto", "csv", *arguments]) == 2
    found = capsys.readouterr().err
    assert says in found
    assert found.count("\n") == 1


def test_what_is_printed_cannot_speak_to_the_terminal(tmp_path, capsys):
    """A description with a control sequence is spelt out, on one line."""
    process(stream_experiment(tmp_path / "c", desc="a\x1b]0;owned\x07\nb", other={"x": "\x1b[2J"}), tmp_path / "c")
    (tmp_path / "c" / "fields.txt").write_text("desc:one\nx:one\n")
    assert main(["netesto", "csv", str(tmp_path / "c"), "--get", "desc", "--get", "x"]) == 0
    assert capsys.readouterr().out == "a\\x1b]0;owned\\x07 b\t\\x1b[2J\n"


def test_the_page_of_a_copied_folder_is_made_in_it_alone(tmp_path, capsys):
    """Whatever its name is; nothing is written beside it, where no campaign ran."""
    folder = tmp_path / "Downloads" / "run7"
    stream_experiment(tmp_path / "c", 7).rename((tmp_path / "Downloads").mkdir() or folder)
    assert main(["netesto", "page", str(folder)]) == 0
    assert (folder / "exp.html").is_file()
    assert list((tmp_path / "Downloads").iterdir()) == [folder]


def test_pages_and_tables_can_be_made_again(tmp_path, capsys):
    """`netesto page` gives from data sets and counters what the campaign gave."""
    for folder in (stream_experiment(tmp_path / "c", 1), mixed_experiment(tmp_path / "c", 2)):
        process(folder, tmp_path / "c")
    write_csv(tmp_path / "c")
    before = {each: each.read_bytes() for each in (tmp_path / "c").rglob("*") if each.is_file()}
    for each in before:
        if each.suffix in (".html", ".svg", ".csv") or each.name.startswith(("exp.out", "run", "all")):
            each.unlink()
    assert main(["netesto", "page", str(tmp_path / "c")]) == 0
    assert {each: each.read_bytes() for each in (tmp_path / "c").rglob("*") if each.is_file()} == before
    (tmp_path / "c" / JOURNAL).write_text("{}")
    (tmp_path / "c" / "exp.csv").unlink()
    assert main(["netesto", "page", str(tmp_path / "c" / "2")]) == 0
    assert (tmp_path / "c" / "exp.csv").is_file()  # a campaign ran here
    assert capsys.readouterr().out.splitlines()[-1] == f"{tmp_path}/c/2/exp.html"
