# SPDX-License-Identifier: BSD-3-Clause
"""The reader of TOML: tomllib of Python 3.11, tomli before (https://toml.io/en/v1.0.0)."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 11):
    from tomllib import TOMLDecodeError, loads
else:
    from tomli import TOMLDecodeError, loads

__all__ = ["TOMLDecodeError", "loads"]
