# SPDX-License-Identifier: BSD-3-Clause
"""`flent -B` on a network that runs: what ends its list, and what the options of the command line change."""

from types import SimpleNamespace

import pytest
from trials import entries, fake

from linklab.commands.flent_batch import one_by_one
from linklab.commands.flent_voice import Voice
from linklab.errors import EngineError
from linklab.experiment import inside
from linklab.experiment.inside import run_whole
from linklab.experiment.runner import ListProgress, run_entries
from linklab.experiment.trial_folder import opened, read_journal


@pytest.mark.parametrize("gave", ["a part of the data", "no data"])
def test_ctrl_c_ends_the_list_and_the_trial_under_way_waits(tmp_path, monkeypatch, gave):
    """Whether the runner kept what was measured or had to be killed: it is done when the list goes on."""
    door = SimpleNamespace(interrupted=False)

    def run_on(trial, out, its_door, tell, choice):
        if trial.seed == 2:
            its_door.interrupted = True
            if gave == "no data":
                raise EngineError("the test did not begin")
        return fake(trial, out, tell)

    monkeypatch.setattr(inside, "run_on", run_on)
    deal = one_by_one(lambda trial, out, tell: run_whole(trial, out, door, tell), Voice(quiet=True))
    with (
        opened(tmp_path, {"what": "test"}) as kept,
        pytest.raises(KeyboardInterrupt),
    ):
        run_entries(entries(3), kept, deal, ListProgress(), lambda task: None)
    assert [each["state"] for each in read_journal(tmp_path)["trials"]] == ["done", "waiting", "waiting"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "trials.json"]
