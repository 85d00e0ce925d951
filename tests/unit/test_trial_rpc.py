# SPDX-License-Identifier: BSD-3-Clause
"""The server of requests and answers goes on whatever one client does."""

import errno
import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import linklab
from linklab.agent import trial_rpc

SERVER = Path(linklab.__file__).parent / "agent/trial_rpc.py"


class Door:
    """A listening socket whose next client is a problem."""

    def __init__(self, number=0, connection=None):
        self.number, self.connection = number, connection

    def accept(self):
        """As that of a socket."""
        if self.number:
            raise OSError(self.number, os.strerror(self.number))
        return self.connection, None


def test_a_client_that_is_gone_ends_nothing():
    """Regression: the server ended with a traceback, and with it every flow."""
    assert trial_rpc.accepted(Door(errno.ECONNABORTED)) is None
    with socket.socket() as unconnected:  # getpeername(2) says ENOTCONN
        assert trial_rpc.accepted(Door(connection=unconnected)) is None
        assert unconnected.fileno() == -1
    with pytest.raises(OSError, match="Too many open files"):
        trial_rpc.accepted(Door(errno.EMFILE))


def test_more_clients_than_files(tmp_path):
    """Those that are there are answered, and the others when one of these has ended."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))

    with (tmp_path / "out").open("w") as out:
        server = subprocess.Popen([sys.executable, str(SERVER), "serve", str(port)], stdout=out, preexec_fn=few)  # noqa: PLW1509
    try:
        clients = [asking(port) for _ in range(14)]
        assert [answered(client) for client in clients].count(True) in range(1, 12)
        waiting = [client for client in clients if not answered(client)]
        for client in clients:
            if client not in waiting:
                client.close()
        assert all(answered(client, 5.0) for client in waiting)
        for client in waiting:
            client.close()
        assert server.poll() is None
    finally:
        server.kill()
        server.wait()


def asking(port):
    """A client that asks for one byte with one byte."""
    for _ in range(200):
        try:
            client = socket.create_connection(("127.0.0.1", port), timeout=0.1)
            break
        except ConnectionRefusedError:
            subprocess.run(["sleep", "0.05"], check=True)
    client.sendall(trial_rpc.HEAD.pack(1, 1) + b"x")
    return client


def answered(client, within_s=0.5):
    """Whether it got an answer; it asks again."""
    client.settimeout(within_s)
    try:
        found = client.recv(1) != b""
    except TimeoutError:
        return False
    client.sendall(b"x")
    return found
