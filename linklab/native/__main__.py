# SPDX-License-Identifier: BSD-3-Clause
"""`python -m linklab.native` compiles our shared objects."""

from linklab.native import main

main()
