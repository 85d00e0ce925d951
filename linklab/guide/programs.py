# SPDX-License-Identifier: BSD-3-Clause
"""What a command measures or shows, whatever the words: program, role, target, and the options that matter.  Pure.

iperf3 --client 10.0.0.2 --time=20 -O10  →  iperf3, client, {target: 10.0.0.2, time: 20, omit: 10}
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from linklab.guide.layout import without_layout
from linklab.guide.shell import ShellCommand, unwrapped
from linklab.tc import parse_line

_SETTINGS_FOLDER = "/proc/sys/"
"""What sysctl reads and writes."""
_QUANTITY = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))([a-zA-Z%]*)")
_FACTORS = {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
_BINARY_FACTORS = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_IN_BYTES = frozenset(("window", "bytes", "length"))
"""Options of iperf3 whose K, M, and G are powers of 1024 (units.c, unit_atoi); those of rates are of 1000."""
_PAGERS = frozenset(("less", "more", "cat"))
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0}


@dataclass(frozen=True)
class ProgramTable:
    """How a program's options are read.

    valued: option → its name here; flags: the same for options without a value.
    matters: those that change what is measured, even where the manual does not say them; what neither says is
        `defaults`.
    free: those that do not matter, even where the manual says them.
    operand: what the words are that are no options: a target, or the words of a filter of packets.
    """

    valued: Mapping[str, str]
    flags: Mapping[str, str]
    matters: frozenset[str]
    free: frozenset[str]
    defaults: Mapping[str, str] = field(default_factory=dict)
    operand: str = "target"


def _table(text: str) -> dict[str, str]:
    """Lines "name -short --long" → option → name."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        name, *options = line.split()
        found |= dict.fromkeys(options, name)
    return found


def _names(*lines: str) -> list[str]:
    return " ".join(lines).split()


IPERF3 = ProgramTable(
    valued=_table(
        """
        target -c --client
        port -p --port
        format -f --format
        interval -i --interval
        bind -B --bind
        bitrate -b --bitrate --bandwidth
        time -t --time
        bytes -n --bytes
        blocks -k --blockcount
        length -l --length
        parallel -P --parallel
        window -w --window
        congestion -C --congestion --linux-congestion
        mss -M --set-mss
        tos -S --tos
        dscp --dscp
        omit -O --omit
        title -T --title
        paced --fq-rate
        file -F --file
        log --logfile
        affinity -A --affinity
        """
    ),
    flags=_table(
        """
        server -s --server
        once -1 --one-off
        daemon -D --daemon
        udp -u --udp
        reverse -R --reverse
        bidir --bidir
        json -J --json
        verbose -V --verbose
        nodelay -N --no-delay
        version4 -4 --version4
        zerocopy -Z --zerocopy
        flush --forceflush
        """
    ),
    matters=frozenset(
        _names(
            "target port bitrate time bytes blocks length parallel window congestion mss tos dscp omit paced server",
            "udp reverse bidir nodelay",
        )
    ),
    free=frozenset(["format", "verbose", "title", "log", "flush", "version4", "affinity"]),
    defaults={"time": "10", "parallel": "1", "port": "5201"},
)
PING = ProgramTable(
    valued=_table(
        """
        count -c
        interval -i
        size -s
        wait -W
        deadline -w
        mtu -M
        preload -l
        from -I
        ttl -t
        tos -Q
        pattern -p
        mark -m
        """
    ),
    flags=_table(
        """
        quiet -q
        numeric -n
        stamps -D
        adaptive -A
        flood -f
        record -R
        verbose -v
        outstanding -O
        version4 -4
        """
    ),
    matters=frozenset(["target", "interval", "size", "mtu", "preload", "ttl", "adaptive", "flood"]),
    free=frozenset(["quiet", "numeric", "stamps", "wait", "verbose", "outstanding", "version4", "deadline"]),
    defaults={"interval": "1"},
)
TCPDUMP = ProgramTable(
    valued=_table(
        """
        interface -i --interface
        count -c
        snap -s --snapshot-length
        into -w
        from -r
        direction -Q --direction
        link -y --linktype
        buffer -B --buffer-size
        size -C
        rotation -G
        most -W
        then -z
        user -Z --relinquish-privileges
        clock -j --time-stamp-type
        digits --time-stamp-precision
        filter-file -F
        files -V
        keys -E
        protocol -T
        """
    ),
    flags=_table(
        """
        numeric -n -nn
        numbered -# --number
        link-header -e
        quiet -q
        time -t -tt -ttt -tttt -ttttt
        digits --micro --nano
        verbose -v -vv -vvv
        hex -x -xx -X -XX
        text -A
        absolute -S --absolute-tcp-sequence-numbers
        lines -l
        packets -U --packet-buffered
        modest -p --no-promiscuous-mode
        unchecked -K --dont-verify-checksums
        compiled -d -dd -ddd
        listed -D --list-interfaces
        types -L --list-data-link-types
        counted --count
        """
    ),
    matters=frozenset(
        _names(
            "interface filter direction count into from link size rotation filter-file files compiled listed types",
            "counted",
        )
    ),
    free=frozenset(
        _names(
            "snap buffer user clock digits numeric numbered link-header quiet time verbose hex text absolute lines",
            "packets modest unchecked",
        )
    ),
    operand="filter",
)
_SAYS_MORE = frozenset(("-s", "-stats", "-statistics", "-p", "-pretty"))
"""Options by which tc and ip show what they show without them, and more lines; `-d` writes other lines."""
_ORDERED = frozenset(("linklab",))
"""Programs of which the order of the words says something: from h1 to h2."""
_PROTOCOLS = frozenset(("ip", "ip6", "arp", "tcp", "udp", "icmp", "icmp6"))
"""Words of a filter that are a condition by themselves, and may stand before one of ports or hosts."""
_OF_FILTER = re.compile(r"&&|\|\||[<>!=]=|[][()!&|=<>]|[^][()!&|=<>\s]+")
"""A word or a sign of a filter, between which spaces do not matter."""
_BRACKETS = frozenset("()[]")
TABLES = {"iperf3": IPERF3, "ping": PING, "tcpdump": TCPDUMP}


