# SPDX-License-Identifier: BSD-3-Clause
"""The viewer of data sets: `linklab view FILES…`.

    files ─→ reading (worker processes, cache) ─→ runs.Runs (which are open, which are shown) ─→ chart (Matplotlib)
                                                       └→ the tables of runs, plots and metadata (tkinter)

Without tkinter: runs, columns, metadata, scale, reading, cache, drawable, options, hover, settings, actions. The
rest is the window, made of linklab.windows. What is drawn is decided by `linklab.plots.named`. A test is run by a child
process, `linklab test run`, so that the window neither waits for it nor falls with it.
"""
