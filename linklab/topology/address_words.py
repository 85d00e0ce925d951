# SPDX-License-Identifier: BSD-3-Clause
"""What exactly is wrong with the text of an address: "300 is greater than 255". Pure."""

from __future__ import annotations

import re

LONGEST_PREFIX = {4: 32, 6: 128}
USUAL_PREFIX = {4: 24, 6: 64}
MOST_DIGITS = 9
"""Of a number that a sentence repeats."""


def fault(text: str, *, prefix: bool | None) -> str:
    """The fault in words; "" if there is none, or none that can be named.

    prefix: whether there must be a prefix length; None where there may be one.
    """
    address, slash, length = text.partition("/")
    version = 6 if ":" in address else 4
    if version == 4 and (said := _of_numbers(address)):
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
