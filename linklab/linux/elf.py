# SPDX-License-Identifier: BSD-3-Clause
"""An object file of eBPF → its instructions, its maps, and where the instructions name a map.

Just what a compiler makes of `linklab/bpf/edt.bpf.c`: a little-endian ELF64 file for EM_BPF, one program, maps as
`struct edt_map` in the section `maps`. Specified in elf(5) and the kernel's Documentation/bpf/llvm_reloc.rst.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

EM_BPF = 247
SHT_SYMTAB, SHT_REL = 2, 9
R_BPF_64_64 = 1
HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
SECTION = struct.Struct("<IIQQQQIIQQ")
SYMBOL = struct.Struct("<IBBHQQ")
RELOCATION = struct.Struct("<QQ")
MAP = struct.Struct("<5I")
INSTRUCTION = 8
BPF_PSEUDO_MAP_FD = 1
"""Source register of a 64-bit load whose number is an open map (linux/bpf.h)."""


class ObjectError(Exception):
    """The file is no object that can be loaded; the sentence says why."""


@dataclass(frozen=True)
class MapShape:
    """What a map is made of, as bpf(2) wants it."""

    kind: int
    key_bytes: int
    value_bytes: int
    entries: int
    flags: int


@dataclass(frozen=True)
class BpfObject:
    """A program and its maps.

    uses: offset of each instruction that names a map, in bytes, and the map's name.
    """

    instructions: bytes
    license: str
    maps: dict[str, MapShape]
    uses: tuple[tuple[int, str], ...]

    def linked(self, files: dict[str, int]) -> bytes:
        """The instructions with the open maps put in."""
        code = bytearray(self.instructions)
        for offset, name in self.uses:
            code[offset + 1] = (code[offset + 1] & 0x0F) | (BPF_PSEUDO_MAP_FD << 4)
            struct.pack_into("<i", code, offset + 4, files[name])
        return bytes(code)


def read(data: bytes, program: str = "classifier") -> BpfObject:
    """Read an object whose program is in the section of that name.

    Raises:
        ObjectError: it is no eBPF object, or a section that is needed is missing or cut off.
    """
    try:
        return _read(data, program)
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise ObjectError(f"the file ends early or refers to what is not in it: {error}") from error


def _read(data: bytes, program: str) -> BpfObject:
    ident, _, machine, *_, offset, _, _, _, _, size, count, names_at = HEADER.unpack_from(data)
    if ident[:6] != b"\x7fELF\x02\x01" or machine != EM_BPF or size != SECTION.size:
        raise ObjectError("it is not an eBPF object for a little-endian machine")
    heads = [SECTION.unpack_from(data, offset + number * size) for number in range(count)]

    def body(number: int) -> bytes:
        _, _, _, _, start, length, *_ = heads[number]
        found = data[start : start + length]
        if len(found) != length:
            raise ObjectError("it is cut off")
        return found

    names = [_text(body(names_at), head[0]) for head in heads]
    for needed in (program, "maps", "license"):
        if needed not in names:
            raise ObjectError(f"it has no section {needed}")
    code, maps = names.index(program), names.index("maps")
    table = next(number for number, head in enumerate(heads) if head[1] == SHT_SYMTAB)
    strings = body(heads[table][6])
    symbols = [
        (_text(strings, name), section, value) for name, _, _, section, value, _ in SYMBOL.iter_unpack(body(table))
    ]
    shapes = {
        name: MapShape(*MAP.unpack_from(body(maps), value))
        for name, section, value in symbols
        if section == maps and name
    }
    uses = []
    for number, head in enumerate(heads):
        if head[1] != SHT_REL or head[7] != code:
            continue
        for where, info in RELOCATION.iter_unpack(body(number)):
            name, section, _ = symbols[info >> 32]
            if info & 0xFFFFFFFF != R_BPF_64_64 or section != maps or name not in shapes:
                raise ObjectError(
                    f"instruction {where // INSTRUCTION} refers to {name or 'something'}, which is no map"
                )
            uses.append((where, name))
    licensed = body(names.index("license")).rstrip(b"\0").decode()
    return BpfObject(body(code), licensed, shapes, tuple(uses))


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode() if b"\0" in table[at:] else ""
