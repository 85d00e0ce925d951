# SPDX-License-Identifier: BSD-3-Clause
"""Feeds every reader of files and outputs what went wrong with good ones, and counts what it cannot take.

`python tools/fuzz.py [--count N] [--target NAME] [--seed N]`: N inputs for each target (fuzz_targets.py), the same for
the same seed. An input is refused with a LinklabError, or read; counted are other exceptions, hangs (over two seconds
of processor time, or a minute of waiting), memory (over 256 MiB for one input) and broken promises.
`--show N` prints one input, to look at.
Each target has a process of its own, which is ended where it hangs, and replaced.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import re
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from fuzz_inputs import change_bytes, mutated  # noqa: E402 - found by the line above
from fuzz_targets import TARGETS, BrokenPromiseError, Target, check_message  # noqa: E402

from linklab.errors import LinklabError  # noqa: E402

DEADLINE_S = 2.0
"""Of processor time, which a busy machine does not lengthen."""
WAIT_S = 60.0
LOOK_S = 0.1
MOST_BYTES = 256 << 20
"""Memory that one input may cost beside what the process has already."""
KINDS = ("foreign", "hang", "memory", "promise", "death")


@dataclass
class Found:
    """What came of a target: how many inputs, the slowest (s), and each fault with the inputs that show it."""

    target: Target
    done: int = 0
    refused: int = 0
    slowest_s: float = 0.0
    faults: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, kind: str, what: str, number: int) -> None:
        """Note a fault of input `number`."""
        self.faults.setdefault((kind, what), []).append(number)

    def count(self, kind: str) -> int:
        """How many inputs showed faults of a kind."""
        return sum(len(numbers) for (each, _), numbers in self.faults.items() if each == kind)


def input_of(target: Target, seed: int, number: int, seeds: Sequence[bytes]) -> bytes:
    """The input of that number; the same in every run."""
    chance = Random(f"{seed}:{target.name}:{number}")  # noqa: S311 - chance of a test
    if not target.changes:
        return change_bytes(chance, chance.choice(seeds))
    return mutated(chance, seeds, target.changes)


def tried(target: Target, data: bytes, folder: Path) -> tuple[str, str]:
    """What came of one input: ("read", ""), ("refused", ""), or a kind of fault and where it comes from."""
    try:
        target.read(data, folder)
    except LinklabError as error:
        try:
            check_message(error)
        except BrokenPromiseError as broken:
            return "promise", f"{broken} ({type(error).__name__} {_place(error)})"
        return "refused", ""
    except BrokenPromiseError as error:
        return "promise", str(error)
    except MemoryError as error:
        return "memory", _place(error)
    except Exception as error:
        return "foreign", f"{type(error).__name__} {_place(error)}"
    return "read", ""


def _place(error: BaseException) -> str:
    """The innermost line of ours."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/linklab/" in frame.filename]
    frame = (ours or list(frames))[-1]
    return f"{re.sub(r'.*/linklab/', '', frame.filename)}:{frame.lineno}"


def work(target: Target, seed: int, numbers: range, report: Connection) -> None:
    """The life of a process: try inputs one after the other and say of each what came of it."""
    seeds = list(target.seeds())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder_of_input = folder / "a"
        folder_of_input.mkdir()
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        most_bytes = pages * os.sysconf("SC_PAGE_SIZE") + MOST_BYTES
        for number in numbers:
            data = input_of(target, seed, number, seeds)
            report.send((number, "begun", "", 0.0))
            begun = time.process_time()
            with memory_limit(most_bytes):
                kind, what = tried(target, data, folder_of_input)
            elapsed = time.process_time() - begun
            if kind == "memory":
                gc.collect()
            report.send((number, kind, what, elapsed))
    report.close()


