# SPDX-License-Identifier: BSD-3-Clause
"""The names that programs inside can look up: the pocket's own and those of the nodes, in /etc/hosts.

The agent writes /etc/hosts, /etc/hostname and /etc/resolv.conf into the pocket's own layer over the root. A pocket has
no name server unless a lab starts one, so resolv.conf names none; the C library then asks 127.0.0.1, which refuses at
once (resolv.conf(5)).  Programs read these files in network time, so another text moves the bytes of recordings.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

HOST = "linklab"
ITSELF = f"""127.0.0.1\tlocalhost
127.0.1.1\t{HOST}
::1\tlocalhost ip6-localhost ip6-loopback
ff02::1\tip6-allnodes
ff02::2\tip6-allrouters
"""
NO_SERVER = """# Linklab: no name server is reachable from inside a pocket.
# A program that asks anyway asks 127.0.0.1, where a lab may run one.
"""


def name_the_pocket(etc: Path = Path("/etc")) -> None:
    """Write the pocket's own names, and a resolv.conf without a name server."""
    _write(etc / "hosts", ITSELF)
    _write(etc / "hostname", f"{HOST}\n")
    _write(etc / "resolv.conf", NO_SERVER)


def mend(mininet: type) -> None:
    """Have the nodes of each network that is built with Mininet's class `Mininet` named in /etc/hosts."""
    build = mininet.build  # type: ignore[attr-defined]

    def named(net: Any) -> Any:
        result = build(net)
        name_the_nodes(net)
        return result

    mininet.build = named  # type: ignore[attr-defined]


def name_the_nodes(net: Any, etc: Path = Path("/etc")) -> None:
    """Write a line for each address of the network's nodes, with the name of the node, below the pocket's own names."""
    lines = [
        f"{interface.ip}\t{node.name}\n"
        for node in net.values()
        if node.inNamespace
        for interface in node.intfList()
        if interface.ip and not interface.ip.startswith("127.")
    ]
    _write(etc / "hosts", ITSELF + "".join(lines))


def _write(file: Path, text: str) -> None:
    """Write a file in place of what is there, which may be a broken link, as that of systemd-resolved is."""
    file.unlink(missing_ok=True)
    file.write_text(text)
    file.chmod(0o644)  # overlayfs ignores the umask when it makes a file in place of one of the lower layer
