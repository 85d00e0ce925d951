# SPDX-License-Identifier: BSD-3-Clause
"""The words of `clock` → orders to a network's paced clock, and its state as a sentence.

Typed at the Mininet CLI, at a shell inside, or at the prompt a terminal keeps for it (Ctrl+]); all come here.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from linklab.engine.api import Paced
from linklab.engine.keeper import FASTEST, FURTHEST_S, SLOWEST
from linklab.errors import EngineError, InputError
from linklab.units import parse_time_s

USAGE = "clock | clock pause | resume | speed 8 (or max) | step 10ms | until 90s"


SHORTEST_STEP_S = 1e-6
LOOK_S = 0.05
"""How often, in wall seconds, to look whether the clock has arrived."""


class ClockWords:
    """Obeys the words of `clock` for one network; `on_change` hears every new state, from whatever thread."""

    def __init__(self, network: Paced, on_change: Callable[[dict[str, Any]], None]) -> None:
        self._network = network
        self._on_change = on_change
        self._lock = threading.Lock()
        # the state is asked for in another thread: the one that hears of the arrival also reads the answers
        network.on_reached = lambda: threading.Thread(target=self.obey, args=(["status"],), daemon=True).start()

    def obey(self, words: Sequence[str], *, wait: bool = False) -> tuple[str, int]:
        """Do what the words after `clock` say; the answer as a sentence, and its exit status.

        wait: where they send the clock on its way to a time, answer when it has arrived, or was stopped before.
        """
        try:
            with self._lock:
                state = self._order(list(words))
            if wait and state.get("until_ns") is not None:
                self._on_change(state)
                return self._arrived(str(words[-1])), 0
        except (InputError, EngineError) as error:
            return str(error), error.exit_code
        self._on_change(state)
        if list(words) == ["pause"]:  # whoever asked inside reads it when time goes on again
            return f"time was stopped at {state['now_s']:.3f} s", 0
        return sentence(state), 0

    def _arrived(self, text: str) -> str:
        """What to say when the clock is no longer on its way to the time that was asked for."""
        while (state := self.state()).get("until_ns") is not None:
            time.sleep(LOOK_S)
        reached = state["now_s"] >= parse_time_s(text)
        return f"{text} is reached: {sentence(state)}" if reached else f"stopped before {text}: {sentence(state)}"

    def state(self) -> dict[str, Any]:
        """Its state; nobody is told."""
        with self._lock:
            return self._network.clock_status()

    def _order(self, words: list[str]) -> dict[str, Any]:  # noqa: PLR0911 - a table
        match words:
            case [] | ["status"]:
                return self._network.clock_status()
            case ["pause"]:
                return self._network.pause()
            case ["resume"]:
                return self._network.resume()
            case ["speed", text]:
                return self._network.set_speed(parse_speed(text))
            case ["step"]:
                return self._network.step(0.01)
            case ["step", text]:
                return self._network.step(_step_s(text))
            case ["until", text]:
                now_s = self._network.clock_status()["now_s"]
                return self._network.until(_target_s(text, now_s))
        raise InputError(f"clock {' '.join(words)}: not understood; use {USAGE}")


def _step_s(text: str) -> float:
    seconds = parse_time_s(text)
    if seconds < SHORTEST_STEP_S:
        raise InputError(f"clock step {text}: nothing happens in no time; use at least 1us, as in 10ms")
    if seconds > FURTHEST_S:
        raise InputError(f"clock step {text}: use at most {FURTHEST_S:,} s, as in 10ms")
    return seconds


def _target_s(text: str, now_s: float) -> float:
    target_s = parse_time_s(text)
    if target_s <= now_s:
        raise InputError(f"clock until {text}: it is {now_s:.3f} s already; time does not go back")
    if target_s - now_s > FURTHEST_S:
        raise InputError(f"clock until {text}: use a time at most {FURTHEST_S:,} s away; it is {now_s:.3f} s now")
    return target_s


def parse_speed(text: str) -> float:
    """Network seconds a wall second, 0.001 to 1000, from "8", "0.5", "2x"; "max" is as fast as it goes (inf).

    Raises:
        InputError: anything else.
    """
    if text == "max":
        return math.inf
    try:
        speed = float(text.removesuffix("x"))
    except ValueError:
        speed = math.nan
    if not SLOWEST <= speed <= FASTEST:
        raise InputError(f'clock speed "{text}": use a number from {SLOWEST:g} to {FASTEST:g} such as 8 or 0.5, or max')
    return speed


def sentence(state: dict[str, Any]) -> str:
    """The clock's state for a person."""
    speed = "as fast as it goes" if math.isinf(state["speed"]) else f"{state['speed']:g}x"
    parts = [f"network time {state['now_s']:.3f} s", "paused" if state["paused"] else speed]
    if state.get("until_ns") is not None:
        parts[1] = "on the way to a time asked for"
    if state["behind_s"] >= 0.01:
        parts.append(f"{state['behind_s']:.2f} s slowed down so far")
    return ", ".join(parts)
