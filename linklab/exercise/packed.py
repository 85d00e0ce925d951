# SPDX-License-Identifier: BSD-3-Clause
"""Data as text that shows nothing at a glance, and back; it is encoded, not encrypted, and keeps no secret.

Holds what set_env.sh does in instance.json, and the faults of a student's exercise.toml. `linklab.agent.exercise_env`,
which has the standard library only, reads the same form.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

MOST_BYTES = 100_000


def pack(data: object) -> str:
    """JSON data as text: base64 of zlib."""
    return base64.b64encode(zlib.compress(json.dumps(data).encode())).decode("ascii")


def unpack(text: str) -> Any:
    """The data again, of at most MOST_BYTES of JSON.

    Raises:
        ValueError, zlib.error: the text is not packed data, or holds more.
    """
    try:
        return json.loads(zlib.decompressobj().decompress(base64.b64decode(text, validate=True), MOST_BYTES))
    except RecursionError as error:
        raise ValueError("too deep") from error
