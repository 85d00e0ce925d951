# SPDX-License-Identifier: BSD-3-Clause
"""A path in a few words ("10mbit 50ms fq_codel") → what each direction of its bottleneck is, as data.

`linklab.experiment.ready` draws the network, `docs/tests.md` lists the words. Nothing runs here.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from linklab import units
from linklab.base.text import excerpt
from linklab.errors import InputError
from linklab.experiment.places import nearest
from linklab.tc import FRAME_BYTES, QDISCS, Impairment
from linklab.tc.option import Parameter

FIFO_PKTS = 1000
"""Packets in a plain queue by default, as in the queue of an interface of Linux."""
SINGLE_FRAMES_MBIT = 100.0
"""Up to this rate the shaper lets one frame at a time pass, so that the discipline sees frames and not the large
segments of TCP's offload; above it, they would cost more time than they are worth."""
ONE_FRAME_BYTES = 1600
"""tbf's burst for that: a full frame, and less than two; tc keeps a burst as a time and may round it down."""
KINDS = ("fifo", "pfifo", "bfifo", "codel", "fq_codel", "cake", "pie", "fq_pie", "red", "sfq", "fq")
"""What may stand at the bottleneck."""
_EXAMPLES = '"10mbit 50ms fq_codel", "100mbit/20mbit 30ms loss 0.1% codel target 5ms" or "1gbit 20ms 1bdp"'
_NAMED = ("rate", "up", "down", "rtt", "buffer", "loss", "jitter", "burst")
_RATE_LIKE = re.compile(r"(\d+(?:\.\d+)?[kmg])b", re.IGNORECASE)
"""A size that may have been meant for a rate."""


@dataclass(frozen=True)
class Buffer:
    """What the queue holds: one of three."""

    bdp: float | None = None
    packets: int | None = None
    size_bytes: int | None = None

    def __str__(self) -> str:
        if self.bdp is not None:
            return f"{self.bdp:g}bdp"
        return f"{self.packets}p" if self.packets is not None else f"{self.size_bytes}b"


