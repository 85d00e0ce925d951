# SPDX-License-Identifier: BSD-3-Clause
"""A replay of which one step shows or leaves something odd: that measurement is broken, and the others are whole."""

import json
import os
from pathlib import Path

import pytest
from scripted import ScriptedEngine

from linklab.engine import api
from linklab.judge.verdict import Outcome
from linklab.lab.model import load_lab
from linklab.run.replay import save_outputs
from linklab.run.report import write_report
from linklab.run.runner import run_lab
from linklab.run.stage import Capture, RunSettings

ROOT = Path(__file__).parents[2]
CAPTURES = ROOT / "tests" / "captures"
PING = (CAPTURES / "ping-20221126-plain.txt").read_text()
IPERF3 = (CAPTURES / "iperf3-3.12-tcp.json").read_text()

MANUAL = """\
## Measuring

Step. Test.

```h1 id=odd
./odd
```

```h1 id=bulk
iperf3 -c 10.0.0.2 -J > out.json
```

```h1 id=probe
ping -c 5 10.0.0.1
```
"""

EXPECTATION = """
[[expect]]
step = "{}"
what = "{}"
at_least = "{}"
why = "it was measured"
"""
TOML = 'number = 1\ntitle = "T"\ntopology = "Lab 8.mn"\n' + "".join(
    EXPECTATION.format(*each)
    for each in (
        ("odd", "iperf3.duration", "0 s"),
        ("bulk", "iperf3.duration", "0 s"),
        ("probe", "ping.loss.fraction", "0 %"),
    )
)


class Silent:
    """A narrator that says nothing."""

    def begin(self, steps, network_s):
        """Nothing."""

    def end(self, captures, network_s):
        """Nothing."""


def bulk(workdir):
    """What iperf3 leaves."""
    (workdir / "out.json").write_text(IPERF3)
    return ""


def replayed(tmp_path, odd):
    """The run of a lab whose first step shows or does `odd`, and its run.json."""
    folder = tmp_path / "labs" / "01-t"
    folder.mkdir(parents=True)
    (folder / "manual.md").write_text(MANUAL)
    (folder / "lab.toml").write_text(TOML)
    (tmp_path / "topologies").symlink_to(ROOT / "topologies")
    engine = ScriptedEngine({"./odd": odd, "iperf3 -c 10.0.0.2 -J > out.json": bulk, "ping -c 5 10.0.0.1": PING})
    run = run_lab(load_lab(folder), engine, RunSettings(api.Clock.VIRTUAL, 1, "ideal"), tmp_path / "run", Silent())
    write_report(run)
    return run, json.loads((run.folder / "run.json").read_text(encoding="utf-8"))


def named(name):
    """An action that leaves a file of that name in which nothing is known."""

    def leave(workdir):
        (workdir / os.fsdecode(name)).write_text("nothing")
        return ""

    return leave


ODD = {
    "a row with two points": (
        "[  5]   0.00-1.00   sec  1.1 MBytes  9.2.1 Mbits/sec\n",
        'line 1: "9.2.1" is not a number',
    ),
    "a huge icmp_seq": (PING.replace("icmp_seq=2 ", "icmp_seq=4000000000 "), "icmp_seq=4000000000 is not a number"),
    "a name that is no UTF-8": (named(b"a\xff.json"), "a\\xff.json: no output of iperf3"),
    "a name of control characters": (named(b"a\x1b[31m\n.json"), "a\\x1b[31m\\n.json: no output of iperf3"),
    "a JSON of 100,000 levels": ('{"start":' + "[" * 100_000, "no JSON that a tool writes"),
    "half a surrogate": ('{"start": {}, "intervals": [], "error": "\\ud800"}', "iperf3 ended with an error: \\ud800"),
}


@pytest.mark.parametrize(("odd", "said"), ODD.values(), ids=ODD)
def test_an_odd_output_breaks_its_own_measurement_alone(tmp_path, odd, said):
    """The other steps are measured and judged, run.json and the report are written, and the reason is in them."""
    run, data = replayed(tmp_path, odd)
    assert [verdict.outcome for verdict in run.verdicts] == [Outcome.ERROR, Outcome.PASS, Outcome.PASS]
    assert list(run.broken) == ["odd"]
    assert said in run.broken["odd"]
    steps = {step["step"]: step for step in data["steps"]}
    assert steps["odd"]["not_measured"] == run.broken["odd"]
    assert steps["bulk"]["scalars"]["iperf3.duration"]["value"] > 0
    assert not (run.folder / "incomplete.json").exists()


def test_a_file_name_that_is_no_utf_8_is_in_run_json(tmp_path):
    """As JSON's escape of the byte, from which Python makes the name again."""
    run, data = replayed(tmp_path, named(b"a\xff.json"))
    (name,) = data["steps"][0]["files"]
    assert os.fsencode(name) == b"a\xff.json"
    assert '<a href="files/a%FF.json">a\\xff.json</a>' in (run.folder / "report.html").read_text(encoding="utf-8")


def test_a_file_that_is_gone_when_it_is_looked_at_is_none(tmp_path, monkeypatch):
    """A program that is still running may remove a file between two looks at it."""
    listed = os.walk

    def late(top):
        for folder, below, names in listed(top):
            if "gone.json" in names:
                Path(folder, "gone.json").unlink()
            yield folder, below, names

    monkeypatch.setattr("linklab.run.workfolder.os.walk", late)
    run, _ = replayed(tmp_path, named(b"gone.json"))
    assert run.steps["odd"].files == ()


def test_an_output_with_half_a_surrogate_is_written(tmp_path):
    """What no text can hold stands there as an escape."""
    save_outputs({"a": Capture("a", "h1", "x", "b\udcff\n", 0, 0.0, 1.0)}, tmp_path)
    assert (tmp_path / "steps" / "01-a.txt").read_text() == "b\\udcff\n"