ADDRESSES = "addresses"
"""The run of what lists interfaces, which queues do not change."""
LINKS = "links"
"""The run of `ip link`, which shows of interfaces all but their addresses; a want that has it in `one_of` takes it."""


@dataclass(frozen=True)
class ProgramRun:
    """What a command runs.

    options: those with a value or "on"; words: of other programs what else was typed, in its order.
    one_of: of a listing of the working folder the files that are looked for: to list one of them is enough.
    """

    node: str
    program: str
    options: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()

    @property
    def role(self) -> str:
        """Of iperf3 whether it serves; of others the verb that says what they do."""
        if self.program == "iperf3":
            return "server" if "server" in self.options else "client"
        return ""

    @property
    def alike(self) -> tuple[str, str]:
        """What two runs must share to be tries at the same step."""
        return self.program, self.role


def run_of(command: ShellCommand) -> ProgramRun:
    """What a command runs; of a pipe, what its first command looks at, and through what it goes."""
    source = ShellCommand(command.node, unwrapped(command.source.words))
    program = source.program
    if program in TABLES:
        return ProgramRun(command.node, program, _options(TABLES[program], source.words[1:]))
    if program == "cat" and len(source.words) == 2 and source.words[1].startswith(_SETTINGS_FOLDER):
        name = source.words[1].removeprefix(_SETTINGS_FOLDER).replace("/", ".")
        return ProgramRun(command.node, "sysctl", {}, (name,))
    if program in ("ifconfig", "ip") and _shows_addresses(source.words):
        return ProgramRun(command.node, ADDRESSES)
    if program == "ip" and _shows(source.words, "link"):
        return ProgramRun(command.node, LINKS)
    if program == "cat" and len(source.words) == 2 and command.words[0] == "jq":  # jq reads the file as well by itself
        return ProgramRun(command.node, "jq", {}, tuple(without_layout("jq", [*command.words[1:], source.words[1]])))
    words = without_layout(program, source.words[1:])
    if program == "tc" and (line := parse_line(source.words)) is not None and line.verb in ("show", "list"):
        words = [line.object, line.device, *(word for word in source.words[1:] if word.startswith("-"))]
    pipe = (*command.fed[1:], *((command.words,) if command.fed else ()))
    words += [word for part in pipe if not _shows_all(part) for word in part]
    words = list(filter(None, words))
    return ProgramRun(command.node, program, {}, tuple(words))


def _shows_all(words: tuple[str, ...]) -> bool:
    """Whether a program at the end of a pipe only shows what comes, a page at a time or at once."""
    return words[0] in _PAGERS and all(word.startswith("-") for word in words[1:])


def _shows_addresses(words: Sequence[str]) -> bool:
    if words[0] == "ifconfig":
        return len([word for word in words[1:] if word != "-a"]) <= 1
    return _shows(words, "address")


def _shows(words: Sequence[str], what: str) -> bool:
    """Whether ip shows something, of all interfaces or of one (ip-link(8), ip-address(8))."""
    rest = [word for word in words[1:] if not word.startswith("-")]
    return bool(rest) and what.startswith(rest[0]) and (len(rest) == 1 or rest[1] in ("show", "list", "s", "ls"))


def _options(table: ProgramTable, words: Sequence[str]) -> dict[str, str]:
    rest, found = list(words), dict[str, str]()
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if word in table.valued:
            found[table.valued[word]] = rest.pop(0) if rest else ""
        elif equals and name in table.valued:
            found[table.valued[name]] = value
        elif word in table.flags:
            found[table.flags[word]] = "on"
        elif (letters := _letters(table, word)) is not None:
            flags, valued, value = letters
            found |= dict.fromkeys(flags, "on")
            if valued:
                found[valued] = value or (rest.pop(0) if rest else "")
        elif not word.startswith("-"):  # tcpdump puts the words of a filter together, with quotes around them or not
            before = found.get("filter", "")
            found[table.operand] = f"{before} {word}".strip() if table.operand == "filter" else word
        else:
            found[word] = "on"
    return found


