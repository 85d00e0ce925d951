# SPDX-License-Identifier: BSD-3-Clause
"""Which step a file counts for, and where a terminal is after what was typed."""

from pathlib import PurePosixPath

import pytest

from linklab.run.workfolder import WorkFolder


@pytest.mark.parametrize(
    ("commands", "here"),
    [
        (["ls"], "."),
        (["mkdir a && cd a"], "a"),
        (["mkdir a && cd a", "plot_iperf.sh out.json && cd results", "cd ../.."], "."),
        (["cd a/b; cd .."], "a"),
        (["cd ../.."], "."),
        (["cd /tmp"], "."),
        (["cd a", "cd"], "."),
    ],
)
def test_terminals_are_followed(tmp_path, commands, here):
    """cd is followed below the working folder."""
    folder = WorkFolder(tmp_path)
    for command in commands:
        folder.typed("h1", command)
    assert folder.folders["h1"] == PurePosixPath(here)


def test_only_new_and_changed_files_are_seen(tmp_path):
    """A file counts once, until it changes."""
    folder = WorkFolder(tmp_path)
    (tmp_path / "a").write_text("1")
    assert folder.changed() == [PurePosixPath("a")]
    assert folder.changed() == []
    (tmp_path / "a").write_text("22")
    assert folder.changed() == [PurePosixPath("a")]


def test_files_of_steps_done_together(tmp_path):
    """Two senders write the same name in their own folders; a queue plot runs meanwhile in another."""
    folder = WorkFolder(tmp_path)
    folder.typed("h1", "mkdir one && cd one")
    folder.typed("h2", "mkdir two && cd two")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out.json").write_text("{}")
    (tmp_path / "queue-s1-eth2.jsonl").write_text("")
    command = "iperf3 -c 10.0.0.3 -J > out.json"
    shares = folder.share_out({"a": ("h1", command), "b": ("h2", command)}, {"q": ("client", "sudo plot_q.sh s1-eth2")})
    assert {step: [str(path) for path in paths] for step, paths in shares.items()} == {
        "a": ["one/out.json"],
        "b": ["two/out.json"],
        "q": ["queue-s1-eth2.jsonl"],
    }


def test_an_unnamed_file_counts_for_the_only_step(tmp_path):
    """What nobody names was written by the step that just ended."""
    folder = WorkFolder(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "cwnd.pdf").write_text("")
    shares = folder.share_out({"p": ("h1", "plot_iperf.sh out.json")}, {"s": ("h2", "iperf3 -s")})
    assert shares == {"p": [PurePosixPath("results/cwnd.pdf")]}
