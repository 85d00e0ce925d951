# SPDX-License-Identifier: BSD-3-Clause
"""For all tests: Ctrl+C means Ctrl+C, also where whoever started them ignores it, as a shell does in the background.

And Hypothesis judges no test by how long a busy machine takes to make its inputs.
"""

import signal

from hypothesis import HealthCheck, settings

signal.signal(signal.SIGINT, signal.default_int_handler)
settings.register_profile("linklab", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("linklab")
