# SPDX-License-Identifier: BSD-3-Clause
"""Capture filters in tcpdump's words (pcap-filter(7)) → classic BPF programs, by libpcap, which knows the language.

The kernel inside takes the program; `PacketFilter` asks the same program about packets that were captured already.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

from linklab.capture.filter_names import looked_up
from linklab.errors import InputError, MissingError

LIBRARIES = ("libpcap.so.0.8", "libpcap.so.1", "libpcap.so")
ETHERNET, RAW_IP = 1, 12
"""DLT_EN10MB and DLT_RAW of pcap/dlt.h."""
ANY_NETMASK = 0xFFFFFFFF
SNAPLEN = 262_144
LONGEST = 4000
"""Letters of a filter; more is no filter that a person has typed."""

_EXAMPLES = 'it is written as for tcpdump, such as "icmp", "tcp port 5201" or "host 10.0.0.2"'


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_ushort), ("jt", ctypes.c_ubyte), ("jf", ctypes.c_ubyte), ("k", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("bf_len", ctypes.c_uint), ("bf_insns", ctypes.POINTER(_Instruction)))


@cache
def _libpcap() -> Any:
    """The library; MissingError where it is not installed."""
    for name in LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.pcap_open_dead.restype = ctypes.c_void_p
        library.pcap_open_dead.argtypes = (ctypes.c_int, ctypes.c_int)
        library.pcap_compile.argtypes = (
            ctypes.c_void_p,
            ctypes.POINTER(_Program),
            ctypes.c_char_p,
            ctypes.c_int,
            ctypes.c_uint32,
        )
        library.pcap_geterr.restype = ctypes.c_char_p
        library.pcap_geterr.argtypes = (ctypes.c_void_p,)
        library.pcap_freecode.argtypes = (ctypes.POINTER(_Program),)
        library.pcap_close.argtypes = (ctypes.c_void_p,)
        library.bpf_filter.restype = ctypes.c_uint
        library.bpf_filter.argtypes = (
            ctypes.POINTER(_Instruction),
            ctypes.c_char_p,
            ctypes.c_uint,
            ctypes.c_uint,
        )
        return library
    raise MissingError(
        "capture filters need libpcap, which is not installed: install libpcap0.8 (Debian, Ubuntu) or libpcap "
        "(Fedora, Arch), or capture without a filter and filter in Wireshark"
    )


def compiled(text: str, link_type: int = ETHERNET) -> list[tuple[int, int, int, int]]:
    """Return the program of a filter: code, jt, jf and k of each instruction.

    Raises:
        InputError: it names a host or a network, which would be looked up; or it is no filter, in libpcap's words.
        MissingError: libpcap is not installed.
    """
    if len(text) > LONGEST:
        raise InputError(f"a capture filter of {len(text):,} characters; it may have {LONGEST:,}")
    if name := looked_up(text):
        raise InputError(
            f'capture filter "{text}": "{name}" is no word of a filter, and names of hosts are not looked up; give the '
            f"address instead; {_EXAMPLES}"
        )
    library = _libpcap()
    handle = library.pcap_open_dead(link_type, SNAPLEN)
    program = _Program()
    try:
        if library.pcap_compile(handle, ctypes.byref(program), text.encode(), 1, ANY_NETMASK) < 0:
            why = library.pcap_geterr(handle).decode(errors="replace")
            raise InputError(f'capture filter "{text}": {why}; {_EXAMPLES}')
        code = [program.bf_insns[i] for i in range(program.bf_len)]
        found = [(each.code, each.jt, each.jf, each.k) for each in code]
        library.pcap_freecode(ctypes.byref(program))
    finally:
        library.pcap_close(handle)
    return found


def programs(text: str) -> dict[str, list[tuple[int, int, int, int]] | None]:
    """Return a filter's programs as `linklab.agent.capture` takes them; "ip" is None where it asks about Ethernet.

    Raises:
        InputError, MissingError: as `compiled`.
    """
    for_ethernet = compiled(text)
    try:
        return {"ethernet": for_ethernet, "ip": compiled(text, RAW_IP)}
    except InputError:
        return {"ethernet": for_ethernet, "ip": None}


@dataclass(frozen=True)
class PacketFilter:
    """A filter that is asked about packets, of Ethernet or (`is_ip`) beginning with IP."""

    text: str
    is_ip: bool = False

    def __post_init__(self) -> None:
        code = compiled(self.text, RAW_IP if self.is_ip else ETHERNET)
        object.__setattr__(self, "_code", (_Instruction * len(code))(*(_Instruction(*each) for each in code)))

    def takes(self, data: bytes, length: int) -> bool:
        """Return whether a packet of `length` bytes, of which `data` was kept, passes."""
        return bool(_libpcap().bpf_filter(self._code, data, length, len(data)))  # type: ignore[attr-defined]
