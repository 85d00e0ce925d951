# SPDX-License-Identifier: BSD-3-Clause
"""The digest by which a recording is known to be of the steps that the manual has now."""

from test_runner import make_lab

from linklab.lab.reference import replayed

MANUAL = """## A
```editor
open "Lab 8.mn"
run
```
```h2 id=server background
iperf3 -s
```
```h1 id=ping for=4s
ping 10.0.0.2
```
```h1 id=one together=both
ls
```
```h1#2 id=two together=both prompt="mininet>"
ls
```
```client file=/etc/x
text
```
```h2 wait=server
```
"""


def test_the_digest_does_not_follow_the_names_of_classes(tmp_path):
    """Regression: with `AtPrompt` renamed to `Prompt`, all twenty recordings were said to be of other steps."""
    lab = make_lab(tmp_path, MANUAL, 'number = 1\ntitle = "T"\n')
    assert replayed(lab) == "f225aa0f587e"


def test_prose_and_files_do_not_change_the_digest(tmp_path):
    """What is typed does."""
    before = replayed(make_lab(tmp_path / "a", MANUAL, 'number = 1\ntitle = "T"\n'))
    prose = MANUAL.replace("## A", "## A\n\nProse.\n").replace("id=one", "id=one files=x.json")
    assert replayed(make_lab(tmp_path / "b", prose, 'number = 1\ntitle = "U"\n')) == before
    typed = MANUAL.replace("for=4s", "for=5s")
    assert replayed(make_lab(tmp_path / "c", typed, 'number = 1\ntitle = "T"\n')) != before


def test_a_step_that_is_typed_at_once_makes_another_digest(tmp_path):
    """Regression: `at-once` changes when commands begin, and a recording without it was said to be current."""
    together = make_lab(tmp_path / "a", MANUAL, 'number = 1\ntitle = "T"\n')
    at_once = MANUAL.replace("together=both prompt", "together=both at-once prompt")
    assert replayed(make_lab(tmp_path / "b", at_once, 'number = 1\ntitle = "T"\n')) != replayed(together)
