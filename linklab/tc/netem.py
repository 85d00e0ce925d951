# SPDX-License-Identifier: BSD-3-Clause
"""netem: delay, loss, duplicates, reordering, and corruption.  Words: tc-netem(8) and iproute2, tc/q_netem.c."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from linklab.errors import InputError, StateError
from linklab.tc.forms import PACKETS_32, RATE, SHARE, SIGNED, TIME_NS, Form, count, number
from linklab.tc.kind import Kind
from linklab.tc.option import OneOf, Options, Several, Switch, Valued

DISTRIBUTIONS = ("", "normal", "pareto", "paretonormal")
"""How delays vary; "" is uniformly."""
LIMIT_PKTS = 1000
"""Packets that netem holds where nothing is said (tc-netem(8)); fewer than a fast link has in flight."""
_SHARES = ("loss", "duplicate", "reorder", "corrupt")
"""In the order in which tc prints them."""
_ALIASES = {"latency": "delay", "drop": "loss"}
_NUMBER = re.compile(r"[+-]?\.?\d")
_SLOT = Form("number", count(2**62), str, str, int)


@dataclass(frozen=True)
class Netem(Kind):
    """Its options hang together: a jitter needs a delay, a correlation its share."""

    def words(self, options: Options, *, spelled: bool = False) -> list[str]:
        """The words after `netem`; StateError for reordering without a delay, which no words ask for."""
        return list(self._words(options, spelled=spelled))

    def _words(self, options: Options, *, spelled: bool) -> Iterator[str]:
        if "limit" in options:
            yield from ("limit", str(options["limit"]))
        yield from self._delay(options, spelled=spelled)
        models = [name for name in ("state", "gemodel") if f"loss_{name}" in options]
        for model in models[:1]:
            yield from ("loss", model, *map(SHARE.exact, options[f"loss_{model}"]))
        for name in _SHARES:
            if options.get(name) and not (name == "loss" and models):
                yield from (name, SHARE.exact(options[name]), *self._correlation(options, name))
        if options.get("gap"):
            if not options.get("delay_ns") or not options.get("reorder"):
                raise StateError("a netem that reorders without a delay is nothing tc can say")
            yield from ("gap", str(options["gap"]))
        if "rate_bit" in options:
            rate = (RATE.spelled if spelled else RATE.exact)(options["rate_bit"])
            rest = [options.get(name, 0) for name in ("rate_overhead", "cell_size", "cell_overhead")]
            yield from ("rate", rate, *map(str, rest))
        if "slot" in options:
            low, high, packets, size = options["slot"]
            yield from ("slot", f"{low}ns", f"{high}ns", "packets", str(packets), "bytes", str(size))
        if options.get("ecn"):
            yield "ecn"

    def _delay(self, options: Options, *, spelled: bool) -> Iterator[str]:
        say = TIME_NS.spelled if spelled else TIME_NS.exact
        if "delay_ns" in options or "jitter_ns" in options:
            yield from ("delay", say(options.get("delay_ns", 0)))
            if "jitter_ns" in options:
                yield from (say(options["jitter_ns"]), *self._correlation(options, "delay"))
        if "distribution" in options:
            yield from ("distribution", options["distribution"])

    @staticmethod
    def _correlation(options: Options, name: str) -> list[str]:
        share = options.get(f"{name}_correlation")
        return [SHARE.exact(share)] if share else []

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The options of words typed after `netem`, with what tc adds to them: a gap of 1 where packets overtake."""
        rest, found = list(words), dict[str, Any]()
        while rest:
            word = rest.pop(0)
            word = _ALIASES.get(word, word)
            values = _numbers(rest) if word in ("delay", "rate", "slot", *_SHARES) else []
            try:
                self._take(word, values, rest, found)
            except (InputError, ValueError, IndexError) as error:
                raise InputError(f'netem: "{word}" cannot be read: {error}') from error
        if found.get("reorder"):
            found.setdefault("gap", 1)
        return found

    def _take(self, word: str, values: list[str], rest: list[str], found: dict[str, Any]) -> None:
        """Take one option with its values into account."""
        match word:
            case "delay":
                names = {"delay_ns": TIME_NS, "jitter_ns": TIME_NS, "delay_correlation": SHARE}
                found |= {name: form.typed(value) for (name, form), value in zip(names.items(), values, strict=False)}
            case "loss" if not values:
                self._take_model(rest, found)
            case "loss" | "duplicate" | "corrupt" | "reorder":
                names = {word: SHARE, f"{word}_correlation": SHARE}
                found |= {name: form.typed(value) for (name, form), value in zip(names.items(), values, strict=False)}
            case "rate":
                found["rate_bit"] = RATE.typed(values[0])
                rest_names = ("rate_overhead", "cell_size", "cell_overhead")
                more = zip(rest_names, values[1:], strict=False)
                found |= {name: int(value) for name, value in more if int(value)}
            case "slot":
                low = TIME_NS.typed(values[0])
                high = TIME_NS.typed(values[1]) if len(values) > 1 else low
                found["slot"] = [low, high, _after(rest, "packets"), _after(rest, "bytes")]
            case "limit" | "gap":
                found[word] = int(rest.pop(0))
            case "distribution":
                found["distribution"] = rest.pop(0)
            case "ecn":
                found["ecn"] = True
            case _:
                raise InputError("netem has no such option")

    @staticmethod
    def _take_model(rest: list[str], found: dict[str, Any]) -> None:
        """Loss after `random`, or by a model, with tc's values for those left out (tc-netem(8), "loss state")."""
        word = rest.pop(0)
        given = [SHARE.typed(each) for each in _numbers(rest)]
        if word == "random":
            found |= dict(zip(("loss", "loss_correlation"), given, strict=False))
        elif word == "state":
            found["loss_state"] = [*given, *[1 - given[0], 0.0, 1.0, 0.0][len(given) - 1 :]]
        elif word == "gemodel":
            found["loss_gemodel"] = [*given, *[1 - given[0], 1.0, 0.0][len(given) - 1 :]]
        else:
            raise InputError(f"a share, random, state, or gemodel must follow, found {word!r}")


