# SPDX-License-Identifier: BSD-3-Clause
"""A submission's archive: what is written is read back, and whatever else comes is understood or refused in a line."""

import hashlib
import io
import json
import os
import struct
import unicodedata
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linklab.errors import BundleError, InputError
from linklab.exercise import bundle
from linklab.exercise.bundle import Bundle, dump_bundle, parse_bundle, read_bundle, read_one, write_bundle
from linklab.exercise.report import Status
from linklab.grade.unit import grade

FILES = {"instance.json": b'{"a": 1}\n', "topology.mn": b"{}\n", "work.sh": b"h1 ip a\n", "results/a.json": b"\xff\r\n"}
MIB = 2**20


def manifest(contents, **changes):
    """manifest.json of these files."""
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in contents.items()}
    said = {"format": 1, "linklab": "0.1.0", "exercise": "exercise3", "student": "s1", "files": hashes}
    return json.dumps(said | changes).encode()


def packed(contents, method=zipfile.ZIP_DEFLATED, **changes):
    """An archive as a stranger may make it: names and contents, in that order, with a manifest unless one is given."""
    out = io.BytesIO()
    entries = dict(contents)
    if not any(name.endswith("manifest.json") for name in entries):
        entries["manifest.json"] = manifest(entries, **changes)
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def refused(data):
    """What is said of an archive that is not read."""
    with pytest.raises(BundleError) as caught:
        parse_bundle(data, "a.zip")
    said = str(caught.value)
    assert said.startswith("a.zip: ")
    assert "\n" not in said
    return said.removeprefix("a.zip: ")


