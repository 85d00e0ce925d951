# SPDX-License-Identifier: BSD-3-Clause
"""The words of `linklab link set`, such as `rate 10mbit delay 20ms` ↔ what a link does, in exact whole numbers.

The words are those of tc-netem(8) where it has the same thing. Rates are bit/s, times ns, shares fractions of 2^32.
ValueError says which word is wrong and what it has to be.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction

from linklab.linux.edt_maps import ALWAYS, DISTRIBUTIONS, NO_LIMIT

QUEUE_NS = 2_000_000_000
"""What a queue holds where nothing is said: 2 s of the rate, which at 100 Mbps is more than TCP's window may be."""
FRAME_BYTES = 1514
LEAST_BYTES = 64
"""The smallest frame: no more packets than this allows fit into a time of a rate."""
PIECE_BYTES = 65536
"""What a sender may hand down in one piece (GSO), which is charged as a whole."""
RATE_MOST, RATE_LEAST = 10**12, 1000
TIME_MOST = 1000 * 10**9
HELD_MOST_NS = 4000 * 10**9
"""fq holds no packet for longer than 2^32 µs."""
HELD_WITHOUT_RATE = 1_000_000
"""Packets that fq may have to hold of a link without a rate, which limits nothing itself."""
_NUMBER = r"(\d+(?:\.\d*)?|\.\d+)"
_RATE = re.compile(_NUMBER + r"(|k|m|g|t|ki|mi|gi|ti)bit", re.ASCII | re.IGNORECASE)
_TIME = re.compile(_NUMBER + r"(ns|us|µs|ms|s)", re.ASCII | re.IGNORECASE)
_SIZE = re.compile(_NUMBER + r"(b|kb|mb|gb|kib|mib|gib)", re.ASCII | re.IGNORECASE)
_SHARE = re.compile(_NUMBER + r"%", re.ASCII)
_PREFIX = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_TIMES = {"ns": 1, "us": 10**3, "µs": 10**3, "ms": 10**6, "s": 10**9}
_SIZES = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}


@dataclass(frozen=True)
class LinkSpec:
    """What a link does to the packets of one direction.

    rate_bit: 0 is no limit. queue_ns: the longest wait, or None for queue_bytes at the rate, or for QUEUE_NS.
    ecn_ns: the wait from which packets are marked; None is never.
    loss_good, loss_bad: the share lost in each state of Gilbert and Elliott's model, where to_bad and to_good are the
    chances of leaving the other; a random loss is the model's good state alone.
    orphan: whether a packet that is held belongs to the socket that sent it no more.
    """

    rate_bit: int = 0
    delay_ns: int = 0
    jitter_ns: int = 0
    distribution: str = "uniform"
    loss_good: int = 0
    loss_bad: int = 0
    to_bad: int = 0
    to_good: int = 0
    duplicate: int = 0
    reorder: int = 0
    corrupt: int = 0
    queue_ns: int | None = None
    queue_bytes: int | None = None
    ecn_ns: int | None = None
    orphan: bool = True

    def __post_init__(self) -> None:
        """Check what hangs together; ValueError says what is missing."""
        if self.jitter_ns and not self.delay_ns:
            raise ValueError("a jitter varies a delay: give one, such as delay 20ms jitter 2ms")
        if self.distribution != "uniform" and not self.jitter_ns:
            raise ValueError("a distribution is one of the jitter: give one, such as jitter 2ms")
        if self.reorder and not self.delay_ns:
            raise ValueError("reordering needs a delay, which the packets that overtake do without")
        if not self.rate_bit and any(value is not None for value in (self.queue_ns, self.queue_bytes, self.ecn_ns)):
            raise ValueError("without a rate there is no queue: give one, such as rate 10mbit")
        frame_ns = FRAME_BYTES * 8 * 10**9 // self.rate_bit if self.rate_bit else 0
        if self.longest_queue_ns < frame_ns:
            raise ValueError(f"the queue must hold a frame of {FRAME_BYTES} bytes; give it at least that")
        if self.held_ns > HELD_MOST_NS:
            raise ValueError(f"a packet may be held for {HELD_MOST_NS // 10**9} s at most; make queue or delay shorter")

    @property
    def longest_queue_ns(self) -> int:
        """The longest wait for the line; 0 without a rate."""
        if not self.rate_bit:
            return 0
        if self.queue_bytes is not None:
            return self.queue_bytes * 8 * 10**9 // self.rate_bit
        return QUEUE_NS if self.queue_ns is None else self.queue_ns

    @property
    def held_ns(self) -> int:
        """The longest that a packet may be on its way."""
        return held_ns(self.rate_bit, self.longest_queue_ns, self.delay_ns + 4 * self.jitter_ns)

    @property
    def held_pkts(self) -> int:
        """How many packets of this link fq may have to hold at once."""
        return held_pkts(self.rate_bit, self.longest_queue_ns, self.delay_ns + 4 * self.jitter_ns)

    def values(self, number: int) -> dict[str, int]:
        """The fields of `struct edt_link`, for the state of that number."""
        shares = ("to_bad", "to_good", "loss_good", "loss_bad", "duplicate", "reorder", "corrupt")
        return {
            "id": number,
            "rate_bit": self.rate_bit,
            "delay_ns": self.delay_ns,
            "jitter_ns": self.jitter_ns,
            "queue_ns": self.longest_queue_ns if self.rate_bit else NO_LIMIT,
            "queue_bytes": self.queue_bytes or 0,
            "ecn_ns": NO_LIMIT if self.ecn_ns is None else self.ecn_ns,
            **{name: getattr(self, name) for name in shares},
            "distribution": DISTRIBUTIONS.index(self.distribution),
            "holds_socket": int(not self.orphan),
        }

    @classmethod
    def of_values(cls, values: dict[str, int]) -> LinkSpec:
        """What a link does whose fields are these; a queue of QUEUE_NS is the default."""
        names = {field.name for field in fields(cls)} - {"queue_ns", "queue_bytes", "ecn_ns", "distribution", "orphan"}
        queue, size, ecn = values["queue_ns"], values["queue_bytes"] or None, values["ecn_ns"]
        return cls(
            **{name: values[name] for name in names},
            distribution=DISTRIBUTIONS[values["distribution"]],
            queue_ns=None if size or not values["rate_bit"] or queue == QUEUE_NS else queue,
            queue_bytes=size,
            ecn_ns=None if ecn == NO_LIMIT else ecn,
            orphan=not values["holds_socket"],
        )

    def words(self) -> list[str]:
        """The words that ask for it."""
        found = ["rate", rate_text(self.rate_bit)] if self.rate_bit else []
        found += ["delay", time_text(self.delay_ns)] if self.delay_ns else []
        found += ["jitter", time_text(self.jitter_ns)] if self.jitter_ns else []
        found += ["distribution", self.distribution] if self.distribution != "uniform" else []
        if self.to_bad or self.to_good or self.loss_bad:
            shares = (self.to_bad, self.to_good, self.loss_bad, self.loss_good)
            found += ["loss", "gemodel", *map(share_text, shares)]
        elif self.loss_good:
            found += ["loss", share_text(self.loss_good)]
        for name in ("duplicate", "reorder", "corrupt"):
            found += [name, share_text(getattr(self, name))] if getattr(self, name) else []
        if self.queue_bytes is not None:
            found += ["queue", size_text(self.queue_bytes)]
        elif self.queue_ns is not None:
            found += ["queue", time_text(self.queue_ns)]
        found += ["ecn", time_text(self.ecn_ns)] if self.ecn_ns is not None else []
        return found + ([] if self.orphan else ["orphan", "off"])


