# SPDX-License-Identifier: BSD-3-Clause
"""Measure a class: so many students log in to a real JupyterHub at once, start, open a lab, and work.

    PYTHONPATH=. python tools/class_trial.py [--students 20] [--lab 14] [--folder DIR]

For docs/class-server.md. Needs what tests/hub needs. Prints one line for each moment: seconds until pages come, memory
by proportional set size (PSS: a shared page counts in parts), and how busy the processors are.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/hub"))

from hub_students import HubStudent, RunningHub  # noqa: E402 - found by the line above

T = TypeVar("T")
MIB = 2**20
READY_S = 600
LOOK_S = 20.0
WORK = ("h1", "ping -i 0.2 10.0.0.2", b"bytes from")
"""Terminal, the line that everybody types there, and what it shows then."""


def processes() -> dict[int, int]:
    """Every process and its parent."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                text = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found[int(entry.name)] = int(text[1])
    return found


def below(top: int) -> list[int]:
    """A process and all that it has started."""
    parents, found, added = processes(), {top}, True
    while added:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        added = bool(more)
    return sorted(found)


def pss_bytes(pids: list[int]) -> int:
    """Memory of processes; a page that several share counts once in all."""
    total = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += next((int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")), 0)
    return total


def ticks(pids: list[int]) -> int:
    """Processor time of processes."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += int(fields[11]) + int(fields[12])
    return total


def busy_cores(top: int) -> float:
    """How many processors are busy with a process and what it has started, over LOOK_S."""
    pids = below(top)
    before, at_s = ticks(pids), time.monotonic()
    time.sleep(LOOK_S)
    return (ticks(pids) - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - at_s)


def at_once(what: str, students: list[HubStudent], act: Callable[[HubStudent], T]) -> list[T]:
    """Have all students do something at the same time, and print how long it took them."""
    taken: list[float] = []

    def timed(student: HubStudent) -> T:
        began_s = time.monotonic()
        answer = act(student)
        taken.append(time.monotonic() - began_s)
        return answer

    with ThreadPoolExecutor(len(students)) as threads:
        answers = list(threads.map(timed, students))
    print(f"{what:36} median {statistics.median(taken):6.1f} s, slowest {max(taken):6.1f} s", flush=True)
    return answers


def report(when: str, hub: RunningHub, students: int, empty: int) -> None:
    """Print memory and processors now."""
    total = pss_bytes(below(hub.process.pid))
    each = (total - empty) / students / MIB
    cores = busy_cores(hub.process.pid)
    print(
        f"{when:36} {total / MIB:6.0f} MiB in all, {each:4.0f} MiB a student; {cores:4.2f} processors busy", flush=True
    )


def main() -> None:
    """Do it once."""
    parser = argparse.ArgumentParser(description="Measure a class on a real JupyterHub.")
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--lab", type=int, default=14)
    parser.add_argument("--folder", type=Path, default=None, help="for the Hub (default: a temporary one)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder, prefix="class-") as folder:
        hub = RunningHub(Path(folder))
        try:
            trial(hub, args.students, args.lab)
        finally:
            hub.close()


def trial(hub: RunningHub, count: int, lab: int) -> None:
    """All moments of one class."""
    empty = pss_bytes(below(hub.process.pid))
    print(f"{'Hub, proxy, and services':36} {empty / MIB:6.0f} MiB", flush=True)
    students = [HubStudent(hub, f"student{number:02}") for number in range(1, count + 1)]

    def arrive(student: HubStudent) -> None:
        assert student.log_in()
        student.start()

    at_once("from the log-in to the list of labs", students, arrive)
    report("everybody at the list of labs", hub, count, empty)
    at_once(f"page of Lab {lab}", students, lambda student: student.open_lab(lab))
    events = f"lab/{lab}/events"

    def wait(student: HubStudent) -> str:
        return str(student.events(events, lambda event: event["kind"] in ("ready", "ended"), READY_S)[-1]["kind"])

    assert set(at_once("its network runs, after the page", students, wait)) == {"ready"}
    ended = threading.Event()
    for student in students:  # a page that is open
        threading.Thread(target=student.events, args=(events, lambda _: ended.is_set(), 60), daemon=True).start()
    report("networks at rest, pages open", hub, count, empty)

    at_once("first answer to a ping, from a click", students, lambda student: student.type_into(lab, *WORK))
    report("a ping in every network", hub, count, empty)
    speeds = at_once("their clocks, read twice", students, lambda student: pace(student, events))
    print(f"seconds of network time in a second: median {statistics.median(speeds):.2f}, least {min(speeds):.2f}")
    ended.set()


def pace(student: HubStudent, events: str) -> float:
    """How fast the clock of a student's network goes, over LOOK_S."""
    began_s = time.monotonic()
    clocks: list[dict[str, Any]] = []

    def seen(event: dict[str, Any]) -> bool:
        if event["kind"] == "clock":
            clocks.append(event)
        return time.monotonic() - began_s > LOOK_S

    student.events(events, seen)
    first, last = clocks[1], clocks[-1]  # the very first one may be of before
    return float((last["now_s"] - first["now_s"]) / (last["read_s"] - first["read_s"]))


if __name__ == "__main__":
    main()