def special(mode, content=b"/etc/passwd"):
    """An archive with an entry of that kind of file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("instance.json", "{}")
        entry = zipfile.ZipInfo("work.sh")
        entry.external_attr = mode << 16
        archive.writestr(entry, content)
    return out.getvalue()


def changed_flags(data, bit):
    """The archive with a general purpose bit of its entries set, in both of their headers."""
    changed = bytearray(data)
    for magic, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        begin = changed.find(magic)
        while begin >= 0:
            changed[begin + at] |= bit
            begin = changed.find(magic, begin + 1)
    return bytes(changed)


# --- there and back


@given(
    st.dictionaries(
        st.one_of(
            st.sampled_from(["instance.json", "topology.mn", "state.json", "work.sh", "answers.toml"]),
            st.from_regex(r"results/[a-z]{1,8}(/[a-z.]{1,8}[a-z])?", fullmatch=True),
        ),
        st.text(st.characters(exclude_characters="\r\0\ufeff", codec="utf-8"), max_size=200).map(str.encode),
        max_size=6,
    ),
    st.text(st.characters(categories=["L", "N"]), max_size=20),
)
def test_what_is_written_is_read_back(files, student):
    """Every bundle of named contents is itself again, without a note."""
    made = Bundle("exercise3", student, {"instance.json": b"{}"} | files)
    read = parse_bundle(dump_bundle(made), "a.zip")
    assert (read.exercise, read.student, dict(read.files), read.notes) == ("exercise3", student, dict(made.files), ())


def test_the_same_bundle_gives_the_same_bytes(tmp_path):
    """Neither the time nor the order in which files were gathered is in the archive."""
    one, two = tmp_path / "1.zip", tmp_path / "2.zip"
    write_bundle(one, Bundle("exercise3", "s1", FILES))
    os.utime(one, (0, 0))
    write_bundle(two, Bundle("exercise3", "s1", dict(reversed(FILES.items()))))
    assert one.read_bytes() == two.read_bytes()
    assert list(tmp_path.glob("*.part")) == []
    assert read_bundle(one).folder("results") == {"a.json": b"\xff\r\n"}
    assert read_bundle(one).text("work.sh") == "h1 ip a\n"
    assert read_bundle(one).text("answers.toml") is None


def test_what_could_not_be_read_is_not_written(tmp_path):
    """A file too large for the grader is said where it is packed."""
    with pytest.raises(BundleError, match=r"work\.sh has 300000 bytes; at most 262144 are taken"):
        write_bundle(tmp_path / "a.zip", Bundle("exercise3", "s1", {"instance.json": b"{}", "work.sh": b"#" * 300_000}))
    assert list(tmp_path.iterdir()) == []


# --- good submissions in odd clothes


def test_a_zip_made_on_windows_is_understood():
    """Backslashes, one folder around everything, litter, UTF-16 and CRLF change nothing but the notes."""
    packed_as = {
        "instance.json": b"\xef\xbb\xbf{}\r\n",
        "work.sh": "h1 ip a\r\n".encode("utf-16"),
        "results/a.txt": b"1\r\n",
    }
    files = {
        "My work\\manifest.json": manifest(packed_as),
        "My work\\instance.json": b"\xef\xbb\xbf{}\r\n",
        "My work\\work.sh": "h1 ip a\r\n".encode("utf-16"),
        "My work\\results\\a.txt": b"1\r\n",
        "My work\\": b"",
        "__MACOSX\\My work\\._work.sh": b"x",
        "My work\\desktop.ini": b"x",
    }
    read = parse_bundle(packed(files), "a.zip")
    assert dict(read.files) == {"instance.json": b"{}\n", "work.sh": b"h1 ip a\n", "results/a.txt": b"1\r\n"}
    said = " ".join(read.notes)
    assert "hash" not in said
    for word in (
        "backslashes",
        '"My work/"',
        "instance.json was UTF-8 with",
        "work.sh was UTF-16",
        "Windows line ends",
    ):
        assert word in said


def test_folders_around_folders_are_taken_off():
    """Unpacking and packing again, as often as it is done, loses nothing."""
    inner = {f"a/b/c/{name}": data for name, data in (FILES | {"manifest.json": manifest(FILES)}).items()}
    read = parse_bundle(packed(inner), "a.zip")
    assert dict(read.files) == FILES
    assert read.notes == ('All files lie in a folder "a/b/c/" of the archive; it was taken off.',)


def test_changed_added_and_missing_files_are_named():
    """The manifest's hashes are compared with what is there, and the submission is read all the same."""
    files = {"instance.json": b"{}", "work.sh": b"changed"}
    said = manifest({"instance.json": b"{}", "work.sh": b"as packed", "answers.toml": b""})
    read = parse_bundle(packed(files | {"state.json": b"{}", "manifest.json": said}), "a.zip")
    assert read.notes == (
        '"work.sh" is not as `linklab submit` packed it: its hash differs from the manifest\'s.',
        '"state.json" was added after `linklab submit` packed the rest.',
        '"answers.toml" is in the manifest but not in the archive.',
    )


