# SPDX-License-Identifier: BSD-3-Clause
"""The image's root file system, as a tar → a disk that starts under BIOS and UEFI; called by `vm/build.py`.

Every part is written into one sparse file by programs that need no root: `mke2fs -d` the file system, `mtools` the EFI
partition, `sfdisk` the table, `grub-mkimage` the boot loader. GRUB's own installer wants to find the file's device, so
its two sectors are placed here: GRUB manual, "BIOS installation", and grub/i386/pc/boot.h for the offsets.
"""

from __future__ import annotations

import os
import subprocess
import tarfile
import tempfile
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from linklab.errors import MissingError

MIB = 1 << 20
SECTOR = 512
LABEL = "linklab"
BOOT_CODE = 440
"""Bytes of the first sector that are boot code; the disk's signature and partition table follow."""
KERNEL_SECTOR_AT = 0x5C
"""Where boot.img holds the sector that it loads (GRUB_BOOT_MACHINE_KERNEL_SECTOR)."""
NEXT_SECTOR_AT = SECTOR - 12
"""Where the first sector of core.img holds that of the rest: its one block list (grub/offsets.h)."""
EFI_NAMES = {"amd64": ("x86_64-efi", "BOOTX64.EFI"), "arm64": ("arm64-efi", "BOOTAA64.EFI")}
MODULES = ["part_gpt", "ext2", "search", "search_label", "normal", "configfile", "linux", "echo", "test", "gzio"]
ROOT_TYPES = {"amd64": "4F68BCE3-E8CD-4DB1-96E7-FBCAF984B709", "arm64": "B921B045-1DF0-41C3-AF44-4C6F280D3FAE"}
"""Types of a root partition (Discoverable Partitions Specification)."""
Run = Callable[..., None]
"""Runs a program, with text as its input if some is given."""
Say = Callable[[str], None]
NAMESPACE = uuid.UUID("8d1cf3f4-6f0b-5d0c-9d2e-6c2a4f1e7b60")
"""Identifiers of the disk and its parts are derived from this, so that two builds have the same."""


@dataclass(frozen=True)
class Part:
    """A partition: where it begins and how large it is, in MiB, and its GPT type."""

    name: str
    start_mib: int
    size_mib: int
    kind: str


def parts(arch: str, size_mib: int) -> list[Part]:
    """The partitions of a disk of that size: GRUB's own (BIOS only), the EFI system partition, the root."""
    boot = Part("bios", 1, 1, "21686148-6449-6E6F-744E-656564454649")
    efi = Part("efi", 2, 64, "C12A7328-F81F-11D2-BA4B-00A0C93EC93B")
    start_mib = efi.start_mib + efi.size_mib
    root = Part(LABEL, start_mib, size_mib - start_mib - 1, ROOT_TYPES[arch])  # GPT's copy ends the disk
    return [boot, efi, root] if arch == "amd64" else [efi, root]


def identifier(name: str) -> str:
    """The UUID of a part of this disk, the same in every build."""
    return str(uuid.uuid5(NAMESPACE, name))


def table(arch: str, size_mib: int) -> str:
    """The partition table as sfdisk(8) reads it."""
    head = f"label: gpt\nlabel-id: {identifier('disk')}\nunit: sectors\nsector-size: {SECTOR}\n\n"
    each = MIB // SECTOR
    return head + "".join(
        f"start={part.start_mib * each}, size={part.size_mib * each}, type={part.kind}, "
        f'uuid={identifier(part.name)}, name="{part.name}"\n'
        for part in parts(arch, size_mib)
    )


