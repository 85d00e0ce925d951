# SPDX-License-Identifier: BSD-3-Clause
"""Run the Linux kernel's own networking tests in pockets, and write the results to docs/selftests.md.

`python tools/selftests.py [PATTERN...]`, `make selftests`: all tests, or those whose names match a pattern
("net/fib*"). A test that has been run with this kernel is not run again (`--again` does), so a run that was stopped
continues where it was. The output of each test is kept in build/selftests/. Every failure and every skip needs a reason
in tools/selftests.toml; exit 1 if one has none.

The tests are all of tc-testing, and those that the makefiles of net and net/forwarding list, with two exceptions: tests
in Python, most of which drive a network card through the kernel's Netlink library, and scripts that load a BPF object,
which only clang can compile.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

import selftests_source as source  # noqa: E402 - found by the line above
from in_pocket import started  # noqa: E402
from selftests_page import page  # noqa: E402
from selftests_results import Outcome, fits, judge, read_explanations, results  # noqa: E402

from linklab import pocket_kernel  # noqa: E402
from linklab.base import files  # noqa: E402
from linklab.engine.api import Network, OnStage, Typed  # noqa: E402
from linklab.errors import DeadlineError, EngineError, LinklabError  # noqa: E402

INSIDE = Path(__file__).with_name("selftests_inside.sh")
REASONS = Path(__file__).with_name("selftests.toml")
PAGE = ROOT / "docs/selftests.md"
KEPT = ROOT / "build/selftests"
PARTS = ("net", "net/forwarding")
DEADLINE_S = 900
"""Wall-clock seconds for a program; the longest takes five minutes if each of two pockets has a processor."""
MEMORY_MIB = 1024
MOST_BYTES = 4 << 20
"""Bytes of an output that are read; a program that prints more counts as one that did not end."""
TDC = "ip netns add tcut && exec /usr/bin/python3 -B tdc.py --file tc-tests/{}"
"""tdc checks what a test depends on in the namespace tcut, but never creates it: the tests run in others."""


@dataclass(frozen=True)
class Test:
    """A program of tests: its name, its working directory below the tests, and its command."""

    name: str
    folder: str
    command: str


def tests(kept: Path) -> Iterator[Test]:
    """Every program of tests, as the docstring of this module defines them."""
    base = kept / "tree" / source.TESTS
    for file in sorted((base / "tc-testing/tc-tests").glob("*/*.json")):
        kind = file.relative_to(base / "tc-testing/tc-tests")
        yield Test(f"tc-testing/{kind}", "tc-testing", f"sh -c {shlex.quote(TDC.format(kind))}")
    for part in PARTS:
        for name in source.scripts(kept, part):
            file = base / part / name
            if not name.endswith(".py") and not loads_bpf(file):
                yield Test(f"{part}/{name}", part, f"./{name}")


def loads_bpf(file: Path) -> bool:
    """Whether a script names an object compiled for BPF."""
    return file.suffix == ".sh" and re.search(r"\bbpf\.o\b", file.read_text(errors="replace")) is not None


def run(test: Test, kept: Path, deadline_s: float, on_stage: OnStage) -> Outcome:
    """Run a program of tests in a pocket of its own; `on_stage` is given the pocket and may close it.

    Raises:
        EngineError: the pocket broke, which is no result of the program's.
    """
    with tempfile.TemporaryDirectory(prefix="linklab-selftests-") as name:
        work = Path(name)
        shutil.copy2(INSIDE, work / "inside.sh")
        env = " ".join(f'{key}="{value}"' for key, value in source.environment(kept / "programs").items())
        folder = kept / "tree" / source.TESTS / test.folder
        line = f"env {env} sh /lab/inside.sh {shlex.quote(str(folder))} {test.command}"
        (work / "run.sh").write_text(f"{line}\n")
        ended = ""
        try:
            with started(None, workdir=work, on_stage=on_stage, memory_mib=MEMORY_MIB) as network:
                network.run([Typed("client", "sh /lab/run.sh")], deadline_s=deadline_s)
        except DeadlineError:
            ended = f"did not end within {deadline_s:g} s"
        status = work / "status"
        output = work / "output"
        if output.exists() and output.stat().st_size > MOST_BYTES:
            ended = ended or f"printed more than {MOST_BYTES:,} bytes, of which the first are kept"
        return Outcome(
            test.name,
            read(output),
            int(status.read_text()) if status.exists() and not ended else None,
            ended or ("" if status.exists() else "left no status"),
            read(work / "kernel"),
        )


def read(file: Path) -> str:
    """The first MOST_BYTES of a file that a test wrote, as text; "" if it wrote none."""
    if not file.exists():
        return ""
    with file.open("rb") as data:
        return data.read(MOST_BYTES).decode(errors="replace")


class Store:
    """Outcomes of one kernel, in build/selftests/VERSION-DIGEST/."""

    def __init__(self, kernel: pocket_kernel.Kernel) -> None:
        self.folder = KEPT / f"{kernel.version}-{kernel.digest}"

    def _file(self, name: str) -> Path:
        return self.folder / f"{name.replace('/', '+')}.json"

    def find(self, name: str) -> tuple[Outcome, float] | None:
        """The outcome of a program and the wall-clock seconds it took; None if it has not been run."""
        file = self._file(name)
        if not file.exists():
            return None
        data = json.loads(file.read_text())
        took_s = data.pop("took_s")
        return Outcome(**data), took_s

    def keep(self, outcome: Outcome, took_s: float) -> None:
        """Write the outcome of a program."""
        self.folder.mkdir(parents=True, exist_ok=True)
        files.write_json(self._file(outcome.name), {**vars(outcome), "took_s": round(took_s, 1)})


def run_all(chosen: Sequence[Test], kept: Path, store: Store, jobs: int, deadline_s: float) -> list[str]:
    """Run the programs, `jobs` at once, keep their outcomes, and print a line for each.

    Returns:
        The programs whose pocket broke; the next call runs them again.
    """
    broken: list[str] = []
    lock = threading.Lock()
    done = 0
    pockets: set[Network] = set()
    stopped = threading.Event()

    def on_stage(_: str, network: Network) -> None:
        pockets.add(network)
        if stopped.is_set():
            network.close()

    def one(test: Test) -> None:
        nonlocal done
        began = time.monotonic()
        try:
            outcome = run(test, kept, deadline_s, on_stage)
        except EngineError as error:
            if not stopped.is_set():
                broken.append(test.name)
                print(f"{test.name}: the pocket broke: {error}", flush=True)
            return
        if stopped.is_set():
            return
        took_s = time.monotonic() - began
        store.keep(outcome, took_s)
        counted = [result.state for result in results(outcome)]
        told = ", ".join(f"{counted.count(state)} {state}" for state in dict.fromkeys(sorted(counted)))
        with lock:
            done += 1
            print(f"{done}/{len(chosen)} {test.name}: {told} ({took_s:.0f} s)", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        try:
            for future in [pool.submit(one, test) for test in chosen]:
                future.result()
        except BaseException:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for network in list(pockets):
                network.close()
            raise
    return broken


def main(argv: Sequence[str] | None = None) -> int:
    """Run what has not been run, write the page, and list the results without a reason."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("pattern", nargs="*", help="names of tests, in which * stands for any text")
    parser.add_argument("--again", action="store_true", help="also run tests that have been run with this kernel")
    parser.add_argument(
        "--source", type=Path, help="take the tests from this linux-X.Y.tar.xz instead of apt's package"
    )
    parser.add_argument(
        "--deadline", type=float, default=DEADLINE_S, help="wall-clock seconds for each program of tests"
    )
    parser.add_argument("--jobs", type=int, choices=(1, 2), default=2, help="pockets at once (default: 2)")
    parser.add_argument("--list", action="store_true", help="list the programs of tests and run none")
    parser.add_argument("--page", type=Path, default=PAGE, help="where to write the page (default: docs/selftests.md)")
    options = parser.parse_args(argv)
    kernel = pocket_kernel.require()
    kept = source.ready(options.source, lambda words, _: print(words, flush=True))
    all_tests = list(tests(kept))
    named = [test for test in all_tests if not options.pattern or any(fits(p, test.name) for p in options.pattern)]
    if options.list:
        print("\n".join(test.name for test in named))
        return 0
    store = Store(kernel)
    chosen = [test for test in named if options.again or store.find(test.name) is None]
    print(f"{len(named)} programs of tests, of which {len(named) - len(chosen)} have been run", flush=True)
    began = time.monotonic()
    broken = run_all(chosen, kept, store, options.jobs, options.deadline)
    print(f"{len(chosen)} programs in {(time.monotonic() - began) / 60:.0f} minutes")

    every = [(test, kept_of) for test in all_tests if (kept_of := store.find(test.name)) is not None]
    found = [result for _, (outcome, _) in every for result in results(outcome)]
    judged = judge(found, read_explanations(REASONS), [test.name for test, _ in every])
    iproute, origin = source.programs_of(kept)
    files.write(
        options.page,
        page(
            found,
            judged,
            {
                "kernel": f"Linux {kernel.version}",
                "digest": kernel.digest,
                "source": origin,
                "iproute2": iproute,
                "programs": f"{len(every)} of {len(all_tests)}",
                "minutes": f"{sum(took_s for _, (_, took_s) in every) / 60:.0f}",
            },
        ),
    )
    for result in judged.unexplained:
        print(f"no reason given: {result.state} {result.id}" + (f" ({result.note})" if result.note else ""))
    for pattern in judged.idle:
        print(f"matches no failure or skip, so remove it: {pattern}")
    print(f"{options.page}: {len(judged.unexplained)} failures and skips without a reason")
    return 1 if broken or judged.unexplained or judged.idle else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the pockets, as Ctrl+C does
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("selftests: stopped; the next run continues from here")
    except LinklabError as error:
        sys.exit(f"selftests: {error}")
