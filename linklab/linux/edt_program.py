# SPDX-License-Identifier: BSD-3-Clause
"""The program of links by departure time at one interface: put there with fq and clsact, grown, and taken away again.

Works in the network namespace that this thread is in, as root. Nothing is pinned: program and maps live as long as the
classifier, and are found again by its number. What goes wrong raises `StageError`, one sentence, and leaves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from linklab.linux import bpf, edt_object, edt_room, elf
from linklab.linux.edt_maps import ABOUT, FQ_HANDLE, NUMBER, PRIORITY, STATE, VERSION
from linklab.linux.tc_attributes import (
    TCA_FQ_FLOW_PLIMIT,
    TCA_FQ_HORIZON,
    TCA_FQ_HORIZON_DROP,
    TCA_FQ_PLIMIT,
    TCA_FQ_RATE_ENABLE,
    TCA_FQ_TIMER_SLACK,
)
from linklab.linux.traffic_control import Classifier, TrafficControl

NAME = "linklab-edt"
LEAST_HELD = 10_000
"""fq's own limit, for what belongs to no link."""
MOST_HELD = 2**31 - 1
ENTRIES = 4096
"""How many links an interface has room for at first, unless more are loaded at once."""
MOST_ENTRIES = 2**20
"""More are a mistake: their maps take 350 MiB of the kernel's memory."""
LINKS, STATES, TABLES, ABOUT_MAP = "edt_links", "edt_states", "edt_tables", "edt_about"
ZERO = NUMBER.pack(0)


Opened = TypeVar("Opened", bound="EdtProgram")


class StageError(Exception):
    """What could not be done at an interface, and why, in one sentence."""


