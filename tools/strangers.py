# SPDX-License-Identifier: BSD-3-Clause
"""Run what strangers bring in pockets, and write docs/strangers.md: what, by which command, its result, why not.

`python tools/strangers.py [NAME]…`; `make strangers` runs all and writes the page. tests/strangers/scripts.toml and
tools.toml say what each must show. Each case gets a pocket of its own on the virtual clock, so its output is the same
again. Nothing is installed: a case whose packages are missing is skipped, and the command that installs them is said.
Results are kept in build/strangers/results.json, and `--resume` runs only what has not yet passed with this kernel.
Exit 1 if any case failed or ended in an error; a skipped one is no failure.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from setup import STRANGERS_PYTHON, missing_packages  # the script beside this one

from linklab import pocket_kernel
from linklab.base import toml
from linklab.base.files import write
from linklab.engine.api import Background, Typed
from linklab.engine.pocket import PocketEngine
from linklab.errors import DeadlineError, LinklabError
from linklab.topology import Topology

ROOT = Path(__file__).resolve().parent.parent
CASES = ROOT / "tests/strangers"
PAGE = ROOT / "docs/strangers.md"
KEPT = ROOT / "build/strangers/results.json"
PAIR = ROOT / "topologies/Lab 8.mn"
VERDICTS = ("pass", "fail", "error", "skipped")
"""An error is one of Linklab or of this machine, not of the case."""
DEADLINE_S = 600
"""Of wall time for one case, on a machine that does other things too; a case takes seconds on one that does not."""
SHOWN = 600
"""The end of an output that is shown where a case failed, in characters."""
INTRODUCTION = """# What strangers bring

Written by `make strangers`; do not edit.

Mininet scripts and network tools that know nothing of Linklab, each in a pocket of its own.
The scripts are in `tests/strangers/scripts/`.
Run one as any Mininet script: `linklab shell` in a folder with the script, then `sudo python3 NAME.py`.
`tests/strangers/scripts.toml` and `tools.toml` say what each must show, as exactly as theory or configuration allows.
A tool is one command on h1 of the network h1 – s1 – s2 – h2, with its server, if it needs one, on h2.

