# SPDX-License-Identifier: BSD-3-Clause
"""Output of iperf3, JSON or text, client or server → tests, and from them measurements.

Nobody else needs to know iperf3's output. JSON is read exactly; text has three digits. Versions 3.1 to 3.18. It must
not run iperf3 and must not turn what iperf3 did not measure into 0.
"""

from __future__ import annotations

from pathlib import Path

from linklab.base.text import excerpt, file_name
from linklab.errors import DataError, NothingMeasuredError
from linklab.measure.iperf3_documents import documents
from linklab.measure.iperf3_json import read_document
from linklab.measure.iperf3_model import Flow, Iperf3Test, Row, Side
from linklab.measure.iperf3_text import read_tests
from linklab.measure.reading import MOST_WORDS, read_text

__all__ = ["Flow", "Iperf3Test", "Row", "Side", "read_file", "read_json", "read_output"]


def read_json(text: str, source: str = "iperf3", *, partial: bool = False) -> list[Iperf3Test]:
    """The tests of a file written by `iperf3 -J`; several documents one after the other are several tests.

    Args:
        text: the file's text.
        source: its name, for messages.
        partial: keep the whole intervals of a test that was killed or ended with an error.

    Raises:
        NothingMeasuredError: iperf3 ended with an error; its words.
        DataError: empty, no JSON of iperf3, or cut off (says where).
    """
    if not text.strip():
        raise DataError(
            f"{source}: the file is empty: iperf3 writes its JSON when it ends, so it was killed or is still running"
        )
    found = documents(text, source, partial=partial)
    if not found:
        begin = excerpt(text.strip().splitlines()[0])
        raise DataError(f'{source}: no JSON of iperf3 in it (it begins with "{begin}"); run iperf3 with -J')
    return [read_document(document, source, partial=partial) for _, document in found]


def read_output(text: str, source: str = "iperf3", *, partial: bool = False) -> list[Iperf3Test]:
    """The tests in what a terminal showed, as text or JSON, in the order of appearance; [] if iperf3 is not in it.

    Raises:
        NothingMeasuredError: iperf3 printed an error and no test.
        DataError: a line cannot be understood, or as `read_json`.
    """
    tests: list[Iperf3Test] = []
    errors: list[str] = []
    position = 0
    for begin, document in documents(text, source, partial=partial):
        before, messages = read_tests(text[position:begin], source)
        tests += before
        errors += messages
        tests.append(read_document(document, source, partial=partial))
        position = begin
    after, messages = read_tests(text[position:], source)
    tests += after
    errors += messages
    # Ctrl+C on a server that nobody called is no failure.
    failures = [message for message in errors if not message.startswith("interrupt - ")]
    if failures and not tests:
        raise NothingMeasuredError(f"iperf3 measured nothing: {excerpt(failures[0], MOST_WORDS)}", where=source)
    return tests


def read_file(path: Path, *, partial: bool = False) -> list[Iperf3Test]:
    """The tests of a file, JSON (`iperf3 -J`) or text.

    Raises:
        DataError: as `read_json`; or the file cannot be read.
    """
    text, name = read_text(path), file_name(path)
    if text.lstrip().startswith("{") or not text.strip():
        return read_json(text, name, partial=partial)
    tests = read_output(text, name, partial=partial)
    if not tests:
        return read_json(text, name, partial=partial)
    return tests
