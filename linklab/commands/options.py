# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands share."""

from __future__ import annotations

import argparse


def seed(text: str) -> int:
    """A seed as it is typed: a whole number from 0 to 2^64 - 1."""
    if not text.isascii() or not text.isdecimal() or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"{text!r} is no seed; use a whole number from 0 to 2^64 - 1")
    return int(text)
