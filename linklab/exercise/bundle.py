# SPDX-License-Identifier: BSD-3-Clause
"""A submission's `.zip` ↔ `Bundle`: named contents, and sentences on what was odd about the archive.

Written by `linklab submit`, read by the grader, which must take any file: nothing is unpacked to disk, every limit
holds before memory is used, and whatever is wrong is a `BundleError` of one sentence.
What an editor, Windows or an archiver does to a good submission (backslashes, a folder around it, UTF-16) is undone
and noted.
Format: docs/writing-an-exercise.md, "A submission"; ZIP as in PKWARE's APPNOTE 6.3.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from linklab import __version__
from linklab.base.files import write
from linklab.errors import BundleError
from linklab.exercise.textfile import encoding_of

FORMAT = 1
MANIFEST = "manifest.json"
TEXTS = ("instance.json", "topology.mn", "state.json", "work.sh", "answers.toml")
LAB, PROGRESS, NOTES = "lab.json", "progress.jsonl", "notes.json"
OF_LAB = (LAB, PROGRESS, NOTES)
"""Texts of a lab that is handed in, in place of an exercise's."""
FOLDERS = ("results", "terminals")

MAX_BYTES = 50 * 2**20
"""Of the archive, and of all that it holds unpacked."""
MAX_FILES = 500
MAX_TEXT = 2 * 2**20
"""Of each file that the grader parses; a state of 40 nodes has 300 kB."""
MAX_OF = {"instance.json": 2**17, "work.sh": 2**18, "answers.toml": 2**15, LAB: 2**19, PROGRESS: 2**24}
"""Of those that are small, less: TOML's dotted keys take time by the square of their length, here 4 s at most.

A progress has the output of every line, and of the longest lab 4 MB.
"""
MAX_RATIO = 200
"""Unpacked to packed, of archives above 1 MiB: logs of ping and iperf3 reach 40, a file of zeros 1,000."""
MAX_NAME = 200
_MOST_LETTERS = 4
"""Characters of which an archive may make one of a name: a letter with accents, each a character by itself."""
MAX_DIRECTORY = MAX_FILES * (MAX_NAME * 4 + 300)
SHOWN = 3

_DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format can say
_CHUNK = 2**16
_LITTER = re.compile(r"(^|/)(__MACOSX/|\.DS_Store$|\._[^/]*$|Thumbs\.db$|desktop\.ini$)", re.IGNORECASE)
_END = struct.Struct("<4s4H2LH")  # end of central directory record, APPNOTE 4.3.16
_END_MAGIC, _LOCATOR_MAGIC = b"PK\5\6", b"PK\6\7"
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
)


@dataclass(frozen=True)
class Bundle:
    r"""What a student hands in.

    exercise, student: as the manifest says them, "" without one; what counts is the signed instance.json.
    files: name → contents; texts, and what is in terminals/, are UTF-8 with "\n", whatever they came as; a lab's
    progress is as it came.
    version: of the Linklab that made it; notes: what was odd or ignored, as sentences.
    """

    exercise: str
    student: str
    files: Mapping[str, bytes]
    version: str = __version__
    notes: tuple[str, ...] = ()

    def text(self, name: str) -> str | None:
        """A text file's contents; None where the student handed in none."""
        data = self.files.get(name)
        return None if data is None else data.decode()

    def folder(self, name: str) -> dict[str, bytes]:
        """The files of "results" or "terminals", without that folder in their names, sorted."""
        inside = f"{name}/"
        return {path.removeprefix(inside): data for path, data in sorted(self.files.items()) if path.startswith(inside)}


def write_bundle(path: Path, bundle: Bundle) -> None:
    """Write the archive; the same bundle gives the same bytes.

    Raises:
        BundleError: `read_bundle` would refuse it, for the reason it says.
    """
    data = dump_bundle(bundle)
    parse_bundle(data, path.name)
    write(path, data, durable=True)


