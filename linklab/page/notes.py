# SPDX-License-Identifier: BSD-3-Clause
"""What a student writes on the page of a lab: predictions and answers, as a JSON file beside the lab's progress.

`POST predictions/ID {number, unit, words, why}`, `POST answers/NUMBER {text}`, and `POST name {text}` keep one; the
event `notes` tells every page what is kept. The file is the student's: a field that is missing is empty, and a file
that is not ours is refused.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tornado.web import RequestHandler

from linklab.base.files import write_json
from linklab.base.text import one_line
from linklab.errors import InputError
from linklab.guide.progress import FOLDER
from linklab.guide.progress_lines import LOCK_S, locked
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, RequestError
from linklab.page.predicted import FIELDS, WrittenPrediction

VERSION = 1
NOTES_FILE = "notes.json"
"""Beside the progress, where no command of the lab takes it for a file of its own."""
NOTHING_PREDICTED = "Nothing is kept yet: write down what you expect, then press the button again."
LONGEST_ANSWER = 20_000
LONGEST_NAME = 200


@dataclass
class StudentNotes:
    """The notes of one lab.

    predictions: by their ids; answers: to the questions at the end of the manual, by their numbers from "1".
    """

    path: Path
    lab: str
    name: str = ""
    predictions: dict[str, WrittenPrediction] = field(default_factory=dict)
    answers: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path, lab: str) -> StudentNotes:
        """The notes of a lab in its working folder; empty ones if there are none.

        Raises:
            InputError: the file is there and is not such notes.
        """
        path = folder / FOLDER / NOTES_FILE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls(path, lab)
        except (OSError, ValueError) as error:
            raise InputError(f"{path}: these notes cannot be read ({error}); move the file away") from error
        if not isinstance(found, dict) or found.get("notes_of") != lab or found.get("version") != VERSION:
            raise InputError(f"{path}: not notes of {lab} that this version of Linklab wrote; move the file away")
        if not all(isinstance(found.get(key, {}), dict) for key in ("predictions", "answers")):
            raise InputError(f"{path}: its predictions or answers are not lists by name; move the file away")
        predictions = {
            str(name): WrittenPrediction(**{key: str(entry.get(key, "")) for key in FIELDS})
            for name, entry in dict(found.get("predictions", {})).items()
            if isinstance(entry, dict)
        }
        answers = {str(number): str(text) for number, text in dict(found.get("answers", {})).items()}
        return cls(path, lab, str(found.get("name", "")), predictions, answers)

    def save(self) -> None:
        """Write them whole; OSError as it comes."""
        self.path.parent.mkdir(exist_ok=True)
        write_json(self.path, {"notes_of": self.lab, "version": VERSION, **self.facts()})

    def facts(self) -> dict[str, Any]:
        """What is kept, and what pages are told."""
        predictions = {name: asdict(each) for name, each in self.predictions.items()}
        return {"name": self.name, "predictions": predictions, "answers": dict(self.answers)}


class NotesDesk:
    """The notes of a page: one writer at a time, and every page told."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self.notes = StudentNotes.load(context.folder, context.lab.slug)
        if context.name:
            self.notes.name = context.name
        self._lock = threading.Lock()
        self._put_in_order()
        self._tell()

    def _put_in_order(self) -> None:
        """The progress says which predictions count; those that only the notes have enter it if nothing is measured."""
        guide = self.context.guide
        measured = guide.measured_predictions()
        for name, standing in guide.predictions().items():
            if standing is not None:
                self.notes.predictions[name] = WrittenPrediction.of(standing[0])
            elif guide.is_known(name):  # it was withdrawn
                self.notes.predictions.pop(name, None)
            elif name in self.notes.predictions and name not in measured:
                with contextlib.suppress(InputError):  # a full disk: it stays in the notes
                    guide.predict(self.notes.predictions[name].evidence(name))

    def predict(self, name: str, typed: WrittenPrediction) -> tuple[str, WrittenPrediction]:
        """Keep a prediction; an empty one is forgotten. What to say of it, and what is kept.

        Raises:
            InputError: it does not answer the question, its measurement has begun and there is one already, or the file
                cannot be written.
        """
        guide = self.context.guide
        asked = next(each for each in self.context.manual.predictions if each.id == name)
        written = typed.set_apart()
        written.check(asked.asks)
        with self._lock, self._alone():
            guide.predict(written.evidence(name))
            before = self.notes.predictions.pop(name, None)
            if not written.empty:
                self.notes.predictions[name] = written
            self._keep()
        if written.empty:
            return ("Your prediction is withdrawn." if before else NOTHING_PREDICTED), written
        standing = guide.prediction(name)
        return " ".join(filter(None, ("Your prediction is kept.", standing[1].sentence if standing else ""))), written

    def answer(self, number: str, text: str) -> None:
        """Keep an answer to a question; an empty one is forgotten. InputError if it is too long or cannot be kept."""
        if len(text) > LONGEST_ANSWER:
            raise InputError(f"an answer has at most {LONGEST_ANSWER:,} characters; this one has {len(text):,}")
        with self._lock, self._alone():
            self.notes.answers.pop(number, None)
            if text.strip():
                self.notes.answers[number] = text
            self._keep()

    def call(self, name: str) -> None:
        """Keep the student's name for the report; InputError if it is too long, or was given with `--name`."""
        if self.context.name:
            raise InputError(f"the name was given with the command: linklab lab --name {self.context.name!r}")
        if len(name) > LONGEST_NAME:
            raise InputError(f"a name has at most {LONGEST_NAME} characters; this one has {len(name):,}")
        with self._lock, self._alone():
            self.notes.name = one_line(name).strip()
            self._keep()

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """What another program has written into the same folder meanwhile is taken in first, and waits afterwards."""
        path, name = self.notes.path, self.notes.name
        try:
            path.parent.mkdir(exist_ok=True)
            turn = path.with_suffix(".lock").open("ab")
        except OSError as error:
            raise InputError(f"{path}: cannot be written: {error.strerror}") from error
        with turn:
            locked(turn.fileno(), fcntl.LOCK_EX, LOCK_S)
            self.notes = StudentNotes.load(self.context.folder, self.context.lab.slug)
            self.notes.name = self.context.name or self.notes.name or name
            self._put_in_order()
            yield

    def _keep(self) -> None:
        try:
            self.notes.save()
        except OSError as error:
            raise InputError(f"{self.notes.path}: cannot be written: {error.strerror}") from error
        self._tell()

    def _tell(self) -> None:
        """fixed: whether the name was given with `linklab lab --name`, and so is not for the page to change."""
        self.context.events.publish("notes", fixed=bool(self.context.name), **self.notes.facts())