@dataclass(frozen=True)
class NetworkPath:
    """A path as it was asked for.

    up_mbit, down_mbit: of the bottleneck, from the source to the targets and back; None for no limit.
    rtts_s: round trips to the targets in turn, without queues; half of it in each direction.
    qdisc: a kind of KINDS, at the bottleneck in both directions; "fifo" counts what its buffer is said in.
    options: its parameters as a drawing has them.
    buffer: None for the discipline's own.
    loss_frac: of the packets in each direction, behind the bottleneck.
    jitter_s: that the delay varies by in each direction; packets may overtake each other.
    burst_bytes: of the shaper; None for one that follows the rate.
    ecn: hosts ask for ECN, and the discipline marks.
    """

    up_mbit: float | None = None
    down_mbit: float | None = None
    rtts_s: tuple[float, ...] = (0.0,)
    qdisc: str = "fifo"
    options: Mapping[str, str] = field(default_factory=dict)
    buffer: Buffer | None = None
    loss_frac: float = 0.0
    jitter_s: float = 0.0
    burst_bytes: int | None = None
    ecn: bool = False

    def bdp_bytes(self, rate_mbit: float) -> int:
        """Bandwidth times the longest round trip."""
        return math.ceil(rate_mbit * 1e6 / 8 * max(self.rtts_s))

    def buffer_bytes(self, rate_mbit: float | None) -> int:
        """What the queue of a direction holds, bytes, as far as it is known here."""
        if self.buffer is None:
            return FIFO_PKTS * FRAME_BYTES
        if self.buffer.bdp is not None:
            return max(math.ceil(self.buffer.bdp * self.bdp_bytes(rate_mbit or 0.0)), FRAME_BYTES)
        if self.buffer.packets is not None:
            return self.buffer.packets * FRAME_BYTES
        return self.buffer.size_bytes or FRAME_BYTES

    def bottleneck(self, rate_mbit: float | None) -> dict[str, Any]:
        """One direction of the bottleneck, as a drawing keeps it."""
        found: dict[str, Any] = {}
        if rate_mbit is not None:
            found["rate"] = units.format_rate(rate_mbit)
            if (burst := self._burst(rate_mbit)) is not None:
                found["burst"] = f"{burst}b"
        found["discipline"] = {"kind": self.qdisc, **self._parameters(rate_mbit)}
        return found

    def _burst(self, rate_mbit: float) -> int | None:
        if self.qdisc == "cake":
            return None
        if self.burst_bytes is None and rate_mbit <= SINGLE_FRAMES_MBIT:
            return ONE_FRAME_BYTES
        return self.burst_bytes

    def _parameters(self, rate_mbit: float | None) -> dict[str, str]:
        size = self.buffer_bytes(rate_mbit)
        found: dict[str, str] = {}
        if self.qdisc == "red":
            # tc-red(8): the limit well above max, and max three times min
            found = {"limit": f"{size}b", "max": f"{size // 4}b", "min": f"{size // 12}b", "avpkt": "1000b"}
            found |= {"bandwidth": units.format_rate(rate_mbit)} if rate_mbit is not None else {}
            found["burst"] = str(math.ceil((2 * (size // 12) + size // 4) / 3000) + 1)
        elif self.qdisc == "bfifo":
            found = {"limit": f"{size}b"}
        elif self.qdisc == "cake" and self.buffer is not None:
            found = {"memlimit": f"{size}b"}
        elif self.qdisc == "pfifo" or (self.buffer is not None and self.qdisc != "cake"):
            found = {"limit": f"{math.ceil(size / FRAME_BYTES)}p"}
        if self.ecn and "ecn" in [parameter.name for parameter in QDISCS[self.qdisc].parameters]:
            found["ecn"] = "1"
        return found | dict(self.options)

    def delay(self, rtt_s: float) -> dict[str, str] | None:
        """What a direction has behind the bottleneck; None for nothing."""
        found = {}
        if rtt_s:
            found["delay"] = units.format_time(rtt_s / 2)
        if self.jitter_s:
            found["jitter"] = units.format_time(self.jitter_s)
        if self.loss_frac:
            found["loss"] = units.format_percent(self.loss_frac)
        return found or None

    def window_bytes(self) -> int:
        """The most that one flow can have in flight: what is on the way and what the queue holds."""
        return max(
            (self.bdp_bytes(rate) + self.buffer_bytes(rate) for rate in (self.up_mbit, self.down_mbit) if rate),
            default=0,
        )

    def __str__(self) -> str:
        """The words that give this path, nothing left out."""
        words = []
        if self.up_mbit == self.down_mbit and self.up_mbit is not None:
            words.append(units.format_rate(self.up_mbit))
        else:
            words += [f"down {units.format_rate(self.down_mbit)}"] if self.down_mbit is not None else []
            words += [f"up {units.format_rate(self.up_mbit)}"] if self.up_mbit is not None else []
        words.append(",".join(map(units.format_time, self.rtts_s)))
        words += [f"loss {units.format_percent(self.loss_frac)}"] if self.loss_frac else []
        words += [f"jitter {units.format_time(self.jitter_s)}"] if self.jitter_s else []
        words += [str(self.buffer)] if self.buffer is not None else []
        words += [f"burst {self.burst_bytes}b"] if self.burst_bytes is not None else []
        words += ["ecn"] if self.ecn else []
        words.append(self.qdisc)
        words += [_said(self.qdisc, name, text) for name, text in self.options.items()]
        return " ".join(words)


def parse_path(words: str) -> NetworkPath:
    """The path of words such as "10mbit 50ms fq_codel".

    Raises:
        InputError: a word that means nothing here, a value without its unit, or two of a kind.
    """
    return _Reader(words).path()


class _Reader:
    def __init__(self, words: str) -> None:
        self.words = words
        self.rest = words.replace("=", " ").split()
        self.given: dict[str, str] = {}
        self.found: dict[str, Any] = {}
        self.after: list[str] = []  # words that the discipline read last could have had

    def path(self) -> NetworkPath:
        if not self.rest:
            raise InputError(f"the path is empty; give a rate, a round trip and a discipline, such as {_EXAMPLES}")
        while self.rest:
            word = self.rest.pop(0)
            if word in _NAMED:
                self._value(word, self._next(word))
            elif word == "ecn":
                self._set("ecn", word, ecn=True)
            elif word in ("qdisc", "aqm"):
                self._discipline(self._next(word))
            elif word in KINDS:
                self._discipline(word)
            else:
                self._bare(word)
        path = NetworkPath(**self.found)
        if path.qdisc == "fifo":
            in_bytes = path.buffer is not None and path.buffer.packets is None
            path = replace(path, qdisc="bfifo" if in_bytes else "pfifo")
        self._check(path)
        self._need(path)
        return path

    def _next(self, word: str) -> str:
        if not self.rest:
            raise self._wrong(f'"{word}" needs a value after it')
        return self.rest.pop(0)

    def _set(self, what: str, word: str, **values: Any) -> None:
        if what in self.given:
            raise self._wrong(f'"{self.given[what]}" and "{excerpt(word)}" both say the {what}')
        self.given[what] = excerpt(word)
        self.found |= values

    def _bare(self, word: str) -> None:
        """A word that says by its unit what it is."""
        lower = word.lower()
        if not (lower[:1].isdigit() or lower[:1] == "."):
            raise self._wrong(f'"{excerpt(word)}" means nothing in a path{self._hint(word)}')
        if lower.replace(".", "").isdigit():
            raise self._wrong(f'"{excerpt(word)}" has no unit: 10mbit is a rate, 50ms a round trip, 100p a buffer')
        is_rate, is_buffer = ("bit" in lower or "bps" in lower), lower.endswith(("p", "b", "pkt", "pkts", "packets"))
        self._value("rate" if is_rate else "buffer" if is_buffer else "rtt", word)

    def _hint(self, word: str) -> str:
        """The word that is meant, or what there is."""
        near = difflib.get_close_matches(word.lower(), [*_NAMED, "ecn", *KINDS, *self.after], 1, 0.6)
        if near:
            return f'; did you mean "{near[0]}"?'
        own = f"; {self.given['discipline']} has {', '.join(self.after)}" if self.after else ""
        return (
            ": there are a rate (10mbit), a round trip (50ms), a buffer (1bdp, 100p, 250kB), "
            f"{', '.join(_NAMED)} with a value, ecn, and the disciplines {', '.join(KINDS)}{own}"
        )

    def _value(self, name: str, text: str) -> None:
        try:
            match name:
                case "rate":
                    self._rate(text)
                case "up" | "down":
                    self._set(f"rate {name}", text, **{f"{name}_mbit": units.parse_rate_mbit(text)})
                case "rtt":
                    self._rtt(text)
                case "buffer":
                    self._buffer(text)
                case "loss":
                    self._set("loss", text, loss_frac=units.parse_percent_frac(text))
                case "jitter":
                    self._set("jitter", text, jitter_s=units.parse_time_s(text))
                case "burst":
                    self._set("burst", text, burst_bytes=units.parse_size_bytes(text))
        except InputError as error:
            if error.where:
                raise
            raise self._wrong(str(error)) from error

    def _rate(self, text: str) -> None:
        down, slash, up = text.partition("/")
        if text.endswith(("bit/s", "bits/s", "bit/sec", "bits/sec")) and text.count("/") == 1:
            down, slash, up = text, "", ""
        rates = [units.parse_rate_mbit(part) for part in ((down, up) if slash else (down, down))]
        self._set("rate", text, down_mbit=rates[0], up_mbit=rates[1])

    def _rtt(self, text: str) -> None:
        self._set("round trip", text, rtts_s=tuple(map(units.parse_time_s, text.split(","))))

    def _buffer(self, text: str) -> None:
        lower = text.lower()
        if lower.endswith("bdp"):
            try:
                bdp = float(lower.removesuffix("bdp"))
            except ValueError:
                bdp = math.nan
            if not 0 < bdp <= 1e6:
                raise InputError(f'buffer "{excerpt(text)}" is not a number of bandwidth-delay products, such as 1bdp')
            self._set("buffer", text, buffer=Buffer(bdp=bdp))
        elif lower[:1].isdigit() and lower.endswith(("p", "pkt", "pkts", "packets")):
            self._set("buffer", text, buffer=Buffer(packets=units.parse_packets(text)))
        elif lower.isdecimal():
            count = excerpt(text)
            raise InputError(f'buffer "{count}" has no unit; use {count}p for packets, or bytes (250kB), or 1bdp')
        else:
            self._set("buffer", text, buffer=Buffer(size_bytes=units.parse_size_bytes(text)))

    def _discipline(self, kind: str) -> None:
        if kind not in KINDS:
            raise self._wrong(f'"{excerpt(kind)}" is not a discipline of a path; {nearest(kind, KINDS)}')
        known = QDISCS[kind].parameters if kind in QDISCS else ()
        # ecn is a word of the path, because the hosts have to ask for it
        parameters = {parameter.name: parameter for parameter in known if parameter.name != "ecn"}
        choices = {choice: parameter.name for parameter in known for choice in parameter.choices}
        has_ecn = len(parameters) < len(known)
        options: dict[str, str] = {}
        self._set("discipline", kind, qdisc=kind, options=options)
        self.after = [*parameters, *choices, *(["noecn"] if has_ecn else [])] if kind != "fifo" else ["limit"]
        while self.rest and self.rest[0] in self.after:
            word = self.rest.pop(0)
            if kind == "fifo":
                self._value("buffer", self._next(word))
                continue
            if word == "noecn":
                self._set("ecn", word, ecn=False)
                if word not in parameters:  # what the discipline does unless told otherwise
                    continue
            self._option(kind, parameters[choices.get(word, word)], word, options)

    def _option(self, kind: str, parameter: Parameter, word: str, options: dict[str, str]) -> None:
        """One parameter of a discipline: a word that is a setting by itself, or one that a value follows."""
        if parameter.name in options:
            raise self._wrong(f'"{parameter.name}" of {kind} is said twice')
        if word in parameter.choices:
            options[parameter.name] = word
        else:
            options[parameter.name] = "1" if parameter.kind == "flag" else self._next(word)
        try:
            parameter.read(options[parameter.name])
        except InputError as error:
            raise self._wrong(f"{kind}: {error}") from error

    def _need(self, path: NetworkPath) -> None:
        """InputError without a rate or a round trip: a path of neither runs, and its numbers mean nothing."""
        if path.up_mbit is None and path.down_mbit is None:
            typed, text = self.given.get("buffer", ""), "a path needs a rate, such as 10mbit"
            if match := _RATE_LIKE.fullmatch(typed):
                text = f"there is no rate; did you mean {match[1]}bit? {typed} is a buffer of {_size(path.buffer)}"
            raise self._wrong(text)
        if "round trip" not in self.given:
            own = ", not the parameter of cake" if path.qdisc == "cake" and "rtt" in path.options else ""
            raise self._wrong(f"a path needs a round-trip time{own}, such as 50ms (0ms for none)")

    def _check(self, path: NetworkPath) -> None:
        if len(path.rtts_s) > 64:
            raise self._wrong(f"{len(path.rtts_s)} round trips are more than 64")
        has_product = path.up_mbit is not None and path.down_mbit is not None and max(path.rtts_s) > 0
        if path.buffer is not None and path.buffer.bdp is not None and not has_product:
            raise self._wrong(f'"{path.buffer}" needs a rate in both directions and a round trip')
        if path.buffer is not None and path.buffer_bytes(path.up_mbit or path.down_mbit) < FRAME_BYTES:
            raise self._wrong(f'a buffer of "{path.buffer}" does not hold one frame of {FRAME_BYTES} bytes')
        if path.buffer is not None and {"limit", "memlimit"} & {*path.options}:
            raise self._wrong("both the buffer and the discipline say how much the queue holds")
        if path.jitter_s and any(path.jitter_s > rtt_s / 2 for rtt_s in path.rtts_s):
            raise self._wrong("the jitter is longer than the delay of a direction, which is half the round trip")
        try:
            for rate in {path.up_mbit, path.down_mbit}:
                Impairment.from_data(path.bottleneck(rate))
        except InputError as error:
            raise self._wrong(str(error)) from error

    def _wrong(self, why: str) -> InputError:
        return InputError(why, where=f'path "{excerpt(self.words)}"')


def path_of(words: str, *, rate: str = "", rtt: str = "", qdisc: str = "", buffer: str = "") -> str:
    """The words of a path, with those of the single options in front of them or instead of them."""
    named: Sequence[str] = [f"rate {rate}" if rate else "", f"rtt {rtt}" if rtt else ""]
    named = [*named, words, f"buffer {buffer}" if buffer else "", qdisc]
    return " ".join(filter(None, named))


def _size(buffer: Buffer | None) -> str:
    size = buffer.size_bytes if buffer is not None and buffer.size_bytes else 0
    return f"{size / 2**20:g} MiB" if size >= 2**20 else f"{size / 2**10:g} KiB"


def _said(kind: str, name: str, text: str) -> str:
    parameter = next(each for each in QDISCS[kind].parameters if each.name == name)
    return name if parameter.kind == "flag" else f"{name} {text}"
