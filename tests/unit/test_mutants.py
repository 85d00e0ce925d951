# SPDX-License-Identifier: BSD-3-Clause
"""Known mistakes of a lab: the form of their file, what is replayed of them, where they must show, what is said."""

import pytest
from scripted import ScriptedEngine
from test_runner import PING, make_lab

from linklab import cli
from linklab.commands import mutants as command
from linklab.errors import LabError
from linklab.lab.mutants import load_mutants, replayed_steps, within_reach
from linklab.run.mutants import run_trials, trials_of

MANUAL = """\
## Setting up

```client id=delay setup
tc delay 20ms
```

```client id=look
tc show
```

### Buffers

```h1 id=buffers setup
sysctl -w rmem=5
```

## Measuring

### Alone

```h2 id=server background
iperf3 -s
```

```h1 id=rate setup
tc rate 1gbit
```

```h1 id=alone
ping -c 3 10.0.0.2
```

### Together

```h1 id=both
ping -c 4 10.0.0.2
```

```h2 id=stopped stop=server
```
"""
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "look"
shows = "20ms"
why = "what was set is read back"

[[expect]]
step = "alone"
what = "ping.loss.fraction"
value = 0
why = "nothing drops"

[[expect]]
relation = "both.ping.loss.fraction <= alone.ping.loss.fraction"
why = "nothing drops"

