# SPDX-License-Identifier: BSD-3-Clause
"""What our windows are made of: theme, dialogs, menus and keys, the line at the bottom, words in other languages.

    words, actions, fields (data) ← theme.Look ← toplevel.Dialog ← dialogs.FormDialog, chooser.Chooser, questions

The topology editor and the viewer of data sets are made of it; it knows neither.
Without tkinter: words, actions, fields, palette.
"""
