# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch's two programs, started where no service manager does it: `python3 -m linklab.agent.open_vswitch`.

The shims `ovs-vsctl` and `service` run it when a program first asks for Open vSwitch; `start`, `stop`, `restart` and
`status` are the words of `service openvswitch-switch`.  It imports only the standard library, because the shims start
it as a file, without the package, and because its imports cost network time.
"""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

RUN = Path("/var/run/openvswitch")
OURS = Path("/run/linklab/ovs")

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
    OURS.mkdir(parents=True, exist_ok=True)
    with (OURS / "lock").open("w") as lock:  # so that two scripts that begin together start it only once
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (RUN / "db.sock").exists():
            _start()


def stop_ovs() -> None:
    """Stop both programs and forget every bridge."""
    for name in ("ovs-vswitchd", "ovsdb-server"):
        subprocess.run(["ovs-appctl", "-t", name, "exit"], capture_output=True, check=False)
    (OURS / "conf.db").unlink(missing_ok=True)


def _start() -> None:
    time.sleep(max(0.0, OVS_COUNTS_CPUS_FROM_S - time.clock_gettime(time.CLOCK_MONOTONIC)))
    RUN.mkdir(parents=True, exist_ok=True)
    schema = "/usr/share/openvswitch/vswitch.ovsschema"
    if not Path(schema).exists():
        raise BuildError("Open vSwitch is not installed: install openvswitch-switch, or use legacy switches", "machine")
    call(["ovsdb-tool", "create", str(OURS / "conf.db"), schema])
    log = ["-vconsole:off", "-vsyslog:off", "-vfile:off"]
    call(
        [
            "ovsdb-server",
            str(OURS / "conf.db"),
            f"--remote=punix:{RUN}/db.sock",
            "--pidfile",
            "--detach",
            "--no-chdir",
            *log,
        ]
    )
    call(["ovs-vsctl", "--no-wait", "init"])
    call(["ovs-vswitchd", f"unix:{RUN}/db.sock", "--pidfile", "--detach", "--no-chdir", *log])
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


def main(words: Sequence[str]) -> int:
    """Do what `service openvswitch-switch WORD` does.

    Returns:
        0; 3 from `status` if it does not run, as the LSB asks of init scripts; 1 if it could not be started.
    """
    word = words[0] if words else "start"
    if word == "status":
        runs = (RUN / "db.sock").exists()
        print("openvswitch-switch is running" if runs else "openvswitch-switch is not running")
        return 0 if runs else 3
    try:
        if word in {"stop", "restart", "force-reload-kmod"}:
            stop_ovs()
        if word != "stop":
            start_ovs()
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
