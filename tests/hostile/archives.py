# SPDX-License-Identifier: BSD-3-Clause
"""Forged archives, made anew each time: name → (bytes, what must come of it).

`python -m tests.hostile.archives FOLDER` writes them to look at; `test_archives.py` hands each to the grader.
What must come of one is "refused" (the file cannot be graded, and its report says why) or "read" (it is graded as what
it is), with a pattern of the sentence that says so, "" where at most a missing manifest is told.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import stat
import struct
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from linklab.exercise.bundle import Bundle, dump_bundle
from linklab.exercise.course import Course
from linklab.exercise.instance import Student, instance_text, issue
from linklab.exercise.load import find_exercise, load_exercise

COURSE = Course("Hostile", b"the secret of the hostile course")
EXERCISE = "problem1"
Files = dict[str, bytes]
Expected = tuple[str, str]


def honest() -> Files:
    """A submission without a fault, as `linklab submit` packs it, but for its manifest."""
    exercise = load_exercise(find_exercise(EXERCISE))
    instance = issue(exercise, COURSE, Student("s1", "Ada"))
    drawing = (exercise.folder / exercise.topology).read_bytes()
    work = b"h1 sysctl -w net.ipv4.tcp_sack=1\n"
    return {"instance.json": instance_text(exercise, instance).encode(), "topology.mn": drawing, "work.sh": work}


def corpus() -> Iterator[tuple[str, bytes, Expected]]:
    """Every archive: its name, its bytes, and what must come of it."""
    files = honest()
    for group in (_names, _kinds, _sizes, _damage, _manifests, _instances, _texts, _labs):
        yield from group(files)


# --- names of entries


def _names(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    away = ("refused", "leads out of the submission|absolute path")
    for label, name in (
        ("parent", "../work.sh"),
        ("parents", "../../../../etc/cron.d/x"),
        ("parent inside", "results/../../x"),
        ("parent at the end", "results/.."),
        ("parent with backslashes", "..\\..\\x"),
        ("parent mixed", "results\\../..\\x"),
        ("absolute", "/etc/passwd"),
        ("absolute twice", "//etc/passwd"),
        ("drive", "C:\\Windows\\x"),
        ("drive relative", "c:x"),
        ("share", "\\\\server\\share\\x"),
    ):
        yield f"name {label}", _zip([*files.items(), (name, b"x")]), away
    control = ("refused", "control characters")
    for label, name in (
        ("escape", "results/\x1b[2J"),
        ("line end", "results/a\nb"),
        ("right to left", "results/\u202efdp.exe"),
        ("zero width", "results/\u200bx"),
        ("tab", "results/\t"),
        ("no character", "results/\ud7ff\ue000"),
    ):
        yield f"name {label}", _zip([*files.items(), (name, b"x")]), control
    yield "name too long", _zip([*files.items(), ("results/" + "a" * 300, b"")]), ("refused", "at most 200 are taken")
    yield "name deep", _zip([*files.items(), ("d/" * 150 + "x", b"")]), ("refused", "at most 200 are taken")
    yield "name of nothing", _zip([*files.items(), (".", b"")]), ("read", "")
    yield "name twice", _zip([*files.items(), ("work.sh", b"rm -rf /")]), ("refused", "is in it twice")
    yield "name twice by a dot", _zip([*files.items(), ("./work.sh", b"x")]), ("refused", "is in it twice")
    yield (
        "name twice by slashes",
        _zip([*files.items(), ("results//a", b""), ("results/a", b"")]),
        (
            "refused",
            "is in it twice",
        ),
    )
    composed, apart = "results/\u00e9", "results/e\u0301"
    yield "name twice by Unicode", _zip([*files.items(), (composed, b""), (apart, b"")]), ("refused", "is in it twice")
    yield "name of another case", _zip([*files.items(), ("WORK.SH", b"x")]), ("read", "Ignored")
    yield "name like another", _zip([*files.items(), ("w\u043erk.sh", b"x")]), ("read", "Ignored")
    yield (
        "name of a device of Windows",
        _zip([*files.items(), ("CON", b""), ("results/NUL.txt", b"")]),
        (
            "read",
            "Ignored",
        ),
    )
    yield "name with a stream", _zip([*files.items(), ("work.sh:hidden", b"")]), ("read", "Ignored")
    yield "name as markup", _zip([*files.items(), ("<script>alert(1)</script>", b"")]), ("read", "Ignored")
    nul = _zip([*files.items(), ("work_shX", b"x")]).replace(b"work_shX", b"work.sh\0")
    yield "name with NUL", nul, ("refused", "control characters|twice")
    other = _zip(files.items())
    yield (
        "names that differ",
        other[:30] + other[30:].replace(b"topology.mn", b"topology.xx", 1),
        (
            "refused",
            "damaged",
        ),
    )


# --- kinds of entries


def _kinds(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    for label, mode in (
        ("symbolic link", stat.S_IFLNK),
        ("device of characters", stat.S_IFCHR),
        ("device of blocks", stat.S_IFBLK),
        ("pipe", stat.S_IFIFO),
        ("socket", stat.S_IFSOCK),
    ):
        for name in ("results/x", "state.json"):
            entry = zipfile.ZipInfo(name)
            entry.create_system, entry.external_attr = 3, (mode | 0o777) << 16
            yield (
                f"kind {label} {name}",
                _zip([*files.items(), (entry, b"/etc/passwd")]),
                (
                    "refused",
                    "symbolic link|device or a pipe",
                ),
            )
    folder = zipfile.ZipInfo("work.sh")
    folder.create_system, folder.external_attr = 3, (stat.S_IFDIR | 0o755) << 16
    without = {name: data for name, data in files.items() if name != "work.sh"}
    yield "kind folder with contents", _zip([*without.items(), (folder, b"rm -rf /")]), ("read", "")
    yield "kind tar", _tar(files), ("refused", "no .zip archive")
    yield "kind tar.gz", _tar(files, "w:gz"), ("refused", "no .zip archive")
    yield "kind zip in a zip", _zip([("submission.zip", _zip(files.items()))]), ("refused", "another archive")
    yield "kind program before the archive", b"\x7fELF" + bytes(5000) + _zip(files.items()), ("read", "")


# --- sizes


def _sizes(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    bomb = ("refused", "zip bomb")
    yield "size bomb", _zip([*files.items(), ("results/0", bytes(60 * 2**20))]), bomb
    yield "size bomb of many", _zip([*files.items(), *((f"results/{i}", bytes(2**20)) for i in range(60))]), bomb
    yield "size bomb within 50 MiB", _zip([*files.items(), ("results/0", bytes(45 * 2**20))]), bomb
    yield (
        "size many files",
        _zip([*files.items(), *((f"results/{i}", b"") for i in range(600))]),
        (
            "refused",
            "at most 500",
        ),
    )
    yield "size very many files", _zip((f"results/{i}", b"") for i in range(20_000)), ("refused", "at most 500")
    yield "size script", _zip({**files, "work.sh": b"#" * 300_000}.items()), ("refused", "at most 262144")
    yield "size overlapping", _overlapping(), ("refused", "zip bomb|damaged")
    yield "size said too small", _said(files, 22, 24, 1), ("refused", "damaged")
    yield "size said negative", _said(files, 22, 24, 0xFFFFFFFE), ("read", "")
    yield "size zip64", _zip64(files), ("refused", "ZIP64")


# --- damage


def _damage(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    whole = _zip(files.items(), zipfile.ZIP_STORED)
    yield "damage empty", b"", ("refused", "is empty")
    yield "damage cut off", whole[: len(whole) // 2], ("refused", "is cut off")
    yield "damage no end", whole[:-30], ("refused", "is cut off")
    yield "damage contents", whole.replace(b"tcp_sack=1", b"tcp_sack=0"), ("refused", "damaged")
    yield "damage sum", _said(files, 14, 16, 0xDEADBEEF), ("refused", "damaged")
    yield "damage encrypted", _flagged(files, 0x1), ("refused", "is encrypted")
    yield "damage method", _said(files, 8, 10, 99, "<H"), ("refused", "a method other than deflate")
    yield "damage bzip2", _zip(files.items(), zipfile.ZIP_BZIP2), ("refused", "a method other than deflate")
    yield "damage end of nothing", b"PK\5\6" + bytes(18), ("refused", "neither manifest.json nor instance.json")
    yield "damage page", b"<html><body>Log in to hand in</body></html>", ("refused", "no .zip archive")


# --- manifest.json


def _manifests(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    def forged(change: Callable[[dict[str, object]], object]) -> bytes:
        with zipfile.ZipFile(io.BytesIO(dump_bundle(Bundle(EXERCISE, "s1", files)))) as archive:
            said = json.loads(archive.read("manifest.json"))
        made = change(said)
        return _zip([("manifest.json", json.dumps(said if made is None else made).encode()), *files.items()])

    def table(said: dict[str, object], name: str, value: object) -> None:
        said[name] = value

    yield "manifest missing", _zip(files.items()), ("read", "manifest.json is missing")
    yield "manifest rubbish", _zip([("manifest.json", b"{"), *files.items()]), ("refused", "is no JSON")
    yield "manifest nested", _zip([("manifest.json", b"[" * 10**5), *files.items()]), ("refused", "is no JSON")
    yield "manifest list", forged(lambda said: []), ("refused", "has format")
    yield "manifest format", forged(lambda said: table(said, "format", 2)), ("refused", "has format 2")
    yield "manifest files", forged(lambda said: table(said, "files", ["work.sh"])), ("refused", "no table of files")
    yield "manifest hash", forged(lambda said: table(said, "files", {})), ("read", "was added after")
    yield "manifest more", forged(lambda said: table(said, "files", {"state.json": ""})), ("read", "is in the manifest")
    yield "manifest student", forged(lambda said: table(said, "student", "a\nb")), ("refused", "student is not a line")
    yield "manifest another student", forged(lambda said: table(said, "student", "s2")), ("read", "")


# --- instance.json


def _instances(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    issued = json.loads(files["instance.json"])
    not_issued, none = ("refused", "was not issued by the course"), ("refused", "no instance of an exercise")
    for name, value, expected in (
        ("format", 7, none),
        ("exercise", "problem2", ("refused", "not issued|version")),
        ("exercise", "../../etc", none),
        ("version", 99, ("refused", "version 99")),
        ("course", "Another", ("read", "its course is Hostile, not Another")),
        ("student", "s2", not_issued),
        ("student", "practice", not_issued),
        ("student", "a/../b", none),
        ("name", "Alan", not_issued),
        ("parameters", {**issued["parameters"], "rate": "1 Mbps"}, ("read", "rate")),
        ("parameters", {}, ("read", "rate is .*, not left out")),
        ("parameters", {"rate": 5}, none),
        ("environment", "eJyNkDsO", ("read", "set_env.sh does not set the network that was issued")),
        ("environment", pack_text(b"[" * 90_000), ("read", "set_env.sh does not set the network that was issued")),
        ("parameters", {f"p{i}": "x" for i in range(7000)}, ("read", r"it has 69\d\d parameters more")),
        ("signature", "0" * 64, not_issued),
        ("signature", "practice", none),
        ("signature", None, none),
    ):
        text = json.dumps({**issued, name: value}).encode()
        label = f"instance {name} {value if isinstance(value, str) else json.dumps(value)}"
        yield label[:60], _zip({**files, "instance.json": text}.items()), expected
    without = {name: data for name, data in files.items() if name != "instance.json"}
    yield "instance missing", _zip(without.items()), ("refused", "neither manifest.json nor instance.json")


# --- texts


def _texts(files: Files) -> Iterator[tuple[str, bytes, Expected]]:
    for name, content, expected in (
        ("work.sh", b"\xff\xfe\x00\xd8", ("refused", "neither UTF-8 nor UTF-16")),
        ("work.sh", b"a\0b", ("refused", "NUL")),
        ("topology.mn", b"{" * 10**5, ("refused", "topology")),
        ("topology.mn", b"[]", ("refused", "topology")),
        ("state.json", b"[" * 10**5, ("refused", "state.json")),
        ("answers.toml", b"a." * 10_000 + b"b = 1", ("read", "")),
    ):
        yield f"text {name} {content[:4]!r}", _zip({**files, name: content}.items()), expected
    drawing = json.loads(files["topology.mn"])
    drawing["hosts"] += [{"opts": {"hostname": f"x{number}", "nodeNum": number}} for number in range(9, 4500)]
    large = _zip({**files, "topology.mn": json.dumps(drawing).encode()}.items())
    yield "text topology.mn of thousands of hosts", large, ("refused", "the grader builds at most 20.: draw only")
    fifo = {"kind": "pfifo", "handle": "1:", "parent": "1:", "options": {"limit": 9}}
    netem = {"kind": "netem", "handle": "1:", "parent": "root"}
    for what, setting, said in (
        ("many inside each other", {"qdiscs": [fifo] * 5000}, "has the handle 1: twice"),
        ("no address", {"addresses": ["10.0.0.01/8"]}, "must be addresses"),
        ("beyond all measure", {"qdiscs": [{**netem, "options": {"loss": 10**400}}]}, 'netem: "loss" cannot be'),
    ):
        nodes = {"client": {"interfaces": {"s1-eth1": {"up": True, "mtu": 1500, **setting}}}}
        content = json.dumps({"format": 1, "nodes": nodes}).encode()
        yield f"state {what}", _zip({**files, "state.json": content}.items()), ("refused", f"s1-eth1: {said}")


# --- how they are made


# --- labs


def _labs(_: Files) -> Iterator[tuple[str, bytes, Expected]]:
    """Those of a lab; what the manifest says of it may be any text."""
    head = {"kind": "lab", "format": 1, "lab": 4, "slug": "x"}
    files = {"lab.json": b'{"lab": 3}', "progress.jsonl": json.dumps(head).encode() + b"\n"}
    for label, change, said in (
        ("that is not there", {"lab.json": b'{"lab": 999}'}, 'there is no lab "999"'),
        ("nested", {"lab.json": b"[" * 10**4}, "is no JSON"),
        ("with nested notes", {"notes.json": b'{"answers": ' + b"[" * 10**6}, "is no JSON"),
        ("with another's progress", {}, "this is the progress of Lab 4"),
    ):
        elsewhere = Bundle("../../Ada_2_assignsubmission_file_/exercise3", "s1", files | change)
        yield f"lab {label}, and a manifest that leads elsewhere", dump_bundle(elsewhere), ("refused", said)
    for label, line, count, said in (
        ("lines", {"kind": "editor", "words": ["opened", "h1"]}, 10_000, "has 10,001 lines, .* reads at most 10,000"),
        (
            "characters",
            {"kind": "typed", "terminal": "h1", "text": "ls;" * 5000, "start_s": 1.0},
            70,
            "types 1,050,000 c",
        ),
    ):
        lines = [{**head, "lab": 3}, *[line] * count]
        progress = b"".join(json.dumps(each).encode() + b"\n" for each in lines)
        many = {"lab.json": b'{"lab": 3}', "progress.jsonl": progress, "results/x": _incompressible(2**17)}
        yield f"lab of many {label}", dump_bundle(Bundle("lab3", "s1", many)), ("refused", said)


def _incompressible(size: int) -> bytes:
    """Bytes that keep an archive from looking like a bomb."""
    return hashlib.shake_128(b"").digest(size)


def pack_text(raw: bytes) -> str:
    """As `linklab.exercise.packed` packs data, of what need not be JSON."""
    return base64.b64encode(zlib.compress(raw)).decode()


def _zip(entries: object, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive, warnings.catch_warnings(action="ignore"):  # a name twice
        for name, data in entries:  # type: ignore[attr-defined]
            archive.writestr(name, data)
    return packed.getvalue()


def _tar(files: Files, mode: str = "w") -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode=mode) as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            about = tarfile.TarInfo(name)
            about.size = len(data)
            archive.addfile(about, io.BytesIO(data))
        link = tarfile.TarInfo("state.json")
        link.type, link.linkname = tarfile.LNKTYPE, "/etc/passwd"
        archive.addfile(link)
    return packed.getvalue()


def _said(files: Files, at_file: int, at_list: int, value: int, kind: str = "<I") -> bytes:
    """An archive whose first file says something else of itself, before its contents and in the list at the end."""
    data = bytearray(_zip(files.items()))
    struct.pack_into(kind, data, at_file, value)
    struct.pack_into(kind, data, data.index(b"PK\1\2") + at_list, value)
    return bytes(data)


def _flagged(files: Files, flag: int) -> bytes:
    data = bytearray(_zip(files.items()))
    for at in (6, data.index(b"PK\1\2") + 8):
        struct.pack_into("<H", data, at, flag)
    return bytes(data)


def _overlapping() -> bytes:
    """Many entries of the list that are the same contents: a bomb that no ratio of one of them shows."""
    data = _zip([("results/000", bytes(2**20))])
    at = data.index(b"PK\1\2")
    end = data.index(b"PK\5\6")
    listed = b"".join(data[at:end].replace(b"results/000", b"results/%03d" % i) for i in range(200))
    contents = data[:at]
    return contents + listed + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 200, 200, len(listed), len(contents), 0)


def _zip64(files: Files) -> bytes:
    data = _zip(files.items())
    end = data.index(b"PK\5\6")
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, end, 1)
    return data[:end] + locator + data[end:]


def main(folder: Path) -> None:
    """Write all of them, and a list of what must come of each."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for number, (name, data, (outcome, said)) in enumerate(corpus(), 1):
        (folder / f"{number:03d}.zip").write_bytes(data)
        lines.append(f"{number:03d}\t{name!r}\t{outcome}\t{said}\n")
    (folder / "expected.txt").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