def held_ns(rate_bit: int, queue_ns: int, travel_ns: int) -> int:
    """The longest that a packet may be on its way: in the queue, while it is sent, and while it travels."""
    return queue_ns + (PIECE_BYTES * 8 * 10**9 // rate_bit if rate_bit else 0) + travel_ns


def held_pkts(rate_bit: int, queue_ns: int, travel_ns: int) -> int:
    """How many packets may be on their way at once."""
    if not rate_bit:
        return HELD_WITHOUT_RATE if travel_ns else 0
    return held_ns(rate_bit, queue_ns, travel_ns) * rate_bit // (LEAST_BYTES * 8 * 10**9) + 1


WORDS = ("rate", "delay", "jitter", "distribution", "loss", "duplicate", "reorder", "corrupt", "queue", "ecn", "orphan")


def read(words: Sequence[str], before: LinkSpec | None = None) -> LinkSpec:
    """What the words ask for; what they do not name stays as before.

    "none" as a value takes a property away.
    """
    rest, found = list(words), dict[str, object]()
    while rest:
        word = rest.pop(0)
        if word not in WORDS:
            raise ValueError(f'"{word}" is no property of a link; there are {", ".join(WORDS)}')
        if not rest:
            raise ValueError(f'"{word}" needs a value, such as {_EXAMPLES[word]}')
        found |= _taken(word, rest)
    if "delay_ns" in found and not found["delay_ns"] and before is not None:  # what hangs on it goes with it
        found = {"jitter_ns": 0, "distribution": "uniform", "reorder": 0, **found}
    return replace(before or LinkSpec(), **found)  # type: ignore[arg-type]


_EXAMPLES = {
    "rate": "rate 10mbit",
    "delay": "delay 20ms",
    "jitter": "jitter 2ms",
    "distribution": "distribution normal",
    "loss": "loss 1% or loss gemodel 1% 25%",
    "duplicate": "duplicate 1%",
    "reorder": "reorder 1%",
    "corrupt": "corrupt 0.1%",
    "queue": "queue 100ms or queue 64kb",
    "ecn": "ecn 5ms",
    "orphan": "orphan off",
}


def _taken(word: str, rest: list[str]) -> dict[str, object]:
    """The fields of one word, whose values are taken from the rest."""
    text = rest.pop(0)
    if word == "loss":
        return _loss(text, rest)
    if text == "none" and word in _NONE:
        return _NONE[word]
    if word == "queue" and _SIZE.fullmatch(text):
        return {"queue_bytes": size_bytes(text), "queue_ns": None}
    if word in ("delay", "jitter", "queue", "ecn"):
        return {f"{word}_ns": time_ns(text, word), **({"queue_bytes": None} if word == "queue" else {})}
    if word == "rate":
        return {"rate_bit": rate_bit(text)}
    named = {"distribution": _distribution, "orphan": _switch}
    return {word: named[word](text) if word in named else share(text, word)}


def _switch(text: str) -> bool:
    if text not in ("on", "off"):
        raise ValueError(f'orphan is on or off, not "{text}"')
    return text == "on"


def _distribution(text: str) -> str:
    if text not in DISTRIBUTIONS:
        raise ValueError(f'a distribution is one of {", ".join(DISTRIBUTIONS)}, not "{text}"')
    return text


_NONE: dict[str, dict[str, object]] = {
    "rate": {"rate_bit": 0, "queue_ns": None, "queue_bytes": None, "ecn_ns": None},
    "delay": {"delay_ns": 0},
    "jitter": {"jitter_ns": 0, "distribution": "uniform"},
    "distribution": {"distribution": "uniform"},
    "queue": {"queue_ns": None, "queue_bytes": None},
    "ecn": {"ecn_ns": None},
    **{name: {name: 0} for name in ("duplicate", "reorder", "corrupt")},
}
"""What goes with a property that is taken away."""


def _loss(text: str, rest: list[str]) -> dict[str, object]:
    """A share, or `gemodel P [R [1-H [1-K]]]` with tc's values for those left out."""
    if text in ("random", "gemodel"):
        if not rest:
            raise ValueError(f'"loss {text}" needs a share, such as {_EXAMPLES["loss"]}')
        model, text = text, rest.pop(0)
    else:
        model = "random"
    if model == "random":
        return {"loss_good": 0 if text == "none" else share(text, "loss"), "loss_bad": 0, "to_bad": 0, "to_good": 0}
    given = [share(text, "loss")]
    while rest and _SHARE.fullmatch(rest[0]) and len(given) < 4:
        given.append(share(rest.pop(0), "loss"))
    to_bad, to_good, loss_bad, loss_good = [*given, *[2**32 - given[0], ALWAYS, 0][len(given) - 1 :]]
    return {"to_bad": to_bad, "to_good": min(to_good, ALWAYS), "loss_bad": loss_bad, "loss_good": loss_good}


def rate_bit(text: str) -> int:
    """Bit/s of a rate such as 10mbit."""
    found = _whole(_RATE, _PREFIX, text, "a rate", "10mbit")
    if not RATE_LEAST <= found <= RATE_MOST:
        raise ValueError(f"a rate must be from 1kbit to 1tbit, not {text}")
    return found


def time_ns(text: str, word: str = "delay") -> int:
    """Nanoseconds of a time such as 20ms."""
    found = _whole(_TIME, _TIMES, text, f"a {word}" if word != "ecn" else "ecn", "20ms")
    if found > TIME_MOST:
        raise ValueError(f"{word} must be at most {TIME_MOST // 10**9} s, not {text}")
    return found


def size_bytes(text: str) -> int:
    """Bytes of a size such as 64kb."""
    return _whole(_SIZE, _SIZES, text, "a size", "64kb")


def share(text: str, word: str = "loss") -> int:
    """The fraction of 2^32 of a share such as 1%."""
    if not (matched := _SHARE.fullmatch(text)):
        raise ValueError(f'{word} must be a share such as 1%, not "{text}"')
    found = Fraction(matched[1]) / 100
    if found > 1:
        raise ValueError(f"{word} must be at most 100%, not {text}")
    return min(ALWAYS, round(found * 2**32))


def _whole(pattern: re.Pattern[str], factors: dict[str, int], text: str, what: str, example: str) -> int:
    matched = pattern.fullmatch(text)
    if not matched:
        raise ValueError(f'{what} must be a number with its unit, such as {example}, not "{text}"')
    return round(Fraction(matched[1]) * factors[matched[2].lower()])


def rate_text(value: int) -> str:
    """A rate as people write it: 10mbit."""
    return _spelled(value, (("gbit", 10**9), ("mbit", 10**6), ("kbit", 10**3)), "bit")


def time_text(value: int) -> str:
    """A time as people write it: 20ms."""
    return _spelled(value, (("s", 10**9), ("ms", 10**6), ("us", 10**3)), "ns")


def size_text(value: int) -> str:
    """A size as people write it: 64kb."""
    return _spelled(value, (("mb", 10**6), ("kb", 10**3)), "b")


def _spelled(value: int, units: Sequence[tuple[str, int]], least: str) -> str:
    """In the largest unit in which it has at most three decimals."""
    for unit, factor in units:
        if value >= factor and value * 1000 % factor == 0:
            return f"{value / factor:.3f}".rstrip("0").rstrip(".") + unit
    return f"{value}{least}"


def share_text(value: int) -> str:
    """A share as people write it, with as many digits as give it back: 1%."""
    if value == ALWAYS:
        return "100%"
    for digits in range(12):
        found = f"{value * 100 / 2**32:.{digits}f}"
        if round(Fraction(found) / 100 * 2**32) == value:
            return f"{found}%"
    return f"{found}%"
