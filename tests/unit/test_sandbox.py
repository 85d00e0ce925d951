# SPDX-License-Identifier: BSD-3-Clause
"""The sandbox without a kernel: what comes out of a hostile folder, whose words are believed, what a denial says."""

import contextlib
import errno
import gc
import os
import resource
import shutil
import stat
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from linklab import pocket_kernel
from linklab.base import installation
from linklab.base.processor_time import Taken
from linklab.commands import grade as grade_command
from linklab.engine.api import Clock, Completed, FailedCommand
from linklab.engine.bytecode import PACKAGE
from linklab.errors import EngineError, MissingError, OverusedError
from linklab.grade import bubblewrap, sandbox, unit
from linklab.grade.exchange import CameOut, Exchange, Room
from linklab.grade.guard import PROCESSES
from linklab.grade.hearsay import answers, believing_nothing, built, keepers_word
from linklab.grade.limits import HANG_S, LAB_S, Limits, most_at_once
from linklab.grade.rebuild import read_bounded
from linklab.grade.worker import grade_in_pocket, grading_engine
from linklab.guide.redo import LINE_WALL_S


@pytest.fixture
def folders(tmp_path):
    """Our folder, theirs, and theirs as an open file."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    number = os.open(theirs, os.O_RDONLY | os.O_DIRECTORY)
    yield ours, theirs, number
    os.close(number)


def contents(folder):
    """Names and contents of the files in a folder."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# --- files in and out


def test_files_go_in_and_what_changed_comes_out(folders):
    """Both sides have the same afterwards, in folders too, and what did not change is not touched."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room())
    (ours / "results").mkdir()
    (ours / "results/a").write_bytes(b"1")
    (ours / "run.sh").write_bytes(b"#!")
    (ours / "run.sh").chmod(0o755)
    exchange.push()
    assert contents(theirs) == {"results/a": b"1", "run.sh": b"#!"}
    assert stat.S_IMODE((theirs / "run.sh").stat().st_mode) == 0o755
    (theirs / "results/a").write_bytes(b"22")
    (theirs / "deep").mkdir()
    (theirs / "deep/b").write_bytes(b"3")
    before = (ours / "run.sh").stat().st_mtime_ns
    assert exchange.pull() == []
    assert contents(ours) == {"deep/b": b"3", "results/a": b"22", "run.sh": b"#!"}
    assert (ours / "run.sh").stat().st_mtime_ns == before
    (ours / "run.sh").write_bytes(b"#!/bin/sh")
    exchange.push()
    assert (theirs / "run.sh").read_bytes() == b"#!/bin/sh"


def test_a_file_that_is_taken_once_more_is_not_written_again(folders, monkeypatch):
    """Of one taken in the tick in which it was written; regression: another line was said to have written it."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room())
    (theirs / "out.json").write_bytes(b"1")
    monkeypatch.setattr(time, "time_ns", lambda: (theirs / "out.json").stat().st_ctime_ns)
    exchange.pull()
    monkeypatch.undo()
    before = (ours / "out.json").stat().st_mtime_ns
    time.sleep(0.02)
    exchange.pull()
    assert (ours / "out.json").stat().st_mtime_ns == before
    (theirs / "out.json").write_bytes(b"1")
    exchange.pull()
    assert (ours / "out.json").stat().st_mtime_ns > before


def test_a_network_of_a_lab_begins_with_the_folder_that_the_last_one_left(tmp_path):
    """Rights, folders, links, and what is gone; regression: each cost honest work in a second network its points."""
    ours, came_out = tmp_path / "ours", CameOut(left={})
    ours.mkdir()
    (ours / "set_env.sh").write_bytes(b"tc")
    exchanges = []
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        number = os.open(tmp_path / name, os.O_RDONLY | os.O_DIRECTORY)
        exchanges.append(Exchange(ours, number, Room(), came_out=came_out))
        exchange, theirs = exchanges[-1], tmp_path / name
        exchange.push()
        if name == "one":
            (theirs / "d.sh").write_bytes(b"#!")
            (theirs / "out").write_bytes(b"1")
            exchange.pull()
            (theirs / "d.sh").chmod(0o755)
            (theirs / "day1").mkdir()
            (theirs / "now").symlink_to("day1")
            (theirs / "out").unlink()
            (theirs / "out").mkdir()
            (theirs / "set_env.sh").unlink()
        elif name == "two":
            assert os.access(theirs / "d.sh", os.X_OK)
            assert sorted(path.name for path in theirs.iterdir()) == ["d.sh", "day1", "now", "out"]
            assert (theirs / "now").readlink() == Path("day1")
            assert (theirs / "out").is_dir()
            (theirs / "now").unlink()
            (theirs / "out/deep").write_bytes(b"2")
            (ours / "set_env.sh").write_bytes(b"tc qdisc")  # as by a new network of ours
            exchange.push()
            exchange.pull()
        else:
            assert sorted(path.name for path in theirs.iterdir()) == ["d.sh", "day1", "out", "set_env.sh"]
            assert (theirs / "out/deep").read_bytes() == b"2"
        exchange.pull()
        exchange.end()
        os.close(number)
        assert (ours / "set_env.sh").exists() == (name != "one")
    assert contents(ours) == {"d.sh": b"#!", "out/deep": b"2", "set_env.sh": b"tc qdisc"}
    assert not any(path.is_symlink() for path in ours.rglob("*"))


@pytest.fixture
def lab_folders(folders):
    """The same with an exchange of a lab."""
    ours, theirs, number = folders
    return ours, theirs, Exchange(ours, number, Room(), came_out=CameOut(left={}))


def test_a_file_comes_out_where_a_folder_was_and_the_other_way_round(lab_folders):
    """Regression: neither did, so what was measured into it was missing."""
    ours, theirs, exchange = lab_folders
    (theirs / "a").mkdir()
    (theirs / "a/old").write_bytes(b"1")
    (theirs / "b").write_bytes(b"2")
    exchange.pull()
    shutil.rmtree(theirs / "a")
    (theirs / "a").write_bytes(b"3")
    (theirs / "b").unlink()
    (theirs / "b/deep").mkdir(parents=True)
    (theirs / "b/deep/new").write_bytes(b"4")
    exchange.pull()
    assert contents(ours) == {"a": b"3", "b/deep/new": b"4"}


