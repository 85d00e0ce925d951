# SPDX-License-Identifier: BSD-3-Clause
"""The headers of one packet as Wireshark's own decoders have them, by `tshark`, where that is installed."""

from __future__ import annotations

import shutil
import subprocess
from xml.etree import ElementTree

from linklab.capture.decode import Header
from linklab.errors import MissingError
from linklab.linux import pcapng

DEADLINE_S = 15.0
LEFT_OUT = ("geninfo",)


def is_installed() -> bool:
    """Return whether tshark is there."""
    return shutil.which("tshark") is not None


def headers(packet: pcapng.CapturedPacket, interface: str, link_type: int) -> list[Header]:
    """Return the headers of a packet, outermost first, with what Wireshark shows of each field.

    Raises:
        MissingError: tshark is not installed, or could not read it.
    """
    file = pcapng.section("Linklab") + pcapng.interface(interface, link_type=link_type, snaplen=2**18)
    file += pcapng.packet(0, packet.time_ns, packet.data, packet.length, packet.direction)
    try:
        done = subprocess.run(
            ["tshark", "-n", "-r", "-", "-T", "pdml"], input=file, capture_output=True, check=True, timeout=DEADLINE_S
        )
    except FileNotFoundError as error:
        raise MissingError("tshark is not installed") from error
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise MissingError(f"tshark could not read the packet: {error}") from error
    return parsed(done.stdout)


def parsed(pdml: bytes) -> list[Header]:
    """Return the headers of the first packet of a document in PDML (doc/README.xml-output of Wireshark)."""
    # written by tshark just now, which declares no entities
    packet = ElementTree.fromstring(pdml).find("packet")  # noqa: S314
    found = []
    for proto in packet.findall("proto") if packet is not None else ():
        if proto.get("name") not in LEFT_OUT:
            lines = [_words(each) for each in proto.iter("field") if each.get("hide") != "yes"]
            title = proto.get("showname") or proto.get("name") or ""
            found.append(Header(title, [line for line in lines if line[0]]))
    return found


def _words(element: ElementTree.Element) -> tuple[str, str]:
    name, colon, value = (element.get("showname") or element.get("show") or "").partition(": ")
    return (name, value) if colon else (name, "")
