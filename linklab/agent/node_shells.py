# SPDX-License-Identifier: BSD-3-Clause
"""The shells of Mininet's nodes, started without one system call for each descriptor that could be open.

Mininet starts a shell with our descriptors and has `mnexec -c` close all that the limit allows, 16,384 of them, whether
open or not. Without that, a pocket with six nodes starts and ends in 1.4 s of processor time instead of 1.6 s. Python
closes those that are open before it runs mnexec, so the shell begins with the same three.
"""

from __future__ import annotations

from typing import Any


def mend(kind: Any) -> None:
    """Have nodes start their shells so; doing it twice changes nothing more.

    kind: the class mininet.node.Node of this process; not imported here, as in `iperf`.
    """
    start, popen = kind.startShell, kind._popen

    def start_shell(node: Any, mnopts: str | None = None) -> None:
        start(node, "-d" if mnopts is None else mnopts)

    def popen_alone(node: Any, cmd: list[str], **params: Any) -> Any:
        return popen(node, cmd, **{**params, "close_fds": True})

    kind.startShell, kind._popen = start_shell, popen_alone
