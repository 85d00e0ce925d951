# SPDX-License-Identifier: BSD-3-Clause
"""The program at one interface: put there with fq and clsact, its links set, read and removed, and taken away again.

Works in the network namespace that this thread is in, as root. Nothing is pinned: program and maps live as long as the
classifier, and are found again by its number. What goes wrong raises `StageError`, one sentence, and leaves nothing.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import socket
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from linklab.linux import bpf, edt_object, edt_room, elf
from linklab.linux.edt_maps import ABOUT, DISTRIBUTIONS, ID, LINK, NUMBER, STATE, VERSION, table
from linklab.linux.edt_rows import EdtRows, Wanted
from linklab.linux.edt_words import LinkSpec
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
PRIORITY = 0xED7
FQ_HANDLE = 0x0ED70000
"""`tc qdisc show` calls it ed7:."""
LEAST_HELD = 10_000
"""fq's own limit, for what belongs to no link."""
MOST_HELD = 2**31 - 1
ENTRIES = 4096
"""How many links an interface has room for at first, unless more are loaded at once."""
MOST_ENTRIES = 2**20
"""More are a mistake: their maps take 350 MiB of the kernel's memory."""
LINKS, STATES, TABLES, ABOUT_MAP = "edt_links", "edt_states", "edt_tables", "edt_about"
ZERO = NUMBER.pack(0)


There: TypeAlias = dict[bytes, tuple[int, int]]
"""Links that are there: key → number, packets that fq may have to hold."""
ONE_BY_ONE = 64
"""Up to so many links are looked up one by one."""


class StageError(Exception):
    """What could not be done at an interface, and why, in one sentence."""


@dataclass(frozen=True)
class StagedLink:
    """A link as the kernel has it: keys, what it does, number, and state, which is empty before its first packet."""

    keys: tuple[bytes, ...]
    spec: LinkSpec
    number: int
    state: Mapping[str, int]


