# SPDX-License-Identifier: BSD-3-Clause
"""Filters that lead packets into classes: u32, matchall, fw, and flower.  Words: tc-u32(8) and the like."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linklab.errors import InputError
from linklab.linux.tc_filter_options import IP_PROTOCOLS
from linklab.tc.forms import NUMBER, Form, count, like
from linklab.tc.kind import Kind
from linklab.tc.option import Options, Valued

MOST_MATCHES = 128
_MATCH = like(r"[0-9a-f]{8}/[0-9a-f]{8}@-?\d{1,5}")
_CLASSID = re.compile(r"(?:0x)?([0-9a-f]{1,4}):([0-9a-f]{0,4})")
_PROTOCOLS = {name: number for number, name in IP_PROTOCOLS.items()}


def _classid(text: str) -> str:
    """As the kernel's number is written: "1:0" is "1:"."""
    found = _CLASSID.fullmatch(text)
    if found is None:
        raise InputError(f"{text!r} is not a class, such as 1:10")
    minor = int(found[2] or "0", 16)
    return f"{int(found[1], 16):x}:" + (f"{minor:x}" if minor else "")


def _prefix(text: str) -> str:
    """With the length of its prefix, /32 where none is said."""
    try:
        return str(ipaddress.IPv4Interface(text))
    except ValueError as error:
        raise InputError(str(error)) from error


CLASSID = Form("class", like(r"[0-9a-f]{1,4}:[0-9a-f]{0,4}"), str, str, _classid)
_PREFIX = Form("address", like(r"\d{1,3}(?:\.\d{1,3}){3}/\d{1,2}"), str, str, _prefix)
_PORT = Form("number", count(65535), str, str, int)
_PROTOCOL = Form("number", like(r"icmp|tcp|udp|sctp|\d{1,3}"), str, str, str)
_MATCHES = Form(
    "match",
    lambda value: type(value) is list and 0 < len(value) <= MOST_MATCHES and all(map(_MATCH, value)),
    str,
    str,
    str,
)
_FLOWID = Valued("classid", "classid", CLASSID, aliases=("flowid",))


@dataclass(frozen=True)
class U32(Kind):
    """It compares words of 32 bits of a packet: VALUE/MASK@OFFSET."""

    def words(self, options: Options, *, spelled: bool = False) -> list[str]:
        """The words after `u32`."""
        found: list[str] = []
        for match in options["match"]:
            value, mask, offset = re.split("[/@]", match)
            found += ["match", "u32", f"0x{value}", f"0x{mask}", "at", offset]
        return [*found, "flowid", options["classid"]] if "classid" in options else found

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The options of words typed after `u32`: matches of IPv4 fields or of 32 bits, and the class."""
        rest, found, bits = list(words), dict[str, Any](), dict[int, tuple[int, int]]()
        try:
            while rest:
                word = rest.pop(0)
                if word == "match":
                    value, mask, at = _match(rest)
                    before = bits.get(at, (0, 0))  # tc puts what it compares in one word together
                    bits[at] = before[0] | value & mask, before[1] | mask
                elif word in ("flowid", "classid"):
                    found["classid"] = _classid(rest.pop(0))
                else:
                    raise InputError(f'u32 has no "{word}" here')
        except (IndexError, ValueError) as error:
            raise InputError(f"u32: {error}") from error
        if bits:
            found["match"] = [f"{value:08x}/{mask:08x}@{at}" for at, (value, mask) in bits.items()]
        return found


def _match(rest: list[str]) -> tuple[int, int, int]:
    """Value, mask and offset of one match, in 32 bits (struct tc_u32_key); ValueError if it cannot be read."""
    what = rest.pop(0)
    if what == "u32":
        value, mask = int(rest.pop(0), 0), int(rest.pop(0), 0)
        if rest[:1] != ["at"]:  # which may be left out (iproute2, tc/f_u32.c)
            return value, mask, 0
        rest.pop(0)
        return value, mask, int(rest.pop(0))
    if what != "ip":
        raise ValueError(f"only fields of ip and u32 are known, not {what}")
    field, text = rest.pop(0), rest.pop(0)
    if field in ("src", "dst"):
        there = ipaddress.IPv4Interface(text)
        return int(there.ip) & int(there.netmask), int(there.netmask), 12 if field == "src" else 16
    value, mask = int(str(_PROTOCOLS.get(text, text)), 0), int(rest.pop(0), 16)
    shifts = {"sport": (16, 20), "dport": (0, 20), "protocol": (16, 8)}
    if field not in shifts:
        raise ValueError(f"ip {field} is not known")
    shift, at = shifts[field]
    return value << shift, mask << shift, at


_UNWORDED = Form("number", NUMBER.holds, str, str, int)


@dataclass(frozen=True)
class Fw(Kind):
    """Its mark is the filter's handle, so no word after the kind says it."""

    def words(self, options: Options, *, spelled: bool = False) -> list[str]:
        """The words after `fw`."""
        return super().words({name: value for name, value in options.items() if name == "classid"}, spelled=spelled)

    def handle(self, options: Options) -> str:
        """The handle: the mark, and its mask where it has one."""
        return f"{options['mark']}" + (f"/{mask}" if (mask := options.get("mask")) else "")

    def read_handle(self, handle: str) -> dict[str, Any]:
        """The options of a handle."""
        mark, slash, mask = handle.partition("/")
        try:
            return {"mark": int(mark, 0), **({"mask": int(mask, 0)} if slash else {})}
        except ValueError:
            raise InputError(f'fw: the handle "{handle}" is not a mark') from None


U32_FILTER = U32("u32", (_FLOWID, Valued("match", "match", _MATCHES)), needs=("match",), module="cls_u32")
MATCHALL = Kind("matchall", (_FLOWID,), module="cls_matchall")
FW = Fw(
    "fw",
    (Valued("mark", "mark", _UNWORDED), Valued("mask", "mask", _UNWORDED), _FLOWID),
    needs=("mark",),
    module="cls_fw",
)
FLOWER = Kind(
    "flower",
    (
        Valued("ip_proto", "ip_proto", _PROTOCOL),
        Valued("src_ip", "src_ip", _PREFIX),
        Valued("dst_ip", "dst_ip", _PREFIX),
        Valued("src_port", "src_port", _PORT),
        Valued("dst_port", "dst_port", _PORT),
        _FLOWID,
    ),
    module="cls_flower",
)
