# SPDX-License-Identifier: BSD-3-Clause
"""Boots the image and uses it as a person would, over its serial line and its screen; run by `make vm-test`.

Each check prints a line; the folder build/vm/test gets what the serial line said and pictures of the screen, which a
person should look at. Exit code 0: all that was tried works. Rates are not judged: the processor may be emulated.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from linklab.errors import InputError, LinklabError, MissingError
from vm import disk
from vm.build import name_of
from vm.machine import PASSWORD, Machine, TrialError

ROOT = Path(__file__).resolve().parent.parent
LABS = {"3": "3", "6": "5.2", "14": "3"}
"""Labs that are replayed on the machine's own kernel, and the section that stands for the whole."""
POCKET_LAB = "3"
"""Replayed whole in the pocket: on its clock the figures hold at any speed."""
SETTLED = 1.5
"""Load (of two processors) below which a desktop is taken to have started."""


def main(arguments: list[str]) -> int:
    """Try the image that the arguments name; 0 if all checks passed."""
    parser = argparse.ArgumentParser(prog="make vm-test", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--arch", choices=sorted(disk.EFI_NAMES), default="amd64", help="default: %(default)s")
    parser.add_argument("--image", type=Path, help=".qcow2 or .ova (default: that of the architecture in build/vm)")
    parser.add_argument("--out", type=Path, default=ROOT / "build/vm/test", help="folder of the log and the pictures")
    parser.add_argument("--uefi", action="store_true", help="start by UEFI in place of the BIOS, as arm64 always does")
    parser.add_argument(
        "--kvm", action="store_true", help="use the processor itself, where /dev/kvm is as it should be"
    )
    parser.add_argument("--desktop-only", action="store_true", help="stop when the desktop has been seen")
    args = parser.parse_args(arguments)
    try:
        return _try(args)
    except LinklabError as error:
        print(f"vm-test: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _try(args: argparse.Namespace) -> int:
    image: Path = args.image or ROOT / f"build/vm/{name_of(args.arch)}.qcow2"
    if not image.is_file():
        raise InputError(f"{image}: there is no such image; run: make vm")
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=args.out, prefix="disk-") as scratch:
        opened = _disk_of(image, Path(scratch)) if image.suffix == ".ova" else image
        with Machine(opened, args.out / "serial.log", arch=args.arch, uefi=args.uefi, kvm=args.kvm) as machine:
            how = "KVM" if args.kvm else "software emulation"
            firmware = "UEFI" if args.uefi or args.arch == "arm64" else "BIOS"
            print(f"vm-test: {image.name}, {args.arch}, {firmware}, {how}", flush=True)
            return _checks(machine, args.out, desktop_only=args.desktop_only)


def _disk_of(ova: Path, folder: Path) -> Path:
    with tarfile.open(ova) as tar:
        member = next(member for member in tar if member.name.endswith(".vmdk"))
        vmdk, inside = folder / Path(member.name).name, tar.extractfile(member)
        assert inside is not None  # it is a file
        with inside, vmdk.open("wb") as file:
            shutil.copyfileobj(inside, file)
    return vmdk


def _checks(machine: Machine, out: Path, *, desktop_only: bool) -> int:
    checks: list[tuple[str, Callable[[Machine, Path], str]]] = [
        ("boots, and admin can log in", _log_in),
        ("shows its desktop", _desktop),
        ("nobody can come in from outside", _closed),
        ("sudo mn --test pingall", _pingall),
        ("linklab doctor", _doctor),
        *((f"Lab {lab} on the host engine", _lab(lab, section)) for lab, section in LABS.items()),
        (f"Lab {POCKET_LAB} in the pocket, judged", _pocket)
        if machine.arch == "amd64"
        else ("the pocket says which engine to take", _no_pocket),
        ('the editor opens "Lab 8.mn"', _editor),
        ("the handbook opens", _handbook),
        ("home folders are filled", _home),
    ]
    failed = 0
    for name, check in checks[:2] if desktop_only else checks:
        started = time.monotonic()
        try:
            verdict, said = "ok", check(machine, out)
        except TrialError as error:
            verdict, said = "FAIL", str(error)
            failed += 1
        print(f"{verdict:5}{time.monotonic() - started:6.0f} s  {name}{': ' if said else ''}{said}", flush=True)
        if failed and check in (_log_in, _desktop):
            machine.picture(out / "failed.png")
            return 1
    machine.power_off()
    print(f"vm-test: {f'{failed} failed' if failed else 'all passed'}; look at the pictures in {out}")
    return 1 if failed else 0


def _demand(machine: Machine, command: str, within_s: float = 30) -> str:
    """What the command says; TrialError with it if it fails."""
    code, said = machine.run(command, within_s)
    if code:
        raise TrialError(f"{command} ends with {code}: {said[-600:]}")
    return said


def _log_in(machine: Machine, _out: Path) -> str:
    machine.log_in()
    # with the password once, so that sudo asks for none on this line; the kernel's messages would mix with what is said
    _demand(machine, f"echo {PASSWORD} | sudo -S -p '' dmesg --console-level emerg")
    return _demand(machine, "uname -sr")


def _desktop(machine: Machine, out: Path) -> str:
    machine.until("pgrep -u admin lxqt-panel", 60, "the panel of the desktop")
    machine.window("Read me first", 60)
    load = f"awk '{{exit $1 > {SETTLED}}}' /proc/loadavg"
    machine.until(load, 180, f"a load below {SETTLED}")
    machine.picture(out / "desktop.png")
    return _demand(machine, "systemd-analyze time | head -1")


def _closed(machine: Machine, _out: Path) -> str:
    for service in ("ssh", "openvswitch-testcontroller"):
        if machine.run(f"systemctl is-active {service}")[0] == 0:
            raise TrialError(f"the service {service} is running")
    heard = _demand(machine, "ss -Htuln | awk '{print $5}'").split()
    # the resolver's own addresses and the DHCP client's port
    outside = [
        address for address in heard if not address.startswith(("127.", "[::1]")) and not address.endswith(":68")
    ]
    if outside:
        raise TrialError(f"something listens for others on {', '.join(outside)}")
    return "no service listens"


def _pingall(machine: Machine, _out: Path) -> str:
    said = _demand(machine, "sudo mn --test pingall 2>&1", 60)
    result = next((line for line in said.splitlines() if line.startswith("*** Results")), "")
    if "0% dropped" not in result:
        raise TrialError(f"pingall says: {said[-600:]}")
    return result


def _doctor(machine: Machine, _out: Path) -> str:
    said = _demand(machine, "linklab doctor", 30)
    return next((line for line in said.splitlines() if line.startswith("Labs can")), said[-600:])


def _lab(lab: str, section: str) -> Callable[[Machine, Path], str]:
    def check(machine: Machine, _out: Path) -> str:
        options = f"--engine host --settings-only --section {section} --json --out ~/runs/trial-{lab}"
        _demand(
            machine, f"linklab run {lab} {options} >~/trial.json 2>~/trial.log || {{ tail ~/trial.log; false; }}", 300
        )
        left = _demand(machine, "sudo ip netns list; ip -o link | grep -E ' (s|h|r)[0-9]' || true")
        if left:
            raise TrialError(f"it leaves behind: {left}")
        verdicts = json.loads(_demand(machine, "jq -c '[.verdicts[].outcome]' ~/trial.json"))
        if not (read_back := verdicts.count("pass")):
            raise TrialError("no setting was read back")
        return f"section {section}, {read_back} settings read back"

    return check


def _pocket(machine: Machine, _out: Path) -> str:
    return _demand(machine, f"linklab run {POCKET_LAB} --out ~/runs/pocket 2>&1", 300).splitlines()[-1]


def _no_pocket(machine: Machine, _out: Path) -> str:
    code, said = machine.run(f"linklab run {POCKET_LAB}", 60)
    if code != MissingError.exit_code or "--engine host" not in said:
        raise TrialError(f"it ends with {code} and says: {said[-600:]}")
    return said.splitlines()[-1]


def _editor(machine: Machine, out: Path) -> str:
    _demand(machine, 'cd ~/lab_topologies && (setsid xdg-open "Lab 8.mn" >~/editor.log 2>&1 &)')
    try:
        machine.window("Lab 8", 60)
    except TrialError as error:
        raise TrialError(f"{error}; it says: {machine.run('tail -3 ~/editor.log')[1]}") from error
    machine.run("sleep 5", 10)
    machine.picture(out / "editor.png")
    return ""


def _handbook(machine: Machine, out: Path) -> str:
    _demand(machine, "(setsid xdg-open /usr/local/share/linklab/manuals/handbook.pdf >/dev/null 2>&1 &)")
    machine.window("qpdfview", 60)
    machine.run("sleep 30", 60)  # its window is there long before its page
    machine.picture(out / "handbook.png")
    return ""


def _home(machine: Machine, _out: Path) -> str:
    _demand(machine, "ls ~/lab_topologies/Lab\\ {1..20}.mn")
    _demand(machine, "test -f ~/NTP_Exercises/Exercise8/handout.html -a -f ~/NTP_Problems/Problem3/handout.html")
    _demand(machine, "command -v plot_iperf.sh fairness.sh linklab")
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