class EdtProgram:
    """The program at an interface; use as a context, which holds the maps open and keeps others from changing them."""

    def __init__(self, interface: str) -> None:
        self.interface = interface
        self.files: dict[str, int] = {}
        self.lock = -1
        try:
            self.index = socket.if_nametoindex(interface)
        except OSError as error:
            raise StageError(f"there is no interface {interface} here") from error
        self.control = TrafficControl()

    def __enter__(self: Opened) -> Opened:
        """Open the maps of the program that stands there, if there is one."""
        # an open namespace is the same file for all who are in it, whatever folders they see
        self.lock = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self.lock, fcntl.LOCK_EX)
        try:
            if (classifier := self.classifier()) is not None:
                program = bpf.program_by_id(classifier.program)
                try:
                    self.files = bpf.maps_of(program)
                finally:
                    os.close(program)
                self._check_version()
        except OSError as error:
            self.__exit__()
            raise self.failure(error) from error
        except StageError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of them."""
        for file in self.files.values():
            os.close(file)
        self.files = {}
        if self.lock >= 0:
            os.close(self.lock)
            self.lock = -1
        self.control.close()

    @property
    def stands(self) -> bool:
        """Whether the program is there."""
        return bool(self.files)

    def classifier(self) -> Classifier | None:
        """The classifier that carries our program."""
        return next((one for one in self.control.classifiers(self.index) if one.name == NAME), None)

    def _check_version(self) -> None:
        if not {LINKS, STATES, TABLES, ABOUT_MAP} <= self.files.keys() or self.about()["version"] != VERSION:
            raise StageError(
                f"{self.interface} has a program of another version of Linklab; remove it with tc filter del dev "
                f"{self.interface} egress"
            )

    # --- putting it there and taking it away

    def put(self, entries: int = ENTRIES) -> None:
        """Load the program and have it look at all that leaves; entries: how many links there may be.

        Raises:
            StageError: the kernel lacks something, refuses the program, or the interface is used otherwise.
        """
        if entries > MOST_ENTRIES:
            raise StageError(f"{self.interface} can have {MOST_ENTRIES} links at most, not {entries}")
        with contextlib.ExitStack() as undo:
            try:
                self._check_root()
                program = self._load(entries)
                undo.callback(os.close, program)
                self._hang(program, undo)
            except bpf.ProgramRefusedError as error:
                raise StageError(
                    f"{self.interface}: the kernel's verifier refuses the program: {error.last_words}"
                ) from error
            except OSError as error:
                raise self.failure(error) from error

    @contextlib.contextmanager
    def standing(self, entries: int = ENTRIES) -> Iterator[None]:
        """Within this block the program is there; if the block fails, one that was put for it is taken away."""
        fresh = not self.stands
        if fresh:
            self.put(entries)
        try:
            yield
        except BaseException:
            if fresh:
                self.remove()
            raise

    def _check_root(self) -> None:
        """StageError if somebody has put a discipline of their own there."""
        root = self.control.disciplines(self.index)
        for one in root:
            if one.handle and one.parent == 0xFFFFFFFF:
                raise StageError(
                    f"{self.interface} has {one.kind} as its root discipline, where edt needs fq; remove it with "
                    f"tc qdisc del dev {self.interface} root, or choose another place with at"
                )
            if one.kind == "ingress":
                raise StageError(
                    f"{self.interface} has an ingress discipline, where edt needs clsact; remove it with "
                    f"tc qdisc del dev {self.interface} ingress, or choose another place with at"
                )

    def _load(self, entries: int) -> int:
        """Maps and program; on failure neither is left."""
        files, program = self._made(entries, {})
        bpf.update(files[ABOUT_MAP], ZERO, ABOUT.pack({"version": VERSION, "next_id": 1}))
        self.files = files
        return program

    def _made(self, entries: int, kept: Mapping[str, int]) -> tuple[dict[str, int], int]:
        """Maps with room for so many links, and a program that has them, all open; kept: maps that it shares."""
        thing, files = self._object(), dict(kept)
        try:
            types = bpf.lock_types(STATE.size)
            try:
                for name in thing.maps.keys() - kept.keys():
                    asked = replace(thing.maps[name], entries=entries) if name in (LINKS, STATES) else thing.maps[name]
                    files[name] = bpf.create_map(name, asked, types if name == STATES else None)
            finally:
                os.close(types)
            return files, bpf.load_program("edt", thing.linked(files), thing.license)
        except BaseException:
            edt_room.close(files, kept)
            raise

    def _object(self) -> elf.BpfObject:
        path = edt_object.find()
        try:
            return elf.read(path.read_bytes())
        except FileNotFoundError as error:
            raise StageError(
                "the program for links by departure time has not been compiled here; install clang (or gcc-bpf), "
                "then start the network again"
            ) from error
        except (OSError, elf.ObjectError) as error:
            raise StageError(f"{path}: {error}; remove it and start the network again") from error

    def _hang(self, program: int, undo: contextlib.ExitStack) -> None:
        """fq, clsact and the classifier; what was added is removed if a later step fails."""
        with contextlib.ExitStack() as steps:
            self.control.set_root(self.index, "fq", FQ_HANDLE, self.fq(LEAST_HELD), new=True)
            steps.callback(self.control.remove_root, self.index)
            if not any(one.kind == "clsact" for one in self.control.disciplines(self.index)):
                self.control.add_clsact(self.index)
                steps.callback(self.control.remove_clsact, self.index)
            self.control.add_classifier(self.index, NAME, program, PRIORITY)
            steps.pop_all()

    @staticmethod
    def fq(held: int) -> dict[int, bytes]:
        """fq as a clock alone: it drops nothing, paces nothing, and is as punctual as the kernel's timers."""
        return {
            TCA_FQ_PLIMIT: NUMBER.pack(held),
            TCA_FQ_FLOW_PLIMIT: NUMBER.pack(held),
            TCA_FQ_RATE_ENABLE: NUMBER.pack(0),
            TCA_FQ_HORIZON: NUMBER.pack(2**32 - 1),
            TCA_FQ_HORIZON_DROP: b"\0",
            TCA_FQ_TIMER_SLACK: NUMBER.pack(0),
        }

    def remove(self) -> None:
        """Take everything away; packets that wait are lost."""
        try:
            if (classifier := self.classifier()) is not None:
                self.control.remove_classifier(self.index, classifier)
            there = self.control.disciplines(self.index)
            if any(one.kind == "clsact" for one in there) and not self.control.has_filters(self.index):
                self.control.remove_clsact(self.index)
            if any(one.kind == "fq" and one.handle == FQ_HANDLE for one in there):
                self.control.remove_root(self.index)
        except OSError as error:
            raise self.failure(error) from error
        for file in self.files.values():
            os.close(file)
        self.files = {}

    def grow(self, more: int) -> None:
        """Make room for so many links more, and for the next ones, while packets pass.

        Raises:
            StageError: there are too many, or no memory for them; everything is as before.
        """
        old = self.files
        room = bpf.shape_of(old[LINKS]).entries
        if room + more > MOST_ENTRIES:
            raise StageError(f"{self.interface} can have {MOST_ENTRIES} links at most, and {room} are set")
        with contextlib.ExitStack() as undo:
            try:
                kept = {name: old[name] for name in (TABLES, ABOUT_MAP)}
                files, program = self._made(min(MOST_ENTRIES, max(2 * room, room + more)), kept)
                undo.callback(os.close, program)
                failed = undo.enter_context(contextlib.ExitStack())
                failed.callback(edt_room.close, files, kept)
                edt_room.copy(old[LINKS], files[LINKS])
                copied = edt_room.copy(old[STATES], files[STATES])
                self.control.add_classifier(self.index, NAME, program, PRIORITY, new=False)
                failed.pop_all()
            except OSError as error:
                raise StageError(
                    f"{self.interface} has room for {room} links and not for {more} more: {error.strerror}"
                ) from error
        self.files = files
        try:
            edt_room.settle(old[STATES], files[STATES], copied)
        finally:
            edt_room.close(old, files)

    def about(self) -> dict[str, int]:
        """What is known of the whole interface."""
        found = bpf.lookup(self.files[ABOUT_MAP], ZERO, ABOUT.size)
        assert found is not None  # an array has all its elements
        return ABOUT.unpack(found)

    def failure(self, error: OSError) -> StageError:
        """One sentence for what the kernel refuses."""
        missing = {"fq": "fq (sch_fq)", "clsact": "clsact (sch_ingress)", "classifier": "classifiers of eBPF (cls_bpf)"}
        if error.errno == errno.ENOENT:
            for word, what in missing.items():
                if word in str(error.strerror):
                    return StageError(
                        f"{self.interface}: this kernel has no {what}, which links by departure time need"
                    )
        if error.errno in (errno.EPERM, errno.EACCES):
            return StageError(f"{self.interface}: only root may do this: {error.strerror}")
        if error.errno == errno.ENOSYS:
            return StageError(f"{self.interface}: this kernel has no eBPF: {error.strerror}")
        return StageError(f"{self.interface}: {error.strerror}")