def write_disk(
    disk: Path, root_tar: Path, *, arch: str, size_mib: int, mke2fs: str, library: dict[str, str], epoch: int
) -> None:
    """Write the disk; sparse, so the file takes what is in it.

    Args:
        disk: the file to be made.
        root_tar: the root file system; it holds GRUB's modules in usr/lib/grub.
        arch: amd64 or arm64, as Debian names them.
        size_mib: of the whole disk.
        mke2fs: the program, one that reads a tar (1.47.1 or newer).
        library: environment that it needs.
        epoch: no time on the disk is later, seconds since 1970.
    """
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC", "LC_ALL": "C.UTF-8"}

    def run(command: list[str], text: str | None = None) -> None:
        mine = library if command[0] == mke2fs else {}
        done = subprocess.run(
            command, env=environment | mine, input=text, text=True, stdout=subprocess.DEVNULL, check=False
        )
        if done.returncode:
            raise MissingError(f"this failed with exit {done.returncode}: {' '.join(command)}")

    disk.unlink(missing_ok=True)
    with disk.open("wb") as file:
        file.truncate(size_mib * MIB)
    run(["sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", str(disk)], table(arch, size_mib))
    where = {part.name: part for part in parts(arch, size_mib)}
    root = where[LABEL]
    features = "^metadata_csum_seed,^orphan_file"  # GRUB of Debian 12 reads no file system that has them
    extended = f"hash_seed={identifier('hash')},root_owner=0:0,offset={root.start_mib * MIB}"
    format_root = [mke2fs, "-q", "-F", "-t", "ext4", "-b", "4096", "-L", LABEL, "-U", identifier("root")]
    run([*format_root, "-O", features, "-E", extended, "-d", str(root_tar), str(disk), f"{root.size_mib}M"])
    with tempfile.TemporaryDirectory(dir=disk.parent, prefix="grub-") as folder:
        scratch = Path(folder)
        _unpack_grub(root_tar, scratch)
        _write_efi(run, disk, where["efi"], arch, scratch)
        if "bios" in where:
            _write_bios(run, disk, where["bios"], scratch)


def _unpack_grub(root_tar: Path, folder: Path) -> None:
    """GRUB's modules, out of the very root file system, so that its list of packages names what starts it."""
    with tarfile.open(root_tar) as tar:
        members = [member for member in tar if member.name.startswith("./usr/lib/grub/") and member.isfile()]
        for member in members:
            source = tar.extractfile(member)
            assert source is not None
            target = folder / member.name.removeprefix("./usr/lib/grub/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(source.read())


def _grub(run: Run, scratch: Path, platform: str, modules: list[str]) -> Path:
    """GRUB with all it needs built in, which looks for our root by its label and reads the menu there."""
    start = scratch / "start.cfg"
    start.write_text(f"search --no-floppy --label {LABEL} --set=root\nset prefix=($root)/boot/grub\n")
    image = scratch / f"{platform}.img"
    command = ["grub-mkimage", "-O", platform, "-d", str(scratch / platform), "-c", str(start), "-p", "/boot/grub"]
    run([*command, "-o", str(image), *MODULES, *modules])
    return image


def _write_efi(run: Run, disk: Path, part: Part, arch: str, scratch: Path) -> None:
    platform, name = EFI_NAMES[arch]
    image = _grub(run, scratch, platform, ["efi_gop", "all_video", "fat"])
    fat = scratch / "efi.fat"
    with fat.open("wb") as file:
        file.truncate(part.size_mib * MIB)
    run(["mkfs.vfat", "--invariant", "-F", "32", "-n", "EFI", str(fat)])
    run(["mmd", "-i", str(fat), "::EFI", "::EFI/BOOT"])
    run(["mcopy", "-i", str(fat), str(image), f"::EFI/BOOT/{name}"])
    _place(disk, part.start_mib * MIB, fat.read_bytes())


def _write_bios(run: Run, disk: Path, part: Part, scratch: Path) -> None:
    core = bytearray(_grub(run, scratch, "i386-pc", ["biosdisk", "all_video"]).read_bytes())
    if len(core) > part.size_mib * MIB:
        raise ValueError(f"GRUB's core takes {len(core)} bytes, more than its partition has")
    boot = bytearray((scratch / "i386-pc/boot.img").read_bytes())
    sector = part.start_mib * MIB // SECTOR
    boot[KERNEL_SECTOR_AT : KERNEL_SECTOR_AT + 8] = sector.to_bytes(8, "little")
    core[NEXT_SECTOR_AT : NEXT_SECTOR_AT + 8] = (sector + 1).to_bytes(8, "little")
    _place(disk, 0, bytes(boot[:BOOT_CODE]))
    _place(disk, sector * SECTOR, bytes(core))


def _place(disk: Path, offset: int, data: bytes) -> None:
    with disk.open("r+b") as file:
        file.seek(offset)
        file.write(data)
