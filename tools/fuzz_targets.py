# SPDX-License-Identifier: BSD-3-Clause
"""What is fuzzed: each reader of files and outputs, with good inputs to begin from and what it promises.

A reader may refuse an input with a LinklabError of one sentence; what it accepts keeps the promises checked here.
`BrokenPromiseError` is for the others: a number that is none in a result, a message that is no sentence.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import fuzz_inputs
import fuzz_progress
import fuzz_tables
from fuzz_inputs import Mutation

from linklab.editor import decorations, edits
from linklab.editor.export import script
from linklab.editor.files import Autosave
from linklab.editor.link_fields import lines_of
from linklab.editor.pictures import write_picture
from linklab.editor.runnable import Choice, refused, runnable, unheeded
from linklab.editor.settings import EditorSettings, load_settings
from linklab.errors import LinklabError, TopologyError
from linklab.exercise.answers import read_answers, template
from linklab.exercise.course import parse_course
from linklab.exercise.instance import decode_environment, instance_text, parse_instance, practice_instance
from linklab.exercise.load import load_exercise
from linklab.exercise.roster import read_roster
from linklab.experiment.batch import BatchChoice, batch_list
from linklab.experiment.batch_file import read_batch_files
from linklab.experiment.model import Trial
from linklab.experiment.sweep import Rounds
from linklab.experiment.sweep_file import load_sweep
from linklab.experiment.sweep_template import TEMPLATE
from linklab.experiment.trial_folder import opened
from linklab.experiment.trial_list import JOURNAL, ListedTrial
from linklab.lab.model import load_lab
from linklab.manual.parse import parse_manual
from linklab.measure import Measurements, measure
from linklab.measure.capture import measure_capture
from linklab.measure.fairness import read_fairness
from linklab.measure.iperf3 import read_file, read_json, read_output
from linklab.measure.nstat import read_nstat
from linklab.measure.ping import read_pings
from linklab.measure.qdisc import measure_samples, read_samples
from linklab.measure.ss import read_ss
from linklab.measure.tc import read_tc
from linklab.run.record import load_reference
from linklab.state.model import State
from linklab.topology import Topology
from linklab.topology.arrange import arranged
from linklab.topology.mending import mend
from linklab.topology.needs import of_topology
from linklab.topology.plan import plan

ROOT = Path(__file__).resolve().parents[1]
CAPTURES = ROOT / "tests" / "captures"
LONGEST_MESSAGE = 1000
LAB = "14-router-bufferbloat"
EXERCISE = ROOT / "exercises" / "3-tcp-and-switch-buffers"


class BrokenPromiseError(Exception):
    """A reader accepted an input and gave what it says it never gives."""


@dataclass(frozen=True)
class Target:
    """One reader.

    seeds: good inputs; changes: what may happen to them; read: reads one input, in a folder of its own.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    changes: Sequence[Mutation]
    read: Callable[[bytes, Path], None]


def promise(kept: bool, what: str) -> None:
    """BrokenPromiseError with `what` unless it is kept."""
    if not kept:
        raise BrokenPromiseError(what)


def check_message(error: LinklabError) -> None:
    """A refusal is one sentence that a person can read."""
    text = str(error)
    promise(bool(text.strip()), "a message without words")
    promise(len(text) <= LONGEST_MESSAGE, "a message longer than a screen")


def check(found: Measurements) -> None:
    """Every scalar is a finite number, every series has rising times without gaps; `run.json` can be written."""
    for name, quantity in found.scalars.items():
        promise(
            isinstance(quantity.value, float) and math.isfinite(quantity.value),
            f"a scalar that is no number: {name.split('.')[0]}",
        )
    for name, series in found.series.items():
        times = series.time_s
        promise(
            bool((times[1:] >= times[:-1]).all()) and not any(map(math.isnan, times[:1])),
            f"times that fall: {name.split('.')[0]}",
        )
        promise(
            not any(math.isinf(value) for value in (*times[-1:], *series.value)),
            f"an infinite value: {name.split('.')[0]}",
        )
    json.dumps({name: quantity.value for name, quantity in found.scalars.items()}, allow_nan=False)


