# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a lab side by side give what they give one after the other."""

import contextlib
import json
import multiprocessing
import os
import signal
import time

import pytest
from scripted import ScriptedEngine
from test_runner import Silent, make_lab

from linklab.engine import api
from linklab.errors import EngineError, LabError
from linklab.lab.sections import parts_of, parts_problems
from linklab.run.runner import run_lab
from linklab.run.stage import RunSettings

MANUAL = """\
## Setting up

```client id=delay setup
tc delay
```

```h1
date
```

## A small buffer

```client id=small setup
tc small
```

```h1 id=first
echo 1 > one.txt
```

## A large buffer

```client id=large setup
tc large
```

```h1 id=second
ping -c 3 10.0.0.2
```
"""
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"
parts = ["a-small-buffer", "a-large-buffer"]
"""


def write(workdir):
    """What the first part leaves."""
    (workdir / "one.txt").write_text("1")
    return ""


def run(lab, tmp_path, answers):
    """Replay into tmp_path/run."""
    narrator = Silent()
    engine = ScriptedEngine(answers)
    return run_lab(lab, engine, RunSettings(api.Clock.VIRTUAL, 3, "ideal"), tmp_path / "run", narrator), narrator


def test_a_part_begins_with_the_settings_of_the_sections_before_it(tmp_path):
    """The first has what comes before the first section named; the others no more than settings of others."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    ids = [[step.id for step in part] for part in parts_of(lab)]
    assert ids == [["delay", "step-2"], ["delay", "small", "first"], ["delay", "small", "large", "second"]]


def test_parts_become_one_run(tmp_path):
    """Each step once, in the manual's order, times running on, files together, and no folder of a part left."""
    done, narrator = run(make_lab(tmp_path, MANUAL, TOML), tmp_path, {"echo 1 > one.txt": write, "tc large": "done\n"})
    assert list(done.steps) == ["delay", "step-2", "small", "first", "large", "second"]
    assert [step.start_s for step in done.steps.values()] == [0, 1, 3, 4, 7, 8]
    assert done.network_s == 9
    assert done.steps["large"].output == "done\n"
    assert done.steps["first"].files == ("one.txt",)
    assert (done.folder / "files/one.txt").read_text() == "1"
    assert sorted(path.name for path in done.folder.iterdir()) == ["files", "run.json", "steps"]
    assert (done.folder / "steps/05-large.txt").read_text() == "done\n"
    assert json.loads((done.folder / "run.json").read_text())["network_s"] == 9
    assert sum(len(steps) for steps, _ in narrator.told) == 9


def test_what_fails_in_a_part_ends_the_run_with_its_place(tmp_path):
    """The error of the part is the error of the run, and the other parts are ended."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    started = time.monotonic()
    with pytest.raises(EngineError, match=r"manual.md:\d+: step (large|small).*"):
        run(lab, tmp_path, {"date": lambda _: time.sleep(600) or "", "tc small": ("no", 2)})
    assert time.monotonic() - started < 10
    left = json.loads((tmp_path / "run/incomplete.json").read_text())
    assert left["why"].startswith(str(lab.manual.path))
    assert left["at"]


def test_ctrl_c_ends_every_part(tmp_path):
    """The processes of the parts go with the run; the first that works at something is where it comes."""

    def work(_):
        with contextlib.suppress(FileExistsError):  # one Ctrl+C, whichever part comes here first
            (tmp_path / "pressed").mkdir()
            os.kill(os.getppid(), signal.SIGINT)
        time.sleep(600)

    others = set(multiprocessing.active_children())  # of other tests of this process
    with pytest.raises(KeyboardInterrupt):
        run(make_lab(tmp_path, MANUAL, TOML), tmp_path, {"tc delay": work})
    assert set(multiprocessing.active_children()) <= others
    assert json.loads((tmp_path / "run/incomplete.json").read_text())["why"] == "stopped with Ctrl+C"


def test_a_part_that_is_no_section_is_named(tmp_path):
    """The sections there are stand beside it."""
    lab = make_lab(tmp_path, MANUAL, TOML.replace("a-large", "a-huge"))
    assert parts_problems(lab)[0].startswith(f"{lab.folder}/lab.toml:4: ")
    with pytest.raises(LabError, match='parts: the manual has no section "a-huge-buffer"; it has setting-up, a-small'):
        parts_of(lab)


def test_a_part_without_a_step_is_named(tmp_path):
    """The same section twice makes an empty part."""
    lab = make_lab(tmp_path, MANUAL, TOML.replace("a-large", "a-small"))
    assert parts_problems(lab) == [f"{lab.folder}/lab.toml:4: parts: part 2 has no step of its own"]


def test_what_one_part_starts_another_cannot_end(tmp_path):
    """A server that is stopped in another part is named with the line of the stop."""
    manual = (
        MANUAL.replace("echo 1 > one.txt", "echo 1 > one.txt\n```\n\n```h2 id=server background\niperf3 -s")
        + "\n```h2 stop=server\n```\n"
    )
    lab = make_lab(tmp_path, manual, TOML)
    (problem,) = parts_problems(lab)
    assert problem.endswith("ends server, which another part of the lab starts")
