# SPDX-License-Identifier: BSD-3-Clause
"""Mininet's nodes and links for networks of many nodes: the same objects, without a program started for each step.

What Mininet takes long for is starting programs: for each host mnexec, env, bash, stty, and then ip, ifconfig and cat a
dozen times. Here a host is its namespaces, held by open files, until something is typed there; then its shell starts,
as Mininet's does, within them. Links, addresses and routes go to the kernel directly (`linklab.linux.rtnetlink`). All
else is Mininet's own. IPv6 is off in these hosts: each would tell all the others of itself several times.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mininet.link import Intf, Link
from mininet.node import Host
from mininet.nodelib import LinuxBridge

from linklab.agent.trial_nodes import leave_note
from linklab.linux.kernelcalls import CLONE_NEWNET, CLONE_NEWNS, mount, setns, unshare
from linklab.linux.rtnetlink import NamespaceLinks

FROM = 50
"""Nodes from which on a network is built this way. No lab has as many, so what was recorded is as it was."""
MOST_NAMED = 250
"""Nodes up to which there is a process on each whose command line ends as that of Mininet's shell there does.

By these, `linklab.agent.node_state`, `set_env.sh`, and a repeated `work.sh` find a node. An exercise has at most 200.
"""


class Spaces:
    """Network and mount namespace of a node, held open (namespaces(7))."""

    def __init__(self) -> None:
        with _elsewhere():
            unshare(CLONE_NEWNET | CLONE_NEWNS)
            mount("sysfs", "/sys", "sysfs")  # as mnexec does
            self.network = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
            self.mounts = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Within this block we are in the node's network, with our own files."""
        here = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            setns(self.network, CLONE_NEWNET)
            yield
        finally:
            setns(here, CLONE_NEWNET)
            os.close(here)

    def command(self) -> list[str]:
        """What comes before a program so that it runs there (nsenter(1))."""
        ours = f"/proc/{os.getpid()}/fd"
        return ["nsenter", f"--net={ours}/{self.network}", f"--mount={ours}/{self.mounts}", "--"]

    def close(self) -> None:
        """Let go of them; they end with the last program there."""
        os.close(self.network)
        os.close(self.mounts)


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Leave namespaces within this block; back in ours, and in our folder, afterwards."""
    folder = Path.cwd()
    ours = [os.open(f"/proc/self/ns/{name}", os.O_RDONLY | os.O_CLOEXEC) for name in ("net", "mnt")]
    try:
        yield
    finally:
        for file, kind in zip(ours, (CLONE_NEWNET, CLONE_NEWNS), strict=True):
            setns(file, kind)
            os.close(file)
        os.chdir(folder)


class LateShell:
    """A node whose shell starts when it is first needed; before a node class of Mininet's."""

    _shell: Any = None
    _pid: Any = None
    spaces: Spaces | None = None
    _making, _waking = True, False
    inNamespace: bool  # noqa: N815 - mininet's name
    name: str

    def __init__(self, name: str, **params: Any) -> None:
        super().__init__(name, **params)  # type: ignore[call-arg] # mininet's
        self._making = False

    def cmd(self, *words: Any, **options: Any) -> Any:
        """As Mininet's; what it types while the node is made (lo up) is done otherwise, or has been."""
        return "" if self._making else super().cmd(*words, **options)  # type: ignore[misc] # mininet's

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: N802 - mininet's name
        """Make the namespaces, not the shell."""
        if self.inNamespace:
            self.spaces = Spaces()

    def _wake(self) -> None:
        if self._shell is None and not self._making:
            self._waking, waking = True, self._waking
            if not waking:
                super().startShell()  # type: ignore[misc] # mininet's
                if self.spaces is not None:
                    self.cmd(f"cd {Path.cwd()}")

    @property
    def awake(self) -> bool:
        """Whether its shell has started."""
        return self._shell is not None

    def _popen(self, cmd: list[str], **params: Any) -> Any:
        if self.spaces is not None and self._shell is None:
            cmd = [*self.spaces.command(), cmd[0], cmd[1].replace("n", ""), *cmd[2:]]
        return super()._popen(cmd, **params)  # type: ignore[misc] # mininet's

    @property
    def shell(self) -> Any:
        """The shell, started now if it was not."""
        self._wake()
        return self._shell

    @shell.setter
    def shell(self, shell: Any) -> None:
        self._shell = shell

    @property
    def pid(self) -> Any:
        """Process id of the shell, started now if it was not."""
        self._wake()
        return self._pid

    @pid.setter
    def pid(self, pid: Any) -> None:
        self._pid = pid

    def terminate(self) -> None:
        """End it; a shell that was never needed is not started for that."""
        if self._shell is not None:
            super().terminate()  # type: ignore[misc] # mininet's
        if self.spaces is not None:
            self.spaces.close()
            self.spaces = None


class QuickHost(LateShell, Host):  # type: ignore[misc] # mininet has no types
    """A host without a shell of its own until one is needed."""

    def config(self, **params: Any) -> dict[str, Any]:
        """Nothing yet: `settle` sets the address and the route."""
        return {}


