# SPDX-License-Identifier: BSD-3-Clause
"""One home for tc: what a discipline, class or filter is, in every form it takes, and the impairments made of them.

    words typed ─┐                                ┌─→ words for tc, exact or as people write them
    a drawing ───┼→ Qdisc, Class, Filter ─────────┼─→ a rate, a capacity: facts for the grader
    the kernel ──┘  (kind, place, options with    ├─→ the kernel's module
                     units in their names)        └─→ fields of a dialog

A `Kind` is the one row that knows a kind; `kinds` has the tables. An `Impairment` is what a direction of a link does,
as data; a backend turns it into Qdiscs and Classes (`netem_backend`), or into a link by departure time
(`edt_backend`). Specified in tc(8) and the page of each kind.
"""

from linklab.linux.tc_line import HOOKS, SETS, Line, lines_in
from linklab.linux.tc_line import parse as parse_line
from linklab.tc.backends import change_lines, lines, objects
from linklab.tc.impairment import BACKENDS, EDT, Impairment
from linklab.tc.kind import FRAME_BYTES, Kind
from linklab.tc.kinds import CLASSES, DISCIPLINES, FILTERS, QDISCS, module_of
from linklab.tc.link import EdtLink
from linklab.tc.model import DEFAULT_HANDLE, INCOMING, Class, Filter, Qdisc, most_burst, read_line
from linklab.tc.netem import DISTRIBUTIONS, loss_model, mean_loss
from linklab.tc.option import Options, Parameter
from linklab.tc.queues import fq_defaults
from linklab.tc.shapers import LEAF_LIMIT

__all__ = [
    "BACKENDS",
    "CLASSES",
    "DEFAULT_HANDLE",
    "DISCIPLINES",
    "DISTRIBUTIONS",
    "EDT",
    "FILTERS",
    "FRAME_BYTES",
    "HOOKS",
    "INCOMING",
    "LEAF_LIMIT",
    "QDISCS",
    "SETS",
    "Class",
    "EdtLink",
    "Filter",
    "Impairment",
    "Kind",
    "Line",
    "Options",
    "Parameter",
    "Qdisc",
    "change_lines",
    "fq_defaults",
    "lines",
    "lines_in",
    "loss_model",
    "mean_loss",
    "module_of",
    "most_burst",
    "objects",
    "parse_line",
    "read_line",
]