@contextmanager
def memory_limit(most_bytes: int) -> Iterator[None]:
    """Let the process have so much address space; MemoryError beyond it."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@contextmanager
def process_of(target: Target, seed: int, numbers: range) -> Iterator[tuple[Connection, int]]:
    """A process that tries these inputs, as what it says and its id; gone at the end."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(target, seed, numbers, theirs))
    process.start()
    theirs.close()
    try:
        assert process.pid is not None
        yield ours, process.pid
    finally:
        process.kill()
        process.join()
        ours.close()


def answers(said: Connection, pid: int, deadline_s: float) -> bool:
    """Whether the process says something before its deadline."""
    begun, used_s = time.monotonic(), processor_s(pid)
    while not wait([said], LOOK_S):
        if processor_s(pid) - used_s > deadline_s or time.monotonic() - begun > max(WAIT_S, deadline_s):
            return False
    return True


def processor_s(pid: int) -> float:
    """What a process has used up to now; fields 14 and 15 of proc(5), after the name, which may hold blanks."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def fuzz(target: Target, count: int, seed: int, deadline_s: float = DEADLINE_S) -> Found:
    """Try `count` inputs."""
    found = Found(target)
    first = 0
    while first < count:
        at, begun = first, False
        with process_of(target, seed, range(first, count)) as (said, pid):
            while True:
                # before its first input a process reads the good ones, which may take longer
                if not answers(said, pid, deadline_s if begun else WAIT_S):
                    found.add("hang", "", at)
                    break
                try:
                    number, kind, what, elapsed = said.recv()
                except EOFError:
                    if begun:
                        found.add("death", "", at)
                    elif first < count:
                        raise RuntimeError(f"{target.name}: the process ended before its first input") from None
                    break
                at, begun = number, kind == "begun"
                if begun:
                    continue
                found.done += 1
                found.slowest_s = max(found.slowest_s, elapsed)
                found.refused += kind == "refused"
                if kind in KINDS:
                    found.add(kind, what, number)
                first = number + 1
            if begun:
                found.done += 1
                first = at + 1
    return found


def table(results: Sequence[Found]) -> str:
    """The results for a terminal."""
    lines = [f"{'target':16} {'inputs':>7} {'refused':>7} {'slowest':>8} " + " ".join(f"{kind:>7}" for kind in KINDS)]
    for found in results:
        counts = " ".join(f"{found.count(kind):7}" for kind in KINDS)
        lines.append(f"{found.target.name:16} {found.done:7} {found.refused:7} {found.slowest_s:6.2f} s {counts}")
    sums = " ".join(f"{sum(found.count(kind) for found in results):7}" for kind in KINDS)
    lines.append(f"{'all':16} {sum(f.done for f in results):7} {sum(f.refused for f in results):7} {'':8} {sums}")
    return "\n".join(lines)


def faults(results: Sequence[Found]) -> str:
    """Each fault once, most frequent first, with an input that shows it."""
    lines = []
    for found in results:
        for (kind, what), numbers in sorted(found.faults.items(), key=lambda item: -len(item[1])):
            lines.append(f"  {found.target.name}: {kind} {what}: {len(numbers)}, such as --show {numbers[0]}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The program; 1 where anything was found."""
    parser = argparse.ArgumentParser(description="feed every reader of files and outputs what it may meet")
    parser.add_argument("--count", type=int, default=2500, metavar="N", help="inputs for each target (2500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--target", action="append", choices=[target.name for target in TARGETS], help="only this one")
    parser.add_argument("--show", type=int, metavar="N", help="print the input of that number, of one target")
    options = parser.parse_args(arguments)
    chosen = [target for target in TARGETS if not options.target or target.name in options.target]
    if options.show is not None:
        sys.stdout.buffer.write(input_of(chosen[0], options.seed, options.show, list(chosen[0].seeds())))
        return 0
    results = []
    for target in chosen:
        results.append(fuzz(target, options.count, options.seed))
        print(table(results[-1:]).splitlines()[1], flush=True)
    print(table(results))
    print(faults(results))
    return int(any(found.faults for found in results))


if __name__ == "__main__":
    sys.exit(main())
