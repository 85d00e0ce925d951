# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial_fetch.py --interval S --length S URL…`: fetch a page, all its objects at once, again and again.

Each fetch is a curl(1) of its own, so nothing is kept from the one before. Prints a line of JSON for each:
{"t": when it began (s since 1970), "total_s": until the last object was there, "objects": [{"url", "size", "total_s",
"connect_s", "first_s"}, …]}, with "failed": why in place of "total_s" where an object did not come.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()  # as all that measures and is not measured

import argparse
import json
import subprocess
import time
from collections.abc import Sequence
from typing import Any

AT_ONCE = 300
"""curl's most; the default is 50."""


def main(argv: Sequence[str] | None = None) -> int:
    """Fetch until the time is over."""
    parser = argparse.ArgumentParser()
    parser.add_argument("urls", nargs="+")
    parser.add_argument(
        "--interval", type=float, required=True, help="between the beginnings of two fetches at least, s"
    )
    parser.add_argument("--length", type=float, required=True, help="no fetch begins later, s")
    parser.add_argument("--longest", type=float, default=60.0, help="a fetch may take, s")
    parser.add_argument("--version", type=int, choices=(4, 6))
    args = parser.parse_args(argv)
    begun = time.monotonic()
    due = begun
    while due - begun < args.length:
        time.sleep(max(0.0, due - time.monotonic()))
        at = time.time()
        print(json.dumps({"t": at, **fetch(args.urls, args.longest, args.version)}), flush=True)
        due = max(due + args.interval, time.monotonic())
    return 0


def fetch(urls: Sequence[str], longest_s: float, version: int | None) -> dict[str, Any]:
    """Fetch all of them at once."""
    argv = ["curl", "--silent", "--parallel", "--parallel-immediate", "--parallel-max", str(AT_ONCE)]
    argv += ["--max-time", f"{longest_s:g}", "--write-out", "%{json}\\n"]
    argv += [f"-{version}"] if version else []
    for url in urls:
        argv += ["--output", "/dev/null", url]
    ran = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    objects, failed = [], []
    for line in ran.stdout.splitlines():
        said = json.loads(line)
        if said["exitcode"] or said["response_code"] >= 400:
            failed.append(f"{said['url']}: {said['errormsg'] or said['response_code']}")
        objects.append(
            {
                "url": said["url"],
                "size": said["size_download"],
                "connect_s": said["time_connect"],
                "first_s": said["time_starttransfer"],
                "total_s": said["time_total"],
            }
        )
    if failed or len(objects) < len(urls):
        return {"failed": failed[0] if failed else ran.stderr.strip() or f"curl: {ran.returncode}", "objects": objects}
    return {"total_s": max(one["total_s"] for one in objects), "objects": objects}


if __name__ == "__main__":
    sys.exit(main())