[[expect]]
step = "server"
shows = "accepted"
why = "the server tells who comes"
"""
GOOD = """\
[[mutant]]
name = "microseconds"
mistake = "The unit is left out."
step = "delay"
replace = { "20ms" = "20" }
fails = ["look shows"]
"""
LOST = PING.replace("5 received, 0%", "2 received, 60%")
ANSWERS = {
    "tc show": "delay 20ms\n",
    "ping -c 3 10.0.0.2": PING,
    "ping -c 4 10.0.0.2": PING,
    "iperf3 -s": "accepted\n",
}


def lab_with(tmp_path, mutants, toml=TOML):
    """The lab above with these mutants."""
    lab = make_lab(tmp_path, MANUAL, toml)
    (lab.folder / "mutants.toml").write_text(mutants)
    return lab


def mutant(**changes):
    """The text of a mutant, the good one but for some lines; None leaves a line out."""
    lines = {
        "name": '"m"',
        "mistake": '"M."',
        "step": '"delay"',
        "replace": '{ "20ms" = "20" }',
        "fails": '["look shows"]',
    }
    lines |= changes
    return "[[mutant]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items() if value is not None)


def ids(steps):
    """The ids of steps."""
    return [step.id for step in steps]


def tried(tmp_path, mutants, answers, toml=TOML):
    """What came of the mutants, the controls first, with what is shown for what is typed."""
    lab = lab_with(tmp_path, mutants, toml)
    trials = trials_of(lab, load_mutants(lab))
    run_trials(trials, lambda: ScriptedEngine(ANSWERS | answers), 1, lambda _: None)
    return trials


# --- the form


def test_a_lab_need_not_have_any(tmp_path):
    """No file, no mutants."""
    assert load_mutants(make_lab(tmp_path, MANUAL, TOML)) == []


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (mutant(step='"nothing"'), 'toml:1: the manual has no step "nothing" that is replayed'),
        (mutant(name='"M m"'), 'toml:1: name "M m": use small letters'),
        (mutant(name=None), '"name" is missing'),
        (mutant(replace=None), "say how the step is changed: omit = true, type, or replace and terminal"),
        (mutant(omit="true"), "say how the step is changed"),
        (mutant(replace='{ "30ms" = "20" }'), 'step delay has no "30ms" that a text could replace'),
        (mutant(replace='{ "20ms" = 20 }'), 'step delay has no "20ms" that a text could replace'),
        (mutant(replace='{ "20ms" = "20ms" }'), "step delay stays as it is"),
        (mutant(replace=None, type='" "'), "toml:1: the block is empty"),
        (mutant(step='"stopped"', replace=None, type='"x"'), "toml:1: nothing is typed in step stopped"),
        (mutant(fails=None), '"fails" is missing'),
        (mutant(fails='["look ping.rtt.max"]'), 'has no expectation "look ping.rtt.max"; it has "look shows"'),
        (mutant(step='"buffers"', replace='{ "5" = "6" }'), '"look shows" is measured before step buffers'),
        (mutant(speed="1"), 'unknown key "speed"'),
        (mutant(after='["alone"]'), 'after: the manual has no step "alone" before delay'),
        (mutant() + mutant(), 'toml:7: another mutant is called "m" already'),
        (mutant(step='"alone"', replace=None, terminal='"h2"', fails='["alone status"]'), "h2 is still busy"),
    ],
)
def test_what_does_not_fit_is_named_with_its_line(tmp_path, text, says):
    """A mistake in the file is a sentence with its place, before anything runs."""
    with pytest.raises(LabError) as caught:
        load_mutants(lab_with(tmp_path, text))
    assert says in str(caught.value)


def test_labs_check_reads_the_mutants(tmp_path, capsys, monkeypatch):
    """`labs --check` finds what `labs --mutants` would refuse."""
    lab = lab_with(tmp_path, mutant(step='"nothing"'))
    monkeypatch.setattr("linklab.commands.labs.lab_folders", lambda: [lab.folder])
    assert cli.main(["labs", "--check"]) == 2
    assert 'mutants.toml:1: the manual has no step "nothing"' in capsys.readouterr().err


def test_what_is_left_out_is_left_out_with_its_end(tmp_path):
    """A server that was never started is not stopped either."""
    text = mutant(step='"server"', replace=None, omit="true", fails='["server shows"]', late='"x"')
    (found,) = load_mutants(lab_with(tmp_path, text))
    assert [step.id for step in found.steps if step.optional] == ["server", "stopped"]


# --- where it must show


def test_a_mistake_must_show_in_its_section_or_the_next_that_has_an_expectation(tmp_path):
    """Not later, unless the author says why."""
    lab = make_lab(tmp_path, MANUAL, TOML)
    assert within_reach(lab, "delay") == ["delay", "look"]
    assert within_reach(lab, "buffers") == ["buffers", "server", "rate", "alone"]
    assert within_reach(lab, "alone") == ["alone"]
    text = mutant(fails='["alone ping.loss.fraction"]')
    with pytest.raises(LabError, match="step alone is too late for a mistake in step delay; it must show in delay, lo"):
        load_mutants(lab_with(tmp_path / "early", text))
    assert load_mutants(lab_with(tmp_path / "late", text + 'late = "no drop shows it"\n'))
    with pytest.raises(LabError, match="late is not needed"):
        load_mutants(lab_with(tmp_path / "not-late", mutant(late='"x"')))


def test_no_more_is_replayed_than_is_needed(tmp_path):
    """From the section of the changed step, after settings and what still runs there, to what it must miss."""
    relation = '["both.ping.loss.fraction <= alone.ping.loss.fraction"]'
    cases = {
        mutant(): ["delay", "look"],
        mutant(replace=None, omit="true"): ["look"],
        mutant(step='"rate"', replace='{ "1" = "2" }', fails='["alone ping.loss.fraction"]'): [
            "delay",
            "buffers",
            "server",
            "rate",
            "alone",
        ],
        mutant(step='"both"', replace='{ "4" = "5" }', fails='["both status"]'): [
            "delay",
            "buffers",
            "server",
            "rate",
            "both",
        ],
        mutant(step='"both"', replace='{ "4" = "5" }', fails=relation): [
            "delay",
            "buffers",
            "server",
            "rate",
            "alone",
            "both",
        ],
        mutant(step='"both"', replace='{ "4" = "5" }', fails='["server shows"]', after='["look"]'): [
            "delay",
            "look",
            "buffers",
            "server",
            "rate",
            "both",
            "stopped",
        ],
    }
    for number, (text, expected) in enumerate(cases.items()):
        lab = lab_with(tmp_path / str(number), text)
        mutants = load_mutants(lab)
        assert ids(replayed_steps(lab, mutants, wrong=True)) == expected


# --- what is said


def test_a_mutant_that_is_noticed(tmp_path):
    """The mistake is typed, and the first step to fail is the one it was made at."""
    control, trial = tried(tmp_path, mutant(), {"tc delay 20": "", "tc show": "delay 20ms\n"})
    assert (control.state, trial.state) == ("holds", "wrong")
    assert trial.why == "survived: look shows saw 20ms where shown is expected"
    text = mutant(step='"look"', replace='{ "show" = "show dev lo" }')
    control, trial = tried(tmp_path / "other", text, {})
    assert (control.state, trial.state, trial.at, trial.why) == ("holds", "caught", "look", "")


def test_a_command_that_is_refused_is_noticed(tmp_path):
    """The student sees the message; `fails` calls it STATUS."""
    text = mutant(step='"alone"', replace='{ "-c 3" = "-x" }', fails='["alone status"]')
    _, trial = tried(tmp_path, text, {"ping -x 10.0.0.2": ("ping: bad option\n", 2)})
    assert (trial.state, trial.at) == ("caught", "alone")
    text = mutant(step='"alone"', replace='{ "-c 3" = "-x" }', fails='["alone ping.loss.fraction"]')
    _, trial = tried(tmp_path / "named", text, {"ping -x 10.0.0.2": ("ping: bad option\n", 2)})
    assert trial.state == "wrong"
    assert trial.why == "alone status fails, and this does not: alone ping.loss.fraction was not reached"


def test_a_mutant_that_fails_elsewhere_first_is_wrong(tmp_path):
    """What is named must be what the student would notice first."""
    both = "both.ping.loss.fraction <= alone.ping.loss.fraction"
    text = mutant(step='"rate"', replace='{ "1" = "2" }', fails=f'["{both}"]', late='"x"')
    toml = TOML.replace("value = 0", 'range = ["0 %", "10 %"]')
    control, trial = tried(tmp_path, text, {"tc rate 2gbit": "", "ping -c 4 10.0.0.2": LOST}, toml)
    assert (control.state, control.why) == ("wrong", f"without any mistake this fails too: {both}")
    assert trial.why == "it proves nothing, since the same steps fail without the mistake"
    lossy = 'type = "ping -c 5 10.0.0.2"'
    text = mutant(step='"alone"', replace=None, fails=f'["{both}"]', late='"x"') + lossy + "\n"
    _, trial = tried(tmp_path / "first", text, {"ping -c 5 10.0.0.2": LOST}, toml)
    assert (trial.state, trial.at) == ("wrong", "alone")
    assert trial.why.startswith(f"alone ping.loss.fraction fails, and this does not: {both} saw")


def test_a_late_mutant_is_told_apart(tmp_path):
    """It counts as noticed, and the table says that it was late."""
    text = mutant(fails='["alone ping.loss.fraction"]', late='"no drop shows it"', replace='{ "20ms" = "20" }')

    def delay(work):
        (work / "wrong").touch()
        return ""

    answers = {"tc delay 20": delay, "ping -c 3 10.0.0.2": lambda work: LOST if (work / "wrong").exists() else PING}
    _, trial = tried(tmp_path, text, answers)
    assert (trial.state, trial.at, trial.good) == ("late", "alone", True)


def test_the_command_tells_and_exits(tmp_path, capsys, monkeypatch):
    """A table, what survived, the sum, and exit 1; 0 if all were caught."""
    survivor = mutant(name='"survivor"')
    lab = lab_with(tmp_path, mutant(step='"look"', replace='{ "show" = "show dev lo" }') + survivor)
    monkeypatch.setattr(command, "load_engine", lambda name: ScriptedEngine(ANSWERS))
    assert cli.main(["labs", "--mutants", str(lab.folder), "--jobs", "1"]) == 1
    shown = capsys.readouterr().out
    assert "[3/3] Lab 1 survivor: wrong in" in shown
    assert f"{lab.folder}/mutants.toml:7: survivor: survived: look shows saw 20ms" in shown
    assert "1 of 2 mutants were caught; " in shown
    assert cli.main(["labs", "--mutants", str(lab.folder), "--only", "m"]) == 0
    assert cli.main(["labs", "--mutants", str(lab.folder), "--only", "x"]) == 2
    assert 'no mutant is called "x"' in capsys.readouterr().err
    assert cli.main(["labs", "--only", "m"]) == 2
    assert "--only goes with --mutants" in capsys.readouterr().err
