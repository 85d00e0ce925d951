# SPDX-License-Identifier: BSD-3-Clause
"""`python3 -m linklab.agent.mn OPTION…`: Mininet's own `mn` with what it needs inside a pocket.

It starts Open vSwitch's programs, because no service manager has done so.  Beside a network that Linklab built it
refuses to run: it would build the same interfaces again, fail, and remove that network.
"""

from __future__ import annotations

import os
import runpy
import shutil
import sys
from pathlib import Path

import mininet.net

from linklab.agent import iperf, scripts
from linklab.agent.open_vswitch import start_ovs

SHIMS = Path(__file__).resolve().parent / "shims"


def main() -> None:
    """Run it in this process, as the program it is."""
    scripts.refuse_beside_network("mn")
    folders = [folder for folder in os.environ["PATH"].split(":") if Path(folder).resolve() != SHIMS]
    found = shutil.which("mn", path=":".join(folders))
    if found is None:
        sys.exit("mn: Mininet is not installed")
    os.environ.pop("PYTHONSAFEPATH", None)  # was for this program (shims/mn), not for a student's own on the hosts
    start_ovs()
    iperf.mend(mininet.net)
    sys.argv[0] = found
    runpy.run_path(found, run_name="__main__")


if __name__ == "__main__":
    main()