`tools/setup.sh strangers` installs the packages; nothing else of Linklab needs them.
"""


@dataclass(frozen=True)
class Case:
    """One script or tool, what it needs, and the regular expressions that its output must show in this order."""

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
        """The script, None for a tool."""
        return None if self.command else CASES / "scripts" / f"{self.name}.py"


@dataclass
class Result:
    """What became of a case: its verdict, why, and what it showed in how much network time."""

    case: Case
    verdict: str
    why: str = ""
    output: str = ""
    network_s: float = 0.0
    wall_s: float = field(default=0.0, compare=False)


def cases(folder: Path = CASES) -> list[Case]:
    """All of them, scripts first."""
    return [
        Case(**entry)
        for name in ("scripts.toml", "tools.toml")
        for entry in toml.loads((folder / name).read_text())["case"]
    ]


def missing(expected: Sequence[str], output: str) -> str | None:
    """The first pattern that the output does not show after the one before; None if it shows all."""
    at = 0
    for pattern in expected:
        found = re.compile(pattern, re.MULTILINE).search(output, at)
        if found is None:
            return pattern
        at = found.end()
    return None


def wants(case: Case, config: str) -> str | None:
    """What is missing for a case on this machine, None if nothing is."""
    if packages := missing_packages("\n".join(case.packages)) if case.packages else []:
        return f"needs the packages {', '.join(packages)}: run tools/setup.sh strangers"
    if modules := [name for name in case.python if not (STRANGERS_PYTHON / name).is_dir()]:
        return f"needs the Python packages {', '.join(modules)}: run tools/setup.sh strangers"
    if options := [name for name in case.kernel if f"CONFIG_{name}=y" not in config.splitlines()]:
        return f"needs {', '.join(options)} in the pocket's kernel: run make kernel"
    return None


def perform(case: Case, work: Path) -> tuple[str, float]:
    """Run a case in a pocket of its own; its output and how much network time it took."""
    if case.script is None:
        typed = [Typed("h2", case.server, Background())] if case.server else []
        command, terminal, topology = case.command, "h1", Topology.load(PAIR)
    else:
        shutil.copy(case.script, work)
        path = f"PYTHONPATH={STRANGERS_PYTHON} " if case.python else ""
        typed, command, terminal, topology = [], f"sudo {path}python3 {case.script.name}", "client", None
    with PocketEngine().start(topology, workdir=work) as network:
        for action in typed:
            network.run([action])
            network.run([Typed("client", "sleep 2")])
        done = network.run([Typed(terminal, command)], deadline_s=DEADLINE_S)[0]
    return done.output, done.end_s - done.start_s


def judge(case: Case, config: str) -> Result:
    """Run it if it can run here, and compare."""
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


def kept(digest: str) -> dict[str, float]:
    """The cases that passed with this kernel, and the network time that each took."""
    if not KEPT.is_file():
        return {}
    saved = json.loads(KEPT.read_text())
    return dict(saved["passed"]) if saved["digest"] == digest else {}


def keep(results: Sequence[Result], digest: str) -> None:
    """Write down what passed, with what passed before with this kernel and has not been run since."""
    passed = kept(digest)
    for result in results:
        passed.pop(result.case.name, None)
        if result.verdict == "pass":
            passed[result.case.name] = result.network_s
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    write(KEPT, json.dumps({"digest": digest, "passed": passed}, indent=1) + "\n")


def page(results: Sequence[Result], kernel: str) -> str:
    """Return docs/strangers.md."""
    scripts = [result for result in results if result.case.script is not None]
    tools = [result for result in results if result.case.script is None]
    lines = [INTRODUCTION, f"Kernel: {kernel}. {_count(scripts, 'scripts')} {_count(tools, 'tools')}", ""]
    lines += ["## Scripts", "", "| kind | script | result | network time | |", "|---|---|---|---|---|"]
    lines += [
        f"| {each.case.kind} | `{each.case.name}.py` | {each.verdict} | {each.network_s:.0f} s | {_cell(each.why)} |"
        for each in scripts
    ]
    lines += ["", "## Tools", "", "| tool | command | result | |", "|---|---|---|---|"]
    lines += [
        f"| {each.case.name} | `{_cell(each.case.command)}` | {each.verdict} | {_cell(each.why)} |" for each in tools
    ]
    return "\n".join(lines) + "\n"


def _count(results: Sequence[Result], what: str) -> str:
    passed = sum(result.verdict == "pass" for result in results)
    return f"{passed} of {len(results)} {what} show what they must."


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def main() -> int:
    """Run the named cases, or all of them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("names", nargs="*", help="cases; default: all")
    parser.add_argument("--page", action="store_true", help="write docs/strangers.md; for all cases only")
    parser.add_argument("--resume", action="store_true", help="leave out what has passed with this kernel")
    parser.add_argument("--outputs", type=Path, metavar="DIR", help="keep what each case showed there")
    args = parser.parse_args()
    chosen = [case for case in cases() if not args.names or case.name in args.names]
    if unknown := set(args.names) - {case.name for case in chosen}:
        parser.error(f"there are no cases {', '.join(sorted(unknown))}")
    if args.page and args.names:
        parser.error("the page has every case; name none")
    kernel = pocket_kernel.require()
    config = (kernel.path.parent / "config").read_text()
    before = kept(kernel.digest) if args.resume else {}
    results = []
    for number, case in enumerate(chosen, 1):
        if case.name in before:
            results.append(Result(case, "pass", "", "", before[case.name]))
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
        print("skipped cases say what they need above; tools/setup.sh strangers installs packages")
    return 1 if counts["fail"] or counts["error"] else 0


if __name__ == "__main__":
    sys.exit(main())