def test_what_was_written_since_it_was_deleted_stays(lab_folders):
    """By us, as the script of a lab; and all where not everything could be looked at."""
    ours, theirs, exchange = lab_folders
    for name in ("kept", "gone"):
        (ours / name).write_bytes(b"1")
    exchange.push()
    for name in ("kept", "gone"):
        (theirs / name).unlink()
    exchange.pull()
    (ours / "kept").write_bytes(b"22")
    exchange.end()
    assert contents(ours) == {"kept": b"22"}


def test_where_not_all_was_looked_at_nothing_counts_as_deleted(lab_folders):
    """A folder may be too deep, or may have gone just then."""
    ours, theirs, exchange = lab_folders
    (ours / "a").write_bytes(b"1")
    exchange.push()
    (theirs / "a").unlink()
    (theirs / "/".join("d" * 20)).mkdir(parents=True)
    exchange.pull()
    exchange.end()
    assert contents(ours) == {"a": b"1"}


def test_five_hundred_links_and_folders_are_made_again(folders):
    """And those of one look are forgotten with the next: a network may make others without end."""
    ours, theirs, number = folders
    came_out = CameOut(left={})
    exchange = Exchange(ours, number, Room(), came_out=came_out)
    for turn in range(2):
        for each in range(600):
            (theirs / f"link{turn}-{each}").symlink_to("x")
            (theirs / f"folder{turn}-{each}").mkdir()
        exchange.pull()
        left = came_out.left[ours]
        assert (len(left.links), len(left.folders)) == (500, 500)
        for each in range(600):
            (theirs / f"link{turn}-{each}").unlink()
            (theirs / f"folder{turn}-{each}").rmdir()
    exchange.pull()
    assert (came_out.left[ours].links, came_out.left[ours].folders) == ({}, ())
    assert exchange._links == {}


def test_what_a_network_did_not_take_is_not_taken_for_deleted(tmp_path, monkeypatch):
    """Regression: where a first network's folder was full, the second one had no scripts either."""
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    ours.mkdir()
    theirs.mkdir()
    (ours / "mine.sh").write_bytes(b"tc")
    number = os.open(theirs, os.O_RDONLY | os.O_DIRECTORY)
    exchange = Exchange(ours, number, Room(), came_out=CameOut(left={}), own_disk=True)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(exchange, "_brought", full)
    assert exchange.push() == ["mine.sh"]
    exchange.pull()
    exchange.end()
    os.close(number)
    assert contents(ours) == {"mine.sh": b"tc"}


def test_links_of_the_network_before_lead_nowhere_outside(tmp_path):
    """They are made in the next one's folder alone; a name that is taken there stays."""
    ours, came_out = tmp_path / "ours", CameOut(left={})
    ours.mkdir()
    secret = tmp_path / "secret"
    secret.write_bytes(b"s3cret")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        number = os.open(tmp_path / name, os.O_RDONLY | os.O_DIRECTORY)
        exchange = Exchange(ours, number, Room(), came_out=came_out)
        exchange.push()
        if name == "one":
            (tmp_path / name / "a").symlink_to(secret)
            (tmp_path / name / "b").symlink_to("..")
        exchange.pull()
        if name == "two":
            assert [(tmp_path / "two" / name).readlink() for name in "ab"] == [secret, Path("..")]
            (ours / "a").write_bytes(b"ours")
            (ours / "b").mkdir()
            (ours / "b/ours").write_bytes(b"x")
            with pytest.raises(OSError, match=r"(Not a directory|symbolic)"):
                exchange.push()
        os.close(number)
    assert (tmp_path / "two/a").read_bytes() == b"ours"
    assert secret.read_bytes() == b"s3cret"
    assert not (tmp_path / "ours/ours").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "ours", "secret", "two"]


def test_links_pipes_and_folders_that_lead_elsewhere_stay_inside(folders, tmp_path):
    """Nothing outside is read for them or written by them, and nobody waits for a pipe."""
    ours, theirs, number = folders
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "course").write_bytes(b"s3cret")
    exchange = Exchange(ours, number, Room())
    (ours / "in").mkdir()
    (ours / "in/a").write_bytes(b"ours")
    exchange.push()
    shutil.rmtree(theirs / "in")
    (theirs / "in").symlink_to(secret)
    (theirs / "state.json").symlink_to(secret / "course")
    (theirs / "all").symlink_to("/")
    os.mkfifo(theirs / "pipe")
    (theirs / "ok").write_bytes(b"1")
    exchange.pull()
    assert contents(ours) == {"in/a": b"ours", "ok": b"1"}
    assert not any(path.is_symlink() or path.is_fifo() for path in ours.rglob("*"))
    (ours / "in/a").write_bytes(b"again")
    with pytest.raises(OSError, match=r"(Not a directory|symbolic)"):
        exchange.push()
    assert contents(secret) == {"course": b"s3cret"}


def test_a_file_goes_in_beside_a_link_of_the_same_name(folders, tmp_path):
    """What is brought in replaces the link; what it pointed to keeps its contents."""
    ours, theirs, number = folders
    (tmp_path / "secret").write_bytes(b"s3cret")
    (theirs / "restore.sh").symlink_to(tmp_path / "secret")
    (ours / "restore.sh").write_bytes(b"tc")
    Exchange(ours, number, Room()).push()
    assert (tmp_path / "secret").read_bytes() == b"s3cret"
    assert not (theirs / "restore.sh").is_symlink()


