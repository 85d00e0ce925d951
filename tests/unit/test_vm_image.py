# SPDX-License-Identifier: BSD-3-Clause
"""The parts of the virtual machine image that need no build: its OVF description, bill of materials, table, tar."""

import hashlib
import io
import re
import tarfile
import xml.etree.ElementTree as ET
from unittest import mock

import pytest

from linklab.errors import MissingError
from vm import build, disk, ovf, sbom, stage

MACHINE = ovf.Machine("linklab", "Networks", processors=2, memory_mib=4096, disk_bytes=16 * 2**30)
STATUS = """Package: jq
Status: install ok installed
Maintainer: A Person <person@example.org>
Architecture: amd64
Version: 1.6-2.1
Description: command-line JSON processor
 with a second line

Package: libstdc++6
Status: install ok installed
Architecture: amd64
Source: gcc-12 (12.2.0-14)
Version: 1:12.2.0-14+deb12u1

Package: gone
Status: deinstall ok config-files
Architecture: all
Version: 1

"""


def items(description):
    """Each hardware item's settings by name."""
    root = ET.fromstring(description)  # noqa: S314 - our own
    hardware = root.find(f".//{{{ovf.OVF}}}VirtualHardwareSection")
    return [{entry.tag.partition("}")[2]: entry.text for entry in item} for item in hardware.iter(f"{{{ovf.OVF}}}Item")]


def test_the_description_names_disk_memory_and_processors():
    """What an importer makes of it: 2 processors, 4096 MiB, one disk of 16 GiB at an LSI Logic controller."""
    description = ovf.describe(MACHINE, "linklab-disk1.vmdk", 1234)
    root = ET.fromstring(description)  # noqa: S314 - our own
    file = root.find(f".//{{{ovf.OVF}}}File")
    assert (file.get(f"{{{ovf.OVF}}}href"), file.get(f"{{{ovf.OVF}}}size")) == ("linklab-disk1.vmdk", "1234")
    drive = root.find(f".//{{{ovf.OVF}}}Disk")
    assert drive.get(f"{{{ovf.OVF}}}capacity") == "17179869184"
    assert drive.get(f"{{{ovf.OVF}}}fileRef") == file.get(f"{{{ovf.OVF}}}id")
    by_type = {item["ResourceType"]: item for item in items(description)}
    assert by_type["3"]["VirtualQuantity"] == "2"
    assert by_type["4"]["VirtualQuantity"] == "4096"
    assert by_type["17"]["Parent"] == by_type["6"]["InstanceID"]
    assert by_type["6"]["ResourceSubType"] == "lsilogic"


def test_settings_of_an_item_stand_in_the_order_of_the_alphabet():
    """The schema is a sequence, and VMware refuses another order."""
    for item in items(ovf.describe(MACHINE, "disk.vmdk", 1)):
        assert list(item) == sorted(item)


def test_an_ova_begins_with_its_description_and_ends_with_the_sums(tmp_path):
    """Members in the order that DSP0243 asks for, sums that fit, and the same bytes again."""
    vmdk = tmp_path / "linklab-disk1.vmdk"
    vmdk.write_bytes(b"disk" * 1000)
    made = []
    for name in ("one.ova", "two.ova"):
        ovf.write_ova(tmp_path / name, MACHINE, vmdk, 1_700_000_000)
        made.append((tmp_path / name).read_bytes())
    assert made[0] == made[1]
    with tarfile.open(fileobj=io.BytesIO(made[0])) as tar:
        assert tar.getnames() == ["linklab.ovf", "linklab-disk1.vmdk", "linklab.mf"]
        assert {member.mtime for member in tar} == {1_700_000_000}
        description = tar.extractfile("linklab.ovf").read()
        manifest = tar.extractfile("linklab.mf").read().decode()
    assert manifest == (
        f"SHA256(linklab.ovf)= {hashlib.sha256(description).hexdigest()}\n"
        f"SHA256(linklab-disk1.vmdk)= {hashlib.sha256(b'disk' * 1000).hexdigest()}\n"
    )


@pytest.mark.parametrize("drawn", [b"91ab03ff", b"3ff", b"0"])
def test_the_vmdk_gets_the_content_identifier_that_it_is_given(tmp_path, drawn):
    """qemu-img writes a small one with fewer digits; then what follows moves into the zeros behind the text."""
    vmdk = tmp_path / "d.vmdk"
    text = b"# Disk DescriptorFile\nversion=1\nCID=%s\nparentCID=ffffffff\n"
    vmdk.write_bytes(b"KDMV".ljust(512, b"\0") + (text % drawn).ljust(20 * 512, b"\0") + b"grain")
    ovf.fix_content_id(vmdk, 0x65)
    wanted = b"KDMV".ljust(512, b"\0") + (text % b"00000065").ljust(20 * 512, b"\0") + b"grain"
    assert vmdk.read_bytes() == wanted


def test_a_file_without_a_content_identifier_is_refused(tmp_path):
    """A raw disk is no VMDK."""
    raw = tmp_path / "disk.raw"
    raw.write_bytes(b"\0" * 20_000)
    with pytest.raises(ValueError, match=r"disk\.raw: there is no content identifier"):
        ovf.fix_content_id(raw, 1)


