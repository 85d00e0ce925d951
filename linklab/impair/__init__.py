# SPDX-License-Identifier: BSD-3-Clause
"""What one direction of a link does to packets, as plain data, and the `tc` lines that make it so.

    {"rate": "1gbit", "delay": "20ms", "discipline": {"kind": "codel"}} → Impairment → commands("s1-eth2", …)

It starts nothing and knows no topology. disciplines.py: which there are; model.py: the data; lines.py: the commands.
Specified in tc(8), tc-netem(8), tc-tbf(8) and the page of each discipline; defaults are tc's where nothing is given.
"""

from linklab.impair.disciplines import DISCIPLINES
from linklab.impair.lines import change_commands, commands, kinds
from linklab.impair.model import DISTRIBUTIONS, Impairment

__all__ = ["DISCIPLINES", "DISTRIBUTIONS", "Impairment", "change_commands", "commands", "kinds"]
