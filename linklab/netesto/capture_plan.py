# SPDX-License-Identifier: BSD-3-Clause
"""The captures of an experiment (DO_TCPDUMP) → the programs that run inside, and the files that come of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from linklab.experiment.place import PathPort, TrialPlace
from linklab.netesto import names
from linklab.netesto.campaign_experiment import CampaignExperiment, ScriptCapture
from linklab.netesto.command_table import ANY_HOST
from linklab.netesto.settings_plan import ports_of
from linklab.netesto.site import Site

SNAP_BYTES = 128
"""Of each packet that DO_TCPDUMP keeps."""


def capture_programs(
    experiment: CampaignExperiment, nodes: Mapping[str, str], site: Site, place: TrialPlace, version: int | None
) -> Iterator[dict[str, Any]]:
    """What DO_TCPDUMP starts; one from before the first flow is there before all of them."""
    first_s = min(group.start_s for group in experiment.groups)
    ports = ports_of(experiment, site, nodes)
    for number, capture in _due(experiment):
        node = nodes[capture.host]
        interface = ports[node][0].interface if node in ports else "any"
        server = "" if capture.server == ANY_HOST else nodes[capture.server]
        argv = ["tcpdump", "-n", "-Z", "root", "-K", "-s", str(SNAP_BYTES), "-c", str(capture.packets)]
        argv += ["-i", interface, "-w", "-"]  # of a file it would want to be the owner, which not every user may
        argv += ["host", place.address(server, version)] if server else []
        program = {"id": f"capture-{number}", "node": node, "argv": argv}
        if capture.at_s <= first_s:
            yield {**program, "role": "server"}
        else:
            yield {**program, "role": "flow", "start_s": capture.at_s, "stop_s": experiment.length_s}


def capture_file(number: int) -> str:
    """The packets of a DO_TCPDUMP in the folder of the runner's outputs, by its number from 1."""
    return f"capture-{number}.out"


def captured(experiment: CampaignExperiment, nodes: Mapping[str, str]) -> dict[str, str]:
    """The files of DO_TCPDUMP: their names in the runner's outputs, and in the experiment's folder."""
    found: dict[str, str] = {}
    for number, capture in _due(experiment):
        server = capture.server if capture.server == ANY_HOST else nodes[capture.server]
        name = names.capture(nodes[capture.host], server)
        stem, dot, suffix = name.rpartition(".")
        while name in found.values():  # one machine may have two names
            name = f"{stem}-{number}{dot}{suffix}"
        found[capture_file(number)] = name
    return found


def _due(experiment: CampaignExperiment) -> list[tuple[int, ScriptCapture]]:
    """The captures with their numbers from 1, without those that would begin when the last flow has ended."""
    return [(number, one) for number, one in enumerate(experiment.captures, 1) if one.at_s < experiment.length_s]


def capture_notes(
    experiment: CampaignExperiment, nodes: Mapping[str, str], ports: Mapping[str, Sequence[PathPort]]
) -> Iterator[str]:
    """What a person may not expect of the captures, a sentence each."""
    due = _due(experiment)
    if late := len(experiment.captures) - len(due):
        what = "a DO_TCPDUMP stands" if late == 1 else f"{late} DO_TCPDUMP stand"
        yield f"{what} where the last flow has ended, so nothing is captured there"
    for node in dict.fromkeys(nodes[one.host] for _, one in due):
        first, *others = [port.interface for port in ports.get(node, ())] or [""]
        if others:
            yield f"packets of {node} are captured at {first} alone, and not at {', '.join(others)}"
