# SPDX-License-Identifier: BSD-3-Clause
"""For all tests: Ctrl+C means Ctrl+C, also where whoever started them ignores it, as a shell does in the background."""

import signal

signal.signal(signal.SIGINT, signal.default_int_handler)
