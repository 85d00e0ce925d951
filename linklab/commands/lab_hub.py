# SPDX-License-Identifier: BSD-3-Clause
"""`linklab lab --jupyterhub`: the labs of one student, as the single-user server of a JupyterHub."""

from __future__ import annotations

import argparse
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from linklab.classroom.hub_settings import HubSettings
from linklab.commands.lab_continue import left_here
from linklab.engine.api import Network
from linklab.errors import MissingError
from linklab.lab.model import find_lab, load_lab
from linklab.terminal.clock import parse_speed
from linklab.terminal.screen import ends_orderly

if TYPE_CHECKING:
    from linklab.page.context import PageContext


def run_for_hub(args: argparse.Namespace) -> int:
    """Serve until the Hub stops this program, or until nobody has used it for long."""
    from linklab.commands.lab import start_network

    settings = HubSettings.read(os.environ)
    try:
        from linklab.classroom.hub_server import HubServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "jupyterhub":
            raise
        raise MissingError(
            "JupyterHub's package is missing in Linklab's Python; docs/class-server.md says how to install it"
        ) from error
    speed = parse_speed(args.speed)
    args.goes_on = True  # there is nobody to ask

    def begin(context: PageContext, stack: contextlib.ExitStack) -> Network:
        left = left_here(context.lab, context.folder, args)
        return start_network(context, stack, args=args, speed=speed, left=left)

    first = load_lab(find_lab(args.lab)).number if args.lab is not None else None
    with ends_orderly(), HubServer(settings, Path.cwd(), idle_minutes=args.idle_minutes, first=first) as server:
        print(f"labs of {settings.user}: {settings.prefix}", flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            server.desk.hold(begin)
        print(f"the server ends: {server.ended or 'it was stopped'}", flush=True)
    return 0
