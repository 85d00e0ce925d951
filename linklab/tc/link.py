# SPDX-License-Identifier: BSD-3-Clause
"""A link by departure time as a network is set to it: pairs of addresses, and the words of `linklab link` that set it.

Read from what the agent tells of a network, which may be a hostile student's, so everything is checked. docs/links.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from ipaddress import ip_address

from linklab.errors import InputError, StateError
from linklab.linux.edt_maps import ALWAYS
from linklab.linux.edt_words import WORDS, LinkSpec, read, share_text
from linklab.tc.netem import loss_model, mean_loss

ANY = "any"
Pair = tuple[str, str]
_LONGEST = 400
"""Characters of all words together."""


@dataclass(frozen=True)
class EdtLink:
    """pairs: source and target, addresses or "any"; several are one link's where nodes have several addresses."""

    pairs: tuple[Pair, ...]
    does: str

    @classmethod
    def read(cls, pairs: Sequence[Sequence[str]], does: str) -> EdtLink:
        """The link of those pairs; InputError unless they and the words are as the agent gives them."""
        found = tuple((str(source), str(target)) for source, target in pairs)
        for source, target in found:
            if not _is_end(source) or not _is_end(target) or (target == ANY != source):
                raise InputError(f'"{source}" and "{target}" are not the ends of a link')
        if len(set(found)) != len(found) or not found:
            raise InputError("a link has each pair of addresses once, and at least one")
        try:
            spec = read(does[:_LONGEST].split())
        except ValueError as error:
            raise InputError(str(error)) from error
        if " ".join(spec.words()) != does:
            raise InputError(f'"{does[:_LONGEST]}" is not how `linklab link show` says it')
        return cls(found, does)

    @classmethod
    def of_all(cls) -> EdtLink:
        """One for all packets that belong to no other link, which does nothing yet."""
        return cls(((ANY, ANY),), "")

    @property
    def is_of_all(self) -> bool:
        """Whether it is that one."""
        return self.pairs == ((ANY, ANY),)

    @cached_property
    def spec(self) -> LinkSpec:
        """What it does, in whole numbers."""
        return read(self.does.split())

    # --- what it does, in base units

    def facts(self) -> dict[str, float | str]:
        """What the facts of an interface with netem and a shaper call rate, delay, jitter, loss, …; without zeros."""
        spec = self.spec
        model = [_share(part) for part in (spec.to_bad, spec.to_good, spec.loss_bad, spec.loss_good)]
        found: dict[str, float | str] = {
            "rate": float(spec.rate_bit),
            "delay": spec.delay_ns / 1e9,
            "jitter": spec.jitter_ns / 1e9,
            "loss": round(mean_loss({"loss_gemodel": model}), 12),
            "loss_model": loss_model({"loss_gemodel": model}) if spec.to_bad else "",
            **{name: _share(getattr(spec, name)) for name in ("duplicate", "corrupt", "reorder")},
            "queue": float(spec.queue_bytes or round(spec.longest_queue_ns * spec.rate_bit / 8e9)),
        }
        return {name: value for name, value in found.items() if value}

    @property
    def untold(self) -> str:
        """The words of what has no fact of its own."""
        cells = self.cells()
        return " ".join(f"{word} {cells[word]}" for word in ("distribution", "ecn", "orphan") if word in cells)

    def cells(self) -> dict[str, str]:
        """Each of its words with what follows it, as the columns of `linklab link load` have them."""
        found: dict[str, str] = {}
        word = ""
        for each in self.does.split():
            if each in WORDS and each not in found:
                word, found[each] = each, ""
            else:
                found[word] = f"{found[word]} {each}".lstrip()
        return found

    # --- the same with something changed

    def with_loss(self, lost: float) -> EdtLink:
        """It loses that share by chance, and nothing in bursts."""
        value = min(ALWAYS, round(lost * 2**32))
        return self._with(loss_good=value, loss_bad=0, to_bad=0, to_good=0)

    def with_delay(self, delay_s: float) -> EdtLink:
        """Of 0, what hangs on a delay goes with it."""
        delay_ns = round(delay_s * 1e9)
        if not delay_ns:
            return self._with(delay_ns=0, jitter_ns=0, distribution="uniform", reorder=0)
        return self._with(delay_ns=delay_ns)

    def with_rate(self, rate_bit: float) -> EdtLink:
        """The same if it has no rate."""
        return self._with(rate_bit=round(rate_bit)) if self.spec.rate_bit else self

    def with_queue(self, size_bytes: float) -> EdtLink:
        """The same if it has no rate, and so no queue."""
        return self._with(queue_bytes=round(size_bytes), queue_ns=None) if self.spec.rate_bit else self

    def _with(self, **fields: int | str | None) -> EdtLink:
        try:
            changed = " ".join(replace(self.spec, **fields).words())  # type: ignore[arg-type] # of our own callers
            return EdtLink.read(self.pairs, changed)
        except (ValueError, InputError) as error:
            raise StateError(f"has a link that cannot be so: {error}") from error


def _share(part: int) -> float:
    """The shortest number that is this part of 2^32."""
    return float(Fraction(share_text(part).removesuffix("%")) / 100)


def _is_end(text: str) -> bool:
    if text == ANY:
        return True
    try:
        return str(ip_address(text)) == text and "%" not in text
    except ValueError:
        return False
