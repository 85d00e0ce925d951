# SPDX-License-Identifier: BSD-3-Clause
"""Which engine can run which lab, exercise and problem on this machine, and why one cannot.

What they need: `linklab.tc.needs` and `linklab.topology.needs`; what this machine's kernel has:
`linklab.engine.host_kernel`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from linklab.engine import host_kernel
from linklab.exercise.load import exercise_folders, load_exercise
from linklab.exercise.model import Exercise
from linklab.lab.model import Lab, lab_folders, load_lab
from linklab.lab.sections import chosen_steps
from linklab.manual.model import Commands, Step, WriteFile
from linklab.tc.needs import Needs, of_text
from linklab.topology import Topology
from linklab.topology.needs import of_topology

_COMMANDS_IN = ("exercise.toml", "handout.md", "key.md", "solution/*")


@dataclass(frozen=True)
class Fit:
    """Whether a lab or an exercise can run on each engine; `pocket` and `host` say why not, "" where it can."""

    name: str
    needs: str
    pocket: str
    host: str

    @property
    def engines(self) -> list[str]:
        """The engines that can, the one to take first."""
        return [engine for engine, why in (("pocket", self.pocket), ("host", self.host)) if not why]


def of_lab(lab: Lab, section: str | None = None) -> Needs:
    """What a replay of a lab, or of one section, needs: of its drawing, and of what its steps type."""
    found = of_topology(lab.load_topology())
    for step in chosen_steps(lab.manual, section):
        found |= of_text(_typed(step))
    return found


def _typed(step: Step) -> str:
    if isinstance(step.action, Commands):
        return "\n".join(step.action.lines)
    return step.action.text if isinstance(step.action, WriteFile) else ""


def of_exercise(exercise: Exercise) -> Needs:
    """What an exercise and its model answer need, wherever its files say it."""
    drawn = exercise.folder / exercise.topology if exercise.topology else None
    found = of_topology(Topology.load(drawn) if drawn else None)  # else the student draws it
    for pattern in _COMMANDS_IN:
        for path in sorted(exercise.folder.glob(pattern)):
            if path.is_file():
                found |= of_text(path.read_text(encoding="utf-8", errors="replace"))
    return found


def all_needs() -> dict[str, Needs]:
    """Of every lab, exercise and problem by its short name; MissingError if this is not a clone."""
    found = {}
    for folder in lab_folders():
        lab = load_lab(folder)
        found[f"Lab {lab.number}"] = of_lab(lab)
    for folder in exercise_folders():
        exercise = load_exercise(folder)
        found[f"{exercise.kind.title()} {exercise.number}"] = of_exercise(exercise)
    return found


def fits(wanted: Mapping[str, Needs], *, pocket: str, host: str) -> list[Fit]:
    """Each against both engines.

    Args:
        wanted: needs by name.
        pocket: why nothing can run in the pocket here, "" if it can.
        host: why nothing can run on the host engine here, "" if its warden may be started; what the kernel lacks is
            said beside it.
    """
    everything = Needs()
    for needs in wanted.values():
        everything |= needs
    lacking = host_kernel.lacks(everything)
    return [Fit(name, str(needs), pocket, _why_not(needs, lacking, host)) for name, needs in wanted.items()]


def _why_not(needs: Needs, lacking: Needs | None, host: str) -> str:
    if lacking is None:
        return host or "what this kernel has cannot be found out without root"
    missing = needs & lacking
    return "; ".join(why for why in (host, f"this kernel lacks {missing}" if missing else "") if why)


def require(lab: Lab, section: str | None) -> None:
    """MissingError, naming what is missing, if this machine's kernel cannot run the lab (or the section)."""
    host_kernel.require(of_lab(lab, section), lab.heading if section is None else f"{lab.heading}, section {section},")


def grouped(found: Iterable[Fit]) -> dict[tuple[str, str], list[str]]:
    """Names by what is said of them: (pocket, host) → those to which it applies."""
    groups: dict[tuple[str, str], list[str]] = {}
    for fit in found:
        groups.setdefault((fit.pocket, fit.host), []).append(fit.name)
    return groups
