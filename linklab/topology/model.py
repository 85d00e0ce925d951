# SPDX-License-Identifier: BSD-3-Clause
"""A whole topology: text of a `.mn` file ↔ `Topology`.

`dumps` gives back the JSON data that `loads` read, and the very bytes if MiniEdit wrote them. It never starts anything.
Format: see the package's docstring.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from linklab.base import files
from linklab.base.text import excerpt, quoted
from linklab.errors import TopologyError
from linklab.topology import checks, own
from linklab.topology.drawn import DrawnNetwork
from linklab.topology.near import nearest
from linklab.topology.parts import MOST_DIGITS, Controller, Host, Link, Node, Preferences, Switch, whole_number

_HALF_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")
"""What JSON can escape, and neither a file nor a window can show."""
MOST_WORDS = 600
"""Letters of a message, which may quote from the file."""


@dataclass(frozen=True)
class Topology(DrawnNetwork):
    """A `.mn` file; what it holds is in `DrawnNetwork`."""

    @classmethod
    def load(cls, path: Path | str, *, check: bool = True) -> Topology:
        """Read a file; TopologyError names the file, the node and the key."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            raise TopologyError(f"{path}: not a topology: byte {error.start} is not valid UTF-8") from error
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
            if _HALF_ESCAPED.search(text) and _HALF.search(json.dumps(data, ensure_ascii=False)):
                raise ValueError("a text holds half of a surrogate pair, which is not a character")
            topology = cls._from_data(data, Path(name).stem)
        except json.JSONDecodeError as error:
            where = f"{name}: line {error.lineno}, column {error.colno}"
            raise TopologyError(f"{where}: not valid JSON: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise TopologyError(f"{name}: {excerpt(str(error), MOST_WORDS)}") from error
        if check:
            topology.check(name)
        return topology

    def dumps(self) -> str:
        """Give the text of the file, laid out as MiniEdit does it (sorted keys, indent 4, no newline at the end)."""
        return json.dumps(self._to_data(), sort_keys=True, indent=4, separators=(",", ": "))

    def save(self, path: Path | str) -> None:
        """Write the file whole or not at all; OSError is left to the caller."""
        files.write(path, self.dumps(), durable=True)

    def problems(self) -> list[checks.Problem]:
        """Everything wrong (severity "error") or doubtful ("warning"), in the order of the file."""
        return checks.problems(self)

    def check(self, name: str | None = None) -> None:
        """Raise TopologyError with the first error and how many more there are."""
        errors = [problem for problem in self.problems() if problem.severity == "error"]
        if errors:
            more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
            raise TopologyError(f"{name or self.name}: {errors[0]}{more}")

    @classmethod
    def _from_data(cls, data: Any, name: str) -> Topology:
        top = _ObjectReader(data, "the file")
        version = top.take("version", str, int) if "version" in top.rest else "2"
        if str(version) not in ("1", "2"):
            raise ValueError(f'"version" is "{excerpt(str(version))}"; I know "1" and "2"')
        controllers: tuple[Controller, ...] | None = None
        if "controllers" in top.rest:
            if str(version) == "1":
                filed = top.take("controllers", dict)
                controllers = tuple(
                    Controller(key=key, opts=_ObjectReader(opts, f"controller {key}").rest)
                    for key, opts in filed.items()
                )
            else:
                controllers = tuple(_controller(reader) for reader in top.take_list("controllers"))
        return cls(
            name=name,
            version=str(version),
            application=Preferences(top.take("application", dict)) if "application" in top.rest else None,
            controllers=controllers,
            hosts=tuple(_node(Host, reader) for reader in top.take_list("hosts")),
            switches=tuple(_node(Switch, reader) for reader in top.take_list("switches")),
            links=own.give_to(tuple(_link(reader) for reader in top.take_list("links")), top.rest),
            extra=top.rest,
        )._with_own_of_nodes()

    def _with_own_of_nodes(self) -> Topology:
        rest = dict(self.extra)
        hosts, switches = own.give_to_nodes(self.hosts, rest), own.give_to_nodes(self.switches, rest)
        return self if rest == self.extra else replace(self, hosts=hosts, switches=switches, extra=rest)

    def _to_data(self) -> dict[str, Any]:
        data: dict[str, Any] = {
            **own.take_from(self.links, own.take_from_nodes(self.nodes, self.extra)),
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
            data["controllers"] = [{**c.extra, **_place_data(c), "opts": dict(c.opts)} for c in self.controllers]
        return data


_TYPE_NAMES: dict[type, str] = {str: "a string", dict: "an object", list: "a list"}


class _ObjectReader:
    """Takes known keys out of a JSON object; `rest` is what remains, ValueError says what was expected."""

    def __init__(self, data: Any, where: str) -> None:
        if not isinstance(data, Mapping):
            raise ValueError(f"{where} must be a JSON object, found {quoted(data)}")
        self.rest = dict(data)
        self.where = where

    def take(self, key: str, *types: type) -> Any:
        if key not in self.rest:
            raise ValueError(f'{self.where}: the key "{key}" is missing')
        value = self.rest.pop(key)
        if not isinstance(value, types) or isinstance(value, bool):
            raise ValueError(f'{self.where}: "{key}" must be {_TYPE_NAMES[types[0]]}, found {quoted(value)}')
        return value

    def take_list(self, key: str) -> list[_ObjectReader]:
        return [_ObjectReader(item, f"{key}[{i}]") for i, item in enumerate(self.take(key, list))]

    def named(self, name: str) -> None:
        """Say the node's name in messages from here on."""
        self.where = name


def _node(kind: type[Any], reader: _ObjectReader) -> Any:
    opts = reader.take("opts", dict) if "opts" in reader.rest else {}
    number = reader.take("number", str, int) if "number" in reader.rest else _digits_of(opts.get("hostname"), reader)
    reader.named(f"{kind.what} {excerpt(str(opts.get('hostname', f'{kind.prefix}{number}')))}")
    x, y = _place(reader)
    if opts.get("nodeNum") is None and whole_number(number) is None:
        raise ValueError(
            f'{reader.where}: "number" must be at most {MOST_DIGITS} digits, found "{excerpt(str(number))}"'
        )
    return kind(number=number, x=x, y=y, opts=opts, extra=reader.rest)


def _digits_of(name: Any, reader: _ObjectReader) -> str:
    """The number that a name ends with, for a node that says no number."""
    match = re.search(rf"\d{{1,{MOST_DIGITS}}}$", name) if isinstance(name, str) else None
    if match is None:
        reader.take("number", str)  # which is missing, and the error says so
    assert match is not None
    return match[0]


def _place(reader: _ObjectReader) -> tuple[Any, Any]:
    """The coordinates; None where they are not said."""
    for key in ("x", "y"):
        if reader.rest.get(key, 0) is None:
            del reader.rest[key]
    x, y = (reader.take(key, str, int, float) if key in reader.rest else None for key in ("x", "y"))
    return x, y


def _controller(reader: _ObjectReader) -> Controller:
    opts = reader.take("opts", dict)
    _ObjectReader(opts, f'{reader.where} "opts"').take("hostname", str, int)
    reader.named(f"controller {excerpt(str(opts['hostname']))}")
    x, y = _place(reader)
    return Controller(opts=opts, x=x, y=y, extra=reader.rest)


def _link(reader: _ObjectReader) -> Link:
    src, dest = reader.take("src", str), reader.take("dest", str)
    reader.named(f"link {excerpt(src)}-{excerpt(dest)}")
    return Link(src=src, dest=dest, opts=reader.take("opts", dict) if "opts" in reader.rest else {}, extra=reader.rest)


def _node_data(node: Node) -> dict[str, Any]:
    return {**node.extra, "number": node.number, **_place_data(node), "opts": dict(node.opts)}


def _place_data(node: Node | Controller) -> dict[str, Any]:
    return {key: value for key, value in (("x", node.x), ("y", node.y)) if value is not None}


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
    raise ValueError(f"{constant} is not a JSON number")
