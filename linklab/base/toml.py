# SPDX-License-Identifier: BSD-3-Clause
"""The reader of TOML: tomllib of Python 3.11, tomli before (https://toml.io/en/v1.0.0).

Its one error is TOMLDecodeError, also where text nests deeper than Python calls or a number has thousands of digits.
"""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib as reader
    from tomllib import TOMLDecodeError
else:
    import tomli as reader
    from tomli import TOMLDecodeError

__all__ = ["TOMLDecodeError", "loads"]


def loads(text: str) -> dict[str, Any]:
    """The table of a TOML text.

    Raises:
        TOMLDecodeError: it is no TOML, or nests too deeply, or a number in it has thousands of digits.
    """
    try:
        table: dict[str, Any] = reader.loads(text)
    except TOMLDecodeError:
        raise
    except RecursionError as error:
        raise TOMLDecodeError("it nests too deeply") from error
    except ValueError as error:
        raise TOMLDecodeError("a number or a date in it is beyond what can be read") from error
    return table
