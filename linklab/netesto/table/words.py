# SPDX-License-Identifier: BSD-3-Clause
"""The words of table scripts: directives, variables, and those of exp.py's form in a browser, which scripts ignored."""

from __future__ import annotations

from linklab.netesto.table.settings import VARIABLES

ALONE = ("dotable", "doplot", "end")
"""Directives that may stand without a value."""

IN_THE_PAGE = {
    "percenttable": "the page shows differences from the first row, below Scale",
    "filternotes": "filter the rows above the table instead",
    "description": "make a column instead, such as newCol=Descript = ca & ' ' & bw",
    "averageby": "write Average=COLUMNS",
}
"""Words of the form, in small letters → what does the same here."""

WEB_ONLY = frozenset(
    {"savestatic", "savepage", "savecommands", "readcommands", "browsecommands", "readpage", "helpbubble"}
    | {"showcolformatting", "keeprows", "deleterows", "allrows", "keepcols", "allcols", "loadcsvfile", "csvfile"}
    | {"appendcsvfile", "plotdo", "scaledo", "menu", "image", "doratio", "note", "cleandescript", "do", "savecoms"}
    | {"startmacro", "endmacro", "savemacro", "domacro"}
)
"""Buttons and fields of the form that a script has no use for, in small letters."""

VARIABLE_NAMES = {name.lower(): name for name in VARIABLES}

_DIRECTIVES = (
    ("format", "log", "File", "read", "append", "source", "Path", "relPath", "IterFile"),
    ("Select", "rows", "selectRows", "selectExp", "Cols", "selectCols", "removeCols", "deleteCols", "Sort"),
    ("newCol", "NewColField1", "NewColOp", "NewColField2", "NewColName", "Average", "ScaleColumns", "ScaleFactor"),
    ("doTable", "doPlot", "end"),
)

WORDS = [*(word for group in _DIRECTIVES for word in group), *VARIABLES]
"""All that a line may begin with, as people write it."""
