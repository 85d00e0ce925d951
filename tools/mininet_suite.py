# SPDX-License-Identifier: BSD-3-Clause
"""Run Mininet's own tests in pockets, one for each file of tests, and write the table in docs/mininet.md.

`python tools/mininet_suite.py [WORD …]`, or `make mininet-suite`. WORDs choose the cases whose names contain one of
them; the others keep the results that they had last. The sources come from the distribution's archive by the name of
the package (`apt-get source`), or from a folder: `--sources FOLDER`. Each case has a deadline of wall time. Exit 1 if a
case fails that `EXPLAINED` does not explain, or one passes that should not.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from linklab.engine.api import Typed
from linklab.engine.pocket import PocketEngine, PocketNetwork
from linklab.errors import BootError, LinklabError

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/mininet.md"
KEPT = ROOT / "build/mininet-suite"
HEADING = "## Mininet's own tests\n"
DEADLINE_S = 400
BOOTS = 4
LONG = {"testTree1024": 1800, "testCPULimits": 600, "testCPU": 900, "testLimit": 900}
"""Seconds of wall time, by the name of the case."""
NEEDS = {
    "pexpect": ["/usr/bin/python3", "-c", "import pexpect"],
    "sshd": ["which", "sshd"],
    "tshark": ["which", "tshark"],
    "vconfig": ["which", "vconfig"],
    "iperf": ["which", "iperf"],
}
"""What the tests use and Linklab does not need: Debian's python3-pexpect, openssh-server, tshark, vlan, iperf."""
REFERENCE_SWITCH = "Mininet's: wants the OpenFlow reference switch (ofdatapath), which no distribution has"
EXPLAINED = {
    "testControlNet.testPingall": REFERENCE_SWITCH,
    "testControlNet.testFailover": REFERENCE_SWITCH,
    "testScratchNet.testPingUser": REFERENCE_SWITCH,
    "testWalkthrough.testSwitches": REFERENCE_SWITCH,
    "testWalkthrough.testOwnNamespace": REFERENCE_SWITCH,
    "testCPU.testCPU": "Mininet's: waits for iperf's line about a telnet without data, which iperf 2.1 does not print",
    "testNAT.testNAT": "pings an address of the Internet, which a pocket does not reach",
    "clusterSanityCheck.testClusterPingAll": "asks getent for an IPv4 address of localhost, "
    "which answers only where some interface has an address beside 127.0.0.1; a pocket without a network has none",
}
"""Why a case fails, by the end of its name."""


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    case: str
    result: str
    why: str
    wall_s: float
    network_s: float


def archives() -> list[str]:
    """Lines of a sources.list with the sources of what this machine can install Mininet from."""
    shown = subprocess.run(["apt-cache", "madison", "mininet"], capture_output=True, text=True, check=True).stdout
    found = {tuple(line.split("|")[2].split()[:2]) for line in shown.splitlines() if line.count("|") == 2}
    if not found:
        raise SystemExit("mininet-suite: apt knows no package mininet here; give its sources with --sources FOLDER")
    signed = next(iter(sorted(Path("/usr/share/keyrings").glob("*-archive-keyring.gpg"))), None)
    option = f"[signed-by={signed}] " if signed else ""
    return [f"deb-src {option}{site} {suite.replace('/', ' ', 1)}" for site, suite in sorted(found)]


def fetch(folder: Path) -> Path:
    """The upstream sources of the distribution's mininet, unpacked; apt's own lists stay as they are."""
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
    """The names of all cases, as `python -m unittest` takes them, read without importing anything."""
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
    """One pocket after the other, in copies of the sources; a case that does not pass leaves none for the next."""

    def __init__(self, sources: Path) -> None:
        self.sources = sources
        self.stack = contextlib.ExitStack()
        self.network: PocketNetwork | None = None
        self.file = ""

    def perform(self, case: str) -> Outcome:
        """Run one case, in a new pocket unless the one before was of the same file and passed."""
        start, network_s = time.monotonic(), 0.0
        deadline_s = LONG.get(case.rpartition(".")[2], DEADLINE_S)
        file, family, name = case.rsplit(".", 2)
        unittest = f"python3 -W ignore -m unittest -v -k '*.{family}.{name}' {file}"
        line = f"cd /lab/mininet && PATH=$PATH:/lab/bin {unittest} 2>&1"
        try:
            done = self._network(file).run([Typed("client", line)], deadline_s=deadline_s)[0]
            network_s, said = done.end_s - done.start_s, done.output
            result, why = judge(said)
        except LinklabError as error:
            result, why, said = "hangs", str(error), str(error)
        if result in {"fail", "hangs"}:
            self.close()
        outcome = Outcome(case, result, why, time.monotonic() - start, network_s)
        KEPT.mkdir(parents=True, exist_ok=True)
        (KEPT / f"{case}.txt").write_text(said)
        (KEPT / f"{case}.json").write_text(json.dumps(asdict(outcome)))
        return outcome

    def _network(self, file: str) -> PocketNetwork:
        if self.network is None or file != self.file:
            self.close()
            self.file = file
            work = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="linklab-mininet-")))
            shutil.copytree(self.sources, work / "mininet", symlinks=True)
            (work / "bin").mkdir()
            (work / "bin/python").symlink_to("/usr/bin/python3")  # the tests start `python`, which Debian has no more
            self.network = self._boot(work)
        return self.network

    def _boot(self, work: Path) -> PocketNetwork:
        for _ in range(BOOTS - 1):  # a busy machine may take longer than a pocket waits
            with contextlib.suppress(BootError):
                return self.stack.enter_context(PocketEngine().start(None, workdir=work))
        return self.stack.enter_context(PocketEngine().start(None, workdir=work))

    def close(self) -> None:
        """End the pocket that runs."""
        self.network = None
        self.stack.close()


