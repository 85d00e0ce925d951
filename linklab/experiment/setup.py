# SPDX-License-Identifier: BSD-3-Clause
"""A data set → what was the same in all repetitions of its run: test, parameters, path, disciplines, settings."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from linklab.data import Dataset

_OURS = ("lab", "slug", "step", "test", "parameters", "path", "topology", "source", "targets", "network")
"""Of Linklab's metadata what is the same in repetitions; so are clock, engine and profile."""

_FLENTS = ("NAME", "LENGTH", "STEP_SIZE", "HOSTS", "IP_VERSION", "TEST_PARAMETERS")
"""Of Flent's metadata what is the same in repetitions."""

_OF_THE_MACHINE = ("_available_congestion_control", "_allowed_congestion_control", ".tcp_mem")


def setup_of(data: Dataset) -> str:
    """What the repetitions of a run have in common, as text."""
    ours = {key: data.metadata.get(key) for key in (*_OURS, "clock", "engine", "profile")}
    flents = {key: data.flent.get(key) for key in _FLENTS}
    title = re.sub(r"\b\d+\b", "#", str(data.flent.get("TITLE") or ""))
    return json.dumps([ours, flents, title, _disciplines(data), _settings(data)], sort_keys=True)


def _disciplines(data: Dataset) -> list[Any]:
    """The disciplines that the file found on its way, with their parameters: a person may have changed them.

    Handles are left out, since the kernel counts them on, and seeds, which are chance.
    """
    remote = data.flent.get("REMOTE_METADATA")
    hosts = [data.flent, *(remote[name] for name in sorted(remote))] if isinstance(remote, dict) else [data.flent]
    ports = [port for host in hosts if isinstance(host, dict) for port in _ports(host) if isinstance(port, dict)]
    return [[port.get("iface"), *map(_discipline, port.get("qdiscs") or ())] for port in ports]


def _discipline(one: Any) -> list[Any]:
    if not isinstance(one, dict):
        return []
    params = one.get("params")
    if isinstance(params, dict):
        params = {key: value for key, value in params.items() if key != "seed"}
    return [one.get("name"), params]


def _ports(host: Mapping[str, Any]) -> list[Any]:
    """Of a host all ports, where Linklab wrote them, else the one on the way."""
    ports = host.get("PORTS")
    return ports if isinstance(ports, list) else [host.get("EGRESS_INFO")]


def _settings(data: Dataset) -> dict[str, Any]:
    """What decides how TCP behaves, without what only says which algorithms are loaded and how much memory there is."""
    found = data.flent.get("SYSCTLS")
    settings = found if isinstance(found, dict) else {}
    return {name: value for name, value in settings.items() if not name.endswith(_OF_THE_MACHINE)}
