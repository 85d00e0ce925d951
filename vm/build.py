# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages, Linklab's `.deb` and the clone's labs → the virtual machine image, in build/vm/; run by `make vm`.

    packages ─→ root.tar ─→ disk ─→ linklab.qcow2
    files/ ─┘      │          └──→ linklab.vmdk ─→ linklab.ova
                   └→ linklab.spdx.json           all of them ─→ SHA256SUMS

For arm64 the files are named linklab-arm64, and there is no .ova, since what imports those runs on a PC.

Needs no root where user namespaces are allowed (mmdebstrap's unshare mode); as root it uses a chroot.
The date of the last commit is the latest date of anything in the image, unless SOURCE_DATE_EPOCH says another.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from linklab.errors import InputError, LinklabError, MissingError
from linklab.pocket_kernel.source import private_apt
from linklab.pocket_kernel.tools import Tools
from vm import disk, ovf, sbom
from vm.stage import write_stage

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "vm"
NAME = "linklab"
DISK_MIB = 16 * 1024
PROGRAMS = ("mmdebstrap", "sfdisk", "mkfs.vfat", "mcopy", "grub-mkimage", "qemu-img", "apt-get", "dpkg-deb")
HOOKS = "/usr/share/mmdebstrap/hooks/file-mirror-automount"
"""Shows the `.deb` inside the root that is being built."""
TAR_READING = (1, 47, 1)
"""The first mke2fs that fills a file system from a tar, with the owners and in the order that it has."""
E2FSPROGS = ("e2fsprogs", "libext2fs2", "libcom-err2", "libss2")


def main(arguments: list[str]) -> int:
    """Build what the arguments ask for; exit codes as those of `linklab`."""
    parser = argparse.ArgumentParser(prog="make vm", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--deb", type=Path, help="Linklab's package, as `make deb` builds it")
    parser.add_argument("--manuals", type=Path, default=ROOT / "build/manuals", help="as `make manuals` writes them")
    parser.add_argument("--out", type=Path, default=ROOT / "build/vm", help="folder of the image")
    parser.add_argument("--suite", default="bookworm", help="Debian's release (default: %(default)s)")
    parser.add_argument("--mirror", help="where Debian's packages come from (default: as mmdebstrap chooses)")
    parser.add_argument("--arch", choices=sorted(disk.EFI_NAMES), default="amd64", help="default: %(default)s")
    parser.add_argument("--root-only", action="store_true", help="stop when root.tar is there")
    args = parser.parse_args(arguments)
    try:
        build(args)
    except LinklabError as error:
        print(f"vm: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def build(args: argparse.Namespace) -> None:
    """Make the image, its bill of materials and its sums."""
    _preflight(args)
    out: Path = args.out.resolve()
    epoch = _epoch()
    started = time.monotonic()

    def say(what: str) -> None:
        print(f"vm: {time.monotonic() - started:5.0f} s  {what}", flush=True)

    with tempfile.TemporaryDirectory(dir=out, prefix="build-") as folder:
        scratch = Path(folder)
        scratch.chmod(0o755)  # mmdebstrap reads it as another user in unshare mode
        mke2fs, library = _mke2fs(scratch, say)
        say("gathering labs, exercises and manuals")
        write_stage(scratch / "stage.tar", args.manuals, epoch)
        say("installing Debian's packages and Linklab's")
        root_tar = out / "root.tar"
        # mmdebstrap shows the package inside at its own path, and of what it leaves there only /tmp is emptied
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="linklab-vm-") as shown:
            _bootstrap(args, scratch, Path(shown), root_tar, epoch)
        if args.root_only:
            return
        bill = sbom.bill(_status(root_tar), f"{NAME}-{args.arch}", epoch)
        (out / f"{name_of(args.arch)}.spdx.json").write_text(json.dumps(bill, indent=2) + "\n")
        say("writing the disk")
        raw = scratch / "disk.raw"
        disk.write_disk(raw, root_tar, arch=args.arch, size_mib=DISK_MIB, mke2fs=mke2fs, library=library, epoch=epoch)
        made = _convert(args.arch, raw, out, epoch, say)
    root_tar.unlink()
    write_sums(out)
    for name in made:
        say(f"{out / name}: {(out / name).stat().st_size / 1e6:.0f} MB")


def name_of(arch: str) -> str:
    """What the files of the image for that architecture are called, without their endings."""
    return NAME if arch == "amd64" else f"{NAME}-{arch}"


def _preflight(args: argparse.Namespace) -> None:
    search = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
    missing = [program for program in PROGRAMS if not shutil.which(program, path=search)]
    if missing:
        raise MissingError(f"{', '.join(missing)} cannot be found; run: tools/setup.sh vm")
    os.environ["PATH"] = search
    if args.deb is not None and not args.deb.is_file():
        raise InputError(f"{args.deb}: there is no such package; run: make deb")
    if not (args.manuals / "handbook.pdf").is_file():
        raise InputError(f"{args.manuals}: holds no handbook.pdf; run: make manuals")
    args.out.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(args.out).free
    if free < 15 * 10**9:
        raise MissingError(f"{args.out}: building the image takes 15 GB of disk, and {free / 1e9:.0f} GB are free")


def _epoch() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        if not given.isdecimal():
            raise InputError(f"SOURCE_DATE_EPOCH is {given!r}; it must be seconds since 1970")
        return int(given)
    asked = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    if asked.returncode:
        raise MissingError("this is no git clone, so nothing says the image's date; set SOURCE_DATE_EPOCH")
    return int(asked.stdout)


def _mke2fs(scratch: Path, say: disk.Say) -> tuple[str, dict[str, str]]:
    """A mke2fs that reads a tar, and the environment it needs: the machine's, or backports' unpacked in scratch."""
    own = shutil.which("mke2fs")
    if own is not None and _version(own, {}) >= TAR_READING:
        return own, {}
    say("the machine's mke2fs reads no tar; fetching a newer one from Debian's backports")
    log = scratch / "e2fsprogs.log"
    with log.open("w") as output:
        tools = Tools(scratch, output, log)
        options = private_apt(tools)
        names = [f"{name}/bookworm-backports" for name in E2FSPROGS]
        tools.run(["apt-get", *options, "download", *names], scratch, "download e2fsprogs from backports")
        for package in scratch.glob("*.deb"):
            tools.run(["dpkg-deb", "-x", str(package), str(scratch / "e2fsprogs")], scratch, f"unpack {package.name}")
            package.unlink()
    tree = scratch / "e2fsprogs"
    libraries = sorted({str(file.parent) for file in tree.rglob("lib*.so.*")})
    environment = {"LD_LIBRARY_PATH": os.pathsep.join(libraries)}
    found = next(tree.rglob("mke2fs"), None)
    if found is None or _version(str(found), environment) < TAR_READING:
        raise MissingError("mke2fs 1.47.1 or newer cannot be had; build on Debian 12 with backports, or Debian 13")
    return str(found), environment


def _version(mke2fs: str, environment: dict[str, str]) -> tuple[int, ...]:
    said = subprocess.run([mke2fs, "-V"], env=os.environ | environment, capture_output=True, text=True, check=False)
    found = re.search(r"mke2fs ([0-9.]+)", said.stderr)
    return tuple(map(int, found.group(1).split("."))) if found else ()


def _bootstrap(args: argparse.Namespace, scratch: Path, shown: Path, root_tar: Path, epoch: int) -> None:
    """Debian's packages, ours and the staged files → the root file system as a tar."""
    listed = (HERE / "packages.txt").read_text().format(arch=args.arch).split("\n")
    packages = [line for line in listed if line and not line.startswith("#")]
    packages += ["grub-pc-bin"] if args.arch == "amd64" else []
    command = ["mmdebstrap", "--variant=minbase", f"--architectures={args.arch}", f"--include={','.join(packages)}"]
    if args.deb is not None:
        shown.chmod(0o755)
        deb = shown / args.deb.name
        shutil.copy(args.deb, deb)
        deb.chmod(0o644)
        command += [f"--include={deb}", f"--hook-dir={HOOKS}"]
    # what the packages say in other languages is 150 MB; the labs are in English
    command += [f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in ("locale", "help", "gnome/help")]
    command += [f"--customize-hook=tar-in {scratch / 'stage.tar'} /", f'--customize-hook={HERE / "customize.sh"} "$1"']
    command += [args.suite, str(root_tar), *([args.mirror] if args.mirror else [])]
    log = root_tar.parent / "mmdebstrap.log"
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "LC_ALL": "C", "HOME": "/root"}
    with log.open("w") as output:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False
        )
    if done.returncode:
        said = "\n".join(log.read_text().splitlines()[-15:])
        raise MissingError(
            f"mmdebstrap failed with exit {done.returncode}; its last words, all of them in {log}:\n{said}"
        )


