"""A lab's page over a scripted network, for tests: its server, a browser that is only requests, and hostile ones."""

import contextlib
import http.client
import json
from pathlib import Path
from typing import Any

from scripted import ScriptedNetwork

from linklab.lab.model import find_lab, load_lab
from linklab.page.context import PageContext
from linklab.page.server import PageServer
from linklab.terminal.attach_server import AttachServer


class Page:
    """A served page and what is behind it."""

    def __init__(self, server: PageServer, context: PageContext, network: ScriptedNetwork | None) -> None:
        self.server, self.context, self.network = server, context, network
        self.cookie = f"{context.access.cookie}={context.access.session}"

    @property
    def host(self) -> str:
        """What a browser says in `Host`."""
        return f"127.0.0.1:{self.server.port}"

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """A request with exactly these headers, `Host` included; status, headers, text."""
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=10)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = b"" if body is None else json.dumps(body).encode()
            for name, value in {**headers, "Content-Length": str(len(data))}.items():
                connection.putheader(name.replace("_", "-"), value)
            connection.endheaders(data)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def own(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, str], str]:
        """A request of the page itself, below its prefix."""
        given = {"Host": self.host, "Origin": f"http://{self.host}", "Cookie": self.cookie, **headers}
        return self.ask(method, self.context.prefix + path, body, **given)


@contextlib.contextmanager
def served(workdir: Path, *, lab: str = "14", running: bool = True, **answers: Any):
    """The page of a lab; without `running` its network is still starting."""
    described = load_lab(find_lab(lab))
    context = PageContext(described, described.load_topology(), workdir)
    network = ScriptedNetwork(answers, workdir, ["h1", "h2", "h3", "s1"])
    with PageServer(context) as server, AttachServer(network.link, network.nodes, "Lab", None, workdir) as attach:
        if running:
            context.started(network, attach)
        yield Page(server, context, network)
