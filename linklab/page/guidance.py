# SPDX-License-Identifier: BSD-3-Clause
"""The guide on a lab's page: how far each step is, hints in stages, and what the steps of predictions have measured.

Shows what `linklab.guide` says and asks what a person asks. The events `guide` (the states of all steps, which is next)
and `settled` (the predictions whose steps are all done, with what was measured, how each is told, when it was written,
and which cannot be changed any more) follow the evidence. `POST steps/ID/hint` answers the next hint, `GET report` the
lab's report.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tornado.web import RequestHandler

from linklab.guide.predictions import PredictionTime
from linklab.manual.html import script_of_documents
from linklab.page.context import PageContext
from linklab.page.handlers import PageHandler, RequestError
from linklab.page.lab_report import LabWork
from linklab.page.predicted import WrittenPrediction
from linklab.page.reporting import report_of, settled, work_of

TELL_S = 0.1
"""Evidence that comes in quick succession is told once."""


class GuideDesk:
    """The guide of a page: takes evidence from the network, and tells every page what has changed."""

    def __init__(self, context: PageContext) -> None:
        self.context = context
        self._changed = threading.Event()
        self._over = False
        self._running = contextlib.ExitStack()
        self.session = context.guide
        self.session.on_change = self._changed.set
        context.when_ready(self._begin)
        context.on_close(self._end)
        self.tell()

    def _begin(self) -> None:
        context = self.context
        opened = context.lab.topology.name if context.topology is not None and context.lab.topology else None
        collecting = self.session.collecting(context.network, context.attach, opened, context.first_seen)
        self._running.enter_context(collecting)
        threading.Thread(target=self._serve, name="guide of the page", daemon=True).start()

    def _end(self) -> None:
        self._over = True
        self._changed.set()
        self._running.close()

    def _serve(self) -> None:
        while not self._over:
            self._changed.wait()
            threading.Event().wait(TELL_S)
            self._changed.clear()
            self.tell()

    def tell(self) -> None:
        """Tell every page how far the steps are."""
        states = self.session.steps()
        following = self.session.next_step()
        told = [state.as_json() for state in states]
        self.context.events.publish(
            "guide", steps=told, next=following.id if following else None, trouble=self.session.trouble
        )
        lab, standings = self.context.lab, self.session.predictions()
        asks = {asked.id: asked.asks for asked in lab.manual.predictions}
        self.context.events.publish(
            "settled",
            predictions=settled(lab, self.session),
            told={name: WrittenPrediction.of(found[0]).told(asks[name]) for name, found in standings.items() if found},
            said={name: (found[1] if found else PredictionTime.UNKNOWN).sentence for name, found in standings.items()},
            closed=self.session.closed_predictions(),
        )

    def work(self) -> LabWork:
        """For the report."""
        environment: Mapping[str, Any] = self.context.network.environment if self.context.ready else {}
        return replace(work_of(self.context.lab, self.session, environment), trouble=self.session.trouble)


class HintHandler(PageHandler):
    """Gives hints."""

    def initialize(self, context: PageContext, desk: GuideDesk) -> None:  # type: ignore[override] # one more
        """Take what the route gives."""
        super().initialize(context)
        self.desk = desk

    async def post(self, step_id: str) -> None:
        """The next hint of a step, each time a plainer one."""
        try:
            self.answer(text=await self.context.in_thread(self.desk.session.hint, step_id))
        except KeyError:
            raise RequestError(404, "The manual has no such step.") from None


class LabReportHandler(HintHandler):
    """The report of the lab."""

    async def get(self) -> None:
        """Answer with the report as it is now."""
        self.set_header("Content-Type", "text/html; charset=utf-8")
        self.allow_script(script_of_documents())
        self.finish(await self.context.in_thread(self._written))

    def _written(self) -> str:
        context = self.context
        return report_of(context.lab, context.folder, self.desk.work(), context.name)


def routes(context: PageContext) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """The routes of this module."""
    given = {"context": context, "desk": GuideDesk(context)}
    return [
        (f"{context.prefix}steps/([a-z0-9-]+)/hint", HintHandler, given),
        (f"{context.prefix}report", LabReportHandler, given),
    ]
