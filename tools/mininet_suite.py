# SPDX-License-Identifier: BSD-3-Clause
"""Run Mininet's own tests in pockets, each file of tests in a pocket of its own; write the table in docs/mininet.md.

`python tools/mininet_suite.py [WORD …]`, or `make mininet-suite`. With WORDs, only the cases whose names contain one of
them are run; the others keep their last results, if those are of the same kernel. The sources are those of the
distribution's package (`apt-get source`), or of a folder (`--sources FOLDER`). Exit 1 if a case fails for a reason that
`EXPLAINED` does not give, if one passes for which it gives a reason, or if the pocket breaks.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from in_pocket import started
from tables import cell, code, row

from linklab import pocket_kernel
from linklab.base.files import write, write_json
from linklab.engine.api import Typed
from linklab.engine.pocket import PocketNetwork
from linklab.errors import DeadlineError, LinklabError, MissingError

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/mininet.md"
KEPT = ROOT / "build/mininet-suite"
HEADING = "## Mininet's own tests\n"
DEADLINE_S = 400
"""Wall-clock seconds for a case."""
LONG = {"testTree1024": 1800, "testCPULimits": 600, "testCPU": 900, "testLimit": 900}
"""Deadlines of cases that take longer, by their names."""
NEEDS = {
    "pexpect": ["/usr/bin/python3", "-c", "import pexpect"],
    "sshd": ["which", "sshd"],
    "tshark": ["which", "tshark"],
    "vconfig": ["which", "vconfig"],
    "iperf": ["which", "iperf"],
}
"""What the tests use and Linklab does not need: Debian's python3-pexpect, openssh-server, tshark, vlan, iperf."""
RESULTS = ("pass", "fail", "hangs", "skip", "error")
"""A case that hangs did not end within its deadline; an error is Linklab's or this machine's, not the case's."""
REFERENCE_SWITCH = "needs the OpenFlow reference switch (ofdatapath), which no distribution packages"
EXPLAINED = {
    "testControlNet.testPingall": REFERENCE_SWITCH,
    "testControlNet.testFailover": REFERENCE_SWITCH,
    "testScratchNet.testPingUser": REFERENCE_SWITCH,
    "testTreePing64.testTreePing64": REFERENCE_SWITCH,
    "testWalkthrough.testSwitches": REFERENCE_SWITCH,
    "testWalkthrough.testOwnNamespace": REFERENCE_SWITCH,
    "testCPU.testCPU": "waits for a line about a telnet connection without data, which iperf 2.1 does not print",
    "testNAT.testNAT": "pings an address on the Internet, which a pocket cannot reach",
    "clusterSanityCheck.testClusterPingAll": "asks getent for an IPv4 address of localhost, which "
    "answers only if some interface has an address other than 127.0.0.1; a pocket without a network has none",
}
"""Why cases fail, by the end of their names."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended: one of RESULTS, and why.

    kernel: digest of the pocket's kernel; "" in results that were kept without one.
    """

    case: str
    result: str
    why: str
    wall_s: float
    network_s: float
    kernel: str = ""

    @property
    def failed(self) -> bool:
        """Whether the case itself did not do what it should."""
        return self.result in {"fail", "hangs"}

    @property
    def unexpected(self) -> bool:
        """Whether the result is not the one that `EXPLAINED` leads to expect."""
        return self.result == "error" or self.failed != bool(explained(self))

    @property
    def reason(self) -> str:
        """Why the case did not pass; "" if it did."""
        return "" if self.result == "pass" else explained(self) or self.why


def archives() -> list[str]:
    """Lines of a sources.list: the source archives beside those that this machine can install Mininet from."""
    shown = subprocess.run(["apt-cache", "madison", "mininet"], capture_output=True, text=True, check=True).stdout
    found = {tuple(line.split("|")[2].split()[:2]) for line in shown.splitlines() if line.count("|") == 2}
    if not found:
        raise MissingError("apt has no package mininet here; give the sources of Mininet with --sources FOLDER")
    signed = Path(f"/usr/share/keyrings/{platform.freedesktop_os_release()['ID']}-archive-keyring.gpg")
    option = f"[signed-by={signed}] " if signed.is_file() else ""
    return [f"deb-src {option}{site} {suite.replace('/', ' ', 1)}" for site, suite in sorted(found)]