def test_without_a_manifest_the_instance_counts():
    """A folder packed by hand is a submission, and says so."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("instance.json", "{}")
    read = parse_bundle(out.getvalue(), "a.zip")
    assert (read.exercise, read.student) == ("", "")
    assert read.notes == ("manifest.json is missing, so it cannot be said whether files were changed.",)


def test_files_that_no_submission_has_are_ignored_by_name():
    """Of many, three are named."""
    read = parse_bundle(packed(FILES | {f"notes{i}.txt": b"" for i in range(5)}), "a.zip")
    assert dict(read.files) == FILES
    assert read.notes == (
        'Ignored, since no submission has such a file: "notes0.txt", "notes1.txt", "notes2.txt" and 2 more.',
    )


def test_what_programs_print_into_a_terminal_is_kept_as_far_as_it_is_text():
    """A recorded terminal with stray bytes spoils nothing."""
    files = {"instance.json": b"{}", "terminals/h1.log": b"#1\nls \xff\0\n"}
    assert parse_bundle(packed(files), "a.zip").text("terminals/h1.log") == "#1\nls \ufffd\0\n"


# --- archives that are refused


def test_the_letters_of_a_name_that_is_too_long_are_not_composed(tmp_path, monkeypatch):
    """Regression: 32,700 marks on one letter held up the whole class for 8 s, before it began."""
    composed = []
    monkeypatch.setattr(unicodedata, "normalize", lambda _, text: composed.append(len(text)) or text)
    path = tmp_path / "a.zip"
    path.write_bytes(packed({"a" + "\u0301" * 16_350 + "\u0316" * 16_350: b""}))
    with pytest.raises(InputError, match="a name of 32701 characters"):
        read_bundle(path)
    assert composed == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty; make it again with `linklab submit`, and upload the whole file"),
        (b"hello", "the file is no .zip archive; make it again with `linklab submit`, and upload the whole file"),
        (packed(FILES)[:-200], "the file is cut off; make it again with `linklab submit`, and upload the whole file"),
        (b"PK\5\6", "the file is no .zip archive; make it again with `linklab submit`, and upload the whole file"),
        (special(0o120777), '"work.sh" is a symbolic link; a submission holds plain files alone'),
        (special(0o010644), '"work.sh" is a device or a pipe; a submission holds plain files alone'),
        (packed({"../work.sh": b""}), '"../work.sh" leads out of the submission'),
        (packed({"results\\..\\..\\x": b""}), '"results/../../x" leads out of the submission'),
        (packed({"/etc/cron.d/x": b""}), '"/etc/cron.d/x" is an absolute path, which would lead out of the submission'),
        (packed({"C:\\x": b""}), '"C:/x" is an absolute path, which would lead out of the submission'),
        (packed({"a\x1b[2Jb": b""}), '"a\\u001b[2Jb" is a name with control characters'),
        (packed({"x" * 201: b""}), f'"{"x" * 40}"… is a name of 201 characters; at most 200 are taken'),
        (packed({"x" * 201 * 4: b""}), f'"{"x" * 40}"… is a name of 804 characters; at most 200 are taken'),
        (packed(FILES, format=2), "manifest.json has format 2; this Linklab reads format 1"),
        (changed_flags(packed(FILES), 1), '"instance.json" is encrypted; hand in an archive without a password'),
        (
            packed(FILES, zipfile.ZIP_BZIP2),
            '"instance.json" is packed by a method other than deflate; use `linklab submit`',
        ),
        (packed(FILES | {"manifest.json": b"{"}), None),
        (packed(FILES | {"manifest.json": b"[" * 100_000}), None),
        (packed(FILES | {"manifest.json": b"[]"}), "manifest.json has format None; this Linklab reads format 1"),
        (packed(FILES, files=[]), "manifest.json has no table of files"),
        (packed(FILES, files={"a": 1}), "manifest.json has no table of files"),
        (packed(FILES, student="a\nb"), "manifest.json: student is not a line of at most 200 characters"),
        (packed(FILES, exercise=3), "manifest.json: exercise is not a line of at most 200 characters"),
        (
            packed({"work.sh": "für".encode("latin-1")}),
            "work.sh is neither UTF-8 nor UTF-16 text (byte 0xfc at 1); save it as UTF-8",
        ),
        (packed({"work.sh": b"a\0"}), "work.sh is no text: it holds NUL characters; save it as UTF-8"),
        (packed({"answers.toml": b"#" * 40_000}), "answers.toml has 40000 bytes; at most 32768 are taken"),
    ],
)
def test_an_archive_that_is_none_of_a_submission_is_refused_in_a_sentence(data, said):
    """Whatever is wrong is named; what to do is said."""
    found = refused(data)
    assert said is None or found == said


def test_another_archive_inside_is_named():
    """What a learning platform packs around a submission is told apart from damage."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mine.zip", packed(FILES))
    assert refused(out.getvalue()) == 'the file holds nothing but another archive, "mine.zip": hand in that one'