def test_the_bill_lists_what_is_installed():
    """Names, versions, sources and package URLs; what was removed and left its settings is not in it."""
    bill = sbom.bill(STATUS, "linklab-amd64", 1_700_000_000)
    assert bill["spdxVersion"] == "SPDX-2.3"
    assert bill["creationInfo"]["created"] == "2023-11-14T22:13:20Z"
    jq, library = bill["packages"]
    assert (jq["name"], jq["versionInfo"], jq["supplier"]) == ("jq", "1.6-2.1", "Person: A Person <person@example.org>")
    assert library["SPDXID"] == "SPDXRef-libstdc--6-amd64"
    assert library["sourceInfo"] == "Debian source package: gcc-12 (12.2.0-14)"
    (reference,) = library["externalRefs"]
    assert reference["referenceLocator"] == "pkg:deb/debian/libstdc%2B%2B6@1%3A12.2.0-14%2Bdeb12u1?arch=amd64"
    assert [entry["relatedSpdxElement"] for entry in bill["relationships"]] == [jq["SPDXID"], library["SPDXID"]]
    assert sbom.bill(STATUS, "linklab-amd64", 1_700_000_000) == bill


def test_a_status_without_a_version_is_refused():
    """A bill that says less than it seems to is none."""
    with pytest.raises(ValueError, match="no version: 'Package: jq"):
        sbom.bill("Package: jq\nStatus: install ok installed\n", "x", 0)


def test_partitions_follow_each_other_and_end_before_the_copy_of_the_table():
    """BIOS, EFI and root on a PC; no BIOS on arm64."""
    pc = disk.parts("amd64", 16384)
    assert [(part.name, part.start_mib, part.size_mib) for part in pc] == [
        ("bios", 1, 1),
        ("efi", 2, 64),
        ("linklab", 66, 16317),
    ]
    assert [part.name for part in disk.parts("arm64", 16384)] == ["efi", "linklab"]
    assert disk.table("amd64", 16384) == disk.table("amd64", 16384)
    assert "start=135168, size=33417216, type=4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709, uuid=" in disk.table("amd64", 16384)


def test_images_for_both_processors_share_a_folder(tmp_path):
    """Neither takes the other's place, and the sums are of all of them."""
    assert [build.name_of(arch) for arch in ("amd64", "arm64")] == ["linklab", "linklab-arm64"]
    for name in ("linklab.ova", "linklab.qcow2", "linklab-arm64.qcow2", "linklab-arm64.spdx.json", "mmdebstrap.log"):
        (tmp_path / name).write_text(name)
    build.write_sums(tmp_path)
    lines = [line.split("  ") for line in (tmp_path / "SHA256SUMS").read_text().splitlines()]
    assert [name for _, name in lines] == [
        "linklab-arm64.qcow2",
        "linklab-arm64.spdx.json",
        "linklab.ova",
        "linklab.qcow2",
    ]
    assert all(digest == hashlib.sha256(name.encode()).hexdigest() for digest, name in lines)


@pytest.mark.parametrize(("arch", "line"), [("amd64", "ttyS0"), ("arm64", "ttyAMA0")])
def test_the_serial_line_of_each_processor_is_waited_for(arch, line):
    """Slow machines find it late; it is the one that the boot menu names."""
    waits = (stage.ROOT / f"vm/files/etc/systemd/system/dev-{line}.device.d/patience.conf").read_text()
    assert "JobTimeoutSec=infinity" in waits
    chosen, other = re.findall(r"set machine='(.*)'", (stage.ROOT / "vm/files/boot/grub/grub.cfg").read_text())
    assert f"console={line}," in (chosen if arch == "arm64" else other)


def test_an_arm64_machine_starts_by_uefi_with_hardware_of_its_own(tmp_path, monkeypatch):
    """It has no BIOS and no VGA; without its firmware the cure is the stage that installs it."""
    machine = pytest.importorskip("vm.machine")
    started = []
    monkeypatch.setattr(machine.pexpect, "spawn", lambda program, command, **_: started.append(command) or mock.Mock())
    monkeypatch.setattr(machine.shutil, "which", lambda program: program)
    firmware = tmp_path / "QEMU_EFI.fd"
    monkeypatch.setitem(machine.UEFI, "arm64", firmware)
    with pytest.raises(MissingError, match=r"qemu-system-aarch64 or its firmware is missing; run: .* vm-arm64"):
        machine.Machine(tmp_path / "linklab-arm64.qcow2", tmp_path / "log", arch="arm64")
    firmware.touch()
    for arch in ("arm64", "amd64"):
        with machine.Machine(tmp_path / "linklab.qcow2", tmp_path / "log", arch=arch):
            pass
    arm, pc = (" ".join(command) for command in started)
    assert "qemu-system-aarch64" in arm
    assert f"-bios {firmware}" in arm
    assert "-M virt" in arm
    assert "-vga" not in arm
    assert "qemu-system-x86_64" in pc
    assert "-bios" not in pc


def test_staged_files_belong_to_root_and_those_at_home_to_admin(tmp_path):
    """Owners, modes and times come from no clone: two tars of files with other dates are the same bytes."""
    program, note = tmp_path / "tool", tmp_path / "note.txt"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    note.write_text("read me\n")
    note.chmod(0o600)
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.PAX_FORMAT) as tar:
        stage.pack(tar, {"usr/local/bin/tool": program, "home/admin/note.txt": note}, 1_700_000_000)
    with tarfile.open(fileobj=io.BytesIO(written.getvalue())) as tar:
        found = {member.name: (member.uid, member.mode, member.mtime) for member in tar}
    assert found["usr/local/bin/tool"] == (0, 0o755, 1_700_000_000)
    assert found["home/admin/note.txt"] == (1000, 0o644, 1_700_000_000)
    assert found["home"] == (0, 0o755, 1_700_000_000)
    assert found["home/admin"] == (1000, 0o755, 1_700_000_000)
