# SPDX-License-Identifier: BSD-3-Clause
"""What the page takes from others: which packages, which of their files, and where the set-up puts them.

`package.json` beside this file names the packages with exact versions, `package-lock.json` their digests. The set-up
calls `python -m linklab.page.assets`; `built/` is not in the repository. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE / "built"
STAMP = BUILT / "made-of"
LISTS = ("package.json", "package-lock.json")
FILES = {
    "xterm.mjs": "@xterm/xterm/lib/xterm.mjs",
    "xterm.css": "@xterm/xterm/css/xterm.css",
    "xterm-fit.mjs": "@xterm/addon-fit/lib/addon-fit.mjs",
    "xterm-web-links.mjs": "@xterm/addon-web-links/lib/addon-web-links.mjs",
    "uplot.mjs": "uplot/dist/uPlot.esm.js",
    "uplot.css": "uplot/dist/uPlot.min.css",
    "xterm-LICENSE.txt": "@xterm/xterm/LICENSE",
    "xterm-fit-LICENSE.txt": "@xterm/addon-fit/LICENSE",
    "xterm-web-links-LICENSE.txt": "@xterm/addon-web-links/LICENSE",
    "uplot-LICENSE.txt": "uplot/LICENSE",
}
"""Name in `built/` → the file of a package."""
NPM_S = 300


def digest() -> str:
    """Of all that decides what `built/` holds."""
    parts = [(HERE / name).read_bytes() for name in LISTS] + [json.dumps(FILES).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def missing() -> str:
    """What to say on the page where the files are not there; "" where they are."""
    if all((BUILT / name).is_file() for name in FILES):
        return ""
    return "The terminals and plots of this page are missing: run make setup in Linklab's clone, then reload the page."


def made() -> bool:
    """Whether `built/` is what the lists ask for."""
    return not missing() and STAMP.is_file() and STAMP.read_text() == digest()


def build() -> str:
    """Fetch the packages and put their files into `built/`, whole or not at all; why it could not be, "" if it is."""
    if made():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is missing; install it (sudo apt-get install npm)"
    with tempfile.TemporaryDirectory(prefix="linklab-page-") as work:
        for name in LISTS:
            shutil.copy(HERE / name, work)
        # no script of a package runs, and the lock's digests refuse any other file
        command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=NPM_S)
        except subprocess.TimeoutExpired:
            return f"npm ci did not end within {NPM_S} s"
        if done.returncode:
            return " ".join(["npm ci failed:", *done.stderr.split()])[:600]
        part = BUILT.with_name("built.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        for name, source in FILES.items():
            shutil.copyfile(Path(work, "node_modules", source), part / name)
        (part / STAMP.name).write_text(digest())
        shutil.rmtree(BUILT, ignore_errors=True)
        part.rename(BUILT)
    return ""


if __name__ == "__main__":
    if problem := build():
        sys.exit(f"the lab page's terminals and plots could not be fetched: {problem}")