def dump_bundle(bundle: Bundle) -> bytes:
    """The archive's bytes."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in bundle.files.items()}
    said = {"format": FORMAT, "linklab": bundle.version, "exercise": bundle.exercise, "student": bundle.student}
    manifest = json.dumps({**said, "files": hashes}, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in [(MANIFEST, manifest.encode()), *sorted(bundle.files.items())]:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3  # 3 is Unix
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def read_bundle(path: Path) -> Bundle:
    """A submission from a file of anybody's.

    Raises:
        BundleError: it cannot be read, or is no submission.
    """
    return parse_bundle(_bytes_of(path), path.name)


def read_one(data: bytes, where: str, name: str) -> str | None:
    """One text of a submission, without unpacking the others; None where it is not there.

    Args:
        data: of the archive.
        where: begins every message.
        name: of the file in it.

    Raises:
        BundleError: it cannot be read.
    """
    with _whole(where):
        return _BundleReader(where).read_one(data, name)


def _bytes_of(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for ever
            raise BundleError("this is no file; hand in the .zip that `linklab submit` makes", where=path.name)
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise BundleError(f"the file cannot be read: {error.strerror}", where=path.name) from error


def parse_bundle(data: bytes, where: str) -> Bundle:
    """A submission from an archive's bytes; `where` begins every message."""
    with _whole(where):
        return _BundleReader(where).read(data)


@contextlib.contextmanager
def _whole(where: str) -> Iterator[None]:
    """Turn the errors that `zipfile` raises for a damaged archive into a BundleError."""
    try:
        yield
    except _BROKEN as error:
        raise BundleError(f"the file is damaged ({error}); make it again with `linklab submit`", where=where) from error


