# SPDX-License-Identifier: BSD-3-Clause
"""Run third-party scripts and tools in pockets, and write docs/strangers.md: each with its result and the reason.

`python tools/strangers.py [NAME]…`; `make strangers` runs all of them and writes the page. tests/strangers/scripts.toml
and tools.toml say what the output of each must show. Each case runs in a pocket of its own on the virtual clock, so its
output can be repeated. Nothing is installed: a case whose packages are missing is skipped, and the message says how to
install them. Results are kept in build/strangers/results.json; `--resume` runs only the cases that have not yet passed
with this kernel. Exit 1 if a case failed or ended in an error; a skipped case is not a failure.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from in_pocket import started
from setup import STRANGERS_PYTHON, missing_packages
from tables import cell, code, row

from linklab import pocket_kernel
from linklab.base import toml
from linklab.base.files import write
from linklab.engine.api import Background, Typed
from linklab.errors import DeadlineError, LinklabError
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/strangers"
PAGE = ROOT / "docs/strangers.md"
KEPT = ROOT / "build/strangers/results.json"
PAIR = ROOT / "topologies/Lab 8.mn"
VERDICTS = ("pass", "fail", "error", "skipped")
"""An error is Linklab's or this machine's, not the case's."""
DEADLINE_S = 600
"""Wall-clock seconds for a case on a busy machine; on an idle one a case takes a few seconds."""
SHOWN = 600
"""Characters of a failed case's output that are shown, from its end."""
INTRODUCTION = """# Third-party scripts and tools

Written by `make strangers`; do not edit.

These Mininet scripts and network tools do not know that Linklab exists.
Each of them ran in a pocket of its own.
Everything ran as the machine's root; otherwise daemons that read root's files, such as sshd and nginx, need files of
their own ([mininet.md](mininet.md)).
The scripts are in `tests/strangers/scripts/`.
To run one, type `linklab shell` in a folder that holds it, and there `sudo python3 NAME.py`.
`tests/strangers/scripts.toml` and `tools.toml` say what each must show, as exactly as theory or configuration allows.
A tool is one command on h1 of the network h1 – s1 – s2 – h2; if it needs a server, that runs on h2.

`tools/setup.sh strangers` installs the packages, which nothing else in Linklab needs.
"""


@dataclass(frozen=True)
class Case:
    """One script or tool, what it needs, and the regular expressions that its output must match in this order."""

    name: str
    shows: Sequence[str]
    kind: str = ""
    command: str = ""
    server: str = ""
    packages: Sequence[str] = ()
    python: Sequence[str] = ()
    kernel: Sequence[str] = ()

    @property
    def script(self) -> Path | None:
        """The file of the script; None for a tool."""
        return None if self.command else CASES / "scripts" / f"{self.name}.py"

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides its verdict in a given kernel: what it runs and what that must show."""
        text = self.script.read_text() if self.script is not None and self.script.is_file() else ""
        return hashlib.sha256(json.dumps([self.command, self.server, list(self.shows), text]).encode()).hexdigest()


@dataclass
class Result:
    """A case's verdict and the reason for it, its output, and the time it took."""

    case: Case
    verdict: str
    why: str = ""
    output: str = ""
    network_s: float = 0.0
    wall_s: float = 0.0


def cases(folder: Path = CASES) -> list[Case]:
    """All cases, scripts first."""
    return [
        Case(**entry)
        for name in ("scripts.toml", "tools.toml")
        for entry in toml.loads((folder / name).read_text())["case"]
    ]


def missing(expected: Sequence[str], output: str) -> str | None:
    """The first pattern that the output does not match after the pattern before it; None if it matches all."""
    at = 0
    for pattern in expected:
        found = re.compile(pattern, re.MULTILINE).search(output, at)
        if found is None:
            return pattern
        at = found.end()
    return None


def wants(case: Case, config: str) -> str | None:
    """What this machine lacks for a case and how to get it; None if it lacks nothing."""
    if packages := missing_packages("\n".join(case.packages)) if case.packages else []:
        return f"needs the packages {', '.join(packages)}: run tools/setup.sh strangers"
    if modules := [name for name in case.python if not (STRANGERS_PYTHON / name).is_dir()]:
        return f"needs the Python packages {', '.join(modules)}: run tools/setup.sh strangers"
    if options := [name for name in case.kernel if f"CONFIG_{name}=y" not in config.splitlines()]:
        return f"needs {', '.join(options)} in the pocket's kernel: run make kernel"
    return None


def perform(case: Case, work: Path) -> tuple[str, float]:
    """Run a case in a pocket of its own; return its output and the network time it took."""
    if case.script is None:
        typed = [Typed("h2", case.server, Background())] if case.server else []
        command, terminal, topology = case.command, "h1", Topology.load(PAIR)
    else:
        shutil.copy(case.script, work)
        path = f"PYTHONPATH={STRANGERS_PYTHON} " if case.python else ""
        typed, command, terminal, topology = [], f"sudo {path}python3 {case.script.name}", "client", None
    with started(topology, workdir=work) as network:
        for action in typed:
            network.run([action])
            network.run([Typed("client", "sleep 2")])
        done = network.run([Typed(terminal, command)], deadline_s=DEADLINE_S)[0]
    return done.output, done.end_s - done.start_s


