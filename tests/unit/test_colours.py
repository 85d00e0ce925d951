# SPDX-License-Identifier: BSD-3-Clause
"""Colours of the two themes: enough contrast, by the formula of WCAG 2.2."""

import pytest

from linklab.windows.palette import PALETTES


def luminance(colour):
    """Relative luminance of "#rrggbb" (WCAG 2.2, definition of the term)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    """1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_formula():
    """Black on white is 21:1, and #777777 on white 4.48:1, as everywhere."""
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("ground", ["field", "window", "panel"])
def test_the_edge_of_a_field_is_seen(theme, ground):
    """Success criterion 1.4.11: at least 3:1 against both sides of it."""
    palette = PALETTES[theme]
    assert contrast(palette.edge, getattr(palette, ground)) >= 3


@pytest.mark.parametrize("theme", PALETTES)
def test_the_focus_is_seen(theme):
    """The ring of a field is told from its edge's ground, that of the blue button from the blue."""
    palette = PALETTES[theme]
    for ground in (palette.field, palette.window, palette.panel):
        assert contrast(palette.accent, ground) >= 3
        assert contrast(palette.ink, ground) >= 3
    assert contrast(palette.accent_ink, palette.accent) >= 3


@pytest.mark.parametrize("theme", PALETTES)
def test_the_blue_button_below_the_mouse_is_not_like_one_that_cannot_be_pressed(theme):
    """Regression: it turned grey. Its text is read, and its colour is told from both others."""
    palette = PALETTES[theme]
    assert contrast(palette.accent_ink, palette.pointed) >= 4.5
    assert contrast(palette.pointed, palette.accent) >= 1.4
    assert contrast(palette.pointed, palette.hover) >= 3
    red, _, blue = bytes.fromhex(palette.pointed[1:])
    assert blue > red + 60


@pytest.mark.parametrize("theme", PALETTES)
@pytest.mark.parametrize("ink", ["ink", "muted", "bad", "warn"])
def test_text_is_read(theme, ink):
    """Success criterion 1.4.3: at least 4.5:1."""
    palette = PALETTES[theme]
    for ground in (palette.window, palette.panel, palette.field):
        assert contrast(getattr(palette, ink), ground) >= 4.5
