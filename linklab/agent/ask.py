# SPDX-License-Identifier: BSD-3-Clause
"""`python3 ask.py WORD…`: ask the host for a window or its clock and print the answer (see linklab.agent.asks)."""

import json
import os
import socket
import sys
from pathlib import Path


def ask(argv: list[str]) -> tuple[str, int]:
    """Ask and wait; the answer and its exit status."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.connect(os.environ.get("LINKLAB_SOCKET", "/run/linklab/agent"))
        connection.sendall(json.dumps({"argv": argv, "cwd": str(Path.cwd())}).encode() + b"\n")
        answer = json.loads(connection.makefile().readline() or '{"text": "the network has gone", "status": 1}')
    return answer["text"], answer["status"]


if __name__ == "__main__":
    text, status = ask(sys.argv[1:])
    if text:
        sys.stdout.write(text + "\n")
    sys.exit(status)