def judge(case: Case, config: str) -> Result:
    """Run a case if this machine can, and compare its output with what it must show."""
    if (why := wants(case, config)) is not None:
        return Result(case, "skipped", why)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="strangers-") as work:
        try:
            output, network_s = perform(case, Path(work))
        except DeadlineError:
            return Result(case, "fail", f"no end within {DEADLINE_S} s of wall time", "", 0.0, time.monotonic() - begin)
        except LinklabError as error:
            return Result(case, "error", str(error), "", 0.0, time.monotonic() - begin)
    lacks = missing(case.shows, output)
    why = "" if lacks is None else f"does not show `{lacks}`"
    return Result(case, "fail" if why else "pass", why, output, network_s, time.monotonic() - begin)


def kept(digest: str) -> dict[str, dict[str, Any]]:
    """What has passed with this kernel: the network time of each case, and the fingerprints of those that have one."""
    if not KEPT.is_file():
        return {"passed": {}, "fingerprints": {}}
    saved = json.loads(KEPT.read_text())
    same = saved["digest"] == digest
    return {name: dict(saved.get(name, {})) if same else {} for name in ("passed", "fingerprints")}


def passed_before(case: Case, digest: str) -> float | None:
    """The network time that a case took when it passed with this kernel; None if it has not, or has changed since."""
    saved = kept(digest)
    unchanged = saved["fingerprints"].get(case.name, case.fingerprint) == case.fingerprint
    return saved["passed"].get(case.name) if unchanged else None


def keep(results: Sequence[Result], digest: str) -> None:
    """Add these results to those kept for this kernel: a case that passed is kept, one that did not is dropped."""
    saved = kept(digest)
    for result in results:
        for of_case in saved.values():
            of_case.pop(result.case.name, None)
        if result.verdict == "pass":
            saved["passed"][result.case.name] = result.network_s
            saved["fingerprints"][result.case.name] = result.case.fingerprint
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    write(KEPT, json.dumps({"digest": digest, **saved}, indent=1) + "\n")


def page(results: Sequence[Result], kernel: str) -> str:
    """The text of docs/strangers.md."""
    scripts = [result for result in results if result.case.script is not None]
    tools = [result for result in results if result.case.script is None]
    lines = [INTRODUCTION, f"Kernel: {kernel}.", _count(scripts, "scripts"), _count(tools, "tools"), ""]
    lines += ["## Scripts", "", row("kind", "script", "result", "network time", ""), "|---|---|---|---|---|"]
    lines += [
        row(each.case.kind, code(f"{each.case.name}.py"), each.verdict, f"{each.network_s:.0f} s", _in_row(each.why))
        for each in scripts
    ]
    lines += ["", "## Tools", "", row("tool", "command", "result", ""), "|---|---|---|---|"]
    lines += [row(each.case.name, code(each.case.command), each.verdict, _in_row(each.why)) for each in tools]
    return "\n".join(lines) + "\n"


def _count(results: Sequence[Result], what: str) -> str:
    passed = sum(result.verdict == "pass" for result in results)
    return f"{passed} of {len(results)} {what} show what they must."


def _in_row(why: str) -> str:
    """A reason, in which what stands between backticks is code."""
    parts = why.split("`")
    return "".join(code(part) if number % 2 else cell(part) for number, part in enumerate(parts))


def main() -> int:
    """Run the named cases, or all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", help="names of cases; default: all")
    parser.add_argument("--page", action="store_true", help="write docs/strangers.md, which needs all cases")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="run only cases that have not yet passed with this kernel",
    )
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="keep the output of each case in this folder")
    args = parser.parse_args()
    known = list(cases())
    chosen = [case for case in known if not args.names or case.name in args.names]
    if unknown := set(args.names) - {case.name for case in chosen}:
        names = ", ".join(case.name for case in known)
        parser.error(f"unknown case: {', '.join(sorted(unknown))}; there are {names}")
    if args.page and args.names:
        parser.error("--page needs all cases; leave out the names")
    kernel = pocket_kernel.require()
    config = (kernel.path.parent / "config").read_text()
    results = []
    for number, case in enumerate(chosen, 1):
        if args.resume and (network_s := passed_before(case, kernel.digest)) is not None:
            results.append(Result(case, "pass", "", "", network_s))
            continue
        print(f"{number}/{len(chosen)} {case.name}: ", end="", flush=True)
        result = judge(case, config)
        results.append(result)
        keep([result], kernel.digest)
        print(f"{result.verdict} ({result.network_s:.0f} s of network time in {result.wall_s:.0f} s) {result.why}")
        if result.verdict == "fail":
            print(result.output[-SHOWN:].rstrip() or "(no output)")
        if args.outputs:
            args.outputs.mkdir(parents=True, exist_ok=True)
            (args.outputs / f"{case.name.replace('/', ' ')}.txt").write_text(result.output)
    if args.page:
        write(PAGE, page(results, f"Linux {kernel.version}, digest {kernel.digest}"))
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in VERDICTS}
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    if counts["skipped"]:
        print("each skipped case says above what it needs; tools/setup.sh strangers installs the packages")
    return 1 if counts["fail"] or counts["error"] else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LinklabError as error:
        sys.exit(f"strangers: {error}")
