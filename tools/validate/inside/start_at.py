# SPDX-License-Identifier: BSD-3-Clause
"""Start a command at a moment of the network's clock: start_at.py SECONDS COMMAND ARGUMENT..."""

import os
import sys
import time

at_ns = round(float(sys.argv[1].partition(".")[0])) * 10**9 + int(sys.argv[1].partition(".")[2].ljust(9, "0")[:9])
while (left_ns := at_ns - time.time_ns()) > 0:
    time.sleep(left_ns / 1e9)
os.execvp(sys.argv[2], sys.argv[2:])
