# SPDX-License-Identifier: BSD-3-Clause
"""The folder of a campaign: nothing that was measured is lost where a page or a rename fails."""

from pathlib import Path

import pytest
from netesto_folders import stream_experiment

from linklab.errors import InputError
from linklab.experiment.model import Trial
from linklab.experiment.runner import TrialTask
from linklab.experiment.trial_list import ListedTrial
from linklab.netesto import campaign, csv_file
from linklab.netesto.campaign import CampaignFolder, run_campaign


def task(number=1):
    """An experiment that is done."""
    return TrialTask(ListedTrial(f"{number}/{number}", "one", Trial("netesto")), "done")


def test_a_page_that_could_not_be_made_is_made_again(tmp_path):
    """Regression: the experiment failed, and what had been measured was thrown away."""
    folder = stream_experiment(tmp_path)
    one, changed = task(), []
    assert not csv_file.finished(folder)
    campaign._remake([one], tmp_path, changed.append)
    assert csv_file.finished(folder)
    assert (one.state, one.why, changed) == ("done", "", [])


def test_a_page_that_cannot_be_made_is_said(tmp_path, monkeypatch):
    """The data stay, and the sentence says what to do."""

    def process(folder, where):
        raise ValueError("cannot convert float NaN to integer")

    monkeypatch.setattr(campaign.results, "process", process)
    folder = stream_experiment(tmp_path)
    one, changed = task(), []
    campaign._remake([one], tmp_path, changed.append)
    assert one.state == "gaps"
    assert one.why.startswith("its values and page could not be made (cannot convert float NaN to integer)")
    assert "linklab netesto page" in one.why
    assert changed == [one]
    assert (folder / "1.flent.gz").exists()


def made(folder: Path, text: str) -> Path:
    """A new experiment in a folder of its own."""
    (folder / "1").mkdir(parents=True)
    (folder / "1/1.flent.gz").write_text(text)
    return folder / "1/1.flent.gz"


def test_an_experiment_replaces_an_older_one_whole(tmp_path):
    """Nothing of the older one stays, and nothing lies beside it."""
    (tmp_path / "out").mkdir()
    for text in ("old", "new"):
        CampaignFolder.place(None, made(tmp_path / text, text), tmp_path / "out/1/1.flent.gz")
        (tmp_path / "out/1" / text).touch()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["1"]
    assert (tmp_path / "out/1/1.flent.gz").read_text() == "new"
    assert not (tmp_path / "out/1/old").exists()


def test_the_older_one_stays_where_the_new_one_cannot_be_put(tmp_path, monkeypatch):
    """Regression: it was deleted before the rename."""
    (tmp_path / "out/1").mkdir(parents=True)
    (tmp_path / "out/1/1.flent.gz").write_text("old")
    new = made(tmp_path / "new", "new")
    renamed = Path.replace

    def replace(path, target):
        if path == new.parent:
            raise OSError(28, "No space left on device")
        return renamed(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OSError, match="No space"):
        CampaignFolder.place(None, new, tmp_path / "out/1/1.flent.gz")
    assert (tmp_path / "out/1/1.flent.gz").read_text() == "old"


def test_a_mistake_in_the_columns_is_said_before_anything_runs(tmp_path):
    """Regression: after all experiments had run."""
    (tmp_path / "fields.txt").write_text("rate:nonsense\n")
    with pytest.raises(InputError, match="nonsense"):
        run_campaign(None, tmp_path, changed=lambda task: None)  # not even the plan is looked at
    assert [path.name for path in tmp_path.iterdir()] == ["fields.txt"]