# --- readers


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _file(data: bytes, folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def _iperf3_json(data: bytes, folder: Path) -> None:
    for partial in (True, False):
        for test in read_json(_text(data), "out.json", partial=partial):
            check(test.measurements())


def _iperf3_text(data: bytes, folder: Path) -> None:
    for test in read_output(_text(data), "step a"):
        check(test.measurements())


def _iperf3_file(data: bytes, folder: Path) -> None:
    for test in read_file(_file(data, folder, "out.json"), partial=True):
        check(test.measurements())


def _all_of(read: Callable[[str, str], Sequence[Measurements]]) -> Callable[[bytes, Path], None]:
    def one(data: bytes, folder: Path) -> None:
        for found in read(_text(data), "step a"):
            check(found)

    return one


def _pcap(data: bytes, folder: Path) -> None:
    check(measure_capture(_file(data, folder, "a.pcap")))


def _samples(data: bytes, folder: Path) -> None:
    check(measure_samples(read_samples(_file(data, folder, "queue.jsonl"))))


def _measure_text(data: bytes, folder: Path) -> None:
    check(measure(_text(data), (), "step a", partial=True))


def _measure_file(data: bytes, folder: Path) -> None:
    check(measure("", [_file(data, folder, "out.txt")], "step a"))


def _exercise(data: bytes, folder: Path) -> None:
    exercise = folder / "exercises" / EXERCISE.name
    exercise.mkdir(parents=True, exist_ok=True)
    _file(data, exercise, "exercise.toml")
    found = load_exercise(exercise)
    template(found)
    instance_text(found, practice_instance(found))


def _answers(data: bytes, folder: Path) -> None:
    read_answers(_text(data), load_exercise(EXERCISE))


def _state(data: bytes, folder: Path) -> None:
    state = State.loads(_text(data))
    promise(State.loads(state.dumps()) == state, "a state that is not read back as it was written")


def _instance(data: bytes, folder: Path) -> None:
    text = _text(data)
    parse_instance(text, "instance.json")
    decode_environment(str(json.loads(text).get("environment", "")))


def _course(data: bytes, folder: Path) -> None:
    parse_course(data, "course.toml")


def _roster(data: bytes, folder: Path) -> None:
    read_roster(_file(data, folder, "roster.csv"))


def _autosave(data: bytes, folder: Path) -> None:
    _file(data, folder, "1-a.json")
    for lost in Autosave(folder).lost():
        promise(math.isfinite(lost.when), "a moment that is none")


def _settings(data: bytes, folder: Path) -> None:
    settings = load_settings(_file(data, folder, "editor.json"))
    promise(
        all(type(getattr(settings, name)) is type(value) for name, value in vars(EditorSettings()).items()),
        "a setting of another type",
    )
    promise(math.isfinite(settings.scale), "a scale that is none")


def _topology(data: bytes, folder: Path) -> None:
    path = _file(data, folder, "a.mn")
    drawn = Topology.load(path, check=False)
    promise(Topology.loads(drawn.dumps(), check=False) == drawn, "a topology that is not read back as it was written")
    with contextlib.suppress(TopologyError):
        plan(drawn)
    arranged(drawn)
    try:
        mended, _ = mend(drawn)
        mended.check()
        script_of(mended)
    except LinklabError as error:
        raise BrokenPromiseError(f"what is mended has a fault: {re.sub('[0-9]+', 'N', str(error)[-70:])}") from error
    promise(mend(mended) == (mended, []), "a mended topology that is mended again")
    promise(Topology.loads(mended.dumps()) == mended, "a mended topology that is not read back")
    choice = Choice.of(mended)
    refused(mended)
    unheeded(mended, choice)
    runnable(mended, choice)
    for link, ends in zip(mended.links, mended.link_ends(), strict=True):
        lines_of(link, ends)


def drawings() -> list[bytes]:
    """Drawings of the labs, of MiniEdit, and as strangers write them."""
    return list(_files("topologies/Lab [1-9].mn", "tests/captures/*.mn", "tests/strangers/drawings/*.mn")())


def script_of(mended: Topology) -> None:
    """What the kernel needs for it and the script that builds it, which is Python."""
    of_topology(mended)
    compile(script(mended, "a"), "a.py", "exec")


def _lab(data: bytes, folder: Path) -> None:
    lab = folder / "labs" / LAB
    if not lab.exists():
        lab.mkdir(parents=True)
        (folder / "topologies").symlink_to(ROOT / "topologies")
        for name in ("manual.md", "reference"):
            (lab / name).symlink_to(ROOT / "labs" / LAB / name)
    _file(data, lab, "lab.toml")
    load_lab(lab)


def _manual(data: bytes, folder: Path) -> None:
    parse_manual(_text(data), Path("manual.md"), None)


def _reference(data: bytes, folder: Path) -> None:
    lab = load_lab(ROOT / "labs" / LAB)
    (folder / "reference").mkdir(exist_ok=True)
    _file(data, folder / "reference", "reference.json")
    load_reference(type(lab)(**{**vars(lab), "folder": folder}))


# --- good inputs


def _captures(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(CAPTURES.glob(pattern))]


def _outputs(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [
        path.read_bytes()
        for pattern in patterns
        for path in sorted(ROOT.glob(f"labs/*/reference/outputs/{pattern}.txt"))
    ]


def _shown_queues() -> list[bytes]:
    """The outputs of Labs 16 and 19 in which tc shows RED and PIE."""
    return [data for data in _outputs("red*", "pie*", "rule*")() if b"qdisc " in data]


def _files(*patterns: str) -> Callable[[], list[bytes]]:
    return lambda: [path.read_bytes() for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def _packets() -> list[bytes]:
    """Captures of four packets of TCP over IPv4 and IPv6, in both byte orders and resolutions, and as pcapng."""
    tcp = struct.pack(">HHIIBBHHH", 40000, 5201, 1, 1, 0x80, 0x18, 500, 0, 0) + bytes(12)
    ip4 = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 1052, 1, 0, 64, 6, 0, bytes((10, 0, 0, 1)), bytes((10, 0, 0, 2)))
    ip6 = struct.pack(">IHBB16s16s", 6 << 28, 1032, 6, 64, bytes(15) + b"\1", bytes(15) + b"\2")
    frames = [bytes(12) + b"\x08\x00" + ip4 + tcp, bytes(12) + b"\x86\xdd" + ip6 + tcp] * 2
    found = []
    for order in "<>":
        for magic in (0xA1B2C3D4, 0xA1B23C4D):
            records = [
                struct.pack(f"{order}IIII", 1_704_067_200, 100 * n, len(f), len(f) + 1000) + f
                for n, f in enumerate(frames)
            ]
            found.append(struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 65535, 1) + b"".join(records))
    head = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28) + struct.pack(
        "<IIHHII", 1, 20, 1, 0, 65535, 20
    )
    blocks = []
    for number, frame in enumerate(frames):
        padded = frame + bytes(-len(frame) % 4)
        size = 32 + len(padded)
        blocks.append(
            struct.pack("<IIIIIII", 6, size, 0, 0, 100 * number, len(frame), len(frame))
            + padded
            + struct.pack("<I", size)
        )
    return [*found, head + b"".join(blocks)]