class PredictionHandler(PageHandler):
    """Keeps predictions."""

    def initialize(self, context: PageContext, desk: NotesDesk) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.desk = desk

    async def post(self, name: str) -> None:
        """Keep one."""
        if not any(asked.id == name for asked in self.context.manual.predictions):
            raise RequestError(404, "The manual asks for no such prediction.")
        given = self.fields(**dict.fromkeys(FIELDS, str))
        said, kept = await self.context.in_thread(self.desk.predict, name, WrittenPrediction(**given))
        self.answer(text=said, kept=asdict(kept))


class AnswerHandler(PredictionHandler):
    """Keeps answers."""

    async def post(self, name: str) -> None:
        """Keep one."""
        await self.context.in_thread(self.desk.answer, name, self.fields(text=str)["text"])
        self.answer(text="Your answer is kept.")


class NameHandler(PredictionHandler):
    """Keeps the name."""

    async def post(self) -> None:  # type: ignore[override] # there is one
        """Keep it."""
        await self.context.in_thread(self.desk.call, self.fields(text=str)["text"])
        self.answer(text="Your name is kept for the report.")


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    given = {"context": context, "desk": NotesDesk(context)}
    return [
        (f"{context.prefix}predictions/([a-z0-9-]+)", PredictionHandler, given),
        (f"{context.prefix}answers/([1-9][0-9]?)", AnswerHandler, given),
        (f"{context.prefix}name", NameHandler, given),
    ]
