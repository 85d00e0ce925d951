# SPDX-License-Identifier: BSD-3-Clause
"""The guide of a lab that somebody is doing: evidence from its network into the guide, and onto the disk.

Held by the program that holds the network (page, editor, `linklab shell`). Other programs, also those inside the
network, read `.linklab/steps.json`, which has what every view shows.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from linklab.base.files import write
from linklab.engine.api import Completed, Network
from linklab.errors import InputError
from linklab.guide import words
from linklab.guide.collect import Collector
from linklab.guide.evidence import EditorEvidence, GuideEvidence, PredictionEvidence, TypedEvidence
from linklab.guide.guide import Guide
from linklab.guide.marks import plain
from linklab.guide.plan import FileWant, runs_at_once
from linklab.guide.predictions import PredictionTime
from linklab.guide.progress import BEGUN, CONTINUED, FILE, FOLDER, LabProgress, damage_told
from linklab.guide.shell import CONSOLE
from linklab.guide.status import StepState
from linklab.judge.expectation import ExpectationVerdict
from linklab.lab.model import Lab
from linklab.terminal.attach_server import AttachServer

FORMAT = 1
STEPS_FILE = "steps.json"
HINT = "hint"
"""Kind of the lines in the progress that count the hints that were asked for."""


@dataclass
class GuideSession:
    """One lab in one folder, with the progress that is there already.

    on_change: called after evidence has been judged, in any thread; must not wait.
    view: in which the lab is done, as of `Guide`.
    """

    lab: Lab
    folder: Path
    on_change: Callable[[], None] = lambda: None
    view: str = words.TERMINAL
    guide: Guide = field(init=False)
    progress: LabProgress = field(init=False)

    def __post_init__(self) -> None:
        self._lock = threading.RLock()
        self._busy = False
        self._collector: Collector | None = None
        self._troubles: dict[str, None] = {}
        """Sentences on what was not followed, in their order."""
        self._unread = self._unkept = ""
        self._waiting: deque[GuideEvidence] = deque()
        self.progress = LabProgress.begin(self.folder, self.lab)
        self.guide = Guide(self.lab, view=self.view)
        read = self.progress.read()
        self.guide.see_all(found for _, found in read.lines if found is not None)
        self._note_trouble(damage_told(str(self.progress.path), read))
        self._write()

    @property
    def begins_with_network(self) -> bool:
        """Whether the lab's network is there before anything is typed; else there is the Client's terminal alone."""
        return runs_at_once(self.lab.manual)

    @property
    def trouble(self) -> str:
        """Sentences on what went wrong, without the last full stop; "" if nothing did.

        Lines of the progress that cannot be read, lines that could not be followed, what cannot be read of the network
        now, and what cannot be kept now.
        """
        with self._lock:
            return ". ".join(filter(None, (*self._troubles, self._unread, self._unkept)))

    @contextlib.contextmanager
    def collecting(
        self,
        network: Network,
        attach: AttachServer,
        opened: str | None = None,
        first: Sequence[GuideEvidence] = (),
    ) -> Iterator[None]:
        """Take evidence from a network that has just been started.

        opened: name of the topology's file that it was built from; None if it was not built from a drawing.
        first: what was seen of it before anybody could work in it (`linklab.guide.continuing`).
        """
        which = {"lab": self.lab.number, "slug": self.lab.slug}
        self._note(CONTINUED if first else BEGUN, **which, environment=dict(network.environment))
        if opened is not None:
            self.see(EditorEvidence(("open", opened)))
            self.see(EditorEvidence(("run",)))
        for evidence in first:
            self.see(evidence)
        paths = [want.path for step in self.guide.plan.steps for want in step.wants if isinstance(want, FileWant)]
        with Collector(
            network,
            attach,
            self.folder,
            self.see,
            wanted=paths,
            busy=self._set_busy,
            on_trouble=self._note_trouble,
            on_unread=self._note_unread,
        ) as self._collector:
            yield

    def running(self, terminal: str) -> str | None:
        """As `Collector.running`; None where nothing is collected, or terminals make no marks."""
        if self._collector is None or not (self.folder / FOLDER / FILE).is_file():
            return None
        return self._collector.running(terminal)

    def typed(self, terminal: str, text: str, begun_s: float, done: Completed | None = None) -> None:
        """A line that no terminal shows begins, or has ended; it waits until the kernel was asked what it has set.

        done: what it gave; at Mininet's prompt a line has no status.
        """
        line = TypedEvidence(terminal, text, begun_s)
        if done is not None:
            status = None if terminal == CONSOLE else done.exit_status
            line = replace(line, end_s=done.end_s, output=plain(done.output), status=status)
        if self._collector is not None:
            self._collector.typed(line)

    def see(self, evidence: GuideEvidence) -> None:
        """Judge evidence and keep it."""
        with self._lock:
            self.guide.see(evidence)
            for sentence in self.guide.not_followed:
                self._note_trouble(sentence)
            self.guide.not_followed.clear()
            self._waiting.append(evidence)
            self._keep()
            self._write()
        self.on_change()

    def _keep(self) -> None:
        """Write what was seen; a full disk must not end the lab, so what cannot be written is told, and waits."""
        try:
            self._add_waiting()
            self.progress.take_in()
        except InputError as error:
            self._unkept = f"{error}; what you do counts, and is kept once the file can be written again"
        else:
            self._unkept = ""

    def _add_waiting(self) -> None:
        """Write what waits, in its order; InputError if it cannot be written."""
        while self._waiting:
            self.progress.add(self._waiting[0])
            self._waiting.popleft()

    def predict(self, written: PredictionEvidence) -> None:
        """Keep a prediction.

        Raises:
            InputError: its measurement has begun and there is one already, or it cannot be written.
        """
        with self._lock:
            self.guide.check_prediction(written)
            if written != self.guide.predictions.counted(written.name):
                self._add_waiting()  # a measurement that waits was seen before it
                self.progress.add(written)
                self.guide.see(written)
        self.on_change()

    def prediction(self, name: str) -> tuple[PredictionEvidence, PredictionTime] | None:
        """As `PredictionOrder.standing`."""
        with self._lock:
            return self.guide.predictions.standing(name)

    def predictions(self) -> dict[str, tuple[PredictionEvidence, PredictionTime] | None]:
        """`prediction` of every prediction that the manual asks for, by its id."""
        return {asked.id: self.prediction(asked.id) for asked in self.lab.manual.predictions}

    def is_known(self, name: str) -> bool:
        """As `PredictionOrder.is_known`."""
        with self._lock:
            return self.guide.predictions.is_known(name)

    def measured_predictions(self) -> list[str]:
        """As `PredictionOrder.measured`."""
        with self._lock:
            return self.guide.predictions.measured

    def closed_predictions(self) -> list[str]:
        """Ids of the predictions that were made before their measurement, which was seen: they cannot be changed."""
        with self._lock:
            order = self.guide.predictions
            return [name for name in order.measured if order.counted(name) is not None]

    def next_step(self) -> StepState | None:
        """As `Guide.next_step`."""
        with self._lock:
            return self.guide.next_step()

    def steps(self) -> list[StepState]:
        """The state of every step."""
        with self._lock:
            return self.guide.steps()

    def measured(self, step_id: str) -> Mapping[str, tuple[float, str]]:
        """What a step measured when it was done last, as `Guide.measured`."""
        with self._lock:
            return dict(self.guide.measured(step_id))

    def verdicts(self) -> list[ExpectationVerdict]:
        """As `Guide.verdicts`."""
        with self._lock:
            return self.guide.verdicts()

    def hint(self, step_id: str) -> str:
        """The next hint for a step; KeyError for no such step."""
        with self._lock:
            return next_hint(self.progress, step_id, self._state(step_id).hints)

    def _state(self, step_id: str) -> StepState:
        for state in self.guide.steps():
            if state.id == step_id:
                return state
        raise KeyError(step_id)

    def _note(self, kind: str, **data: Any) -> None:
        with contextlib.suppress(InputError):  # as in `see`
            self.progress.note(kind, **data)

    def _note_trouble(self, sentence: str) -> None:
        """Tell of what the guide could not follow; the lab goes on."""
        with self._lock:
            self._troubles |= {sentence: None} if sentence else {}

    def _note_unread(self, sentence: str) -> None:
        """Tell of what cannot be read of the network now, and no longer once it can."""
        with self._lock:
            self._unread = sentence
            self._write()
        self.on_change()

    def _set_busy(self, busy: bool) -> None:
        with self._lock:
            if self._busy != busy:
                self._busy = busy
                self._write()

    def _write(self) -> None:
        """What other programs read."""
        states = self.guide.steps()
        following = self.guide.next_step()
        data = {
            "format": FORMAT,
            "lab": self.lab.number,
            "heading": self.lab.heading,
            "trouble": self.trouble,
            "busy": self._busy,
            "next": following.id if following else None,
            "steps": [{**state.as_json(), "hints": list(state.hints)} for state in states],
        }
        with contextlib.suppress(OSError):  # as in `see`
            write(self.folder / FOLDER / STEPS_FILE, json.dumps(data, ensure_ascii=False))


def next_hint(progress: LabProgress, step_id: str, hints: Sequence[str]) -> str:
    """The hint that comes next for a step, which is noted; the last one again when there are no more."""
    numbers = [note.get("number") for note in progress.notes(HINT) if note.get("step") == step_id]
    shown = max((number for number in numbers if isinstance(number, int)), default=0)
    progress.note(HINT, step=step_id, number=min(shown, len(hints) - 1) + 1)
    return hints[min(shown, len(hints) - 1)]


def read_steps(folder: Path) -> dict[str, Any] | None:
    """What a session wrote for other programs; None where there is none.

    Raises:
        InputError: it cannot be read.
    """
    path = folder / FOLDER / STEPS_FILE
    data: Any
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read: {error}; it is written anew when the lab is started") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise InputError(f"{path}: this was written by another version of Linklab; start the lab again")
    if not isinstance(data.get("steps"), list) or not {"lab", "heading", "busy", "next"} <= set(data):
        raise InputError(f"{path}: this does not hold the steps of a lab; it is written anew when the lab is started")
    return data
