# SPDX-License-Identifier: BSD-3-Clause
"""RED: typed as a burst, an average packet and a bandwidth; kept by the kernel as logarithms.  Words: tc-red(8)."""

from __future__ import annotations

from dataclasses import dataclass

from linklab.linux.tc_options import RED_FLAGS
from linklab.tc import red_words
from linklab.tc.forms import NUMBER, PROBABILITY, RATE, SIZE, SIZE_32, number
from linklab.tc.kind import Drawn, Kind
from linklab.tc.option import Options, Switch, Valued
from linklab.tc.queues import DRAWN_ECN

_FLAGS = tuple(Switch(name, name) for name in RED_FLAGS)
_KEPT = ("wlog", "plog", "cell_log")


@dataclass(frozen=True)
class Red(Kind):
    """Its words are computed where the options are the kernel's."""

    def words(self, options: Options, *, spelled: bool = False) -> list[str]:
        """The words after `red`; StateError if nothing that tc takes gives what the kernel keeps."""
        if "wlog" not in options:
            return super().words(options, spelled=spelled)
        flags = {flag.name: options[flag.name] for flag in _FLAGS if flag.name in options}
        return [*red_words.words(options), *super().words(flags)]


RED = Red(
    "red",
    (
        Valued("limit", "limit", SIZE_32),
        Valued("min", "min", SIZE_32),
        Valued("max", "max", SIZE_32),
        Valued("avpkt", "avpkt", SIZE, told=False),
        Valued("burst", "burst", NUMBER, told=False),
        Valued("bandwidth_bit", "bandwidth", RATE, told=False),
        Valued("probability", "probability", PROBABILITY),
        *(Valued(name, name, number(31)) for name in _KEPT),
        *_FLAGS,
    ),
    needs=("limit", "min", "max", *_KEPT),
    drawn=(
        Drawn("limit", "most bytes in the queue", required=True),
        Drawn("min", "average queue from where packets are dropped", required=True),
        Drawn("max", "average queue where the probability is reached", required=True),
        Drawn("avpkt", "average packet, for the measure of time", "1000", required=True),
        Drawn("burst", "packets that may come at once: (2·min+max)/(3·avpkt)"),
        Drawn("bandwidth", "rate for the time an idle queue takes to empty"),
        Drawn("probability", "greatest probability of dropping, 0 to 1", "0.02"),
        DRAWN_ECN,
        Drawn("harddrop", "drop above max even with ECN"),
        Drawn("adaptive", "let the probability follow the queue"),
    ),
    module="sch_red",
    counts="bytes",
)