def test_what_could_not_be_written_whole_is_not_there(folders):
    """Half a file would come out as theirs.  Here a limit of our own leaves no room, which is an error of ours."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room(), own_disk=True)
    (ours / "large").write_bytes(bytes(9000))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (5000, before[1]))
    try:
        with pytest.raises(OSError, match="too large"):
            exchange.push()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert contents(theirs) == {}


@pytest.mark.parametrize(
    ("own_disk", "number", "ends"),
    [
        (True, errno.ENOSPC, False),
        (False, errno.ENOSPC, True),  # a disk that others fill, too
        (True, errno.EMFILE, True),
        *((own, number, False) for own in (True, False) for number in (errno.ENOENT, errno.EEXIST, errno.EACCES)),
    ],
)
def test_only_what_fails_on_our_side_is_an_error_of_ours(own_disk, number, ends, folders, monkeypatch):
    """Regression: a program that makes and removes the name meanwhile got no mark instead of 0 points."""

    def fails(*_):
        raise OSError(number, "refused")

    ours, _, theirs = folders
    (ours / "small").write_bytes(b"1")
    exchange = Exchange(ours, theirs, Room(), own_disk=own_disk)
    monkeypatch.setattr(exchange, "_brought", fails)
    with pytest.raises(OSError, match="refused") if ends else contextlib.nullcontext():
        assert exchange.push() == ["small"]


def test_a_folder_of_theirs_that_is_not_there_any_more_takes_nothing(folders):
    """Regression: a lab whose working folder was removed from outside its mount was an error of ours."""
    ours, theirs, number = folders
    theirs.rmdir()
    (ours / "small").write_bytes(b"1")
    exchange = Exchange(ours, number, Room(), own_disk=True)
    assert exchange.push() == ["small"]
    assert exchange.pull() == []
    assert contents(ours) == {"small": b"1"}


def test_only_as_much_comes_out_as_there_is_room_for(folders):
    """The smallest come first, and the rest is named; odd names and endless folders do not."""
    ours, theirs, number = folders
    (theirs / "big").write_bytes(bytes(1000))
    (theirs / "state.json").write_bytes(b"{}")
    (theirs / "a\x1bb").write_bytes(b"")
    below = theirs
    for _ in range(30):
        below /= "d"
        below.mkdir()
    (below / "deep").write_bytes(b"")
    assert Exchange(ours, number, Room(files=10, size=500)).pull() == ["big"]
    assert contents(ours) == {"state.json": b"{}"}


def test_of_many_files_few_come_out(folders):
    """Neither time nor memory is taken by those that do not."""
    ours, theirs, number = folders
    for i in range(100):
        (theirs / f"f{i}").touch()
    Exchange(ours, number, Room(files=7)).pull()
    assert len(contents(ours)) == 7


def test_folders_count_as_files_do_in_what_is_looked_at(folders, monkeypatch):
    """Regression: a lab of 22 kB made 19,000 folders, and looking through them after each line took 300 s of ours."""
    ours, theirs, number = folders
    for i in range(20):
        for j in range(20):
            (theirs / f"{i:02}/{j:02}").mkdir(parents=True)
    (theirs / "00/19/in-sight").write_bytes(b"1")
    (theirs / "19/beyond").write_bytes(b"2")
    opened = []
    monkeypatch.setattr(
        os, "open", lambda name, *args, opens=os.open, **more: opened.append(name) or opens(name, *args, **more)
    )
    Exchange(ours, number, Room(files=50)).pull()
    assert contents(ours) == {"00/19/in-sight": b"1"}
    assert len(opened) < 100


def test_a_file_that_is_written_again_comes_out_again(folders):
    """Regression: within one second of the network's clock, as hostfs says it, with as many bytes, it did not."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room())
    for content in (b"0", b"1", b"2", b"3"):
        (theirs / "y").write_bytes(content)
        os.utime(theirs / "y", (1_000_000_000, 1_000_000_000))
        exchange.pull()
        assert contents(ours) == {"y": content}


def test_what_came_out_and_was_deleted_counts(folders):
    """Regression: the lines of a lab, each of which deleted the files before it, filled the disk of the grader."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room(files=5, size=1000))

    def out():
        exchange.pull()
        return len(contents(ours)), sum(map(len, contents(ours).values()))

    for line in range(9):
        for path in theirs.iterdir():
            path.unlink()
        (theirs / f"{line}.txt").write_bytes(b"x" * 300)
        assert out() == (min(line + 1, 3), 300 * min(line + 1, 3))
    (theirs / "0.txt").write_bytes(b"y" * 900)  # beyond the room: what came out before stays
    assert out() == (3, 900)
    for line in range(4):
        (theirs / f"small-{line}.txt").write_bytes(b"z" * 10)
        assert out() == (3 + min(line + 1, 2), 900 + 10 * min(line + 1, 2))


def test_a_file_that_changes_again_and_again_does_not_come_out_without_end(folders):
    """Regression: a file of 60 MB, touched after each line of a lab, was written to the grader's disk each time."""
    ours, theirs, number = folders
    exchange = Exchange(ours, number, Room(size=100, written=250))
    for line in range(5):
        (theirs / "f").write_bytes(bytes([line]) * 100)
        os.utime(theirs / "f", ns=(line, line))
        assert exchange.pull() == ([] if line < 2 else ["f"])
    assert contents(ours) == {"f": bytes([1]) * 100}