def _given_answers() -> list[bytes]:
    solutions = _files("exercises/*/solution/answers.toml", "exercises/*/wrong/*/answers.toml")()
    return [template(load_exercise(EXERCISE)).encode(), *solutions]


def _instances() -> list[bytes]:
    exercise = load_exercise(EXERCISE)
    return [instance_text(exercise, practice_instance(exercise, variant)).encode() for variant in (0, 1)]


def _drawings() -> list[bytes]:
    """What an editor that no longer runs kept; process 1 runs always, and one this high never."""
    texts = [path.read_text() for path in sorted(ROOT.glob("topologies/Lab [18].mn"))]
    kept = [
        {"path": path, "when": 1.7e9, "pid": 2**22 + 1, "text": text} for text in texts for path in ("/a/b.mn", None)
    ]
    return [json.dumps(each).encode() for each in [*kept, {**kept[0], "pid": os.getpid()}]]


def _decorated() -> list[bytes]:
    """Drawings with notes, groups, a background and parallel links."""
    found = []
    for path in sorted(ROOT.glob("topologies/Lab [18].mn")):
        topology = Topology.load(path)
        topology = edits.add_link(topology, topology.links[0].dest, topology.links[0].src)
        topology, _ = decorations.add_frame(topology, (0.0, 0.0), (300.0, 200.0), "Site A", "host")
        topology, _ = decorations.add_note(topology, 30, 40, "a note\nof two lines")
        found.append(decorations.set_background(topology, {"file": "plan.png", "scale": 1.5}).dumps().encode())
    return found