def _status(root_tar: Path) -> str:
    member = "./var/lib/dpkg/status"
    return subprocess.run(["tar", "xOf", str(root_tar), member], capture_output=True, text=True, check=True).stdout


def _convert(arch: str, raw: Path, out: Path, epoch: int, say: disk.Say) -> list[str]:
    """The disk in the formats of QEMU and, for what runs on a PC, of VirtualBox and VMware; the files' names."""
    qcow2, vmdk, ova = out / f"{name_of(arch)}.qcow2", raw.parent / f"{NAME}-disk1.vmdk", out / f"{NAME}.ova"
    say("compressing it for QEMU")
    convert = ["qemu-img", "convert", "-f", "raw"]
    subprocess.run([*convert, "-c", "-O", "qcow2", "-o", "compression_type=zstd", str(raw), str(qcow2)], check=True)
    if arch != "amd64":
        return [qcow2.name]
    say("compressing it for VirtualBox and VMware")
    options = "subformat=streamOptimized,adapter_type=lsilogic"
    subprocess.run([*convert, "-O", "vmdk", "-o", options, str(raw), str(vmdk)], check=True)
    ovf.fix_content_id(vmdk, epoch & 0xFFFFFFFF)
    about = "Linklab: networks to learn from. User admin, password password: change it (passwd)."
    machine = ovf.Machine(NAME, about, processors=2, memory_mib=4096, disk_bytes=DISK_MIB * disk.MIB)
    ovf.write_ova(ova, machine, vmdk, epoch)
    return [qcow2.name, ova.name]


def write_sums(out: Path) -> None:
    """The sums of every image in the folder and of its bill of materials; one folder may hold those of both kinds."""
    files = sorted(file for file in out.glob(f"{NAME}*") if file.suffix in (".qcow2", ".ova", ".json"))
    (out / "SHA256SUMS").write_text("".join(f"{ovf.sha256(file)}  {file.name}\n" for file in files))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
