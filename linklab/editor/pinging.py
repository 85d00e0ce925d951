# SPDX-License-Identifier: BSD-3-Clause
"""Which address one node of a running network pings at another, and what the answer means in plain words. Pure.

`linklab.measure` reads ping for measurements; here a person only wants to know whether the other answers, and why not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from ipaddress import IPv4Interface, IPv6Interface, ip_address, ip_interface

from linklab.base.text import excerpt
from linklab.errors import EngineError
from linklab.topology import Topology
from linklab.topology.addressing import has_ports
from linklab.windows.words import Phrase

PROBES = 4
ADDRESSES = "ip -j address show"
"""Asked of the nodes themselves: somebody may have changed in a terminal what the drawing says."""
NO_ADDRESS = "no address"
SUMMARY = re.compile(r"(\d+) packets transmitted, (\d+) received")
MEAN = re.compile(r"= [\d.]+/([\d.]+)/")
SAID_BY = re.compile(r"From (\S+?):? icmp_seq=\d+ (.+)")
Interface = IPv4Interface | IPv6Interface
Answers = Mapping[tuple[str, str], bool | None]
"""Whether the second answered the first; None where the second has no address, so that nothing was sent."""


def pingable(topology: Topology) -> list[str]:
    """The nodes that have addresses: hosts and legacy routers."""
    return [node.name for node in topology.nodes if has_ports(node)]


def read_addresses(node: str, shown: str) -> list[Interface]:
    """The addresses that `ip -j address show` printed on a node, without those of the loopback and of the link.

    Raises:
        EngineError: it printed something else.
    """
    try:
        found = [each for link in json.loads(shown) for each in link.get("addr_info", ()) if each["scope"] == "global"]
        return [ip_interface(f"{each['local']}/{each['prefixlen']}") for each in found]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        said = excerpt(shown.strip()) or "it is empty"
        raise EngineError(f"{node}: the output of `{ADDRESSES}` could not be read: {said}") from error


def target_address(own: Sequence[Interface], others: Sequence[Interface]) -> str:
    """The address to ping: one in a subnet that both have, else the other's first, IPv4 before IPv6; "" for none."""
    ordered = sorted(others, key=lambda each: each.version)
    shared = [each for each in ordered if any(each.ip in mine.network for mine in own if mine.version == each.version)]
    return str((shared or ordered)[0].ip) if ordered else ""


def is_address(text: str) -> bool:
    """Whether somebody typed an address."""
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def ping_line(address: str) -> str:
    """The command, as a person would type it."""
    return f"ping -c {PROBES} -W 2 {address}"


def verdict(source: str, target: str, shown: str) -> str:
    """What ping's output says, as a sentence, with the likely reason where no reply came."""
    summary = SUMMARY.search(shown)
    sent, received = (int(summary[1]), int(summary[2])) if summary else (0, 0)
    if received:
        mean = MEAN.search(shown)
        replies: dict[str, object] = {"received": received, "sent": sent}
        said = Phrase("{received} of {sent} replies", **replies)
        if mean:
            timed = "{received} of {sent} replies, round-trip time {rtt_ms:g} ms on average"
            said = Phrase(timed, **replies, rtt_ms=float(mean[1]))
        how = "{target} answers: {replies}." if received == sent else "{target} answers only in part: {replies}."
        return Phrase(how, target=target, replies=said)
    if "Network is unreachable" in shown:
        template = "{source} has no route to {target}: set its default gateway, or a route."
        return Phrase(template, source=source, target=target)
    if found := SAID_BY.search(shown):
        router, why = found.groups()
        template = "{target} does not answer: {router} says: {why}."
        if "Time to live exceeded" in why:
            template = "{target} does not answer: packets loop between routers ({router} says: {why})."
        if "Host Unreachable" in why:
            template = "{target} does not answer: {router} got no ARP reply from the next hop."
        return Phrase(template, target=target, router=router, why=why)
    if not sent:
        return _why_not_run(shown)
    return Phrase("{target} does not answer: 0 of {sent} replies.", target=target, sent=sent)


def _why_not_run(shown: str) -> str:
    """Why ping ended without its summary; the first line shown is the command."""
    printed = shown.strip().splitlines()[1:]
    if any(line.startswith("PING ") for line in printed):
        return Phrase("ping was stopped before it finished.")
    said = printed[-1].removeprefix("ping: ") if printed else Phrase("it printed nothing")
    return Phrase("ping could not run: {why}", why=said)


# --- everyone to everyone


def everyone_script(addresses: Mapping[str, str]) -> str:
    """What one node runs to ping the others once each, by name; it prints "name yes" or "name no" for each."""
    lines = [
        f"if ping -n -q -c 1 -W 1 {address} >/dev/null 2>&1; then echo {name} yes; else echo {name} no; fi"
        for name, address in addresses.items()
    ]
    return "\n".join(lines)


def matrix(names: Sequence[str], answers: Answers) -> str:
    """A table of who reached whom: a row for each sender; an answer that is not there yet is a dot."""
    columns = [[target, *(_cell(source, target, answers) for source in names)] for target in names]
    wide = max(len("from"), *(len(name) for name in names))
    table = [[each.ljust(wide) for each in ("from", *names)]]
    for column in columns:
        wide = max(3, *map(len, column))
        table.append([cell.rjust(wide) for cell in column])
    return "\n".join("  ".join(row) for row in zip(*table, strict=True))


def _cell(source: str, target: str, answers: Answers) -> str:
    if source == target:
        return "-"
    if (source, target) not in answers:
        return "."
    return {None: NO_ADDRESS, True: "yes", False: "NO"}[answers[source, target]]


def everyone_verdict(names: Sequence[str], answers: Answers, most: int = 6) -> str:
    """How many pairs answered, the first that did not, and who could not be pinged."""
    sent = {pair: answer for pair, answer in answers.items() if answer is not None}
    unsent = answers.keys() - sent.keys()
    said = _pings_verdict(len(names) * (len(names) - 1) - len(unsent), sent, most)
    without = [name for name in names if any(target == name for _, target in unsent)]
    if not without:
        return said
    return Phrase("{said} Without an address: {nodes}.", said=said, nodes=", ".join(without))


def _pings_verdict(total: int, answers: Mapping[tuple[str, str], bool], most: int) -> Phrase:
    known, good = len(answers), sum(answers.values())
    if known < total:
        return Phrase("{known} of {total} pings done, {good} answered …", known=known, total=total, good=good)
    if not total:
        return Phrase("No ping was sent.")
    failed = [f"{source} → {target}" for (source, target), fine in answers.items() if not fine]
    if not failed:
        return Phrase("All {total} pings were answered.", total=total)
    few = "{good} of {total} pings were answered. No answer: {failed}."
    many = "{good} of {total} pings were answered. No answer: {failed}, and {more} more."
    more, first = len(failed) - most, ", ".join(failed[:most])
    return Phrase(many if more > 0 else few, good=good, total=total, failed=first, more=more)
