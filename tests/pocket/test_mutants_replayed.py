# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that are really made on a network: what they change is measured, and what changes nothing survives."""

import shutil
from pathlib import Path

from pockets import needs_pocket

from linklab import cli

pytestmark = needs_pocket
TOPOLOGIES = Path(__file__).parents[2] / "topologies"
MANUAL = """\
## A path

Step. Reach h2.

```h1 id=reach
ping -c 1 10.0.0.2
```

## A delay

Step. Delay the requests.

```client id=delay setup
tc qdisc add dev s1-eth2 root netem delay 20ms
```

Step. Measure it.

```h1 id=measured
ping -c 3 -i 0.2 10.0.0.2
```
"""
TOML = """\
number = 1
title = "T"
topology = "Lab 8.mn"

[[expect]]
step = "measured"
what = "ping.rtt.mean"
range = ["20 ms", "20.5 ms"]
why = "the delay of one direction"
"""
MUTANTS = """\
[[mutant]]
name = "without-unit"
mistake = "The delay has no unit."
step = "delay"
replace = { "20ms" = "20" }
after = ["reach"]
fails = ["measured ping.rtt.mean"]

[[mutant]]
name = "forgotten"
mistake = "The delay is forgotten."
step = "delay"
omit = true
after = ["reach"]
fails = ["measured ping.rtt.mean"]

[[mutant]]
name = "no-such-port"
mistake = "The port is misspelt."
step = "delay"
replace = { "s1-eth2" = "s1-eth9" }
after = ["reach"]
fails = ["delay status"]

[[mutant]]
name = "other-direction"
mistake = "The replies are delayed, which ping cannot tell."
step = "delay"
replace = { "s1-eth2" = "s2-eth2" }
after = ["reach"]
fails = ["measured ping.rtt.mean"]
"""


def test_what_changes_the_figures_is_caught_and_what_does_not_survives(tmp_path, capsys):
    """Each mistake runs in a pocket of its own; one that ping cannot see is named, with what was measured."""
    folder = tmp_path / "labs" / "01-t"
    folder.mkdir(parents=True)
    (tmp_path / "topologies").mkdir()
    shutil.copy(TOPOLOGIES / "Lab 8.mn", tmp_path / "topologies")
    for name, text in {"manual.md": MANUAL, "lab.toml": TOML, "mutants.toml": MUTANTS}.items():
        (folder / name).write_text(text)
    assert cli.main(["labs", "--mutants", str(folder)]) == 1
    shown = capsys.readouterr().out
    for name in ("without-unit", "forgotten", "no-such-port"):
        assert f"Lab 1 {name}: caught in" in shown
    assert "other-direction: survived: measured ping.rtt.mean saw 20.0 ms where 20 ms – 20.5 ms is expected" in shown
    assert "3 of 4 mutants were caught; " in shown
