# SPDX-License-Identifier: BSD-3-Clause
"""A stream-optimized VMDK → an `.ova` that VirtualBox and VMware import; called by `vm/build.py`.

An `.ova` is a tar of an OVF description, its disk and a manifest of SHA-256 sums, in this order (DMTF DSP0243 2.1,
"Open Virtualization Format", clause 5). The controller is LSI Logic's SCSI: the two programs name a SATA controller
differently, and each refuses the other's name.
"""

from __future__ import annotations

import hashlib
import io
import re
import tarfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

OVF = "http://schemas.dmtf.org/ovf/envelope/1"
RASD = "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_ResourceAllocationSettingData"
VSSD = "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/CIM_VirtualSystemSettingData"
FORMAT = "http://www.vmware.com/interfaces/specifications/vmdk.html#streamOptimized"
DEBIAN_64 = "96"
"""The guest system in CIM_OperatingSystem's list: "Debian 64-bit"."""


@dataclass(frozen=True)
class Machine:
    """What the description asks for: a name, processors, memory and a disk."""

    name: str
    about: str
    processors: int
    memory_mib: int
    disk_bytes: int


def describe(machine: Machine, disk_file: str, file_bytes: int) -> bytes:
    """The OVF description of a machine whose one disk is a file of that size beside it."""
    for prefix, space in (("ovf", OVF), ("rasd", RASD), ("vssd", VSSD)):
        ET.register_namespace(prefix, space)

    def add(parent: ET.Element, tag: str, text: str | None = None, /, **attributes: str) -> ET.Element:
        element = ET.SubElement(parent, f"{{{OVF}}}{tag}", {f"{{{OVF}}}{key}": attributes[key] for key in attributes})
        element.text = text
        return element

    envelope = ET.Element(f"{{{OVF}}}Envelope")
    add(add(envelope, "References"), "File", id="file1", href=disk_file, size=str(file_bytes))
    disks = add(envelope, "DiskSection")
    add(disks, "Info", "The machine's disk")
    add(disks, "Disk", diskId="disk1", fileRef="file1", capacity=str(machine.disk_bytes), format=FORMAT)
    networks = add(envelope, "NetworkSection")
    add(networks, "Info", "The machine's network")
    add(add(networks, "Network", name="NAT"), "Description", "Address translation is enough; nothing listens.")
    system = add(envelope, "VirtualSystem", id=machine.name)
    add(system, "Info", machine.about)
    guest = add(system, "OperatingSystemSection", id=DEBIAN_64)
    add(guest, "Info", "The installed system")
    add(guest, "Description", "Debian_64")
    hardware = add(system, "VirtualHardwareSection")
    add(hardware, "Info", "Hardware")
    _setting(add(hardware, "System"), VSSD, ElementName="Hardware", InstanceID="0", VirtualSystemType="vmx-10")
    processors, memory = str(machine.processors), str(machine.memory_mib)
    items = [
        {"ElementName": "Processors", "InstanceID": "1", "ResourceType": "3", "VirtualQuantity": processors},
        {"AllocationUnits": "byte * 2^20", "ElementName": "Memory", "InstanceID": "2", "ResourceType": "4"}
        | {"VirtualQuantity": memory},
        {"Address": "0", "ElementName": "SCSI", "InstanceID": "3", "ResourceSubType": "lsilogic", "ResourceType": "6"},
        {"AddressOnParent": "0", "ElementName": "Disk", "HostResource": "ovf:/disk/disk1", "InstanceID": "4"}
        | {"Parent": "3", "ResourceType": "17"},
        {"AutomaticAllocation": "true", "Connection": "NAT", "ElementName": "Network", "InstanceID": "5"}
        | {"ResourceSubType": "E1000", "ResourceType": "10"},
    ]
    for item in items:
        _setting(add(hardware, "Item"), RASD, **item)
    ET.indent(envelope)
    text = ET.tostring(envelope, encoding="unicode")
    return f"<?xml version='1.0' encoding='utf-8'?>\n{text}\n".encode()


def _setting(parent: ET.Element, space: str, **values: str) -> None:
    for name in sorted(values):  # the schema wants them in the order of the alphabet
        ET.SubElement(parent, f"{{{space}}}{name}").text = values[name]


def write_ova(ova: Path, machine: Machine, vmdk: Path, epoch: int) -> None:
    """Write the `.ova`; every member's time is `epoch`, seconds since 1970."""
    description = describe(machine, vmdk.name, vmdk.stat().st_size)
    description_name = f"{machine.name}.ovf"
    sums = {description_name: hashlib.sha256(description).hexdigest(), vmdk.name: sha256(vmdk)}
    manifest = "".join(f"SHA256({name})= {value}\n" for name, value in sums.items()).encode()
    with tarfile.open(ova, "w", format=tarfile.USTAR_FORMAT) as tar:

        def add(name: str, size: int, source: io.BufferedIOBase) -> None:
            member = tarfile.TarInfo(name)
            member.size, member.mtime, member.mode = size, epoch, 0o644
            tar.addfile(member, source)

        add(description_name, len(description), io.BytesIO(description))
        with vmdk.open("rb") as file:
            add(vmdk.name, vmdk.stat().st_size, file)
        add(f"{machine.name}.mf", len(manifest), io.BytesIO(manifest))


def sha256(path: Path) -> str:
    """The sum of a file of any size, in hexadecimal."""
    total = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(1 << 20):
            total.update(piece)
    return total.hexdigest()


def fix_content_id(vmdk: Path, content_id: int) -> None:
    """Give the VMDK this content identifier; qemu-img draws a random one, in the text that begins in its sector 1.

    Raises:
        ValueError: the file has no such text, or no room behind it; it is no stream-optimized VMDK.
    """
    with vmdk.open("r+b") as file:
        file.seek(512)
        text, _, rest = file.read(20 * 512 - 8).partition(b"\0")
        fixed, found = re.subn(rb"(?<=\nCID=)[0-9a-f]{1,8}(?=\n)", b"%08x" % content_id, text)
        if found != 1 or rest.strip(b"\0"):
            raise ValueError(f"{vmdk}: there is no content identifier in it")
        file.seek(512)
        file.write(fixed)
