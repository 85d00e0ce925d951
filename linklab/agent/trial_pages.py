# SPDX-License-Identifier: BSD-3-Clause
"""`python3 trial_pages.py PORT`: a web server for tests; /10k is a page of 10,240 bytes, /1M one of 1,048,576.

HTTP/1.1 with connections that stay open, a thread for each. Says nothing; ends with SIGTERM or SIGINT.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from linklab.agent.own_kernel import cost_nothing

if __name__ == "__main__":
    cost_nothing()  # as all that measures and is not measured

import re
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MOST_BYTES = 1 << 30
BLOCK = bytes(range(256)) * 256
_SIZE = re.compile(r"/(\d{1,10})([kKmM]?)")
_POWERS = {"": 1, "k": 1 << 10, "m": 1 << 20}


class Pages(BaseHTTPRequestHandler):
    """Answers with as many bytes as the path says."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "pages", ""

    def do_GET(self) -> None:
        """A page, or 404."""
        size = size_of(self.path)
        self.send_response(404 if size is None else 200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(size or 0))
        self.end_headers()
        left = size or 0
        while left > 0:
            left -= self.wfile.write(BLOCK[: min(left, len(BLOCK))])

    def date_time_string(self, timestamp: float | None = None) -> str:
        """No date: the answer is the same at any time."""
        return super().date_time_string(0)

    def log_message(self, *args: object) -> None:
        """Nothing is logged."""


def size_of(path: str) -> int | None:
    """Bytes of the page of this path; None if there is none."""
    match = _SIZE.fullmatch(path.partition("?")[0])
    size = int(match[1]) * _POWERS[match[2].lower()] if match else None
    return size if size is not None and size <= MOST_BYTES else None


class Server(ThreadingHTTPServer):
    """Of IPv6 and IPv4, if this machine has both."""

    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self) -> None:
        """One socket for both versions of IP; no name is looked up."""
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "", self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that closed its connection is not an error."""


class Server4(Server):
    """Where IPv6 is off."""

    address_family = socket.AF_INET

    def server_bind(self) -> None:
        """Of IPv4 alone."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "", self.server_address[1]


def serve(port: int) -> Server:
    """A server that listens."""
    try:
        return Server(("::", port), Pages)
    except OSError:
        return Server4(("", port), Pages)


if __name__ == "__main__":
    with serve(int(sys.argv[1])) as server:
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            sys.exit(0)