class QuickBridge(LateShell, LinuxBridge):  # type: ignore[misc] # mininet has no types
    """A Linux bridge without a shell of its own until one is needed."""

    def port_names(self) -> list[str]:
        """Names of its ports."""
        return [interface.name for interface in self.intfList() if self.name in interface.name]

    def start(self, _controllers: Any) -> None:
        """Make the bridge and give it its ports, which are up before (`raise_ports`)."""
        kernel = NamespaceLinks()
        kernel.add_bridge(self.name)
        kernel.flush()
        for port in self.port_names():
            # the end of a link that came up first can send only when the kernel has noticed the other, of which it
            # does a hundred a second (net/core/link_watch.c); one that comes up now, as its other end is, can at once
            kernel.set_up(port, up=False)
            kernel.set_up(port, master=self.name)
        kernel.set_up(self.name)
        kernel.flush()
        kernel.close()


class QuickIntf(Intf):  # type: ignore[misc] # mininet has no types
    """An interface that is set up by `settle`, or by its bridge."""

    def config(self, **params: Any) -> dict[str, Any]:
        """Nothing: its hardware address came with the link."""
        return {}


class QuickLink(Link):  # type: ignore[misc] # mininet has no types
    """A pair of interfaces, each made where it belongs."""

    def __init__(self, node1: Any, node2: Any, kernel: NamespaceLinks, **params: Any) -> None:
        self.kernel = kernel
        super().__init__(node1, node2, **{**params, "intf": QuickIntf})

    def makeIntfPair(  # noqa: N802, PLR0917 - mininet's name and call
        self, here: str, there: str, mac: str, peer_mac: str, node1: Any, node2: Any, **_: Any
    ) -> None:
        """Have the pair made, with others, at the next flush."""
        self.kernel.add_veth((here, mac, _network(node1)), (there, peer_mac, _network(node2)))


def _network(node: Any) -> int | None:
    spaces = getattr(node, "spaces", None)
    return spaces.network if spaces is not None else None


def note(nodes: Iterable[Any]) -> None:
    """Note where these nodes are, for programs that look for them before their shells have started."""
    late = [node for node in nodes if isinstance(node, LateShell)]
    ours = f"/proc/{os.getpid()}/fd"
    leave_note(
        {
            node.name: (f"{ours}/{node.spaces.network}", f"{ours}/{node.spaces.mounts}") if node.spaces else None
            for node in late
        }
    )


def stay(nodes: Sequence[Any]) -> None:
    """Start a process on each node that has no shell yet, so that the node is found by its command line.

    Networks of more than `MOST_NAMED` nodes get none. The processes end with the agent.

    Raises:
        OSError: one cannot be started.
    """
    if len(nodes) > MOST_NAMED:
        return
    reads, _keeps = os.pipe()  # _keeps stays open: the processes read the end of it when the agent ends
    null = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    files = [(os.POSIX_SPAWN_DUP2, reads, 0), *((os.POSIX_SPAWN_DUP2, null, number) for number in (1, 2))]
    try:
        for node in nodes:
            if isinstance(node, LateShell) and not node.awake:
                with _elsewhere():
                    if node.spaces is not None:
                        setns(node.spaces.network, CLONE_NEWNET)
                        setns(node.spaces.mounts, CLONE_NEWNS)
                    os.posix_spawn("/bin/sh", ["sh", "-c", "read end", f"mininet:{node.name}"], {}, file_actions=files)
    finally:
        os.close(reads)
        os.close(null)


def raise_ports(switches: list[Any]) -> None:
    """Bring the ports of quick bridges up."""
    kernel = NamespaceLinks()
    for switch in switches:
        for port in switch.port_names() if isinstance(switch, QuickBridge) else ():
            kernel.set_up(port)
    kernel.flush()
    kernel.close()


def settle(host: Any, address: str | None, default_route: str | None, set_up: Callable[[], None]) -> None:
    """Set up a host's interfaces, address and route, and do `set_up`, all in its network.

    Raises:
        OSError: the kernel refuses one of them.
    """
    with host.spaces.inside():
        without_ipv6()
        kernel = NamespaceLinks()
        kernel.set_up("lo")
        for interface in host.intfList():
            kernel.set_up(interface.name)
        first = host.intfs[min(host.intfs)] if host.intfs else None
        if first is not None and address:
            kernel.add_address(first.name, address)
            first.ip, first.prefixLen = address.split("/")
        kernel.flush()
        if default_route:
            kernel.set_default_route(default_route.removeprefix("via "))
            kernel.flush()
        kernel.close()
        set_up()


def without_ipv6() -> None:
    """No IPv6 on what is in the network namespace that we are in."""
    for scope in ("all", "default"):
        with suppress(FileNotFoundError), open(f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", "w") as file:  # noqa: PTH123
            file.write("1\n")


def without_fallback_tunnels() -> None:
    """No tunnel devices in new network namespaces; only the pocket's root may say so, and its kernel has four kinds."""
    with suppress(OSError):
        Path("/proc/sys/net/core/fb_tunnels_only_for_init_net").write_text("1\n")
