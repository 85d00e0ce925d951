# SPDX-License-Identifier: BSD-3-Clause
"""`python -m linklab`: the command line without an installed script."""

import sys

from linklab.cli import main

sys.exit(main())
