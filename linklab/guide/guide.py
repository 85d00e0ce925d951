# SPDX-License-Identifier: BSD-3-Clause
"""Evidence → how far somebody has come in a lab: each step open, done, done differently, or wrong, and why.  Pure.

A fold over the evidence in its order, so the same evidence gives the same answer anywhere and years later.
How settings are followed is in `linklab.guide.chains`, which line belongs to which step in `linklab.guide.matching`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from linklab.guide import missed, words
from linklab.guide.chains import Chains
from linklab.guide.complaints import complaint_of
from linklab.guide.evidence import (
    EditorEvidence,
    FileEvidence,
    GuideEvidence,
    PredictionEvidence,
    StateEvidence,
    TypedEvidence,
)
from linklab.guide.joined import JoinedRun, fulfilled, joined_runs
from linklab.guide.matching import MatchedRun, Matching
from linklab.guide.plan import (
    LEAVES,
    MININET,
    EditorWant,
    FileWant,
    GuideStep,
    LabPlan,
    RunWant,
    SettingWant,
    plan_of,
)
from linklab.guide.predictions import PredictionOrder, PredictionTime
from linklab.guide.programs import ADDRESSES, TABLES, ProgramRun, compared, run_of
from linklab.guide.servers import Servers
from linklab.guide.settings import SettingsMap, kind_of
from linklab.guide.shell import BY_KEY, commands_in
from linklab.guide.simulate import SimulatedNetwork
from linklab.guide.status import GuideStatus, StepState, WantStatus
from linklab.judge.expectation import ExpectationVerdict, Observed, verdicts_on
from linklab.judge.verdict import Outcome
from linklab.lab.model import Lab
from linklab.manual.model import Manual
from linklab.manual.names import step_names
from linklab.state.model import SetEnv, State

COUNTED = frozenset({"ping.sent", "ping.received"})
"""What a run of another length counts otherwise."""
NEAR = 6
"""Steps from the first open one, for which a terminal may be opened or closed."""


@dataclass
class Guide:
    """How far somebody is; `see` takes evidence, everything else follows from what was seen.

    view: where the lab is done, for its hints: one of `linklab.guide.words.VIEWS`.
    """

    lab: Lab
    manual: Manual | None = None
    view: str = words.TERMINAL
    not_followed: list[str] = field(default_factory=list)
    """Sentences on what could not be judged, by a fault of ours."""

    def __post_init__(self) -> None:
        self.plan: LabPlan = plan_of(self.lab, self.manual)
        self.network = SimulatedNetwork(self.plan.devices)
        self.begins_at = 0
        self._titles = step_names(self.manual or self.lab.manual)
        self._knows_kernel = False
        self._is_told_verbs = False
        """Whether what is done in an editor is told, so that steps that are done there are followed."""
        self.wants: dict[tuple[int, int], WantStatus] = {
            (step.number, place): WantStatus() for step in self.plan.steps for place in range(len(step.wants))
        }
        self.chains = Chains(self.plan, self.wants)
        self.servers = Servers(self.plan, self.wants)
        self.matching = Matching(self.plan, self.wants, self.chains, self.servers)
        self.predictions = PredictionOrder(self.lab.manual.predictions)
        self._running: dict[tuple[str, str, float], tuple[int, int]] = {}
        self._mistaken: dict[tuple[str, str, float], tuple[int, int]] = {}
        """Lines that still run, and the steps at which they are wrong tries."""
        self._parts: dict[tuple[str, str, float], list[JoinedRun]] = {}
        """Lines of several programs that still run."""
        self._background: list[tuple[str, str]] = []
        """Node and step of programs that go on after their line has ended."""
        self._asked = {
            want.words[1]
            for step in self.plan.steps
            for want in step.wants
            if isinstance(want, EditorWant) and want.words[0] == "terminal"
        }
        self._open: set[str] = set()
        """Nodes on which a terminal is open that a step asks for; a progress may name thousands of others."""
        self._scalars: dict[str, dict[str, tuple[float, str]]] = {}
        self._outputs: dict[str, str] = {}
        self._broken: dict[str, str] = {}
        self._trying: object = None
        """The line or the file that was seen last; what the kernel then says to be set is by it."""
        self._names_script = False
        """Whether that line runs the lab's set_env.sh by its name."""
        self._set_env = SetEnv()
        """How many set_env.sh the kernel last said had begun, and whether one runs."""
        self._last: dict[str, int] = {}
        """Of each terminal the step that measured there last."""
        self._files: dict[str, str] = {}
        self._scripts: dict[frozenset[str], str] = {}
        """Lines that ran a script in which something was measured, by what measured it; the last one at the end."""

    # --- what is seen

    def see(self, evidence: GuideEvidence) -> None:
        """Take one piece of evidence into account; one that no reader of ours expects is left out, and told of."""
        try:
            self._see(evidence)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            what = f"“{evidence.text}”" if isinstance(evidence, TypedEvidence) else type(evidence).__name__
            self.not_followed.append(f"{what} could not be judged, which is a fault of Linklab’s guide ({error!r})")

    def _see(self, evidence: GuideEvidence) -> None:
        match evidence:
            case TypedEvidence():
                self._typed(evidence)
            case StateEvidence(state=state):
                self._told(state)
            case FileEvidence():
                self._file(evidence)
            case EditorEvidence(words=verb):
                self._edited(verb)
        if isinstance(evidence, TypedEvidence):
            self._trying = evidence.key
        elif isinstance(evidence, FileEvidence):
            self._trying = object()  # each file that is written is a try of its own
        for want in self.wants.values():
            want.count_try(self._trying)
        for node in self._open:
            self._note_terminal(node)
        self.predictions.see(evidence, self._is_done)

    def check_prediction(self, new: PredictionEvidence) -> None:
        """As `PredictionOrder.check`: InputError if this prediction may not be written any more."""
        running = {self.plan.steps[number].id for number, _ in self._running.values()}
        self.predictions.check(new, running, self._is_done)

    def prediction(self, name: str) -> tuple[PredictionEvidence, PredictionTime] | None:
        """As `PredictionOrder.standing`."""
        return self.predictions.standing(name)

    def _told(self, state: State) -> None:
        """The kernel says what is set."""
        before = self.network.settings()
        by_script = self._names_script or state.set_env != self._set_env or state.set_env.running
        self._set_env = state.set_env
        self.network = self.network.with_state(state)
        now = self.network.settings()
        if not self.chains.begun:  # as the network was before anything was set
            self.chains.initial, self.chains.begun = now, True
        elif self._knows_kernel:
            self._follow_kernel(before, by_script=by_script)
        else:  # what every network has, such as sysctls, was not known until now and has not changed
            unknown = {key: value for key, value in now.items() if key not in before and not kind_of(key)}
            self.chains.initial = {**unknown, **self.chains.initial}
            self._follow_kernel({**unknown, **before}, by_script=by_script)
        self._knows_kernel = True

    def _follow_kernel(self, before: dict[str, object], *, by_script: bool) -> None:
        """Follow what the kernel says; what the lab's set_env.sh has just set is not the reader's own doing."""
        own = {at: status.own for at, status in self.wants.items()}
        self._changed(before, ())
        for at, status in self.wants.items() if by_script else ():
            status.own = own[at]
            if status.given:
                status.reopen("")
                status.mark_given()

    def see_all(self, evidence: Iterable[GuideEvidence]) -> None:
        """Take several pieces into account, in order."""
        for each in evidence:
            self.see(each)

    def _typed(self, line: TypedEvidence) -> None:
        self._leave_mininet(line)
        at = self._running.get(line.key)
        section = words.set_up_to(line, self.plan.nodes)
        self._names_script = section is not None
        if at is not None:
            if line.ended:
                del self._running[line.key]
                self._ended_step(at, line)
                step_id = self.plan.steps[at[0]].id
                if words.goes_on(line, self.plan.nodes):
                    self._background.append((line.terminal.partition("#")[0], step_id))
                else:
                    self.servers.ended(step_id)
            return
        self._works_on(line)
        if words.is_about_guide(line, self.plan.nodes):
            return
        self._end_background(line)
        if section is not None:
            if line.ended and line.status in (0, None):
                self._set_up(section)
            if behind := words.behind_script(line.text):
                self._typed(replace(line, text=behind))
                self._names_script = True
        elif not self._sets(line):
            self._ran(line)
        elif line.ended:
            self._set(line, self._parts.pop(line.key, []) or self._parts_of(line))
        else:
            self._begin_parts(self._parts_of(line), line)

    def _end_background(self, line: TypedEvidence) -> None:
        """A line may end what earlier ones have left in the background."""
        if line.ended and (node := words.ends_background(line, self.plan.nodes)):
            ended = [step_id for where, step_id in self._background if where == node]
            self._background = [each for each in self._background if each[0] != node]
            for step_id in ended:
                self.servers.ended(step_id)

    def _ended_step(self, at: tuple[int, int], line: TypedEvidence) -> None:
        """A line has ended that began a step; it may have done others, too."""
        parts = self._parts.pop(line.key, [])
        if parts and self._sets(line):
            self._set(line, parts, at)
        elif parts and self._is_well(line, at):
            self._judge_parts(parts, line, at)
        elif parts:  # perhaps it did not come to its last program
            self.wants[at].mark_wrong(words.of_status(line, 0))
        else:
            self._judge_run(at, line)

    def _leave_mininet(self, line: TypedEvidence) -> None:
        """Where Mininet's own command line has ended, the step that leaves it is done, by whichever word or key."""
        last = commands_in(line.terminal, line.text, self.plan.nodes, surely_run=True)[-1:]
        if line.status != 0 or not last or last[0].program != MININET:
            return
        ended = False
        for step in self.plan.steps:
            for place, want in enumerate(step.wants):
                at = step.number, place
                if isinstance(want, RunWant) and want.run.program == MININET and want.stays:
                    ended = self.wants[at].good and not compared(want.run, run_of(last[0]))
                elif ended and isinstance(want, RunWant) and want.run.program in LEAVES:
                    if not self.wants[at].good:
                        self.wants[at].mark_done(differently="left by Ctrl+D, or by another word")
                    return

    def _ran(self, line: TypedEvidence) -> None:
        """A line that sets nothing begins or has ended."""
        if self._has_prompt(line) or self._has_been_mended(line):
            return
        run = self._run_in(line)
        if run is None or self._ran_joined(line):
            return
        found = self.matching.find(run, self.network.settings(), self.front, self._last.get(line.terminal))
        if found is not None and not found.differing:
            self._note_last(found.at, line)
        if found is None:
            self._ran_no_step(run, line)
            return
        if self.wants[found.at].good:
            if not self.matching.is_as_printed(found.at, line) and self._tried_next(run, line):
                return
            if not line.ended and self.servers.is_needed(found.at) and found.at not in self._running.values():
                self._running[line.key] = found.at
                self.servers.began_again(found.at)
            return
        want = self.plan.steps[found.at[0]].wants[found.at[1]]
        if found.differing:
            self.wants[found.at].mark_wrong(words.of_run(run, found.differing))
            if not line.ended:
                self._mistaken[line.key] = found.at
        elif line.ended:
            self._judge_run(found.at, line)
        else:
            self._running[line.key] = found.at
            if isinstance(want, RunWant) and want.stays:
                self.wants[found.at].mark_done()

    def _ran_joined(self, line: TypedEvidence) -> bool:
        """Whether a line does what are several lines in the manual."""
        parts = (self._parts.pop(line.key, []) if line.ended else []) or self._parts_of(line)
        if not parts or (line.ended and not self._is_well(line)):
            return False
        if line.ended:
            self._judge_parts(parts, line)
        else:
            self._begin_parts(parts, line)
        return True

    def _parts_of(self, line: TypedEvidence) -> list[JoinedRun]:
        """The programs of a line that does several steps; none of one that a step has as it is."""
        now = self.network.settings()

        def find(run: ProgramRun, now: SettingsMap, before: int | None) -> MatchedRun | None:
            after = self._last.get(line.terminal) if before is None else before
            return self.matching.find(self._addressed(run), now, self.front, after)

        found = joined_runs(line, self.plan.nodes, self.network, find)
        if not (done := [at for at in fulfilled(found) if not self.wants[at].good]) and not self._sets(line):
            return []
        whole = self._run_in(line)
        as_one = self.matching.exact(whole, now, self.front, self._last.get(line.terminal)) if whole else None
        return [] if as_one is not None and (as_one not in done or len(done) == 1) else found

    def _note_last(self, at: tuple[int, int], line: TypedEvidence) -> None:
        """What follows in a terminal on a measurement belongs to it; one that was done before says nothing of where."""
        want = self.plan.steps[at[0]].wants[at[1]]
        if isinstance(want, RunWant) and want.run.program != ADDRESSES and not self.wants[at].good:
            self._last[line.terminal] = at[0]

    def _begin_parts(self, parts: list[JoinedRun], line: TypedEvidence) -> None:
        """A line of several programs begins, of which the last may be a server."""
        if parts:
            self._parts[line.key] = parts
        at = parts[-1].fulfils if parts else None
        if at is not None and not self.wants[at].good:
            self._running[line.key] = at
            want = self.plan.steps[at[0]].wants[at[1]]
            if isinstance(want, RunWant) and want.stays:
                self.wants[at].mark_done()

    def _is_well(self, line: TypedEvidence, at: tuple[int, int] | None = None) -> bool:
        """Whether all of a line ran: it succeeded, or its last program, which does the step `at`, ran until Ctrl+C."""
        want = self.plan.steps[at[0]].wants[at[1]] if at is not None else None
        stopped = at is not None and words.is_stopped(self.plan.steps[at[0]].step)
        stays = stopped or (isinstance(want, RunWant) and want.stays)
        return line.status in (0, None) or (stays and line.status in BY_KEY)

    def _judge_parts(self, parts: Sequence[JoinedRun], line: TypedEvidence, ran: tuple[int, int] | None = None) -> None:
        """A line of several programs has ended well; what they showed is known of all together.

        ran: the step that its last program has begun to do.
        """
        measuring = {at[0] for at in fulfilled(parts) if self.plan.steps[at[0]].expectations}
        for part in parts:
            if part.found is None or (self.wants[part.found.at].good and part.found.at != ran):
                continue
            at, status = part.found.at, self.wants[part.found.at]
            if not part.found.differing:
                self._note_last(at, line)
            if part.found.differing:
                status.mark_wrong(words.of_run(part.run, part.found.differing))
            elif at[0] in measuring and len(measuring) > 1:
                status.mark_wrong(words.of_mixed_parts(line.text))
            elif not part.is_known:
                status.mark_wrong(words.of_unknown_part(line.text, alone=len(measuring) > 1))
            else:  # what ended by a key came to its last program, so those before succeeded
                self._judge_run(at, line if at == ran or line.status is None else replace(line, status=0))

    def _ran_no_step(self, run: ProgramRun, line: TypedEvidence) -> None:
        """A line runs what no step does."""
        tools = frozenset(name.partition(".")[0] for name in line.scalars)
        if line.ended and tools and words.runs_script(line):
            self._scripts.pop(tools, None)
            self._scripts[tools] = line.text
        if misspelt := self.matching.misspelt(line, self.front):
            self.wants[misspelt[0]].mark_wrong(words.of_run(run, [misspelt[1]]))
        elif self._tried_next(run, line):
            pass
        elif line.ended and line.status not in (0, None):  # such as `tc qdisk add …`, which tc does not know
            self._refused(line, (), f"status {line.status}")

    @staticmethod
    def _tools(step: GuideStep) -> frozenset[str]:
        """The programs that a step measures with."""
        return frozenset(want.run.program for want in step.wants if isinstance(want, RunWant))

    def _has_prompt(self, line: TypedEvidence) -> bool:
        """Whether a line is a step's with a prompt before it; the step says so."""
        apart = words.behind_prompt(line.text)
        at = self.matching.behind_prompt(apart[1], self.front) if apart else None
        if apart is None or at is None:
            return False
        self.wants[at].mark_wrong(words.of_prompt(*apart))
        return True

    def _has_been_mended(self, line: TypedEvidence) -> bool:
        """Whether a wrong try that ends only now was for a step that is done by now: it is none at a later one."""
        at = self._mistaken.pop(line.key, None) if line.ended else None
        return at is not None and self.wants[at].good

    def _tried_next(self, run: ProgramRun, line: TypedEvidence) -> bool:
        """Whether a line is a wrong try at what comes next: it failed, or it wrote the file of that step."""
        at = self.matching.following(self.front)
        want = self.plan.steps[at[0]].wants[at[1]] if at is not None else None
        if at is None or not isinstance(want, RunWant) or not line.ended:
            return False
        files = words.written_by(line.terminal, line.text)
        into = bool(files) and files == words.written_by(self.plan.steps[at[0]].step.terminal, want.text)
        if (line.status in (0, None) and not into) or (run.node, run.alike) != (want.run.node, want.run.alike):
            return False
        differing = compared(want.run, run) if run.program in TABLES else []
        complaint = complaint_of(line, self.plan.nodes) if line.status else None
        story = words.of_run(run, differing) if differing else words.of_status(line, 0)
        self.wants[at].mark_wrong(story, advice=complaint.text if complaint and not differing else "")
        return True

    def _run_in(self, line: TypedEvidence) -> ProgramRun | None:
        """What a line runs; a node that is named as a target counts by its address."""
        run = words.run_in(line, self.plan.nodes)
        return self._addressed(run) if run else None

    def _addressed(self, run: ProgramRun) -> ProgramRun:
        target = self.plan.addresses.get(run.options.get("target", ""))
        return replace(run, options={**run.options, "target": target}) if target else run

    def _set_up(self, section: str) -> None:
        """The lab's set_env.sh has made the settings before a section: whoever types that goes on from there."""
        inside = (step.number for step in self.plan.steps if words.is_in(step.step.section, section))
        self.begins_at = self.chains.begins_at = next(inside, len(self.plan.steps))
        for step in self.plan.steps[: self.begins_at]:
            for place, want in enumerate(step.wants):
                if isinstance(want, SettingWant) and step.step.setup:
                    self.wants[step.number, place].mark_given()

    def _sets(self, line: TypedEvidence) -> bool:
        """Whether the line is one that sets something, be it that the kernel refused it."""
        commands = commands_in(line.terminal, line.text, self.plan.nodes, surely_run=True)
        return any(self.network.after(command) is not None for command in commands)

    def _set(self, line: TypedEvidence, parts: Sequence[JoinedRun], ran: tuple[int, int] | None = None) -> None:
        """A line that sets something has ended; parts, ran: as of `_judge_parts`."""
        refused = not self._is_well(line, ran)
        before = self.network.settings()
        keys: list[str] = []
        why = ""
        for command in commands_in(line.terminal, line.text, self.plan.nodes, surely_run=True):
            done = self.network.after(command)
            if done is None:
                continue
            keys += done.keys
            why = why or done.why
            if not refused and done.network is not None:
                self.network = done.network
        run = self._run_in(line)
        exact = self.matching.exact(run, before, self.front) if run else None
        if exact is not None and (
            refused or why
        ):  # the manual shows what is refused, or rests on what is not simulated
            self._judge_run(exact, line)
            return
        if exact is not None and not self.wants[exact].good and self.matching.is_set(exact, before):
            self._judge_run(exact, line)  # it sets what only the kernel knows of, such as a filter of `tc -batch`
        if not refused:  # what the kernel took counts, even where its state was read back before the line had ended
            self._changed(before, keys, line)
            if exact is None:
                self._judge_parts(parts, line, ran)
        else:
            self._refused(line, keys, why or f"status {line.status}")

    def _refused(self, line: TypedEvidence, keys: Iterable[str], why: str) -> None:
        """A line set nothing: it is a wrong try at what it was meant for, or rests on a step that was left out."""
        if self.matching.repeats(line, self.front):
            return
        complaint = complaint_of(line, self.plan.nodes)
        said = complaint.message if complaint else words.last_line(line.output)
        story, advice = words.of_refused(line.text, line.terminal, said or why), complaint.text if complaint else ""
        run = self._run_in(line)
        at = self.chains.meant(line, keys, self.front)
        near = self.matching.find(run, self.network.settings(), self.front) if run else None
        if near is not None and (at is None or self.front <= near.at[0] < at[0]):
            self.wants[near.at].mark_wrong(story, advice=advice)
        elif at is not None:
            self.wants[self.chains.first_open(at)].mark_wrong(story, advice=advice)

    def _changed(self, before: dict[str, object], keys: Iterable[str], line: TypedEvidence | None = None) -> None:
        """Follow what is set now; `keys` were spoken of by a line."""
        now = self.network.settings()
        changed = [key for key in {**before, **now} if before.get(key) != now.get(key)]
        self.chains.follow(now, dict.fromkeys([*changed, *keys]), line, self.front)

    def _file(self, file: FileEvidence) -> None:
        self._files[file.path] = file.text
        for step in self.plan.steps:
            for place, want in enumerate(step.wants):
                if not isinstance(want, FileWant) or words.file_name(want.path) != words.file_name(file.path):
                    continue
                status = self.wants[step.number, place]
                if words.has_text(file.text, want):
                    status.mark_done()
                elif not status.good and step.number >= self.front:
                    status.mark_wrong(words.of_file(file, want))
                    return

    def _edited(self, verb: tuple[str, ...]) -> None:
        if verb[0] in ("opened", "terminal"):
            self._opened(verb[1])
        elif verb[0] == "closed":
            self._note_closed(verb[1])
        self._is_told_verbs = self._is_told_verbs or verb[0] not in ("open", "run", "opened", "closed")
        if verb[0] in ("run", "stop"):
            self._all_ended()
            self._open.clear()
            self._last.clear()
            self._scripts.clear()
            self._set_env = SetEnv()
            self.network, self._knows_kernel = SimulatedNetwork(self.plan.devices), False
            self.chains.restarted()
        candidates = [
            (step.number, place)
            for step in self.plan.steps
            for place, want in enumerate(step.wants)
            if isinstance(want, EditorWant) and words.same_verb(want.words, verb)
        ]
        if at := next((at for at in candidates if not self.wants[at].good), None):
            self.wants[at].mark_done()

    def _all_ended(self) -> None:
        """With its network everything ends that ran in it."""
        for step_id in [self.plan.steps[number].id for number, _ in self._running.values()]:
            self.servers.ended(step_id)
        for _, step_id in self._background:
            self.servers.ended(step_id)
        self._running.clear()
        self._background.clear()

    def _works_on(self, line: TypedEvidence) -> None:
        """A line is typed in the terminal of a node, or at Mininet's prompt for a node's shell, which is as good."""
        self._opened(line.terminal.partition("#")[0])
        for command in commands_in(line.terminal, line.text, self.plan.nodes):
            self._opened(command.node)

    def _opened(self, node: str) -> None:
        if node in self._asked:
            self._open.add(node)

    def _note_terminal(self, node: str) -> None:
        """A terminal is open there: the steps that ask for it, if the reader is near them, are done."""
        front = self.front
        started = self.plan.steps[front - 1].networks if front else 1
        for step in self.plan.steps[: front + NEAR]:
            if step.networks > started:  # that is a network that is still to be started
                break
            for place, want in enumerate(step.wants):
                if isinstance(want, EditorWant) and want.words == ("terminal", node):
                    self.wants[step.number, place].mark_done()

    def _note_closed(self, node: str) -> None:
        """No terminal is open there any more: a step that asks for it is open again, if nothing after it is done."""
        self._open.discard(node)
        front = self.front
        for step in self.plan.steps[front:]:
            for place, want in enumerate(step.wants):
                status = self.wants[step.number, place]
                if isinstance(want, EditorWant) and want.words == ("terminal", node) and status.good:
                    status.reopen(f"the terminal on {node} was closed")
        for step in self.plan.steps[front : front + NEAR]:
            for place, want in enumerate(step.wants):
                if isinstance(want, EditorWant) and want.words == ("close", node):
                    self.wants[step.number, place].mark_done()

    # --- judging

    def _judge_run(self, at: tuple[int, int], line: TypedEvidence) -> None:
        step, status = self.plan.steps[at[0]], self.wants[at]
        want = step.wants[at[1]]
        expected = want.status if isinstance(want, RunWant) else None
        stopped = isinstance(want, RunWant) and (want.stays or words.is_stopped(step.step))
        if expected is not None and not stopped and line.status not in (None, expected):
            run = self._run_in(line)
            if run and at[0] > self.front and self._tried_next(run, line):
                return
            complaint = None if line.status == 0 else complaint_of(line, self.plan.nodes)
            status.mark_wrong(words.of_status(line, expected), advice=complaint.text if complaint else "")
            return
        other = words.of_other_file(step.step.terminal, want.text, line) if isinstance(want, RunWant) else ""
        if other and not status.good:
            status.mark_wrong(other)
            return
        self._outputs[step.id] = self._outputs.get(step.id, "") + line.output if at[1] else line.output
        self._scalars[step.id] = {**(self._scalars.get(step.id, {}) if at[1] else {}), **line.scalars}
        self._broken.pop(step.id, None)
        if reason := line.broken or words.of_cut_off(line):
            self._broken[step.id] = reason
        failed = [] if at[1] + 1 < len(step.wants) else self._failed(step, line)
        if failed and (into := self._shown_into(step, failed[0], line)):
            status.mark_wrong(words.of_shown_into(into))
        elif failed:
            status.mark_wrong(missed.story_of(failed[0], self._broken, self._lacking(step)[0]), failed)
        else:
            exact = isinstance(want, RunWant) and words.as_printed(want, step.step.terminal, line, self.plan.nodes)
            status.mark_done(differently="" if exact else f"by {line.text}")
            self.servers.served(at, [*self._running.values()])

    def _failed(self, step: GuideStep, line: TypedEvidence) -> list[ExpectationVerdict]:
        """The expectations that what this step showed completes, and that it misses."""
        outputs = {one: text for one, text in self._outputs.items() if one == step.id or self._is_done(one)}
        observed = Observed(self._scalars, outputs, self._broken)
        own_tool = words.is_own_tool(step, line, self.plan.nodes)
        judged = [each for each in step.expectations if own_tool or each.shows is None]
        if words.is_stopped(step.step):  # by hand, a moment sooner or later
            judged = [each for each in judged if each.what not in COUNTED]
        return [
            verdict for verdict in verdicts_on(judged, [observed]) if verdict.outcome in (Outcome.FAIL, Outcome.ERROR)
        ]

    @staticmethod
    def _shown_into(step: GuideStep, failed: ExpectationVerdict, line: TypedEvidence) -> tuple[str, ...]:
        """The files into which a line showed what its terminal should have shown."""
        return words.written_by(line.terminal, line.text) if failed.expectation.shows else ()

    def verdicts(self) -> list[ExpectationVerdict]:
        """What the lab expects of the steps that are done, beside what they showed last."""
        observed = Observed(self._scalars, self._outputs, self._broken)
        expected = [each for each in self.lab.expectations if all(self._has_shown(one) for one in each.steps)]
        return list(verdicts_on(expected, [observed]))

    def _has_shown(self, step_id: str) -> bool:
        return step_id in self._outputs or step_id in self._scalars

    def _is_done(self, step_id: str) -> bool:
        return self._status(self.plan.step(step_id))[0].good

    def _lacking(self, step: GuideStep) -> tuple[str, int | None]:
        """Which setting before a step is not as the manual has it there, as a sentence, and which step makes it.

        ("", None) if all are; the step is None for what no step before it has set.
        """
        now, initial = self.network.settings(), self.chains.initial
        context = next((want.context for want in reversed(step.wants) if isinstance(want, RunWant)), initial)
        for key in self.chains.values:
            wanted = context.get(key, initial.get(key))
            if not self.chains.same(key, wanted, now.get(key)):
                at = self.chains.sets_before(key, step.number)
                where = f" (“{words.name_of(self.plan.steps[at])}”)" if at is not None else ""
                return words.not_set(key, wanted, now.get(key), where), at
        return "", None

    def _in_the_way(self, step: GuideStep) -> str:
        """What is where a step adds a discipline: "same", one of its kind; else the interface; "" for nothing."""
        now = self.network.settings()
        for want in step.wants:
            for key, value in want.changes.items() if isinstance(want, SettingWant) else ():
                place = key.partition(" ")[0]
                if value is None or not kind_of(key):
                    continue
                if key in now:
                    return "same"
                if any(kind_of(other) and other.partition(" ")[0] == place for other in now):
                    return place
        return ""

    def _left_out(self, step: GuideStep) -> str:
        """What to say of a measurement that was left out; "" where it can simply be done now."""
        why, at = self._lacking(step)
        tools = self._tools(step)
        script = next((text for used, text in reversed(self._scripts.items()) if used & tools), "")
        said = words.of_script(script) if script else ""
        if not why or tools <= {ADDRESSES}:
            return said
        section = step.step.section
        if at is not None and words.is_in(self.plan.steps[at].step.section, section):
            section = ""  # set_env.sh makes what lies before the section
        return " ".join(filter(None, (words.of_left_out(why, section), said)))

    # --- what is told

    @property
    def front(self) -> int:
        """The number of the first step after the last one that is done; that is where somebody works."""
        done = (step.number for step in self.plan.steps if step.tells_progress and self._status(step)[0].good)
        return max(max(done, default=-1) + 1, self.begins_at)

    def steps(self) -> list[StepState]:
        """The state of every step, in the order of the manual."""
        front = self.front
        found = []
        for step in self.plan.steps:
            status, story, differing = self._status(step)
            wants = [self.wants[step.number, place] for place in range(len(step.wants))]
            passed = self.begins_at <= step.number < front
            counts = not step.step.optional and (step.followed or self._is_told_verbs or status.good)
            left_out = status is GuideStatus.OPEN and passed and counts
            if left_out and not story and step.measures and (left := self._left_out(step)):
                story = left
            tried = status is GuideStatus.WRONG or any(want.undone for want in wants)
            in_the_way = self._in_the_way(step) if tried else ""
            hints = words.hints(step, story, differing, self.view, in_the_way=in_the_way)
            advice = next((want.advice for want in wants if want.advice), "")
            found.append(
                StepState.of(
                    step,
                    status,
                    story,
                    undone=any(want.undone for want in wants),
                    left_out=left_out,
                    counts=counts,
                    tries=sum(want.tries for want in wants),
                    given=any(want.given for want in wants),
                    advice=advice,
                    verdicts=differing,
                    hints=hints,
                    titles=self._titles,
                )
            )
        return found

    def measured(self, step_id: str) -> Mapping[str, tuple[float, str]]:
        """What a step measured when it was done last: metric → (value, unit); empty where it has not."""
        return self._scalars.get(step_id, {})

    def next_step(self) -> StepState | None:
        """The step to do next: the first that is wrong or open, or open again; None when all are done.

        Of what lies before where set_env.sh led, first only what another command has undone since.
        """
        left = [
            one for one in zip(self.plan.steps, self.steps(), strict=True) if not one[1].status.good and one[1].counts
        ]
        here = (state for step, state in left if step.number >= self.begins_at or state.undone)
        return next(here, next((state for _, state in left), None))

    def _status(self, step: GuideStep) -> tuple[GuideStatus, str, tuple[ExpectationVerdict, ...]]:
        statuses = [self.wants[step.number, place] for place in range(len(step.wants))]
        wrong = next((one for one in statuses if one.status is GuideStatus.WRONG), None)
        if wrong is not None:
            return GuideStatus.WRONG, wrong.story, tuple(wrong.verdicts)
        if not all(one.good for one in statuses):
            return GuideStatus.OPEN, next((one.story for one in statuses if not one.good), ""), ()
        story = next((one.story for one in statuses if one.story), "")
        differently = any(one.status is GuideStatus.DIFFERENTLY for one in statuses)
        return (GuideStatus.DIFFERENTLY if differently else GuideStatus.DONE), story, ()
