# SPDX-License-Identifier: BSD-3-Clause
"""Checks of names and addresses in fields: the text as the file has it, or InputError. Pure."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Interface, IPv4Network

from linklab.errors import InputError
from linklab.topology import address_words
from linklab.topology.checks import NAME
from linklab.windows.words import Phrase


def name(text: str) -> str:
    """A node's name."""
    if not NAME.fullmatch(text):
        raise InputError("letters, digits, _ . and - only; starts with a letter, a digit or _")
    if len(text) > 10:
        raise InputError(
            Phrase("{name}-eth0 would be too long: Linux allows 15 characters for an interface", name=text)
        )
    return text


def address(text: str) -> str:
    """An address, with or without prefix length, which may be typed as a mask."""
    text = address_words.with_prefixes(text)
    try:
        IPv4Interface(text)
    except ValueError:
        why = address_words.fault(text, prefix=None)
        raise InputError(why or "an IPv4 address, such as 10.0.0.1 or 10.0.0.1/8") from None
    return text


def bare_address(text: str) -> str:
    """An address without prefix length."""
    try:
        return str(IPv4Address(text))
    except ValueError:
        why = address_words.fault(text, prefix=False)
        raise InputError(why or "an IPv4 address without prefix length, such as 10.0.0.254") from None


def network(text: str) -> str:
    """A network with prefix length, which may be typed as a mask."""
    text = address_words.with_prefixes(text)
    try:
        IPv4Network(text, strict=False)
    except ValueError:
        why = address_words.fault(text, prefix=True)
        raise InputError(why or "a network with its prefix length, such as 10.0.0.0/8") from None
    if "/" not in text:
        raise InputError("the prefix length is missing, such as /8")
    return text
