# SPDX-License-Identifier: BSD-3-Clause
"""The drawn figures of the manuals: files as their modules draw them, well-formed, with unique ids."""

import re
import xml.etree.ElementTree as ET

import pytest

from linklab.figures.__main__ import drawn
from linklab.figures.svg import BLUE, Sketch, scaled

FIGURES = drawn()


@pytest.mark.parametrize("path", list(FIGURES), ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_file_is_as_drawn(path):
    """A figure in a lab's folder is what its module draws; else run python -m linklab.figures."""
    assert path.is_file() and path.read_text(encoding="utf-8") == FIGURES[path]


@pytest.mark.parametrize("path", list(FIGURES), ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_figure_is_well_formed_and_described(path):
    """Every figure is XML with a title and a description."""
    root = ET.fromstring(FIGURES[path])  # noqa: S314 - our own text
    tag = "{http://www.w3.org/2000/svg}"
    assert root.findtext(f"{tag}title") and root.findtext(f"{tag}desc")


def test_ids_are_unique_over_all_figures():
    """Several figures stand in one page, so no id may be there twice."""
    ids = [found for text in FIGURES.values() for found in re.findall(r'\bid="([^"]+)"', text)]
    assert len(ids) == len(set(ids))


def test_drawing_rounds_to_one_decimal():
    """Coordinates have at most one decimal, so that the bytes are the same on every machine."""
    drawing = Sketch("x", 100, 50, "T", "D")
    drawing.line(scaled([(0, 0), (1 / 3, 1.0)], (10, 40), 30, 20), colour=BLUE)
    assert '<polyline points="10,40 20,20"' in drawing.svg()


def test_drawing_escapes_words():
    """Text may contain the characters that mean something to XML."""
    drawing = Sketch("x", 100, 50, "a < b", "D")
    drawing.text(5, 5, "p & q")
    assert "a &lt; b" in drawing.svg() and "p &amp; q" in drawing.svg()
