# SPDX-License-Identifier: BSD-3-Clause
"""PDFs → whether screen readers can follow them: each is checked against PDF/UA-1 (ISO 14289-1) by veraPDF.

`python tools/pdf_check.py [FILE]…`; `make pdf-check` writes all manuals and handouts and the handbook, and checks them.
Needs Java 11 or newer and Maven, which fetches veraPDF once, into build/verapdf/. Exit 1 if a file does not comply,
4 if something is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
POM = ROOT / "tools/verapdf.xml"
PLACE = ROOT / "build/verapdf"
MANUALS = ROOT / "build/manuals"
PROGRAM = "org.verapdf.apps.GreenfieldCliWrapper"
MISSING = 4


def main(arguments: list[str]) -> int:
    """Check the files that are named, or all manuals; print each with what is wrong."""
    files = [Path(name) for name in arguments] or sorted(MANUALS.glob("**/*.pdf"))
    if not files:
        print(f"pdf_check: there is no PDF in {MANUALS}; run make manuals first", file=sys.stderr)
        return MISSING
    if lacking := [name for name in ("java", "mvn") if shutil.which(name) is None]:
        print(f"pdf_check: {' and '.join(lacking)} missing; sudo apt-get install default-jre maven", file=sys.stderr)
        return MISSING
    if not list(PLACE.glob("greenfield-apps-*.jar")):
        fetch = ["mvn", "-q", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={PLACE}"]
        if subprocess.run(fetch, check=False).returncode:
            print("pdf_check: Maven could not fetch veraPDF; its own words stand above", file=sys.stderr)
            return MISSING
    bad = 0
    for file in files:
        problems = violations(file)
        bad += bool(problems)
        print(f"{file.name}: {'PDF/UA-1' if not problems else '; '.join(problems)}", flush=True)
    print(f"{len(files) - bad} of {len(files)} comply")
    return 1 if bad else 0


def violations(file: Path) -> list[str]:
    """What veraPDF finds wrong with a file, a sentence for each rule with how often it is broken."""
    program = ["java", "-cp", f"{PLACE}/*", PROGRAM, "--flavour", "ua1", "--format", "xml", str(file)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    try:
        report = ElementTree.fromstring(done.stdout)  # noqa: S314 - veraPDF's own
    except ElementTree.ParseError:
        return [f"veraPDF has no report of it: {done.stderr.strip()[-300:]}"]
    found = [
        f"clause {rule.get('clause')}, {rule.get('failedChecks')} times: {rule.findtext('description')}"
        for rule in report.iter("rule")
        if rule.get("status") == "failed"
    ]
    checked = any(True for _ in report.iter("validationReport"))
    return found if checked else ["veraPDF could not check it"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