def _picture(data: bytes, folder: Path) -> None:
    """Drawn near and far; written as a picture that is XML; everything beside the network moved, copied, deleted."""
    topology = Topology.loads(_text(data), check=False)
    write_picture(topology, folder / "out.svg", folder)
    ElementTree.parse(folder / "out.svg")  # noqa: S314 - it is our own that is looked at
    keys = set(decorations.decorations(topology))
    moved = edits.move(topology, dict.fromkeys(keys, (1.0, 2.0)))
    promise(set(decorations.decorations(moved)) == keys, "a decoration lost by moving it")
    _, new = decorations.paste(topology, moved, (40.0, 40.0))
    promise(len(new) == len(keys - {decorations.BACKGROUND}), "a decoration that cannot be copied")
    promise(not decorations.decorations(decorations.delete(topology, keys)), "a decoration that cannot be deleted")
    promise(Topology.loads(moved.dumps(), check=False).dumps() == moved.dumps(), "another file after saving")


def _chosen() -> list[bytes]:
    return [json.dumps(vars(EditorSettings(scale=1.5, recent=["/a.mn", "/b.mn"]))).encode()]


def _students() -> list[bytes]:
    tables = ("id,name\na1,Ann\nb2,Bo\n", "a1\nb2\nc3\n", "ID number;First name;Last name\n1;Ann;A\n2;Bo;B\n")
    return [*(table.encode() for table in tables), tables[0].encode("utf-16")]


def _batch(data: bytes, folder: Path) -> None:
    """Every trial has a file of its own below the folder, and its commands are whole."""
    found = batch_list(read_batch_files([_file(data, folder, "lab.batch")]), BatchChoice())
    names = [entry.file for entry in found.entries]
    promise(len(set(names)) == len(names), "two trials with one file")
    promise(not any(name.startswith("/") or ".." in Path(name).parts for name in names), "a file outside the folder")
    promise(all(command.line for entry in found.entries for command in entry.trial.commands), "an empty command")


def _sweep(data: bytes, folder: Path) -> None:
    """Its first round has every cell, with files below the folder."""
    sweep = load_sweep(_file(data, folder, "sweep.toml"))
    names = [entry.file for _, entry in Rounds(sweep).next()]
    promise(len(set(names)) == len(names) >= len(list(sweep.cells())), "a cell without a file of its own")
    promise(not any(name.startswith("/") or ".." in Path(name).parts for name in names), "a file outside the folder")


def _journal(data: bytes, folder: Path) -> None:
    """A journal of another list is refused, and what it names is no file outside the folder."""
    _file(data, folder, JOURNAL)
    entries = [ListedTrial("a/one", "one", Trial("ping")), ListedTrial("two", "two", Trial("tcp_1up"))]
    with opened(folder, {"what": "batch"}) as kept:
        due = kept.add(entries)
        promise(set(due) <= set(entries), "a trial that nobody asked for")


_BATCH = b"""[Batch::base]
abstract = yes
path = 10mbit 50ms ${q}
for_q = q_*
repetitions = 2
commands = a
filename_extra = ${q}-${repetition}
output_path = out/${batch_name}
[Batch::up]
inherits = base
test_name = tcp_1up
test_parameters = a=${q};b=2
length = 10
[Arg::q_1]
q = pfifo
[Arg::q_2]
inherits = q_1
q = codel
[Command::a]
type = pre
exec = tc qdisc ${q} ${HOME}
essential = yes
extra_commands = b
[Command::b]
type = post
node = h1
exec = true
"""
_JOURNAL = json.dumps(
    {
        "format": 1,
        "what": "batch",
        "trials": [
            {"file": "a/one.flent.gz", "label": "one", "trial": "ab" * 32, "state": "failed", "why": "no"},
            {"file": "two.flent.gz", "label": "two", "trial": "cd" * 32, "state": "done", "sha256": "ef" * 32},
        ],
    }
).encode()

