# SPDX-License-Identifier: BSD-3-Clause
"""Start networks on the host engine, kill them by SIGKILL at random moments, `linklab clean`, and count what is left.

`python tools/kill_test.py [STARTS] [--seed N]` as root; `make kill-test` does it with fifty. A start is
`linklab shell` on a topology of three hosts; killed is the program itself, its warden, the first process of the
network's space, the agent, or all of them at once, as a power cut would. Exit 1 if anything is left: processes and the
namespaces they are in, namespaces that are kept by a mount, links, queueing disciplines, files, or settings of the
machine that are not what they were. Whatever loses its parent becomes a child of this program (prctl(2),
PR_SET_CHILD_SUBREAPER), so nothing that was started can hide. One setting is lowered first, so that there is something
to put back.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from linklab.terminal import attach
from linklab.warden import probe, records

LATEST_S = 4.0
"""After the start; on a machine with nothing else to do a network is up in about one second."""
SETTLES_S = 20
ENDS_S = 30
AT_ONCE = 2
PR_SET_CHILD_SUBREAPER = 36
LOWERED = records.SYSCTL / "net/core/rmem_max"
LOW = "212992\n"
TOPOLOGY = {
    "hosts": [
        {"number": str(n), "opts": {"hostname": f"h{n}", "nodeNum": n}, "x": "100", "y": str(100 * n)}
        for n in (1, 2, 3)
    ],
    "switches": [
        {"number": "1", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}, "x": "300", "y": "200"}
    ],
    "links": [{"src": f"h{n}", "dest": "s1", "opts": {"bw": 100.0}} for n in (1, 2, 3)],
    "controllers": [],
    "version": "2",
}


def shown(*command: str) -> set[str]:
    """The lines that a program prints."""
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())


def files() -> set[str]:
    """What the host engine makes: records, sockets, their folders and locks."""
    folders = (records.FOLDER.parent, attach.folder())
    return {str(path) for folder in folders for path in folder.rglob("*")} - {str(attach.folder() / "lock")}


def settings() -> set[str]:
    """Settings of the machine that it or a lab may change, with their values."""
    paths = [records.SYSCTL / name for name in (*records.LEAST, records.ALLOWED)]
    found = set()
    for path in (*paths, *records.MODULES.glob(records.PARAMETERS)):
        with contextlib.suppress(OSError):
            found.add(f"{path} = {path.read_text().strip()}")
    return found


def kept_namespaces() -> set[str]:
    """Namespaces that a mount keeps alive (nsfs), wherever it is."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            lines = (folder / "mountinfo").read_text(errors="replace").splitlines()
            found |= {line.split()[3] for line in lines if " - nsfs " in line}
    return found