def test_what_comes_out_of_one_network_counts_for_the_next(folders):
    """Regression: a lab of a kilobyte that began network after network wrote 457 MiB to the grader's disk with each."""
    ours, theirs, number = folders
    came_out = CameOut()
    (theirs / "f").write_bytes(bytes(100))
    for network in "abc":
        (ours / network).mkdir()
        Exchange(ours / network, number, Room(size=100, written=250), came_out=came_out).pull()
    assert contents(ours) == {"a/f": bytes(100), "b/f": bytes(100)}
    assert came_out.full
    (theirs / "g").write_bytes(bytes(1))
    (ours / "d").mkdir()
    beside = CameOut()
    assert Exchange(ours / "d", number, Room(size=100), came_out=beside).pull() == ["f"]
    assert not beside.full  # what has no room at once is no flood
    engine = sandbox.SandboxEngine()
    options = {"workdir": ours, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    first, second = engine._network(**options), engine.within(1.0)._network(**options)
    assert first.came_out is second.came_out


def test_nothing_but_a_small_plain_file_is_read(tmp_path):
    """A link, a pipe, a file too large and one that is not there are none."""
    (tmp_path / "a").write_bytes(b"h\xffi")
    (tmp_path / "link").symlink_to("a")
    os.mkfifo(tmp_path / "pipe")
    found = {name: read_bounded(tmp_path / name, 3) for name in ("a", "link", "pipe", "none")}
    assert found == {"a": "h\ufffdi", "link": None, "pipe": None, "none": None}
    assert read_bounded(tmp_path / "a", 2) is None


def test_a_network_whose_files_did_not_all_come_out_has_not_answered(folders):
    """Regression: its answer was kept for others who measure the same, until a look at the limits ended the network."""
    ours, theirs, number = folders
    options = {"workdir": ours, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    network = sandbox.SandboxNetwork(Limits(room=Room(written=250)), None, **options)
    network._exchange = network._exchanged(number)
    with network._carrying():
        (theirs / "f").write_bytes(bytes(200))
    with (
        pytest.raises(OverusedError, match="came out of the networks, and the network was stopped"),
        network._carrying(),
    ):
        (theirs / "g").write_bytes(bytes(100))
    assert contents(ours) == {"f": bytes(200)}
    with pytest.raises(EngineError, match="the agent is gone"), network._carrying():
        raise EngineError("the agent is gone")


@pytest.mark.parametrize(
    ("number", "why"),
    [(errno.ENOSPC, "what the network wrote cannot be kept: No space left on device"), (errno.ENOTDIR, None)],
)
def test_a_full_disk_is_no_file_that_was_not_written(folders, monkeypatch, number, why):
    """Regression: what the grader's own disk had no room for was left out without a word, as what has gone is."""
    ours, theirs, work = folders
    options = {"workdir": ours, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    network = sandbox.SandboxNetwork(Limits(), None, **options)
    network._exchange = network._exchanged(work)
    (theirs / "f").write_bytes(b"x")

    def fails(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "write_bytes", fails)
    with pytest.raises(EngineError, match=why) if why else contextlib.nullcontext(), network._carrying():
        pass
    assert contents(ours) == {}
    monkeypatch.undo()
    with network._carrying():
        (theirs / "g").write_bytes(b"y")
    assert contents(ours) == {"f": b"x", "g": b"y"}


def test_limits_are_looked_at_while_files_are_carried(tmp_path):
    """Regression: carrying a large tree took 11 s, and for as long nobody looked at memory or processor time."""
    options = {"workdir": tmp_path, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    network = sandbox.SandboxNetwork(Limits(files=-1), None, **options)
    network._shared.append(os.open(tmp_path, os.O_RDONLY))
    looked = threading.Thread(target=network._overfull, daemon=True)
    with network._exchanges:
        looked.start()
        looked.join(20)
        assert not looked.is_alive()
    network.close()


# --- words from inside


@pytest.mark.parametrize(
    ("line", "believed"),
    [
        (b'{"event": "started", "pid": 1, "run_dir": "/home"}', [{"event": "started", "pid": None}]),
        (b'{"event": "ended", "code": 0, "console": "x"}', [{"event": "ended", "console": "x", "code": 0}]),
        (b'{"event": "ended", "console": {"a": 1}}', [{"event": "ended", "console": "{'a': 1}", "code": None}]),
        (b'{"event": "ended", "console": "", "code": "x"}', [{"event": "ended", "console": "", "code": None}]),
        (b'{"event": "clock", "clock": {}}', []),
        (b"[" * 100_000, []),
        (b"[]", []),
        (b"\xff", []),
    ],
)
def test_a_keeper_in_a_sandbox_names_no_folder_to_remove(line, believed):
    """What it says may come from the submission, and only what can do no harm is taken."""
    assert list(keepers_word(line)) == believed


WHOLE = {"terminal": "h1", "text": "true", "output": "", "exit_status": 0, "start_s": 0.0, "end_s": 1}


@pytest.mark.parametrize(
    "lie",
    [
        {"output": ["a"]},
        {"terminal": None},
        {"text": 7},
        {"exit_status": "0"},
        {"exit_status": True},
        {"exit_status": 256},
        {"exit_status": 10**4000},
        {"start_s": float("nan")},
        {"end_s": 10**400},
    ],
)
def test_a_part_of_an_answer_that_is_no_such_part_makes_it_none(lie):
    """Regression: a status that was a text of any length stood in the report."""
    with pytest.raises(EngineError, match=r"is no answer: (TypeError|OverflowError)$"), believing_nothing():
        answers([Completed(**WHOLE | lie)], 1)


NESTED = []
for _ in range(50_000):
    NESTED = [NESTED]
FAILED = {"node": "h1", "command": "false", "status": 1, "output": ""}


@pytest.mark.parametrize(
    "lie",
    [
        {"nodes": 5},
        {"nodes": ["h1", None]},
        {"tools": ["tc"]},
        {"tools": {"tc": NESTED}},
        {"failed": [FailedCommand(**FAILED | {"output": 5})]},
        {"failed": [FailedCommand(**FAILED | {"node": NESTED})]},
        {"failed": [FailedCommand(**FAILED | {"command": ["false"]})]},
        {"failed": [FailedCommand(**FAILED | {"status": "1"})]},
        {"ready_s": "soon"},
    ],
)
def test_what_is_said_of_a_network_that_was_built_is_believed_only_where_it_has_the_types(lie):
    """Regression: a start command that said it in the agent's name ended grading with an AttributeError."""
    said = {"nodes": ["h1"], "failed": [FailedCommand(**FAILED)], "tools": {"tc": "iproute2-6.1.0"}, "ready_s": 1.5}
    built(**said)
    built(**said | {"failed": [FailedCommand(**FAILED | {"status": None})]})
    with pytest.raises(EngineError, match=r"is no answer: TypeError$"), believing_nothing():
        built(**said | lie)


def test_as_many_answers_come_as_were_asked_for():
    """Regression: an empty list of answers was an error of the grader's."""
    done = [Completed(**WHOLE | {"exit_status": None})]
    assert answers(done, 1) == done
    for count in (0, 2):
        with pytest.raises(EngineError, match="is no answer: ValueError"), believing_nothing():
            answers(done, count)


# --- where there is none


@pytest.mark.parametrize(
    ("settings", "cure"),
    [
        ({"kernel.unprivileged_userns_clone": "0"}, "sudo sysctl -w kernel.unprivileged_userns_clone=1"),
        ({"user.max_user_namespaces": "0"}, "sudo sysctl -w user.max_user_namespaces=15000"),
        (
            {"kernel.apparmor_restrict_unprivileged_userns": "1", "user.max_user_namespaces": "9"},
            "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or allow bwrap `userns,` in AppArmor",
        ),
    ],
)
def test_a_machine_that_denies_user_namespaces_is_told_the_setting(settings, cure):
    """The setting that denies them is named with its cure."""
    ((name, value), *_) = settings.items()
    assert bubblewrap.explain("bwrap: No permissions", settings) == (
        "submissions are graded in a sandbox, which cannot be had here: "
        f"this machine denies user namespaces ({name} = {value}): {cure}"
    )


def test_a_denial_of_another_kind_quotes_bubblewrap():
    """A container's filter shows in no setting."""
    said = bubblewrap.explain("bwrap: Creating new namespace failed: Operation not permitted\nmore", {})
    assert "Creating new namespace failed: Operation not permitted. User namespaces seem to be denied" in said
    assert "--security-opt seccomp=unconfined" in said


def test_an_old_bubblewrap_is_told_from_a_denial():
    """Before 0.7 it cannot limit what is written."""
    said = bubblewrap.explain("bwrap: Unknown option --size", {"user.max_user_namespaces": "0"})
    assert said.endswith("too old (bwrap: Unknown option --size): install version 0.7 or a later one")


def test_without_bubblewrap_nothing_starts(monkeypatch, tmp_path):
    """It is named with the command that installs it; no submission is run without it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    with pytest.raises(MissingError, match="bubblewrap is not installed: sudo apt-get install bubblewrap"):
        sandbox.SandboxEngine().check()


@pytest.mark.parametrize(
    ("options", "groups", "found"),
    [
        ("rw", [1000], ""),
        ("rw,hidepid=off", [1000], ""),
        ("rw,hidepid=invisible", [1000], "hidepid=invisible"),
        ("rw,hidepid=2", [1000, 5], "hidepid=2"),  # before Linux 5.8
        ("rw,gid=5,hidepid=noaccess", [1000], "hidepid=noaccess"),
        ("rw,gid=5,hidepid=noaccess", [1000, 5], ""),
        ("rw,hidepid=invisible", [1000, 0], ""),  # the group is root's
        ("rw,gid=5,hidepid=ptraceable", [1000, 5], "hidepid=ptraceable"),
    ],
)
def test_processes_that_are_hidden_cannot_be_graded(options, groups, found, monkeypatch):
    """Regression: what hid itself took memory and processor time that were in no sum; root sees all."""
    mounts = "\n".join(
        (
            "29 30 0:26 / /proc rw,relatime - proc proc rw,hidepid=invisible",
            f"57 29 0:47 / /proc rw,relatime - proc proc {options}",
            "58 30 0:48 / /proc2 rw,relatime shared:3 - proc proc rw,hidepid=invisible",
        )
    )
    monkeypatch.setattr(bubblewrap, "user_number", lambda: 1000)
    assert bubblewrap.hidden_by(mounts, groups) == found
    monkeypatch.setattr(bubblewrap, "user_number", lambda: 0)
    assert bubblewrap.hidden_by(mounts, groups) == ""


def test_a_machine_that_hides_processes_is_told_the_cure(monkeypatch):
    """Nothing is graded whose limits nobody can see."""
    monkeypatch.setattr(bubblewrap, "hidden_by", lambda *_: "hidepid=invisible")
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(Path("linux"), "7.3.4", "0", {}))
    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/bwrap")
    with pytest.raises(MissingError) as refused:
        sandbox.SandboxEngine().check()
    assert str(refused.value) == (
        "submissions are graded in a sandbox, and this machine hides processes from you (/proc has hidepid=invisible), "
        "so limits of memory and processor time could not be held: "
        "sudo mount -o remount,hidepid=0 /proc, join the group that its gid= names, or grade as root"
    )


def test_a_bubblewrap_that_is_denied_is_quoted(monkeypatch, tmp_path):
    """It is tried out, and what it says is in the error."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(program, "7.3.4", "0", {}))
    monkeypatch.setattr(bubblewrap, "settings", dict)
    monkeypatch.setattr(bubblewrap, "_tried_as_another", lambda: bubblewrap._Trial("denied"))  # whose cache stays
    monkeypatch.setattr(bubblewrap, "_why_not_here", lambda: "")
    monkeypatch.setattr(bubblewrap, "_is_machines_root", lambda: False)
    with pytest.raises(MissingError, match="bwrap: No permissions to create new namespace"):
        sandbox.SandboxEngine().check()


def test_a_python_that_the_sandbox_does_not_show_is_refused(monkeypatch, tmp_path):
    """Linklab's own commands would not run there, and plots and what needs them be lost without a word."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").touch()
    monkeypatch.setattr(bubblewrap, "virtual_environment", lambda: tmp_path)
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(Path("/k/linux"), "7.3.4", "0", {}))
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/bwrap")
    monkeypatch.setattr(bubblewrap, "_why_none_runs", lambda _: None)
    assert bubblewrap.why_not() == (
        f"submissions are graded in a sandbox, which shows what lies in /usr, and the Python of {tmp_path}, with which "
        "Linklab's own commands run there, does not: install Linklab for the machine's own Python, as `make setup` does"
    )
    (tmp_path / "bin/python").unlink()
    (tmp_path / "bin/python").symlink_to("/usr/bin/python3")
    assert bubblewrap.why_not() is None


def test_a_clone_that_the_sandbox_cannot_read_is_named(monkeypatch, tmp_path):
    """Regression: it said that user namespaces seem to be denied."""
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho '/code/linklab/agent/agent.py cannot be read' >&2\nexit 77\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(program, "7.3.4", "0", {}))
    monkeypatch.setattr(bubblewrap, "_tried_as_another", lambda: bubblewrap._Trial("denied"))
    monkeypatch.setattr(bubblewrap, "_why_not_here", lambda: "")
    monkeypatch.setattr(bubblewrap, "_is_machines_root", lambda: False)
    monkeypatch.setattr(bubblewrap, "packages", lambda: Path("/v"))
    assert bubblewrap.why_not() == (
        "submissions are graded in a sandbox, and its user cannot read what the network needs "
        f"(/code/linklab/agent/agent.py cannot be read; /code there is {PACKAGE.parent} here, "
        f"/kernel is {tmp_path}, and /code/venv is /v): "
        "chmod -R o+rX these folders"
    )


GRADED = "submissions are graded in a sandbox, and "


@pytest.mark.parametrize(
    ("another", "alone", "why"),
    [
        (("", False), "", None),
        (
            ("/code/linklab/agent/agent.py cannot be read", True),
            "",
            f"{GRADED}its user cannot read what the network needs (/code/linklab/agent/agent.py cannot be read; "
            f"/code there is {PACKAGE.parent} here, /kernel is /k, and /code/venv is /v): chmod -R o+rX these folders",
        ),
        (
            ("setresuid: Operation not permitted", False),
            "",
            f"{GRADED}root can give it no other user here (setresuid: Operation not permitted): "
            "grade as an ordinary user",
        ),
        (("bwrap: too old", False), "bwrap: too old", bubblewrap.explain("bwrap: too old", {})),
    ],
    ids=["another user", "a closed clone", "no other user", "no bubblewrap that works"],
)
def test_the_machines_root_grades_as_another_user_or_not_at_all(another, alone, why, monkeypatch):
    """Regression: networks ran as root instead, to whom the machine's devices belong: work.sh could chmod /dev/null."""
    monkeypatch.setattr(pocket_kernel, "find", lambda: pocket_kernel.Kernel(Path("/k/linux"), "7.3.4", "0", {}))
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/bwrap")
    monkeypatch.setattr(bubblewrap, "settings", dict)
    monkeypatch.setattr(bubblewrap, "_why_not_here", lambda: "")
    monkeypatch.setattr(bubblewrap, "another_user", lambda: None)
    monkeypatch.setattr(bubblewrap, "_tried_as_another", lambda: bubblewrap._Trial(*another))
    monkeypatch.setattr(bubblewrap, "_tried", lambda *_: bubblewrap._Trial(alone))
    monkeypatch.setattr(bubblewrap, "_is_machines_root", lambda: True)
    monkeypatch.setattr(bubblewrap, "packages", lambda: Path("/v"))
    assert bubblewrap.why_not() == why
    monkeypatch.setattr(bubblewrap, "_is_machines_root", lambda: False)
    assert bubblewrap.why_not() == (bubblewrap.explain(alone, {}) if alone else None)


@pytest.mark.parametrize(
    ("user", "why"), [(1000, "newuidmap is not installed"), (0, "not all numbers are ours"), (0, "")]
)
def test_who_grades_a_class_is_told_that_networks_share_a_user(user, why, monkeypatch, capsys):
    """Before anything begins, with the cure; not where each has one, nor of one submission."""
    monkeypatch.setattr(grade_command.os, "geteuid", lambda: user)
    monkeypatch.setattr(grade_command, "why_no_subordinates", lambda: why if user else "nobody asked")
    monkeypatch.setattr(grade_command, "why_no_other_user", lambda: "nobody asked" if user else why)
    asked = SimpleNamespace(cluster="", container=False, trusted=False)
    assert grade_command._gives_own_users(asked, 1) == (not why)
    assert capsys.readouterr().err == ""
    assert grade_command._gives_own_users(asked, 2) == (not why)
    assert capsys.readouterr().err == (
        f"linklab: no network can have a user of its own ({why}), so all run as you and share the limits that "
        "Linux sets for each user. For the cure see docs/troubleshooting.md, sandbox.\n"
        if why
        else ""
    )


def test_why_root_gives_no_other_user_is_told(monkeypatch):
    """The doctor says it, because what is run as root's number opens more of the machine."""
    monkeypatch.setattr(bubblewrap.os, "geteuid", lambda: 0)
    monkeypatch.setattr(bubblewrap, "why_no_other_user", lambda: "/kernel/linux cannot be read")
    assert bubblewrap.another_user() is None
    assert bubblewrap.as_whom() == (
        "as root without a capability, in a user namespace, because no other user can be given "
        "(/kernel/linux cannot be read); grade as an ordinary user to keep root's number out"
    )


def test_a_trial_that_takes_too_long_is_no_answer(monkeypatch):
    """Regression: the first network of a busy machine ended with an error of subprocess's own."""

    def slow(command, **options):
        raise subprocess.TimeoutExpired(command, options["timeout"])

    monkeypatch.setattr(bubblewrap.subprocess, "run", slow)
    with pytest.raises(MissingError, match=r"within 120 s; try again when the machine is less busy"):
        bubblewrap._tried(Path("/kernel"), 2**30)


def arguments(command):
    """What bubblewrap reads from the open file that it is given."""
    return os.pread(int(command[command.index("--args") + 1]), 2**20, 0).decode().split("\0")


def test_what_is_installed_below_usr_stays_outside(monkeypatch):
    """A clone is not seen inside; an installation would be, since /usr is, with its solutions and hidden checks."""
    monkeypatch.setattr(installation, "ROOT", Path("/usr/lib/linklab"))
    with bubblewrap.sandbox(Path("/kernel"), Limits(), None) as (started, _):
        command = arguments(started)
        hides = command.index("/usr/lib/linklab")
        assert command[hides - 1 : hides + 3] == ["--tmpfs", "/usr/lib/linklab", "--remount-ro", "/usr/lib/linklab"]
        assert hides > command.index("/usr")
    monkeypatch.setattr(installation, "ROOT", Path("/home/anna/linklab"))
    with bubblewrap.sandbox(Path("/kernel"), Limits(), None) as (command, _):
        assert "/home/anna/linklab" not in arguments(command)


def test_an_installation_stays_outside_also_where_a_clone_grades(monkeypatch, tmp_path):
    """Regression: the solutions of `make install` were there to be read."""
    (tmp_path / "usr/local/lib/linklab").mkdir(parents=True)
    (tmp_path / "usr/lib/linklab-student").mkdir(parents=True)
    (tmp_path / "usr/lib/x86_64").mkdir()
    monkeypatch.setattr(bubblewrap, "INSTALLED_IN", (tmp_path / "usr/lib", tmp_path / "usr/local/lib"))
    found = [tmp_path / "usr/lib/linklab-student", tmp_path / "usr/local/lib/linklab"]
    assert bubblewrap.installed() == found
    with bubblewrap.sandbox(Path("/kernel"), Limits(), None) as (started, _):
        command = arguments(started)
        for folder in map(str, found):
            hides = command.index(folder)
            assert command[hides - 1 : hides + 3] == ["--tmpfs", folder, "--remount-ro", folder]


def test_what_lies_below_usr_is_shown_but_for_installations(monkeypatch, tmp_path):
    """A link to it is as good."""
    monkeypatch.setattr(installation, "ROOT", Path("/usr/lib/linklab"))
    (tmp_path / "link").symlink_to("/usr/share")
    places = [
        Path("/usr/lib/linklab/exercises"),
        Path("/usr/local/c.toml"),
        tmp_path / "link/x",
        tmp_path,
        Path("/usrx"),
    ]
    assert bubblewrap.shown(places) == [Path("/usr/local/c.toml"), tmp_path / "link/x"]


def test_what_lies_in_folders_of_etc_that_programs_read_is_shown():
    """Regression: a course file in /etc/sysctl.d was read."""
    places = [Path("/etc/sysctl.d/c.toml"), Path("/etc/course/c.toml"), Path("/etc/hosts")]
    assert bubblewrap.shown(places) == [Path("/etc/sysctl.d/c.toml")]


@pytest.mark.parametrize("place", ["linklab/grades", "scripts", "exercises/c.toml", "kernel/modules/c.toml"])
def test_what_lies_in_linklabs_own_folders_is_shown_but_for_exercises(monkeypatch, tmp_path, place):
    """Regression: results in a clone's scripts/ were read by the next submission, the secret of a course file too."""
    monkeypatch.setattr(bubblewrap, "PACKAGE", tmp_path / "linklab")
    monkeypatch.setattr(bubblewrap, "_SCRIPTS", tmp_path / "scripts")
    monkeypatch.setattr(pocket_kernel, "find", lambda: SimpleNamespace(path=tmp_path / "kernel/linux"))
    seen = [] if place.startswith("exercises") else [tmp_path / place]
    assert bubblewrap.shown([tmp_path / place]) == seen


def test_accounts_of_people_stay_outside():
    """The system's own stay, without remarks, passwords, and members; what is no line of a table goes."""
    accounts = (
        "root:x:0:0:Prof. Ada:/root:/bin/bash\n"
        "tcpdump:x:103:106::/nonexistent:/usr/sbin/nologin\n"
        "ada:x:1000:1000:Ada Lovelace,,,:/home/ada:/bin/bash\n"
        "old:$6$hash:998:998::/:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
        "+@staff\n"
    )
    assert bubblewrap.without_people(accounts) == (
        "root:x:0:0::/root:/bin/bash\n"
        "tcpdump:x:103:106::/nonexistent:/usr/sbin/nologin\n"
        "old:x:998:998::/:/bin/sh\n"
        "nobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n"
    )
    assert bubblewrap.without_people("sudo:x:27:ada,alan\nada:x:1000:\n") == "sudo:x:27:\n"


# --- limits


def test_a_look_that_takes_long_is_followed_by_a_longer_rest(monkeypatch, tmp_path):
    """Regression: looks at thousands of idle processes took a fifth of the time, more in half an hour than we have."""
    rests: list[float] = []

    def rest(seconds):
        rests.append(seconds)
        return len(rests) == 3

    def look():
        until_s = time.thread_time() + 0.1 * len(rests)
        while time.thread_time() < until_s:
            pass
        return Taken()

    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    network = sandbox.SandboxNetwork(
        Limits(), None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1, profile="desktop", memory_mib=16
    )
    network.link = SimpleNamespace(taken_s=0.0)
    network._gone = SimpleNamespace(wait=rest)
    monkeypatch.setattr(network, "_look", look)
    network._watch(network._excess, PROCESSES)
    assert rests == [0.25, pytest.approx(1, rel=0.4), pytest.approx(2, rel=0.4)]


def test_a_network_of_which_too_much_computes_in_two_looks_is_stopped(monkeypatch, tmp_path):
    """Regression: 3,500 busy threads shared the lock of /usr/bin, so that nobody else could list it for minutes."""
    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    network = sandbox.SandboxNetwork(
        Limits(), None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1, profile="desktop", memory_mib=16
    )
    network.link = SimpleNamespace(taken_s=0.0)
    busy = iter((17, 16, 17, 17))
    monkeypatch.setattr(network, "_look", lambda: Taken(busy=next(busy)))
    why = "the network had more than 16 programs of the machine compute at once and was stopped"
    assert [network._excess(1) for _ in range(4)] == ["", "", "", why]


@pytest.mark.parametrize(("computes", "ends"), [(False, True), (True, False)])
def test_a_network_that_cannot_be_looked_at_is_stopped(monkeypatch, tmp_path, computes, ends):
    """Regression: in a container programs held the lock of /proc, and no limit was looked at for half a minute.

    A look that computes goes on, however long it takes on a busy machine.
    """
    told, looking, end = [], threading.Event(), threading.Event()

    def look():
        looking.set()
        while not end.wait(0 if computes else 60):
            pass
        return Taken()

    def wait(_):
        time.sleep(0.02)
        waits.append(looking.is_set())
        return bool(told) or waits.count(True) > 12

    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    monkeypatch.setattr(sandbox, "_LOOK_WITHIN", 5)
    network = sandbox.SandboxNetwork(
        Limits(), None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1, profile="desktop", memory_mib=16
    )
    waits: list[bool] = []
    network.link = SimpleNamespace(taken_s=0.0, end=lambda why, whose: told.append((why, whose)))
    network._control = SimpleNamespace(shutdown=lambda how: None)
    network._gone = SimpleNamespace(wait=wait)
    monkeypatch.setattr(network, "_look", look)
    looker = threading.Thread(target=network._excess, args=(0,))
    looker.start()
    looking.wait(60)
    network._watch_looks()
    end.set()
    looker.join()
    assert told == ([("the network kept itself from being looked at, and was stopped", OverusedError)] if ends else [])
    assert network._looking_at == 0


def test_a_network_that_does_nothing_at_request_after_request_is_ended(monkeypatch, tmp_path):
    """Regression: each line of a lab was waited for three minutes, so one place of a class was held for 24."""
    told = []
    monkeypatch.setattr(pocket_kernel, "require", lambda: None)
    network = sandbox.SandboxNetwork(
        Limits(), None, workdir=tmp_path, clock=Clock.VIRTUAL, seed=1, profile="desktop", memory_mib=16
    )
    network.link = SimpleNamespace(taken_s=0.0, end=lambda why, whose: told.append((why, whose)))
    network._control = SimpleNamespace(shutdown=lambda how: None)
    network._gone = SimpleNamespace(wait=lambda seconds: bool(told))
    monkeypatch.setattr(network, "_look", Taken)
    monkeypatch.setattr(network, "used_s", lambda: network._used_s)
    assert list(network._patience(180.0)) == [180.0]
    assert network._excess(1) == ""
    network._used_s += 100.0
    waits = network._patience(180.0)
    next(waits)
    network._used_s += 100.0
    assert [next(waits), network._idle_s] == [80.0, 180.0]
    waits.close()
    assert list(network._patience(180.0)) == [180.0]
    network._watch(network._excess, PROCESSES)
    assert told == [("the network did nothing for 360 s and was stopped", EngineError)]


def test_a_network_is_never_ours_where_others_have_users_of_their_own(monkeypatch):
    """Regression: where no namespace could be made for one submission, its networks ran as who grades, in silence."""
    monkeypatch.setattr(sandbox, "another_user", lambda: None)
    with pytest.raises(MissingError, match=r"^no user of its own could be given to a network, though there was one "):
        sandbox.SandboxEngine(own_users=True)._network()
    with pytest.raises(MissingError, match=r"^no user of its own could be given"):
        grading_engine(sandboxed=True, own_users=True)._network()
    asked = []
    monkeypatch.setattr(unit, "grade", lambda _bundle, _course, engine, *_: asked.append(engine.own_users))
    for own_users in (True, False):
        grade_in_pocket(Path("a.zip"), None, own_users=own_users)
    assert asked == [True, False]
    monkeypatch.setattr(sandbox, "SandboxNetwork", lambda _, user: SimpleNamespace(user=user))
    assert sandbox.SandboxEngine()._network().user is None


@pytest.mark.parametrize(("used_s", "left_s"), [(0.0, 300.0), (700.0, 200.0), (895.0, 10.0), (950.0, 10.0)])
def test_a_network_has_time_to_be_set_up_whatever_the_others_used(used_s, left_s):
    """Regression: the network after those that used all had 1 s, in which setting it up ended as an error of ours."""
    engine = sandbox.SandboxEngine(Limits())
    engine._networks = [SimpleNamespace(used_s=lambda: used_s)]
    assert engine.left_s() == left_s
    assert engine.within(4.0).left_s() == 4.0


def test_there_is_no_network_after_those_that_used_far_more_than_all_may():
    """A lab's progress may say that ten thousand networks began."""
    engine = sandbox.SandboxEngine(Limits())
    engine._networks = [SimpleNamespace(used_s=lambda: 100.0)] * 10
    with pytest.raises(OverusedError, match=r"^the networks took more than 900 s of processor time together$"):
        engine.left_s()


@pytest.mark.parametrize(
    ("deadline_s", "used_s", "waits_s"),
    [
        (120.0, [17.0, 70.0, 130.0], [120.0, 113.0, 60.0]),  # slowly: until it has used what the deadline has
        (120.0, [11.0], [120.0]),  # 1 s of 120: it waits for what does not come
        (120.0, [30.0, 30.5], [120.0, 100.0]),
        (120.0, [200.0], [120.0]),
        (1800.0, [13.0], [300.0]),  # regression: half an hour was waited for a network that did nothing
        (1800.0, [310.0, 610.0, 615.0], [300.0, 300.0, 300.0]),
    ],
)
def test_a_request_waits_while_the_network_computes(deadline_s, used_s, waits_s):
    """A deadline counts the network's processor time, and wall-clock time only while it does nothing."""
    told = iter(used_s)
    assert list(sandbox.patience(deadline_s, 10.0, lambda: next(told))) == waits_s


def test_a_folder_in_the_place_of_a_file_leaves_nothing_open(folders):
    """Regression: each look at one that was exchanged in between left its number open, up to the last."""
    ours, theirs, number = folders
    (theirs / "f").mkdir()
    exchange = Exchange(ours, number, Room())
    gc.collect()  # what tests before this one left open is closed now, and not while we count
    before = len([*Path("/proc/self/fd").iterdir()])
    for _ in range(5):
        with pytest.raises(IsADirectoryError):
            exchange._take("f", (1, 1, 1, 1))
    assert len([*Path("/proc/self/fd").iterdir()]) == before


def test_a_folder_in_the_place_of_a_file_of_ours_stops_the_network(folders):
    """It is no error of ours."""
    ours, theirs, number = folders
    options = {"workdir": ours, "clock": Clock.VIRTUAL, "seed": 1, "profile": "desktop", "memory_mib": 64}
    network = sandbox.SandboxNetwork(Limits(), None, **options)
    network._exchange = network._exchanged(number)
    (ours / "work.sh").write_text("true\n")
    (theirs / "work.sh").mkdir()
    said = "no file can be brought into the network: Is a directory"
    with pytest.raises(OverusedError, match=said), network._carrying():
        pass


def test_three_lines_that_do_not_end_come_before_all_other_ends_of_a_lab():
    """Otherwise nobody would be told which lines they were."""
    assert 3 * LINE_WALL_S < LAB_S < HANG_S


@pytest.mark.parametrize(
    ("user", "processes", "signals", "most"),
    [
        (0, 150, 150, None),
        (1000, resource.RLIM_INFINITY, resource.RLIM_INFINITY, None),
        (1000, 95_000, resource.RLIM_INFINITY, 46),
        (1000, 95_000, 512, 2),
        (1000, 150, 95_000, 1),
    ],
)
def test_no_more_networks_run_at_once_than_the_users_limits_have_room_for(monkeypatch, user, processes, signals, most):
    """Regression: beside a program that held a user's processes, a network of 77 points got 5."""
    hard = {resource.RLIMIT_NPROC: processes, resource.RLIMIT_SIGPENDING: signals}
    monkeypatch.setattr(os, "geteuid", lambda: user)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (0, hard[kind]))
    assert most_at_once() == most


@pytest.mark.parametrize(
    ("most", "asked", "at_once"),
    [(1, {}, 1), (3, {}, 3), (None, {}, 4), (5, {}, 4), (1, {"trusted": True}, 4), (1, {"cluster": "a:1"}, 4)],
)
def test_no_more_submissions_are_graded_at_once_than_limits_have_room_for(most, asked, at_once, monkeypatch, capsys):
    """And who grades is told why it takes longer; where it takes no longer there is nothing to tell."""
    monkeypatch.setattr(grade_command, "processors", lambda: 4)
    monkeypatch.setattr(grade_command, "most_at_once", lambda: most)
    given = SimpleNamespace(**{"container": False, "jobs": None, "trusted": False, "cluster": ""} | asked)
    assert grade_command._at_once(given, 10) == at_once
    told = f"linklab: {most} of 4 at once, since your user's limits of processes and waiting signals (ulimit -Hu, -Hi)"
    assert capsys.readouterr().err.startswith(told) == (at_once < 4)