_COURSE = b'course = "Networks"\nsecret = "' + b"ab" * 32 + b'"\n'

TARGETS: tuple[Target, ...] = (
    Target("iperf3-json", _captures("iperf3-*.json", "iperf3-*.jsonl"), fuzz_inputs.JSON, _iperf3_json),
    Target("iperf3-text", _captures("iperf3-*.txt"), fuzz_inputs.TEXT, _iperf3_text),
    Target("iperf3-file", _captures("iperf3-*"), fuzz_inputs.JSON, _iperf3_file),
    Target("ping", _captures("ping-*"), fuzz_inputs.TEXT, _all_of(read_pings)),
    Target("tc", _captures("tc-*.txt"), fuzz_inputs.TEXT, _all_of(read_tc)),
    Target("tc-red-pie", _shown_queues, fuzz_inputs.TEXT, _all_of(read_tc)),
    Target("ss", _captures("ss-*"), fuzz_inputs.TEXT, _all_of(read_ss)),
    Target("nstat", _captures("nstat-*"), fuzz_inputs.TEXT, _all_of(read_nstat)),
    Target("fairness", _outputs("equal", "parallel-index", "diff"), fuzz_inputs.TEXT, _all_of(read_fairness)),
    Target("pcap", _packets, (), _pcap),
    Target("queue-samples", _captures("queue-samples-*"), fuzz_inputs.JSON, _samples),
    Target("measure-text", _captures("*.txt", "iperf3-*.json"), fuzz_inputs.JSON, _measure_text),
    Target("measure-file", _captures("*-[0-9]*"), fuzz_inputs.JSON, _measure_file),
    Target(
        "exercise.toml", _files("exercises/*/exercise.toml", "problems/*/exercise.toml"), fuzz_inputs.TOML, _exercise
    ),
    Target("answers.toml", _given_answers, fuzz_inputs.TOML, _answers),
    Target("instance.json", _instances, fuzz_inputs.JSON, _instance),
    Target("course.toml", lambda: [_COURSE], fuzz_inputs.TOML, _course),
    Target("roster", _students, fuzz_inputs.TEXT, _roster),
    Target("batch", lambda: [_BATCH], fuzz_inputs.TEXT, _batch),
    Target("sweep.toml", lambda: [TEMPLATE.encode()], fuzz_inputs.TOML, _sweep),
    Target(
        "table-script", fuzz_tables.scripts, (*fuzz_inputs.TEXT, fuzz_tables.change_directive), fuzz_tables.read_script
    ),
    Target("exp.csv", fuzz_tables.tables, fuzz_inputs.TEXT, fuzz_tables.read_table),
    Target("trials.json", lambda: [_JOURNAL], fuzz_inputs.JSON, _journal),
    Target("progress", fuzz_progress.progresses, fuzz_inputs.TEXT, fuzz_progress.read_progress),
    Target("state", _captures("node_state-*"), fuzz_inputs.JSON, _state),
    Target("editor-autosave", _drawings, fuzz_inputs.JSON, _autosave),
    Target("editor-picture", _decorated, fuzz_inputs.JSON, _picture),
    Target("editor-settings", _chosen, fuzz_inputs.JSON, _settings),
    Target("topology", drawings, fuzz_inputs.JSON, _topology),
    Target("lab.toml", _files(f"labs/{LAB}/lab.toml"), fuzz_inputs.TOML, _lab),
    Target("manual", _files("labs/*/manual.md", "exercises/*/handout.md"), fuzz_inputs.TEXT, _manual),
    Target("reference", _files(f"labs/{LAB}/reference/reference.json"), fuzz_inputs.JSON, _reference),
)
