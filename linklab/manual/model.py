# SPDX-License-Identifier: BSD-3-Clause
"""What a manual says, as plain data: sections, steps, quoted numbers and figures.

Holds no file handles and knows no engine. Lines are 1-based lines of `manual.md`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from linklab.base.finish import Finish, Prompt


@dataclass(frozen=True)
class Commands:
    """Lines typed one after the other; `finish` is that of the last, the others end at the prompt."""

    lines: tuple[str, ...]
    finish: Finish = field(default_factory=Prompt)


@dataclass(frozen=True)
class Interrupt:
    """Ctrl+C to what step `of` left running; `keys` is what the reader is told to press."""

    of: str
    keys: str


@dataclass(frozen=True)
class Await:
    """Waiting until what step `of` left running ends by itself."""

    of: str


@dataclass(frozen=True)
class WriteFile:
    """A file edited by the reader: `text` becomes its content, or is added at its end."""

    path: str
    text: str
    append: bool


@dataclass(frozen=True)
class EditorVerb:
    """One thing done in the topology editor, such as `("set", "h1", "ip", "10.0.0.1/8")`."""

    words: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class EditorActions:
    """Things done in the topology editor, in order."""

    verbs: tuple[EditorVerb, ...]


Action: TypeAlias = Commands | Interrupt | Await | WriteFile | EditorActions


@dataclass(frozen=True)
class Show:
    """Which lines of the recorded output the reader sees.

    kind: "auto" (all if short, else both ends), "all", "none", "first", "last" or "lines".
    first, last: counts for "first" and "last"; 1-based, inclusive line numbers for "lines".
    """

    kind: str = "auto"
    first: int = 0
    last: int = 0


@dataclass(frozen=True)
class Step:
    """One fenced block that is done in a terminal or in the editor.

    terminal: a node's name, "h1#2" for a second terminal of h1, "client", "mininet" or "editor".
    section: number of the section it stands in, "" outside numbered ones.
    number, title: of the "Step." paragraph it belongs to; None and "" before the first.
    together: consecutive steps with the same name are typed together, within a tenth of a second.
    at_once: all steps of such a group are typed at the same instant instead.
    prompt: what shows that the command ended, where that is not the shell's own prompt.
    status: exit status that counts as success; None accepts any.
    deadline_s: wall-clock seconds; None leaves the runner's default.
    files: patterns of paths below the working folder that the step writes, where that is not evident.
    """

    id: str
    line: int
    section: str
    number: int | None
    title: str
    terminal: str
    action: Action
    together: str | None = None
    at_once: bool = False
    prompt: str | None = None
    status: int | None = 0
    setup: bool = False
    optional: bool = False
    show: Show = Show()
    deadline_s: float | None = None
    files: tuple[str, ...] = ()

    @property
    def typed(self) -> str:
        """What the reader types or presses, one line each."""
        match self.action:
            case Commands(lines=lines):
                return "\n".join(lines)
            case Interrupt(keys=keys):
                return keys
            case WriteFile(text=text):
                return text
            case EditorActions(verbs=verbs):
                return "\n".join(" ".join(verb.words) for verb in verbs)
            case Await():
                return ""


@dataclass(frozen=True)
class Section:
    """A heading; `number` is "" for an unnumbered one, level 1 for `##`."""

    number: str
    title: str
    level: int
    line: int
    slug: str


@dataclass(frozen=True)
class Quote:
    """A `{{…}}` in the prose.

    kind: "scalar" (`step`, `metric`), "section" (`metric` is its slug) or "lab" (`metric` is the field).
    unit, decimals: how a scalar is written; None leaves it to the size of the number.
    """

    line: int
    kind: str
    step: str
    metric: str
    unit: str | None = None
    decimals: int | None = None


@dataclass(frozen=True)
class Figure:
    """An image: kind "run" (`step`/`name` of the recorded run), "topology" or "file" (`name` is its path).

    Of the recorded run `step` may be several steps, "flow+queue", and `name` several panels, "throughput+backlog".
    """

    line: int
    kind: str
    step: str
    name: str

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps whose measurements are drawn."""
        return tuple(self.step.split("+"))

    @property
    def names(self) -> tuple[str, ...]:
        """The panels, from the top."""
        return tuple(self.name.split("+"))


@dataclass(frozen=True)
class Prediction:
    """A `predict` block: what the reader answers from the theory, before the steps `settled` measure it.

    number: which of the manual it is, from 1.
    asks: what an answer consists of: "words", or kinds of quantities, as `linklab.manual.predict` names them, or both.
    text: the question, in the Markdown of manuals.
    """

    id: str
    number: int
    line: int
    settled: tuple[str, ...]
    asks: tuple[str, ...]
    text: str
    quotes: tuple[Quote, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class PredictionAnswer:
    """What answers.md says of a prediction; `line` is that of its heading, `text` begins on the next one."""

    prediction: str
    path: Path
    line: int
    text: str
    quotes: tuple[Quote, ...] = ()
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class StepLine:
    """A "Step." paragraph; `section` is the number of its section, "" outside numbered ones."""

    title: str
    line: int
    section: str


@dataclass(frozen=True)
class Subgoal:
    """A "Subgoal." line: what the steps below it are for, up to the next one or the section's end."""

    title: str
    line: int
    section: str


@dataclass(frozen=True)
class Manual:
    """A parsed manual; `text` is its source, `title` "" where the manual has no `#` heading.

    quotes, figures: also those of the predictions, at their lines.
    tasks: the numbered steps as the reader counts them; `steps` are the blocks that are done.
    """

    path: Path
    text: str
    title: str
    sections: tuple[Section, ...]
    steps: tuple[Step, ...]
    quotes: tuple[Quote, ...]
    figures: tuple[Figure, ...]
    predictions: tuple[Prediction, ...] = ()
    subgoals: tuple[Subgoal, ...] = ()
    tasks: tuple[StepLine, ...] = ()

    def step(self, step_id: str) -> Step | None:
        """The step of that id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)
