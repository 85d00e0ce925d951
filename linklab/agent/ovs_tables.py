# SPDX-License-Identifier: BSD-3-Clause
"""Rows of Open vSwitch's database as Python values; the tables and columns are those of ovs-vswitchd.conf.db(5)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

OVS_SOCKET = Path("/var/run/openvswitch/db.sock")


class UnreadableError(Exception):
    """Open vSwitch runs, but did not answer; its words."""


def table(name: str, columns: str) -> list[list[Any]]:
    """Rows of a table: sets as lists, maps as dicts, references as their numbers (RFC 7047, 5.1).

    No rows where Open vSwitch does not run.

    Raises:
        UnreadableError: it runs, but gave no table within two seconds.
    """
    if not OVS_SOCKET.exists():
        return []
    asked = ["ovs-vsctl", "--timeout=2", "--format=json", f"--columns={columns}", "list", name]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    try:
        if not done.returncode:
            return rows(done.stdout)
        why = done.stderr.strip() or f"exit status {done.returncode}"
    except (ValueError, KeyError, TypeError):
        why = "it printed no table"
    raise UnreadableError(f"ovs-vsctl could not list {name}: {why}")


def rows(shown: str) -> list[list[Any]]:
    """What `ovs-vsctl --format=json list` printed; ValueError, KeyError, or TypeError if it is not a table."""
    return [[_plain(cell) for cell in row] for row in json.loads(shown)["data"]]


def _plain(cell: Any) -> Any:
    match cell:
        case ["set", list(cells)]:
            return [_plain(each) for each in cells]
        case ["map", list(pairs)]:
            return {_plain(key): _plain(value) for key, value in pairs}
        case ["uuid", number]:
            return number
    return cell
