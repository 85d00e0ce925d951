# SPDX-License-Identifier: BSD-3-Clause
"""What JupyterHub tells a server that it starts, from the environment.

Source: "Starting a single-user server" and "Services" in JupyterHub's documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from linklab.errors import InputError


@dataclass(frozen=True)
class HubSettings:
    """Where a server listens and whose it is.

    host, port: of the address to listen at.
    prefix: path under which browsers reach it, with a slash at both ends.
    user: the student; "" for a service.
    server: name of the server, where a user may have several; "" for the only one.
    token: for requests to the Hub.
    activity_url: where the Hub wants to hear when the student was last active; "" for a service.
    hub_prefix: path of the Hub's own pages.
    class_url: where the instructor's page takes reports; "" where there is no such page.
    """

    host: str
    port: int
    prefix: str
    user: str
    server: str
    token: str
    activity_url: str
    hub_prefix: str
    class_url: str

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> HubSettings:
        """Read the settings from the environment.

        Raises:
            InputError: the Hub has not started this program, or wants what we do not do.
        """
        url = environment.get("JUPYTERHUB_SERVICE_URL", "")
        prefix = environment.get("JUPYTERHUB_SERVICE_PREFIX", "")
        token = environment.get("JUPYTERHUB_API_TOKEN", "")
        if not (url and prefix and token):
            raise InputError(
                "--jupyterhub is for a server that JupyterHub starts, and JUPYTERHUB_SERVICE_URL, "
                "JUPYTERHUB_SERVICE_PREFIX, or JUPYTERHUB_API_TOKEN is missing here; docs/class-server.md says how to "
                "set up a Hub"
            )
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.port is None:
            raise InputError(
                f"JUPYTERHUB_SERVICE_URL {url}: must be http://ADDRESS:PORT/…; leave c.JupyterHub.internal_ssl off"
            )
        return cls(
            host=parts.hostname or "127.0.0.1",
            port=parts.port,
            prefix=f"/{prefix.strip('/')}/" if prefix.strip("/") else "/",
            user=environment.get("JUPYTERHUB_USER", ""),
            server=environment.get("JUPYTERHUB_SERVER_NAME", ""),
            token=token,
            activity_url=environment.get("JUPYTERHUB_ACTIVITY_URL", ""),
            hub_prefix=f"{environment.get('JUPYTERHUB_BASE_URL', '/').rstrip('/')}/hub/",
            class_url=environment.get("LINKLAB_CLASS_URL", ""),
        )
