# SPDX-License-Identifier: BSD-3-Clause
"""A figure in the colours of a dark window: ground, axes, words and what was black; data keep their colours.

Only the window's figure is changed; files are saved as they are printed.
"""

from __future__ import annotations

from typing import Any

from matplotlib.collections import Collection
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from linklab.windows.palette import Palette
from linklab.windows.theme import Look

_DARKER = 0.2
"""Below this lightness a colour cannot be told from a dark ground."""

_GREYER = 0.45
"""Below it, letters are hard to read there."""


def dress(figure: Any, look: Look) -> None:
    """Put a figure into the colours of the theme."""
    palette = look.palette
    figure.patch.set_facecolor(palette.canvas)
    for axes in figure.axes:
        axes.set_facecolor(palette.canvas)
    if look.theme != "dark":
        return
    for axes in figure.axes:
        _dress_axes(axes, palette)
    for text in figure.findobj(Text):
        if _lightness(text.get_color()) < _GREYER:
            text.set_color(palette.ink if _lightness(text.get_color()) < _DARKER else palette.muted)


def _dress_axes(axes: Any, palette: Palette) -> None:
    axes.tick_params(which="both", colors=palette.ink, grid_color=palette.border)
    for spine in axes.spines.values():
        spine.set_edgecolor(palette.edge)
    legend = axes.get_legend()
    if legend is not None:
        legend.get_frame().set_facecolor(palette.canvas)
        legend.get_frame().set_edgecolor(palette.border)
    ground = [axes.patch] if legend is None else [axes.patch, legend.get_frame()]
    for artist in axes.get_children() + ([] if legend is None else legend.findobj()):
        if artist not in ground:
            _lighten(artist, palette)


def _lighten(artist: Any, palette: Palette) -> None:
    """What is drawn dark is drawn in the theme's ink."""
    match artist:
        case Line2D():
            if _is_dark(artist.get_color()):
                artist.set_color(palette.ink)
        case Patch():
            if _is_dark(artist.get_edgecolor()):
                artist.set_edgecolor(palette.ink)
        case Collection():
            edges = artist.get_edgecolor()
            if len(edges) and all(_is_dark(edge) for edge in edges):
                artist.set_edgecolor(palette.ink)
        case _:
            pass


def _is_dark(colour: Any) -> bool:
    return _lightness(colour) < _DARKER


def _lightness(colour: Any) -> float:
    """0 for black, 1 for white and for what has no colour."""
    if isinstance(colour, str) and colour.lower() in ("none", "auto"):
        return 1.0
    red, green, blue = to_rgb(colour)
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)
