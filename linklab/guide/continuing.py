# SPDX-License-Identifier: BSD-3-Clause
"""A lab that somebody left → its network once more, set as it was, and sentences on what is there again and what not.

`left_off` reads the progress (pure); `bring_back` types into a fresh network, before anybody works in it. What the
kernel said last is restored where that is possible, else the lines that set something are typed again.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from linklab.base.text import one_line
from linklab.base.typed_file import lines_that_write
from linklab.engine.api import Completed, Network, Typed
from linklab.errors import LinklabError, StateError
from linklab.exercise.restore import restore_lines, unlike
from linklab.exercise.terminals import configures
from linklab.guide.evidence import EditorEvidence, FileEvidence, GuideEvidence, StateEvidence, TypedEvidence
from linklab.guide.shell import CLIENT, ShellCommand, commands_in
from linklab.state.model import READ_STATE, State

WALL_S = 60.0
"""For one line; most take a few milliseconds."""
BACK_S = 1.0
"""Network time that goes back by more than this belongs to another network; two terminals differ by less."""
MOST_SAID = 5
_OWN_NETWORK = "mn"
_STARTS_NONE = frozenset(("-c", "--clean", "-h", "--help", "--version"))
_SUBSTITUTES = ("$(", "`", "<(", ">(", "${", "\n")
_SETTERS = frozenset(("tc", "ip", "ifconfig", "ethtool", "sysctl", "route", "brctl"))
_RUNS = frozenset(("exec", "-b", "-batch", "--batch", "-force"))
"""Words with which ip and tc run a program, or the lines of a file."""


@dataclass(frozen=True)
class LeftLab:
    """How a lab was left: what belongs to the network that ran last.

    state: as the kernel told it last; None if it never did.
    typed: the lines that ended, in order; running: those that had not ended when the network did.
    files: those written outside the working folder, absolute path → text.
    """

    state: State | None = None
    typed: tuple[TypedEvidence, ...] = ()
    running: tuple[TypedEvidence, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass
class BroughtBack:
    """What came of it, for the person and for the guide.

    evidence: what the kernel said before and after.
    done, missing: sentences on what is as it was, and on what is not.
    again: (terminal, line) that ran when the lab was left, and that only the person can start again.
    """

    evidence: list[GuideEvidence] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    again: list[tuple[str, str]] = field(default_factory=list)


def left_off(evidence: Iterable[GuideEvidence], wanted: Collection[str] = ()) -> LeftLab:
    """How a lab was left, from all of its evidence.

    wanted: files outside the working folder that the lab's manual writes; no others are written again.
    """
    state: State | None = None
    lines: dict[tuple[str, str, float], TypedEvidence] = {}
    files: dict[str, str] = {}
    now_s = -math.inf
    for each in evidence:
        another = isinstance(each, EditorEvidence) and each.words[0] in ("run", "stop")
        if isinstance(each, TypedEvidence) and not each.ended:
            another = each.start_s < now_s - BACK_S
        if another:
            state, lines, files, now_s = None, {}, {}, -math.inf
        match each:
            case TypedEvidence():
                lines.pop(each.key, None)  # put where it ended
                lines[each.key] = each
                now_s = max(now_s, each.end_s or each.start_s)
            case StateEvidence():
                state = each.state
            case FileEvidence(path=path, text=text) if path in wanted and path.startswith("/"):
                files[path] = text
    ended = tuple(line for line in lines.values() if line.ended)
    return LeftLab(state, ended, _outermost(line for line in lines.values() if not line.ended), files)


def bring_back(network: Network, left: LeftLab) -> BroughtBack:
    """Set a fresh network as the last one was, as fast as the machine can; its clock is left at that speed.

    Raises:
        EngineError: the network has ended.
    """
    if network.paced is not None:
        network.paced.set_speed(math.inf)
    found = BroughtBack(again=[(line.terminal, line.text) for line in left.running])
    fresh = _read(network)
    found.evidence.append(StateEvidence(fresh, network.now_s()))
    _write_files(network, left, found)
    if left.state is None or not unlike(fresh, left.state):
        return found
    if set(fresh.nodes) != set(left.state.nodes):  # a network that the person starts by hand, as in Lab 1
        gone = ", ".join(sorted(set(left.state.nodes) - set(fresh.nodes)))
        found.missing.append(f"The network that you had started yourself is not there ({gone or 'other nodes'}).")
        return found
    _restore(network, fresh, left, found)
    now = _read(network)
    found.evidence.append(StateEvidence(now, network.now_s()))
    wrong = unlike(now, left.state)
    found.missing += [f"Not as it was: {sentence}." for sentence in wrong[:MOST_SAID]]
    if len(wrong) > MOST_SAID:
        found.missing.append(f"{len(wrong) - MOST_SAID} more settings are not as they were.")
    return found


def _outermost(running: Iterable[TypedEvidence]) -> tuple[TypedEvidence, ...]:
    """Without the lines that were typed at the prompt of another one of them, `sudo mn`."""
    kept: list[TypedEvidence] = []
    for line in running:
        inside = any(one.terminal == line.terminal == CLIENT and starts_network(one) for one in kept)
        if not inside:
            kept.append(line)
    return tuple(kept)


def starts_network(line: TypedEvidence) -> bool:
    """Whether a line starts a network of its own, as `sudo mn` does, and `sudo mn -c` does not."""
    return any(
        command.program == _OWN_NETWORK and _STARTS_NONE.isdisjoint(command.words)
        for command in commands_in(line.terminal, line.text)
    )


def _restore(network: Network, fresh: State, left: LeftLab, found: BroughtBack) -> None:
    assert left.state is not None
    try:
        lines: Sequence[tuple[str, str]] = restore_lines(fresh, left.state)
        said = "as the kernel had them last"
    except StateError as error:
        sets = [line for line in left.typed if line.status in (0, None) and _sets(line)]
        lines = [(line.terminal, line.text) for line in sets if only_sets(line)]
        said = f"by typing again what you had typed, since {error}"
        found.missing += [
            f"On {line.terminal}, {line.text} was not typed again, because it may do more than set something."
            for line in sets
            if not only_sets(line)
        ]
    failed = 0
    for on, line in lines:
        done = _type(network, on, line)
        if done.exit_status not in (0, None):
            failed += 1
            found.missing.append(f"On {on}, {line} failed: {one_line(done.output)[-200:] or 'it said nothing'}.")
    nodes = ", ".join(dict.fromkeys(on for on, _ in lines))
    if len(lines) > failed:
        found.done.append(f"The settings on {nodes} are made again, {said}.")


def _sets(line: TypedEvidence) -> bool:
    return line.terminal != "mininet" and configures(line.text)


def only_sets(line: TypedEvidence) -> bool:
    """Whether a line does nothing but set something in the network.

    A progress may be another person's, and what is typed inside has the rights of who continues: root inside can
    reach this machine's files. So no line is typed again that could run a program of its own.
    """
    if any(mark in line.text for mark in _SUBSTITUTES):
        return False
    return all(map(_is_setter, commands_in(line.terminal, line.text)))


def _is_setter(command: ShellCommand) -> bool:
    words = command.words
    into_kernel = all(target.startswith("/proc/sys/") and ".." not in target for target in command.to)
    if command.program in ("echo", "printf"):
        return into_kernel
    if command.program == "tee":
        targets = [word for word in words[1:] if not word.startswith("-")]
        feeds = all(fed[:1] in (("echo",), ("printf",)) for fed in command.fed)
        return feeds and all(target.startswith("/proc/sys/") and ".." not in target for target in targets)
    if command.fed or not into_kernel:
        return False
    if command.program == "linklab":
        return words[1:2] == ("link",)
    return command.program in _SETTERS and not _RUNS & set(words)


def _write_files(network: Network, left: LeftLab, found: BroughtBack) -> None:
    for path, text in left.files.items():
        failed = any(_type(network, CLIENT, line).exit_status for line in lines_that_write(path, text))
        (found.missing if failed else found.done).append(
            f"{path} cannot be written again." if failed else f"{path} is written again."
        )


def _type(network: Network, on: str, line: str) -> Completed:
    """Type into a terminal of a node that the person never sees."""
    node = on.partition("#")[0]
    return network.run([Typed(f"{node}#back", line)], deadline_s=WALL_S)[0]


def _read(network: Network) -> State:
    done = _type(network, CLIENT, READ_STATE)
    try:
        return State.loads(done.output, "the network's state")
    except LinklabError as error:
        raise StateError(f"the state of the network cannot be read: {error}") from error
