# SPDX-License-Identifier: BSD-3-Clause
"""bpf(2) for those who have the standard library only: maps, programs, and finding them again by their numbers.

Each call raises OSError with the kernel's reason; a program that the verifier refuses raises `RefusedError` with its
words. Open maps and programs are plain file descriptors, closed by whoever opened them. Layouts: linux/bpf.h.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterator

from linklab.linux.elf import MapShape

NUMBER = {"x86_64": 321, "aarch64": 280}
MAP_CREATE, MAP_LOOKUP, MAP_UPDATE, MAP_DELETE, PROG_LOAD = 0, 1, 2, 3, 5
PROG_TEST_RUN, PROG_GET_BY_ID, MAP_GET_BY_ID, OBJ_INFO, BTF_LOAD = 10, 13, 14, 15, 18
LOOKUP_BATCH, UPDATE_BATCH, DELETE_BATCH = 24, 26, 27
ANY, NOEXIST, EXIST = 0, 1, 2
TYPE_SCHED_CLS = 3
LOG_BYTES = 1 << 20
NAME = 16
LOCK = "bpf_spin_lock"
BTF_MAGIC, BTF_INT, BTF_STRUCT = 0xEB9F, 1, 4
BATCH = 8192
"""Elements that are read at a time."""

_libc = ctypes.CDLL(None, use_errno=True)


class ProgramRefusedError(Exception):
    """The verifier refuses a program; `words` is all it said."""

    def __init__(self, words: str) -> None:
        super().__init__(words)
        self.words = words

    @property
    def last_words(self) -> str:
        """The reason, which stands before an explanation (Linux 7) and before the line that counts instructions."""
        reason = "it does not say why"
        for line in filter(None, map(str.strip, self.words.splitlines())):
            if line.startswith(("Verification failed:", "processed ")):
                break
            reason = line
        return reason


def _bpf(command: int, attributes: bytes | ctypes.Array[ctypes.c_char], what: str) -> int:
    buffer = (
        attributes if isinstance(attributes, ctypes.Array) else ctypes.create_string_buffer(attributes, len(attributes))
    )
    number = NUMBER.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"{what}: the number of bpf(2) on {platform.machine()} is not known")
    result = int(_libc.syscall(ctypes.c_long(number), ctypes.c_int(command), buffer, ctypes.c_uint(len(buffer))))
    if result < 0:
        failed = ctypes.get_errno()
        raise OSError(failed, f"{what}: {os.strerror(failed)}")
    return result


def _at(buffer: ctypes.Array[ctypes.c_char] | None) -> int:
    return 0 if buffer is None else ctypes.addressof(buffer)


def _holding(data: bytes) -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(data, max(1, len(data)))


def _name(name: str) -> bytes:
    return name.encode()[: NAME - 1].ljust(NAME, b"\0")


# --- making


def create_map(name: str, shape: MapShape, locked: int | None = None) -> int:
    """A new map, open. locked: what `lock_types` gave, for a map whose values begin with a lock."""
    types = (0, 0, 0) if locked is None else (locked, 3, 4)
    head = struct.pack("=7I", shape.kind, shape.key_bytes, shape.value_bytes, shape.entries, shape.flags, 0, 0)
    return _bpf(MAP_CREATE, head + _name(name) + struct.pack("=4I", 0, *types), f"making the map {name}")


def lock_types(value_bytes: int) -> int:
    """Tell the kernel of a value that begins with a `struct bpf_spin_lock`; open, for `create_map`.

    The kernel takes a lock's place from BTF alone (Documentation/bpf/btf.rst): 1 is u32, 2 the lock, 3 a key of 64
    bits, 4 the value, of whose members only the lock is named.
    """
    names = b"\0u32\0u64\0" + LOCK.encode() + b"\0val\0lock\0"

    def at(name: str) -> int:
        return names.index(b"\0" + name.encode() + b"\0") + 1

    def integer(name: str, size: int) -> bytes:
        return struct.pack("=IIII", at(name), BTF_INT << 24, size, size * 8)

    def structure(name: int, size: int, member: str, kind: int) -> bytes:
        return struct.pack("=IIIIII", name, BTF_STRUCT << 24 | 1, size, at(member), kind, 0)

    types = (
        integer("u32", 4) + structure(at(LOCK), 4, "val", 1) + integer("u64", 8) + structure(0, value_bytes, "lock", 2)
    )
    head = struct.pack("=HBBIIIII", BTF_MAGIC, 1, 0, 24, 0, len(types), len(types), len(names))
    data = _holding(head + types + names)
    return _bpf(BTF_LOAD, struct.pack("=QQIII", _at(data), 0, len(data), 0, 0), "describing a lock")


def load_program(name: str, instructions: bytes, license_: str) -> int:
    """A classifier for tc, open.

    Raises:
        RefusedError: the verifier found a fault in it.
        OSError: the kernel has no eBPF, or we may not load any.
    """
    try:
        return _load(name, instructions, license_, None)
    except OSError as error:
        if error.errno not in (errno.EACCES, errno.EINVAL, errno.E2BIG):
            raise
        refused = error
    log = ctypes.create_string_buffer(LOG_BYTES)  # asked for only now: writing it takes longer than to verify
    try:
        return _load(name, instructions, license_, log)
    except OSError:
        words = log.value.decode("utf-8", "replace")
        if words.strip():
            raise ProgramRefusedError(words) from refused
        raise


def _load(name: str, instructions: bytes, license_: str, log: ctypes.Array[ctypes.c_char] | None) -> int:
    code, words = _holding(instructions), _holding(license_.encode() + b"\0")
    attributes = struct.pack(
        "=IIQQIIQII",
        *(TYPE_SCHED_CLS, len(instructions) // 8, _at(code), _at(words)),
        *(0 if log is None else 1, 0 if log is None else len(log), _at(log), 0, 0),
    )
    return _bpf(PROG_LOAD, attributes + _name(name), f"loading the program {name}")


def run_program(program: int, packet: bytes, repeat: int = 1) -> int:
    """What an open program returns for a packet, which it sees that many times; the packet is sent nowhere."""
    given = _holding(packet)
    attributes = struct.pack("=IIIIQQII", program, 0, len(packet), 0, _at(given), 0, repeat, 0)
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    _bpf(PROG_TEST_RUN, buffer, "running a program")
    return int(struct.unpack_from("=i", buffer, 4)[0])


# --- finding again


def program_by_id(number: int) -> int:
    """The program of that number, open."""
    return _bpf(PROG_GET_BY_ID, struct.pack("=III", number, 0, 0), f"opening program {number}")


def map_by_id(number: int) -> int:
    """The map of that number, open."""
    return _bpf(MAP_GET_BY_ID, struct.pack("=III", number, 0, 0), f"opening map {number}")


def maps_of(program: int) -> dict[str, int]:
    """The maps of an open program, open, by their names."""
    ids = ctypes.create_string_buffer(4 * 64)
    info = ctypes.create_string_buffer(struct.pack("=52xIQ", 64, _at(ids)), 64)
    _info(program, info)
    count = int(struct.unpack_from("=I", info, 52)[0])
    found = {}
    for number in struct.unpack_from(f"={count}I", ids):
        file = map_by_id(number)
        about = ctypes.create_string_buffer(24 + NAME)
        _info(file, about)
        found[about.raw[24:].rstrip(b"\0").decode()] = file
    return found


def shape_of(file: int) -> MapShape:
    """What an open map is made of."""
    about = ctypes.create_string_buffer(24 + NAME)
    _info(file, about)
    kind, _, *sizes = struct.unpack_from("=6I", about)
    return MapShape(kind, *sizes)


def _info(file: int, into: ctypes.Array[ctypes.c_char]) -> None:
    _bpf(OBJ_INFO, struct.pack("=IIQ", file, len(into), _at(into)), "asking for a program or map")


# --- elements


def lookup(file: int, key: bytes, value_bytes: int) -> bytes | None:
    """The value of a key; None if there is none."""
    asked, value = _holding(key), ctypes.create_string_buffer(value_bytes)
    try:
        _bpf(MAP_LOOKUP, struct.pack("=IxxxxQQQ", file, _at(asked), _at(value), 0), "reading an element")
    except OSError as error:
        if error.errno == errno.ENOENT:
            return None
        raise
    return value.raw


def update(file: int, key: bytes, value: bytes, flags: int = ANY) -> None:
    """Set the value of a key in one step; OSError with E2BIG where the map is full."""
    asked, given = _holding(key), _holding(value)
    _bpf(MAP_UPDATE, struct.pack("=IxxxxQQQ", file, _at(asked), _at(given), flags), "setting an element")


def delete(file: int, key: bytes) -> bool:
    """Remove a key; whether it was there."""
    asked = _holding(key)
    try:
        _bpf(MAP_DELETE, struct.pack("=IxxxxQQQ", file, _at(asked), 0, 0), "removing an element")
    except OSError as error:
        if error.errno == errno.ENOENT:
            return False
        raise
    return True


def _batch(
    command: int, file: int, buffers: tuple[int, int, int, int], count: int, what: str
) -> tuple[int, OSError | None]:
    """How many elements were done, and why no more were."""
    attributes = ctypes.create_string_buffer(struct.pack("=QQQQIIQQ", *buffers, count, file, 0, 0), 56)
    try:
        _bpf(command, attributes, what)
        failed = None
    except OSError as error:
        failed = error
    return int(struct.unpack_from("=I", attributes, 32)[0]), failed


class PartlyError(OSError):
    """A call that does many things has done the first `done` of them."""

    def __init__(self, error: OSError, done: int) -> None:
        super().__init__(error.errno, error.strerror)
        self.done = done


def update_all(file: int, keys: bytes | bytearray, values: bytes | bytearray, count: int) -> None:
    """Set `count` elements by one call; bytearrays are not copied for it.

    Raises:
        PartlyError: with E2BIG where the map is full; those before it are set.
    """
    key, value = _seen(keys), _seen(values)
    done, failed = _batch(UPDATE_BATCH, file, (0, 0, _at(key), _at(value)), count, f"setting {count} elements")
    if failed is not None:
        raise PartlyError(failed, done) from failed


def _seen(data: bytes | bytearray) -> ctypes.Array[ctypes.c_char]:
    """The bytes themselves where they may be written to, else a copy."""
    kind = ctypes.c_char * len(data)
    return kind.from_buffer(data) if isinstance(data, bytearray) else kind.from_buffer_copy(data)


def delete_all(file: int, keys: bytes, count: int) -> None:
    """Remove `count` elements, which must be there, by one call."""
    given = _holding(keys)
    if count:
        done, failed = _batch(DELETE_BATCH, file, (0, 0, _at(given), 0), count, f"removing {count} elements")
        if failed is not None:
            raise PartlyError(failed, done) from failed


def elements(file: int) -> Iterator[tuple[bytes, bytes]]:
    """All keys and values of a hash map."""
    shape = shape_of(file)
    keys = ctypes.create_string_buffer(BATCH * shape.key_bytes)
    values = ctypes.create_string_buffer(BATCH * shape.value_bytes)
    here, there = ctypes.create_string_buffer(4), ctypes.create_string_buffer(4)
    begun = False
    while True:
        buffers = (_at(here) if begun else 0, _at(there), _at(keys), _at(values))
        count, failed = _batch(LOOKUP_BATCH, file, buffers, BATCH, "reading a map")
        if failed is not None and failed.errno != errno.ENOENT:
            raise failed
        raw_keys, raw_values = keys.raw, values.raw
        for number in range(count):
            at, to = number * shape.key_bytes, number * shape.value_bytes
            yield raw_keys[at : at + shape.key_bytes], raw_values[to : to + shape.value_bytes]
        if failed is not None:
            return
        ctypes.memmove(here, there, 4)
        begun = True
