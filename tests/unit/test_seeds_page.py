# SPDX-License-Identifier: BSD-3-Clause
"""The page of tools/seeds.py keeps what was measured before, as long as the same kernel measured it."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import seeds

POCKET = "Pocket: Linux 7.3.4, digest 0123456789ab."
PAGE = f"""{seeds.INTRODUCTION}
{POCKET}

## Lab 1: One

Seeds 1 to 5: 17 of 17.

| what | met |
|---|---|
| rtt | 5 of 5 |

## Lab 2: Two

Seed 1 alone.
"""


def test_chapters_are_found_by_their_headings_with_all_they_say():
    """A chapter goes up to the next heading, tables and empty lines included."""
    assert seeds.chapters(PAGE, POCKET) == {
        "Lab 1: One": "Seeds 1 to 5: 17 of 17.\n\n| what | met |\n|---|---|\n| rtt | 5 of 5 |",
        "Lab 2: Two": "Seed 1 alone.",
    }


def test_a_page_of_another_kernel_gives_no_chapter():
    """Figures of two kernels never stand on one page."""
    assert seeds.chapters(PAGE, POCKET.replace("0123456789ab", "ba9876543210")) == {}


@pytest.mark.parametrize(
    ("first", "seeds_there"),
    [("Seeds 1 to 20: 5 of 5", 20), ("Seeds 1, 2, 7: 5 of 5", 3), ("Seed 4 alone: 5 of 5", 1), ("", 0)],
)
def test_a_chapter_says_from_how_many_seeds_it_is(first, seeds_there):
    """So that a run of two seeds does not replace one of twenty."""
    assert seeds.seeds_in(first) == seeds_there


def test_the_page_that_is_kept_is_written_again_to_the_letter_where_nothing_was_measured(tmp_path, monkeypatch):
    """With no run of the present kernel here, every chapter of the page stays as it is."""
    monkeypatch.setattr(seeds, "kept", lambda lab, seed: tmp_path / f"lab{lab:02d}-seed{seed}")
    monkeypatch.setattr(seeds.pocket_kernel, "require", _Built)
    before = seeds.PAGE.read_text(encoding="utf-8")
    digest = before.partition("digest ")[2].partition(".")[0]
    monkeypatch.setattr(_Built, "digest", digest)
    monkeypatch.setattr(_Built, "version", before.partition("Linux ")[2].partition(",")[0])
    assert seeds.page(before) == (before, True)


class _Built:
    """What the page names of a kernel."""

    version = ""
    digest = ""
