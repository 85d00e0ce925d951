# SPDX-License-Identifier: BSD-3-Clause
"""The commands of the language as a table: the arguments of each, their kinds, and what holds where one is left out.

`expand` reads it; docs/netesto.md describes the commands. Words are as scripts write them: host=h1 order=0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.linux.allowed_settings import ALGORITHM, DISCIPLINE
from linklab.netesto.limits import MOST_DELAY_MS, MOST_SECONDS

MOST_SIZE = 1 << 30
MOST_FLOWS = 1000
MOST_EXPERIMENT = 10**9

ANY_HOST = "X"
"""As `server` of DO_TCPDUMP: packets to and from any host."""
STREAM_SIZES = frozenset({"S", "s", "STREAM", "stream"})
"""As `req`: bulk transfer instead of requests."""

_SIZE = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,6})?)([KMGkmg]?)B?")
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "k": 10**3, "m": 10**6, "g": 10**9}
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?|\.[0-9]{1,9}")
_HOST = re.compile(r"[^/\s\x00-\x1f$]+")
_TC_WORD = re.compile(r"[A-Za-z0-9_.%:=+-]*")


def size_bytes(text: str) -> int:
    """Bytes of a size such as 10K, 1M or 1500: capital letters are powers of 1024, small ones of 1000, as in netperf.

    Raises:
        InputError: the size must be 1 byte to 1 GiB, written as above.
    """
    found = _SIZE.fullmatch(text)
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if not 1 <= size <= MOST_SIZE:
        raise InputError(f'"{excerpt(text)}" is not a size from 1 to 1G, such as 1500, 10K or 1M')
    return size


def number(text: str) -> float:
    """A number that is not negative, such as 10 or 0.5.

    Raises:
        InputError: the text must be digits, perhaps with a decimal point.
    """
    if not _NUMBER.fullmatch(text):
        raise InputError(f'"{excerpt(text)}" is not a number such as 10 or 0.5')
    return float(text)


def _between(least: int, most: int) -> Callable[[str], None]:
    """A check for whole numbers in a range."""

    def check(text: str) -> None:
        if not (text.isascii() and text.isdigit() and len(text) <= len(str(most)) + 3 and least <= int(text) <= most):
            raise InputError(f'must be a whole number from {least} to {most:,}, not "{excerpt(text)}"')

    return check


def _one_of(*words: str) -> Callable[[str], None]:
    def check(text: str) -> None:
        if text not in words:
            raise InputError(f'must be {" or ".join(words)}, not "{excerpt(text)}"')

    return check


def host_name(text: str) -> None:
    """Refuse what cannot be the name of a host; InputError."""
    if "<" in text or ">" in text:
        raise InputError(f'"{excerpt(text)}" is a placeholder; put the name of a machine in its place')
    if "," in text:
        raise InputError(f'"{excerpt(text)}" is a list, and one machine is needed; use FOR x IN {excerpt(text)} DO')
    if not _HOST.fullmatch(text) or text in (".", ".."):
        raise InputError(f'"{excerpt(text)}" cannot be the name of a host')


def _at_most(most: int, unit: str) -> Callable[[str], None]:
    """A check for numbers from 0 on."""

    def check(text: str) -> None:
        if number(text) > most:
            raise InputError(f'must be at most {most:,} {unit}, not "{excerpt(text)}"')

    return check


_seconds = _at_most(MOST_SECONDS, "seconds")


def _duration(text: str) -> None:
    _seconds(text)
    if not number(text):
        raise InputError("must be more than 0 seconds")


def _size(text: str) -> None:
    size_bytes(text)


def _request(text: str) -> None:
    if text not in STREAM_SIZES:
        size_bytes(text)


def _buffer(text: str) -> None:
    if text != "0":
        size_bytes(text)


def _percent(text: str) -> None:
    if number(text.removesuffix("%")) > 100:
        raise InputError(f'must be 0 to 100 percent, not "{excerpt(text)}"')


def _experiment(text: str) -> None:
    if text.upper() != "COUNTER" and text != "PREV":
        try:
            _between(0, MOST_EXPERIMENT)(text)
        except InputError as error:
            raise InputError(f"{error}; or COUNTER for the next number, or PREV for the last one") from error


def _algorithm(text: str) -> None:
    if not ALGORITHM.fullmatch(text):
        small = f"; write {excerpt(text.lower())}" if ALGORITHM.fullmatch(text.lower()) else ""
        raise InputError(f'"{excerpt(text)}" cannot be the name of a congestion control{small}')


def _discipline(text: str) -> None:
    if not DISCIPLINE.fullmatch(text):
        raise InputError(f'"{excerpt(text)}" cannot be the name of a queueing discipline')


def _tc_word(text: str) -> None:
    if not _TC_WORD.fullmatch(text):
        raise InputError(f'"{excerpt(text)}" has characters that a queueing discipline\'s options do not have')


def _rate(text: str) -> None:
    _tc_word(text)
    if text and _NUMBER.fullmatch(text) and float(text) < _LEAST_BARE_RATE:
        raise InputError(f'"{text}" without a unit is {text} bit/s; write {text}mbit or {text}kbit')


_LEAST_BARE_RATE = 8000
"""Bit/s: fewer are a unit that was forgotten."""


def _tc_words(text: str) -> None:
    for word in text.split():
        _tc_word(word)


def _any(text: str) -> None:
    """Whatever is written."""


@dataclass(frozen=True)
class Argument:
    """One argument: its check (raises InputError without the place), and its value where it is left out.

    left_out: None where it must be given. `host`, `exp` and `expName` fall back to the last command's first.
    """

    check: Callable[[str], None] = _any
    left_out: str | None = None


@dataclass(frozen=True)
class Spec:
    """A command that hosts take part in.

    free: any further argument belongs to it, as the sysctls do to SET_SYSCTL.
    tail: the argument that takes the words after it as well.
    """

    arguments: Mapping[str, Argument]
    free: bool = False
    tail: str = ""


_HOST_ARGUMENT = Argument(host_name)
_EXP = Argument(_experiment, "COUNTER")
_EXP_NAME = Argument(_any, "Exp")
_WHOLE_LIMIT = _between(1, 10**9)

SPECS: Mapping[str, Spec] = {
    "DO_SERVER": Spec(
        {
            "exp": _EXP,
            "expName": _EXP_NAME,
            "host": _HOST_ARGUMENT,
            "order": Argument(_one_of("0", "1"), "0"),
            "start": Argument(_one_of("0", "1"), "0"),
        }
    ),
    "DO_CLIENT": Spec(
        {
            "exp": _EXP,
            "expName": _EXP_NAME,
            "host": _HOST_ARGUMENT,
            "server": _HOST_ARGUMENT,
            "ca": Argument(_algorithm, "reno"),
            "dur": Argument(_duration, "20"),
            "delay": Argument(_seconds, "0"),
            "instances": Argument(_between(1, MOST_FLOWS), "1"),
            "test": Argument(_one_of("TCP_RR", "TCP_STREAM"), "TCP_RR"),
            "req": Argument(_request, "1M"),
            "reply": Argument(_size, "1"),
            "stats": Argument(_one_of("0", "1"), "0"),
            "group": Argument(_between(0, MOST_FLOWS), "0"),
            "localBuffer": Argument(_buffer, "0"),
            "remoteBuffer": Argument(_buffer, "0"),
        }
    ),
    "GET_DATA": Spec({"exp": _EXP, "host": _HOST_ARGUMENT}),
    "PROCESS_EXP": Spec({"exp": Argument(_experiment, "PREV")}),
    "DO_TCPDUMP": Spec(
        {
            "exp": _EXP,
            "host": _HOST_ARGUMENT,
            "server": _HOST_ARGUMENT,
            "packets": Argument(_between(1, 10**7), "10000"),
        }
    ),
    "SET_NETEM": Spec(
        {
            "host": _HOST_ARGUMENT,
            "netem_delay": Argument(_at_most(MOST_DELAY_MS, "milliseconds")),
            "limit": Argument(_WHOLE_LIMIT, "1000"),
            "loss": Argument(_percent, "0"),
        }
    ),
    "SET_QDISC": Spec(
        {
            "host": _HOST_ARGUMENT,
            "qdisc": Argument(_discipline),
            "action": Argument(_one_of("", "add", "replace", "change", "del"), ""),
            "rate": Argument(_rate, ""),
            "burst": Argument(_tc_word, ""),
            "limit": Argument(_tc_word, ""),
            "other": Argument(_tc_words, ""),
        },
        tail="other",
    ),
    "SET_SYSCTL": Spec({"host": _HOST_ARGUMENT}, free=True),
    "SET_MODULE_PARAMS": Spec({"host": _HOST_ARGUMENT, "module": Argument()}, free=True),
    "CLOSE": Spec({"host": _HOST_ARGUMENT}),
    "EXIT": Spec({"host": _HOST_ARGUMENT}),
}
"""Command → its arguments, for those that hosts take part in."""

SETTINGS = frozenset({"SET_NETEM", "SET_QDISC", "SET_SYSCTL", "SET_MODULE_PARAMS"})

LOCAL = frozenset(
    {"SET", "SET_EXP", "HOST_SUFFIX", "SOURCE", "RUN", "WAIT", "RAND_WAIT", "DESC", "OTHER", "ECHO", "END"}
    | {"DEBUG", "DEBUG_DISABLE", "DEBUG_RESTORE", "NEXT_COUNTER"}
)
"""Commands that the expansion itself executes."""

STRUCTURE = frozenset({"BEGIN", "END", "IF", "IF_DEF", "FOR", "DONE", "BEGIN_COMMENT", "END_COMMENT", "FORLOOP"})

WORDS = frozenset(SPECS) | LOCAL | STRUCTURE
"""All; no macro may be called so."""
