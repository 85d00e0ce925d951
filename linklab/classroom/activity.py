# SPDX-License-Identifier: BSD-3-Clause
"""Tells JupyterHub when the student was last active, and ends a server that nobody uses.

Active is who types, presses a button, or waits for a command. An open page alone is not, although it asks twice a
second: so the Hub's proxy, which sees that, would keep every forgotten page alive.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from tornado.httpclient import AsyncHTTPClient, HTTPError

from linklab.classroom.hub_settings import HubSettings
from linklab.classroom.lab_desk import LabDesk

LOOK_S = 60.0
REQUEST_S = 20


class ActivityReporter:
    """Looks after one server.

    Args:
        settings: where to report.
        desk: knows when something was done.
        idle_minutes: the server ends after so long without activity; 0 for never.
        end: called once, with the reason.
    """

    def __init__(self, settings: HubSettings, desk: LabDesk, idle_minutes: float, end: Callable[[str], None]) -> None:
        self.settings, self.desk, self.idle_minutes, self._end = settings, desk, idle_minutes, end

    async def watch(self) -> None:
        """Look and report until the server ends."""
        while not self.expired():
            await self.report()
            await asyncio.sleep(min(LOOK_S, self.idle_minutes * 60 / 4) if self.idle_minutes else LOOK_S)
        self._end(f"nothing was done for {self.idle_minutes:g} minutes")

    def expired(self) -> bool:
        """Whether nobody has used the server for too long."""
        return bool(self.idle_minutes) and self.desk.idle_s() >= self.idle_minutes * 60

    async def report(self) -> bool:
        """Tell the Hub; False if it could not be told, which is tried again next time."""
        if not self.settings.activity_url:
            return False
        last = (datetime.now(timezone.utc) - timedelta(seconds=self.desk.idle_s())).isoformat()
        body = json.dumps({"servers": {self.settings.server: {"last_activity": last}}, "last_activity": last})
        headers = {"Authorization": f"token {self.settings.token}", "Content-Type": "application/json"}
        client = AsyncHTTPClient()
        try:
            await client.fetch(
                self.settings.activity_url, method="POST", headers=headers, body=body, request_timeout=REQUEST_S
            )
        except (HTTPError, OSError):
            return False
        return True
