# SPDX-License-Identifier: BSD-3-Clause
"""A class for tests: a JupyterHub with the project's own configuration, and students who are only requests."""

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import requests
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = """\
load_subconfig({own!r})
c.JupyterHub.authenticator_class = {accounts!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.JupyterHub.services[1]["url"] = "http://{at}:{ports[3]}"
c.Spawner.environment["LINKLAB_CLASS_URL"] = "http://{at}:{ports[3]}/services/class"
"""
START_S = 120
LOOK_S = 0.2
NO_SERVER = 424
"""The Hub's answer for a page of a server that does not run."""


def proxy_command():
    """JupyterHub's proxy, an npm package; None where it is not installed."""
    return os.environ.get("CONFIGPROXY") or shutil.which("configurable-http-proxy")


def free_ports(count):
    """Ports that nothing uses now."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def until(true, what, seconds=START_S):
    """Wait for something; what it gives."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, f"{what} did not happen within {seconds} s"
        time.sleep(LOOK_S)
    return found


class RunningHub:
    """A Hub in a folder of its own, until `close`.

    Args:
        folder: for the Hub's files and the students' work.
        accounts: its authenticator; `dummy` takes any password.
        own: which of the project's configurations.
        at: where students' servers reach the instructor's page.
    """

    def __init__(
        self, folder: Path, accounts: str = "dummy", own: str = "jupyterhub_config.py", at: str = "127.0.0.1"
    ) -> None:
        self.folder, ports = folder, free_ports(4)
        configuration = CONFIGURATION.format(
            own=str(ROOT / "class-server" / own), ports=ports, proxy=proxy_command(), accounts=accounts, at=at
        )
        (folder / "config.py").write_text(configuration)
        self.address = f"http://127.0.0.1:{ports[0]}"
        self.log = folder / "hub.log"
        self._start()

    def _start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "jupyterhub", "-f", "config.py"],
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until(self._answers, f"the start of the Hub ({self.log})")

    def _answers(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        try:
            return requests.get(f"{self.address}/hub/login", timeout=5).ok
        except requests.ConnectionError:
            return False

    def restart(self) -> None:
        """End it, and start it again in the same folder."""
        self.close()
        self._start()

    def close(self) -> None:
        """End it, and the servers with it."""
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class HubStudent:
    """A person with a browser that runs no scripts."""

    def __init__(self, hub: RunningHub, name: str) -> None:
        self.hub, self.name, self.browser = hub, name, requests.Session()
        self.browser.headers["Sec-Fetch-Mode"] = "navigate"

    @property
    def base(self) -> str:
        """Address of the student's own server."""
        return f"{self.hub.address}/user/{self.name}/"

    def get(self, address: str) -> requests.Response:
        """Open a page."""
        return self.browser.get(address, timeout=60)

    def log_in(self, password: str = "any") -> bool:  # noqa: S107 - for `dummy`
        """As by the form; whether the Hub knows the student now."""
        self._send_form("login", {"username": self.name, "password": password})
        return self.get(f"{self.hub.address}/hub/home").url == f"{self.hub.address}/hub/home"

    def sign_up(self, password: str) -> None:
        """As by the form."""
        form = {"username": self.name, "signup_password": password, "signup_password_confirmation": password}
        self._send_form("signup", form)

    def _send_form(self, page: str, fields: dict[str, str]) -> None:
        address = f"{self.hub.address}/hub/{page}"
        token = re.search(r'name="_xsrf"\s+value="([^"]+)"', self.get(address).text)[1]
        answer = self.browser.post(address, data={**fields, "_xsrf": token}, timeout=60)
        assert answer.status_code < 500, answer.text

    def start(self) -> None:
        """Have the Hub start the server, and wait until its list of labs comes."""
        self.get(f"{self.hub.address}/hub/spawn")
        until(lambda: "<title>Labs</title>" in self.get(self.base).text, f"the start of {self.name}'s server")

    def stop(self) -> None:
        """Have the Hub end the server, as its button does, and wait until it has."""
        (token,) = [one.value for one in self.browser.cookies if (one.name, one.path) == ("_xsrf", "/hub/")]
        server = f"{self.hub.address}/hub/api/users/{self.name}/server"
        answer = self.browser.delete(server, params={"_xsrf": token}, headers={"Sec-Fetch-Mode": "cors"}, timeout=60)
        assert answer.ok, answer.text
        until(lambda: self.get(self.base).status_code == NO_SERVER, f"the end of {self.name}'s server")

    def open_lab(self, number: int) -> requests.Response:
        """Open the page of a lab."""
        return self.get(f"{self.base}lab/{number}/")

    def post(self, path: str, fields: dict, origin: str | None = None) -> requests.Response:
        """What a script of the page sends."""
        headers = {"Origin": origin or self.hub.address, "Sec-Fetch-Mode": "cors"}
        return self.browser.post(self.base + path, json=fields, headers=headers, timeout=60)

    def type_into(self, lab: int, terminal: str, line: str, shown: bytes) -> None:
        """Open a terminal of the open lab, type a line there as the page does, and wait until it shows some bytes."""
        opened = self.post(f"lab/{lab}/terminals", {"name": terminal, "rows": 24, "columns": 80})
        assert opened.ok, opened.text
        screen = bytearray()

        def seen(event: dict) -> bool:
            screen.extend(event.get("bytes", b""))
            return shown in screen

        typed = {"input": f"{line}\r", "by": self.name, "number": 1}
        self.events(f"lab/{lab}/terminal/{opened.json()['id']}", seen, first=typed)

    def events(
        self, path: str, seen, seconds: float = START_S, origin: str | None = None, first: dict | None = None
    ) -> list[dict]:
        """What a socket tells until `seen(event)` is true of one; HTTPClientError if it is refused.

        `first` is said to it at once; an answer that is not JSON is the terminal's bytes.
        """

        async def listen() -> list[dict]:
            cookies = "; ".join(f"{one.name}={one.value}" for one in self.browser.cookies)
            headers = {"Cookie": cookies, "Origin": origin or self.hub.address}
            address = (self.base + path).replace("http", "ws", 1)
            socket = await websocket_connect(HTTPRequest(address, headers=headers))
            found: list[dict] = []
            if first is not None:
                await socket.write_message(json.dumps(first))
            try:
                while not found or not seen(found[-1]):
                    message = await asyncio.wait_for(socket.read_message(), seconds)
                    assert message is not None, f"{path} was closed: {socket.close_code} {socket.close_reason}"
                    found.append(json.loads(message) if isinstance(message, str) else {"bytes": message})
            finally:
                socket.close()
            return found

        return asyncio.run(listen())