def kept(case: str) -> Outcome | None:
    """How the case ended last; None if it never ran here."""
    path = KEPT / f"{case}.json"
    return Outcome(**json.loads(path.read_text())) if path.is_file() else None


def works(command: list[str]) -> bool:
    """Whether a program ends with 0."""
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def judge(said: str) -> tuple[str, str]:
    """The result that unittest printed, and its reason: of a skip, or the last line of a traceback."""
    if skipped := re.search(r"skipped ['\"](.*)['\"]$", said, re.MULTILINE):
        return "skip", skipped[1]
    if re.search(r"^OK\s*$", said, re.MULTILINE):
        return "pass", ""
    reasons = re.findall(r"^(\w[\w.]*(?:Error|Exception|TIMEOUT|EOF|Exit)\b.*)$", said, re.MULTILINE)
    return "fail", reasons[-1] if reasons else "unittest printed no result"


def explained(outcome: Outcome) -> str:
    """The sentence that explains a failure; "" if there is none."""
    return next((why for end, why in EXPLAINED.items() if outcome.case.endswith(end)), "")


def page(outcomes: list[Outcome], version: str) -> str:
    """What stands under the heading in docs/mininet.md."""
    count = {result: sum(one.result == result for one in outcomes) for result in ("pass", "fail", "hangs", "skip")}
    lines = [
        "",
        "Written by `make mininet-suite`; do not edit below this line.",
        f"Mininet {version}: {len(outcomes)} cases, {count['pass']} pass, {count['fail'] + count['hangs']} fail, "
        f"{count['skip']} are skipped by the suite itself.",
        "Each file of tests ran in a pocket of its own, and each case after a failure, on the virtual clock.",
        "",
        "| case | result | network time | why |",
        "|---|---|---|---|",
    ]
    for one in outcomes:
        name = one.case.removeprefix("mininet.").replace("test.test_", "")
        why = "" if one.result == "pass" else explained(one) or one.why
        lines.append(f"| `{name}` | {one.result} | {one.network_s:.0f} s | {why.replace('|', '/')} |")
    return "\n".join([*lines, ""])


def main() -> int:
    """Fetch, run, tell, write."""
    parser = argparse.ArgumentParser(prog="mininet_suite", description=__doc__.split("\n")[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help="only cases whose names contain it")
    parser.add_argument("--sources", type=Path, metavar="FOLDER", help="sources of Mininet, instead of the archive's")
    given = parser.parse_args()
    missing = [name for name, look in NEEDS.items() if not works(look)]
    if missing:
        print(f"mininet-suite: not installed, so what needs it fails or is skipped: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="linklab-mininet-") as folder:
        sources = given.sources or fetch(Path(folder))
        version = re.search(r"VERSION = ['\"](.*)['\"]", (sources / "mininet/net.py").read_text())
        chosen = [case for case in cases(sources) if not given.words or any(word in case for word in given.words)]
        outcomes, wrong, pockets = [], [], Pockets(sources)
        for number, case in enumerate(chosen, 1):
            outcomes.append(one := pockets.perform(case))
            reason = "" if one.result == "pass" else explained(one) or one.why
            print(f"{number}/{len(chosen)} {one.result:5} {case} ({one.wall_s:.0f} s) {reason}", flush=True)
            if (one.result in {"fail", "hangs"}) != bool(explained(one)):
                wrong.append(case)
        pockets.close()
        known = [kept(case) for case in cases(sources)]
    if all(known):
        text = PAGE.read_text().partition(HEADING)[0] + HEADING
        PAGE.write_text(text + page([one for one in known if one], version[1] if version else "?"))
    passed = sum(one.result == "pass" for one in outcomes)
    print(f"{passed} of {len(outcomes)} pass; unexpected: {', '.join(wrong) or 'nothing'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