def census() -> dict[str, set[str]]:
    """All there is of each kind."""
    below = descendants(os.getpid())[1:]
    there: dict[str, set[str]] = {
        "namespaces": kept_namespaces(),
        "links": {line.split(":")[1].strip() for line in shown("ip", "-o", "link")},
        "qdiscs": shown("tc", "qdisc", "show"),
        "processes": set(),
        "files": files(),
        "settings": settings(),
    }
    for pid in below:
        with contextlib.suppress(OSError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if command:  # one that has ended and is not yet waited for has none
                there["processes"].add(f"{pid} {command}")
            for kind in ("net", "mnt", "pid", "uts", "ipc"):
                here, root = (str(Path(f"/proc/{number}/ns/{kind}").readlink()) for number in (pid, os.getpid()))
                if here != root:
                    there["namespaces"].add(here)
    return there


def descendants(pid: int) -> list[int]:
    """A process and all below it, the oldest first; started by whichever thread."""
    found = [pid]
    for parent in found:
        with contextlib.suppress(OSError):
            for children in Path(f"/proc/{parent}/task").glob("*/children"):
                found += map(int, children.read_text().split())
    return found


@contextlib.contextmanager
def something_to_put_back() -> Iterator[None]:
    """One of the machine's settings below what networks need, within this block."""
    before = LOWERED.read_text()
    LOWERED.write_text(LOW)
    try:
        yield
    finally:
        LOWERED.write_text(before)


def start_and_kill(number: int, chance: random.Random, folder: Path) -> str:
    """One start; what was killed, and when."""
    after_s, wish = chance.uniform(0.05, LATEST_S), chance.choice(("program", "warden", "first", "agent", "all"))
    log = (folder / f"{number}.log").open("wb")
    command = [sys.executable, "-m", "linklab", "shell", str(folder / "three.mn"), "--engine", "host"]
    with log, subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder) as program:
        time.sleep(after_s)
        tree = descendants(program.pid)
        wanted = {"program": 0, "warden": 1, "first": 2, "agent": 3}.get(wish)
        victims = tree if wanted is None else tree[min(wanted, len(tree) - 1) :][:1]
        for pid in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert program.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            program.stdin.close()
        try:
            program.wait(ENDS_S)
        except subprocess.TimeoutExpired:
            program.kill()
            return f"start {number}: THE PROGRAM DID NOT END within {ENDS_S} s of the death of {wish}"
    return f"start {number}: {wish} ({len(victims)} of {len(tree)} processes) killed after {after_s:.2f} s"


def left_over(before: dict[str, set[str]]) -> dict[str, set[str]]:
    """What is there now and was not before; namespaces end a moment after their last process."""
    deadline = time.monotonic() + SETTLES_S
    while True:
        left = {kind: now - before[kind] for kind, now in census().items()}
        if not any(left.values()) or time.monotonic() > deadline:
            return left
        time.sleep(0.2)


def main() -> int:
    """Do it and print the table of the count."""
    parser = argparse.ArgumentParser(description="Kill networks of the host engine and count what is left.")
    parser.add_argument("starts", type=int, nargs="?", default=50)
    parser.add_argument("--seed", type=int, default=1, help="of moments and victims (1)")
    parser.add_argument("--json", action="store_true", help="print the counts as JSON and nothing else")
    args = parser.parse_args()
    if os.getuid() != 0:
        print("kill_test: only root sees all that could be left; use sudo", file=sys.stderr)
        return 2
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with something_to_put_back():
        return kill_and_count(args)


def kill_and_count(args: argparse.Namespace) -> int:
    """The starts, the cleaning, the count; 1 if something is left."""
    probe.load_congestion_controls()  # as the first network does; they stay, with parameters of their own
    before, started = census(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="linklab-kill-") as folder:
        (Path(folder) / "three.mn").write_text(json.dumps(TOPOLOGY))
        chances = [random.Random(args.seed * 1000 + number) for number in range(args.starts)]  # noqa: S311 - no secret
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for line in pool.map(start_and_kill, range(args.starts), chances, [Path(folder)] * args.starts):
                print(line, file=sys.stderr if args.json else sys.stdout, flush=True)
        after_kill = {kind: now - before[kind] for kind, now in census().items()}
        cleaned = shown(sys.executable, "-m", "linklab", "clean")
    left = left_over(before)
    if args.json:
        counts = {kind: {"before": len(before[kind]), "left": sorted(left[kind])} for kind in left}
        print(json.dumps({"starts": args.starts, "counts": counts}))
        return 1 if any(left.values()) else 0
    print(f"\n`linklab clean`: {'; '.join(sorted(cleaned))}")
    print(f"{'':12}{'before':>8}{'after the kills':>17}{'after clean':>13}")
    for kind in left:
        print(f"{kind:12}{len(before[kind]):8}{f'+{len(after_kill[kind])}':>17}{f'+{len(left[kind])}':>13}")
    for kind, names in left.items():
        print("".join(f"left: {kind}: {name}\n" for name in sorted(names)), end="")
    print(f"{args.starts} starts in {time.monotonic() - started:.0f} s")
    return 1 if any(left.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
