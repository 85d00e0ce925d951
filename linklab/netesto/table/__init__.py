# SPDX-License-Identifier: BSD-3-Clause
"""Table scripts: an exp.csv and a script of directives → one page of tables and plots, after Netesto's exp.py.

`located.py` reads lines and keeps where each letter comes from; `script.py` makes directives of them; `session.py` does
what they say to the rows (`selection.py`, `formula.py`, `averages.py`); `settings.py` and `chart.py` turn plot
variables and rows into a figure of `linklab.plots.grouped_bars`; `page.py` writes the page. It begins with files alone.
"""
