# SPDX-License-Identifier: BSD-3-Clause
"""exercise.toml: what does not hold together is refused by a sentence."""

import pytest
from small_exercise import make_clone

from linklab.errors import InputError
from linklab.exercise.load import load_exercise


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ('needs = ["rate"]', 'needs = ["secret"]', 'check throughput: it needs "secret", which is no check before it'),
        # its title would stand in the story of the visible one
        (
            'hints = ["Look at s1-eth2.", "Its rate',
            'hidden = true\nhints = ["Look at s1-eth2.", "Its rate',
            'check throughput: it needs "rate", which is hidden: its title would be told to students',
        ),
        ('low = "0.9 * bdp"', 'low = "0.9 * bpd"', 'check buffer: "0.9 * bpd" speaks of bpd, which is not there'),
        ('kind = "state"', 'kind = "fact"', 'check rate: kind "fact"; use state, measure'),
    ],
)
def test_what_does_not_hold_together_is_named(tmp_path, old, new, why):
    """The file, the check, what it has and what is wanted."""
    path = make_clone(tmp_path) / "exercises/3-small/exercise.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        load_exercise(path.parent)
    assert str(caught.value).startswith(f"{path}: {why}")
