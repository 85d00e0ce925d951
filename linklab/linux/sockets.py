# SPDX-License-Identifier: BSD-3-Clause
"""Who is at the other end of a Unix socket, as the kernel says (SO_PEERCRED of unix(7))."""

from __future__ import annotations

import socket
import struct


def peer(connection: socket.socket) -> int:
    """The number of the user at the other end of a connected Unix socket.

    Raises:
        OSError: it is no connected Unix socket.
    """
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    return int(struct.unpack("3i", credentials)[1])
