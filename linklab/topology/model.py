# SPDX-License-Identifier: BSD-3-Clause
"""A whole topology: text of a `.mn` file ↔ `Topology`, and the names and addresses that follow from it.

`dumps` gives back the JSON data that `loads` read, and the very bytes if MiniEdit wrote them. It never starts anything.
Format: see the package's docstring.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any, NoReturn

from linklab.errors import TopologyError
from linklab.topology import checks, own, plan
from linklab.topology.near import nearest
from linklab.topology.parts import Controller, Host, Json, Link, Node, Preferences, Switch

_KNOWN = ("application", "controllers", "hosts", "links", "switches", "version")


@dataclass(frozen=True)
class Topology:
    """A `.mn` file.

    name: the file's name without its ending, for people; no part of the file.
    links: in the order of the file, which decides the port numbers.
    application, controllers: None where the file has no such key; `preferences` and `all_controllers` fill in.
    extra: unknown top-level keys, among them "linklab" and mininet-wifi's "stations" and "aps".
    """

    hosts: tuple[Host, ...] = ()
    switches: tuple[Switch, ...] = ()
    links: tuple[Link, ...] = ()
    controllers: tuple[Controller, ...] | None = ()
    application: Preferences | None = None
    version: str = "2"
    extra: Json = field(default_factory=dict)
    name: str = field(default="topology", compare=False)

    @classmethod
    def load(cls, path: Path | str, *, check: bool = True) -> Topology:
        """Read a file; TopologyError names the file, the node and the key."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise TopologyError(f"{path}: not a topology: byte {error.start} is no UTF-8 text") from error
        except OSError as error:
            near = nearest(path) if isinstance(error, FileNotFoundError) else None
            there = f'; there is "{near}"' if near else ""
            raise TopologyError(f"{path}: cannot be read: {error.strerror}{there}") from error
        return cls.loads(text, str(path), check=check)

    @classmethod
    def loads(cls, text: str, name: str = "topology", *, check: bool = True) -> Topology:
        """Read the text of a file.

        name: of the file, for messages.
        check: raise on what `problems` calls an error; without it only what cannot be held at all is refused, so that
            an editor can open a faulty file and show what to mend.
        """
        try:
            data = json.loads(text, object_pairs_hook=_no_key_twice, parse_float=_finite, parse_constant=_no_constant)
            topology = cls._from_data(data, Path(name).stem)
        except json.JSONDecodeError as error:
            raise TopologyError(f"{name}: line {error.lineno}, column {error.colno}: no JSON: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise TopologyError(f"{name}: {error}") from error
        if check:
            topology.check(name)
        return topology

    def dumps(self) -> str:
        """Give the text of the file, laid out as MiniEdit does it (sorted keys, indent 4, no newline at the end)."""
        return json.dumps(self._to_data(), sort_keys=True, indent=4, separators=(",", ": "))

    def save(self, path: Path | str) -> None:
        """Write the file whole or not at all; OSError is left to the caller."""
        path = Path(path)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(self.dumps())
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o644)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise

    def problems(self) -> list[checks.Problem]:
        """Everything wrong (severity "error") or doubtful ("warning"), in the order of the file."""
        return checks.problems(self)

    def check(self, name: str | None = None) -> None:
        """Raise TopologyError with the first error and how many more there are."""
        errors = [problem for problem in self.problems() if problem.severity == "error"]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise TopologyError(f"{name or self.name}: {errors[0]}{more}")

    def to_json_data(self) -> dict[str, Any]:
        """Everything the agent needs to build this network; the shape is in `linklab.topology.plan`."""
        return plan.plan(self)

    @property
    def preferences(self) -> Preferences:
        """The preferences, MiniEdit's defaults where the file has none."""
        return self.application or Preferences()

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Hosts, then switches: the nodes that have ports."""
        return self.hosts + self.switches

    @property
    def all_controllers(self) -> tuple[Controller, ...]:
        """The controllers; none where the file has no such key."""
        return self.controllers or ()

    # The names below hold for a topology without errors (`check`) and without wireless nodes.

    def link_ends(self) -> list[tuple[str, str]]:
        """Interface names of both ends of each link, (src, dest), in the order of the links.

        Each node counts its ports up in link order, hosts and routers from eth0 and switches from eth1; interfaces of
        the machine that a node takes over come first and use up numbers (mininet/node.py, `newPort`). A number that
        a link says itself (`Link.ports`) is passed over.
        """
        return [
            (f"{k.src}-eth{src}", f"{k.dest}-eth{dest}")
            for k, (src, dest) in zip(self.links, self.ports(), strict=True)
        ]

    def ports(self) -> list[tuple[int, int]]:
        """Port numbers of both ends of each link, as in `link_ends`."""
        taken: dict[str, set[int]] = {}
        for link in self.links:
            for node, said in zip((link.src, link.dest), link.ports, strict=True):
                taken.setdefault(node, set()).update(() if said is None else (said,))
        following = {node.name: node.first_port + len(node.external_interfaces) for node in self.nodes}

        def take(node: str, said: int | None) -> int:
            if said is not None:
                return said
            while following[node] in taken[node]:
                following[node] += 1
            following[node] += 1
            return following[node] - 1

        return [(take(k.src, k.ports[0]), take(k.dest, k.ports[1])) for k in self.links]

    def interfaces(self) -> dict[str, tuple[str, ...]]:
        """Names of each node's interfaces in the order of its ports, e.g. {"s1": ("s1-eth1", "s1-eth2"), …}."""
        numbers: dict[str, list[int]] = {node.name: [] for node in self.nodes}
        for link, ports in zip(self.links, self.ports(), strict=True):
            numbers[link.src].append(ports[0])
            numbers[link.dest].append(ports[1])
        return {
            node.name: (*node.external_interfaces, *(f"{node.name}-eth{n}" for n in sorted(numbers[node.name])))
            for node in self.nodes
        }

    def port_names(self) -> dict[str, str]:
        """What each interface is wired to, e.g. {"s1-eth1": "h1-eth0", "h1-eth0": "s1-eth1", …}."""
        wired = {}
        for src, dest in self.link_ends():
            wired[src], wired[dest] = dest, src
        return wired

    def address(self, host: Host) -> str:
        """Address with prefix length of a host: "10.0.0.1/8".

        Without one in the file it is the nodeNum-th address of ipBase (mininet/util.py, `ipAdd`). A missing prefix
        length is ipBase's for an address inside it, else Mininet's own default of 8.
        """
        base = IPv4Network(self.preferences.ip_base, strict=False)
        text = host.opts.get("ip") or str(base.network_address + host.node_num)
        if "/" in text:
            return str(IPv4Interface(text))
        return f"{text}/{base.prefixlen if IPv4Interface(text).ip in base else 8}"

    @classmethod
    def _from_data(cls, data: Any, name: str) -> Topology:
        top = _Reader(data, "the file")
        version = top.take("version", str)
        if version not in ("1", "2"):
            raise ValueError(f'"version" is "{version}"; I know "1" and "2"')
        controllers: tuple[Controller, ...] | None = None
        if "controllers" in top.rest:
            if version == "1":
                filed = top.take("controllers", dict)
                controllers = tuple(
                    Controller(key=key, opts=_Reader(opts, f"controller {key}").rest) for key, opts in filed.items()
                )
            else:
                controllers = tuple(_controller(reader) for reader in top.take_list("controllers"))
        return cls(
            name=name,
            version=version,
            application=Preferences(top.take("application", dict)) if "application" in top.rest else None,
            controllers=controllers,
            hosts=tuple(_node(Host, reader) for reader in top.take_list("hosts")),
            switches=tuple(_node(Switch, reader) for reader in top.take_list("switches")),
            links=own.give_to(tuple(_link(reader) for reader in top.take_list("links")), top.rest),
            extra=top.rest,
        )

    def _to_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            **own.take_from(self.links, self.extra),
            "version": self.version,
            "hosts": [_node_data(node) for node in self.hosts],
            "switches": [_node_data(node) for node in self.switches],
            "links": [{**k.extra, "src": k.src, "dest": k.dest, "opts": dict(k.opts)} for k in self.links],
        }
        if self.application is not None:
            data["application"] = dict(self.application.data)
        if self.controllers is not None and self.version == "1":
            data["controllers"] = {c.name: dict(c.opts) for c in self.controllers}
        elif self.controllers is not None:
            data["controllers"] = [{**c.extra, "x": c.x, "y": c.y, "opts": dict(c.opts)} for c in self.controllers]
        return data