class EdtStage:
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

    def __enter__(self) -> EdtStage:
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
            raise self._failure(error) from error
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
                raise self._failure(error) from error

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
            self.control.set_root(self.index, "fq", FQ_HANDLE, self._fq(LEAST_HELD), new=True)
            steps.callback(self.control.remove_root, self.index)
            if not any(one.kind == "clsact" for one in self.control.disciplines(self.index)):
                self.control.add_clsact(self.index)
                steps.callback(self.control.remove_clsact, self.index)
            self.control.add_classifier(self.index, NAME, program, PRIORITY)
            steps.pop_all()

    @staticmethod
    def _fq(held: int) -> dict[int, bytes]:
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
            raise self._failure(error) from error
        for file in self.files.values():
            os.close(file)
        self.files = {}

    def _grow(self, more: int) -> None:
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

    # --- links

    def about(self) -> dict[str, int]:
        """What is known of the whole interface."""
        found = bpf.lookup(self.files[ABOUT_MAP], ZERO, ABOUT.size)
        assert found is not None  # an array has all its elements
        return ABOUT.unpack(found)

    def get(self, keys: Iterable[bytes]) -> StagedLink | None:
        """The link that has the first of these keys; None if none has one."""
        for key in keys:
            if (found := bpf.lookup(self.files[LINKS], key, LINK.size)) is not None:
                return self._link((key,), LINK.unpack(found))
        return None

    def _link(self, keys: tuple[bytes, ...], values: dict[str, int]) -> StagedLink:
        state = bpf.lookup(self.files[STATES], ID.pack(values["id"]), STATE.size)
        return StagedLink(keys, LinkSpec.of_values(values), values["id"], STATE.unpack(state) if state else {})

    def set_link(self, keys: Sequence[bytes], spec: LinkSpec) -> None:
        """Set one link under all its keys; what it has counted stays, and its line goes on.

        Raises:
            StageError: there is no room for it.
        """
        self.set_links([(keys, spec)])

    def set_links(self, links: Sequence[Wanted]) -> None:
        """As `set_rows`."""
        self.set_rows(EdtRows.of(links))

    def set_rows(self, rows: EdtRows) -> None:
        """Set many by one call; a link under a key that is there is changed. Where the maps are full, they grow.

        Raises:
            StageError: there is no memory for all of them; none of the new ones is left.
        """
        about = self.about()
        there = self._there(rows, about)
        changed = self._number(rows, there, about)
        self._fill_tables(rows.distributions)
        self._let_hold(changed["held_pkts"])
        try:
            bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(changed))
            self._write(rows, there)
        except (OSError, StageError) as error:
            bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(about))
            raise (error if isinstance(error, StageError) else self._failure(error)) from error

    def _number(self, rows: EdtRows, there: There, about: Mapping[str, int]) -> dict[str, int]:
        """Give each link the number that it has, or the next one; what is known of the interface afterwards."""
        ids, number, held = array("Q"), about["next_id"], about["held_pkts"] + sum(rows.held)
        if not there and len(rows) == rows.key_count:
            ids.extend(range(number, number + len(rows)))
            number += len(rows)
        else:
            first = 0
            for count in rows.counts:
                own = (there.get(rows.key(first + each)) for each in range(count))
                before = next((each for each in own if each is not None), None)
                if before is None:
                    ids.extend([number] * count)
                    number += 1
                else:
                    ids.extend([before[0]] * count)
                    held -= before[1]
                first += count
        rows.give_ids(ids)
        return {**about, "next_id": number, "held_pkts": max(0, held)}

    def _write(self, rows: EdtRows, there: There) -> None:
        """Put them into the map, which may have to grow for it; on failure those are removed that were not there."""
        try:
            self._update(rows, there)
        except OSError as error:
            if error.errno != errno.E2BIG:
                raise
            self._grow(sum(key not in there for key in rows.all_keys()))
            self._update(rows, there)

    def _update(self, rows: EdtRows, there: There) -> None:
        try:
            bpf.update_all(self.files[LINKS], rows.keys, rows.values, rows.key_count)
        except bpf.PartlyError as error:
            new = [key for key in rows.all_keys()[: error.done] if key not in there]
            bpf.delete_all(self.files[LINKS], b"".join(new), len(new))
            raise

    def _there(self, rows: EdtRows, about: Mapping[str, int]) -> There:
        """Number and packets held of those that are there, by each of their keys."""
        if about["next_id"] == 1:
            return {}
        if len(rows) > ONE_BY_ONE:
            found = bpf.elements(self.files[LINKS])
        else:
            asked = ((key, bpf.lookup(self.files[LINKS], key, LINK.size)) for key in rows.all_keys())
            found = ((key, value) for key, value in asked if value is not None)
        held: dict[bytes, int] = {}
        there = {}
        for key, value in found:
            (number,), body = ID.unpack_from(value), value[ID.size :]
            if body not in held:
                held[body] = LinkSpec.of_values(LINK.unpack(value)).held_pkts
            there[key] = number, held[body]
        return there

    def _fill_tables(self, distributions: set[str]) -> None:
        for name in sorted(distributions - {"uniform"}):
            try:
                bpf.update(self.files[TABLES], NUMBER.pack(DISTRIBUTIONS.index(name) - 1), table(name))
            except (FileNotFoundError, ValueError) as error:
                raise StageError(f"the distribution {name}: {error}") from error

    def _let_hold(self, held: int) -> None:
        """Raise fq's limits to what all links may have on their way; they are never lowered, which could drop."""
        wanted = min(MOST_HELD, LEAST_HELD + held)
        there = next((one for one in self.control.disciplines(self.index) if one.handle == FQ_HANDLE), None)
        if there is None:
            raise StageError(
                f"{self.interface} has lost its fq, so no packet waits there; linklab link clear, then set the links"
            )
        if wanted > int(NUMBER.unpack(there.options[TCA_FQ_PLIMIT])[0]):
            self.control.set_root(self.index, "fq", FQ_HANDLE, self._fq(wanted), new=False)

    def delete(self, keys: Sequence[bytes]) -> bool:
        """Remove a link with all its keys; whether there was one. Packets on their way go on."""
        link = self.get(keys)
        if link is None:
            return False
        for key in keys:
            bpf.delete(self.files[LINKS], key)
        bpf.delete(self.files[STATES], ID.pack(link.number))
        about = self.about()
        about["held_pkts"] = max(0, about["held_pkts"] - link.spec.held_pkts)
        bpf.update(self.files[ABOUT_MAP], ZERO, ABOUT.pack(about))
        return True

    def links(self) -> Iterator[StagedLink]:
        """All links, in the order in which they were set."""
        keys: dict[int, list[bytes]] = {}
        values: dict[int, bytes] = {}
        for key, value in bpf.elements(self.files[LINKS]):
            (number,) = ID.unpack_from(value)
            keys.setdefault(number, []).append(key)
            values[number] = value
        states = {ID.unpack(key)[0]: value for key, value in bpf.elements(self.files[STATES])}
        for number in sorted(keys):
            state = STATE.unpack(states[number]) if number in states else {}
            spec = LinkSpec.of_values(LINK.unpack(values[number]))
            yield StagedLink(tuple(sorted(keys[number])), spec, number, state)

    def count(self) -> int:
        """How many links there are."""
        return len({value[: ID.size] for _, value in bpf.elements(self.files[LINKS])})

    def _failure(self, error: OSError) -> StageError:
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