def _numbers(rest: list[str]) -> list[str]:
    """Take the words that begin as numbers do."""
    found = []
    while rest and _NUMBER.match(rest[0]):
        found.append(rest.pop(0))
    return found


def _after(rest: list[str], word: str) -> int:
    if rest[:1] != [word]:
        return 0
    del rest[0]
    return int(rest.pop(0))


def mean_loss(options: Options) -> float:
    """The share that a netem loses in the long run, of the random loss or of the model that it has."""
    if "loss_gemodel" in options:
        p, r, bad, good = options["loss_gemodel"]
        return float((p * bad + r * good) / (p + r)) if p + r else float(good)
    if "loss_state" in options:
        # states of tc-netem(8): 1 passes, 4 is a single loss, 3 loses and 2 passes within a burst
        p13, p31, p32, p23, p14 = options["loss_state"]
        if p13 and not p31:
            return 0.0 if p32 and not p23 else (p23 / (p32 + p23) if p32 else 1.0)
        burst = p13 / p31 if p13 else 0.0
        passes = burst * p32 / p23 if p23 else 0.0
        return float((p14 + burst) / (1 + p14 + burst + passes))
    return float(options.get("loss", 0))


def loss_model(options: Options) -> str:
    """How a netem loses where that is not each packet by chance alone, such as "gemodel 0.1,0.3,0.5,0.01"; else "".

    A mean says little of it then: bursts may come after the longest test, with a correlation there are far fewer losses
    than the share says (tc-netem(8), BUGS), and with ecn what supports it is marked instead.
    """
    for model in ("gemodel", "state"):
        if shares := options.get(f"loss_{model}"):
            words = f"{model} {','.join(map(str, shares))}"
            break
    else:
        correlation = options.get("loss_correlation")
        words = f"correlation {correlation}" if options.get("loss") and correlation else ""
    return f"{words} ecn".strip() if options.get("ecn") and mean_loss(options) else words


NETEM = Netem(
    "netem",
    (
        Valued("limit", "limit", PACKETS_32),
        Valued("delay_ns", "delay", TIME_NS),
        Valued("jitter_ns", "jitter", TIME_NS),
        OneOf("distribution", DISTRIBUTIONS[1:], told=False),
        *(Valued(name, name, SHARE) for name in _SHARES),
        *(Valued(f"{name}_correlation", f"{name} correlation", SHARE) for name in ("delay", *_SHARES)),
        Valued("gap", "gap", number(2**31)),
        Valued("rate_bit", "rate", RATE),
        Valued("rate_overhead", "overhead", SIGNED),
        Valued("cell_size", "cell", number(2**31)),
        Valued("cell_overhead", "cell overhead", SIGNED),
        Switch("ecn", "ecn"),
        Several("loss_state", "loss state", SHARE, 5),
        Several("loss_gemodel", "loss gemodel", SHARE, 4),
        Several("slot", "slot", _SLOT, 4),
    ),
    needs=("limit",),
    module="sch_netem",
    rate="rate_bit",
    told=(
        *("delay_ns", "jitter_ns", *_SHARES, "rate_bit", "limit"),
        *("loss_correlation", "loss_gemodel", "loss_state", "ecn"),
    ),
    shown=("delay", "loss", "rate"),
)
