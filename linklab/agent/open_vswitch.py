# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch's two programs, started where no service manager does it.

`sudo mn` imports this and little else, since what it reads before Mininet starts costs network time.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

OVS_DEADLINE_S = 20
OVS_COUNTS_CPUS_FROM_S = 10.1
"""Uptime from which Open vSwitch starts threads for packets that the kernel hands it; before, every one is lost ("lost"
in `ovs-dpctl show`), with or without a controller. See docs/architecture.md, Open vSwitch."""


class BuildError(Exception):
    """The network cannot be built; the sentence says which node and why, `fault` whose fault that is.

    The words of `linklab.errors.Fault`, which nothing inside may import.
    """

    def __init__(self, sentence: str, fault: str = "topology") -> None:
        super().__init__(sentence)
        self.fault = fault


def start_ovs() -> None:
    """Start Open vSwitch's two programs where they do not run yet; BuildError if they do not come up."""
    run = Path("/var/run/openvswitch")
    if (run / "db.sock").exists():
        return
    time.sleep(max(0.0, OVS_COUNTS_CPUS_FROM_S - time.clock_gettime(time.CLOCK_MONOTONIC)))
    run.mkdir(parents=True, exist_ok=True)
    base = Path("/run/linklab/ovs")
    base.mkdir(parents=True, exist_ok=True)
    schema = "/usr/share/openvswitch/vswitch.ovsschema"
    if not Path(schema).exists():
        raise BuildError("Open vSwitch is not installed: install openvswitch-switch, or use legacy switches", "machine")
    call(["ovsdb-tool", "create", str(base / "conf.db"), schema])
    log = ["-vconsole:off", "-vsyslog:off", "-vfile:off"]
    call(
        [
            "ovsdb-server",
            str(base / "conf.db"),
            f"--remote=punix:{run}/db.sock",
            "--pidfile",
            "--detach",
            "--no-chdir",
            *log,
        ]
    )
    call(["ovs-vsctl", "--no-wait", "init"])
    call(["ovs-vswitchd", f"unix:{run}/db.sock", "--pidfile", "--detach", "--no-chdir", *log])
    deadline = time.monotonic() + OVS_DEADLINE_S
    while subprocess.run(["ovs-vsctl", "--timeout=1", "show"], capture_output=True, check=False).returncode:
        if time.monotonic() > deadline:
            raise BuildError(f"Open vSwitch does not answer after {OVS_DEADLINE_S} s", "tool")
        time.sleep(0.05)


def call(argv: list[str]) -> None:
    """Run one of Open vSwitch's programs; BuildError with its words if it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"Open vSwitch: {argv[0]} failed: {done.stderr.strip()}", "tool")
