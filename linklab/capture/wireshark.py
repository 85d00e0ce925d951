# SPDX-License-Identifier: BSD-3-Clause
"""Wireshark as a window onto a capture: started with the capture on its standard input."""

from __future__ import annotations

import shutil
import subprocess
from typing import IO

from linklab.errors import MissingError

PROGRAM = "wireshark"


def is_here() -> bool:
    """Return whether Wireshark is installed."""
    return shutil.which(PROGRAM) is not None


def started() -> tuple[subprocess.Popen[bytes], IO[bytes]]:
    """Start Wireshark; return it and where it reads the capture from.

    Raises:
        MissingError: it is not installed.
    """
    program = shutil.which(PROGRAM)
    if program is None:
        raise MissingError(
            "Wireshark is not installed: install wireshark (`sudo apt-get install wireshark`), or write a file with "
            "-o FILE.pcapng and open that elsewhere"
        )
    # in a session of its own: Ctrl+C in our terminal ends the capture, and what is shown stays
    window = subprocess.Popen(
        [program, "-k", "-i", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    assert window.stdin is not None
    return window, window.stdin
