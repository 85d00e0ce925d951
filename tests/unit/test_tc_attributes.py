# SPDX-License-Identifier: BSD-3-Clause
"""The named netlink attributes are those of the kernel's headers."""

import re
from pathlib import Path

import pytest

from linklab.linux import route_attributes, tc_attributes

NAMES = ("rtnetlink.h", "pkt_sched.h", "pkt_cls.h", "if_link.h", "if_addr.h", "veth.h", "net_namespace.h")
HEADERS = [Path("/usr/include/linux", name) for name in NAMES]
NEWER = {"TCA_FQ_PRIOMAP", "TCA_FQ_WEIGHTS", "TCA_FQ_OFFLOAD_HORIZON"}
"""Attributes of kernels newer than the headers of a supported distribution."""


_DEFINES = re.compile(r"#define[ \t]+(\w+)[ \t]+(?:(0x[0-9a-fA-F]+|\d+)|\(1 << (\d+)\))\s")


def constants(text):
    """Names and values of the enums and of the plain #defines in a header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    found = {name: int(value, 0) if value else 1 << int(bit) for name, value, bit in _DEFINES.findall(text)}
    for body in re.findall(r"\benum\s*\w*\s*\{(.*?)\}", re.sub(r"#[^\n]*", "", text), re.DOTALL):
        value = -1
        for entry in filter(None, (part.strip() for part in body.split(","))):
            name, _, given = (part.strip() for part in entry.partition("="))
            value = found.get(given, int(given, 0) if re.fullmatch(r"0x[0-9a-fA-F]+|\d+", given) else value + 1)
            found[name] = value
    return found


@pytest.mark.skipif(not all(header.exists() for header in HEADERS), reason="the kernel's headers are not installed")
def test_numbers_are_those_of_the_kernels_headers():
    """A wrong number would read one option as another."""
    there = constants("".join(header.read_text() for header in HEADERS))
    tables = {**vars(tc_attributes), **vars(route_attributes)}
    ours = {name: value for name, value in tables.items() if name.isupper()}
    assert len(ours) > 150
    assert {name: there.get(name) for name in ours if name in there or name not in NEWER} == {
        name: value for name, value in ours.items() if name in there or name not in NEWER
    }
