# SPDX-License-Identifier: BSD-3-Clause
"""A disk image → a running QEMU with a shell on its serial line and pictures of its screen; used by `vm/trial.py`.

The image is opened as a snapshot: what the machine writes is thrown away. No network leads out of it.
QMP: QEMU's docs/interop/qmp-spec.rst and the command `screendump`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import shutil
import socket
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pexpect

from linklab.errors import MissingError

QEMU = {"amd64": "qemu-system-x86_64", "arm64": "qemu-system-aarch64"}
UEFI = {"amd64": Path("/usr/share/ovmf/OVMF.fd"), "arm64": Path("/usr/share/qemu-efi-aarch64/QEMU_EFI.fd")}
HARDWARE = {
    "amd64": ["-nic", "user,restrict=on,model=e1000", "-vga", "std"],
    "arm64": [
        *("-M", "virt", "-nic", "user,restrict=on,model=virtio-net-pci", "-device", "virtio-gpu-pci"),
        *("-device", "qemu-xhci", "-device", "usb-kbd", "-device", "usb-tablet"),
    ],
}
EMULATED = {"amd64": "max", "arm64": "cortex-a72"}
"""The processor without KVM; arm64's "max" signs pointers, which takes an emulator long."""
KVM = Path("/dev/kvm")
USER, PASSWORD = "admin", "password"


class TrialError(Exception):
    """What the machine did not do, in one line."""


class Machine:
    """A running machine; `with Machine(...) as machine` ends it on every way out."""

    def __init__(self, image: Path, log: Path, *, arch: str = "amd64", uefi: bool = False, kvm: bool = False) -> None:
        """Start it.

        Args:
            image: the disk, as qemu-img names its formats by the file's ending: qcow2 or vmdk.
            log: gets all that the serial line says.
            arch: amd64 or arm64, as Debian names them.
            uefi: start by UEFI in place of the BIOS, which arm64 does not have.
            kvm: use the processor itself, not an emulated one.

        Raises:
            MissingError: QEMU or the firmware is not installed, or KVM cannot be used.
        """
        if kvm and not os.access(KVM, os.R_OK | os.W_OK):
            raise MissingError(f"{KVM} cannot be used here; leave out --kvm")
        uefi = uefi or arch == "arm64"
        if shutil.which(QEMU[arch]) is None or (uefi and not UEFI[arch].is_file()):
            stage = "vm" if arch == "amd64" else f"vm-{arch}"
            raise MissingError(f"{QEMU[arch]} or its firmware is missing; run: tools/setup.sh {stage}")
        self.arch = arch
        self._scratch = tempfile.TemporaryDirectory(prefix="linklab-vm-")
        self._qmp_path = Path(self._scratch.name) / "qmp"
        drive = f"file={image},format={image.suffix[1:]},snapshot=on,if=none,id=disk"
        controller = ["virtio-blk-pci,drive=disk"] if image.suffix == ".qcow2" else ["ich9-ahci", "ide-hd,drive=disk"]
        processor = "max" if kvm else EMULATED[arch]
        command = ["-accel", "kvm" if kvm else "tcg,thread=multi", "-cpu", processor, "-smp", "2", "-m", "3G"]
        command += ["-drive", drive]
        for device in controller:
            command += ["-device", device]
        command += [*HARDWARE[arch], "-display", "none", "-no-reboot"]
        command += ["-serial", "stdio", "-monitor", "none", "-qmp", f"unix:{self._qmp_path},server=on,wait=off"]
        command += ["-bios", str(UEFI[arch])] if uefi else []
        self.slower = 1 if kvm else 20
        """By what deadlines are multiplied: software emulation takes about that long."""
        self._log = log.open("w", encoding="utf-8", errors="replace", buffering=1)
        # setpriv(1): it ends with us, however we end
        command = ["--pdeathsig", "KILL", QEMU[arch], *command]
        self.line = pexpect.spawn("setpriv", command, encoding="utf-8", codec_errors="replace", timeout=60, echo=False)
        self.line.logfile_read = self._log

    def __enter__(self) -> Machine:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.line.close(force=True)
        self._log.close()
        self._scratch.cleanup()

    def _expect(self, pattern: str, within_s: float, what: str) -> str:
        """What came before the pattern; TrialError naming `what` if it does not come."""
        try:
            self.line.expect(pattern, timeout=within_s * self.slower)
        except pexpect.TIMEOUT as error:
            raise TrialError(f"{what}: not within {within_s * self.slower:.0f} s") from error
        except pexpect.EOF as error:
            raise TrialError(f"{what}: the machine ended: {str(self.line.before)[-500:]}") from error
        return str(self.line.before)

    def log_in(self) -> None:
        """Wait for the prompt of the serial line and log in as anybody could."""
        self._expect("login: ", 120, "the prompt to log in")
        self.line.sendline(USER)
        self._expect("[Pp]assword: ", 30, "the question for the password")
        self.line.sendline(PASSWORD)
        self._expect(r"\$ ", 30, "the shell")
        # no echo, no colours, no line that is wrapped at 80 columns
        self.line.sendline(
            "bind 'set enable-bracketed-paste off'; stty -echo cols 250; TERM=dumb; PS1=; export DISPLAY=:0"
        )
        self.run("true")

    def run(self, command: str, within_s: float = 30) -> tuple[int, str]:
        """Run a command line in the shell; its exit code and what it said.

        Raises:
            TrialError: it did not end in time (times 20 where the processor is emulated).
        """
        mark = f"{time.monotonic_ns():x}"
        self.line.sendline(f"{command}; echo 'the end of '{mark}: $?")  # sudo throws away what is typed ahead
        said = self._expect(rf"the end of {mark}: (\d+)\s", within_s, command)
        code = int(self.line.match.group(1))
        return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said).replace("\r", "").strip()

    def until(self, command: str, within_s: float, what: str) -> str:
        """Repeat a command until it succeeds; its output."""
        deadline = time.monotonic() + within_s * self.slower
        while True:
            code, said = self.run(command)
            if code == 0:
                return said
            if time.monotonic() > deadline:
                raise TrialError(f"{what}: not within {within_s * self.slower:.0f} s; {command} says: {said[-300:]}")
            time.sleep(min(self.slower, 5))  # looking costs an emulated processor much of what it can do

    def window(self, title: str, within_s: float) -> None:
        """Wait for a window whose title has these words on the machine's screen."""
        look = f"xwininfo -root -tree | grep -F {shlex.quote(title)}"
        self.until(look, within_s, f'a window "{title}"')

    def picture(self, png: Path) -> None:
        """Write what the screen shows."""
        with contextlib.closing(socket.socket(socket.AF_UNIX)) as client:
            client.settimeout(60)
            client.connect(str(self._qmp_path))
            with client.makefile("rw") as talk:
                json.loads(talk.readline())
                _ask(talk, "qmp_capabilities")
                _ask(talk, "screendump", filename=str(png.resolve()), format="png")

    def power_off(self) -> None:
        """Shut it down as its user does; TrialError if it goes on."""
        self.line.sendline("sudo systemctl poweroff")
        try:
            self.line.expect(pexpect.EOF, timeout=90 * self.slower)
        except pexpect.TIMEOUT as error:
            raise TrialError("it does not shut down") from error


def _ask(talk: Any, command: str, **arguments: str) -> None:
    talk.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
    talk.flush()
    while True:
        answer = json.loads(talk.readline())
        if "error" in answer:
            raise TrialError(f"QEMU refuses {command}: {answer['error']['desc']}")
        if "return" in answer:
            return