def _letters(table: ProgramTable, word: str) -> tuple[list[str], str, str] | None:
    """Short options behind one hyphen, as getopt(3) takes them: flags, then one with a value; None for another word.

    -qc200 is the flag quiet, and count with the value 200.
    """
    if word.startswith("--") or not word.startswith("-"):
        return None
    flags: list[str] = []
    for at, letter in enumerate(word[1:], 2):
        if f"-{letter}" in table.valued:
            return flags, table.valued[f"-{letter}"], word[at:]
        if f"-{letter}" not in table.flags:
            return None
        flags.append(table.flags[f"-{letter}"])
    return flags, "", ""


# --- comparing


@dataclass(frozen=True)
class RunDifference:
    """One thing that a run has otherwise than is wanted; "" where one of the two does not say it."""

    what: str
    wanted: str
    found: str


def compared(wanted: ProgramRun, found: ProgramRun) -> list[RunDifference]:
    """What matters of how a run differs from the one that is wanted; its node, too."""
    differing = []
    if wanted.node != found.node:
        differing.append(RunDifference("node", wanted.node, found.node))
    if wanted.alike != found.alike and not (found.program == LINKS and LINKS in wanted.one_of):
        return [*differing, RunDifference("program", " ".join(wanted.alike).strip(), " ".join(found.alike).strip())]
    table = TABLES.get(wanted.program)
    if table is None:
        return [*differing, *_words_compared(wanted, found)]
    for name in {**wanted.options, **found.options}:
        if name in table.free or (name not in wanted.options and name not in table.matters):
            continue
        one = wanted.options.get(name, table.defaults.get(name, ""))
        other = found.options.get(name, table.defaults.get(name, ""))
        if not _same_option(wanted.program, name, one, other):
            differing.append(RunDifference(name, one, other))
    return differing


def _same_option(program: str, name: str, one: str, other: str) -> bool:
    """Whether two values of an option say the same."""
    if program == "tcpdump" and name == "filter":
        return _conditions(one) == _conditions(other)
    if program == "tcpdump" and name in ("into", "from"):
        return _plain_path(one) == _plain_path(other)
    return same_word(one, other, binary=program == "iperf3" and name in _IN_BYTES)


def _conditions(text: str) -> frozenset[str]:
    """The conditions of a filter that packets must all meet, in whatever order; one that has others is one condition.

    "tcp dst port 5201" is "tcp and dst port 5201" (pcap-filter(7)).
    """
    words = ["and" if word == "&&" else word for word in _OF_FILTER.findall(text)]
    if any(word in ("or", "||", "not", "!") or word in _BRACKETS for word in words):
        return frozenset((" ".join(words),))
    found: set[str] = set()
    for condition in " ".join(words).split(" and "):
        first, _, rest = condition.partition(" ")
        found |= {first, rest} if first in _PROTOCOLS and rest else {condition}
    return frozenset(found)


def _plain_path(path: str) -> str:
    return path.removeprefix("./")


def _words_compared(wanted: ProgramRun, found: ProgramRun) -> list[RunDifference]:
    if found.words and all(any(fnmatchcase(name, word) for name in wanted.one_of) for word in found.words):
        return []
    lacking = Counter(map(_plain_word, wanted.words))
    more = Counter(map(_plain_word, found.words))
    if wanted.program in ("tc", "ip"):
        more -= Counter(word for word in found.words if word in _SAYS_MORE and word not in wanted.words)
    both = lacking & more
    if lacking == more and wanted.program in _ORDERED and wanted.words != found.words:
        return [RunDifference("words", " ".join(wanted.words), " ".join(found.words))]
    one = [word for word in wanted.words if (lacking - both)[_plain_word(word)]]
    other = [word for word in found.words if (more - both)[_plain_word(word)]]
    return [RunDifference("words", " ".join(one), " ".join(other))] if one or other else []


def likeness(wanted: ProgramRun, found: ProgramRun) -> float:
    """How like two runs of one program are, 0 to 1."""
    if wanted.alike != found.alike:
        return 0.0
    differing = compared(wanted, found)
    if wanted.program in TABLES:
        total = len({*wanted.options, *found.options}) + 1
        return 1 - len(differing) / (total + 1)
    common = sum((Counter(wanted.words) & Counter(found.words)).values())
    words = (2 * common + 1) / (len(wanted.words) + len(found.words) + 1)
    return words - (0.2 if wanted.node != found.node else 0.0)


def same_word(one: str, other: str, *, binary: bool = False) -> bool:
    """Whether two values are the same, in whatever units: 20ms and 0.02s, 5gbit and 5G; binary: K is 1024."""
    return _plain_word(one, binary=binary) == _plain_word(other, binary=binary)


def _plain_word(word: str, *, binary: bool = False) -> str:
    found = _QUANTITY.fullmatch(word)
    if not found:
        return word
    unit = found[2].lower()
    if unit in _TIMES:
        return f"{float(found[1]) * _TIMES[unit]:.9g}s"
    factors = _BINARY_FACTORS if binary else _FACTORS
    return f"{float(found[1]) * factors.get(unit[:1], 1.0):.12g}" + ("%" if unit == "%" else "")
