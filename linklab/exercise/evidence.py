# SPDX-License-Identifier: BSD-3-Clause
"""What is known of a submission, with units: parameters, facts of its state, metrics of its experiments, answers.

Pure. A fact or metric is a number or a word; its name says its unit (docs/writing-an-exercise.md, "Facts", "Metrics").
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from linklab.exercise.answers import Answers
from linklab.exercise.model import Exercise
from linklab.exercise.observed import Sessions
from linklab.judge.dimension import WORD
from linklab.judge.evaluation import Lookup
from linklab.judge.quantity import Value
from linklab.judge.samples import Metrics, median
from linklab.state.facts import ARROW

Facts = Mapping[str, "float | str"]
Ways = Callable[[str], "float | str | None"]

_UNITS = {
    **dict.fromkeys(("rate", "pacing", "throughput"), "bit/s"),
    **dict.fromkeys(("delay", "jitter", "mean", "max"), "s"),
    **dict.fromkeys(("queue", "burst", "mtu", "rmem", "wmem"), "bytes"),
}
SHARES = ("loss", "duplicate", "corrupt", "reorder")
"""Facts and metrics that are shown as a percentage."""
ON_THE_WAY = ("rate", "delay", "jitter", *SHARES, "loss_model")
"""What happens to packets between two nodes, whichever interface and discipline does it."""
WAY = ".way"
"""Ends the name of the fact by which interfaces packets go from one node to another."""
_BY_INTERFACE = (*ON_THE_WAY, "queue", "burst", "discipline", "options")
_SAME = 1e-3
"""Relative difference within which two numbers read back from the kernel are the same; it rounds rates and times."""


@dataclass(frozen=True)
class Evidence:
    """What is known of a submission.

    lookup: parameters and derived quantities; fault: id of the planted one.
    facts: of the submitted state; references: "start" and "healthy" → their facts.
    typed: what was typed, network by network; hosts: names of the topology's hosts.
    impossible: why no network can be set to the state that was handed in; what it says counts for nothing then.
    ways: gives facts of what happens between two nodes ("h1>h2.delay"), which follow from the state; reference_ways:
    the same of a reference.
    metrics: experiment → metric → a value for each seed, base units.
    broken: experiment → why the network gave no number (the submission's doing); errors: why our tools gave none.
    """

    exercise: Exercise
    lookup: Lookup
    fault: str
    facts: Facts
    references: Mapping[str, Facts]
    metrics: Metrics
    answers: Answers
    broken: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    ways: Ways = lambda name: None
    typed: Sessions = ()
    hosts: frozenset[str] = frozenset()
    impossible: str = ""
    reference_ways: Mapping[str, Ways] = field(default_factory=dict)

    def since(self, reference: str, along: Sequence[str] = (), named: Sequence[str] = ()) -> list[Change]:
        """What differs in the submitted state from a reference.

        Args:
            reference: "start" or "healthy".
            along: ways ("h1>h2") along which what happens to packets is compared, in place of what interfaces are set
                to.
            named: facts that are compared too where they are of ways ("h1>h2.loss_model").
        """
        found = self._between(self.references[reference], self._ways(reference), self.facts, self.ways, along)
        known = {change.fact for change in found}
        ways = [
            {name: way for name in named if ARROW in name and (way := of(name))}
            for of in (self._ways(reference), self.ways)
        ]
        return found + [change for change in changes(*ways) if change.fact not in known]

    def planted(self, along: Sequence[str] = ()) -> list[Change]:
        """What the planted fault changed; along: as for `since`."""
        before, after = self._ways("healthy"), self._ways("start")
        return self._between(self.references["healthy"], before, self.references["start"], after, along)

    def _ways(self, reference: str) -> Ways:
        return self.reference_ways.get(reference, lambda name: None)

    def _routes(self, ways: Ways) -> dict[str, float | str]:
        """Those of the facts such as "h1>h2.way" that a check names: another way is another path, whatever is set."""
        named = {name for check in self.exercise.checks for name in check.only if name.endswith(WAY)}
        return {name: value for name in named if (value := ways(name)) is not None}

    def _between(
        self, before: Facts, before_ways: Ways, after: Facts, after_ways: Ways, along: Sequence[str]
    ) -> list[Change]:
        if not along:
            return changes({**before, **self._routes(before_ways)}, {**after, **self._routes(after_ways)})
        return changes(_along(before, before_ways, along), _along(after, after_ways, along))

    def name(self, name: str) -> Value | None:
        """Value of a parameter, answer or metric; None where there is none, KeyError for no such name."""
        first, _, rest = name.partition(".")
        if first == "answer" and rest:
            return self.answers.value(rest)
        if first in {experiment.id for experiment in self.exercise.experiments} and rest:
            samples = self.metrics.get(first, {}).get(rest)
            middle = median(samples or ())
            return None if middle is None else fact_value(rest, middle)
        return self.lookup(name)

    def fact(self, name: str) -> Value | None:
        """Value of a fact of the submitted state; None where it is absent, or the state is impossible."""
        if self.impossible:
            return None
        found = self.facts.get(name)
        if found is None:
            found = self.ways(name)
        return None if found is None else fact_value(name, found)


@dataclass(frozen=True)
class Change:
    """A fact that differs; None where it is absent."""

    fact: str
    before: float | str | None
    after: float | str | None

    @property
    def words(self) -> tuple[str, str, str]:
        """(fact, before, after) for people."""
        return self.fact, _shown(self.fact, self.before), _shown(self.fact, self.after)

    def __str__(self) -> str:
        fact, before, after = self.words
        where, _, what = fact.rpartition(".")
        where = where if "." in where else where.replace(">", " → ")  # a way, no link by departure time
        if self.after is None and what in ("rate", "delay", "loss"):
            noun = {"rate": "rate limit", "delay": "delay", "loss": "loss"}[what]
            return f"the {noun} of {where} ({before}) has been removed"
        if self.before is None:
            return f"{where} has got {what} {after}"
        return f"{what} of {where} was {before} and is {after}"


def _along(found: Facts, ways: Ways, along: Sequence[str]) -> dict[str, float | str]:
    """Facts with what happens on ways in place of what disciplines are set to."""
    kept = {name: value for name, value in found.items() if name.rpartition(".")[2] not in _BY_INTERFACE}
    on_the_way = {f"{way}.{what}": ways(f"{way}.{what}") for way in along for what in ON_THE_WAY}
    return kept | {name: value for name, value in on_the_way.items() if value}


def fact_value(name: str, found: float | str) -> Value:
    """A fact or metric with its unit; shares are shown as percents."""
    if isinstance(found, str):
        return Value(unit=WORD, word=found)
    share = name.rpartition(".")[2] in SHARES
    return Value(found, unit_of(name), text=f"{100 * found:.3g} %" if share else "")


def unit_of(name: str) -> str:
    """Base unit of a metric ("ping.mean") or fact ("s1-eth2.rate") by its name."""
    if name == "backlog.max":
        return "bytes"
    head = name.partition(".")[0]
    return "bit/s" if head == "throughput" else _UNITS.get(name.rpartition(".")[2], "1")


def changes(before: Facts, after: Facts) -> list[Change]:
    """The facts that differ, by name; MAC addresses are drawn anew in every network and left out."""
    found = []
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if name.endswith(".mac") or one == other:
            continue
        if (
            isinstance(one, float)
            and isinstance(other, float)
            and abs(one - other) <= _SAME * max(abs(one), abs(other))
        ):
            continue
        found.append(Change(name, one, other))
    return found


def _shown(fact: str, value: float | str | None) -> str:
    return "none" if value is None else fact_value(fact, value).shown