class _BundleReader:
    """Reads one archive, and gathers notes."""

    def __init__(self, where: str) -> None:
        self.where = where
        self.notes: list[str] = []

    def wrong(self, what: str) -> BundleError:
        """The error, to be raised."""
        return BundleError(what, where=self.where)

    def read(self, data: bytes) -> Bundle:
        raw = self._raw(data)
        manifest = self._manifest(raw.pop(MANIFEST, None))
        if manifest is not None:
            self._compare(manifest["files"], raw)
        elif "instance.json" not in raw and LAB not in raw:
            if len(raw) == 1 and next(iter(raw)).lower().endswith(".zip"):
                raise self.wrong(f"the file holds nothing but another archive, {_shown(raw)}: hand in that one")
            raise self.wrong("the file is no submission: neither manifest.json nor instance.json is in it")
        else:
            self.notes.append("manifest.json is missing, so it cannot be said whether files were changed.")
        files = {name: self._text(name, content) for name, content in sorted(raw.items()) if self._known(name, raw)}
        said = manifest or {"exercise": "", "student": "", "linklab": ""}
        return Bundle(
            said["exercise"], said["student"], MappingProxyType(files), said["linklab"], notes=tuple(self.notes)
        )

    def read_one(self, data: bytes, name: str) -> str | None:
        raw = self._raw(data, name)
        return self._text(name, raw[name]).decode() if name in raw else None

    # --- the archive

    def _raw(self, data: bytes, only: str = "") -> dict[str, bytes]:
        """Contents by cleaned names, all or of one file."""
        if len(data) > MAX_BYTES:
            raise self.wrong(f"the file is larger than {MAX_BYTES // 2**20} MiB, the most a submission may have")
        self._directory_is_small(data)
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = self._entries(archive)
            if only:
                entries = {name: entry for name, entry in entries.items() if name == only}
            return self._unpack(archive, entries, len(data))

    def _directory_is_small(self, data: bytes) -> None:
        """The list of files must be short before `zipfile` makes an object of each of its entries."""
        at = data.rfind(_END_MAGIC, max(0, len(data) - _END.size - 0xFFFF))
        if at < 0 or len(data) - at < _END.size:
            kind = "is cut off" if data.startswith(b"PK\3\4") else "is empty" if not data else "is no .zip archive"
            raise self.wrong(f"the file {kind}; make it again with `linklab submit`, and upload the whole file")
        _, _, _, _, entries, size, _, _ = _END.unpack_from(data, at)
        if data[max(0, at - 20) : at].startswith(_LOCATOR_MAGIC):
            raise self.wrong(
                "the file is a ZIP64 archive, which no submission needs to be; make it with `linklab submit`"
            )
        if entries > MAX_FILES * 2 or size > MAX_DIRECTORY:
            raise self.wrong(f"the file lists {entries} files; a submission has at most {MAX_FILES}")

    def _entries(self, archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
        """Plain files by their cleaned names, after the archive's own words, which may be lies."""
        entries: dict[str, zipfile.ZipInfo] = {}
        backslashes = False
        for entry in archive.infolist():
            name, backslash = self._clean(entry.orig_filename)
            backslashes |= backslash
            mode = entry.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                kind = "a symbolic link" if stat.S_ISLNK(mode) else "a device or a pipe"
                raise self.wrong(f"{_quoted(name)} is {kind}; a submission holds plain files alone")
            if name.endswith("/") or stat.S_ISDIR(mode) or _LITTER.search(name):
                continue
            if entry.flag_bits & 0x1:
                raise self.wrong(f"{_quoted(name)} is encrypted; hand in an archive without a password")
            if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self.wrong(f"{_quoted(name)} is packed by a method other than deflate; use `linklab submit`")
            if name in entries:
                raise self.wrong(f"{_quoted(name)} is in it twice, so what is meant cannot be known")
            entries[name] = entry
        if len(entries) > MAX_FILES:
            raise self.wrong(f"the file holds {len(entries)} files; a submission has at most {MAX_FILES}")
        if backslashes:
            self.notes.append("The archive's names have backslashes, as some Windows programs write them; read as /.")
        return self._without_top_folder(entries)

    def _clean(self, said: str) -> tuple[str, bool]:
        """A relative name with slashes, "…/" for a folder, and whether it had backslashes."""
        short = said[: _MOST_LETTERS * MAX_NAME + 1]  # to compose letters takes time by the square of their marks
        name = unicodedata.normalize("NFC", short.replace("\\", "/")) if len(short) == len(said) else said
        if len(name) > MAX_NAME or not name:
            raise self.wrong(f"{_quoted(name[:40])}… is a name of {len(name)} characters; at most {MAX_NAME} are taken")
        if not all(character.isprintable() for character in name):
            raise self.wrong(f"{_quoted(name)} is a name with control characters")
        if name.startswith("/") or re.match(r"[A-Za-z]:", name):
            raise self.wrong(f"{_quoted(name)} is an absolute path, which would lead out of the submission")
        parts = name.split("/")
        if ".." in parts:
            raise self.wrong(f"{_quoted(name)} leads out of the submission")
        kept = "/".join(part for part in parts if part not in ("", "."))
        return (kept + "/" if parts[-1] in ("", ".") else kept), "\\" in said

    def _without_top_folder(self, entries: dict[str, zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
        """Folders that hold all that there is are taken off, as archivers put them around."""
        prefix = ""
        while entries:
            tops = {name.partition("/")[0] if "/" in name else "" for name in entries}
            top = next(iter(tops))
            if len(tops) > 1 or not top or (top in FOLDERS and not prefix):
                break
            prefix += f"{top}/"
            entries = {name.partition("/")[2]: entry for name, entry in entries.items()}
        if prefix:
            self.notes.append(f"All files lie in a folder {_quoted(prefix)} of the archive; it was taken off.")
        return entries

    def _unpack(
        self, archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], packed: int
    ) -> dict[str, bytes]:
        """Contents, unpacked bit by bit: how large a file says it is, is not believed."""
        room = min(MAX_BYTES, max(2**20, packed * MAX_RATIO))
        files = {}
        for name, entry in entries.items():
            content = bytearray()
            with archive.open(entry) as file:
                while chunk := file.read(_CHUNK):
                    content += chunk
                    room -= len(chunk)
                    if room < 0:
                        raise self.wrong(
                            f"the file unpacks to more than {MAX_BYTES // 2**20} MiB or {MAX_RATIO} times its size "
                            f"(a zip bomb?), at {_quoted(name)}"
                        )
            files[name] = bytes(content)
        return files

    # --- the contents

    def _manifest(self, raw: bytes | None) -> dict[str, Any] | None:
        """manifest.json, its parts of the right types; None without one."""
        if raw is None:
            return None
        try:
            said = json.loads(self._text(MANIFEST, raw))
        except (ValueError, RecursionError) as error:
            raise self.wrong(f"manifest.json is no JSON: {error}") from error
        if not isinstance(said, dict) or said.get("format") != FORMAT:
            found = said.get("format") if isinstance(said, dict) else None
            raise self.wrong(f"manifest.json has format {found!r:.40}; this Linklab reads format {FORMAT}")
        files = said.get("files")
        if not isinstance(files, dict) or not all(isinstance(value, str) for value in files.values()):
            raise self.wrong("manifest.json has no table of files")
        for key in ("exercise", "student", "linklab"):
            if not _is_label(said.get(key)):
                raise self.wrong(f"manifest.json: {key} is not a line of at most {MAX_NAME} characters")
        return said

    def _compare(self, hashes: Mapping[str, str], raw: Mapping[str, bytes]) -> None:
        """Notes on every file that is not as it was packed."""
        changed = [name for name in raw if name in hashes and hashes[name] != hashlib.sha256(raw[name]).hexdigest()]
        self._note(changed, "is not as `linklab submit` packed it: its hash differs from the manifest's.")
        self._note(raw.keys() - hashes.keys(), "was added after `linklab submit` packed the rest.")
        self._note(hashes.keys() - raw.keys(), "is in the manifest but not in the archive.")

    def _known(self, name: str, raw: Collection[str]) -> bool:
        """Whether it is a file that submissions have; said once where it is none."""
        known = name in (*TEXTS, *OF_LAB) or any(name.startswith(f"{folder}/") for folder in FOLDERS)
        if not known:
            others = [n for n in raw if n not in (*TEXTS, *OF_LAB) and not any(n.startswith(f"{f}/") for f in FOLDERS)]
            sentence = f"Ignored, since no submission has such a file: {_shown(others)}."
            if sentence not in self.notes:
                self.notes.append(sentence)
        return known

    def _note(self, names: Iterable[str], what: str) -> None:
        ordered = sorted(names)
        self.notes += [f"{_quoted(name)} {what}" for name in ordered[:SHOWN]]
        if len(ordered) > SHOWN:
            self.notes.append(f"The same holds for {len(ordered) - SHOWN} more files.")

    def _text(self, name: str, raw: bytes) -> bytes:
        r"""UTF-8 with "\n" of a text file; results as they are."""
        if name.startswith("results/"):
            return raw
        most = MAX_OF.get(name, MAX_TEXT)
        if len(raw) > most:
            raise self.wrong(f"{name} has {len(raw)} bytes; at most {most} are taken")
        if name == PROGRESS:  # read a line at a time, so that one damaged letter costs one line
            return raw
        text = self._decode(name, raw)
        if "\r" in text:
            text = text.replace("\r\n", "\n") if name.startswith("terminals/") else re.sub(r"\r\n?", "\n", text)
            if name != MANIFEST:
                self.notes.append(f"{name} had Windows line ends; read as if it had none.")
        return text.encode()

    def _decode(self, name: str, raw: bytes) -> str:
        encoding, label = encoding_of(raw)
        terminal = name.startswith("terminals/")  # programs print what they like
        try:
            text = raw.decode(encoding, errors="replace" if terminal else "strict")
        except UnicodeDecodeError as error:
            raise self.wrong(
                f"{name} is neither UTF-8 nor UTF-16 text (byte {error.object[error.start]:#04x} at {error.start}); "
                "save it as UTF-8"
            ) from error
        if "\0" in text and not terminal:
            raise self.wrong(f"{name} is no text: it holds NUL characters; save it as UTF-8")
        if label and name != MANIFEST:
            self.notes.append(f"{name} was {label}; read as such.")
        return text


def _is_label(value: object) -> bool:
    return isinstance(value, str) and len(value) <= MAX_NAME and value.isprintable()


def _quoted(name: str) -> str:
    """A name of a stranger's for a sentence."""
    shown = name if len(name) <= 60 else f"{name[:57]}…"
    return json.dumps(shown, ensure_ascii=not shown.isprintable())


def _shown(names: Collection[str]) -> str:
    ordered = sorted(names)
    more = f" and {len(ordered) - SHOWN} more" if len(ordered) > SHOWN else ""
    return ", ".join(map(_quoted, ordered[:SHOWN])) + more
