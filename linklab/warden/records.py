# SPDX-License-Identifier: BSD-3-Clause
"""Records of the networks that the host engine has made, and the machine's settings as they were before.

`/run/linklab/host/ID.json`, one a network, locked by its warden for as long as that lives; `settings.json`, what each
changed setting was and what it was set to, while any network is there. What a record names can be removed when its
warden has gone; nothing is found by a name pattern. A record of an earlier boot names nothing that is still there.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from linklab.warden import handover

FOLDER = Path("/run/linklab/host")
SYSCTL = Path("/proc/sys")
MODULES = Path("/sys/module")
GONE_S = 5.0
LEAST = {
    "fs/file-max": 10000,
    "net/core/rmem_max": 16777216,
    "net/core/wmem_max": 16777216,
    "net/core/netdev_max_backlog": 5000,
    "net/ipv4/neigh/default/gc_thresh1": 4096,
    "net/ipv4/neigh/default/gc_thresh2": 8192,
    "net/ipv4/neigh/default/gc_thresh3": 16384,
    "kernel/pty/max": 20000,
}
"""What Mininet asks of the machine (mininet.util, fixLimits): settings that belong to no network namespace."""
ALLOWED, AVAILABLE = "net/ipv4/tcp_allowed_congestion_control", "net/ipv4/tcp_available_congestion_control"


PARAMETERS = "tcp_*/parameters/*"
"""Of kernel modules, which a lab may set (CUBIC's HyStart) and which no namespace keeps to itself."""


class Records:
    """The folder of records; root alone writes it, everybody may read it."""

    def __init__(self, folder: Path = FOLDER, sysctl: Path = SYSCTL, modules: Path = MODULES) -> None:
        self.folder, self.sysctl, self.modules = folder, sysctl, modules

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """While nobody else begins, ends or cleans; the folder goes when nothing is in it any more."""
        path = self.folder / "lock"
        lock = self._lock(path)
        try:
            yield
            self._remove_if_empty(path)
        finally:
            os.close(lock)

    def _lock(self, path: Path) -> int:
        """The lock file, open and locked; nobody else may open it, so nobody else can keep it locked."""
        while True:
            self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            try:
                lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            except FileNotFoundError:  # whoever was before us has removed the folder
                continue
            fcntl.flock(lock, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):  # or the lock with it
                if os.path.samestat(path.stat(), os.fstat(lock)):
                    return lock
            os.close(lock)

    def _remove_if_empty(self, lock: Path) -> None:
        if list(self.folder.iterdir()) == [lock]:
            lock.unlink()
            with contextlib.suppress(OSError):  # the parent is not ours alone
                self.folder.rmdir()
                self.folder.parent.rmdir()

    def begin(self, uid: int, work: str, gid: int = 0) -> Record:
        """A record of a network that is about to be made; the machine's settings are made wide enough for it."""
        with self.alone():
            self._clean()
            while (path := self.folder / f"{secrets.token_hex(3)}.json").exists():
                pass
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            fcntl.flock(file, fcntl.LOCK_EX)
            os.fchmod(file, 0o644)
            record = Record(path.stem, path, file)
            warden = {"warden": os.getpid(), "warden_start": start_of(os.getpid())}
            record.write(id=path.stem, uid=uid, gid=gid, work=work, boot=boot_id(), began=int(time.time()), **warden)
            self._widen()
        return record

    def end(self, record: Record) -> None:
        """Its network is no more."""
        handover.hand_over(record.data)  # may take long; until the record has gone it can be done again
        with self.alone():
            record.path.unlink(missing_ok=True)
            os.close(record.file)
            self._restore_if_last()

    def clean(self) -> list[str]:
        """Remove what networks without a warden left, and put settings back if no network is there; what was done."""
        if not self.folder.exists():
            return []
        with self.alone():
            return self._clean()

    def left(self) -> list[str]:
        """Ids of records that nobody holds; to be seen by everybody."""
        return [path.stem for path in self._paths() if not _held(path)]

    def settings_left(self) -> bool:
        """Whether settings are changed and no network is there."""
        return (self.folder / "settings.json").exists() and all(not _held(path) for path in self._paths())

    def _paths(self) -> list[Path]:
        return [path for path in sorted(self.folder.glob("*.json")) if path.name != "settings.json"]

    def _clean(self) -> list[str]:
        done = []
        for path in self._paths():
            if _held(path):
                continue
            data = _read(path)
            if data.get("boot") == boot_id() and data.get("first"):
                first, start = int(data["first"]), data.get("first_start")
                if start is not None and start_of(first) == start:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(first, signal.SIGKILL)  # every process of its space ends with it
                    _wait_until_gone(first, start)
            handover.hand_over(data)
            path.unlink(missing_ok=True)
            done.append(f"network {path.stem} of the host engine")
        return done + self._restore_if_last()

    # --- settings of the whole machine

    def _widen(self) -> None:
        """Set what Mininet and the labs need; what was there before is written down first."""
        wanted = {name: str(least) for name, least in LEAST.items() if _number(self._get(name)) < least}
        available = self._get(AVAILABLE)
        if available and set(available.split()) - set(self._get(ALLOWED).split()):
            wanted[ALLOWED] = available  # in a network namespace only these may be chosen
        path = self.folder / "settings.json"
        known = _read(path)
        for name, value in wanted.items():
            if before := self._get(name):
                ours = name in known and known[name][1].split() == before.split()
                known[name] = [known[name][0] if ours else before, value]
        for parameter in self.modules.glob(PARAMETERS):
            name = str(parameter.relative_to(self.modules.parent))
            if name not in known and (before := self._get(name)):
                known[name] = [before, None]
        if not known:
            return
        _replace(path, known)
        for name, value in wanted.items():
            self._set(name, value)  # a container may not; what needs it says so itself

    def _restore_if_last(self) -> list[str]:
        if self._paths():
            return []
        path, done, refused = self.folder / "settings.json", [], {}
        for name, (before, ours) in reversed(_read(path).items()):
            now = self._get(name)
            # what somebody else has set since is theirs; of a module's parameter nobody knows who did
            if now and now != before and (ours is None or now.split() == ours.split()):
                if self._set(name, before):
                    done.append(f"setting {name.replace('/', '.')}, {before} again")
                else:
                    refused[name] = [before, ours]
        if refused:
            _replace(path, refused)
        else:
            path.unlink(missing_ok=True)
        return done

    def _path(self, name: str) -> Path:
        """Of a setting: below /proc/sys, or `module/…` below /sys."""
        return (self.modules.parent if name.startswith("module/") else self.sysctl) / name

    def _get(self, name: str) -> str:
        try:
            return self._path(name).read_text().strip()
        except OSError:
            return ""

    def _set(self, name: str, value: str) -> bool:
        """Whether it has the value now."""
        with contextlib.suppress(OSError):
            self._path(name).write_text(value + "\n")
        return self._get(name).split() == value.split()


class Record:
    """One network's record, locked."""

    def __init__(self, name: str, path: Path, file: int) -> None:
        self.id, self.path, self.file = name, path, file
        self.data: dict[str, Any] = {}

    def write(self, **more: Any) -> None:
        """Add to it. In place, since the lock is on this file."""
        self.data.update(more)
        text = json.dumps(self.data).encode() + b"\n"
        os.ftruncate(self.file, 0)
        os.pwrite(self.file, text, 0)


def boot_id() -> str:
    """Another one after every boot (random(4))."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def start_of(pid: int) -> int | None:
    """When a process began, in ticks since boot (proc(5), stat, field 22): with its number it names it for good.

    None for one that has ended, also where nobody waits for it, as in a container without an init.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if fields[0] in "ZX" else int(fields[19])
    except (OSError, ValueError, IndexError):
        return None


def _wait_until_gone(pid: int, start: int) -> None:
    deadline = time.monotonic() + GONE_S
    while start_of(pid) == start and time.monotonic() < deadline:
        time.sleep(0.02)


def _held(path: Path) -> bool:
    """Whether the warden of this record lives: its lock (flock(2)) is held, and by nobody else who may read it."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        data = _read(path)
        # else it is just being written, or an earlier Linklab's
        known = {"boot", "warden", "warden_start"} <= data.keys()
        return not known or (data["boot"] == boot_id() and start_of(data["warden"]) == data["warden_start"])
    finally:
        os.close(file)
    return False


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text())
    except (OSError, ValueError):  # a machine may have stopped while it was written
        return {}
    return found


def _replace(path: Path, data: dict[str, Any]) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(json.dumps(data) + "\n")
    part.replace(path)


def _number(text: str) -> int:
    found = re.match(r"\d+", text)
    return int(found.group()) if found else 2**62
