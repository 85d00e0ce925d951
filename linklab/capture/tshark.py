# SPDX-License-Identifier: BSD-3-Clause
"""The headers of one packet as Wireshark's own decoders have them, by `tshark`, where that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
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
    command = ["tshark", "-n", "-r", "-", "-T", "pdml"]
    try:
        # with a home of its own: it runs scripts that lie in the person's, where a network's programs may have written
        with tempfile.TemporaryDirectory(prefix="linklab-tshark-") as home:
            places = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "WIRESHARK_CONFIG_DIR"), home)
            environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", **places}
            done = subprocess.run(
                command, input=file, capture_output=True, check=True, timeout=DEADLINE_S, env=environment
            )
    except FileNotFoundError as error:
        raise MissingError("tshark is not installed") from error
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise MissingError(f"tshark could not read the packet: {error}") from error
    return parsed(done.stdout)


def parsed(pdml: bytes) -> list[Header]:
    """Return the headers of the first packet of a document in PDML (doc/README.xml-output of Wireshark).

    Raises:
        MissingError: it is none.
    """
    try:
        packet = ElementTree.fromstring(pdml).find("packet")  # noqa: S314 - tshark's own, which declares no entities
    except ElementTree.ParseError as error:
        raise MissingError(f"what tshark printed is no PDML: {error}") from error
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
