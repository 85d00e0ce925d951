# SPDX-License-Identifier: BSD-3-Clause
"""The structures of user space are those of the header that the program is compiled with."""

import re
import struct
from array import array

import pytest

from linklab.linux import edt_maps, edt_object

HEADER = (edt_object.FOLDER / "edt.h").read_text(encoding="utf-8")
BITS = {"__u64": "Q", "__u32": "I"}


def fields(name: str) -> dict[str, str]:
    """Members of a structure of the header, with their letters of `struct`."""
    body = re.search(rf"struct {name} \{{(.*?)\n\}};", HEADER, re.DOTALL)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    return {member: BITS[kind] for kind, member in re.findall(r"(\w+) (\w+);", body)}


@pytest.mark.parametrize(
    ("name", "ours"),
    [("edt_link", edt_maps.LINK), ("edt_state", edt_maps.STATE), ("edt_about", edt_maps.ABOUT)],
)
def test_a_structure_has_the_fields_of_the_header_in_its_order(name, ours):
    """With C's own alignment, which for these is no padding."""
    assert ours.fields == fields(name)
    assert ours.size == struct.calcsize("@" + "".join(fields(name).values()) + "0Q")


def test_constants_are_those_of_the_header():
    """Version, limits, and the size of a table."""
    there = dict(re.findall(r"#define (EDT_\w+) (\w+)", HEADER))
    assert int(there["EDT_VERSION"]) == edt_maps.VERSION
    assert int(there["EDT_ALWAYS"].rstrip("U"), 16) == edt_maps.ALWAYS
    assert int(there["EDT_NO_LIMIT"].rstrip("UL"), 16) == edt_maps.NO_LIMIT
    assert (int(there["EDT_TABLE_SIZE"]), int(there["EDT_TABLE_SCALE"])) == (edt_maps.TABLE_SIZE, edt_maps.TABLE_SCALE)
    assert int(there["EDT_TABLES"]) == len(edt_maps.DISTRIBUTIONS) - 1


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("10.0.0.1", "00000000000000000000ffff0a000001"),
        ("2001:db8::1", "20010db8000000000000000000000001"),
        ("any", "00" * 16),
    ],
)
def test_an_address_of_a_key_is_in_network_byte_order(text, data):
    """IPv4 is mapped (RFC 4291, 2.5.5.2), so both versions have keys of one size."""
    assert edt_maps.address(text).hex() == data
    assert edt_maps.address_text(bytes.fromhex(data)) == text


def test_a_key_is_source_then_target():
    """32 bytes, as struct edt_key."""
    key = edt_maps.key("any", "10.0.0.2")
    assert (len(key), key[:16], key[-4:]) == (32, bytes(16), bytes([10, 0, 0, 2]))
    assert re.search(r"__u32 source\[4\];\s+__u32 target\[4\];", HEADER)


def test_a_table_is_that_of_iproute2(tmp_path):
    """Read where a distribution has it; a shorter one is stretched."""
    (tmp_path / "usr/lib/some-linux/tc").mkdir(parents=True)
    (tmp_path / "usr/lib/some-linux/tc/normal.dist").write_text("# remark\n-5 7\n")
    values = struct.unpack(f"={edt_maps.TABLE_SIZE}h", edt_maps.table("normal", tmp_path))
    assert (set(values[:2048]), set(values[2048:])) == ({-5}, {7})


def test_a_table_that_is_missing_or_wrong_is_named(tmp_path):
    """With where it was looked for."""
    with pytest.raises(FileNotFoundError, match=r"pareto.dist is in none of /usr/lib/tc, .*; install iproute2"):
        edt_maps.table("pareto", tmp_path)
    (tmp_path / "usr/lib/tc").mkdir(parents=True)
    (tmp_path / "usr/lib/tc/pareto.dist").write_text("1 2 3\n")
    with pytest.raises(ValueError, match=r"pareto.dist has 3 values; 4096 are needed"):
        edt_maps.table("pareto", tmp_path)


@pytest.mark.parametrize("name", ["id", "queue_ns", "to_bad", "unused"])
def test_a_field_of_many_structures_is_written_and_read_at_once(name):
    """The first and the last, of either size; the others stay."""
    structures = bytearray(edt_maps.LINK.pack(dict.fromkeys(edt_maps.LINK.fields, 7)) * 3)
    edt_maps.LINK.write(structures, name, array(edt_maps.LINK.fields[name], [1, 2, 3]))
    assert edt_maps.LINK.read(structures, name) == [1, 2, 3]
    found = [edt_maps.LINK.unpack(structures[at : at + edt_maps.LINK.size]) for at in range(0, len(structures), 96)]
    assert found == [{**dict.fromkeys(edt_maps.LINK.fields, 7), name: number} for number in (1, 2, 3)]
