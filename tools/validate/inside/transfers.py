# SPDX-License-Identifier: BSD-3-Clause
"""Short TCP transfers one after the other: transfers.py serve COUNT | transfers.py fetch ADDRESS COUNT BYTES.

The fetching side uploads, and prints as JSON how many nanoseconds each took, from connect to the peer's last word.
"""

import json
import socket
import sys
import time

PORT = 7777


def serve(count: int) -> None:
    """Take what comes on each connection, then say so."""
    with socket.create_server(("", PORT)) as server:
        for _ in range(count):
            connection, _ = server.accept()
            with connection:
                while connection.recv(65536):
                    pass
                connection.sendall(b"!")


def fetch(address: str, count: int, size: int) -> None:
    """Send `size` bytes, `count` times."""
    found = []
    for _ in range(count):
        start = time.time_ns()
        with socket.create_connection((address, PORT)) as connection:
            connection.sendall(bytes(size))
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)
        found.append(time.time_ns() - start)
        time.sleep(0.5)
    print(json.dumps(found))


if sys.argv[1] == "serve":
    serve(int(sys.argv[2]))
else:
    fetch(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