def test_a_name_that_is_there_twice_is_refused():
    """Two programs that unpack it would take different ones."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("instance.json", "{}")
        archive.writestr("instance.json", "[]")
    assert refused(out.getvalue()) == '"instance.json" is in it twice, so what is meant cannot be known'


def test_one_text_is_read_without_the_others():
    """Regression: to learn of which course it is, all of an archive was unpacked, four times, before grading began."""
    data = packed({"instance.json": b"{}\r\n", "results/zeros": bytes(200 * MIB)})
    assert read_one(data, "a.zip", "instance.json") == "{}\n"
    assert read_one(data, "a.zip", "state.json") is None
    with pytest.raises(BundleError, match="zip bomb"):
        read_one(data, "a.zip", "results/zeros")
    with pytest.raises(BundleError, match=r"a\.zip.*is cut off"):
        read_one(data[:-99], "a.zip", "instance.json")


def test_a_zip_bomb_is_not_unpacked(monkeypatch):
    """Zeros end after 200 times its size, and what it says of its size is no matter."""
    data = packed({"instance.json": b"{}", "results/zeros": bytes(200 * MIB)})
    assert len(data) < MIB
    seen = []
    read = zipfile.ZipExtFile.read
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda self, n=-1: seen.append(read(self, n)) or seen[-1])
    assert '(a zip bomb?), at "results/zeros"' in refused(data)
    assert sum(map(len, seen)) < 80 * MIB


def test_more_than_fifty_mebibytes_are_refused_however_well_they_are_packed():
    """Packed and unpacked size are held to the same number."""
    assert refused(bytes(50 * MIB + 1)) == "the file is larger than 50 MiB, the most a submission may have"
    noise = hashlib.shake_128(b"1").digest(MIB)
    text = b"".join(noise[: MIB // 4] + bytes(MIB * 3 // 4) for _ in range(51))
    assert "unpacks to more than 50 MiB" in refused(packed({"results/a": text}))


@pytest.mark.parametrize("count", [501, 3000])
def test_too_many_files_are_refused(count):
    """A million empty files is a bomb too."""
    assert f"{count + 1} files; a submission has at most 500" in refused(
        packed({f"results/{i}": b"" for i in range(count)})
    )


def test_a_list_of_files_that_lies_about_its_length_is_refused():
    """The size of the list, not the number it gives, decides how much would be read."""
    data = bytearray(packed({f"results/{i}": b"" for i in range(15_000)}))
    at = data.rfind(b"PK\5\6")
    struct.pack_into("<HH", data, at + 8, 5, 5)
    assert "a submission has at most 500" in refused(bytes(data))


def test_zip64_is_refused():
    """Its second list of files could say something else than the first."""
    data = packed(FILES)
    at = data.rfind(b"PK\5\6")
    assert "ZIP64" in refused(data[:at] + b"PK\6\7" + bytes(16) + data[at:])


@given(st.data())
def test_any_damage_is_refused_or_noted(data):
    """Bytes changed at random never raise anything but a BundleError, and never pass for the original."""
    whole = bytearray(packed(FILES))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        read = parse_bundle(bytes(whole), "a.zip")
    except BundleError as error:
        assert "\n" not in str(error)
    else:
        assert dict(read.files) == FILES or read.notes


def test_what_is_no_file_is_refused_without_waiting(tmp_path):
    """A pipe, a folder, a file that is not there."""
    os.mkfifo(tmp_path / "pipe.zip")
    for name, said in (("pipe.zip", "this is no file"), (".", "this is no file"), ("none.zip", "No such file")):
        with pytest.raises(BundleError, match=said):
            read_bundle(tmp_path / name)


def test_the_error_is_one_of_input():
    """A broken submission is the submitter's, not the grader's."""
    assert issubclass(BundleError, InputError)
    assert Path(bundle.__file__).name == "bundle.py"


# --- as a report


@pytest.mark.parametrize("data", [b"", b"hello", special(0o120777), packed({"../x": b""}), packed(FILES)[:-99]])
def test_what_cannot_be_read_is_an_ungradable_report(data, tmp_path):
    """The batch goes on: the sentence is the report's note, and no engine is asked."""
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    report = grade(path, None, None)
    assert (report.status, report.score, report.source) == (Status.UNGRADABLE, 0, "a.zip")
    said = refused(data)
    assert report.notes == (said[:1].upper() + said[1:],)
