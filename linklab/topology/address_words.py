# SPDX-License-Identifier: BSD-3-Clause
"""What exactly is wrong with the text of an address: "300 is greater than 255"; masks as prefix lengths. Pure."""

from __future__ import annotations

import re
from ipaddress import IPv4Address

from linklab.base.text import excerpt
from linklab.errors import InputError

LONGEST_PREFIX = {4: 32, 6: 128}
USUAL_PREFIX = {4: 24, 6: 64}
MOST_DIGITS = 9
"""Of a number that a sentence repeats."""

_MASKED = re.compile(r"(?<![\d.])(\d{1,3}(?:\.\d{1,3}){3})(\s*/\s*|\s+)(\d{1,3}(?:\.\d{1,3}){3})(?![\d./])")
BITS = 32


def with_prefixes(text: str) -> str:
    """The text, each IPv4 address that is followed by a mask in dotted form with a prefix length instead.

    "10.0.0.1 255.255.255.0" and "10.0.0.1/255.255.255.0" become "10.0.0.1/24". After a blank, a mask begins
    with 255, because a blank also separates addresses.

    Raises:
        InputError: a mask whose ones do not stand together; says which.
    """
    return _MASKED.sub(_with_prefix, text)


def _with_prefix(found: re.Match[str]) -> str:
    address, between, mask = found.groups()
    length = _length(mask)
    if "/" not in between and not mask.startswith("255."):
        return found[0]
    if length is None:
        raise InputError(
            f"{mask} is not a mask: its one bits must all come first; "
            f"write a mask such as 255.255.255.0, or a prefix length such as /{USUAL_PREFIX[4]}"
        )
    return f"{address}/{length}"


def _length(mask: str) -> int | None:
    """How many ones a mask begins with; None if it is no mask."""
    try:
        number = int(IPv4Address(mask))
    except ValueError:
        return None
    length = number.bit_count()
    return length if number == (1 << BITS) - (1 << (BITS - length)) else None


def fault(text: str, *, prefix: bool | None) -> str:
    """The fault in words; "" if there is none, or none that can be named.

    prefix: whether there must be a prefix length; None where there may be one.
    """
    address, slash, length = text.partition("/")
    version = 6 if ":" in address else 4
    if said := _of_zone(text) or (_of_numbers(address) if version == 4 else ""):
        return said
    if not re.fullmatch(r"[0-9.]+" if version == 4 else r"[0-9A-Fa-f:.]+", address):
        return ""
    if slash and prefix is False:
        return f"there must be no prefix length; leave out /{length}" if len(length) <= MOST_DIGITS else ""
    if (not slash and prefix) or (slash and not length):
        return f"the prefix length is missing, such as /{USUAL_PREFIX[version]}"
    if re.fullmatch(rf"[0-9]{{1,{MOST_DIGITS}}}", length) and int(length) > LONGEST_PREFIX[version]:
        return f"a prefix length is at most {LONGEST_PREFIX[version]}"
    return ""


def _of_zone(text: str) -> str:
    zone = re.search(r"%[^/]*", text)
    return f"an address of a drawing has no zone; leave out {excerpt(zone[0])}" if zone else ""


def _of_numbers(address: str) -> str:
    """What is wrong with four numbers from 0 to 255."""
    if not re.fullmatch(r"[0-9.]*[0-9][0-9.]*", address):
        return ""
    numbers = address.split(".")
    if len(numbers) != 4:
        return f"an IPv4 address has 4 numbers, and here {'is' if len(numbers) == 1 else 'are'} {len(numbers)}"
    if "" in numbers:
        return "a number is missing beside a dot"
    for number in numbers:
        if len(number) > MOST_DIGITS or int(number) > 255:
            return f"{number[:MOST_DIGITS]}{'…' * (len(number) > MOST_DIGITS)} is greater than 255"
        if number != str(int(number)):
            return f"{number} begins with a 0; write {int(number)}"
    return ""