def fetch(folder: Path) -> Path:
    """Fetch and unpack the upstream sources of the distribution's package; apt's own lists stay as they are."""
    for name in ("lists/partial", "cache/archives/partial"):
        (folder / "apt" / name).mkdir(parents=True, exist_ok=True)
    lists = folder / "apt/sources.list"
    lists.write_text("".join(f"{line}\n" for line in archives()))
    options = {"Etc::sourcelist": lists, "Etc::sourceparts": "-", "State::lists": lists.parent / "lists"}
    options["Cache"] = lists.parent / "cache"
    apt = ["apt-get", "-q", *(word for key, value in options.items() for word in ("-o", f"Dir::{key}={value}"))]
    subprocess.run([*apt, "update"], check=True, stdout=sys.stderr)
    subprocess.run([*apt, "source", "--tar-only", "mininet"], check=True, stdout=sys.stderr, cwd=folder)
    (archive,) = folder.glob("mininet_*.orig.tar.*")
    subprocess.run(["tar", "-xf", archive], check=True, cwd=folder)
    (sources,) = (path for path in folder.glob("mininet-*") if path.is_dir())
    return sources


def cases(sources: Path) -> Iterator[str]:
    """The names of all cases as `python -m unittest` takes them, read without importing anything."""
    for path in sorted([*sources.glob("mininet/test/test_*.py"), *sources.glob("examples/test/test_*.py")]):
        module = "mininet.test" if path.parent.parent.name == "mininet" else "mininet.examples.test"
        classes = {node.name: node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}
        for name, node in classes.items():
            if not any(ast.unparse(base).endswith("TestCase") for base in node.bases):
                continue
            family = [node, *(classes[base] for base in map(ast.unparse, node.bases) if base in classes)]
            methods = {item.name for kin in family for item in kin.body if isinstance(item, ast.FunctionDef)}
            for method in sorted(methods):
                if method.startswith("test"):
                    yield f"{module}.{path.stem}.{name}.{method}"


class Pockets:
    """One pocket after another, each with a fresh copy of the sources; a case that does not pass ends its pocket."""

    def __init__(self, sources: Path) -> None:
        self.sources = sources
        self.stack = contextlib.ExitStack()
        self.network: PocketNetwork | None = None
        self.file = ""

    def perform(self, case: str) -> Outcome:
        """Run one case, in the pocket of the case before if that one was of the same file and passed."""
        start, network_s = time.monotonic(), 0.0
        deadline_s = LONG.get(case.rpartition(".")[2], DEADLINE_S)
        file, family, name = case.rsplit(".", 2)
        unittest = f"python3 -W ignore -m unittest -v -k '*.{family}.{name}' {file}"
        line = f"cd /lab/mininet && PATH=$PATH:/lab/bin {unittest} 2>&1"
        try:
            done = self._network(file).run([Typed("client", line)], deadline_s=deadline_s)[0]
            network_s, said = done.end_s - done.start_s, done.output
            result, why = judge(said)
        except DeadlineError as error:
            result, why, said = "hangs", str(error), str(error)
        except LinklabError as error:
            result, why, said = "error", str(error), str(error)
        outcome = Outcome(case, result, why, time.monotonic() - start, network_s, pocket_kernel.require().digest)
        if outcome.failed or outcome.result == "error":
            self.close()
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{case}.txt").write_text(said)
        write_json(KEPT / f"{case}.json", asdict(outcome))
        return outcome

    def _network(self, file: str) -> PocketNetwork:
        if self.network is None or file != self.file:
            self.close()
            self.file = file
            work = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="linklab-mininet-")))
            shutil.copytree(self.sources, work / "mininet", symlinks=True)
            (work / "bin").mkdir()
            (work / "bin/python").symlink_to("/usr/bin/python3")  # the tests start `python`, which Debian lacks
            self.network = self.stack.enter_context(started(None, workdir=work))
        return self.network

    def close(self) -> None:
        """End the pocket that runs, if one does."""
        self.network = None
        self.stack.close()


def kept(case: str) -> Outcome | None:
    """The last outcome of a case with this kernel; None if there is none."""
    path = KEPT / f"{case}.json"
    if not path.is_file():
        return None
    outcome = Outcome(**json.loads(path.read_text()))
    return outcome if outcome.kernel in ("", pocket_kernel.require().digest) else None


