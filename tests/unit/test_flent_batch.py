# SPDX-License-Identifier: BSD-3-Clause
"""`flent -B` on a network that runs: what ends its list, and what the options of the command line change."""

from types import SimpleNamespace

import pytest
from trials import entries, fake

from linklab.commands import flent, flent_batch, flent_options
from linklab.commands.flent_batch import listed, one_by_one
from linklab.commands.flent_voice import Voice
from linklab.errors import EngineError, InputError
from linklab.experiment import inside
from linklab.experiment.inside import run_whole
from linklab.experiment.model import Trial
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


BATCH = "[Batch::b]\ntest_name = tcp_nup\nlength = 9\ntitle = of the file\ntest_parameters = upload_streams=3;a=b\n"


def trial_of(tmp_path, line: str, more: str = "") -> Trial:
    """The only trial of a batch, with the options of a command line."""
    (tmp_path / "x.batch").write_text(BATCH + more)
    args = flent_options.read([*line.split(), "-B", str(tmp_path / "x.batch")])
    (entry,) = listed(args, flent.sorted_out(args), 1).entries
    return entry.trial


def test_options_of_the_test_count_for_a_batch(tmp_path):
    """What was given is laid over what the file says (they were left out without a word)."""
    trial = trial_of(tmp_path, "")
    assert (trial.length_s, trial.step_s, trial.title, trial.targets) == (9, None, "of the file", ())
    line = "-l 5 -s 0.1 -t mine -n why -H h2 --local-bind h3 --test-parameter Upload_Streams=2 --marking-name V=0x88"
    trial = trial_of(tmp_path, line)
    assert (trial.length_s, trial.step_s, trial.title, trial.note) == (5, 0.1, "mine", "why")
    assert (trial.source, trial.targets) == ("h3", ("h2",))
    assert trial.parameters == {"upload_streams": "2", "a": "b", "marking_names": "V=0x88"}
    with pytest.raises(InputError, match=r"-p: a batch only measures; give it afterwards: flent -p all FILE"):
        trial_of(tmp_path, "-p all")
    with pytest.raises(InputError, match="--remote-metadata: the nodes on the path"):
        trial_of(tmp_path, "--remote-metadata h2")


@pytest.mark.parametrize("key", ["seed = 3", "clock = wall", "cpu = slow"])
def test_what_is_said_of_another_network_is_refused(tmp_path, key):
    """In the file, in an argument set, and on the command line."""
    word = key.partition(" ")[0]
    for more in (f"{key}\n", f"for_x = y\n[Arg::y]\n{key}\n"):
        with pytest.raises(InputError, match=rf'x\.batch:[68]: .*"{word}": the network that runs has its own'):
            trial_of(tmp_path, "", more)
    with pytest.raises(InputError, match=f"--batch-override {word}=…: the network that runs has its own"):
        trial_of(tmp_path, f"--batch-override {key.replace(' ', '')}")


def test_what_is_asked_of_the_flows_reaches_every_test_and_the_journal(tmp_path, monkeypatch):
    """So that a list goes on with the options and the order with which it began."""
    asked = []

    class Door:
        node = "h1"
        interrupted = False
        address_of = staticmethod(str)
        __enter__ = lambda self: self  # noqa: E731
        __exit__ = lambda self, *_: None  # noqa: E731

    def run_on(trial, out, door, tell, choice):
        asked.append((trial.source, choice.version, choice.delay_s, choice.swap, choice.send_bytes))
        return fake(trial, out, tell)

    monkeypatch.setattr(inside, "run_on", run_on)
    monkeypatch.setattr(flent_batch, "Inside", Door)
    (tmp_path / "x.batch").write_text(BATCH + "repetitions = 3\n")
    monkeypatch.chdir(tmp_path)
    words = "-B x.batch -6 -d 2 --swap-up-down --send-size 1000 -q"

    def run(line: str) -> int:
        args = flent_options.read(line.split())
        return flent_batch.run(args, flent.sorted_out(args), Voice(quiet=True))

    assert run(f"{words} -D out") == 0
    assert asked == [("h1", 6, 2.0, True, (1000,))] * 3
    (folder,) = (tmp_path / "out").iterdir()
    assert read_journal(folder)["shuffle_seed"] == 1
    assert run(f"{words} --batch-no-shuffle --batch-resume {folder}") == 0
    assert len(asked) == 3
    with pytest.raises(InputError, match="this folder holds another list"):
        run(f"-B x.batch -6 -q --batch-resume {folder}")
