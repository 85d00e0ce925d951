# SPDX-License-Identifier: BSD-3-Clause
"""The JSON documents of `iperf3 -J` and `--json-stream` in a text, whole or cut off.

`iperf3_json` reads what is in a document. This module must not look at measurements, and must not pass a part of a
document off as a whole one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from linklab.errors import DataError
from linklab.measure.reading import Json, beyond, json_object

_DECODER = json.JSONDecoder()
_DOCUMENT = re.compile(r'^[ \t]*\{\s*"(start|event|error)"', re.MULTILINE)


def documents(text: str, source: str, *, partial: bool) -> list[tuple[int, Json]]:
    """Every iperf3 document in `text` with its offset; text between documents is passed over.

    partial: of a document that is cut off keep the whole intervals.

    Raises:
        DataError: a document is cut off and `partial` is false, or it is not JSON.
    """
    found: list[tuple[int, Json]] = []
    events: list[tuple[int, Json]] = []
    position = 0
    while match := _DOCUMENT.search(text, position):
        begin = text.index("{", match.start())
        try:
            document, position = _decoded(text, begin, source)
        except json.JSONDecodeError as error:
            document, position = _cut(text, begin, error, source, partial=partial), len(text)
        if "event" in document:
            events.append((begin, document))
        elif "intervals" in document or "error" in document:
            found.append((begin, document))
    return sorted(found + list(_streamed(events, source, partial=partial)), key=lambda item: item[0])


def _decoded(text: str, begin: int, source: str) -> tuple[Any, int]:
    """The JSON value that begins there, and where it ends.

    Raises:
        json.JSONDecodeError: it is no JSON, or not a whole one.
        DataError: it is beyond what Python's reader takes.
    """
    try:
        return _DECODER.raw_decode(text, begin)
    except json.JSONDecodeError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(beyond(f"{source}: line {text.count(chr(10), 0, begin) + 1}")) from error


def _cut(text: str, begin: int, error: json.JSONDecodeError, source: str, *, partial: bool) -> Json:
    """The whole intervals of a document that could not be read to its end."""
    line = text.count("\n", 0, error.pos) + 1
    if text[error.pos :].strip():
        raise DataError(
            f"{source}: line {line}: not the JSON that iperf3 writes ({error.msg}); "
            "run iperf3 again with -J and redirect only its standard output"
        )
    intervals = list(_whole_elements(text, begin, source))
    if not partial or not intervals:
        raise DataError(
            f"{source}: the file ends at line {line} in the middle of iperf3's JSON, after {len(intervals)} whole "
            "intervals: the client was killed or is still running; let it finish, or ask for the whole intervals alone"
        )
    start: Json = {}
    if match := re.compile(r'"start"\s*:\s*').search(text, begin):
        with suppress(json.JSONDecodeError):  # of an interval then, since the document's own stands before them
            start = json_object(_decoded(text, match.end(), source)[0], f"{source}: start")
    return {"start": start, "intervals": intervals, "end": {}, "cut": f"the file ends at line {line}"}


def _whole_elements(text: str, begin: int, source: str) -> Iterator[Any]:
    match = re.compile(r'"intervals"\s*:\s*\[').search(text, begin)
    position = match.end() if match else len(text)
    separator = re.compile(r"[\s,]*")
    while True:
        gap = separator.match(text, position)
        try:
            element, position = _decoded(text, gap.end() if gap else position, source)
        except json.JSONDecodeError:
            return
        yield element


def _streamed(events: Sequence[tuple[int, Json]], source: str, *, partial: bool) -> Iterator[tuple[int, Json]]:
    """Documents put together from `--json-stream` (3.17 and later), one event a line."""
    document: Json = {}
    offset = 0
    for begin, event in events:
        kind, data = event["event"], event.get("data")
        if kind == "start":
            if document:
                yield offset, _ended_early(document, source, partial=partial)
            document, offset = {"start": data, "intervals": [], "end": {}}, begin
        elif kind == "interval" and document:
            document["intervals"].append(data)
        elif kind == "error":
            document["error"] = data
        elif kind == "end" and document:
            yield offset, document | {"end": data}
            document = {}
    if document:
        yield offset, _ended_early(document, source, partial=partial)


def _ended_early(document: Json, source: str, *, partial: bool) -> Json:
    if "error" in document:
        return document
    count = len(document["intervals"])
    if not partial or not count:
        raise DataError(
            f"{source}: iperf3's JSON stream stops after {count} intervals, without its end: the client was killed or "
            "is still running; let it finish, or ask for the whole intervals alone"
        )
    return document | {"cut": "the JSON stream stops without its end"}
