# SPDX-License-Identifier: BSD-3-Clause
"""One data set for everything that was measured, and one file for it: Flent's data file, version 4.

`Dataset` is what a step of a lab, a test or an experiment measured. `save` and `open_file` write and read
`NAME.flent.gz`; stock Flent opens what `save` wrote, and `open_file` reads Flent's versions 1 to 4.
The fields of the file, and what of it is Linklab's own: docs/data-files.md.
"""

from linklab.data.dataset import Dataset
from linklab.data.files import dump, load, open_file, save

__all__ = ["Dataset", "dump", "load", "open_file", "save"]
