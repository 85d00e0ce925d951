# SPDX-License-Identifier: BSD-3-Clause
"""Which step a file counts for."""

import json
from pathlib import Path

import pytest
from test_runner import make_lab
from writing import WritingEngine

from linklab.errors import ManualError
from linklab.lab.model import lab_folders, load_lab
from linklab.manual.parse import groups, parse_manual
from linklab.run.stage import RunSettings, Stage
from linklab.run.workfolder import WorkFolder, share_out

RECORDED = json.loads(Path(__file__).with_name("files_of_steps.json").read_text())
"""What each step of the labs was given by the rule of before, which compared the words typed with names of files; for
labs 2 and 14 the same as `run.json` of a replay in a pocket says."""


def steps(manual):
    """The steps of a manual, by id."""
    return {step.id: step for step in parse_manual(manual, Path("manual.md")).steps}


def stage(lab, folder):
    """A lab done on an engine whose commands leave their files."""
    with Stage(lab, WritingEngine(), RunSettings(), folder / "files") as done:
        for group in groups([step for step in lab.manual.steps if not step.optional]):
            done.perform(group)
    return done


@pytest.mark.parametrize("folder", lab_folders(), ids=lambda path: path.name)
def test_each_step_of_a_lab_has_the_files_that_it_wrote(folder, tmp_path):
    """What the manual says gives every file to the step to which it counted in the recordings, and leaves none."""
    lab = load_lab(folder)
    done = stage(lab, tmp_path)
    found = {step: list(capture.files) for step, capture in done.captures.items() if capture.files}
    assert found == RECORDED.get(lab.slug, {})
    assert done.unclaimed == []


def test_only_new_and_changed_files_are_seen(tmp_path):
    """A file counts once, until it changes."""
    folder = WorkFolder(tmp_path)
    (tmp_path / "b").mkdir()
    for name in ("a", "b/a", "b.a"):
        (tmp_path / name).write_text("1")
    assert folder.changed() == ["a", "b/a", "b.a"]
    assert folder.changed() == []
    (tmp_path / "a").write_text("22")
    assert folder.changed() == ["a"]


TOGETHER = """## A
```h1 id=a together=t files=one/out.json
iperf3 -c 10.0.0.3 -J > out.json
```
```h2 id=b together=t files=two/*.json,b.log
iperf3 -c 10.0.0.3 -J > out.json
```
```client id=q background files=queue-s1-eth2.*
sudo plot_q.sh s1-eth2
```
```client stop=q
```
"""


def test_steps_say_what_they_write(tmp_path):
    """Two senders write the same name in their own folders; a queue plot goes on meanwhile."""
    found = steps(TOGETHER)
    changed = ["one/out.json", "two/out.json", "queue-s1-eth2.jsonl", "b.log", "other"]
    shares, unclaimed = share_out(changed, [found["a"], found["b"]], [found["q"]])
    assert shares == {"a": ["one/out.json"], "b": ["two/out.json", "b.log"], "q": ["queue-s1-eth2.jsonl"]}
    assert unclaimed == ["other"]


def test_a_file_that_two_steps_claim_is_given_to_neither():
    """Which of them wrote it is not known."""
    found = steps(TOGETHER.replace("one/out.json", "*"))
    assert share_out(["two/out.json"], [found["a"], found["b"]], []) == ({}, ["two/out.json"])


def test_what_one_step_writes_needs_no_word(tmp_path):
    """A step alone gets its files; so does one that goes on, when it is ended."""
    manual = """## A
```h1 id=plot
mkdir one && cd one
plot_iperf.sh out.json
```
```client id=queue background
sudo plot_q.sh s1-eth2
```
```client stop=queue
s
```
"""
    done = stage(make_lab(tmp_path, manual, 'number = 1\ntitle = "T"\ntopology = "Lab 8.mn"\n'), tmp_path)
    assert [path for path in done.captures["plot"].files if path.endswith(".dat")] == ["one/results/1.dat"]
    assert done.captures["queue"].files == ("queue-s1-eth2.jsonl", "queue-s1-eth2.pdf")
    assert done.unclaimed == []


@pytest.mark.parametrize("text", ["/etc/x", "../x", "a,,b", "a/../b"])
def test_files_lie_below_the_working_folder(text):
    """Another path is refused with its place."""
    with pytest.raises(ManualError, match=r"manual.md:2: files=.*name paths below the working folder, as in files="):
        steps(f"## A\n```h1 files={text}\nls\n```\n")


def test_what_ends_another_step_writes_nothing():
    """Its files are those of the step that it ends."""
    with pytest.raises(ManualError, match=r'option "files" means nothing in this kind of block'):
        steps(TOGETHER.replace("stop=q", "stop=q files=x"))
