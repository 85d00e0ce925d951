# SPDX-License-Identifier: BSD-3-Clause
"""Table scripts: an exp.csv and a script of directives → one page of tables and plots, after Netesto's exp.py.

`located.py` reads lines and keeps where each letter comes from; `session.py` runs them; `rows.py` has what they do to
the rows (`selection.py`, `formula.py`, `averages.py`); `settings.py` and `chart.py` turn plot variables and rows into
a figure of `linklab.plots.grouped_bars`; `page.py` writes the page; `make.py` is what others call.
"""