def works(command: list[str]) -> bool:
    """Whether a program can be run and exits with 0."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def judge(said: str) -> tuple[str, str]:
    """The result that unittest printed for its one test, and the reason of a skip or the last line of a traceback."""
    if skipped := re.search(r"skipped ['\"](.*)['\"]$", said, re.MULTILINE):
        return "skip", skipped[1]
    if re.search(r"^Ran 1 test in .*\n+OK\s*$", said, re.MULTILINE):
        return "pass", ""
    if re.search(r"^Ran 0 tests in ", said, re.MULTILINE):
        return "fail", "unittest found no test of this name"
    reasons = re.findall(r"^(\w[\w.]*(?:Error|Exception|TIMEOUT|EOF|Exit)\b.*)$", said, re.MULTILINE)
    return "fail", reasons[-1] if reasons else "unittest printed no result"


def explained(outcome: Outcome) -> str:
    """The reason that EXPLAINED gives for a failure; "" if there is none."""
    return next((why for end, why in EXPLAINED.items() if outcome.case.endswith(end)), "")


def page(outcomes: list[Outcome], missing: list[str], version: str, kernel: str) -> str:
    """The text below the heading in docs/mininet.md; `missing` names the cases without an outcome."""
    count = {result: sum(one.result == result for one in outcomes) for result in RESULTS}
    lines = [
        "",
        "Written by `make mininet-suite`; do not edit below this line.",
        "It fetches Mininet's sources from the archive of your distribution and names what the tests need beyond "
        "Linklab: python3-pexpect, openssh-server, tshark, vlan, and iperf.",
        "",
        f"Mininet {version} on {kernel}: {len(outcomes)} cases, of which {count['pass']} pass, "
        f"{count['fail'] + count['hangs']} fail, and {count['skip']} are skipped by the suite itself."
        + (f" In {count['error']} more the pocket broke." if count["error"] else ""),
        "Each file of tests ran in a pocket of its own, on the virtual clock; after a failure, the next case got a new "
        "pocket.",
        *([f"Without a result on this kernel: {', '.join(map(code, map(short, missing)))}."] if missing else []),
        "",
        row("case", "result", "network time", "why"),
        "|---|---|---|---|",
    ]
    for one in outcomes:
        lines.append(row(code(short(one.case)), one.result, f"{one.network_s:.0f} s", cell(one.reason)))
    return "\n".join([*lines, ""])


def short(case: str) -> str:
    """The name of a case as the page has it."""
    return case.removeprefix("mininet.").replace("test.test_", "")


def main() -> int:
    """Fetch the sources, run the cases, and write the page."""
    parser = argparse.ArgumentParser(prog="mininet_suite", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="run only cases whose names contain one of these")
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="take the sources of Mininet from this folder")
    given = parser.parse_args()
    kernel = pocket_kernel.require()
    missing = [name for name, look in NEEDS.items() if not works(look)]
    if missing:
        print(f"mininet-suite: cases fail or are skipped because these are not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="linklab-mininet-") as folder:
        sources = given.sources or fetch(Path(folder))
        version = re.search(r"VERSION = ['\"](.*)['\"]", (sources / "mininet/net.py").read_text())
        everything = list(cases(sources))
        chosen = [case for case in everything if not given.words or any(word in case for word in given.words)]
        outcomes, pockets = [], Pockets(sources)
        with contextlib.closing(pockets):
            for number, case in enumerate(chosen, 1):
                outcomes.append(one := pockets.perform(case))
                print(f"{number}/{len(chosen)} {one.result:5} {case} ({one.wall_s:.0f} s) {one.reason}", flush=True)
    known = [one for case in everything if (one := kept(case)) is not None]
    missing = [case for case in everything if kept(case) is None]
    text = PAGE.read_text().partition(HEADING)[0] + HEADING
    about = f"Linux {kernel.version}, {kernel.digest}"
    write(PAGE, text + page(known, missing, version[1] if version else "?", about))
    wrong = [one.case for one in outcomes if one.unexpected]
    passed = sum(one.result == "pass" for one in outcomes)
    print(f"{passed} of {len(outcomes)} pass; unexpected: {', '.join(wrong) or 'none'}")
    return 1 if wrong or not outcomes else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LinklabError as error:
        sys.exit(f"mininet-suite: {error}")
