# SPDX-License-Identifier: BSD-3-Clause
"""The values that a manual gives each setting, one after the other, and where in that chain a network is.  Pure.

    s1-eth2 netem:  20ms (step delay) → 20ms, loss 1 % (step loss) → gone (step del)

What is set moves on along its chain: the next value does the next step, a value of later skips what lies between, and
one that is nowhere in the chain undoes the last step, if that is still needed, or is a wrong try at the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from linklab.guide import words
from linklab.guide.evidence import TypedEvidence
from linklab.guide.plan import GuideWant, LabPlan, SettingWant, chains_of
from linklab.guide.settings import EFFECT, SettingsMap, differences, kind_of, same_effect
from linklab.guide.status import WantStatus

At = tuple[int, int]
"""The number of a step, and the place of one of its wants."""
ELSEWHERE = 0.1
"""What a try counts less for a step of another terminal: about as much as one other word, such as an interface."""
NEAR = 10
"""Steps beyond the front at which a line may be a try."""


class Chains:
    """Where the settings of a lab are; `wants` are marked as they move."""

    def __init__(self, plan: LabPlan, wants: dict[At, WantStatus]) -> None:
        self.plan, self.wants = plan, wants
        self.values = chains_of(plan.steps)
        self.initial: SettingsMap = {}
        self.begun = False
        self.begins_at = 0
        """The step to which set_env.sh has led; what the manual sets before it counts as set."""
        self._at: dict[str, int] = {}
        self._reached: dict[At, set[str]] = {}
        self._undone: dict[tuple[At, str], str] = {}
        """Setting of a step that was undone → how the step had been done, "" as printed."""

    def restarted(self) -> None:
        """The network is a new one: what was set is gone, and nobody undid it."""
        self.begun = False

    @staticmethod
    def same(key: str, wanted: Any, found: Any) -> bool:
        """Whether a setting is as wanted."""
        return not differences(wanted, found, kind_of(key))

    def sets_before(self, key: str, number: int) -> int | None:
        """The last step before another that sets a key."""
        return next((step for step, _, _ in reversed(self.values.get(key, [])) if step < number), None)

    def nothing_gone_before(self, number: int) -> bool:
        """Whether what the manual sets last before a step is that something is gone again, and nobody has done that.

        Then a network that is as the manual has it there is one in which that was not set yet.
        """
        before = [(step, place) for chain in self.values.values() for step, place, _ in chain if step < number]
        last = max(before, default=(-1, 0))
        if not before or self.begins_at > last[0]:
            return False
        want = self.plan.steps[last[0]].wants[last[1]]
        assert isinstance(want, SettingWant)
        gone = all(self.same(key, self.initial.get(key), value) for key, value in want.changes.items())
        return gone and not self.wants[last].good

    def follow(self, now: SettingsMap, keys: Iterable[str], line: TypedEvidence | None, front: int) -> None:
        """Settings have changed, or a line spoke of them."""
        self.begun = True
        keys = [key for key in keys if not key.endswith(f" {EFFECT}")]
        lost = []
        moved = False
        for key in keys:
            if key in self.values and self._move(key, now, line):
                moved = True
            else:
                lost.append(key)
        moved = self._by_effect(now, {key.partition(" ")[0] for key in lost}) or moved
        if lost and not moved:
            self._explain(lost, now, line, front)

    # --- along a chain

    def _move(self, key: str, now: SettingsMap, line: TypedEvidence | None) -> bool:
        """Take a setting's new value as one of its chain; whether it is one."""
        chain, at, value = self.values[key], self._at.get(key, -1), now.get(key)

        def is_at(place: int) -> bool:
            return self.same(key, chain[place][2], value)

        again = at >= 0 and is_at(at)
        if at + 1 < len(chain) and is_at(at + 1) and not (again and not self._needed_no_more(key, at)):
            return self._reach(key, at + 1, now)
        if again:
            return self._reach(key, at, now)
        for place in range(at + 2, len(chain)):
            if is_at(place) and (value is not None or self._is_printed(key, place, line)):
                self._pass_over(key, at + 1, place)
                return self._reach(key, place, now)
        for place in range(at - 1, -1, -1):
            if is_at(place) and value is not None:
                if not self._needed_no_more(key, at):
                    self._undo(key, at, now, line)
                return self._reach(key, place, now)
        return False

    def _is_printed(self, key: str, place: int, line: TypedEvidence | None) -> bool:
        """Whether a line is the manual's own for a place of a chain; what is gone again says less than what is set."""
        number, want_place, _ = self.values[key][place]
        want = self.plan.steps[number].wants[want_place]
        return line is not None and isinstance(want, SettingWant) and words.same_line(want.text, line.text)

    def _reach(self, key: str, place: int, now: SettingsMap) -> bool:
        self._at[key] = place
        number, want_place, _ = self.values[key][place]
        at = number, want_place
        want = self.plan.steps[number].wants[want_place]
        assert isinstance(want, SettingWant)
        self._restore(key, place)
        reached = self._reached.setdefault(at, set())
        reached.add(key)
        for other, value in want.changes.items():  # what was so already, such as a discipline that was never there
            if other not in reached and self.same(other, value, now.get(other)):
                reached.add(other)
                self._at[other] = max(self._at.get(other, -1), self._place(other, at))
        if reached >= set(want.changes):
            self.wants[at].mark_done()
        return True

    def _restore(self, key: str, end: int) -> None:
        """What was undone before is done again once its next value is set: whoever slipped has mended that."""
        for number, want_place, _ in self.values[key][:end]:
            at = number, want_place
            if (at, key) not in self._undone:
                continue
            differently = self._undone.pop((at, key))
            want = self.plan.steps[number].wants[want_place]
            reached = self._reached.setdefault(at, set())
            reached.add(key)
            if isinstance(want, SettingWant) and reached >= set(want.changes):
                self.wants[at].mark_done(differently)

    def _place(self, key: str, at: At) -> int:
        return next(place for place, (*where, _) in enumerate(self.values[key]) if tuple(where) == at)

    def _pass_over(self, key: str, first: int, end: int) -> None:
        """Steps whose setting nobody looked at before the next one took its place are done with that one."""
        for place in range(first, end):
            number, want_place, _ = self.values[key][place]
            if not self._measuring(number, self.values[key][end][0]):
                self._reached.setdefault((number, want_place), set()).add(key)
                if not self.wants[number, want_place].good:
                    self.wants[number, want_place].mark_done(differently="what comes next was set at once")

    def _undo(self, key: str, place: int, now: SettingsMap, line: TypedEvidence | None) -> None:
        number, want_place, value = self.values[key][place]
        status = self.wants[number, want_place]
        self._reached.get((number, want_place), set()).discard(key)
        if status.good:
            self._undone[(number, want_place), key] = status.story
            status.reopen(words.undone(key, value, now.get(key), line))

    def _measuring(self, first: int, end: int) -> list[int]:
        between = self.plan.steps[first + 1 : end]
        return [step.number for step in between if step.measures and not step.step.optional]

    def _needed_no_more(self, key: str, place: int) -> bool:
        """Whether everything that the manual looks at while this value stands was looked at."""
        chain = self.values[key]
        end = chain[place + 1][0] if place + 1 < len(chain) else len(self.plan.steps)
        return all(
            self.wants[number, want].good
            for number in self._measuring(chain[place][0], end)
            for want in range(len(self.plan.steps[number].wants))
        )

    # --- what is in no chain

    def _by_effect(self, now: SettingsMap, places: set[str]) -> bool:
        """Whether the interfaces do what the next step wants by other disciplines; then it is done differently."""
        found = False
        for place in places:
            effect = now.get(f"{place} {EFFECT}")
            for at, want in self._open_settings():
                wanted = want.effects.get(place)
                other = any(value is not None and key in now for key, value in want.changes.items())
                if effect and wanted and not other and same_effect(wanted, effect):
                    for key in want.changes:
                        self._at[key] = max(self._at.get(key, -1), self._place(key, at))
                    self._reached[at] = set(want.changes)
                    self.wants[at].mark_done(differently="the same effect by other means")
                    found = True
                    break
        return found

    def _open_settings(self) -> list[tuple[At, SettingWant]]:
        return [
            ((step.number, place), want)
            for step in self.plan.steps
            for place, want in enumerate(step.wants)
            if isinstance(want, SettingWant) and not self.wants[step.number, place].good and not step.step.optional
        ]

    def _explain(self, lost: list[str], now: SettingsMap, line: TypedEvidence | None, front: int) -> None:
        """Say where a setting that fits nowhere went wrong: at another place, as a wrong try, or undone."""
        if line is not None and (misplaced := self._misplaced(lost, now, front)) is not None:
            at, key, wanted_key = misplaced
            self.wants[at].mark_wrong(words.misplaced(key, wanted_key, now.get(key)))
            return
        named = False
        for key in lost:
            chain, place = self.values.get(key, []), self._at.get(key, -1)
            if place >= 0 and not self._needed_no_more(key, place):
                self._undo(key, place, now, line)
                named = True
            elif place + 1 < len(chain) and now.get(key) is not None:
                number, want_place, value = chain[place + 1]
                if number <= front + NEAR:
                    self.wants[number, want_place].mark_wrong(words.found_setting(key, value, now.get(key)))
                    named = True
        if all(self.same(key, self.initial.get(key), now.get(key)) for key in lost):
            return  # taken back, such as what had been set at a wrong place
        if line is not None and not named and (near := self.meant(line, lost, front)) is not None:
            want = self.plan.steps[near[0]].wants[near[1]]
            assert isinstance(want, SettingWant)
            self.wants[near].mark_wrong(words.other_setting(line.text, want))

    def _misplaced(self, lost: list[str], now: SettingsMap, front: int) -> tuple[At, str, str] | None:
        """The open step near the front that wants the same value at another place."""
        for at, want in self._near(front):
            for wanted, value in want.changes.items():
                for key in lost:
                    alike = key.partition(" ")[2] == wanted.partition(" ")[2] and key != wanted
                    if alike and value is not None and self.same(key, value, now.get(key)):
                        return at, key, wanted
        return None

    def meant(self, line: TypedEvidence, keys: Iterable[str], front: int) -> At | None:
        """The open step near the front that a line was probably a try at."""
        whats = {key.partition(" ")[2] for key in keys}
        typed = set(line.text.split())
        best: tuple[float, At] | None = None
        for number, (at, want) in enumerate(self._near(front)):
            common = sum(key.partition(" ")[2] in whats for key in want.changes)
            alike = len(typed & set(want.text.split())) / max(len(typed), len(want.text.split()))
            elsewhere = line.terminal.partition("#")[0] != self.plan.steps[at[0]].step.terminal.partition("#")[0]
            score = common + alike - 0.05 * number - ELSEWHERE * elsewhere
            if (common or alike > 0.5) and (best is None or score > best[0]):
                best = score, at
        return best[1] if best else None

    def first_open(self, at: At) -> At:
        """The first open step that sets something where an open one does, after the last one that is done there.

        A line that the kernel refuses often rests on such a step that was left out.
        """
        places = _places(self.plan.steps[at[0]].wants[at[1]])
        at_place = [
            ((step.number, place), self.wants[step.number, place].good)
            for step in self.plan.steps[: at[0]]
            for place, want in enumerate(step.wants)
            if places & _places(want) and not step.step.optional
        ]
        last = max((other for other, good in at_place if good), default=(-1, 0))
        return min((other for other, good in at_place if not good and other > last), default=at)

    def _near(self, front: int) -> list[tuple[At, SettingWant]]:
        """The open settings about which somebody at the front may be: first those ahead, then those left out."""
        found = [(at, want) for at, want in self._open_settings() if at[0] <= front + NEAR]
        return [*((at, want) for at, want in found if at[0] >= front), *((at, w) for at, w in found if at[0] < front)]


def _places(want: GuideWant) -> set[str]:
    """Where something sets something: interfaces and nodes."""
    return {key.partition(" ")[0] for key in want.changes} if isinstance(want, SettingWant) else set()