_TYPE_NAMES: dict[type, str] = {str: "a string", dict: "an object", list: "a list"}


class _Reader:
    """Takes known keys out of a JSON object; `rest` is what remains, ValueError says what was expected."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"{where} must be a JSON object, found {_short(data)}")
        self.rest = dict(data)
        self.where = where

    def take(self, key: str, *types: type) -> Any:
        if key not in self.rest:
            raise ValueError(f'{self.where}: the key "{key}" is missing')
        value = self.rest.pop(key)
        if not isinstance(value, types) or isinstance(value, bool):
            raise ValueError(f'{self.where}: "{key}" must be {_TYPE_NAMES[types[0]]}, found {_short(value)}')
        return value

    def take_list(self, key: str) -> list[_Reader]:
        return [_Reader(item, f"{key}[{i}]") for i, item in enumerate(self.take(key, list))]

    def named(self, name: str) -> None:
        """Say the node's name in messages from here on."""
        self.where = name


def _node(kind: type[Any], reader: _Reader) -> Any:
    opts = reader.take("opts", dict)
    number = reader.take("number", str)
    reader.named(f"{kind.what} {opts.get('hostname', kind.prefix + number)}")
    x, y = reader.take("x", str, int, float), reader.take("y", str, int, float)
    if "nodeNum" not in opts and not number.isdecimal():
        raise ValueError(f'{reader.where}: "number" must be digits, found "{number}"')
    return kind(number=number, x=x, y=y, opts=opts, extra=reader.rest)


def _controller(reader: _Reader) -> Controller:
    opts = reader.take("opts", dict)
    _Reader(opts, f'{reader.where} "opts"').take("hostname", str)
    reader.named(f"controller {opts['hostname']}")
    x, y = reader.take("x", str, int, float), reader.take("y", str, int, float)
    return Controller(opts=opts, x=x, y=y, extra=reader.rest)


def _link(reader: _Reader) -> Link:
    src, dest = reader.take("src", str), reader.take("dest", str)
    reader.named(f"link {src}-{dest}")
    return Link(src=src, dest=dest, opts=reader.take("opts", dict), extra=reader.rest)


def _node_data(node: Node) -> dict[str, Any]:
    return {**node.extra, "number": node.number, "x": node.x, "y": node.y, "opts": dict(node.opts)}


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data: dict[str, Any] = {}
    for key, value in pairs:
        if key in data:
            raise ValueError(f'the key "{key}" stands twice in one object; one of them would be lost')
        data[key] = value
    return data


def _finite(number: str) -> float:
    value = float(number)
    if value in (float("inf"), float("-inf")):
        raise ValueError(f"{number} is too large a number")
    return value


def _no_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON number")


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."
