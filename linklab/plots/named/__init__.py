# SPDX-License-Identifier: BSD-3-Clause
"""Data sets → the figures that tests name, as `linklab.plots.spec` describes them: docs/tests.md, "Plots".

`draw` draws into a figure that a window has, `save` writes a file. It must not use pyplot, and must not run anything.
"""

from linklab.plots.named.figure import draw, save, size_of
from linklab.plots.named.left_out import crowded, lacking, refuse_empty
from linklab.plots.named.loaded import Loaded, default_plot, specs_of
from linklab.plots.named.options import Options
from linklab.plots.named.picture import Shown, shown_of

__all__ = [
    "Loaded",
    "Options",
    "Shown",
    "crowded",
    "default_plot",
    "draw",
    "lacking",
    "refuse_empty",
    "save",
    "shown_of",
    "size_of",
    "specs_of",
]
